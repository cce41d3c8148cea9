package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"abagraph/fact"
)

// Bounds of the job that embeds what has no vector.
const (
	jobPage    = 500              // facts looked at together
	jobBatch   = 128              // facts embedded together
	jobTimeout = 30 * time.Second // of one batch
	jobPoll    = 5 * time.Second  // between two looks for new facts
	jobRest    = 5 * time.Millisecond
)

// embedJob gives vectors to the facts that have none of the present model: those
// that were written while the provider failed, or before it was configured. Where
// it is follows from the store, so that a restart or another leader goes on.
type embedJob struct {
	wake chan struct{}
	// through is up to where the facts of each scope were looked at; only the job
	// itself uses it.
	through map[fact.Scope]uint64
	mu      sync.Mutex
	asked   bool // RunEmbedding asked for a pass that has not begun
	at      EmbedJob
}

// EmbedJob is how far the job of this node is.
type EmbedJob struct {
	Running  bool
	Through  uint64 // every fact whose last tx is up to here was looked at
	Embedded uint64 // statements that got a vector since the start
	Unusable uint64 // statements of which the provider makes no vector, since it looked at all
	// LastError is why the provider last failed, and LastErrorAt when.
	LastError   string
	LastErrorAt fact.Instant
}

// Embeddings is the state of a scope's vectors.
type Embeddings struct {
	Provider string // as configured
	Enabled  bool   // whether it makes vectors of facts
	Model    fact.Model
	Count    fact.VectorCount
	Leads    bool // whether this node leads, and so runs the job by itself
	Job      EmbedJob
}

// Embeddings tells how many facts of a scope have a vector of the present model,
// and how far the job of this node is.
func (s *Service) Embeddings(ctx context.Context, c Caller, read Read, trace *Trace) (*Embeddings, Meta, error) {
	leave, err := s.whole.enter(ctx, c)
	if err != nil {
		return nil, Meta{}, err
	}
	defer leave()
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	e := &Embeddings{Provider: s.embed.provider, Leads: s.leads()}
	if s.embed.from == nil {
		return e, r.meta, nil
	}
	e.Enabled, e.Model, e.Job = true, s.embed.from.Model(), s.embed.job.state()
	if e.Count, err = r.view.CountVectors(r.ctx, r.scope, e.Model); err != nil {
		return nil, r.meta, fmt.Errorf("count the vectors: %w", err)
	}
	trace.Step("execute", "vectors")
	return e, r.meta, nil
}

// RunEmbedding has this node's job look at every fact anew, now.
func (s *Service) RunEmbedding(c Caller) error {
	if err := c.RequireOperator(); err != nil {
		return err
	}
	if s.embed.from == nil {
		return fact.Errorf(fact.Conflict, "no embedding provider is configured: set ABAGRAPH_EMBEDDING to hash, openai or http")
	}
	s.embed.job.ask()
	select {
	case s.embed.job.wake <- struct{}{}:
	default: // it is awake already
	}
	return nil
}

// KeepEmbedded runs the job until the context ends: by itself while this node
// leads, and whenever RunEmbedding asks. It returns at once where no provider is
// configured.
func (s *Service) KeepEmbedded(ctx context.Context) {
	if s.embed.from == nil {
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		asked := false
		select {
		case <-timer.C:
		case <-s.embed.job.wake:
			asked = true
			s.embed.job.through = nil
			s.embed.job.begin()
		case <-ctx.Done():
			return
		}
		if asked || s.leads() {
			s.embedMissing(ctx)
		}
		timer.Reset(jobPoll)
	}
}

// embedMissing makes one pass: over every fact that changed since the last one, on
// main and then on each open branch.
func (s *Service) embedMissing(ctx context.Context) {
	j := &s.embed.job
	err := s.embedScopes(ctx)
	j.update(func(at *EmbedJob) {
		at.Running = false
		if err != nil && ctx.Err() == nil {
			at.LastError, at.LastErrorAt = shorten(err.Error()), fact.Instant(s.now().UnixMilli())
		}
	})
}

func (s *Service) embedScopes(ctx context.Context) error {
	whole := fact.Scope{All: true, Branch: fact.MainBranch}
	scopes, err := s.openBranches(ctx)
	if err != nil {
		return err
	}
	before := s.embed.job.through
	s.embed.job.through = make(map[fact.Scope]uint64)
	for _, scope := range append([]fact.Scope{whole}, scopes...) {
		s.embed.job.through[scope] = before[scope]
	}
	for _, scope := range append([]fact.Scope{whole}, scopes...) {
		for more := true; more; {
			if more, err = s.embedPage(ctx, scope); err != nil {
				return err
			}
		}
	}
	return nil
}

// openBranches lists the branches that take writes, of every tenant.
func (s *Service) openBranches(ctx context.Context) ([]fact.Scope, error) {
	view, err := s.view(ctx)
	if err != nil {
		return nil, fmt.Errorf("open a view: %w", err)
	}
	defer view.Close()
	tenants, err := view.DataTenants(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the tenants: %w", err)
	}
	var scopes []fact.Scope
	for _, tenant := range tenants {
		list, err := view.Branches(ctx, &fact.BranchQuery{Scope: fact.Scope{Tenant: tenant}, Status: fact.BranchOpen, StatusGiven: true})
		if err != nil {
			return nil, fmt.Errorf("list the branches: %w", err)
		}
		for i := range list {
			scopes = append(scopes, fact.Scope{Tenant: tenant, Branch: list[i].Name})
		}
	}
	return scopes, nil
}

