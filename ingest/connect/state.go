package connect

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
	"abagraph/memory/mask"
)

// sortByName sorts connectors of one tenant, and leaves one of each name: the newest.
func sortByName(list []*Connector) []*Connector {
	slices.SortFunc(list, func(a, b *Connector) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(b.fact.Tx, a.fact.Tx), bytes.Compare(a.fact.ID[:], b.fact.ID[:]))
	})
	return slices.CompactFunc(list, func(a, b *Connector) bool { return a.Name == b.Name })
}

// State is where a connector's pulls have come to.
type State struct {
	// Cursor is the last value of the cursor's field; "" = none.
	Cursor string
	// ETag and LastModified are those of the last answer that was read whole.
	ETag         string
	LastModified string
	// Problem says why the last pull failed; "" = it did not.
	Problem string
	// Puller is the run of a node that pulled last; "" = none.
	Puller string
	// Since is when this state was recorded; NoInstant where there was no pull.
	Since fact.Instant
}

// stated is a state with the fact that tells it.
type stated struct {
	State
	fact *fact.Fact // nil = there is none
}

func (s *Service) state(ctx context.Context, c memory.Caller, k *Connector, trace *memory.Trace) (*stated, error) {
	page, _, err := s.memory.Facts(ctx, c, &memory.FactsQuery{Read: memory.NewRead(), Subject: Prefix + k.Name, Predicate: statePredicate}, trace.Part())
	if err != nil {
		return nil, err
	}
	st := &stated{State: State{Since: fact.NoInstant}}
	for i := range page.Facts {
		if f := &page.Facts[i]; f.Tenant == c.Tenant {
			st.fact, st.State = f, readState(f)
			break
		}
	}
	return st, nil
}

// readState reads what it can of a state: one that was written by hand is none.
func readState(f *fact.Fact) State {
	st := State{Since: f.RecordedAt}
	v, err := jsonx.Parse([]byte(f.Object.Text))
	if err != nil {
		return st
	}
	g := jsonx.Open(v, "")
	st.Cursor, _ = g.Text("cursor")
	st.ETag, _ = g.Text("etag")
	st.LastModified, _ = g.Text("last_modified")
	st.Problem, _ = g.Text("problem")
	st.Puller, _ = g.Text("puller")
	return st
}

func (st *State) append(b []byte) []byte {
	b = append(b, '{')
	n := 0
	for _, field := range [...][2]string{{"cursor", st.Cursor}, {"etag", st.ETag}, {"last_modified", st.LastModified}, {"problem", st.Problem}, {"puller", st.Puller}} {
		if field[1] == "" {
			continue
		}
		if n > 0 {
			b = append(b, ',')
		}
		b = jsonx.AppendString(append(jsonx.AppendString(b, field[0]), ':'), field[1])
		n++
	}
	return append(b, '}')
}

// saveState records where the pulls have come to, if that is something new and what
// the pull began with still holds.
func (s *Service) saveState(ctx context.Context, c memory.Caller, k *Connector, was *stated, is State) error {
	masker := s.memory.Masker(c, mask.Unsaid)
	is = is.clean(&masker)
	if was.fact != nil && was.fact.Object.Text == string(is.append(nil)) {
		return nil
	}
	_, err := s.writeState(ctx, c, k, was, is)
	return err
}
