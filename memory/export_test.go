package memory

import (
	"context"

	"abagraph/fact"
)

// KeepLinks bounds how many edges a look at the graph keeps in mind.
func (s *Service) KeepLinks(n int) { s.links = n }

// TellReport makes an edition of a report as it was at an instant, NoInstant = now.
func (s *Service) TellReport(ctx context.Context, c Caller, r *Report, to fact.Instant) ([]byte, string, error) {
	doc, _, err := s.tell(ctx, c, r, to, nil)
	if err != nil {
		return nil, "", err
	}
	return doc.Fit()
}
