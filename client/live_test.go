package client_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"abagraph/client"
	"abagraph/fact"
	httpd "abagraph/http"
	"abagraph/internal/onenode"
	"abagraph/memory"
)

// live starts a real server with an admin key, and returns a client of it.
func live(t *testing.T, key string, options ...client.Option) (*client.Client, string) {
	t.Helper()
	server, err := httpd.NewServer(httpd.Config{
		Bind: "127.0.0.1:0", Memory: onenode.Start(t).Service(t, memory.Options{AdminKey: key}),
		Logger: slog.New(slog.DiscardHandler), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(server.Shutdown(ctx), <-served); err != nil {
			t.Error(err)
		}
	})
	url := "http://" + server.Addr().String()
	return dial(t, url, append(options, client.WithKey(key))...), url
}

func dial(t *testing.T, url string, options ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestFactsOfARealServer(t *testing.T) {
	ctx := t.Context()
	c, _ := live(t, "")
	first, err := c.Assert(ctx, client.Assert{Subject: "Person:a", Predicate: "p", Object: fact.TextObject("one"), ValidFrom: "2020-01-01"}, client.Write{})
	if err != nil || first.Duplicate || first.Tx != 1 || first.Fact.Raw == nil {
		t.Fatalf("%+v, %v", first, err)
	}
	if again, err := c.Assert(ctx, client.Assert{Subject: "Person:a", Predicate: "p", Object: fact.TextObject("one"), ValidFrom: "2020-01-01"}, client.Write{}); err != nil || !again.Duplicate {
		t.Errorf("%+v, %v", again, err)
	}
	number, err := fact.NumberObject("object", "9007199254740993")
	if err != nil {
		t.Fatal(err)
	}
	batch, err := c.Transact(ctx, &client.Transact{
		Compares: []client.Compare{{Subject: "Person:a", Predicate: "p", Expect: &first.Fact.Object}},
		Asserts:  []client.Assert{{Subject: "Person:a", Predicate: "p", Object: number, ValidFrom: "2021-01-01"}},
	}, client.Write{})
	if err != nil || batch.Tx != 2 || batch.Superseded != 1 || batch.SupersededIDs[0] != first.Fact.ID || batch.Facts[0].Object.Text != number.Text {
		t.Fatalf("%+v, %v", batch, err)
	}
	list, err := c.Facts(ctx, client.FactQuery{Subject: "Person:a", Read: client.Read{AsOf: "2020-06-01", KnownAt: client.At(first.Now)}})
	if err != nil || len(list.Facts) != 1 || list.Facts[0].ID != first.Fact.ID || list.Epoch == "" {
		t.Errorf("%+v, %v", list, err)
	}
	one, err := c.Fact(ctx, first.Fact.ID, client.Read{})
	if err != nil || one.Fact.ValidUntil != 1609459200000 || len(one.Pieces) != 1 {
		t.Errorf("%+v, %v", one, err)
	}
	history, err := c.History(ctx, first.Fact.ID, client.Read{})
	if err != nil || len(history.Versions) != 2 || len(history.Timeline) != 2 {
		t.Errorf("%+v, %v", history, err)
	}
	if gone, err := c.Retract(ctx, first.Fact.ID, client.Write{}); err != nil || !gone.OK || gone.ID != first.Fact.ID {
		t.Errorf("%+v, %v", gone, err)
	}
	if _, err := c.Facts(ctx, client.FactQuery{Limit: 10_001}); client.CodeOf(err) != fact.SchemaInvalid {
		t.Errorf("%v", err)
	}
	seconds, err := c.Facts(ctx, client.FactQuery{Read: client.Read{AsOf: "1718800000"}})
	if err != nil || len(seconds.Warnings) != 1 {
		t.Errorf("seconds were taken without a word: %+v, %v", seconds, err)
	}
}

func TestEverythingElseOfARealServer(t *testing.T) {
	ctx := t.Context()
	c, url := live(t, "operators-key")
	acme, err := c.CreateTenant(ctx, client.NewTenant{ID: "acme", Name: "Acme"})
	if err != nil || acme.Key == "" {
		t.Fatalf("%+v, %v", acme, err)
	}
	in := dial(t, url, client.WithKey(acme.Key))
	if _, err := in.Assert(ctx, client.Assert{Subject: "Person:a", Predicate: "p", Object: fact.TextObject("x")}, client.Write{}); err != nil {
		t.Fatal(err)
	}
	reader, err := c.CreateKey(ctx, "acme", client.NewKey{Name: "dashboard", Role: "read"})
	if err != nil || reader.Secret == "" || reader.Role != "read" {
		t.Fatalf("%+v, %v", reader, err)
	}
	only := dial(t, url, client.WithKey(reader.Secret))
	if _, err := only.Assert(ctx, client.Assert{Subject: "a", Predicate: "p"}, client.Write{}); client.CodeOf(err) != fact.Forbidden {
		t.Errorf("a reader wrote: %v", err)
	}
	if entities, err := only.Entities(ctx, client.Listing{}); err != nil || len(entities) != 1 || *entities[0].Kind != "Person" {
		t.Errorf("%+v, %v", entities, err)
	}
	if entity, err := only.Entity(ctx, "Person:a", client.Read{}); err != nil || len(entity.Facts) != 1 {
		t.Errorf("%+v, %v", entity, err)
	}
	if predicates, err := only.Predicates(ctx, client.Listing{Limit: 5}); err != nil || len(predicates) != 1 {
		t.Errorf("%v, %v", predicates, err)
	}
	if keys, err := c.Keys(ctx, "acme"); err != nil || len(keys) < 2 {
		t.Errorf("%+v, %v", keys, err)
	}
	if err := c.RevokeKey(ctx, "acme", reader.ID); err != nil {
		t.Error(err)
	}
	if _, err := only.Stats(ctx, client.Read{}); client.CodeOf(err) != fact.NotFound {
		t.Errorf("a revoked key reads: %v", err)
	}
	session, err := dial(t, url).Login(ctx, acme.Key)
	if err != nil || session.Scope != "tenant" || session.Tenant != "acme" || session.Cookie == nil {
		t.Errorf("%+v, %v", session, err)
	}
	if _, err := dial(t, url).Login(ctx, "wrong"); client.StatusOf(err) == 0 {
		t.Errorf("a wrong key logged in: %v", err)
	}
	if err := in.Logout(ctx); err != nil {
		t.Error(err)
	}
	if info, err := in.Connect(ctx); err != nil || info.RestBase != url+"/api" || info.Tenant != "acme" {
		t.Errorf("%+v, %v", info, err)
	}
	if _, err := c.Ready(ctx); err != nil {
		t.Error(err)
	}
	if tenant, err := c.Tenant(ctx, "acme"); err != nil || tenant.FactCount != 1 {
		t.Errorf("%+v, %v", tenant, err)
	}
	target := client.PurgeTarget{Kind: "Person", Tenant: "acme"}
	if n, err := c.PurgePreview(ctx, target); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := c.Purge(ctx, target); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	if err := c.DeleteTenant(ctx, "acme", ""); err != nil {
		t.Error(err)
	}
	if list, err := c.Tenants(ctx); err != nil || len(list) == 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestStreamOfARealServer begins now, without a position of its own: what is
// written from then on comes, though the stream opens later.
func TestStreamOfARealServer(t *testing.T) {
	c, _ := live(t, "")
	write := func(object string) {
		if _, err := c.Assert(t.Context(), client.Assert{Subject: "a", Predicate: "p", Object: fact.TextObject(object)}, client.Write{}); err != nil {
			t.Error(err)
		}
	}
	write("before")
	enough := errors.New("enough")
	begun := false
	var seen []string
	err := c.Stream(t.Context(), client.StreamQuery{Position: func(string) {
		if !begun {
			begun = true
			write("one")
			write("two")
		}
	}}, func(e client.Event) error {
		seen = append(seen, e.Op+" "+e.Fact.Object.Text)
		if e.Fact.Object.Text == "two" {
			if len(e.Superseded) != 1 || e.ID == "" {
				t.Errorf("the last event is %s", e.Raw)
			}
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || len(seen) != 2 || seen[0] != "assert one" {
		t.Errorf("saw %q, %v", seen, err)
	}
}
