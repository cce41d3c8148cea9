package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"abagraph/fact"
	"abagraph/memory/mask"
)

// MaxUndo is the most statements that one undo of a source retracts, since it is
// one transaction.
const MaxUndo = fact.MaxTransactRows

// maxUndos is how often an undo is worked out anew because some of what it read
// was deleted before its write.
const maxUndos = 8

// undoSample is how many facts a dry run shows.
const undoSample = 20

// undone are the statuses that an undo ends: all but retracted.
const undone = fact.AllStatuses &^ (1 << fact.Retracted)

// UndoQuery says what to take back.
type UndoQuery struct {
	Source string
	// After leaves out statements that were recorded up to this tx; 0 = none.
	After uint64
	// DryRun writes nothing, and tells what would be retracted.
	DryRun bool
	// Partial retracts the newest statements where there are more than Limit, instead
	// of refusing.
	Partial bool
	Limit   int // 0 = MaxUndo

	masked string // the source as writes keep it
}

func (q *UndoQuery) limit() int {
	if q.Limit > 0 && q.Limit < MaxUndo {
		return q.Limit
	}
	return MaxUndo
}

// Undone is what an undo did, or in a dry run would do.
type Undone struct {
	Meta Meta // of the read that it was worked out from
	// Statements and Facts count what was retracted: a statement that others have
	// cut is several facts.
	Statements int
	Facts      int
	IDs        []fact.ID // of the statements
	// Found counts the source's facts by status, before the undo.
	Found [fact.Retracted + 1]int
	// Remaining counts the facts of the source that are left.
	Remaining int
	// Sample are some of the newest facts, in a dry run.
	Sample []fact.Fact
}

// Undo retracts everything that a source wrote on one branch, in one tx. What it
// had closed is not reopened (C-16). What the source writes meanwhile is left
// alone.
func (s *Service) Undo(ctx context.Context, c Caller, o WriteOptions, q *UndoQuery, trace *Trace) (*Undone, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	if q.Source == "" {
		return nil, nil, fact.Invalid("source", "must not be empty")
	}
	if err := fact.CheckSource("source", q.Source); err != nil {
		return nil, nil, err
	}
	masker := s.Masker(c, mask.Hash) // personal data in a source is kept as a hash
	q.masked, _ = masker.Source(q.Source)
	trace.Name("undo_source", "full scan → retracts, in one tx")
	read := NewRead()
	read.Branch = o.Branch
	most := q.limit()
	for range maxUndos {
		found, err := s.findSource(ctx, c, read, q, trace)
		if err != nil {
			return nil, nil, err
		}
		if found.cut && !q.Partial {
			return nil, nil, found.tooMany()
		}
		if q.DryRun {
			return found.preview(), nil, nil
		}
		done, result, err := s.retractSource(ctx, c, o, q, found, most, trace)
		switch code := fact.CodeOf(err); {
		case code == fact.NotFound && result != nil:
			continue // something was purged, or has expired, since it was read
		case code == fact.TooLarge && q.Partial && most > 1:
			most /= 8
			continue
		}
		return done, result, err
	}
	return nil, nil, fact.Errorf(fact.Conflict, "the facts of the source were deleted by others each time they were about to be retracted: try again")
}

func (s *Service) retractSource(ctx context.Context, c Caller, o WriteOptions, q *UndoQuery, found *sourceFinder, most int, trace *Trace) (*Undone, *fact.Result, error) {
	o.Blames = NoField
	w := &fact.Write{}
	for _, k := range found.kept[:min(most, len(found.kept))] {
		w.Retracts = append(w.Retracts, fact.Retract{ID: k.id, KnownAt: fact.NoInstant})
	}
	if len(w.Retracts) == 0 && o.Idem == nil {
		return &Undone{Meta: found.meta}, nil, nil
	}
	result, err := s.Transact(ctx, c, o, w, trace)
	if err != nil {
		return nil, result, err
	}
	done := &Undone{
		Meta: found.meta, Found: found.found, IDs: result.RetractedIDs, Statements: len(result.RetractedIDs), Facts: len(result.Retracted),
		Remaining: found.total() - len(result.Retracted),
	}
	if result.Replayed {
		if err := s.replayUndo(ctx, c, o, q, result, done); err != nil {
			return nil, result, err
		}
	}
	trace.Int("statements", done.Statements)
	trace.Int("facts", done.Facts)
	return done, result, nil
}

