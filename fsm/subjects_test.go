package fsm_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/fsm"
	"abagraph/internal/model"
)

// compareSubjects asks for subject after subject, at several points of time side
// by side, from a random place on.
func compareSubjects(t *testing.T, v *fsm.View, r *model.Random) {
	t.Helper()
	q := &fact.SubjectQuery{Scope: r.Scope()}
	for range 1 + int(r.Model.Tx()%3) {
		one := r.Query()
		one.Scope, one.Subject, one.TxGtGiven, one.TxGt, one.Limit = q.Scope, "", false, 0, 1<<20
		q.Queries = append(q.Queries, *one)
	}
	if e := r.EntityQuery(); e.After != "" {
		q.After = fact.SubjectPlace{Tenant: "ta", Subject: e.After}
	}
	if one := r.Query(); one.Limit == 1 {
		q.Subject = one.Subject
	}
	var got []fact.SubjectFacts
	err := v.EachSubject(context.Background(), q, func(s *fact.SubjectFacts) (bool, error) {
		got = append(got, *s)
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := subjectsOf(r, q)
	if len(got) != len(want) {
		t.Fatalf("%+v: subjects %v, want %v", q, got, want)
	}
	for i := range got {
		same(t, fmt.Sprintf("subject of %+v", *q), got[i].SubjectPlace, want[i].SubjectPlace)
		for j := range got[i].Lists {
			same(t, fmt.Sprintf("list %d of %+v", j, *q), bareAll(got[i].Lists[j]), bareAll(want[i].Lists[j]))
		}
	}
}

// subjectsOf gathers the same from the model's lists.
func subjectsOf(r *model.Random, q *fact.SubjectQuery) []fact.SubjectFacts {
	var all []fact.SubjectFacts
	for n := range q.Queries {
		for _, f := range r.Model.Facts(&q.Queries[n]) {
			at := fact.SubjectPlace{Tenant: f.Tenant, Subject: f.Subject}
			if q.Subject != "" && f.Subject != q.Subject || comparePlaces(at, q.After) <= 0 {
				continue
			}
			i := slices.IndexFunc(all, func(s fact.SubjectFacts) bool { return s.SubjectPlace == at })
			if i < 0 {
				i = len(all)
				all = append(all, fact.SubjectFacts{SubjectPlace: at, Lists: make([][]fact.Fact, len(q.Queries))})
			}
			all[i].Lists[n] = append(all[i].Lists[n], f)
		}
	}
	slices.SortFunc(all, func(a, b fact.SubjectFacts) int { return comparePlaces(a.SubjectPlace, b.SubjectPlace) })
	return all
}

func comparePlaces(a, b fact.SubjectPlace) int {
	return cmp.Or(strings.Compare(a.Tenant, b.Tenant), strings.Compare(a.Subject, b.Subject))
}

// A pass over subjects ends when it is told to, fails with its visitor, and stops
// with its caller.
func TestEachSubjectEnds(t *testing.T) {
	n := newNode(t, fsm.Options{})
	r := model.NewRandom(3)
	for _, s := range r.History(60) {
		n.step(s)
	}
	v, err := n.m.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	q := &fact.SubjectQuery{Scope: fact.Scope{All: true, Branch: fact.MainBranch}, Queries: []fact.Query{{Statuses: fact.AllStatuses, StatusGiven: true, At: fact.Present(0)}}}
	seen, boom := 0, errors.New("boom")
	visit := func(more bool, err error) func(*fact.SubjectFacts) (bool, error) {
		return func(*fact.SubjectFacts) (bool, error) { seen++; return more, err }
	}
	if err := v.EachSubject(t.Context(), q, visit(false, nil)); err != nil || seen != 1 {
		t.Errorf("%d seen, %v", seen, err)
	}
	if err := v.EachSubject(t.Context(), q, visit(true, boom)); !errors.Is(err, boom) || seen != 2 {
		t.Errorf("%d seen, %v", seen, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.EachSubject(ctx, q, visit(true, nil)); !errors.Is(err, context.Canceled) || seen != 2 {
		t.Errorf("%d seen, %v", seen, err)
	}
}
