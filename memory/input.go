package memory

import (
	"math"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// Input reads what callers write, in every spelling that C-6 and C-28 allow,
// and gathers the warnings about it. Use one for each request.
type Input struct {
	caller   Caller
	warnings []string
	unsaid   int
	// branch is the one that the body names at its top, ofRows the one that rows of
	// it name, first at rowsAt.
	branch, ofRows, rowsAt string
}

// NewInput reads on behalf of a caller.
func NewInput(c Caller) Input { return Input{caller: c} }

// Assert reads one statement (FactInput). The path is "" for a body that is
// one. declared allows declared_known_at, which only a batch may carry.
func (in *Input) Assert(v jsonx.Value, path string, declared bool) (fact.Assert, error) {
	f := jsonx.Open(v, path)
	a := fact.Assert{KnownAt: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1}
	a.Subject = name(f, "subject")
	a.Predicate = name(f, "predicate")
	if o, ok := f.Any("object"); ok {
		a.Object = object(f, "object", o)
	}
	a.ValidFrom = in.time(f, "valid_from")
	if t := in.time(f, "valid_until"); t.Given() {
		a.ValidUntil = t
	}
	if c, ok := f.Any("confidence"); ok {
		a.Confidence = confidence(f, "confidence", c)
	}
	a.Source = source(f)
	a.Properties = properties(f)
	a.Policy = policy(f)
	a.Transient = f.Flag("transient")
	if declared {
		a.KnownAt = in.declared(f)
	}
	in.common(f)
	for _, owned := range [...]string{"id", "tx", "recorded_at", "status"} {
		f.Refuse(owned, "belongs to the server and cannot be written")
	}
	if a.ValidFrom.Given() && a.ValidFrom >= a.ValidUntil {
		f.Fail(fact.Invalid(f.Path("valid_from"), "must be before valid_until"))
	}
	if err := f.Done(); err != nil {
		return fact.Assert{}, err
	}
	return a, nil
}

// Threshold is the confidence below which a statement is a candidate: the given
// one, or else the service's (C-7).
func (s *Service) Threshold(given *float64) float64 {
	if given != nil {
		return *given
	}
	return s.threshold
}

// Scope reads the branch and the tenant that a body names, and judges no other
// field.
func (in *Input) Scope(v jsonx.Value) error {
	f := jsonx.Open(v, "")
	in.common(f)
	return f.Err()
}

// Tenant judges the tenant that a body names, and no other field (C-43).
func (in *Input) Tenant(v jsonx.Value) error {
	f := jsonx.Open(v, "")
	in.tenant(f)
	return f.Err()
}

// common reads the fields that any body may carry: the branch and the tenant.
func (in *Input) common(f *jsonx.Fields) {
	if branch, ok := f.Text("branch"); ok {
		if err := in.names(f.Path("branch"), branch); err != nil {
			f.Fail(err)
		}
	}
	in.tenant(f)
}

func (in *Input) tenant(f *jsonx.Fields) {
	if !in.caller.Operator {
		f.Ignore("tenant")
		return
	}
	if tenant, ok := f.Text("tenant"); ok {
		if err := in.caller.namesTenant(f.Path("tenant"), tenant); err != nil {
			f.Fail(err)
		}
	}
}

// names notes the branch that a field of the body names.
func (in *Input) names(path, branch string) error {
	name, err := CheckBranch(branch)
	switch {
	case err != nil:
		return err
	case path == "branch":
		in.branch = name
	case in.ofRows != "" && in.ofRows != name:
		return fact.Invalid(path, "disagrees with "+in.rowsAt+": a request goes to one branch")
	case in.ofRows == "":
		in.ofRows, in.rowsAt = name, path
	}
	return nil
}

// Branch returns the branch that a write goes to: the one that the query names, ""
// for none, or the body at its top (C-55). Rows may repeat it, and not name
// another one.
func (in *Input) Branch(query string) (string, error) {
	branch := query
	switch {
	case query == "":
		branch = in.branch
	case in.branch != "" && in.branch != query:
		return "", fact.Invalid("branch", "disagrees with branch= in the query")
	}
	if branch == "" {
		branch = fact.MainBranch
	}
	if in.ofRows != "" && in.ofRows != branch {
		return "", fact.Invalid(in.rowsAt, "is not the branch of this request: name it with branch= in the query, or at the top of the body")
	}
	return branch, nil
}

// declared reads when a row was known, under either of its names.
func (in *Input) declared(f *jsonx.Fields) fact.Instant {
	known, captured := in.time(f, "declared_known_at"), in.time(f, "declared_captured_at")
	if known.Given() && captured.Given() && known != captured {
		f.Fail(fact.Invalid(f.Path("declared_captured_at"), "disagrees with declared_known_at"))
	}
	if known.Given() {
		return known
	}
	return captured
}

// name reads a subject or predicate, which must be there.
func name(f *jsonx.Fields, field string) string {
	v, ok := f.Get(field)
	if !ok || v.Kind != jsonx.String {
		return f.Required(field)
	}
	text, err := Name(f.Path(field), v.Text)
	if err != nil {
		f.Fail(err)
	}
	return text
}

func object(f *jsonx.Fields, field string, v jsonx.Value) fact.Object {
	o, err := Object(f.Path(field), v)
	if err != nil {
		f.Fail(err)
	}
	return o
}

// Object reads the value of a fact (C-3). The path names it in errors.
func Object(path string, v jsonx.Value) (fact.Object, error) {
	switch v.Kind {
	case jsonx.Null:
		return fact.Object{}, nil
	case jsonx.Bool:
		return fact.BoolObject(v.Bool), nil
	case jsonx.Number:
		return fact.NumberObject(path, v.Raw)
	case jsonx.String:
		o := fact.TextObject(v.Text)
		return o, o.Validate(path)
	case jsonx.Object:
		return blob(path, v)
	}
	return fact.Object{}, fact.Invalid(path, "must be a string, number, boolean, null or blob reference, not "+v.Kind.String())
}

func blob(path string, v jsonx.Value) (fact.Object, error) {
	f := jsonx.Open(v, path)
	hash := f.Required("hash")
	size, ok := f.Integer("size", 0, math.MaxInt64)
	if !ok {
		f.Fail(fact.Invalid(f.Path("size"), "is required"))
	}
	if err := f.Done(); err != nil {
		return fact.Object{}, fact.Invalid(path, `must be a string, number, boolean, null or blob reference {"hash","size"}: `+err.Error())
	}
	return fact.BlobObject(path, hash, size)
}

// confidence reads a number from 0 to 1; null is refused (C-4, C-43).
func confidence(f *jsonx.Fields, field string, v jsonx.Value) float64 {
	path := f.Path(field)
	if v.Kind != jsonx.Number {
		f.Fail(fact.Invalid(path, "must be a number from 0 to 1, not "+v.Kind.String()))
		return 0
	}
	if _, err := fact.NumberObject(path, v.Raw); err != nil {
		f.Fail(err)
		return 0
	}
	c, err := strconv.ParseFloat(v.Raw, 64)
	if err != nil || !(c >= 0 && c <= 1) {
		f.Fail(fact.Invalid(path, "must be a number from 0 to 1"))
		return 0
	}
	return c + 0 // -0 becomes 0
}

func source(f *jsonx.Fields) *string {
	text, ok := f.Text("source")
	if !ok {
		return nil
	}
	if err := fact.CheckSource(f.Path("source"), text); err != nil {
		f.Fail(err)
	}
	return &text
}

// properties reads the free-form object, without the space between its tokens.
func properties(f *jsonx.Fields) []byte {
	v, ok := f.Get("properties")
	if !ok {
		return nil
	}
	path := f.Path("properties")
	if v.Kind != jsonx.Object {
		f.Fail(fact.Invalid(path, "must be an object, not "+v.Kind.String()))
		return nil
	}
	text, err := jsonx.Compact(make([]byte, 0, len(v.Raw)), v, path)
	if err != nil {
		f.Fail(err)
	}
	if len(text) > fact.MaxPropertiesBytes {
		f.Fail(fact.Invalid(path, "are larger than 64 KiB"))
	}
	return text
}

// policy reads the policy under any of its names; names that disagree are
// refused (C-6).
func policy(f *jsonx.Fields) fact.Policy {
	var policy fact.Policy
	given := ""
	take := func(field string, p fact.Policy) {
		if given != "" && p != policy {
			f.Fail(fact.Invalid(f.Path(field), "disagrees with "+given))
		}
		policy, given = p, field
	}
	for _, field := range [...]string{"policy", "policy_override", "conflict_policy"} {
		text, ok := f.Text(field)
		if !ok {
			continue
		}
		p, err := fact.ParsePolicy(f.Path(field), text)
		if err != nil {
			f.Fail(err)
			continue
		}
		take(field, p)
	}
	if f.Flag("coexist") {
		take("coexist", fact.Coexist)
	}
	return policy
}

// ObjectFilter returns the values that a filter written as text may mean: the
// text itself and, where it reads as a number, true, false, null or a blob
// reference, that value too (C-3).
func ObjectFilter(text string) []fact.Object {
	list := []fact.Object{fact.TextObject(text)}
	if text == "" || len(text) > maxFilterValue {
		return list
	}
	switch c := text[0]; {
	case c == '{', c == '-', c >= '0' && c <= '9', text == "true", text == "false", text == "null":
		v, err := jsonx.Parse([]byte(text))
		if err != nil || v.Raw != text {
			return list
		}
		if o, err := Object("object", v); err == nil {
			list = append(list, o)
		}
	}
	return list
}

// maxFilterValue is above every value that is not a text.
const maxFilterValue = 2048
