package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"abagraph/fact"
	"abagraph/ingest/load"
	"abagraph/internal/byok"
	"abagraph/internal/jsonx"
	"abagraph/memory"
	"abagraph/memory/mask"
	"abagraph/memory/page"
)

// Bounds of reading a text with models.
const (
	// MaxReadBytes and MaxReadChunks are the most of a text that is read while its
	// sender waits; a longer one is a job.
	MaxReadBytes  = 64 << 10
	MaxReadChunks = 12
	// ReadTime is how long that may take.
	ReadTime = 10 * time.Minute
	// parallel is how many chunks of one text are read at a time.
	parallel = 3
)

// work is one text on its way.
type work struct {
	desk    *Desk
	caller  memory.Caller
	digest  *Digest
	masker  mask.Masker
	masked  int
	content string // without personal data, as it is kept
	doc     *load.Document
	chunks  []load.Chunk
	written fact.Instant // the day on which it was written
	source  *string
	name    string   // the entity that stands for it
	sum     [32]byte // of the content
	limit   float64  // the confidence below which a statement is a candidate
	branch  string   // that is written; "" = main
}

// begin masks a text, and takes it apart.
func (d *Desk) begin(ctx context.Context, c memory.Caller, q *Digest, limit float64) (*work, error) {
	if err := d.checkModels(q.Extract, q.Judge); err != nil {
		return nil, err
	}
	w := &work{desk: d, caller: c, digest: q, masker: d.Memory.Masker(c, q.Mode), limit: limit}
	source := DefaultSource
	if q.Source != nil {
		source = *q.Source
	}
	w.source = &source
	q.Kind = cmp.Or(q.Kind, load.Markdown)
	given := q.Kind
	if err := w.load(ctx); err != nil {
		return nil, err
	}
	if q.Kind != given && given != load.PDF {
		w.doc.Notes = append(w.doc.Notes, "its text is kept in place of its markup, which hid personal data")
	}
	subject, n := w.masker.Name(q.Subject)
	w.digest.Subject, w.masked = subject, w.masked+n
	w.written = q.Date
	if !w.written.Given() {
		w.written = w.doc.Written
	}
	w.sum = sha256.Sum256([]byte(w.content))
	w.name = fact.DocumentOf(w.sum)
	w.cut()
	return w, nil
}

// cut cuts the text into chunks, which are all that is looked at of it from then on.
func (w *work) cut() { w.chunks, w.doc.Blocks, w.digest.Content = w.doc.Chunks(), nil, "" }

// load masks the content and takes it apart. What only shows as personal data once
// the markup is gone is masked then, and the text is kept in place of the markup.
func (w *work) load(ctx context.Context) (err error) {
	kind, notes := w.digest.Kind, []string(nil)
	if kind == load.PDF { // its text is what can be masked
		w.doc, err = w.desk.document(ctx, w.caller.Tenant, kind, w.digest.Content)
	} else {
		w.content, w.masked = w.masker.Text(w.digest.Content)
		w.doc, err = load.Text(kind, w.content)
	}
	if err != nil {
		return err
	}
	text, n := w.masker.Text(w.doc.String())
	title, inTitle := w.masker.Text(w.doc.Title)
	w.masked += n + inTitle
	written := w.doc.Written
	if notes = w.doc.Notes; kind == load.PDF || n > 0 {
		w.digest.Kind, w.content = load.Plain, text
		if w.doc, err = load.Text(load.Plain, text); err != nil {
			return err
		}
		notes = append(notes, w.doc.Notes...)
	}
	w.doc.Title, w.doc.Notes, w.doc.Written = title, notes, written
	return nil
}

