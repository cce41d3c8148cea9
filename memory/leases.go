package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory/mask"
)

// What a lease is made of: facts "Lease:<resource> lease_held_by <holder>" that
// hold until the lease expires. A release is one with the object null.
const (
	LeasePrefix    = "Lease:"
	LeasePredicate = "lease_held_by"
	leaseToken     = "token"
	leaseAcquired  = "acquired_at"
)

// Bounds of a lease's time, in seconds.
const (
	DefaultLeaseSecs = 300
	MaxLeaseSecs     = 86_400
)

// maxLeaseTries is how often a change of a lease is worked out anew because
// another one came between.
const maxLeaseTries = 32

// leaseRows is how many of a resource's newest facts are looked at for the last
// lease.
const leaseRows = 64

// LeaseStatus says how a lease stands.
type LeaseStatus uint8

// The statuses: somebody holds it; its holder let it expire; it was released.
const (
	LeaseHeld LeaseStatus = iota
	LeaseStale
	LeaseReleased
)

var leaseNames = [...]string{"held", "stale", "released"}

// String returns the word that answers carry.
func (s LeaseStatus) String() string { return leaseNames[s] }

// Lease is the last lease of a resource.
type Lease struct {
	Resource string
	Status   LeaseStatus
	// Holder is who holds it, or held it last; "" after a release.
	Holder string
	// Token is the tx at which it was acquired: of two leases of a resource, the
	// later one has the greater token. Renewing keeps it.
	Token uint64
	// Acquired is when it was acquired, Until when it expires or was released.
	Acquired fact.Instant
	Until    fact.Instant
	Fact     fact.ID
	// Renewed tells that its holder held it already.
	Renewed bool
}

// LeaseChange asks for a lease, for more time, or for its end.
type LeaseChange struct {
	Resource string
	Holder   string
	Secs     int64  // 0 = DefaultLeaseSecs
	Token    uint64 // 0 = whichever the holder has
}

// Lease reads the body of a change; with resource, that names it.
func (in *Input) Lease(v jsonx.Value, resource string) (*LeaseChange, error) {
	f := jsonx.Open(v, "")
	l := &LeaseChange{Resource: resource}
	if resource == "" {
		l.Resource = f.Required("resource")
	} else if named, ok := f.Text("resource"); ok && named != resource {
		f.Fail(fact.Invalid("resource", "is not the one that the path names"))
	}
	l.Holder = f.Required("holder")
	l.Secs, _ = f.Integer("ttl_secs", 1, MaxLeaseSecs)
	if token, ok := f.Integer("token", 1, 1<<62); ok {
		l.Token = uint64(token)
	}
	in.common(f)
	if err := f.Done(); err != nil {
		return nil, err
	}
	return l, l.check()
}

// check refuses names that a lease cannot have.
func (l *LeaseChange) check() error {
	var err error
	if l.Resource, err = leaseResource(l.Resource); err != nil {
		return err
	}
	if l.Holder, err = Name("holder", l.Holder); err != nil {
		return err
	}
	if _, n := (&mask.Masker{}).Name(l.Holder); n > 0 {
		return fact.Invalid("holder", "looks like personal data, which is not stored: name the holder otherwise")
	}
	return nil
}

func leaseResource(text string) (string, error) {
	name, err := Name("resource", text)
	if err != nil {
		return "", err
	}
	if _, _, ok := fact.SplitEntity(LeasePrefix + name); !ok {
		return "", fact.Invalid("resource", "must be without white space, and not begin with //")
	}
	if len(LeasePrefix)+len(name) > fact.MaxNameBytes {
		return "", fact.Invalid("resource", "is longer than "+strconv.Itoa(fact.MaxNameBytes-len(LeasePrefix))+" bytes")
	}
	return name, nil
}

// Acquire gives a resource to a holder if nobody else holds it, or more time to the
// one who does. Of two that ask at the same time one is refused with Conflict.
func (s *Service) Acquire(ctx context.Context, c Caller, o WriteOptions, l *LeaseChange, trace *Trace) (*Lease, *fact.Result, error) {
	trace.Name("acquire_lease", "by_subject index → guard → assert")
	return s.changeLease(ctx, c, o, l, trace, func(st *leaseState) (*fact.Write, error) {
		switch {
		case st.held == nil:
			return st.hold(l, nil), nil
		case st.holder() != l.Holder:
			return st.refusing(o, l, st.hold(l, nil), fact.GuardAbsent)
		}
		return st.hold(l, st.held), l.owns(st)
	})
}

