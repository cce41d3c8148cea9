package ingest

import (
	"context"
	"sync"

	"abagraph/fact"
)

// How many jobs run at a time.
const (
	maxJobs       = 8 // on one node
	maxTenantJobs = 2
)

// runners are the jobs of one node. The zero value has none.
type runners struct {
	mu     sync.Mutex
	on     map[string]context.CancelFunc // by tenant and id
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
	return d.jobs.on[tenant+"\x00"+id] != nil
}

// halt has a job of this node end, if it runs here.
func (r *runners) halt(tenant, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if end := r.on[tenant+"\x00"+id]; end != nil {
		end()
	}
}

// enter takes a place for a job.
func (r *runners) enter(tenant, id string) (context.Context, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, fact.Errorf(fact.Closed, "the node is shutting down")
	case r.on[tenant+"\x00"+id] != nil:
		return nil, fact.Errorf(fact.Conflict, "the job %s is running on this node", id)
	case len(r.on) >= maxJobs || r.tenant[tenant] >= maxTenantJobs:
		return nil, fact.Errorf(fact.RateLimited, "too many jobs are running: %d of a tenant may, and %d on one node", maxTenantJobs, maxJobs)
	}
	if r.ctx == nil {
		r.ctx, r.end = context.WithCancel(context.Background())
		r.on, r.tenant = map[string]context.CancelFunc{}, map[string]int{}
	}
	ctx, end := context.WithCancel(r.ctx)
	r.on[tenant+"\x00"+id] = end
	r.tenant[tenant]++
	r.wait.Add(1)
	return ctx, nil
}

func (r *runners) leave(tenant, id string) {
	r.mu.Lock()
	r.on[tenant+"\x00"+id]()
	delete(r.on, tenant+"\x00"+id)
	if r.tenant[tenant]--; r.tenant[tenant] == 0 {
		delete(r.tenant, tenant)
	}
	r.mu.Unlock()
	r.wait.Done()
}