// read extracts and judges what a text says, and writes it in one tx.
func (d *Desk) read(ctx context.Context, c memory.Caller, o memory.WriteOptions, q *Digest, trace *memory.Trace) (*Receipt, *fact.Result, error) {
	w, err := d.begin(ctx, c, q, d.Memory.Threshold(o.Threshold))
	if err != nil {
		return nil, nil, err
	}
	w.branch = o.Branch
	long := len(w.chunks) > MaxReadChunks || len(w.content) > MaxReadBytes
	if long && q.Backfill != nil {
		return nil, nil, fact.Invalid("backfill", "is not for a text that is read as a job: send it in parts")
	}
	if long && !q.Waits {
		r := newReceipt()
		r.Document, r.Chunks, r.Notes, r.Masked = w.name, len(w.chunks), w.doc.Notes, w.masked
		job, result, err := d.start(ctx, w, o)
		r.Job = job
		return r, result, err
	}
	if long {
		return nil, nil, fact.Invalid("content", "is longer than what is read while its sender waits ("+strconv.Itoa(MaxReadBytes)+" bytes in at most "+strconv.Itoa(MaxReadChunks)+" chunks)")
	}
	trace.Step("load", q.Kind)
	ctx, cancel := context.WithTimeout(ctx, ReadTime)
	defer cancel()
	found, err := w.readChunks(ctx, w.chunks)
	if err != nil {
		return nil, nil, err
	}
	trace.Step("extract", "judge")
	write, kept := w.plan(found)
	write.Asserts = append(write.Asserts, w.links()...)
	links := len(write.Asserts)
	w.episode(write)
	write.Backfill = q.Backfill
	o.Mask = w.masker.Again()
	result, err := d.Memory.Transact(ctx, c, o, write, trace)
	if err != nil {
		return nil, result, err
	}
	r := newReceipt()
	if result.Replayed { // the models may have found something else this time
		r.take(statements(result.Asserts))
		w.doc.Notes = append(w.doc.Notes, "the request was answered before: these are the facts of then")
	} else {
		w.report(r, found, kept, result.Asserts[:links])
	}
	r.Document, r.Chunks, r.Notes, r.title = w.name, len(w.chunks), w.doc.Notes, w.doc.Title
	r.Masked = w.masked + result.Masked
	result.Masked = r.Masked
	trace.Name("digest", "mask → load → chunk → extract → judge → asserts, in one tx")
	trace.Int("chunks", len(w.chunks))
	r.explain(trace)
	return r, result, nil
}

