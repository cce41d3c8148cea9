package client_test

import (
	"strings"
	"testing"

	"abagraph/client"
	"abagraph/fact"
)

func TestContextOfARealServer(t *testing.T) {
	ctx := t.Context()
	c, _ := live(t, "")
	source := "hr"
	for _, a := range []client.Assert{
		{Subject: "Person:a", Predicate: "works_at", Object: fact.TextObject("Org:x"), Source: &source},
		{Subject: "Org:x", Predicate: "seat", Object: fact.TextObject("City:y")},
	} {
		if _, err := c.Assert(ctx, a, client.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	no, one := false, 1
	packet, err := c.Context(ctx, client.ContextQuery{
		Goal: "seat of the employer", Seeds: []string{"Person:a", "Person:z"}, TokenBudget: 400, Style: "claude", Role: "You are Ada.", IncludeRecent: &no, MaxPages: &one,
	})
	if err != nil || packet.Kind != "context_packet" || len(packet.Facts) != 2 || len(packet.Corroboration) != 2 || packet.PromptTokens > 400 || packet.AtTx != 2 ||
		len(packet.Digest) != 64 || len(packet.Notes) != 1 || packet.Notes[0].Code != "seed_not_found" || !strings.HasPrefix(packet.SystemPrompt, "You are Ada.\n") {
		t.Fatalf("%+v, %v", packet, err)
	}
	again, err := c.Context(ctx, client.ContextQuery{Read: client.Read{Tx: "1"}, Seeds: []string{"Person:a"}, MaxFacts: &one})
	if err != nil || again.AtTx != 1 || len(again.Facts) != 1 || again.Facts[0].Predicate != "works_at" {
		t.Errorf("%+v, %v", again, err)
	}
	small, err := c.Compact(ctx, packet.Facts, 50)
	if err != nil || len(small.Facts) != 1 || small.Dropped != 1 || small.Tokens > 50 || small.Facts[0].ID == "" {
		t.Errorf("%+v, %v", small, err)
	}
	if none, err := c.Compact(ctx, nil, 50); err != nil || len(none.Facts) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	if _, err := c.Context(ctx, client.ContextQuery{Style: "yaml"}); client.CodeOf(err) != fact.SchemaInvalid {
		t.Errorf("a style: %v", err)
	}
}

func TestEnrichOfARealServer(t *testing.T) {
	ctx := t.Context()
	c, _ := live(t, "")
	stood, err := c.Assert(ctx, client.Assert{Subject: "Person:a", Predicate: "works_at", Object: fact.TextObject("Org:x")}, client.Write{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Enrich(ctx, client.EnrichQuery{Source: "crm", Facts: []client.Assert{
		{Subject: "Person:a", Predicate: "works_at", Object: fact.TextObject("Org:y")}, {Subject: "Person:a", Predicate: "mail", Object: fact.TextObject("a@example.com")},
	}})
	if err != nil || len(got.Facts) != 2 || got.Masked != 1 || len(got.Conflicts) != 1 || got.Conflicts[0].ExistingID != stood.Fact.ID || string(got.Conflicts[0].Incoming) != `"Org:y"` ||
		!strings.Contains(string(got.Facts[1]), `"[REDACTED]"`) || !strings.Contains(string(got.Facts[1]), `"source":"crm"`) {
		t.Errorf("%+v, %v", got, err)
	}
}
