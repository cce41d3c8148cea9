package packet_test

import (
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/memory/packet"
)

// TestConflicts: what contradicts, and what stands side by side.
func TestConflicts(t *testing.T) {
	base := func(n int, predicate, object string, change func(*fact.Fact)) packet.Candidate {
		c := said(n, "Person:a", predicate, object)
		if change != nil {
			change(c.Fact)
		}
		return c
	}
	coexist := func(f *fact.Fact) { f.Policy = fact.Coexist }
	candidate := func(f *fact.Fact) { f.Status = fact.Candidate }
	other := func(f *fact.Fact) { f.Tenant = "globex" }
	number := func(text string) func(*fact.Fact) {
		return func(f *fact.Fact) { f.Object = fact.Object{Kind: fact.Number, Text: text} }
	}
	for name, c := range map[string]struct {
		list []packet.Candidate
		want []int // conflicts of the facts kept, by id
	}{
		"alone":              {[]packet.Candidate{base(1, "p", "x", nil)}, []int{0}},
		"agreement":          {[]packet.Candidate{base(1, "p", "x", nil), base(2, "p", "x", nil)}, []int{0}},
		"another object":     {[]packet.Candidate{base(1, "p", "x", nil), base(2, "p", "y", nil)}, []int{1, 1}},
		"two against one":    {[]packet.Candidate{base(1, "p", "x", nil), base(2, "p", "x", nil), base(3, "p", "y", nil)}, []int{1, 2}},
		"another predicate":  {[]packet.Candidate{base(1, "p", "x", nil), base(2, "q", "y", nil)}, []int{0, 0}},
		"another tenant":     {[]packet.Candidate{base(1, "p", "x", nil), base(2, "p", "y", other)}, []int{0, 0}},
		"many values":        {[]packet.Candidate{base(1, "knows", "x", nil), base(2, "knows", "y", nil)}, []int{0, 0}},
		"both side by side":  {[]packet.Candidate{base(1, "p", "x", coexist), base(2, "p", "y", coexist)}, []int{0, 0}},
		"one side by side":   {[]packet.Candidate{base(1, "p", "x", coexist), base(2, "p", "y", nil)}, []int{1, 1}},
		"a candidate":        {[]packet.Candidate{base(1, "p", "x", nil), base(2, "p", "y", candidate)}, []int{1}},
		"a candidate agrees": {[]packet.Candidate{base(1, "p", "x", nil), base(2, "p", "x", candidate)}, []int{0}},
		"one number":         {[]packet.Candidate{base(1, "p", "", number("1")), base(2, "p", "", number("1.0"))}, []int{0}},
		"two kinds":          {[]packet.Candidate{base(1, "p", "1", nil), base(2, "p", "", number("1"))}, []int{1, 1}},
	} {
		p := assemble(t, request(), c.list)
		slices.SortFunc(p.Facts, func(a, b packet.Fact) int { return slices.Compare(a.ID[:], b.ID[:]) })
		var got []int
		for i := range p.Facts {
			got = append(got, p.Facts[i].Corroboration.Conflict)
		}
		// Of facts that agree, the newest is kept.
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(c.want))) {
			t.Errorf("%s: conflicts %v, want %v", name, got, c.want)
		}
		q := request()
		q.Conflicts = false
		for _, f := range assemble(t, q, c.list).Facts {
			if f.Corroboration.Conflict > 0 {
				t.Errorf("%s: a contradicted fact is there without conflicts", name)
			}
		}
	}
}

// TestIDN02ClustersMergeOnlyTheSame: near-duplicates merge, codes and names never.
func TestIDN02ClustersMergeOnlyTheSame(t *testing.T) {
	for name, c := range map[string]struct {
		a, b      string
		threshold float64
		want      int
	}{
		"off":              {"The office moved.", "the office moved", 0, 2},
		"case and signs":   {"The office moved to Berlin.", "the office moved, to berlin", 0.97, 1},
		"order":            {"moved to Berlin", "to Berlin moved", 1, 1},
		"one word of four": {"the office moved north", "the office moved south", 0.97, 2},
		"a lower bar":      {"the office moved north", "the office moved south", 0.7, 1},
		"another code":     {"chip QX1603 failed the test", "chip QX1605 failed the test", 0.1, 2},
		"another number":   {"paid 100 euros in cash", "paid 101 euros in cash", 0.1, 2},
		"references":       {"Service:Billing", "Service:billing", 0.1, 2},
		"no words":         {"***", "---", 0.1, 2},
		"japanese":         {"東京 本社", "本社 東京", 0.97, 1},
	} {
		q := request()
		q.Cluster = c.threshold
		p := assemble(t, q, []packet.Candidate{said(1, "Org:x", "news", c.a), said(2, "Org:x", "news", c.b)})
		if len(p.Facts) != c.want || p.Collapsed != 2-c.want {
			t.Errorf("%s: %d facts, %d collapsed, want %d", name, len(p.Facts), p.Collapsed, c.want)
		}
		apart := assemble(t, q, []packet.Candidate{said(1, "Org:x", "news", c.a), said(2, "Org:y", "news", c.a), said(3, "Org:x", "blog", c.a)})
		if len(apart.Facts) != 3 {
			t.Errorf("%s: texts of other subjects and predicates merged", name)
		}
	}
}

// TestExactDuplicates: the best stays, and all of them count.
func TestExactDuplicates(t *testing.T) {
	crm := "crm"
	low, high, newer := said(1, "Person:a", "p", "x"), said(2, "Person:a", "p", "x"), said(3, "Person:a", "p", "x")
	low.Fact.Confidence, low.Distance = 0.8, packet.AtSeed
	newer.Fact.Source = &crm
	p := assemble(t, request(), []packet.Candidate{low, high, newer, high})
	if len(p.Facts) != 1 || p.Collapsed != 2 || p.Facts[0].ID != newer.Fact.ID {
		t.Fatalf("%d facts, %d collapsed", len(p.Facts), p.Collapsed)
	}
	c := p.Facts[0].Corroboration
	if c.Agree != 3 || !slices.Equal(c.Sources, []string{"crm", "hr-system"}) || p.Facts[0].Score.Proximity != packet.Unit {
		t.Errorf("%+v %+v", c, p.Facts[0].Score)
	}
	if !strings.Contains(p.SystemPrompt, "2 sources agree") {
		t.Errorf("the prompt: %s", p.SystemPrompt)
	}
}

// TestOrderOfCandidatesMeansLittle: however they come, the packet is the same.
func TestOrderOfCandidatesMeansLittle(t *testing.T) {
	list, pages := smallWorld()
	want := string(assemble(t, request(), list, pages...).AppendJSON(nil, true))
	slices.Reverse(list)
	if got := string(assemble(t, request(), list, pages...).AppendJSON(nil, true)); got != want {
		t.Errorf("reversed:\n%s\nwas\n%s", got, want)
	}
}