// Renew gives more time to who holds a resource; it never takes time away.
func (s *Service) Renew(ctx context.Context, c Caller, o WriteOptions, l *LeaseChange, trace *Trace) (*Lease, *fact.Result, error) {
	trace.Name("renew_lease", "by_subject index → guard → assert")
	return s.changeLease(ctx, c, o, l, trace, func(st *leaseState) (*fact.Write, error) {
		if st.holder() != l.Holder {
			return st.refusing(o, l, st.hold(l, nil), fact.GuardExpect)
		}
		return st.hold(l, st.held), l.owns(st)
	})
}

// Release ends a lease before its time.
func (s *Service) Release(ctx context.Context, c Caller, o WriteOptions, l *LeaseChange, trace *Trace) (*Lease, *fact.Result, error) {
	trace.Name("release_lease", "by_subject index → guard → assert")
	return s.changeLease(ctx, c, o, l, trace, func(st *leaseState) (*fact.Write, error) {
		if st.holder() != l.Holder {
			return st.refusing(o, l, st.let(l), fact.GuardExpect)
		}
		return st.let(l), l.owns(st)
	})
}

// owns refuses a holder who names another lease than the one it has.
func (l *LeaseChange) owns(st *leaseState) error {
	if l.Token == 0 || l.Token == st.token() {
		return nil
	}
	return fact.Errorf(fact.Conflict, "the lease of %s that has token %d is over: the one that holds now has token %d", shorten(l.Resource), l.Token, st.token())
}

// refusing refuses a change. One that came with a key is judged in apply all the
// same, by the rule that does not hold as far as this node knows: the answer that
// was given to the key before may be another one.
func (st *leaseState) refusing(o WriteOptions, l *LeaseChange, w *fact.Write, rule fact.GuardKind) (*fact.Write, error) {
	if o.Idem == nil {
		return nil, st.taken(l)
	}
	w.Guards = []fact.Guard{{Subject: LeasePrefix + l.Resource, Predicate: LeasePredicate, Kind: rule, Object: fact.TextObject(l.Holder)}}
	return w, nil
}

// changeLease works a change out from what holds, and has it applied if that still
// holds then.
func (s *Service) changeLease(ctx context.Context, c Caller, o WriteOptions, l *LeaseChange, trace *Trace, plan func(*leaseState) (*fact.Write, error)) (*Lease, *fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, nil, err
	}
	if o.Branch != "" && o.Branch != fact.MainBranch {
		return nil, nil, fact.Invalid("branch", "cannot be named here: leases are of main")
	}
	o.Blames = Field("resource")
	o.Mask = mask.Off // names are compared as they are; personal data was refused
	for range maxLeaseTries {
		st, err := s.leaseNow(ctx, c, l.Resource, trace)
		if err != nil {
			return nil, nil, err
		}
		w, err := plan(st)
		if err != nil {
			return nil, nil, err
		}
		result, err := s.Transact(ctx, c, o, w, trace)
		switch {
		case err == nil:
			done := leaseOf(l.Resource, &result.Asserts[0].Fact)
			done.Renewed = done.Token > 0 && done.Token != result.Asserts[0].Fact.FirstTx || result.Asserts[0].Duplicate
			return done, result, nil
		case !overtaken(err):
			return nil, result, err
		case w.Guards[0].Kind != fact.GuardSame:
			return nil, result, st.taken(l)
		}
	}
	return nil, nil, fact.Errorf(fact.Conflict, "the lease was changed by others each time it was about to be changed: try again")
}

// leaseState is what holds of a lease at an instant.
type leaseState struct {
	now  fact.Instant
	live []fact.Fact
	held *fact.Fact // nil where nobody holds it
}

