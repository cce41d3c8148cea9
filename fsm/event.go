package fsm

import (
	"abagraph/fact"
	"abagraph/log/entry"
	"encoding/binary"
)

// event is what the store keeps of one effect of a tx, so that the stream can
// tell it again: ids, not facts. The facts are read as they were at the tx.
type event struct {
	op        fact.Op
	id        fact.ID
	subject   string
	predicate string
	others    []fact.ID
	expired   *fact.Fact // of OpExpire: what is left to tell of the fact
}

func appendEvent(b []byte, e effect) []byte {
	b = append(b, byte(e.op))
	if e.op == fact.OpExpire {
		left := remains(&e.row.f)
		return entry.AppendFact(b, &left)
	}
	b = append(b, e.row.f.ID[:]...)
	b = appendString(b, e.row.f.Subject)
	b = appendString(b, e.row.f.Predicate)
	b = binary.AppendUvarint(b, uint64(len(e.others)))
	for _, o := range e.others {
		b = append(b, o.f.ID[:]...)
	}
	return b
}

// remains is what an expire event tells of a fact that is gone: all but its
// content, which is object, source and properties.
func remains(f *fact.Fact) fact.Fact {
	left := *f
	left.Object, left.Source, left.Properties = fact.Object{}, nil, nil
	return left
}

func decodeEvent(b []byte) (event, error) {
	bad := fact.Errorf(fact.StorageCorruption, "an event cannot be read")
	if len(b) < 1 {
		return event{}, bad
	}
	e := event{op: fact.Op(b[0])}
	if e.op == fact.OpExpire {
		f, err := entry.DecodeFact(b[1:])
		if err != nil {
			return e, bad
		}
		e.id, e.subject, e.predicate, e.expired = f.ID, f.Subject, f.Predicate, &f
		return e, nil
	}
	if len(b) < 17 {
		return e, bad
	}
	copy(e.id[:], b[1:17])
	var ok bool
	rest := b[17:]
	if e.subject, rest, ok = cutString(rest); !ok {
		return e, bad
	}
	if e.predicate, rest, ok = cutString(rest); !ok {
		return e, bad
	}
	n, w := binary.Uvarint(rest)
	if w <= 0 || n > uint64(len(rest)-w)/16 {
		return e, bad
	}
	for rest = rest[w:]; n > 0; n-- {
		var id fact.ID
		copy(id[:], rest)
		e.others = append(e.others, id)
		rest = rest[16:]
	}
	return e, nil
}
