package chaos_test

import (
	"strings"
	"testing"

	"abagraph/chaos"
	"abagraph/client"
	"abagraph/fact"
)

func asserted(tx uint64, id, object string) client.Event {
	return client.Event{Op: "assert", Tx: tx, Fact: client.Fact{ID: id, Tx: tx, Object: fact.TextObject(object)}}
}

// TestLedgerJudges plants each kind of fault that the judge is there for, and
// wants it found and named.
func TestLedgerJudges(t *testing.T) {
	single := chaos.Write{Key: "k1", Objects: []string{"a"}, Done: true, Tx: 1, IDs: []string{"i1"}}
	batch := chaos.Write{Key: "k2", Objects: []string{"b", "c"}, Done: true, Tx: 2, IDs: []string{"i2", "i3"}}
	open := chaos.Write{Key: "k3", Objects: []string{"d", "e"}}
	refused := chaos.Write{Key: "k4", Objects: []string{"f"}, Refused: true}
	good := []client.Event{asserted(1, "i1", "a"), asserted(2, "i2", "b"), asserted(2, "i3", "c")}
	cases := []struct {
		name, want string
		history    []client.Event
	}{
		{"as promised, the unknown one absent", "", good},
		{"as promised, the unknown one whole", "", append(good[:3:3], asserted(3, "i4", "d"), asserted(3, "i5", "e"))},
		{"a lost write", "is not there", good[:2]},
		{"a lost tx", "after tx 0 comes tx 2", good[1:]},
		{"a write twice", "written 2 times", append(good[:3:3], asserted(3, "i9", "a"))},
		{"a write at another tx", "was acknowledged as i1", []client.Event{asserted(1, "i9", "a"), good[1], good[2]}},
		{"a batch in two txs", "lies in 2 txs", []client.Event{good[0], good[1], asserted(3, "i3", "c")}},
		{"half of an unknown batch", "1 of its 2 facts", append(good[:3:3], asserted(3, "i4", "d"))},
		{"a refused write", "was refused and is there", append(good[:3:3], asserted(3, "i4", "f"))},
		{"a write of nobody", "nobody wrote", append(good[:3:3], asserted(3, "i4", "z"))},
		{"time that runs back", "after tx 2 comes tx 1", append(good[:3:3], asserted(1, "i1", "a"))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var ledger chaos.Ledger
			for _, w := range []chaos.Write{single, batch, open, refused} {
				ledger.Add(w)
			}
			err := ledger.Judge(c.history)
			if c.want == "" {
				if err != nil {
					t.Errorf("a history that is right was refused: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("judged %v, want %q", err, c.want)
			}
		})
	}
}

// TestSameSeesEveryDifference compares states that differ in one byte, one line
// or one part.
func TestSameSeesEveryDifference(t *testing.T) {
	state := func(lines ...string) *chaos.State {
		p := chaos.Part{Name: "facts"}
		for _, line := range lines {
			p.Lines = append(p.Lines, []byte(line))
		}
		return &chaos.State{Node: "n", Parts: []chaos.Part{p}}
	}
	if err := chaos.Same(state("a", "b"), state("a", "b")); err != nil {
		t.Errorf("equal states differ: %v", err)
	}
	none := &chaos.State{Node: "n"}
	other := state("a", "b")
	other.Parts[0].Name = "events"
	for _, b := range []*chaos.State{state("a", "c"), state("a"), state("a", "b", "c"), state("b", "a"), none, other} {
		if chaos.Same(state("a", "b"), b) == nil {
			t.Errorf("no difference was seen to %v", b.Parts)
		}
	}
}
