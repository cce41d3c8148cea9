package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"

	"abagraph/fact"
	"abagraph/ingest/load"
	"abagraph/internal/jsonx"
	"abagraph/internal/span"
	"abagraph/memory"
)

// Bounds of a job's work.
const (
	// MaxJobChunks is the longest text that a job reads.
	MaxJobChunks = 20_000
	chunkTime    = 10 * time.Minute // of one chunk
	partsPerTx   = 4                // pieces of a text that are kept in one tx
)

// start keeps a long text, makes a job of it, and begins. What it returns for is on
// disk on a majority: the text, and that it is to be read.
func (d *Desk) start(ctx context.Context, w *work, o memory.WriteOptions) (*Job, *fact.Result, error) {
	if len(w.chunks) > MaxJobChunks {
		return nil, nil, fact.Invalid("content", "is cut into more than "+strconv.Itoa(MaxJobChunks)+" chunks")
	}
	if o.Branch != "" && o.Branch != fact.MainBranch {
		return nil, nil, fact.Invalid("branch", "cannot be named for a long text: jobs write to main")
	}
	j := &Job{ID: JobKind + uuid.NewString(), Status: JobRunning, Document: w.name, Chunks: len(w.chunks), Run: 1, Masked: w.masked, Here: true}
	j.plan, j.source = w.describe(), w.source
	run, err := d.jobs.enter(w.caller.Tenant, j.ID)
	if err != nil {
		return nil, nil, err
	}
	leave := func() { d.jobs.leave(w.caller.Tenant, j.ID) }
	write, err := d.keep(ctx, w)
	if err != nil {
		leave()
		return nil, nil, err
	}
	write.Asserts = append([]fact.Assert{
		j.state(JobStatus, fact.TextObject(JobRunning), j.plan), j.state(JobDone, number(0), j.counts()), j.state(JobRun, number(1), nil),
	}, append(write.Asserts, w.links()...)...)
	o.Mask, o.OwnGuards = w.masker.Again(), true
	result, err := d.Memory.Transact(ctx, w.caller, o, write, nil)
	switch {
	case err != nil:
		leave()
		return nil, result, err
	case len(result.Asserts) == 0:
		leave()
		return nil, result, fact.Errorf(fact.Conflict, "the Idempotency-Key was used for a job whose facts are gone")
	case result.Asserts[0].Fact.Subject != j.ID: // the request was repeated: its job is there
		leave()
		j, _, err = d.Job(ctx, w.caller, memory.NewRead(), result.Asserts[0].Fact.Subject, nil)
		return j, result, err
	}
	told := *j
	go d.run(run, w, j, leave)
	return &told, result, nil
}

// keep writes a text but for its last pieces, which it returns. The fact that refers
// to the text is written with the first, so that no piece is ever without one that a
// policy judges, an undo takes back and a purge finds.
func (d *Desk) keep(ctx context.Context, w *work) (*fact.Write, error) {
	write := &fact.Write{}
	w.episode(write)
	for len(write.Blobs) > partsPerTx {
		first := &fact.Write{Guards: write.Guards, Blobs: write.Blobs[:partsPerTx], Asserts: write.Asserts}
		if _, err := d.Memory.Transact(ctx, w.caller, memory.WriteOptions{Mask: w.masker.Again(), OwnGuards: true}, first, nil); err != nil {
			return nil, err
		}
		write = &fact.Write{Guards: []fact.Guard{w.isKept()}, Blobs: write.Blobs[partsPerTx:]}
	}
	return write, nil
}

