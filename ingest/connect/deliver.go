package connect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"abagraph/fact"
	"abagraph/ingest/records"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// Bounds of the batches in which records are written, each in one tx.
const (
	maxBatchFacts = 1_000
	maxBatchBytes = 1 << 20
)

// MaxProblems is how many problems an answer lists; all are counted.
const MaxProblems = 100

// Delivery is what a connector's source sends.
type Delivery struct {
	Source io.Reader
	Format records.Format
	// Whole is what one object over several lines may have, in bytes.
	Whole int64
	// Key names the delivery, and Path where it came to; "" = it has no name. Under
	// one name a batch is written once (C-31).
	Key  string
	Path string
	// guards are what must hold for each batch; none for what is sent.
	guards []fact.Guard
	// seen is told of each record that is mapped; nil = nobody is.
	seen func(jsonx.Value)
}

// Problem says why a record was not written.
type Problem struct {
	Line   int64
	Reason string
	Field  string // of the record; "" = the record as a whole
}

// Receipt says what became of a delivery. Records = those that were written whole +
// Skipped; Asserted, Held and Duplicates make all facts.
type Receipt struct {
	Records    int
	Skipped    int
	Asserted   int
	Held       int
	Superseded int
	Duplicates int
	// Ignored counts values that are mapped and are no scalars.
	Ignored int
	Masked  int
	// Suspect counts records with a time that looks like seconds (C-1), and Suspicion
	// says how that of the first one was read.
	Suspect   int
	Suspicion string
	Problems  []Problem
	Tx        uint64 // of the last batch
	Batches   int
	first     error // of the first problem
}

// Told returns what a log line tells of a receipt: counts and names, and nothing that
// a record said.
func (r *Receipt) Told(connector, tenant string) []any {
	return []any{
		"name", connector, "records", r.Records, "skipped", r.Skipped, "asserted", r.Asserted, "held", r.Held,
		"superseded", r.Superseded, "duplicates", r.Duplicates, "tx", r.Tx, "tenant", tenant,
	}
}

func (r *Receipt) problem(line int64, err error) {
	r.Skipped++
	if r.first == nil {
		r.first = err
	}
	if len(r.Problems) == MaxProblems {
		return
	}
	p := Problem{Line: line, Reason: err.Error()}
	var known *fact.Error
	if errors.As(err, &known) {
		p.Field = known.Field
	}
	r.Problems = append(r.Problems, p)
}

// suspect notes records with a time that looks like seconds.
func (r *Receipt) suspect(n int, first string) {
	if r.Suspicion == "" {
		r.Suspicion = first
	}
	r.Suspect += n
}

// Warnings are what the answer should carry.
func (r *Receipt) Warnings() []string {
	switch r.Suspect {
	case 0:
		return nil
	case 1:
		return []string{r.Suspicion}
	}
	return []string{r.Suspicion, "and so do times of " + strconv.Itoa(r.Suspect-1) + " more records"}
}

// Deliver writes what a source sends. Records that cannot be used are listed, and
// the others are written all the same. An error tells what was written before it.
func (s *Service) Deliver(ctx context.Context, c memory.Caller, o memory.WriteOptions, k *Connector, d *Delivery) (*Receipt, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, err
	}
	r := &Receipt{}
	w := s.startWriter(ctx, c, o, k, d, r)
	err := cut(w, k, d, &names{masker: s.memory.Masker(c, o.Mask), clean: make(map[string]bool)})
	if failed := w.finish(); failed != nil {
		err = failed
	}
	if err != nil {
		return r, r.after(err)
	}
	if r.Records > 0 && r.Skipped == r.Records {
		return r, r.useless()
	}
	return r, nil
}

// after says what had been written before an error.
func (r *Receipt) after(err error) error {
	var known *fact.Error
	if r.Batches == 0 || !errors.As(err, &known) {
		return err
	}
	told := *known
	told.Message = fmt.Sprintf("%s (%d facts of %d records were written before: send it again, what is there already changes nothing)",
		known.Message, r.Asserted+r.Held, r.Records-r.Skipped)
	return &told
}

