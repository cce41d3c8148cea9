package entry

import "abagraph/fact"

// resultVersion is the version of a result's bytes.
const resultVersion = 1

// EncodeResult returns the bytes of a result, as a leader answers them to the
// follower that forwarded the request.
func EncodeResult(s *fact.Result) []byte {
	w := writer{make([]byte, 0, 512)}
	w.byte(resultVersion)
	w.uint(s.Tx)
	w.int(int64(s.RecordedAt))
	w.bool(s.Wrote)
	w.bool(s.Replayed)
	w.bool(s.Err != nil)
	if s.Err != nil {
		w.error(s.Err)
	}
	w.uint(uint64(len(s.Asserts)))
	for i := range s.Asserts {
		w.assertResult(&s.Asserts[i])
	}
	w.facts(s.Retracted)
	w.ids(s.RetractedIDs)
	w.bool(s.Tenant != nil)
	if s.Tenant != nil {
		w.tenant(s.Tenant)
	}
	w.bool(s.Key != nil)
	if s.Key != nil {
		w.key(s.Key)
	}
	w.uint(s.Purged)
	if s.Branching != nil { // of an answer to a branch change alone: others end here
		w.branchResult(s.Branching)
	}
	return w.b
}

// DecodeResult reads the bytes of exactly one result.
func DecodeResult(b []byte) (*fact.Result, error) {
	r := reader{b: b}
	if v := r.byte(); v != resultVersion && r.err == nil {
		r.fail("a result of a version that this program does not know")
	}
	s := &fact.Result{Tx: r.uint(), RecordedAt: fact.Instant(r.int()), Wrote: r.bool(), Replayed: r.bool()}
	if r.bool() {
		s.Err = r.error()
	}
	if n := r.length(); n > 0 {
		s.Asserts = make([]fact.AssertResult, 0, min(n, 1024))
		for i := 0; i < n && r.err == nil; i++ {
			s.Asserts = append(s.Asserts, r.assertResult())
		}
	}
	s.Retracted, s.RetractedIDs = r.facts(), r.ids()
	if r.bool() {
		t := r.tenant()
		s.Tenant = &t
	}
	if r.bool() {
		k := r.key()
		s.Key = &k
	}
	s.Purged = r.uint()
	if len(r.b) > 0 {
		s.Branching = r.branchResult()
	}
	return s, r.done()
}

// EncodeError returns the bytes of an error, for an answer between nodes.
func EncodeError(e *fact.Error) []byte {
	var w writer
	w.byte(resultVersion)
	w.error(e)
	return w.b
}

// DecodeError reads the bytes of an error.
func DecodeError(b []byte) (*fact.Error, error) {
	r := reader{b: b}
	if v := r.byte(); v != resultVersion && r.err == nil {
		r.fail("an error of a version that this program does not know")
	}
	e := r.error()
	return e, r.done()
}

func (w *writer) assertResult(a *fact.AssertResult) {
	w.b = AppendFact(w.b, &a.Fact)
	w.bool(a.Duplicate)
	w.facts(a.Superseded)
	w.facts(a.Moved)
	w.facts(a.Continuations)
	w.uint(uint64(a.ActiveBefore))
	w.uint(uint64(a.ActiveAfter))
}

func (r *reader) assertResult() fact.AssertResult {
	return fact.AssertResult{
		Fact: r.fact(), Duplicate: r.bool(), Superseded: r.facts(), Moved: r.facts(), Continuations: r.facts(),
		ActiveBefore: int(r.uint()), ActiveAfter: int(r.uint()),
	}
}

func (w *writer) ids(list []fact.ID) {
	w.uint(uint64(len(list)))
	for _, id := range list {
		w.id(id)
	}
}

func (r *reader) ids() []fact.ID {
	n := r.length()
	if n == 0 {
		return nil
	}
	list := make([]fact.ID, 0, min(n, 1024))
	for i := 0; i < n && r.err == nil; i++ {
		list = append(list, r.id())
	}
	return list
}

func (w *writer) error(e *fact.Error) {
	w.string(string(e.Code))
	w.string(e.Message)
	w.string(e.Field)
	w.ids(e.IDs)
	w.uint(uint64(len(e.Failures)))
	for i := range e.Failures {
		f := &e.Failures[i]
		w.string(f.Subject)
		w.string(f.Predicate)
		w.object(f.Expected)
		w.bool(f.Absent)
		w.uint(uint64(len(f.Current)))
		for _, o := range f.Current {
			w.object(o)
		}
	}
}

func (r *reader) error() *fact.Error {
	e := &fact.Error{Code: fact.Code(r.string()), Message: r.string(), Field: r.string(), IDs: r.ids()}
	n := r.length()
	for i := 0; i < n && r.err == nil; i++ {
		f := fact.GuardFailure{Subject: r.string(), Predicate: r.string(), Expected: r.object(), Absent: r.bool()}
		for m := r.length(); m > 0 && r.err == nil; m-- {
			f.Current = append(f.Current, r.object())
		}
		e.Failures = append(e.Failures, f)
	}
	return e
}