// Resume goes on with a job where it stopped, with models that are brought along
// anew. Whoever ran it until now writes no more.
func (d *Desk) Resume(ctx context.Context, c memory.Caller, id string, extract, judge Model) (*Job, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	if err := d.checkModels(extract, judge); err != nil {
		return nil, nil, err
	}
	j, _, err := d.Job(ctx, c, memory.NewRead(), id, nil)
	if err != nil {
		return nil, nil, err
	}
	if j.Status == JobEnded {
		return nil, nil, fact.Errorf(fact.Conflict, "the job %s is done", j.ID)
	}
	w, err := d.reopen(ctx, c, j, &Digest{Extract: extract, Judge: judge})
	if err != nil {
		return nil, nil, err
	}
	run, err := d.jobs.enter(c.Tenant, j.ID)
	if err != nil {
		return nil, nil, err
	}
	name := j.ID
	leave := func() { d.jobs.leave(c.Tenant, name) }
	write := &fact.Write{
		Guards:  []fact.Guard{j.holds(JobRun, j.Run), j.stands()},
		Asserts: []fact.Assert{j.state(JobRun, number(j.Run+1), nil)},
	}
	if j.plan = withReason(j.plan, ""); j.Status != JobRunning {
		write.Asserts = append(write.Asserts, j.state(JobStatus, fact.TextObject(JobRunning), j.plan))
	}
	result, err := d.Memory.Transact(ctx, c, memory.WriteOptions{Mask: w.masker.Again(), OwnGuards: true}, write, nil)
	if err != nil {
		leave()
		return nil, result, overtaken(j, err)
	}
	// Whoever ran it until now has gone on since it was read, and does so no more.
	read := memory.NewRead()
	read.MinTx = result.Tx
	mine := j.Run + 1
	if j, _, err = d.Job(ctx, c, read, name, nil); err == nil && (j.Run != mine || j.Done < 0 || j.Done > len(w.chunks)) {
		err = fact.Errorf(fact.Conflict, "the job %s was resumed or stopped by somebody else at the same time", name)
	}
	if err != nil {
		leave()
		return nil, result, err
	}
	j.Document, j.source = w.name, w.source
	told := *j
	go d.run(run, w, j, leave)
	return &told, result, nil
}

func overtaken(j *Job, err error) error {
	if fact.CodeOf(err) != fact.CompareFailed {
		return err
	}
	return fact.Errorf(fact.Conflict, "the job %s was resumed or stopped by somebody else at the same time", j.ID)
}

// byRequest is why a job stopped that somebody has stopped.
const byRequest = "it was stopped on request"

// Stop ends a job where it is, whichever node runs it: what was read until then stays,
// and a resumption goes on from there. One that does not run is left as it is.
func (d *Desk) Stop(ctx context.Context, c memory.Caller, id string) (*Job, memory.Meta, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, memory.Meta{}, nil, err
	}
	j, meta, err := d.Job(ctx, c, memory.NewRead(), id, nil)
	if err != nil || j.Status != JobRunning {
		return j, meta, nil, err
	}
	// Its runner may be a step further than what was read, so that nothing is said of
	// counts here: the last step tells them.
	write := &fact.Write{Guards: []fact.Guard{j.holds(JobRun, j.Run), j.stands()}, Asserts: []fact.Assert{
		j.state(JobStatus, fact.TextObject(JobStopped), withReason(j.plan, byRequest)), j.state(JobRun, number(j.Run+1), nil),
	}}
	result, err := d.Memory.Transact(ctx, c, memory.WriteOptions{OwnGuards: true}, write, nil)
	if fact.CodeOf(err) == fact.CompareFailed { // it may have ended meanwhile
		now, meta, problem := d.Job(ctx, c, memory.NewRead(), j.ID, nil)
		if problem != nil || now.Status == JobRunning {
			return nil, meta, nil, cmp.Or(problem, overtaken(j, err))
		}
		return now, meta, nil, nil
	}
	if err != nil {
		return nil, meta, result, err
	}
	d.jobs.halt(c.Tenant, j.ID)
	read := memory.NewRead()
	read.MinTx = result.Tx
	if j, meta, err = d.Job(ctx, c, read, j.ID, nil); err == nil {
		j.Here = false
	}
	return j, meta, result, err
}

// run reads chunk after chunk. What it cannot go on with stops the job, and says so.
func (d *Desk) run(ctx context.Context, w *work, j *Job, leave func()) {
	defer leave()
	var err error
	for err == nil && j.Done < j.Chunks {
		err = d.step(ctx, w, j)
	}
	if err == nil {
		err = d.end(ctx, w, j, JobEnded, "")
	}
	switch {
	case err == nil, ctx.Err() != nil: // stopped, or the node is shutting down: the job is where its last chunk left it
		return
	case fact.CodeOf(err) == fact.CompareFailed:
		now, _, problem := d.Job(ctx, w.caller, memory.NewRead(), j.ID, nil)
		if problem != nil || now.Run != j.Run || now.Status != JobRunning {
			return // somebody else has taken it over, or it is gone with its source
		}
		err = fact.Errorf(fact.Conflict, "its text is gone, or its facts were changed by hand")
	}
	d.stop(ctx, w, j, err)
}

