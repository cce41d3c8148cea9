package fsm

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"abagraph/fact"
	"abagraph/log/entry"
)

// Verified is what a deep check of a store has seen.
type Verified struct {
	Tx         uint64   `json:"tx"`
	Epoch      string   `json:"epoch"`
	Digest     string   `json:"digest"`
	Index      uint64   `json:"index"`
	Keys       uint64   `json:"keys"`
	Facts      uint64   `json:"facts"`
	Versions   uint64   `json:"versions"`
	Events     uint64   `json:"events"`
	Outcomes   uint64   `json:"outcomes"`
	Tenants    uint64   `json:"tenants"`
	Unchecked  uint64   `json:"unchecked"` // keys of families that have no check but that they can be read
	Problems   []string `json:"problems"`
	Untold     uint64   `json:"untold,omitempty"` // problems beyond the first ones
	lastTenant string
}

// maxProblems bounds the problems that are told one by one.
const maxProblems = 50

func (v *Verified) problem(format string, args ...any) {
	if len(v.Problems) >= maxProblems {
		v.Untold++
		return
	}
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

// Verify reads every key of the view and holds them to each other: tx records
// without a gap, up to the state's own; each fact under each of its index keys, and
// no index key without its fact; counters against full counts; versions, events and
// outcomes that can be read. What does not fit is told in Problems, without any text
// of a fact; the error is of the disk, or the context's. Progress, where it is set,
// is told the number of keys read, now and then.
func (v *View) Verify(ctx context.Context, progress func(keys uint64)) (*Verified, error) {
	p := v.Position()
	out := &Verified{Tx: p.Tx, Epoch: p.Epoch, Digest: hex.EncodeToString(p.Digest[:]), Index: p.Index, Problems: []string{}}
	if err := v.verifyTxs(ctx, out); err != nil {
		return nil, err
	}
	it, err := openIter(v.snap, []byte{spaceTenant}, []byte{spaceTenant + 1})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	w := &walker{view: v, out: out}
	for ok := it.First(); ok; ok = it.Next() {
		if out.Keys++; out.Keys%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if progress != nil {
				progress(out.Keys)
			}
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, storageError("read a key", err)
		}
		if err := w.key(it.Key(), value); err != nil {
			return nil, err
		}
	}
	if err := it.Error(); err != nil {
		return nil, storageError("read the store", err)
	}
	return out, w.leave()
}

// verifyTxs checks that there is a record of every tx, in the order of time, and
// that the last one has the state's digest.
func (v *View) verifyTxs(ctx context.Context, out *Verified) error {
	prefix := storeKeyOf(storeTx)
	it, err := openIter(v.snap, prefix, successor(prefix))
	if err != nil {
		return err
	}
	defer it.Close()
	next, last, digest := uint64(1), fact.NoInstant, [32]byte{}
	var chain auditChain
	for ok := it.First(); ok; ok = it.Next() {
		if next%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return storageError("read a tx record", err)
		}
		tx := binary.BigEndian.Uint64(it.Key()[len(prefix):])
		if tx != next {
			out.problem("the records of the txs from %d to %d are missing", next, tx-1)
		}
		rec, err := decodeTxRecord(value)
		if err != nil {
			out.problem("tx %d: %v", tx, err)
		} else if rec.RecordedAt < last {
			out.problem("tx %d was recorded before tx %d", tx, tx-1)
		}
		if err == nil {
			if err := v.verifyAudited(out, &chain, tx, &rec); err != nil {
				return err
			}
		}
		next, last, digest = tx+1, rec.RecordedAt, rec.Digest
	}
	if err := it.Error(); err != nil {
		return storageError("read the tx records", err)
	}
	switch {
	case next != v.state.Tx+1:
		out.problem("the state is at tx %d, and the last record is of tx %d", v.state.Tx, next-1)
	case digest != v.state.Digest:
		out.problem("the state's digest is not that of tx %d", v.state.Tx)
	case last > v.state.Clock && next > 1:
		out.problem("the log's clock is behind the record of tx %d", v.state.Tx)
	}
	return nil
}

// walker goes through the keys of one tenant's branch after another.
type walker struct {
	view  *View
	out   *Verified
	space space
	on    bool
	raw   []byte // the prefix of the present space, up to the family

	rows       map[fact.Status]int64
	entities   int64
	predicates map[string]int64
	told       map[string]int64 // what the store says of the same
	seen       [256]int64       // keys by family
	states     int64            // statements
	counters   counters
}

