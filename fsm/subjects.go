package fsm

import (
	"bytes"
	"context"
	"slices"

	"abagraph/fact"
	"abagraph/log/entry"
)

// EachSubject visits every subject of which some query selects a fact, tenant by
// tenant in the order of bytes, until visit answers false. It reads the rows, and
// for a past the replaced versions, once and in the order in which they lie, and
// holds one subject at a time.
func (v *View) EachSubject(ctx context.Context, q *fact.SubjectQuery, visit func(*fact.SubjectFacts) (bool, error)) error {
	sels := make([]*selector, len(q.Queries))
	past := false
	for i := range q.Queries {
		one := q.Queries[i]
		one.Subject, one.TxGtGiven = "", false
		var err error
		if sels[i], err = v.selector(ctx, &one); err != nil {
			return err
		}
		past = past || sels[i].past
	}
	tenants, err := v.tenants(q.Scope)
	if err != nil {
		return err
	}
	for _, tenant := range tenants {
		if tenant < q.After.Tenant {
			continue
		}
		after := ""
		if tenant == q.After.Tenant {
			after = q.After.Subject
		}
		pass := &subjectPass{ctx: ctx, v: v, space: space{tenant, q.Scope.Branch}, sels: sels, visit: visit}
		run := pass.run
		if q.Scope.Branch != fact.MainBranch {
			run = pass.layered
		}
		if more, err := run(q.Subject, after, past); err != nil || !more {
			return err
		}
	}
	return nil
}

// subjectPass is one pass over a tenant's subjects.
type subjectPass struct {
	ctx     context.Context
	v       *View
	space   space
	sels    []*selector
	visit   func(*fact.SubjectFacts) (bool, error)
	weight  int // of the subject at hand
	repeats entry.Repeats
	before  int // facts of the longest list of the subject before
	found   *fact.SubjectFacts
}

// lane is one family of keys that begin with a subject.
type lane struct {
	it     iterator
	prefix int // bytes before the subject
	ok     bool
}

func (p *subjectPass) lane(family byte, only, after string) (*lane, error) {
	prefix := p.space.prefix(family)
	lower, upper := prefix, successor(prefix)
	if only != "" {
		lower = appendString(bytes.Clone(prefix), only)
		upper = successor(lower)
	}
	if after != "" {
		if from := successor(appendString(bytes.Clone(prefix), after)); bytes.Compare(from, lower) > 0 {
			lower = from
		}
	}
	l := &lane{prefix: len(prefix)}
	if bytes.Compare(lower, upper) >= 0 {
		return l, nil
	}
	it, err := openIter(p.v.snap, lower, upper)
	if err != nil {
		return nil, err
	}
	l.it, l.ok = it, it.First()
	return l, nil
}

func (l *lane) close() error {
	if !l.it.open() {
		return nil
	}
	return l.it.Close()
}

// subject returns the subject that the lane has come to, as its key spells it.
func (l *lane) subject() ([]byte, error) {
	k := l.it.Key()
	_, rest, fine := cutString(k[l.prefix:])
	if !fine {
		return nil, fact.Errorf(fact.StorageCorruption, "a subject's key cannot be read")
	}
	return k[l.prefix : len(k)-len(rest)], nil
}

// in reports whether the lane is still at a subject.
func (l *lane) in(subject []byte) bool {
	return l.ok && bytes.HasPrefix(l.it.Key()[l.prefix:], subject)
}

func (p *subjectPass) run(only, after string, past bool) (more bool, err error) {
	rows, err := p.lane(famTimeline, only, after)
	if err != nil {
		return false, err
	}
	defer rows.close()
	versions := &lane{}
	if past {
		if versions, err = p.lane(famVersion, only, after); err != nil {
			return false, err
		}
		defer versions.close()
	}
	for rows.ok || versions.ok {
		subject, err := nextSubject(rows, versions)
		if err != nil {
			return false, err
		}
		if more, err := p.one(subject, rows, versions); err != nil || !more {
			return false, err
		}
	}
	for _, l := range [...]*lane{rows, versions} {
		if l.it.open() && l.it.Error() != nil {
			return false, storageError("read the subjects", l.it.Error())
		}
	}
	return true, nil
}

