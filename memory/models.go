package memory

import (
	"context"
	"errors"

	"abagraph/fact"
	"abagraph/internal/byok"
	"abagraph/memory/packet"
)

// Models asks language models with the keys of callers. It is safe for concurrent
// use, and bounds how many calls of one tenant run at a time.
type Models interface {
	// Check judges a model by its form, without asking anybody. path names it in
	// the error.
	Check(path string, m *byok.Config) error
	// Fold asks a model to say in one short text what lines of facts say. The error
	// says why there is none, in words that anyone may read.
	Fold(ctx context.Context, tenant string, m *byok.Config, goal string, lines []string) (string, error)
}

func (s *Service) checkModel(path string, m *byok.Config) error {
	if m == nil || s.models == nil {
		return nil
	}
	return s.models.Check(path, m)
}

// fold has a model make one fact of those that a packet dropped, and assembles the
// packet anew with it. A model that fails costs nothing but a warning: the packet
// is then as it would be without one.
func (b *briefing) fold(ctx context.Context, plain *packet.Packet) (*packet.Packet, error) {
	if b.s.models == nil {
		b.warn("compact_model_failed", "compact_model was not called: this node asks no models, and what has no room is dropped")
		return plain, nil
	}
	q := b.request()
	q.Fold = true
	counter := b.s.tokens.within(ctx)
	room, err := packet.Assemble(q, b.candidates, b.pages, counter)
	if err != nil {
		return nil, err
	}
	b.r.close() // a model takes its time, and all that is asked of the state is remembered
	text, err := b.s.models.Fold(ctx, b.r.scope.Tenant, b.q.Model, b.q.Goal, room.Folded())
	switch {
	case errors.Is(err, context.Canceled), fact.CodeOf(err) == fact.RateLimited:
		return nil, err
	case err != nil:
		b.warn("compact_model_failed", "compact_model gave nothing, and what has no room is dropped: the model "+err.Error())
		return plain, nil
	}
	q.Digest = &packet.Digest{Text: text, Maker: "compact_model:" + b.q.Model.Model, Tx: b.r.meta.Tx}
	folded, err := packet.Assemble(q, b.candidates, b.pages, counter)
	if err != nil {
		return nil, err
	}
	if len(folded.Derived) == 0 { // there was no room for it: then for the facts at least
		plain.Warnings = append(plain.Warnings, packet.Warning{Code: "compact_model_failed",
			Message: "there is no room for what compact_model made of the facts that were dropped"})
		return plain, nil
	}
	return folded, nil
}

// remembered returns the entity that a fact's object names, as target does, and
// keeps it: a packet may be assembled again when the state is closed.
func (b *briefing) remembered(f *fact.Fact) (string, error) {
	if name, known := b.targets[f.ID]; known {
		return name, nil
	}
	name, err := b.target(f)
	if err != nil {
		return "", err
	}
	if b.targets == nil {
		b.targets = make(map[fact.ID]string)
	}
	b.targets[f.ID] = name
	return name, nil
}