// replayUndo tells what there was before an undo that is answered again.
func (s *Service) replayUndo(ctx context.Context, c Caller, o WriteOptions, q *UndoQuery, result *fact.Result, done *Undone) error {
	read := NewRead()
	read.Branch, read.Level, read.MinTx, read.Tx, read.Pinned = o.Branch, fact.Stale, result.Tx, result.Tx, true
	if result.Wrote {
		read.Tx--
	}
	was, err := s.findSource(ctx, c, read, q, nil)
	if err != nil {
		return err
	}
	done.Found, done.Remaining = was.found, was.total()-done.Facts
	return nil
}

// sourceFinder gathers the newest statements of a source, in bounded memory.
type sourceFinder struct {
	meta  Meta
	most  int // statements that are kept
	kept  []keptStatement
	found [fact.Retracted + 1]int
	// cut tells that there were more statements than are kept.
	cut    bool
	sample []fact.Fact
}

// keptStatement is a statement by its first piece, with one piece that is there, and
// how many are.
type keptStatement struct {
	root, id fact.ID
	pieces   int
}

func (s *Service) findSource(ctx context.Context, c Caller, read Read, q *UndoQuery, trace *Trace) (*sourceFinder, error) {
	r, done, err := s.lookingFor(ctx, wholeTime, c, read, trace)
	if err != nil {
		return nil, err
	}
	defer done()
	r.scope.All = false // a write goes to one tenant
	k := &sourceFinder{most: q.limit(), meta: r.meta}
	query := &fact.Query{Scope: r.scope, Statuses: undone, StatusGiven: true, At: r.at}
	err = r.view.Each(r.ctx, query, func(f *fact.Fact) bool {
		if f.Source != nil && (*f.Source == q.Source || *f.Source == q.masked) && f.FirstTx > q.After {
			k.take(f, q.DryRun)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("look for the facts of a source: %w", err)
	}
	k.trim()
	trace.Step("execute", "full_scan")
	return k, nil
}

func (k *sourceFinder) take(f *fact.Fact, show bool) {
	k.found[f.Status]++
	k.kept = append(k.kept, keptStatement{f.Statement(), f.ID, 1})
	if len(k.kept) >= 4*k.most {
		k.trim()
	}
	if !show {
		return
	}
	k.sample = append(k.sample, *f)
	if len(k.sample) >= 8*undoSample {
		k.trimSample()
	}
}

// trim keeps the newest statements: ids begin with the time that they were made.
func (k *sourceFinder) trim() {
	slices.SortFunc(k.kept, func(a, b keptStatement) int {
		if c := bytes.Compare(b.root[:], a.root[:]); c != 0 {
			return c
		}
		return bytes.Compare(a.id[:], b.id[:])
	})
	n := 0
	for _, one := range k.kept {
		if n > 0 && k.kept[n-1].root == one.root {
			k.kept[n-1].pieces += one.pieces
			continue
		}
		k.kept[n] = one
		n++
	}
	k.kept = k.kept[:n]
	if len(k.kept) > k.most {
		k.kept, k.cut = k.kept[:k.most], true
	}
	k.trimSample()
}

func (k *sourceFinder) trimSample() {
	slices.SortFunc(k.sample, func(a, b fact.Fact) int { return bytes.Compare(b.ID[:], a.ID[:]) })
	if len(k.sample) > undoSample {
		clear(k.sample[undoSample:])
		k.sample = k.sample[:undoSample]
	}
}

func (k *sourceFinder) total() int {
	n := 0
	for _, count := range k.found {
		n += count
	}
	return n
}

func (k *sourceFinder) preview() *Undone {
	u := &Undone{Meta: k.meta, Found: k.found, Statements: len(k.kept), Remaining: k.total(), Sample: k.sample}
	for _, kept := range k.kept {
		u.IDs = append(u.IDs, kept.id)
		u.Facts += kept.pieces
	}
	return u
}

func (k *sourceFinder) tooMany() error {
	return fact.Errorf(fact.TooLarge, "the source wrote more than the %d statements that one transaction may retract (%d facts): "+
		"nothing was written; repeat it with partial=1 until remaining is 0", k.most, k.total())
}
