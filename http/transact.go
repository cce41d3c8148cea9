package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// transact is POST /api/transact.
func (s *Server) transact(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	w, err := c.input.Batch(body)
	if err != nil {
		return err
	}
	o, err := c.writeOptions()
	if err != nil {
		return err
	}
	result, err := s.config.Memory.Transact(c.r.Context(), c.caller, o, w, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return err
	}
	t := touchedBy(result)
	c.explainTransact(w, t)
	b, left := t.append(c.begin(), result)
	b = appendMasked(b, result)
	c.warnLeft(left, result.Tx)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// maxReceiptBytes is where the lists of whole facts in the answer of a write
// end. Ids and counts are always told in full.
const maxReceiptBytes = 2 * fact.MaxAnswerBytes

// appendWithin appends a list of n facts as far as there is room, and returns
// how many were left out.
func appendWithin(b []byte, n int, at func(int) *fact.Fact) ([]byte, int) {
	b = append(b, '[')
	for i := range n {
		if len(b) > maxReceiptBytes {
			return append(b, ']'), n - i
		}
		b = jsonx.AppendFact(comma(b, i), at(i))
	}
	return append(b, ']'), 0
}

// warnLeft tells how many facts the answer of a write has no room for.
func (c *call) warnLeft(left int, tx uint64) {
	if left > 0 {
		c.input.Warn(strconv.Itoa(left) + " facts are left out, because the answer of a write holds at most " +
			strconv.Itoa(maxReceiptBytes>>20) + " MiB of them: list them with /api/facts?tx_gt=" + strconv.FormatUint(tx-min(tx, 1), 10))
	}
}

func (c *call) explainTransact(w *fact.Write, t *touched) {
	if c.trace == nil {
		return
	}
	c.trace.Name("transact", "guards → retracts → asserts, in one tx")
	c.trace.Int("compares", len(w.Guards))
	c.trace.Int("retracts", len(w.Retracts))
	c.trace.Int("asserts", len(w.Asserts))
	c.trace.Int("facts", len(t.order))
	c.trace.Int("superseded", len(t.ended))
	c.trace.Int("continuations", len(t.continuations))
}

// touched gathers every fact of a batch, each once, as it stands after the
// whole of it: a later part of the batch may have changed what an earlier one
// answered.
type touched struct {
	last          map[fact.ID]*fact.Fact
	order         []fact.ID // new facts, then continuations, closes, moves, retractions
	continuations []fact.ID
	ended         []fact.ID
}

func touchedBy(r *fact.Result) *touched {
	t := &touched{last: make(map[fact.ID]*fact.Fact, len(r.Asserts)+len(r.Retracted))}
	// Retracts come before asserts in a batch, and so do their states.
	states := make([]*fact.Fact, 0, len(r.Asserts))
	states = pointers(states, r.Retracted)
	for i := range r.Asserts {
		a := &r.Asserts[i]
		states = append(pointers(pointers(states, a.Superseded), a.Moved), &a.Fact)
		states = pointers(states, a.Continuations)
	}
	for _, f := range states {
		t.last[f.ID] = f
	}
	seen := make(map[fact.ID]struct{}, len(t.last))
	for i := range r.Asserts {
		t.order = once(t.order, seen, r.Asserts[i].Fact.ID)
	}
	for i := range r.Asserts {
		for j := range r.Asserts[i].Continuations {
			id := r.Asserts[i].Continuations[j].ID
			t.continuations = append(t.continuations, id)
			t.order = once(t.order, seen, id)
		}
	}
	t.ended = endedBy(r)
	for _, f := range states {
		t.order = once(t.order, seen, f.ID)
	}
	return t
}

func pointers(dst []*fact.Fact, list []fact.Fact) []*fact.Fact {
	for i := range list {
		dst = append(dst, &list[i])
	}
	return dst
}

func once(dst []fact.ID, seen map[fact.ID]struct{}, id fact.ID) []fact.ID {
	if _, twice := seen[id]; twice {
		return dst
	}
	seen[id] = struct{}{}
	return append(dst, id)
}

// endedBy lists what the asserts of a batch ended, each once.
func endedBy(r *fact.Result) []fact.ID {
	var ended []fact.ID
	seen := make(map[fact.ID]struct{})
	for i := range r.Asserts {
		for j := range r.Asserts[i].Superseded {
			ended = once(ended, seen, r.Asserts[i].Superseded[j].ID)
		}
	}
	return ended
}

// append appends the answer without its closing brace (C-34, C-51), and tells
// how many facts it has no room for.
func (t *touched) append(b []byte, r *fact.Result) ([]byte, int) {
	b = append(b, `{"tx":`...)
	b = strconv.AppendUint(b, r.Tx, 10)
	b = append(b, `,"facts":`...)
	b, left := t.facts(b, t.order)
	b = append(b, `,"retracted":`...)
	b = jsonx.AppendIDs(b, r.RetractedIDs)
	b = append(b, `,"superseded":`...)
	b = strconv.AppendInt(b, int64(len(t.ended)), 10)
	b = append(b, `,"superseded_ids":`...)
	b = jsonx.AppendIDs(b, t.ended)
	b = append(b, `,"continuations":`...)
	b, further := t.facts(b, t.continuations)
	return b, left + further
}

func (t *touched) facts(b []byte, ids []fact.ID) ([]byte, int) {
	return appendWithin(b, len(ids), func(i int) *fact.Fact { return t.last[ids[i]] })
}