// step reads one chunk and writes what it says, and that it is done, in one tx.
func (d *Desk) step(ctx context.Context, w *work, j *Job) error {
	ctx, cancel := context.WithTimeout(ctx, chunkTime)
	defer cancel()
	ctx, part := span.Work(ctx, d.Tracer, "work digest")
	defer part.End()
	found, err := w.readChunks(ctx, []load.Chunk{w.chunks[j.Done]})
	if err != nil {
		part.Fail(string(fact.CodeOf(err)))
		return err
	}
	write, kept := w.plan(found)
	after := *j
	after.Counts[Refused] += len(found) - len(kept)
	after.Done++
	write.Guards = []fact.Guard{j.holds(JobRun, j.Run), j.holds(JobDone, int64(j.Done)), w.isKept()}
	// What becomes of a statement is known once it is written: the counts of this chunk
	// are told with the next one, or with the end.
	write.Asserts = append(write.Asserts, j.state(JobDone, number(int64(after.Done)), after.step(len(kept), found)))
	result, err := d.write(ctx, w, memory.WriteOptions{Mask: w.masker.Again(), Threshold: &w.limit}, write)
	if err != nil {
		return err
	}
	r := newReceipt()
	w.report(r, found, kept, result.Asserts[:len(kept)])
	for o := Written; o < Refused; o++ {
		after.Counts[o] += r.Counts[o]
	}
	after.Masked += result.Masked
	*j = after
	return nil
}

// write writes once more where the outcome of the first time is unknown: a guard
// tells whether it has happened.
func (d *Desk) write(ctx context.Context, w *work, o memory.WriteOptions, write *fact.Write) (*fact.Result, error) {
	o.Idem = &fact.Idempotency{Key: uuid.NewString(), Method: "JOB", Path: "/api/digest"}
	o.OwnGuards = true
	for n := 1; ; n++ {
		result, err := d.Memory.Transact(ctx, w.caller, o, write, nil)
		code := fact.CodeOf(err)
		if err == nil || n == 20 || code != fact.Timeout && code != fact.NoLeader && code != fact.RateLimited {
			return result, err
		}
		timer := time.NewTimer(time.Duration(min(n, 5)) * time.Second)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

// ended says how a job stands that goes on no more, with its counts.
func (j *Job) ended(status, reason string) *fact.Write {
	j.Status, j.Reason = status, reason
	result := status + " after " + strconv.Itoa(j.Done) + " chunks" // another one each time, or it would be a repeat
	return &fact.Write{
		Guards: []fact.Guard{j.holds(JobRun, j.Run)},
		Asserts: []fact.Assert{
			j.state(JobStatus, fact.TextObject(status), withReason(j.plan, reason)), j.state(JobResult, fact.TextObject(result), j.counts()),
		},
	}
}

// withReason puts why a job stopped behind what it has to do.
func withReason(plan []byte, reason string) []byte {
	if at := bytes.LastIndex(plan, []byte(`,"reason":`)); at >= 0 {
		plan = append(plan[:at:at], '}')
	}
	if n := len(plan) - 1; reason != "" && n > 0 {
		plan = append(plan[:n:n], `,"reason":`...)
		plan = append(jsonx.AppendString(plan, reason), '}')
	}
	return plan
}

func (d *Desk) end(ctx context.Context, w *work, j *Job, status, reason string) error {
	_, err := d.write(ctx, w, memory.WriteOptions{Mask: w.masker.Again()}, j.ended(status, reason))
	return err
}

// stop notes why a job cannot go on. The words are fit for anyone who may read the
// job: they hold no key and no text.
func (d *Desk) stop(ctx context.Context, w *work, j *Job, cause error) {
	reason := "internal error"
	var known *fact.Error
	switch {
	case errors.As(cause, &known):
		reason = known.Message
	case errors.Is(cause, context.DeadlineExceeded):
		reason = "a chunk took too long"
	}
	if err := d.end(ctx, w, j, JobStopped, reason); err != nil && d.Logger != nil {
		d.Logger.Warn("abagraph.digest.job_error", "error", err.Error(), "tenant", w.caller.Tenant)
	}
	if d.Logger != nil {
		d.Logger.Warn("abagraph.digest.stopped", "chunks", j.Chunks, "done", j.Done, "reason", reason, "tenant", w.caller.Tenant)
	}
}
