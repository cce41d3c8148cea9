package imports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"

	"abagraph/fact"
)

// step is what an event does. Their order is the order at equal times:
// retractions first, except that of a row which is known and retracted at the
// same time.
type step uint8

const (
	retractRow step = iota
	assertRow
	retractNow
)

// event is one thing to write.
type event struct {
	at   fact.Instant
	row  uint32
	step step
}

// ref remembers a row without holding it.
type ref struct {
	record
	retracted bool // a retraction follows, so its id is needed
	hashes
}

// span is a batch: the events [from, to).
type span struct{ from, to int }

// Plan is an import that is ready to run.
type Plan struct {
	// ID names the import: the content of the file and the options.
	ID string
	// Counts of what the plan itself decided.
	Report Report

	source  *Source
	options Options
	reader  reader
	rows    []ref
	events  []event
	batches []span
}

// Note is told of each row or retraction that is not written, and why.
type Note func(Refusal)

// Refusal is one row or retraction that was not written.
type Refusal struct {
	Line       int64  `json:"line"`
	Reason     string `json:"reason"`
	Retraction bool   `json:"retraction,omitempty"`
	Skipped    bool   `json:"skipped,omitempty"` // nothing is wrong with it
}

// Make reads a source and plans its import. Rows that cannot be read are told
// to note and counted; reading tells progress how many bytes are behind it.
func Make(ctx context.Context, s *Source, o Options, note Note, progress func(done, total int64)) (*Plan, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	p := &Plan{source: s, options: o}
	if err := p.identify(); err != nil {
		return nil, err
	}
	var err error
	if p.reader, err = open(s, &p.options); err != nil {
		return nil, err
	}
	if err := p.scan(ctx, note, progress); err != nil {
		return nil, err
	}
	if o.KnownAt != "" {
		slices.SortStableFunc(p.events, func(a, b event) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.step, b.step))
		})
	}
	p.cut()
	return p, nil
}

// identify derives the import's name from the content and the options.
func (p *Plan) identify() error {
	content, err := p.source.digest()
	if err != nil {
		return err
	}
	options, err := json.Marshal(p.options, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("name the import: %w", err)
	}
	hash := sha256.New()
	hash.Write(content)
	hash.Write(options)
	p.ID = hex.EncodeToString(hash.Sum(nil)[:16])
	return nil
}

func (p *Plan) scan(ctx context.Context, note Note, progress func(done, total int64)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, r, err := p.reader.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var broken *badRecord
		if err != nil && !errors.As(err, &broken) {
			return fmt.Errorf("read line %d of %s: %w", at.line, p.source.Name, err)
		}
		p.Report.Rows++
		if p.Report.Rows > MaxRows {
			return fmt.Errorf("%s has more than %d rows: split it", p.source.Name, MaxRows)
		}
		switch {
		case broken != nil:
			p.Report.Refused++
			note(Refusal{Line: at.line, Reason: broken.reason})
		case r.skip != "":
			p.Report.Skipped++
			note(Refusal{Line: at.line, Reason: r.skip, Skipped: true})
		default:
			p.add(at, &r)
		}
		if p.Report.Rows%1024 == 0 {
			progress(at.offset, p.source.size)
		}
	}
}

func (p *Plan) add(at record, r *row) {
	number := uint32(len(p.rows))
	p.rows = append(p.rows, ref{record: at, retracted: r.retracted.Given(), hashes: hashesOf(&r.assert)})
	p.events = append(p.events, event{at: r.known, row: number, step: assertRow})
	if !r.retracted.Given() {
		return
	}
	p.Report.Retractions++
	end := event{at: r.retracted, row: number, step: retractRow}
	if r.retracted == r.known {
		end.step = retractNow
	}
	p.events = append(p.events, end)
}

// row reads a planned row again.
func (p *Plan) row(number uint32) (row, error) {
	raw, err := p.source.read(p.rows[number].record)
	if err != nil {
		return row{}, err
	}
	r, err := p.reader.parse(raw)
	if err != nil {
		return row{}, fmt.Errorf("line %d of %s has changed during the import: %w", p.rows[number].line, p.source.Name, err)
	}
	return r, nil
}