func (s *Service) leaseNow(ctx context.Context, c Caller, resource string, trace *Trace) (*leaseState, error) {
	r, err := s.beginOwn(ctx, c, NewRead(), trace)
	if err != nil {
		return nil, err
	}
	defer r.close()
	page, err := r.view.Facts(r.ctx, &fact.Query{
		Scope: r.scope, Subject: LeasePrefix + resource, Predicate: LeasePredicate, At: r.at, Limit: fact.MaxLimit,
	})
	if err != nil {
		return nil, fmt.Errorf("read a lease: %w", err)
	}
	st := &leaseState{now: r.at.Now, live: page.Facts}
	for i := range st.live {
		if f := &st.live[i]; f.Object.Kind != fact.Null && (st.held == nil || f.FirstTx > st.held.FirstTx) {
			st.held = f
		}
	}
	return st, nil
}

func (st *leaseState) holder() string {
	if st.held == nil {
		return ""
	}
	return st.held.Object.Text
}

func (st *leaseState) token() uint64 { return acquisition(st.held).Token }

// acquisition returns the tx and the time at which a lease was acquired: a renewal
// carries them.
func acquisition(f *fact.Fact) (l Lease) {
	l.Token, l.Acquired = f.FirstTx, f.StatedFrom
	v, err := jsonx.Parse(f.Properties)
	if err != nil {
		return l
	}
	token, _ := v.Field(leaseToken)
	acquired, _ := v.Field(leaseAcquired)
	tx, bad := strconv.ParseUint(token.Raw, 10, 64)
	at, worse := strconv.ParseInt(acquired.Raw, 10, 64)
	if bad == nil && worse == nil {
		l.Token, l.Acquired = tx, fact.Instant(at)
	}
	return l
}

// write is one statement about the lease, applied if what was read still holds.
func (st *leaseState) write(l *LeaseChange, object fact.Object, until fact.Instant) *fact.Write {
	subject := LeasePrefix + l.Resource
	return &fact.Write{
		Guards: []fact.Guard{fact.SameGuard(subject, LeasePredicate, st.live)},
		Asserts: []fact.Assert{{
			Subject: subject, Predicate: LeasePredicate, Object: object, ValidFrom: fact.NoInstant, ValidUntil: until,
			Confidence: 1, KnownAt: fact.NoInstant,
		}},
	}
}

// hold says that the holder has the resource for its time from now on, or until it
// had it anyway by the lease that it renews.
func (st *leaseState) hold(l *LeaseChange, renews *fact.Fact) *fact.Write {
	until := st.now + fact.Instant(1000*cmp.Or(l.Secs, DefaultLeaseSecs))
	if renews == nil {
		return st.write(l, fact.TextObject(l.Holder), until)
	}
	w := st.write(l, fact.TextObject(l.Holder), max(until, renews.ValidUntil))
	from := acquisition(renews)
	w.Asserts[0].Properties = fmt.Appendf(nil, `{"%s":%d,"%s":%d}`, leaseToken, from.Token, leaseAcquired, from.Acquired)
	return w
}

// let says that nobody has the resource for what was left of the lease.
func (st *leaseState) let(l *LeaseChange) *fact.Write {
	until := st.now + 1000
	if st.held != nil {
		until = max(until, st.held.ValidUntil)
	}
	return st.write(l, fact.Object{}, until)
}

// taken is the refusal of a change that another's lease, or the want of one, does
// not allow.
func (st *leaseState) taken(l *LeaseChange) error {
	e := fact.Errorf(fact.Conflict, "%s is not held by %s", shorten(l.Resource), shorten(l.Holder))
	if st.held != nil && st.holder() != l.Holder {
		e.Message = shorten(l.Resource) + " is held by " + shorten(st.holder()) + " until " + st.held.ValidUntil.Time().Format("2006-01-02T15:04:05.000Z")
		e.IDs = []fact.ID{st.held.ID}
	}
	return e
}

// leaseOf reads a lease from the fact that tells it.
func leaseOf(resource string, f *fact.Fact) *Lease {
	l := Lease{Acquired: f.StatedFrom}
	if f.Object.Kind != fact.Null {
		l = acquisition(f)
		l.Holder, l.Until = f.Object.Text, f.StatedUntil
	} else {
		l.Status, l.Until = LeaseReleased, f.StatedFrom
	}
	l.Resource, l.Fact = resource, f.ID
	return &l
}

