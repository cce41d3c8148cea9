package fsm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"

	"abagraph/fact"
	"abagraph/log/entry"

	"github.com/cockroachdb/pebble/v2"
)

// EachVector visits the vectors of a model that were set after a tx, in the order
// of txs, then of statements, until visit answers false. Vectors of other models
// and dimensions are passed over.
//
// A branch has those that its parents' statements were given up to the fork, too:
// they come first, since they are older.
func (v *View) EachVector(ctx context.Context, scope fact.Scope, m fact.Model, after uint64, visit func(statement fact.ID, tx uint64, vector []float32) bool) error {
	layers, err := v.vectorLayers(space{scope.Tenant, scope.Branch})
	if err != nil {
		return err
	}
	more := true
	for i := len(layers) - 1; i >= 0 && more; i-- {
		err := v.eachVector(ctx, layers[i], m, after, func(statement fact.ID, tx uint64, vector []float32) bool {
			more = visit(statement, tx, vector)
			return more
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// vectorLayers are the places where the vectors of a branch's statements lie, the
// branch's own first.
func (v *View) vectorLayers(s space) ([]layer, error) {
	own := layer{space: s, tx: math.MaxUint64 - 1}
	if s.branch == fact.MainBranch {
		return []layer{own}, nil
	}
	below, err := lineage(s, v.branch)
	return append([]layer{own}, below...), err
}

func (v *View) eachVector(ctx context.Context, from layer, m fact.Model, after uint64, visit func(statement fact.ID, tx uint64, vector []float32) bool) error {
	if after >= from.tx {
		return nil
	}
	s := from.space
	prefix := s.prefix(famVector)
	it, err := openIter(v.snap, s.vectorsFrom(after+1), s.vectorsFrom(from.tx+1))
	if err != nil {
		return err
	}
	want := appendModel(nil, m)
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if n++; n%256 == 0 && ctx.Err() != nil {
			return errors.Join(ctx.Err(), it.Close())
		}
		k := it.Key()[len(prefix):]
		if len(k) < 24 || !bytes.Equal(k[24:], want) {
			continue
		}
		b, err := it.ValueAndErr()
		if err != nil {
			return errors.Join(storageError("read a vector", err), it.Close())
		}
		if len(b) != 4*m.Dim {
			return errors.Join(fact.Errorf(fact.StorageCorruption, "a vector cannot be read"), it.Close())
		}
		if !visit(fact.ID(k[8:24]), binary.BigEndian.Uint64(k), entry.DecodeVector(b)) {
			break
		}
	}
	return errors.Join(it.Error(), it.Close())
}

// VectorTx returns the tx at which a statement was given its vector of a model; 0
// where it has none.
func (v *View) VectorTx(_ context.Context, scope fact.Scope, m fact.Model, statement fact.ID) (uint64, error) {
	_, tx, err := v.vectorPlace(space{scope.Tenant, scope.Branch}, m, statement)
	return tx, err
}

// vectorPlace returns where the vector of a statement lies, and the tx at which it
// was set; 0 where it has none.
func (v *View) vectorPlace(s space, m fact.Model, statement fact.ID) (space, uint64, error) {
	layers, err := v.vectorLayers(s)
	if err != nil {
		return s, 0, err
	}
	for _, l := range layers {
		b, err := get(v.snap, l.space.vectorOf(statement, m))
		if err != nil {
			return s, 0, err
		}
		if b == nil {
			continue
		}
		if len(b) != 8 {
			return s, 0, fact.Errorf(fact.StorageCorruption, "the place of a vector cannot be read")
		}
		if tx := binary.BigEndian.Uint64(b); tx <= l.tx {
			return l.space, tx, nil
		}
	}
	return s, 0, nil
}

// Vector returns a statement's vector of a model and the tx at which it was set;
// nil where it has none.
func (v *View) Vector(_ context.Context, scope fact.Scope, m fact.Model, statement fact.ID) ([]float32, uint64, error) {
	s, tx, err := v.vectorPlace(space{scope.Tenant, scope.Branch}, m, statement)
	if err != nil || tx == 0 {
		return nil, 0, err
	}
	b, err := get(v.snap, s.vector(tx, statement, m))
	if err != nil {
		return nil, 0, err
	}
	if len(b) != 4*m.Dim {
		return nil, 0, fact.Errorf(fact.StorageCorruption, "a vector cannot be read")
	}
	return entry.DecodeVector(b), tx, nil
}

// Vectors visits the vectors of a model that some statements have, in the order of
// the list, with nil for one that has none. A vector is the visitor's until it
// returns.
func (v *View) Vectors(ctx context.Context, scope fact.Scope, m fact.Model, list []fact.VectorAt, visit func(i int, vector []float32)) error {
	room := make([]float32, 0, m.Dim)
	for i, at := range list {
		if i%64 == 63 && ctx.Err() != nil {
			return ctx.Err()
		}
		vector, err := v.vectorAt(scope, m, at, room)
		if err == nil && vector == nil {
			vector, _, err = v.Vector(ctx, scope, m, at.Statement)
		}
		if err != nil {
			return err
		}
		visit(i, vector)
	}
	return nil
}

// vectorAt reads a vector where it is said to lie, on the branch itself, and so
// spares the look for its place, into the room given; nil where it is not there.
func (v *View) vectorAt(scope fact.Scope, m fact.Model, at fact.VectorAt, room []float32) ([]float32, error) {
	if at.Tx == 0 {
		return nil, nil
	}
	b, closer, err := v.snap.Get(space{scope.Tenant, scope.Branch}.vector(at.Tx, at.Statement, m))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, storageError("read a vector", err)
	}
	if len(b) != 4*m.Dim {
		return nil, errors.Join(fact.Errorf(fact.StorageCorruption, "a vector cannot be read"), closer.Close())
	}
	vector := entry.AppendDecoded(room[:0], b)
	if err := closer.Close(); err != nil {
		return nil, storageError("read a vector", err)
	}
	return vector, nil
}

// CountVectors counts the facts of a scope that have a vector of a model, and
// those that have none. It reads two runs of keys side by side.
func (v *View) CountVectors(ctx context.Context, scope fact.Scope, m fact.Model) (fact.VectorCount, error) {
	var sum fact.VectorCount
	tenants, err := v.tenants(scope)
	if err != nil {
		return sum, err
	}
	for _, tenant := range tenants {
		if err := v.countVectors(ctx, space{tenant, scope.Branch}, m, &sum); err != nil {
			return sum, err
		}
	}
	return sum, nil
}

func (v *View) countVectors(ctx context.Context, s space, m fact.Model, sum *fact.VectorCount) error {
	ids, placed := s.prefix(famID), s.prefix(famVectorOf)
	facts, err := openIter(v.snap, ids, successor(ids))
	if err != nil {
		return err
	}
	defer facts.Close()
	vectors, err := openIter(v.snap, placed, successor(placed))
	if err != nil {
		return err
	}
	defer vectors.Close()
	want := appendModel(nil, m)
	more := vectors.First()
	for ok := facts.First(); ok; ok = facts.Next() {
		if sum.Facts++; sum.Facts%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		id := facts.Key()[len(ids):]
		there := false
		for ; more; more = vectors.Next() {
			k := vectors.Key()[len(placed):]
			c := bytes.Compare(k[:16], id)
			if c > 0 {
				break
			}
			if c == 0 && bytes.Equal(k[16:], want) {
				there = true
				break
			}
		}
		if there {
			continue
		}
		shared, err := v.sharesVector(ctx, s, m, fact.ID(id), sum.Missing)
		if err != nil {
			return err
		}
		if !shared {
			sum.Missing++
		}
	}
	return errors.Join(facts.Error(), vectors.Error())
}

// sharesVector reports whether a fact is a continuation whose statement has a
// vector. Where very many facts have none it is not looked for.
func (v *View) sharesVector(ctx context.Context, s space, m fact.Model, id fact.ID, missing uint64) (bool, error) {
	if missing >= fact.MissingExact {
		return false, nil
	}
	f, err := readFact(v.snap, s, id)
	if err != nil || f == nil || f.Continues.IsZero() {
		return false, err
	}
	tx, err := v.VectorTx(ctx, fact.Scope{Tenant: s.tenant, Branch: s.branch}, m, f.Continues)
	return tx > 0, err
}
