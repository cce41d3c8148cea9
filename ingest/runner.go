package ingest

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"abagraph/fact"
	"abagraph/ingest/load"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// Bounds of jobs.
const (
	maxJobs       = 8 // on one node
	maxTenantJobs = 2
	// MaxJobChunks is the longest text that a job reads.
	MaxJobChunks = 20_000
	chunkTime    = 10 * time.Minute // of one chunk
	partsPerTx   = 4                // pieces of a text that are kept in one tx
)

// runners are the jobs of one node. The zero value has none.
type runners struct {
	mu     sync.Mutex
	on     map[string]bool // by tenant and id
	tenant map[string]int
	wait   sync.WaitGroup
	end    context.CancelFunc
	ctx    context.Context
	closed bool
}

// Close stops the jobs of this node, each at its last whole chunk, and waits for
// them.
func (d *Desk) Close() {
	r := &d.jobs
	r.mu.Lock()
	r.closed = true
	if r.end != nil {
		r.end()
	}
	r.mu.Unlock()
	r.wait.Wait()
}

func (d *Desk) runs(tenant, id string) bool {
	d.jobs.mu.Lock()
	defer d.jobs.mu.Unlock()
	return d.jobs.on[tenant+"\x00"+id]
}

// enter takes a place for a job.
func (r *runners) enter(tenant, id string) (context.Context, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, fact.Errorf(fact.Closed, "the node is shutting down")
	case r.on[tenant+"\x00"+id]:
		return nil, fact.Errorf(fact.Conflict, "the job %s is running on this node", id)
	case len(r.on) >= maxJobs || r.tenant[tenant] >= maxTenantJobs:
		return nil, fact.Errorf(fact.RateLimited, "too many jobs are running: %d of a tenant may, and %d on one node", maxTenantJobs, maxJobs)
	}
	if r.ctx == nil {
		r.ctx, r.end = context.WithCancel(context.Background())
		r.on, r.tenant = map[string]bool{}, map[string]int{}
	}
	r.on[tenant+"\x00"+id] = true
	r.tenant[tenant]++
	r.wait.Add(1)
	return r.ctx, nil
}

func (r *runners) leave(tenant, id string) {
	r.mu.Lock()
	delete(r.on, tenant+"\x00"+id)
	if r.tenant[tenant]--; r.tenant[tenant] == 0 {
		delete(r.tenant, tenant)
	}
	r.mu.Unlock()
	r.wait.Done()
}

// start keeps a long text, makes a job of it, and begins. What it returns for is on
// disk on a majority: the text, and that it is to be read.
func (d *Desk) start(ctx context.Context, w *work, o memory.WriteOptions) (*Job, *fact.Result, error) {
	if len(w.chunks) > MaxJobChunks {
		return nil, nil, fact.Invalid("content", "is cut into more than "+strconv.Itoa(MaxJobChunks)+" chunks")
	}
	if o.Branch != "" && o.Branch != fact.MainBranch {
		return nil, nil, fact.Invalid("branch", "cannot be named for a long text: jobs write to main")
	}
	id := JobKind + uuid.NewString()
	run, err := d.jobs.enter(w.caller.Tenant, id)
	if err != nil {
		return nil, nil, err
	}
	leave := func() { d.jobs.leave(w.caller.Tenant, id) }
	write := &fact.Write{}
	w.episode(write)
	quiet := memory.WriteOptions{Mask: w.masker.Again()}
	for len(write.Blobs) > partsPerTx {
		if _, err := d.Memory.Transact(ctx, w.caller, quiet, &fact.Write{Blobs: write.Blobs[:partsPerTx]}, nil); err != nil {
			leave()
			return nil, nil, err
		}
		write.Blobs = write.Blobs[partsPerTx:]
	}
	j := &Job{ID: id, Status: JobRunning, Document: w.name, Chunks: len(w.chunks), Run: 1, Masked: w.masked, Here: true}
	write.Asserts = append([]fact.Assert{
		w.state(id, JobStatus, fact.TextObject(JobRunning), w.describe()), w.state(id, JobDone, number(0), j.counts()), w.state(id, JobRun, number(1), nil),
	}, append(write.Asserts, w.links()...)...)
	o.Mask = quiet.Mask
	result, err := d.Memory.Transact(ctx, w.caller, o, write, nil)
	if err == nil && result.Asserts[0].Fact.Subject != id { // the request was repeated: its job is there
		leave()
		j, _, err = d.Job(ctx, w.caller, memory.NewRead(), result.Asserts[0].Fact.Subject, nil)
		return j, result, err
	}
	if err != nil {
		leave()
		return nil, result, err
	}
	told := *j
	go d.run(run, w, j, leave)
	return &told, result, nil
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
	leave := func() { d.jobs.leave(c.Tenant, j.ID) }
	write := &fact.Write{Guards: []fact.Guard{w.holds(j, JobRun, j.Run)}, Asserts: []fact.Assert{w.state(j.ID, JobRun, number(j.Run+1), nil)}}
	if j.Status != JobRunning {
		write.Asserts = append(write.Asserts, w.state(j.ID, JobStatus, fact.TextObject(JobRunning), j.plan.Properties))
	}
	result, err := d.Memory.Transact(ctx, c, memory.WriteOptions{Mask: w.masker.Again()}, write, nil)
	if err != nil {
		leave()
		return nil, result, err
	}
	j.Run, j.Status, j.Reason, j.Here = j.Run+1, JobRunning, "", true
	told := *j
	go d.run(run, w, j, leave)
	return &told, result, nil
}