func (w *walker) key(k, value []byte) error {
	if !w.on || !bytes.HasPrefix(k, w.raw) {
		if err := w.enter(k); err != nil || !w.on {
			return err
		}
	}
	family, rest := k[len(w.raw)], k[len(w.raw)+1:]
	w.seen[family]++
	switch family {
	case famCounters:
		return w.decodes("the counters", w.readCounters(value))
	case famPredicate:
		return w.predicate(rest, value)
	case famTimeline:
		return w.timeline(k, rest, value)
	case famVersion:
		return w.version(k, value)
	case famEvent:
		return w.event(k, value)
	case famVector:
		return w.vector(rest, value)
	case famForked:
		_, err := decodeFork(value)
		return w.decodes("the note of a forked fact", err)
	case famBranch:
		return w.branch(rest, value)
	case famOutcome:
		w.out.Outcomes++
		_, err := decodeOutcome(value)
		return w.decodes("an outcome", err)
	case famBlob:
		return w.decodes("a piece of a blob", checkBlob(rest, value))
	case famAudit:
		return w.audited(rest)
	case famID, famByPred, famByObject, famDue, famExpired, famOutcomeAge, famVectorOf:
		return nil // they are counted, and met from the side of what they point to
	}
	w.out.Unchecked++
	return nil
}

// enter begins the space that a key lies in.
func (w *walker) enter(k []byte) error {
	if w.on {
		if err := w.leave(); err != nil {
			return err
		}
	}
	tenant, rest, ok := cutString(k[1:])
	var branch string
	if ok {
		branch, rest, ok = cutString(rest)
	}
	if !ok || len(rest) == 0 {
		w.on = false
		w.out.problem("a key cannot be read")
		return nil
	}
	*w = walker{view: w.view, out: w.out, space: space{tenant, branch}, on: true, raw: bytes.Clone(k[:len(k)-len(rest)]),
		rows: map[fact.Status]int64{}, predicates: map[string]int64{}, told: map[string]int64{}}
	if branch != "" && (w.out.Tenants == 0 || w.out.lastTenant != tenant) {
		w.out.Tenants++
		w.out.lastTenant = tenant
	}
	return nil
}

// decodes makes a problem of a value that cannot be read.
func (w *walker) decodes(what string, err error) error {
	if err != nil {
		w.out.problem("%s: %s cannot be read", w.where(), what)
	}
	return nil
}

func (w *walker) where() string {
	if w.space.branch == "" || w.space.branch == fact.MainBranch {
		return fmt.Sprintf("tenant %q", w.space.tenant)
	}
	return fmt.Sprintf("tenant %q, branch %q", w.space.tenant, w.space.branch)
}

func (w *walker) readCounters(value []byte) error {
	for _, f := range w.counters.fields() {
		n, used := binary.Varint(value)
		if used <= 0 {
			return fact.Errorf(fact.StorageCorruption, "cut short")
		}
		*f, value = n, value[used:]
	}
	return nil
}

func (w *walker) predicate(rest, value []byte) error {
	name, _, ok := cutString(rest)
	n, used := binary.Uvarint(value)
	if !ok || used <= 0 {
		return w.decodes("a predicate", fact.Errorf(fact.StorageCorruption, "cut short"))
	}
	w.told[name] = int64(n)
	return nil
}

// timeline checks a subject's marker, statement or row.
func (w *walker) timeline(k, rest, value []byte) error {
	_, tail, ok := cutString(rest)
	switch {
	case !ok || len(tail) == 0:
		return w.decodes("a row's key", fact.Errorf(fact.StorageCorruption, "cut short"))
	case tail[0] == classMarker:
		w.entities++
		return nil
	case tail[0] == classStatement:
		w.states++
		return nil
	}
	w.out.Facts++
	f, err := entry.DecodeFact(value)
	if err != nil {
		return w.decodes("a fact", err)
	}
	w.rows[f.Status]++
	w.predicates[f.Predicate]++
	if f.Tx > w.out.Tx {
		w.out.problem("%s: fact %s is of tx %d, beyond the state's", w.where(), f.ID, f.Tx)
	}
	if !bytes.Equal(k, w.space.row(&f)) {
		w.out.problem("%s: fact %s does not lie where it belongs", w.where(), f.ID)
	}
	return w.indexed(&f)
}

