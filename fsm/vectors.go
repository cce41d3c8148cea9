package fsm

import (
	"bytes"
	"encoding/binary"

	"abagraph/fact"
	"abagraph/log/entry"
)

// A vector belongs to a statement: all pieces of one share its text, and so its
// vector. It lies under the tx at which it was set, so that a reader who knows
// the vectors up to a tx finds the new ones in one run of keys.

// newVector is a vector that a tx sets.
type newVector struct {
	space     space
	statement fact.ID
	model     fact.Model
	numbers   []float32
}

// encoded returns the bytes that the digest chain covers.
func (v *newVector) encoded() []byte {
	b := make([]byte, 0, 32+len(v.model.Name)+4*len(v.numbers))
	b = append(b, v.statement[:]...)
	return entry.AppendVector(appendModel(b, v.model), v.numbers)
}

// embed keeps the vector of an assert that has made a new fact.
func (t *txn) embed(a *fact.Assert) {
	if a.Vector != nil {
		t.vectors = append(t.vectors, newVector{t.space, a.ID, t.req.Write.Model, a.Vector})
	}
}

// vectorOp is one change of the vectors in an Apply call: one that was set, or,
// without a key, a statement whose vectors go.
type vectorOp struct {
	space     space
	statement fact.ID
	key, of   []byte // where the vector lies, and what tells so
	model     fact.Model
	tx        uint64
	numbers   []float32
}

// vectorMemo is what one Apply call does to the vectors, in order.
type vectorMemo struct {
	ops   []vectorOp
	set   map[string]bool // the keys, of, that were set in this call
	given map[vectorOwner]bool
}

// vectorOwner names a statement.
type vectorOwner struct {
	space     space
	statement fact.ID
}

func (m *vectorMemo) add(tx uint64, list []newVector) {
	for _, v := range list {
		if m.set == nil {
			m.set, m.given = make(map[string]bool), make(map[vectorOwner]bool)
		}
		m.given[vectorOwner{v.space, v.statement}] = true
		of := v.space.vectorOf(v.statement, v.model)
		m.set[string(of)] = true
		m.ops = append(m.ops, vectorOp{
			space: v.space, statement: v.statement, key: v.space.vector(tx, v.statement, v.model), of: of,
			model: v.model, tx: tx, numbers: v.numbers,
		})
	}
}

// of returns the vectors that a statement was given in this call, and still has.
func (m *vectorMemo) of(owner vectorOwner) []newVector {
	if !m.given[owner] {
		return nil
	}
	var list []newVector
	for i := range m.ops {
		op := &m.ops[i]
		switch {
		case op.space != owner.space || op.statement != owner.statement:
		case op.key == nil:
			list = nil
		default:
			list = append(list, newVector{op.space, op.statement, op.model, op.numbers})
		}
	}
	return list
}

// setVectors gives vectors to statements that have none of the model. What is
// gone, or has one, is passed over.
func (l *ledger) setVectors(req *fact.Request, now fact.Instant) (*fact.Result, error) {
	t := l.begin(req, now)
	res := &fact.Result{Tx: l.state.Tx, RecordedAt: now}
	twice := make(map[fact.ID]bool)
	for _, row := range req.Vectors.Rows {
		r, err := l.find(t.space, row.ID)
		if err != nil {
			return nil, err
		}
		if r == nil || twice[r.f.Statement()] {
			continue
		}
		of := t.space.vectorOf(r.f.Statement(), req.Vectors.Model)
		there, err := has(l.base, of)
		if err != nil {
			return nil, err
		}
		if there || l.vectors.set[string(of)] {
			continue
		}
		twice[r.f.Statement()] = true
		t.vectors = append(t.vectors, newVector{t.space, r.f.Statement(), req.Vectors.Model, row.Vector})
	}
	if len(t.vectors) == 0 {
		return res, nil
	}
	res.Tx, res.Wrote = t.tx, true
	return res, t.commit(txRecord{Kind: "vectors", Tenant: req.Tenant, Actor: req.Actor, DeclaredKnownAt: fact.NoInstant})
}

// dropVectors deletes the vectors of statements of which no piece is left. The
// rows are gone already.
func (l *ledger) dropVectors(rows []*row) error {
	for _, r := range rows {
		statement := r.f.Statement()
		there, err := l.hasVectors(r.space, statement)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		left, err := l.pieces(r)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			l.vectors.ops = append(l.vectors.ops, vectorOp{space: r.space, statement: statement})
		}
	}
	return nil
}

func (l *ledger) hasVectors(s space, statement fact.ID) (bool, error) {
	if l.vectors.given[vectorOwner{s, statement}] {
		return true, nil
	}
	prefix := s.vectorsOf(statement)
	it, err := l.seek(prefix, successor(prefix))
	if err != nil {
		return false, err
	}
	there := it.First()
	return there, it.Error()
}

// flushVectors writes what the call did to the vectors.
func (l *ledger) flushVectors() error {
	for i := range l.vectors.ops {
		op := &l.vectors.ops[i]
		if op.key == nil {
			if err := l.eraseVectors(i); err != nil {
				return err
			}
			continue
		}
		if err := l.batch.Set(op.key, entry.AppendVector(nil, op.numbers), nil); err != nil {
			return err
		}
		if err := l.batch.Set(op.of, binary.BigEndian.AppendUint64(nil, op.tx), nil); err != nil {
			return err
		}
	}
	return nil
}

// eraseVectors carries out a deletion: of what lies in the store, and of what the
// call set before it.
func (l *ledger) eraseVectors(at int) error {
	drop := &l.vectors.ops[at]
	for i := range l.vectors.ops[:at] {
		op := &l.vectors.ops[i]
		if op.key == nil || op.statement != drop.statement || op.space != drop.space {
			continue
		}
		if err := l.deleteVector(op.key, op.of); err != nil {
			return err
		}
	}
	prefix := drop.space.vectorsOf(drop.statement)
	it, err := l.seek(prefix, successor(prefix))
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		tx, err := it.ValueAndErr()
		if err != nil {
			return storageError("read where a vector lies", err)
		}
		of := bytes.Clone(it.Key())
		place := drop.space.prefix(famVector)
		place = append(append(place, tx...), of[len(prefix)-len(drop.statement):]...)
		if err := l.deleteVector(place, of); err != nil {
			return err
		}
	}
	return it.Error()
}

func (l *ledger) deleteVector(key, of []byte) error {
	if err := l.batch.Delete(key, nil); err != nil {
		return err
	}
	return l.batch.Delete(of, nil)
}
