package fsm

import (
	"bytes"
	"encoding/binary"

	"abagraph/fact"
)

// vector checks that a vector can be read, and that its statement leads to it.
func (w *walker) vector(rest, value []byte) error {
	bad := fact.Errorf(fact.StorageCorruption, "cut short")
	if len(rest) < 24 {
		return w.decodes("a vector's key", bad)
	}
	m, ok := cutModel(rest[24:])
	if !ok || len(value) != 4*m.Dim {
		return w.decodes("a vector", bad)
	}
	tx, statement := binary.BigEndian.Uint64(rest), fact.ID(rest[8:24])
	if tx > w.out.Tx {
		w.out.problem("%s: a vector is of tx %d, beyond the state's", w.where(), tx)
	}
	of, err := get(w.view.snap, w.space.vectorOf(statement, m))
	if err == nil && !bytes.Equal(of, rest[:8]) {
		w.out.problem("%s: the statement %s does not lead to its vector of tx %d", w.where(), statement, tx)
	}
	return err
}