// useless is the error of a delivery of which nothing could be used.
func (r *Receipt) useless() error {
	e := &fact.Error{Code: fact.SchemaInvalid, Message: r.first.Error()}
	var known *fact.Error
	if errors.As(r.first, &known) {
		e.Field = known.Field
	}
	if r.Records > 1 {
		e.Message = fmt.Sprintf("none of the %d records can be used; of the first one, in line %d: %s", r.Records, r.Problems[0].Line, e.Message)
	}
	return e
}

// cut cuts a delivery into batches.
func cut(w *writer, k *Connector, d *Delivery, n *names) error {
	in := records.New(d.Source, d.Format, d.Whole)
	b := &batch{}
	for {
		rec, err := in.Next()
		var bad *records.Problem
		switch {
		case errors.Is(err, io.EOF):
			return w.send(b)
		case errors.As(err, &bad):
			b.refuse(bad.Line, bad.Err)
		case err != nil:
			if failed := w.send(b); failed != nil {
				return failed
			}
			return err
		default:
			if b.add(k, rec, n) && d.seen != nil {
				d.seen(rec.Value)
			}
		}
		if len(b.asserts) >= maxBatchFacts || b.bytes >= maxBatchBytes || len(b.rows) >= maxBatchFacts {
			if err := w.send(b); err != nil {
				return err
			}
			b = &batch{}
		}
	}
}

// batch is what becomes one tx: rows of facts, and rows that were refused.
type batch struct {
	asserts []fact.Assert
	rows    []row
	ignored int
	bytes   int

	suspect   int
	suspicion string
}

// row is one record of a batch.
type row struct {
	line     int64
	from, to int // its facts
	err      error
}

func (b *batch) refuse(line int64, err error) { b.rows = append(b.rows, row{line: line, err: err}) }

func (b *batch) add(k *Connector, rec records.Record, n *names) bool {
	from := len(b.asserts)
	list, noted, err := k.Mapping.Facts(b.asserts, rec.Value)
	if err == nil {
		err = n.check(list[from:])
	}
	if err != nil {
		b.refuse(rec.Line, err)
		return false
	}
	b.asserts = list
	b.ignored += noted.Ignored
	if noted.Suspicion != "" {
		if b.suspect++; b.suspect == 1 {
			b.suspicion = "line " + strconv.FormatInt(rec.Line, 10) + ": " + noted.Suspicion
		}
	}
	b.bytes += 64*(len(list)-from) + len(rec.Value.Raw)
	b.rows = append(b.rows, row{line: rec.Line, from: from, to: len(list)})
	return true
}

// part is some rows of a batch, by themselves.
func (b *batch) part(rows []row) *batch {
	p := &batch{}
	for _, r := range rows {
		from := len(p.asserts)
		p.asserts = append(p.asserts, b.asserts[r.from:r.to]...)
		p.rows = append(p.rows, row{line: r.line, from: from, to: len(p.asserts)})
	}
	return p
}

// key names a part of a delivery.
func (d *Delivery) key(connector, part string, b *batch) *fact.Idempotency {
	if d.Key == "" {
		return nil
	}
	named := sha256.Sum256([]byte(connector + "\x00" + d.Key))
	idem := &fact.Idempotency{Key: hex.EncodeToString(named[:16]) + "/" + part, Method: "POST", Path: d.Path}
	h := sha256.New()
	for i := range b.asserts {
		a := &b.asserts[i]
		fmt.Fprintf(h, "%q %q %q %d %d %v\n", a.Subject, a.Predicate, a.Object.Canonical(), a.ValidFrom, a.ValidUntil, a.Confidence)
	}
	h.Sum(idem.Hash[:0])
	return idem
}

func partName(n int) string { return strconv.Itoa(n) }
