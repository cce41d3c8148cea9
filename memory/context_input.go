package memory

import (
	"iter"
	"math"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/byok"
	"abagraph/internal/jsonx"
	"abagraph/memory/packet"
)

// Context reads the body of a request for a packet into a query, which holds
// what the rest of the request said. Nothing may be said twice. It returns the
// tenant that an operator's body names, or "".
func (in *Input) Context(v jsonx.Value, q *ContextQuery) (tenant string, err error) {
	f := jsonx.Open(v, "")
	q.Goal = sameText(f, "goal", "task")
	q.Seeds = entities(f, "seeds")
	if name, ok := f.Text("project"); ok {
		q.Project = checked(f, "project", name)
	}
	q.sizes(f)
	q.ClusterThreshold = fraction(f, "cluster_threshold")
	q.IncludeRecent = flagOr(f, "include_recent", q.IncludeRecent)
	q.IncludeConflicts = flagOr(f, "include_conflicts", q.IncludeConflicts)
	q.IncludeRetracted = flagOr(f, "include_retracted", q.IncludeRetracted)
	if text, ok := f.Text("style"); ok {
		style, err := packet.ParseStyle("style", text)
		if err != nil {
			f.Fail(err)
		}
		q.Style = style
	}
	q.Role, _ = f.Text("role")
	q.Model = compactModel(f)
	in.pointInTime(f, &q.Read)
	if in.caller.Operator {
		tenant, _ = f.Text("tenant")
	} else {
		f.Ignore("tenant")
	}
	return tenant, f.Done()
}

// sizes reads the counts and the budget.
func (q *ContextQuery) sizes(f *jsonx.Fields) {
	if n, ok := f.Integer("max_facts", 0, packet.MaxFacts); ok {
		q.MaxFacts, q.FactsGiven = int(n), true
	}
	if n, ok := f.Integer("max_pages", 0, packet.MaxPages); ok {
		q.MaxPages = int(n)
	}
	q.TokenBudget, _ = budget(f)
}

// budget reads a budget under either of its names, and tells by which; 0 = none.
func budget(f *jsonx.Fields) (tokens int, given string) {
	for _, name := range [...]string{"token_budget", "max_tokens"} {
		v, ok := f.Get(name)
		if !ok {
			continue
		}
		if given != "" {
			f.Fail(fact.Invalid(f.Path(name), "means the same as "+given+": give one of them"))
			return tokens, given
		}
		given = name
		n, whole := v.Whole()
		if !whole || n < 1 || n > maxBudget {
			f.Fail(fact.Invalid(f.Path(name), budgetRange))
			return 0, given
		}
		tokens = int(n)
	}
	return tokens, given
}

// pointInTime reads the branch and both times from a body.
func (in *Input) pointInTime(f *jsonx.Fields, r *Read) {
	once := func(name string, given bool) {
		if given {
			f.Fail(fact.Invalid(f.Path(name), "is given in the query, too"))
		}
	}
	if t := in.time(f, "as_of"); t.Given() {
		once("as_of", r.AsOf.Given())
		r.AsOf = t
	}
	if t := in.time(f, "known_at"); t.Given() {
		once("known_at", r.KnownAt.Given())
		r.KnownAt = t
	}
	if n, ok := f.Integer("tx", 0, math.MaxInt64); ok {
		once("tx", r.Pinned)
		r.Tx, r.Pinned = uint64(n), true
	}
	if _, ok := f.Get("backfill"); ok {
		r.NoBackfill = !f.Flag("backfill")
	}
	if branch, ok := f.Text("branch"); ok {
		once("branch", r.Branch != "")
		name, err := CheckBranch(branch)
		if err != nil {
			f.Fail(err)
		}
		r.Branch = name
	}
}

// sameText reads a text under one of two names.
func sameText(f *jsonx.Fields, name, alias string) string {
	text, ok := f.Text(name)
	other, also := f.Text(alias)
	switch {
	case ok && also:
		f.Fail(fact.Invalid(f.Path(alias), "means the same as "+name+": give one of them"))
	case also:
		return other
	}
	return text
}

// entities reads a list of names, each once.
func entities(f *jsonx.Fields, field string) []string {
	var list []string
	for i, v := range f.Array(field) {
		if v.Kind != jsonx.String {
			f.Fail(fact.Invalid(jsonx.Index(f.Path(field), i), "must be a string, not "+v.Kind.String()))
			return nil
		}
		name, err := Name(jsonx.Index(f.Path(field), i), v.Text)
		if err != nil {
			f.Fail(err)
			return nil
		}
		list = append(list, name)
	}
	return list
}

func checked(f *jsonx.Fields, field, text string) string {
	name, err := Name(f.Path(field), text)
	if err != nil {
		f.Fail(err)
	}
	return name
}

// fraction reads a number from 0 to 1; absent is 0.
func fraction(f *jsonx.Fields, field string) float64 {
	v, ok := f.Get(field)
	if !ok {
		return 0
	}
	n, err := strconv.ParseFloat(v.Raw, 64)
	if v.Kind != jsonx.Number || err != nil || !(n >= 0 && n <= 1) {
		f.Fail(fact.Invalid(f.Path(field), "must be a number from 0 to 1"))
		return 0
	}
	return n
}

func flagOr(f *jsonx.Fields, field string, otherwise bool) bool {
	if _, ok := f.Get(field); !ok {
		return otherwise
	}
	return f.Flag(field)
}

// compactModel reads the model that folds what is dropped.
func compactModel(f *jsonx.Fields) *byok.Config {
	v, ok := f.Get("compact_model")
	if !ok {
		return nil
	}
	c, err := byok.Read(v, f.Path("compact_model"))
	if err != nil {
		f.Fail(err)
	}
	return c
}

// ParseEntities reads a list of names as a query string has it: separated by
// commas, or, for names with commas in them, an array in JSON.
func ParseEntities(field, text string) ([]string, error) {
	if len(text) > 0 && text[0] == '[' {
		v, err := jsonx.Parse([]byte(`{"list":` + text + `}`))
		if err != nil {
			return nil, fact.Invalid(field, "begins with [ and is no array in JSON")
		}
		f := jsonx.Open(v, "")
		list := entities(f, "list")
		if f.Done() != nil {
			return nil, fact.Invalid(field, "must be an array of names")
		}
		return list, nil
	}
	var list []string
	for part := range splitList(text) {
		name, err := Name(field, part)
		if err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, nil
}

// splitList yields the parts of a comma list, without the space around them.
func splitList(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" && !yield(part) {
				return
			}
		}
	}
}
