package memory

import (
	"context"
	"encoding/hex"
	"fmt"

	"abagraph/fact"
)

// BlobQuery asks for one piece of a text that is kept.
type BlobQuery struct {
	Read
	Hash             string
	Part             uint32
	IncludeRetracted bool
}

// BlobPiece is one piece of a text.
type BlobPiece struct {
	Hash string // in the one form in which answers carry it
	Text string
	More bool  // there is another one behind it
	Size int64 // bytes of the whole text
}

// Blob reads one piece of a text of the caller's tenant. Its document has to be there
// to be seen: a hash that somebody has kept opens nothing that the fact which tells
// it would not. An operator who names no tenant reads the ownerless scope.
func (s *Service) Blob(ctx context.Context, c Caller, q *BlobQuery, trace *Trace) (BlobPiece, Meta, error) {
	sum, ok := fact.BlobHash(q.Hash)
	if !ok {
		return BlobPiece{}, Meta{}, noBlob()
	}
	r, err := s.begin(ctx, c, q.Read, 0, trace)
	if err != nil {
		return BlobPiece{}, Meta{}, err
	}
	defer r.close()
	r.scope.All = false
	p := BlobPiece{Hash: hex.EncodeToString(sum[:])}
	if p.Size, ok, err = r.refers(sum, q.IncludeRetracted); err != nil {
		return p, r.meta, err
	}
	if !ok {
		return p, r.meta, noBlob()
	}
	raw, err := r.view.BlobPart(r.ctx, r.scope, sum, q.Part)
	if err != nil {
		return p, r.meta, fmt.Errorf("read a piece of a blob: %w", err)
	}
	if raw == nil {
		return p, r.meta, noBlob()
	}
	next, err := r.view.BlobPart(r.ctx, r.scope, sum, q.Part+1)
	if err != nil {
		return p, r.meta, fmt.Errorf("read a piece of a blob: %w", err)
	}
	trace.Name("blob", "the document's fact → a piece by hash")
	trace.Int("bytes", len(raw))
	p.Text, p.More = string(raw), next != nil
	return p, r.meta, nil
}

// refers looks for the fact of a document that refers to its text.
func (r *reading) refers(sum [32]byte, retracted bool) (size int64, found bool, err error) {
	hash := hex.EncodeToString(sum[:])
	q := &fact.Query{Scope: r.scope, Subject: fact.DocumentOf(sum), Predicate: fact.DocumentContent, At: r.at, IncludeRetracted: retracted}
	if retracted && !r.at.AsOf.Given() {
		q.Statuses, q.StatusGiven = fact.StatusSet(0).With(fact.Active).With(fact.Superseded).With(fact.Retracted), true
	}
	err = r.view.Each(r.ctx, q, func(f *fact.Fact) bool {
		if f.Object.Kind == fact.Blob && f.Object.Text == hash {
			size, found = f.Object.Size, true
		}
		return !found
	})
	if err != nil {
		return 0, false, fmt.Errorf("look for the document of a blob: %w", err)
	}
	return size, found, nil
}

func noBlob() *fact.Error {
	return &fact.Error{Code: fact.NotFound, Message: "no such blob, or no such piece of it"}
}
