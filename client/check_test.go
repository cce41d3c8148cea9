package client_test

import (
	"testing"

	"abagraph/client"
	"abagraph/fact"
)

func TestPagesOfARealServer(t *testing.T) {
	ctx := t.Context()
	c, _ := live(t, "")
	first, err := c.SavePage(ctx, "Person:a/b", client.PageDraft{Title: "A", Body: "[[Org:x|X]] [[Org:y]]", Citations: []client.Citation{{URL: "http://u", Quote: "q"}, {URL: "http://v"}}}, client.Write{})
	if err != nil || !first.Created || first.ID != "Page:Person:a/b" || len(first.Added.Links) != 2 || len(first.Written) != 7 || first.Tx != 1 || first.SavedTx != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	source := "editor"
	second, err := c.SavePage(ctx, "Person:a/b", client.PageDraft{Body: "[[Org:y]]", Source: &source}, client.Write{IdempotencyKey: "k"})
	if err != nil || second.Created || second.Title != nil || *second.Source != source || len(second.Removed.Links) != 2 || len(second.Removed.Citations) != 2 || second.Superseded != 1 {
		t.Errorf("%+v, %v", second, err)
	}
	p, err := c.Page(ctx, "Person:a/b", client.Read{Tx: "1"})
	if err != nil || *p.Title != "A" || len(p.Links) != 2 || p.Links[0].Text != "X" || p.Links[0].FactID == nil || len(p.Citations) != 2 ||
		*p.Citations[0].Quote != "q" || p.Citations[1].Quote != nil || *p.ValidFrom != *p.RecordedAt || p.Snippet != "X Org:y" || p.Tx != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := c.Page(ctx, "Person:none", client.Read{}); client.CodeOf(err) != fact.NotFound {
		t.Errorf("no page: %v", err)
	}
}

func TestChecksOfARealServer(t *testing.T) {
	ctx := t.Context()
	c, _ := live(t, "")
	sources := []string{"a", "b"}
	var ids []string
	for i, a := range []client.Assert{
		{Subject: "Person:a", Predicate: "role", Object: fact.TextObject("x"), ValidFrom: "2020-01-01", Source: &sources[0]},
		{Subject: "Person:a", Predicate: "role", Object: fact.TextObject("x"), ValidFrom: "2020-01-01", Source: &sources[1]},
		{Subject: "Person:a", Predicate: "role", Object: fact.TextObject("y"), Policy: "coexist"},
		{Subject: "Person:a", Predicate: "at", Object: fact.TextObject("Org:none")},
	} {
		got, err := c.Assert(ctx, a, client.Write{})
		if err != nil {
			t.Fatal(i, err)
		}
		ids = append(ids, got.Fact.ID)
	}
	check, err := c.Factcheck(ctx, client.FactcheckQuery{Integrity: true, Read: client.Read{Tx: "4"}})
	if err != nil || check.Count != 1 || check.Counts["multiple_active"] != 1 || len(check.Contradictions[0].Facts) != 3 || check.DanglingCount != 1 ||
		check.Dangling[0].To != "Org:none" || check.OrphanCount != 0 || check.Tx != 4 {
		t.Fatalf("%+v, %v", check, err)
	}
	none, err := c.Factcheck(ctx, client.FactcheckQuery{Subject: "Person:a", Predicate: "role", Coexist: "role", Kind: "multiple_active", Limit: 5, After: "A"})
	if err != nil || none.Count != 0 || none.Orphans != nil {
		t.Errorf("%+v, %v", none, err)
	}
	e, err := c.Explain(ctx, ids[0], client.Read{})
	if err != nil || e.Fact.ID != ids[0] || e.Corroboration.Sources != 2 || e.Corroboration.Agree != 1 || len(e.Conflicts) != 1 || len(e.History) != 3 || e.Note == "" {
		t.Errorf("%+v, %v", e, err)
	}
	dry, err := c.Consolidate(ctx, client.ConsolidateQuery{DryRun: true, Predicate: "role"}, client.Write{})
	if err != nil || !dry.DryRun || dry.Collapsed != 1 || len(dry.Duplicates) != 1 || dry.Conflicts != 1 {
		t.Errorf("%+v, %v", dry, err)
	}
	done, err := c.Consolidate(ctx, client.ConsolidateQuery{}, client.Write{})
	if err != nil || done.Collapsed != 1 || done.Superseded[0] != dry.Superseded[0] || done.Duplicates != nil || done.Tx != 5 {
		t.Errorf("%+v, %v", done, err)
	}
	changed, err := c.Changes(ctx, client.ChangesQuery{From: "2019-01-01", Subject: "Person:a", Limit: 2})
	if err != nil || changed.AddedCount != 3 || changed.StillValid != 0 || len(changed.Superseded) != 0 || changed.Axis != "both" || changed.To < changed.From {
		t.Errorf("%+v, %v", changed, err)
	}
	known, err := c.Changes(ctx, client.ChangesQuery{From: "2020-06-01", To: "2021-01-01", Axis: "valid", Predicate: "role", Object: "x", Read: client.Read{Tx: "5"}})
	if err != nil || known.StillValid != 1 || known.AddedCount != 0 {
		t.Errorf("%+v, %v", known, err)
	}
	if _, err := c.Changes(ctx, client.ChangesQuery{}); client.CodeOf(err) != fact.SchemaInvalid {
		t.Errorf("no from: %v", err)
	}
}
