package memory

import (
	"context"
	"fmt"

	"abagraph/fact"
)

// Blob reads one piece of a blob of the caller's tenant, and tells whether there is
// another one behind it. An operator who names no tenant reads the ownerless scope.
func (s *Service) Blob(ctx context.Context, c Caller, read Read, hash string, part uint32, trace *Trace) (text string, more bool, meta Meta, err error) {
	sum, ok := fact.BlobHash(hash)
	if !ok {
		return "", false, Meta{}, noBlob()
	}
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return "", false, Meta{}, err
	}
	defer r.close()
	r.scope.All = false
	raw, err := r.view.BlobPart(r.ctx, r.scope, sum, part)
	if err != nil {
		return "", false, r.meta, fmt.Errorf("read a piece of a blob: %w", err)
	}
	if raw == nil {
		return "", false, r.meta, noBlob()
	}
	next, err := r.view.BlobPart(r.ctx, r.scope, sum, part+1)
	if err != nil {
		return "", false, r.meta, fmt.Errorf("read a piece of a blob: %w", err)
	}
	trace.Name("blob", "read a piece by hash")
	trace.Int("bytes", len(raw))
	return string(raw), next != nil, r.meta, nil
}

func noBlob() *fact.Error {
	return &fact.Error{Code: fact.NotFound, Message: "no such blob, or no such piece of it"}
}
