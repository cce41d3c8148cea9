package memory

import (
	"context"

	"abagraph/fact"
)

// StoreCheck is what a deep check of a running node's store has seen. Problems hold
// no text of a fact.
type StoreCheck struct {
	Tx                                                                  uint64
	Epoch, Digest                                                       string
	Keys, Facts, Versions, Events, Outcomes, Tenants, Unchecked, Untold uint64
	Problems                                                            []string
}

// VerifyStore checks this node's store, as it stands at one tx, to its last key:
// minutes of a core for a large one. One check of a node runs at a time; another is
// RateLimited. An operator may.
func (s *Service) VerifyStore(ctx context.Context, c Caller) (StoreCheck, error) {
	o, err := s.operate(c)
	if err != nil {
		return StoreCheck{}, err
	}
	select {
	case s.verifying <- struct{}{}:
		defer func() { <-s.verifying }()
	default:
		return StoreCheck{}, fact.Errorf(fact.RateLimited, "a check of this node's store is under way already")
	}
	return o.VerifyStore(ctx)
}
