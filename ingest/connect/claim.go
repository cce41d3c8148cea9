package connect

import (
	"context"

	"abagraph/fact"
	"abagraph/memory"
	"abagraph/memory/mask"
)

// A pull writes only while two facts are as it read them: the connector, and its
// state, in which the node that pulls has put its own name before it asks the source.
// A node that no longer leads and does not know it, or that was slow, is so refused
// from the moment in which another one begins; and nothing comes from a connector
// after its deletion. Deliveries need none of this: they are what somebody sends.

// errMoved is the error of a pull that was overtaken.
var errMoved = fact.Errorf(fact.Conflict, "the connector was changed, deleted or pulled by another node meanwhile: this pull has ended, and the source is read again by the next one")

// claim puts the name of this node into a connector's state, where another one has
// pulled last.
func (s *Service) claim(ctx context.Context, c memory.Caller, k *Connector, trace *memory.Trace) (*stated, error) {
	for range maxTries {
		was, err := s.state(ctx, c, k, trace)
		if err != nil || was.fact != nil && was.Puller == s.self {
			return was, err
		}
		is := was.State
		is.Puller = s.self
		now, err := s.writeState(ctx, c, k, was, is)
		if !Overtaken(err) {
			return now, err
		}
	}
	return nil, errMoved
}

// guards hold while a pull that has read a state may go on.
func (k *Connector) guards(was *stated) []fact.Guard {
	var shown []fact.Fact
	if was.fact != nil {
		shown = []fact.Fact{*was.fact}
	}
	return []fact.Guard{
		fact.SameGuard(Prefix+k.Name, predicate, []fact.Fact{k.fact}),
		fact.SameGuard(Prefix+k.Name, statePredicate, shown),
	}
}

// writeState records a state, if what was read still holds.
func (s *Service) writeState(ctx context.Context, c memory.Caller, k *Connector, was *stated, is State) (*stated, error) {
	w := Statement(Prefix+k.Name, statePredicate, string(is.append(nil)), was.fact)
	w.Guards = k.guards(was)
	result, err := s.memory.Transact(ctx, c, memory.WriteOptions{Mask: mask.Off}, w, nil)
	if err != nil {
		return nil, err
	}
	return &stated{is, &result.Asserts[0].Fact}, nil
}

// reads tells whether two connectors read the same from the same place, so that what
// is known of the source by the one holds for the other.
func (k *Connector) reads(other *Connector) bool {
	a, b := k.Pull, other.Pull
	a.Secret, a.Header, a.Prefix = b.Secret, b.Header, b.Prefix
	return a == b && k.URL == other.URL && k.Format == other.Format && string(k.Mapping.Append(nil)) == string(other.Mapping.Append(nil)) && k.Mapping.Most == other.Mapping.Most
}