// readChunks has chunks extracted and judged, a few at a time, and answers in their
// order.
func (w *work) readChunks(ctx context.Context, chunks []load.Chunk) ([]*extracted, error) {
	lists := make([][]*extracted, len(chunks))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range chunks {
		group.Go(func() error {
			list, err := w.extract(ctx, chunks[i])
			if err == nil {
				err = w.permit(ctx, list)
			}
			if err == nil {
				err = w.judge(ctx, chunks[i], list)
			}
			lists[i] = list
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(lists...), nil
}

// permit refuses the statements that the caller's policy does not let it write; the
// others stand.
func (w *work) permit(ctx context.Context, found []*extracted) error {
	list := make([]fact.Assert, len(found))
	for i, e := range found {
		list[i] = e.assert
		list[i].Source = w.source
	}
	refusals, err := w.desk.Memory.Unwritable(ctx, w.caller, w.branch, list)
	for i := range refusals {
		if refusals[i] != nil && found[i].refuse == "" {
			found[i].refuse = refusals[i].Error()
		}
	}
	return err
}

// statements leaves out the facts that refer to texts.
func statements(asserts []fact.AssertResult) []fact.AssertResult {
	return slices.DeleteFunc(slices.Clone(asserts), func(a fact.AssertResult) bool {
		return a.Fact.Predicate == fact.DocumentContent && a.Fact.Object.Kind == fact.Blob
	})
}

// plan makes asserts of what can be written. kept are those statements, in the
// order of the asserts.
func (w *work) plan(found []*extracted) (write *fact.Write, kept []*extracted) {
	write = &fact.Write{}
	for _, e := range found {
		if e.refuse == "" {
			w.settle(e)
		}
		if e.refuse != "" {
			continue
		}
		a := e.assert
		a.Source = w.source
		a.Properties = w.properties(e)
		write.Asserts, kept = append(write.Asserts, a), append(kept, e)
	}
	return write, kept
}

// settle says how sure a statement is: as the judge has it, and never enough to
// hold where the text does not support it.
func (w *work) settle(e *extracted) {
	confidence, held := e.score, ""
	switch {
	case !e.judged:
		confidence, held = 0, "the judge gave it no score"
	case e.lacks != "":
		confidence, held = min(e.score, w.limit/2), e.lacks
	case e.score < w.limit:
		held = "the judge is not sure enough: " + e.why
	}
	if held != "" && w.limit == 0 && e.lacks != "" {
		e.refuse = e.lacks // nothing is below a threshold of 0
		return
	}
	e.assert.Confidence, e.why = confidence, held
}

// maxKeptQuote is the most bytes of a quote that a fact carries.
const maxKeptQuote = 1_000

// properties tell where in which text a fact was found.
func (w *work) properties(e *extracted) []byte {
	b := append([]byte(nil), `{"quote":`...)
	b = jsonx.AppendString(b, cut(e.quote, maxKeptQuote))
	b = jsonx.AppendString(append(b, `,"episode":`...), w.name)
	b = strconv.AppendInt(append(b, `,"chunk":`...), int64(e.chunk), 10)
	b = jsonx.AppendString(append(b, `,"extracted_by":`...), modelName(w.digest.Extract.Config))
	if e.why != "" {
		b = jsonx.AppendString(append(b, `,"held":`...), cut(e.why, maxKeptQuote))
	}
	return append(b, '}')
}

// cut takes the beginning of a text, to the end of a character.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

func modelName(c *byok.Config) string { return c.Provider + "/" + c.Model }

// links are the references that the text itself makes.
func (w *work) links() []fact.Assert {
	list := page.Links(w.content)
	if len(list) > MaxFacts {
		w.doc.Notes = append(w.doc.Notes, "only the first "+strconv.Itoa(MaxFacts)+" of "+strconv.Itoa(len(list))+" links were taken")
		list = list[:MaxFacts]
	}
	return references(cmp.Or(w.digest.Subject, w.name), w.source, list)
}

// episode keeps the text, under its hash, with a fact that refers to it.
func (w *work) episode(write *fact.Write) {
	sum := w.sum
	for rest, part := w.content, uint32(0); rest != ""; part++ {
		piece := cut(rest, fact.MaxBlobPart)
		write.Blobs = append(write.Blobs, fact.BlobPart{Hash: sum, Part: part, Data: []byte(piece)})
		rest = rest[len(piece):]
	}
	write.Asserts = append(write.Asserts, w.contentFact())
}

// object is the reference to the text.
func (w *work) object() fact.Object {
	return fact.Object{Kind: fact.Blob, Text: hex.EncodeToString(w.sum[:]), Size: int64(len(w.content))}
}

// isKept is a guard that the text was not taken back or erased.
func (w *work) isKept() fact.Guard {
	return fact.Guard{Subject: w.name, Predicate: fact.DocumentContent, Kind: fact.GuardObject, Object: w.object()}
}

// contentFact is the fact that says what the document is.
func (w *work) contentFact() fact.Assert {
	b := jsonx.AppendString(append([]byte(nil), `{"content_type":`...), w.digest.Kind)
	if w.doc.Title != "" {
		b = jsonx.AppendString(append(b, `,"title":`...), cut(w.doc.Title, maxKeptQuote))
	}
	if w.written.Given() {
		b = jsonx.AppendInstant(append(b, `,"written":`...), w.written)
	}
	return fact.Assert{
		Subject: w.name, Predicate: fact.DocumentContent, Object: w.object(),
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant, Confidence: 1, Source: w.source, Properties: append(b, '}'),
	}
}

// report tells what became of what was found, in the order of the text, and then of
// its links.
func (w *work) report(r *Receipt, found, kept []*extracted, results []fact.AssertResult) {
	n := 0
	for _, e := range found {
		item := Item{Said: e.said, Quote: e.quote, Chunk: e.chunk, Reason: e.why, Notes: e.notes}
		if n < len(kept) && kept[n] == e && n < len(results) {
			r.add(&results[n], item)
			n++
			continue
		}
		item.Reason = e.refuse
		r.refuse(item)
	}
	r.take(results[n:])
}
