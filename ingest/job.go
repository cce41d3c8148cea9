package ingest

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/ingest/load"
	"abagraph/internal/jsonx"
	"abagraph/memory"
	"abagraph/memory/mask"
)

// A long text is read by a job. What a job is lies in facts of its entity, so that it
// is in the log, has a history and shows on the stream; what it writes of one chunk
// and that the chunk is done are one tx. The key of its models lies nowhere: a job
// whose node has gone waits for somebody to bring models along again.
const (
	JobKind    = "Job:"
	JobStatus  = "digest_status" // one of the words below
	JobDone    = "chunks_done"   // a number, with the counts so far
	JobRun     = "digest_run"    // a number: who resumes a job takes the next one, and an older runner writes no more
	JobResult  = "digest_result" // the counts of a job that is done, or has stopped
	JobRunning = "running"
	JobStopped = "stopped"
	JobEnded   = "done"
)

// Job is a text that is read chunk by chunk.
type Job struct {
	ID       string // the entity's name
	Status   string
	Document string
	Chunks   int
	Done     int
	Counts   [4]int // by Outcome
	Masked   int
	Run      int64
	Here     bool   // this node runs it
	Reason   string // why it stopped

	hash      string
	countedAt uint64    // the tx of the last step
	plan      fact.Fact // JobStatus, whose properties say what to do
	running   fact.Fact
}

// describe writes what a job has to do. There is no key in it.
func (w *work) describe() []byte {
	b := jsonx.AppendString(append([]byte(nil), `{"document":`...), w.name)
	b = jsonx.AppendString(append(b, `,"hash":`...), hex.EncodeToString(w.sum[:]))
	b = jsonx.AppendString(append(b, `,"kind":`...), w.keptKind())
	b = strconv.AppendInt(append(b, `,"chunks":`...), int64(len(w.chunks)), 10)
	b = jsonx.AppendString(append(b, `,"title":`...), cut(w.doc.Title, maxKeptQuote))
	b = jsonx.AppendString(append(b, `,"subject":`...), w.digest.Subject)
	b = jsonx.AppendString(append(b, `,"source":`...), *w.source)
	b = jsonx.AppendFloat(append(b, `,"threshold":`...), w.limit)
	b = strconv.AppendInt(append(b, `,"pii_masked":`...), int64(w.masked), 10)
	if w.written.Given() {
		b = jsonx.AppendInstant(append(b, `,"written":`...), w.written)
	}
	return append(b, '}')
}

// keptKind is what the kept text is read as: of a PDF its text is kept.
func (w *work) keptKind() string {
	if w.digest.Kind == load.PDF {
		return load.Plain
	}
	return w.digest.Kind
}

// state is an assert about a job.
func (w *work) state(id, predicate string, object fact.Object, properties []byte) fact.Assert {
	return fact.Assert{
		Subject: id, Predicate: predicate, Object: object, ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
		Confidence: 1, Source: w.source, Properties: properties,
	}
}

func number(n int64) fact.Object {
	return fact.Object{Kind: fact.Number, Text: strconv.FormatInt(n, 10)}
}

// counts writes what became of the statements so far.
func (j *Job) counts() []byte {
	b := append([]byte(nil), '{')
	for o := Written; o <= Refused; o++ {
		b = append(jsonx.AppendString(b, o.String()), ':')
		b = append(strconv.AppendInt(b, int64(j.Counts[o]), 10), ',')
	}
	return append(strconv.AppendInt(append(b, `"pii_masked":`...), int64(j.Masked), 10), '}')
}

// Job reads how far a job is.
func (d *Desk) Job(ctx context.Context, c memory.Caller, read memory.Read, id string, trace *memory.Trace) (*Job, memory.Meta, error) {
	if !strings.HasPrefix(id, JobKind) {
		id = JobKind + id
	}
	name, err := memory.Name("id", id)
	if err != nil {
		return nil, memory.Meta{}, noJob(id)
	}
	page, meta, err := d.Memory.Facts(ctx, c, &memory.FactsQuery{Read: read, Subject: name, Limit: 16}, trace)
	if err != nil {
		return nil, meta, err
	}
	j := &Job{ID: name}
	for _, result := range [...]bool{false, true} {
		for i := range page.Facts {
			if f := &page.Facts[i]; (f.Predicate == JobResult) == result {
				j.take(f)
			}
		}
	}
	if j.Status == "" {
		return nil, meta, noJob(id)
	}
	j.Here = d.runs(c.Tenant, name)
	return j, meta, nil
}

func noJob(id string) error {
	return &fact.Error{Code: fact.NotFound, Message: "no such job: " + cut(id, 100)}
}

// take reads one fact about a job.
func (j *Job) take(f *fact.Fact) {
	props, err := jsonx.Parse(f.Properties)
	if err != nil {
		props = jsonx.Value{Kind: jsonx.Object}
	}
	text := func(name string) string { v, _ := props.Field(name); return v.Text }
	count := func(name string) int { v, _ := props.Field(name); n, _ := strconv.Atoi(v.Raw); return n }
	switch f.Predicate {
	case JobStatus:
		j.Status, j.Document, j.Chunks, j.hash, j.plan = f.Object.Text, text("document"), count("chunks"), text("hash"), *f
		if j.Status == JobStopped {
			j.Reason = text("reason")
		}
	case JobDone:
		j.Done, _ = strconv.Atoi(f.Object.Text)
		j.countedAt = f.Tx
		for o := Written; o <= Refused; o++ {
			j.Counts[o] = count(o.String())
		}
		j.Masked = count("pii_masked")
	case JobResult: // it has the counts of the last chunk, too
		if f.Tx < j.countedAt {
			return
		}
		for o := Written; o <= Refused; o++ {
			j.Counts[o] = count(o.String())
		}
		j.Masked = count("pii_masked")
	case JobRun:
		j.Run, _ = strconv.ParseInt(f.Object.Text, 10, 64)
		j.running = *f
	}
}

// reopen takes a job's text out of the store, and cuts it as it was cut.
func (d *Desk) reopen(ctx context.Context, c memory.Caller, j *Job, q *Digest) (*work, error) {
	props, err := jsonx.Parse(j.plan.Properties)
	if err != nil {
		return nil, fact.Errorf(fact.StorageCorruption, "the job %s cannot be read", j.ID)
	}
	f := jsonx.Open(props, "")
	q.Kind, q.Subject = f.Required("kind"), f.Required("subject")
	source, title, limit := f.Required("source"), f.Required("title"), 0.0
	if v, ok := f.Get("threshold"); ok {
		limit, _ = strconv.ParseFloat(v.Raw, 64)
	}
	written := f.Time("written")
	var text strings.Builder
	for part, more := uint32(0), true; more; part++ {
		var piece string
		if piece, more, _, err = d.Memory.Blob(ctx, c, memory.NewRead(), j.hash, part, nil); err != nil {
			return nil, err
		}
		text.WriteString(piece)
	}
	w := &work{desk: d, caller: c, digest: q, masker: d.Memory.Masker(c, mask.Unsaid), content: text.String(), written: written, source: &source, name: j.Document, limit: limit}
	if w.doc, err = load.Text(q.Kind, w.content); err != nil {
		return nil, err
	}
	w.doc.Title = title
	w.chunks = w.doc.Chunks()
	if len(w.chunks) != j.Chunks {
		return nil, fact.Errorf(fact.Conflict, "the text of job %s is cut into %d chunks now, not %d: digest it anew", j.ID, len(w.chunks), j.Chunks)
	}
	return w, nil
}
