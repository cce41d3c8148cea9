package golden

import (
	"os"
	"path/filepath"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/log/entry"
	"abagraph/ops"
)

// TestReplayAndCompact replays the log of a directory with everything in it, with
// branches, a purge and the outcomes of writes: the store that comes of it has the
// same digest. Then the directory is compacted, and answers as before.
func TestReplayAndCompact(t *testing.T) {
	root := unpack(t, "testdata/store-2.tar.gz")
	before := contents(t, root)
	report, err := (&ops.Replay{Data: root}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !report.Same || report.From == 0 && report.Entries < 100 || report.Entries == 0 {
		t.Errorf("the replay says %+v", report)
	}
	for path, content := range contents(t, root) {
		if before[path] != content {
			t.Errorf("the replay has written %s", path)
		}
	}
	small, err := (&ops.Compact{Data: root}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if small.LogAfter >= small.LogBefore || small.DataAfter >= small.DataBefore {
		t.Errorf("compacting has freed nothing: %+v", small)
	}
	if _, err := os.Stat(filepath.Join(root, "raft.db.next")); err == nil {
		t.Error("a compaction has left its file")
	}
	judge(t, root, recorded(t, "testdata/store-2.json.gz"))
}

// TestReplayFindsAnotherState changes a store behind its log's back.
func TestReplayFindsAnotherState(t *testing.T) {
	root := small(t)
	same, err := (&ops.Replay{Data: root}).Run(t.Context())
	if err != nil || !same.SameKeys || same.From != 0 {
		t.Fatalf("before, the replay says %+v: %v", same, err)
	}
	m, err := fsm.Open(fsm.Options{Dir: filepath.Join(root, "state"), CacheBytes: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	at := m.Position()
	request := &fact.Request{Tenant: "a", Branch: fact.MainBranch, Threshold: fact.DefaultThreshold, Write: &fact.Write{Asserts: []fact.Assert{{
		ID: fact.ID{0: 1, 6: 0x70, 8: 0x80, 15: 1}, Subject: "Person:2", Predicate: "likes", Object: fact.TextObject("what no log holds"), Confidence: 1,
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
	}}}}
	batch := entry.EncodeBatch(entry.Batch{ProposedAt: at.RecordedAt + 1, Requests: [][]byte{entry.EncodeRequest(request)}})
	if _, err := m.Apply([]fsm.Committed{{Index: at.Index + 1, Term: at.Term, Data: batch}}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := (&ops.Replay{Data: root}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if other.Same || other.Anew.Digest == other.Kept.Digest || other.Anew.Sum == other.Kept.Sum {
		t.Errorf("another state is the same: %+v", other)
	}
}