// Leased returns the last lease of a resource: with as_of, the one of that time.
func (s *Service) Leased(ctx context.Context, c Caller, read Read, resource string, trace *Trace) (*Lease, Meta, error) {
	name, err := leaseResource(resource)
	if err != nil {
		return nil, Meta{}, err
	}
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	r.scope.All = false
	trace.Name("get_lease", "by_subject index")
	page, err := r.view.Facts(r.ctx, &fact.Query{
		Scope: r.scope, Subject: LeasePrefix + name, Predicate: LeasePredicate, At: r.whole(), Limit: leaseRows,
		Statuses: fact.StatusSet(0).With(fact.Active).With(fact.Superseded), StatusGiven: true,
	})
	if err != nil {
		return nil, r.meta, fmt.Errorf("read a lease: %w", err)
	}
	l := lastLease(name, page.Facts, r.instant())
	if l == nil {
		return nil, r.meta, fact.Errorf(fact.NotFound, "no lease: %s", shorten(resource))
	}
	return l, r.meta, nil
}

// whole is the point in record time that is read, at any valid time.
func (r *reading) whole() fact.At {
	at := r.at
	at.AsOf = fact.NoInstant
	return at
}

// lastLease returns the lease that was begun last before an instant; nil where
// there is none.
func lastLease(resource string, facts []fact.Fact, now fact.Instant) *Lease {
	var last *fact.Fact
	for i := range facts {
		f := &facts[i]
		if f.Continues.IsZero() && f.StatedFrom <= now && (last == nil || f.FirstTx > last.FirstTx) {
			last = f
		}
	}
	if last == nil {
		return nil
	}
	l := leaseOf(resource, last)
	if l.Status == LeaseHeld && now >= last.StatedUntil {
		l.Status = LeaseStale
	}
	return l
}

// LeaseList lists leases in the order of their resources. Make its Read with
// NewRead.
type LeaseList struct {
	Read
	After  string
	Limit  int // 0 = fact.DefaultLimit
	Status LeaseStatus
	// Given filters by the status.
	Given bool
}

// Leases lists the last lease of each resource; more tells that others follow.
func (s *Service) Leases(ctx context.Context, c Caller, q *LeaseList, trace *Trace) (list []Lease, more bool, meta Meta, err error) {
	r, err := s.begin(ctx, c, q.Read, 0, trace)
	if err != nil {
		return nil, false, Meta{}, err
	}
	defer r.close()
	trace.Name("list_leases", "by_subject index")
	r.scope.All = false // leases of one name in two tenants are two
	limit := cmp.Or(q.Limit, fact.DefaultLimit)
	rows := fact.Query{Predicate: LeasePredicate, At: r.whole(), Statuses: fact.StatusSet(0).With(fact.Active).With(fact.Superseded), StatusGiven: true}
	from := &fact.SubjectQuery{
		Scope: r.scope, Queries: []fact.Query{rows},
		After: fact.SubjectPlace{Tenant: r.scope.Tenant, Subject: LeasePrefix + q.After},
	}
	err = r.view.EachSubject(r.ctx, from, func(sf *fact.SubjectFacts) (bool, error) {
		resource, ok := strings.CutPrefix(sf.Subject, LeasePrefix)
		if !ok {
			return false, nil
		}
		l := lastLease(resource, sf.Lists[0], r.instant())
		if l == nil || q.Given && l.Status != q.Status {
			return true, nil
		}
		if more = len(list) == limit; more {
			return false, nil
		}
		list = append(list, *l)
		return true, nil
	})
	if err != nil {
		return nil, false, r.meta, fmt.Errorf("list leases: %w", err)
	}
	list = slices.Clip(list)
	trace.Step("execute", "by_subject")
	trace.Int("results", len(list))
	return list, more, r.meta, nil
}

// ParseLeaseStatus reads a status of leases.
func ParseLeaseStatus(field, text string) (LeaseStatus, error) {
	if i := slices.Index(leaseNames[:], strings.ToLower(text)); i >= 0 {
		return LeaseStatus(i), nil
	}
	return 0, fact.Invalid(field, "has no such value: "+strconv.Quote(shorten(text))+" (held, stale or released)")
}
