package memory

import (
	"context"

	"abagraph/fact"
)

// Operations is what an operator does to a node and its cluster, beyond facts. Its
// errors are those of Engine.
type Operations interface {
	// Backup takes a copy of this node's store.
	Backup(ctx context.Context) (Backup, error)
}

// operate returns the operations for a caller who may ask for them.
func (s *Service) operate(c Caller) (Operations, error) {
	if err := c.RequireOperator(); err != nil {
		return nil, err
	}
	if s.operations == nil {
		return nil, fact.Errorf(fact.NotFound, "this server offers no operations")
	}
	return s.operations, nil
}