// nextSubject returns the first of the subjects that the lanes have come to.
func nextSubject(lanes ...*lane) ([]byte, error) {
	var first []byte
	for _, l := range lanes {
		if !l.ok {
			continue
		}
		at, err := l.subject()
		if err != nil {
			return nil, err
		}
		if first == nil || bytes.Compare(at, first) < 0 {
			first = at
		}
	}
	return bytes.Clone(first), nil
}

// one gathers what the queries select of one subject, and visits it.
func (p *subjectPass) one(subject []byte, rows, versions *lane) (more bool, err error) {
	name, _, _ := cutString(subject)
	p.weight = 0
	p.found = &fact.SubjectFacts{SubjectPlace: fact.SubjectPlace{Tenant: p.space.tenant, Subject: name}, Lists: make([][]fact.Fact, len(p.sels))}
	if err := p.rows(subject, rows); err != nil {
		return false, err
	}
	if err := p.versions(subject, versions); err != nil {
		return false, err
	}
	p.before = 0
	empty := true
	for _, list := range p.found.Lists {
		p.before = max(p.before, len(list))
		slices.SortFunc(list, func(a, b fact.Fact) int { return compareNewest(&a, &b) })
		empty = empty && len(list) == 0
	}
	if empty {
		return true, nil
	}
	return p.visit(p.found)
}

func (p *subjectPass) rows(subject []byte, l *lane) error {
	for l.in(subject) {
		k := l.it.Key()
		if class := k[l.prefix+len(subject)]; class == classStatement {
			l.ok = l.it.SeekGE(successor(k[:l.prefix+len(subject)]))
			return nil
		} else if class != classMarker {
			b, err := l.it.ValueAndErr()
			if err != nil {
				return storageError("read a row", err)
			}
			f, err := p.repeats.DecodeFact(b)
			if err != nil {
				return fact.Errorf(fact.StorageCorruption, "a row cannot be read: %v", err)
			}
			for i, sel := range p.sels {
				if sel.sees(&f) && sel.accepts(&f) {
					p.add(i, &f)
				}
			}
			if err := p.step(); err != nil {
				return err
			}
		}
		l.ok = l.it.Next()
	}
	return nil
}

func (p *subjectPass) versions(subject []byte, l *lane) error {
	for ; l.in(subject); l.ok = l.it.Next() {
		b, err := l.it.ValueAndErr()
		if err != nil {
			return storageError("read a version", err)
		}
		k := l.it.Key()
		w, err := decodeVersion(k, b)
		if err != nil {
			return err
		}
		if err := p.version(k[len(k)-versionTail-1], &w); err != nil {
			return err
		}
		if err := p.step(); err != nil {
			return err
		}
	}
	return nil
}

// version adds a version that was replaced since to the lists that it was in.
func (p *subjectPass) version(axis byte, w *version) error {
	var now *fact.Fact
	for i, sel := range p.sels {
		if !sel.past || !sel.onAxis(axis, w) || !sel.saw(w) || !sel.mayAccept(w) {
			continue
		}
		if now == nil {
			var err error
			if now, err = readFact(p.v.snap, p.space, w.id); err != nil || now == nil {
				return err
			}
		}
		if f := w.of(now); sel.accepts(&f) {
			p.add(i, &f)
		}
	}
	return nil
}

func (p *subjectPass) add(list int, f *fact.Fact) {
	if p.found.Lists[list] == nil { // as many as the subject before: neighbours are alike
		p.found.Lists[list] = make([]fact.Fact, 0, max(1, min(p.before, 64)))
	}
	p.found.Lists[list] = append(p.found.Lists[list], *f)
	p.weight += f.Weight()
}

// step counts a row, lets a cancelled read end, and refuses a subject that is
// too large to be held.
func (p *subjectPass) step() error {
	p.found.Scanned++
	if p.weight > fact.MaxTxBytes {
		return fact.Errorf(fact.TooLarge, "%s has too many facts to be looked at as a whole: name a predicate", p.found.Subject)
	}
	if p.found.Scanned%256 == 1 {
		return p.ctx.Err()
	}
	return nil
}