// lacking is a fact that wants a vector.
type lacking struct {
	tenant    string
	statement fact.ID
	text      string
}

// embedPage looks at the next facts, in the order of their txs, and embeds those
// without a vector. It reports whether there may be more.
func (s *Service) embedPage(ctx context.Context, scope fact.Scope) (more bool, err error) {
	start := s.now()
	list, through, more, err := s.lackingPage(ctx, scope)
	if err != nil {
		return false, err
	}
	for from := 0; from < len(list); from += jobBatch {
		s.embed.job.update(func(j *EmbedJob) { j.Running = true })
		if err := s.embedBatch(ctx, scope.Branch, list[from:min(len(list), from+jobBatch)]); err != nil {
			return false, err
		}
	}
	s.embed.job.through[scope] = through
	if scope.All {
		s.embed.job.update(func(j *EmbedJob) { j.Through = through })
	}
	if more {
		// Half of the time is the others'.
		err = rest(ctx, max(jobRest, s.now().Sub(start)))
	}
	return more, err
}

func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lackingPage lists the statements of the next page that have no vector, and the
// tx up to which it has looked.
func (s *Service) lackingPage(ctx context.Context, scope fact.Scope) (list []lacking, through uint64, more bool, err error) {
	view, err := s.view(ctx)
	if err != nil {
		return nil, 0, false, fmt.Errorf("open a view: %w", err)
	}
	defer view.Close()
	at := view.Position()
	after := s.embed.job.through[scope]
	if after >= at.Tx {
		return nil, after, false, nil
	}
	page, err := view.Facts(ctx, &fact.Query{
		Scope: scope, Statuses: fact.AllStatuses, StatusGiven: true,
		At: fact.Present(at.RecordedAt), TxGt: after, TxGtGiven: true, Limit: jobPage,
	})
	if err != nil {
		return nil, 0, false, fmt.Errorf("look for facts without a vector: %w", err)
	}
	m := s.embed.from.Model()
	seen := make(map[fact.ID]bool)
	for i := range page.Facts {
		f := &page.Facts[i]
		if seen[f.Statement()] {
			continue
		}
		seen[f.Statement()] = true
		tx, err := view.VectorTx(ctx, fact.Scope{Tenant: f.Tenant, Branch: scope.Branch}, m, f.Statement())
		if err != nil {
			return nil, 0, false, fmt.Errorf("look for a vector: %w", err)
		}
		if tx == 0 {
			list = append(list, lacking{f.Tenant, f.ID, EmbedText(f.Subject, f.Predicate, f.Object, f.Source)})
		}
	}
	if !page.Scan.LimitHit || len(page.Facts) == 0 {
		return list, at.Tx, false, nil
	}
	return list, page.Facts[len(page.Facts)-1].Tx, true, nil
}

// embedBatch embeds some statements and has their vectors committed, in one
// request for each tenant.
func (s *Service) embedBatch(ctx context.Context, branch string, list []lacking) error {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].text
	}
	limited, cancel := context.WithTimeout(ctx, jobTimeout)
	defer cancel()
	vectors, failed := s.embed.from.Embed(limited, texts)
	m := s.embed.from.Model()
	var requests []*fact.Request
	unusable := uint64(0)
	for i, v := range vectors {
		if !usable(m, v) {
			unusable++
			continue
		}
		last := len(requests) - 1
		if last < 0 || requests[last].Tenant != list[i].tenant {
			requests = append(requests, &fact.Request{
				Tenant: list[i].tenant, Branch: branch, Actor: embedActor, Vectors: &fact.Vectors{Model: m},
			})
			last++
		}
		requests[last].Vectors.Rows = append(requests[last].Vectors.Rows, fact.VectorRow{ID: list[i].statement, Vector: v})
	}
	for _, r := range requests {
		if _, err := s.engine.Propose(ctx, r); err != nil {
			return fmt.Errorf("store vectors: %w", err)
		}
		s.embed.job.update(func(j *EmbedJob) { j.Embedded += uint64(len(r.Vectors.Rows)) })
	}
	if failed != nil && !ofText(failed) {
		return failed
	}
	s.embed.job.update(func(j *EmbedJob) { j.Unusable += unusable })
	return nil
}

// embedActor is who the record of a tx names that the job has made.
const embedActor = "embeddings"

// ofText reports whether an error blames the texts and not the provider, so that
// asking again is of no use.
func ofText(err error) bool {
	var blames interface{ OfText() bool }
	return errors.As(err, &blames) && blames.OfText()
}

func (j *embedJob) state() EmbedJob {
	j.mu.Lock()
	defer j.mu.Unlock()
	at := j.at
	at.Running = at.Running || j.asked
	return at
}

func (j *embedJob) ask() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = true
}

// begin starts the pass that was asked for. It never seems not to run in between.
func (j *embedJob) begin() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = false
	j.at.Through, j.at.Unusable, j.at.Running = 0, 0, true
}

func (j *embedJob) update(change func(*EmbedJob)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.at)
}