// indexed checks that a row is found by each of its index keys.
func (w *walker) indexed(f *fact.Fact) error {
	s := w.space
	tail, err := get(w.view.snap, s.id(f.ID))
	if err != nil {
		return err
	}
	if tail == nil || !bytes.Equal(tail, appendRow(nil, f)) {
		w.out.problem("%s: the id of fact %s does not lead to it", w.where(), f.ID)
	}
	object := hashOf(f.Object)
	keys := []struct {
		what string
		key  []byte
	}{{"the list of its predicate", appendByPredicate(s.prefix(famByPred), f)}, {"the list of its object", appendByObject(s.prefix(famByObject), f, object)},
		{"its statement", appendStatement(s.prefix(famTimeline), f, object)}, {"its subject", s.marker(f.Subject)}}
	if at, due := dueAt(f); due {
		keys = append(keys, struct {
			what string
			key  []byte
		}{"what is due", s.due(at, f.ID)})
	}
	for _, one := range keys {
		there, err := has(w.view.snap, one.key)
		if err != nil {
			return err
		}
		if !there {
			w.out.problem("%s: fact %s is missing in %s", w.where(), f.ID, one.what)
		}
	}
	return nil
}

// version checks that a past version can be read, ended, and is of a fact.
func (w *walker) version(k, value []byte) error {
	w.out.Versions++
	past, err := decodeVersion(k, value)
	if err != nil {
		return w.decodes("a version", err)
	}
	if past.tx > past.end.tx || past.end.tx > w.out.Tx {
		w.out.problem("%s: a version of fact %s holds from tx %d to tx %d", w.where(), past.id, past.tx, past.end.tx)
	}
	there, err := has(w.view.snap, w.space.id(past.id))
	if err == nil && !there {
		w.out.problem("%s: there is a version of fact %s, which is not there", w.where(), past.id)
	}
	return err
}

// branch checks that a branch's record can be read, is its own, and has a parent.
func (w *walker) branch(name, value []byte) error {
	rec, err := decodeBranch(value)
	if err != nil {
		return w.decodes("a branch", err)
	}
	if rec.Tenant != w.space.tenant || rec.Name != string(name) || rec.BaseTx > w.out.Tx {
		w.out.problem("%s: branch %q does not lie where it belongs", w.where(), rec.Name)
	}
	if rec.Parent == fact.MainBranch {
		return nil
	}
	parent, err := w.view.branch(space{rec.Tenant, rec.Parent})
	if err == nil && parent == nil {
		w.out.problem("%s: branch %q has no parent", w.where(), rec.Name)
	}
	return err
}

func (w *walker) event(k, value []byte) error {
	w.out.Events++
	if _, err := decodeEvent(value); err != nil {
		return w.decodes("an event", err)
	}
	if tx := eventTx(k); tx > w.out.Tx {
		w.out.problem("%s: an event is of tx %d, beyond the state's", w.where(), tx)
	}
	return nil
}

// leave holds the counters of a space to what was counted in it.
func (w *walker) leave() error {
	if !w.on {
		return nil
	}
	if w.space.branch == "" {
		w.same("outcomes", w.counters.Outcomes, w.seen[famOutcome])
		w.same("outcomes by age", w.seen[famOutcomeAge], w.seen[famOutcome])
		return nil
	}
	total := int64(0)
	for status := fact.Active; status <= fact.Retracted; status++ {
		total += w.rows[status]
		w.same(status.String()+" facts", w.counters.ByStatus[status], w.rows[status])
	}
	w.same("places of vectors", w.seen[famVectorOf], w.seen[famVector])
	w.same("entities", w.counters.Entities, w.entities)
	w.same("predicates", w.counters.Predicates, int64(len(w.predicates)))
	for _, index := range []struct {
		what string
		n    int64
	}{{"ids", w.seen[famID]}, {"entries by predicate", w.seen[famByPred]},
		{"entries by object", w.seen[famByObject]}, {"statements", w.states}} {
		w.same(index.what, index.n, total)
	}
	names := slices.Concat(slices.Collect(maps.Keys(w.told)), slices.Collect(maps.Keys(w.predicates)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		w.same("facts of one predicate", w.told[name], w.predicates[name])
	}
	if total > 0 {
		there, err := has(w.view.snap, dataTenantKey(w.space.tenant))
		if err != nil {
			return err
		}
		if !there {
			w.out.problem("%s: it holds facts and is not listed", w.where())
		}
	}
	return nil
}

// same compares what the store says with what was counted.
func (w *walker) same(what string, says, counted int64) {
	if says != counted {
		w.out.problem("%s: the store says %d %s, and there are %d", w.where(), says, what, counted)
	}
}