func (w *work) holds(j *Job, predicate string, n int64) fact.Guard {
	return fact.Guard{Subject: j.ID, Predicate: predicate, Kind: fact.GuardExpect, Object: number(n)}
}

// run reads chunk after chunk. What it cannot go on with stops the job, and says so.
func (d *Desk) run(ctx context.Context, w *work, j *Job, leave func()) {
	defer leave()
	for j.Done < j.Chunks {
		err := d.step(ctx, w, j)
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return // the node is shutting down: the job is where its last chunk left it
		case fact.CodeOf(err) == fact.CompareFailed:
			return // somebody else has taken it over
		}
		d.stop(ctx, w, j, err)
		return
	}
}

// step reads one chunk and writes what it says, and that it is done, in one tx.
func (d *Desk) step(ctx context.Context, w *work, j *Job) error {
	ctx, cancel := context.WithTimeout(ctx, chunkTime)
	defer cancel()
	found, err := w.readChunks(ctx, []load.Chunk{w.chunks[j.Done]})
	if err != nil {
		return err
	}
	write, kept := w.plan(found)
	after := *j
	r := newReceipt()
	for _, e := range found {
		if e.refuse != "" {
			after.Counts[Refused]++
		}
	}
	write.Guards = []fact.Guard{w.holds(j, JobRun, j.Run), w.holds(j, JobDone, int64(j.Done))}
	after.Done++
	// What becomes of a statement is known once it is written: the counts of this chunk
	// are told with the next one, or with the end.
	write.Asserts = append(write.Asserts, w.state(j.ID, JobDone, number(int64(after.Done)), after.counts()))
	o := memory.WriteOptions{Mask: w.masker.Again(), Threshold: &w.limit}
	result, err := d.write(ctx, w, o, write)
	if err != nil {
		return err
	}
	w.report(r, found, kept, result.Asserts[:len(kept)])
	for o := Written; o < Refused; o++ {
		after.Counts[o] += r.Counts[o]
	}
	after.Masked += result.Masked
	*j = after
	if j.Done < j.Chunks {
		return nil
	}
	return d.end(ctx, w, j, JobEnded, "")
}

// write writes once more where the outcome of the first time is unknown: a guard
// tells whether it has happened.
func (d *Desk) write(ctx context.Context, w *work, o memory.WriteOptions, write *fact.Write) (*fact.Result, error) {
	o.Idem = &fact.Idempotency{Key: uuid.NewString(), Method: "JOB", Path: "/api/digest"}
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

// end writes how a job stands, with its counts.
func (d *Desk) end(ctx context.Context, w *work, j *Job, status, reason string) error {
	properties := j.plan.Properties
	if properties == nil {
		properties = w.describe()
	}
	if at := bytes.LastIndex(properties, []byte(`,"reason":`)); at >= 0 {
		properties = append(properties[:at:at], '}')
	}
	if reason != "" {
		properties = append(properties[:len(properties)-1:len(properties)-1], `,"reason":`...)
		properties = append(jsonx.AppendString(properties, reason), '}')
	}
	j.Status, j.Reason = status, reason
	write := &fact.Write{
		Guards:  []fact.Guard{w.holds(j, JobRun, j.Run)},
		Asserts: []fact.Assert{w.state(j.ID, JobStatus, fact.TextObject(status), properties)},
	}
	result := status + " after " + strconv.Itoa(j.Done) + " chunks" // another one each time, or it would be a repeat
	write.Asserts = append(write.Asserts, w.state(j.ID, JobResult, fact.TextObject(result), j.counts()))
	_, err := d.write(ctx, w, memory.WriteOptions{Mask: w.masker.Again()}, write)
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
