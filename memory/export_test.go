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

// ComparesAll tells whether a search compares every vector exactly, however many there
// are.
func (s *Service) ComparesAll(ctx context.Context, c Caller, q *SearchQuery) (bool, error) {
	r, err := s.begin(ctx, c, q.Read, 0, nil)
	if err != nil {
		return false, err
	}
	defer r.close()
	return s.dense(r, q).Exact, nil
}

// Within is a context that ends after a time.
var Within = within
