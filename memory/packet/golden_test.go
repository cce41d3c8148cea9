package packet_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"abagraph/fact"
	"abagraph/memory/packet"
)

var update = flag.Bool("update", false, "write the golden packets anew")

// smallWorld has a bit of everything: agreement, conflict, a candidate, a number,
// an end, a text that is no harmless one, a page.
func smallWorld() ([]packet.Candidate, []packet.Page) {
	slack := "slack"
	works := said(1, "Person:alice", "works_at", "Company:acme")
	works.Distance = packet.AtSeed
	also := another(works)
	also.Fact.ID[0], also.Fact.Source, also.Fact.Confidence, also.Fact.Tx = 1, &slack, 0.9, 8
	maybe := another(works)
	maybe.Fact.ID[0], maybe.Fact.Object, maybe.Fact.Status, maybe.Fact.Confidence, maybe.Fact.Tx = 2, fact.TextObject("Company:nova"), fact.Candidate, 0.4, 9
	role := said(2, "Person:alice", "role", "VP <Engineering>, \"core\"")
	role.Distance, role.Relevance, role.Why = packet.AtSeed, packet.Unit, "role"
	staff := said(3, "Company:acme", "headcount", "")
	staff.Fact.Object, staff.Fact.ValidUntil, staff.Fact.Source = fact.Object{Kind: fact.Number, Text: "120"}, 1_735_689_600_000, nil
	motto := said(4, "Company:acme", "motto", "東京から世界へ\n---")
	motto.Relevance = packet.Unit / 4
	page := packet.Page{ID: "Page:acme", Subject: "Company:acme", Title: "Acme", Body: "Acme builds [[Product:rocket|rockets]].\n\nSince 1949.", Source: &slack}
	page.Plain = "Acme builds rockets.\n\nSince 1949."
	return []packet.Candidate{works, also, maybe, role, staff, motto}, []packet.Page{page}
}

// TestGoldenPackets: one small world in the three styles, byte for byte.
func TestGoldenPackets(t *testing.T) {
	for _, style := range []packet.Style{packet.Generic, packet.Claude, packet.OpenAI} {
		list, pages := smallWorld()
		q := request()
		q.Style, q.Goal, q.Seeds, q.Role = style, "Draft a status update for Alice", []string{"Person:alice"}, "You write status updates."
		p := assemble(t, q, list, pages...)
		p.Tx = 9
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, p.AppendJSON(nil, true), "", "  "); err != nil {
			t.Fatal(err)
		}
		golden(t, style.String()+".prompt", []byte(p.SystemPrompt))
		golden(t, style.String()+".json", pretty.Bytes())
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is now\n%s\nwas\n%s", name, got, want)
	}
}
