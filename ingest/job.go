package ingest

import (
	"context"
	"crypto/sha256"
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
	source    *string
	countedAt uint64 // the tx of the last step
	pending   int    // statements of that step, of which its facts alone tell what became
	plan      []byte // the properties of JobStatus, which say what to do
}

// describe writes what a job has to do. There is no key in it.
func (w *work) describe() []byte {
	b := jsonx.AppendString(append([]byte(nil), `{"document":`...), w.name)
	b = jsonx.AppendString(append(b, `,"hash":`...), hex.EncodeToString(w.sum[:]))
	b = jsonx.AppendString(append(b, `,"kind":`...), w.digest.Kind)
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

// state is an assert about a job.
func (j *Job) state(predicate string, object fact.Object, properties []byte) fact.Assert {
	return fact.Assert{
		Subject: j.ID, Predicate: predicate, Object: object, ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant,
		Confidence: 1, Source: j.source, Properties: properties,
	}
}

// holds is a guard that a number of a job still is what it was.
func (j *Job) holds(predicate string, n int64) fact.Guard {
	return fact.Guard{Subject: j.ID, Predicate: predicate, Kind: fact.GuardExpect, Object: number(n)}
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

// stands is a guard that a job still is in the status in which it was.
func (j *Job) stands() fact.Guard {
	return fact.Guard{Subject: j.ID, Predicate: JobStatus, Kind: fact.GuardExpect, Object: fact.TextObject(j.Status)}
}

// Bounds of what a step tells of the statements that it refused.
const (
	maxRefusals    = 20
	maxRefusedText = 200
)

// step writes the counts before a chunk, how many statements are written with it, and
// why others are not.
func (j *Job) step(statements int, found []*extracted) []byte {
	b := j.counts()
	b = strconv.AppendInt(append(b[:len(b)-1], `,"statements":`...), int64(statements), 10)
	b = append(b, `,"refusals":[`...)
	n := 0
	for _, e := range found {
		if e.refuse == "" || n == maxRefusals {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = append(b, '{')
		for _, part := range [...][2]string{{"subject", e.said.Subject}, {"predicate", e.said.Predicate}, {"object", e.said.Object}, {"reason", e.refuse}} {
			b = append(jsonx.AppendString(b, part[0]), ':')
			b = append(jsonx.AppendString(b, cut(part[1], maxRefusedText)), ',')
		}
		b[len(b)-1] = '}'
	}
	return append(b, "]}"...)
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
	page, meta, err := d.Memory.Facts(ctx, c, &memory.FactsQuery{Read: read, Subject: name, Limit: 16}, trace.Part())
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
	return j, meta, d.settle(ctx, c, read, j)
}

// settle counts what became of the statements of the last step: they were written in
// the tx that tells of the step, which could not know it.
func (d *Desk) settle(ctx context.Context, c memory.Caller, read memory.Read, j *Job) error {
	if j.pending == 0 {
		return nil
	}
	read.Pinned, read.Tx = true, j.countedAt
	page, _, err := d.Memory.Facts(ctx, c, &memory.FactsQuery{
		Read: read, Statuses: fact.AllStatuses, StatusGiven: true, Cursor: &memory.Cursor{Tx: j.countedAt - 1}, Limit: fact.MaxLimit,
	}, nil)
	if err != nil {
		return err
	}
	fresh := 0
	for i := range page.Facts {
		f := &page.Facts[i]
		if f.FirstTx != j.countedAt || f.Tx != j.countedAt || f.Subject == j.ID || !f.Continues.IsZero() {
			continue
		}
		fresh++
		if f.Status == fact.Candidate {
			j.Counts[Candidate]++
		} else {
			j.Counts[Written]++
		}
	}
	j.Counts[Duplicate] += max(0, j.pending-fresh)
	j.pending = 0
	return nil
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
		j.Status, j.Document, j.Chunks, j.hash, j.plan, j.source = f.Object.Text, text("document"), count("chunks"), text("hash"), f.Properties, f.Source
		if j.Status == JobStopped {
			j.Reason = text("reason")
		}
	case JobDone:
		j.Done, _ = strconv.Atoi(f.Object.Text)
		j.countedAt, j.pending = f.Tx, count("statements")
		for o := Written; o <= Refused; o++ {
			j.Counts[o] = count(o.String())
		}
		j.Masked = count("pii_masked")
	case JobResult: // it has the counts of the last chunk, too
		if f.Tx < j.countedAt {
			return
		}
		j.pending = 0
		for o := Written; o <= Refused; o++ {
			j.Counts[o] = count(o.String())
		}
		j.Masked = count("pii_masked")
	case JobRun:
		j.Run, _ = strconv.ParseInt(f.Object.Text, 10, 64)
	}
}

// reopen takes a job's text out of the store, and cuts it as it was cut. Anyone who
// may write facts can write those of a job: none of it is believed.
func (d *Desk) reopen(ctx context.Context, c memory.Caller, j *Job, q *Digest) (*work, error) {
	props, err := jsonx.Parse(j.plan)
	if err != nil {
		return nil, strange(j)
	}
	f := jsonx.Open(props, "")
	q.Kind, q.Subject = f.Required("kind"), f.Required("subject")
	source, title := f.Required("source"), f.Required("title")
	limit := threshold(f)
	written := f.Time("written")
	for _, name := range [...]string{"document", "hash", "chunks", "pii_masked", "reason"} {
		f.Ignore(name)
	}
	if _, err := load.KindOf("kind", q.Kind); err != nil || f.Done() != nil || limit == nil || fact.CheckSource("source", source) != nil {
		return nil, strange(j)
	}
	if q.Subject != "" {
		if q.Subject, err = memory.Name("subject", q.Subject); err != nil {
			return nil, strange(j)
		}
	}
	w := &work{desk: d, caller: c, digest: q, masker: d.Memory.Masker(c, mask.Unsaid), written: written, source: &source, limit: *limit}
	if w.content, err = d.kept(ctx, c, j); err != nil {
		return nil, err
	}
	w.sum = sha256.Sum256([]byte(w.content))
	w.name = fact.DocumentOf(w.sum)
	if w.doc, err = load.Text(q.Kind, w.content); err != nil {
		return nil, err
	}
	w.doc.Title = title
	w.cut()
	switch {
	case hex.EncodeToString(w.sum[:]) != j.hash:
		return nil, fact.Errorf(fact.Conflict, "the text of job %s is not kept whole: digest it anew", j.ID)
	case len(w.chunks) != j.Chunks:
		return nil, fact.Errorf(fact.Conflict, "the text of job %s is cut into %d chunks now, not %d: digest it anew", j.ID, len(w.chunks), j.Chunks)
	case j.Done < 0 || j.Done > j.Chunks:
		return nil, strange(j)
	}
	j.Document = w.name
	return w, nil
}

func strange(j *Job) error {
	return fact.Errorf(fact.Conflict, "the job %s cannot be gone on with: its facts were changed by hand", j.ID)
}

// kept reads the text of a job, piece by piece.
func (d *Desk) kept(ctx context.Context, c memory.Caller, j *Job) (string, error) {
	var text strings.Builder
	q := &memory.BlobQuery{Read: memory.NewRead(), Hash: j.hash}
	for {
		piece, _, err := d.Memory.Blob(ctx, c, q, nil)
		if err != nil {
			return "", err
		}
		text.WriteString(piece.Text)
		if q.Part++; !piece.More {
			return text.String(), nil
		}
	}
}
