package fsm_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
	"abagraph/log/entry"

	"github.com/cockroachdb/pebble/v2"
)

// weather is a way in which the same history can reach a machine.
type weather struct {
	name string
	// disk keeps the store in a directory, so that it can be restarted.
	disk bool
	// batch is the most entries that one Apply takes.
	batch int
	// restart and restore are how seldom the machine is closed and opened
	// again, and put through checkpoint, archive and restore; 0 = never.
	restart, restore int
	tune             func(*pebble.Options)
}

var weathers = []weather{
	{name: "one entry at a time", batch: 1},
	{name: "many at once", batch: 40},
	{name: "tiny memtables", batch: 7, tune: func(o *pebble.Options) {
		o.MemTableSize = 64 << 10
		o.L0CompactionThreshold = 1
		o.LBaseMaxBytes = 1
	}},
	{name: "restarts", disk: true, batch: 11, restart: 5},
	{name: "snapshots and restores", disk: true, batch: 5, restore: 9},
	{name: "all of it", disk: true, batch: 13, restart: 7, restore: 11},
}

// TestOtherWeatherSameState is DESIGN's promise of determinism: one history,
// whatever the batches, restarts, snapshots and Pebble options, leaves one
// digest and one set of answers.
func TestOtherWeatherSameState(t *testing.T) {
	const steps = 200
	first, seeds := seedRange(t, 2)
	for seed := first + 100; seed < first+100+seeds; seed++ {
		r := model.NewRandom(seed)
		if seed%2 == 1 {
			r = model.NewRandomForks(seed)
		}
		history := withChecks(t, seed, r.History(steps))
		var digest [32]byte
		for i, w := range weathers {
			t.Run(fmt.Sprintf("seed=%d/%s", seed, w.name), func(t *testing.T) {
				n := w.replay(t, seed, history)
				p := n.m.Position()
				if p.Tx != r.Model.Tx() {
					t.Fatalf("engine is at tx %d, model at %d", p.Tx, r.Model.Tx())
				}
				if i == 0 {
					digest = p.Digest
				}
				if p.Digest != digest {
					t.Fatalf("the digest is %x, under other weather it was %x", p.Digest, digest)
				}
				v, err := n.m.View()
				if err != nil {
					t.Fatal(err)
				}
				defer v.Close()
				compareReads(t, v, r, 60)
				compareEvents(t, v, r)
			})
		}
	}
}

// withChecks is a history as a leader writes it down: among the entries there are
// checks of digests, each of the state that the leader had when it proposed it, which
// may be some entries back.
func withChecks(t *testing.T, seed uint64, history []model.Step) []fsm.Committed {
	t.Helper()
	const lag = 5
	n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
	rnd := rand.New(rand.NewPCG(seed, 2))
	var states []fact.Position
	var entries []fsm.Committed
	for _, s := range history {
		n.put(bytesOf(s))
		n.apply()
		states = append(states, n.m.Position())
		entries = append(entries, fsm.Committed{Data: bytesOf(s)})
		if rnd.IntN(3) == 0 {
			seen := states[max(0, len(states)-1-rnd.IntN(lag))]
			entries = append(entries, fsm.Committed{Data: entry.EncodeCheck(0, seen.Tx, seen.Digest)})
		}
	}
	return entries
}

// replay has a machine apply the entries under the weather.
func (w weather) replay(t *testing.T, seed uint64, history []fsm.Committed) *node {
	options := fsm.Options{CacheBytes: 8 << 20, Tune: func(o *pebble.Options) {
		// A key that is deleted as one that was written once was written once.
		o.EventListener.PossibleAPIMisuse = func(info pebble.PossibleAPIMisuseInfo) { t.Error(info) }
		if w.tune != nil {
			w.tune(o)
		}
	}}
	if w.disk {
		options.Dir = filepath.Join(t.TempDir(), "store")
	}
	n := newNode(t, options)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for _, c := range history {
		n.put(c.Data)
		if len(n.pending) < 1+rnd.IntN(w.batch) {
			continue
		}
		n.apply()
		if w.restart > 0 && rnd.IntN(w.restart) == 0 {
			n.restart()
		}
		if w.restore > 0 && rnd.IntN(w.restore) == 0 {
			n.restore()
		}
	}
	n.apply()
	return n
}

// restart closes the machine and opens it again.
func (n *node) restart() {
	n.Helper()
	if err := n.m.Close(); err != nil {
		n.Fatal(err)
	}
	m, err := fsm.Open(n.options)
	if err != nil {
		n.Fatal(err)
	}
	n.m = m
}

// restore takes a checkpoint, sends it through an archive, and restores it.
func (n *node) restore() {
	n.Helper()
	before := n.m.Position()
	dir := n.TempDir()
	checkpoint, unpacked := filepath.Join(dir, "checkpoint"), filepath.Join(dir, "unpacked")
	if err := n.m.Checkpoint(checkpoint); err != nil {
		n.Fatal(err)
	}
	var archive bytes.Buffer
	if err := fsm.WriteArchive(n.m.FS(), checkpoint, &archive); err != nil {
		n.Fatal(err)
	}
	size, err := fsm.ArchiveSize(n.m.FS(), checkpoint)
	if err != nil {
		n.Fatal(err)
	}
	if size != int64(archive.Len()) {
		n.Fatalf("the archive has %d bytes; %d were announced", archive.Len(), size)
	}
	if err := fsm.ReadArchive(n.m.FS(), &archive, unpacked); err != nil {
		n.Fatal(err)
	}
	if err := n.m.RestoreDir(unpacked); err != nil {
		n.Fatal(err)
	}
	if after := n.m.Position(); after != before {
		n.Fatalf("the restored machine stands at %+v, not at %+v", after, before)
	}
}

// TestEntriesAreAppliedOnce covers a log that is replayed from further back than
// the machine stands: entries that it has are skipped.
func TestEntriesAreAppliedOnce(t *testing.T) {
	history := model.NewRandom(7).History(60)
	n := newNode(t, fsm.Options{CacheBytes: 8 << 20})
	var all []fsm.Committed
	for _, s := range history {
		n.put(bytesOf(s))
		all = append(all, n.pending[len(n.pending)-1])
	}
	n.apply()
	before := n.m.Position()
	out, err := n.m.Apply(all)
	if err != nil {
		t.Fatal(err)
	}
	for i := range out {
		if !out[i].Skipped {
			t.Fatalf("entry %d was applied twice", all[i].Index)
		}
	}
	if after := n.m.Position(); after != before {
		t.Fatalf("a replay moved the machine from %+v to %+v", before, after)
	}
}
