package memory

import (
	"context"

	"abagraph/fact"
)

// Repeated returns the outcome of a write that was done before under the same
// Idempotency-Key, though what it ended is not there any more (C-31); nil = there was
// none. It asks by a write that can never be, and so writes nothing.
func (s *Service) Repeated(ctx context.Context, c Caller, o WriteOptions, subject, predicate string) (*fact.Result, error) {
	if o.Idem == nil {
		return nil, nil
	}
	o.OwnGuards = true // it tells nothing
	never := fact.SameGuard(subject, predicate, []fact.Fact{{}})
	result, err := s.Transact(ctx, c, o, &fact.Write{Guards: []fact.Guard{never}}, nil)
	if overtaken(err) {
		return nil, nil
	}
	return result, err
}
