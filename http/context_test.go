package http_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestCurlsOfContext runs the commands of the documents' pages about packets.
func TestCurlsOfContext(t *testing.T) {
	s := newShell(t)
	s.vars["TWO_HOURS_AGO"] = "1796000000000"
	s.as(s.vars["KEY_ACME"]).assert("Person:alice", "works_at", `"Company:acme"`, `"source":"hr-sync"`, `"confidence":0.95`)
	s.as(s.vars["KEY_ACME"]).assert("Person:sarah", "works_at", `"Org:acme"`, `"source":"hr-system"`)
	s.as(s.vars["KEY_ACME"]).assert("Project:atlas", "owner", `"Person:sarah"`)
	for name, command := range map[string]string{
		"reference": `curl -X POST "$ABAGRAPH_BASE_URL/api/context" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "goal": "Draft a status update for Alice", "seeds": ["Person:alice"], "token_budget": 1024, "max_pages": 4 }'`,
		"concept": `curl -X POST $ABAGRAPH_BASE_URL/api/context \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "goal": "Summarise Alice'\''s work history", "seeds": ["Person:alice"], "token_budget": 4096, "max_facts": 32, "as_of": null, "cluster_threshold": 0.85 }'`,
		"layer": `curl -X POST -H "Authorization: Bearer $TOKEN" \
  -H "Content-Type: application/json" \
  -d '{"goal":"prep for the Acme renewal call","seeds":["Org:acme"],"token_budget":1500,"style":"claude"}' \
  'https://api.abagraph.com/api/context'`,
		"guide": `curl -s -X POST "$ABAGRAPH_BASE_URL/api/context" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{ "goal": "plan the Q3 Atlas release", "seeds": ["Project:atlas"], "max_facts": 32, "token_budget": 4096 }'`,
		"first packet": `curl -s -X POST "$ABAGRAPH_BASE_URL/api/context" \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -d '{ "goal": "What does alice do professionally and who does she collaborate with?", "seeds": ["Person:alice"], "max_facts": 20, "max_pages": 4, "token_budget": 2048 }'`,
		"time pinned": `curl -s -X POST "$ABAGRAPH_BASE_URL/api/context" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d "{\"goal\":\"debug the Atlas deploy failure\",\"as_of\":$TWO_HOURS_AGO}"`,
		"seconds": `curl -s -X POST "$ABAGRAPH_BASE_URL/api/context" \
  -H "Content-Type: application/json" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -d '{"goal": "alice employment history", "seeds": ["Person:alice"], "as_of": 1749999999}'`,
		"verify": `curl -s -X POST "$ABAGRAPH_BASE_URL/api/context" \
  -H "Authorization: Bearer $ABAGRAPH_API_KEY" \
  -H "Content-Type: application/json" \
  -d '{"goal":"test","max_facts":1}'`,
	} {
		t.Run(name, func(t *testing.T) {
			p := s.curl(command).status(http.StatusOK).object()
			if p.text("kind") != "context_packet" || p.text("summary") == "" || p.text("system_prompt") == "" || len(p.text("digest")) != 64 {
				t.Errorf("the packet: %v", p)
			}
			facts, _ := p["facts"].([]any)
			corroboration, _ := p["corroboration"].([]any)
			if len(facts) != len(corroboration) {
				t.Errorf("%d facts and %d corroborations", len(facts), len(corroboration))
			}
			switch name {
			case "time pinned":
				if len(facts) != 0 {
					t.Errorf("facts of before there were any: %v", facts)
				}
			case "seconds":
				if warnings := p.text("warnings"); !strings.Contains(warnings, "looks like seconds") || !strings.Contains(warnings, "seed_not_found") {
					t.Errorf("warnings: %s", warnings)
				}
			default:
				if len(facts) == 0 {
					t.Errorf("no facts: %v", p)
				}
			}
		})
	}
}

// TestContextByGetAndPost: both say the same, under every name of a field.
func TestContextByGetAndPost(t *testing.T) {
	r := start(t, "")
	r.assert("Person:alice", "works_at", `"Company:acme"`, `"source":"hr"`)
	r.assert("Company:acme", "city", `"Berlin, Mitte"`)
	r.node.Advance(time.Second)
	get := r.get("/api/context?task=where+does+Person:alice+work&seeds=Person:alice,Company:acme&max_tokens=900&style=OpenAI&include_recent=0&role=Be+brief.&max_pages=2&as_of=2100-01-01").status(200)
	post := r.post("/api/context", `{"goal":"where does Person:alice work","seeds":["Person:alice","Company:acme"],"token_budget":900,"style":"openai","include_recent":false,"role":"Be brief.","max_pages":2,"as_of":"2100-01-01T00:00:00Z"}`).status(200)
	if get.Body != post.Body {
		t.Errorf("GET and POST differ:\n%s\n%s", get.Body, post.Body)
	}
	array := r.get(`/api/context?seeds=["Person:alice","Company:acme"]&goal=where+does+Person:alice+work&token_budget=900&style=openai&include_recent=0&role=Be+brief.&max_pages=2&as_of=2100-01-01`).status(200)
	if array.Body != get.Body {
		t.Error("seeds as an array differ")
	}
	for range 20 {
		if again := r.post("/api/context", `{"task":"where does Person:alice work","seeds":["Person:alice"]}`).status(200).Body; again != r.post("/api/context", `{"goal":"where does Person:alice work","seeds":["Person:alice"]}`).Body {
			t.Fatal("the same request has other bytes")
		}
	}
}

// TestContextCanBeMadeAgain: tx and the instant of the answer rebuild a packet of
// the present later, and its digest is that of its bytes.
func TestContextCanBeMadeAgain(t *testing.T) {
	r := start(t, "")
	r.assert("Person:alice", "works_at", `"Company:acme"`, `"source":"hr"`)
	alice := r.assert("Person:alice", "likes", `"tea"`)
	r.node.Advance(time.Second)
	const ask = `{"goal":"brief me on Person:alice","token_budget":2000`
	then := r.post("/api/context", ask+"}").status(200)
	r.node.Advance(time.Second)
	r.assert("Person:alice", "works_at", `"Company:nova"`)
	r.delete("/api/facts/" + alice.text("id")).status(200)
	r.node.Advance(time.Second)
	now := r.post("/api/context", ask+"}").status(200)
	if now.Body == then.Body || !strings.Contains(now.Body, "Company:nova") {
		t.Errorf("the present: %s", now.Body)
	}
	again := r.post("/api/context", ask+`,"tx":`+then.object().text("tx")+`,"as_of":`+then.Header.Get("X-Abagraph-Now")+"}").status(200)
	if again.Body != then.Body {
		t.Errorf("made again:\n%s\nwas\n%s", again.Body, then.Body)
	}
	content, rest, _ := strings.Cut(then.Body, `,"digest":"`)
	sum := sha256.Sum256([]byte(content + "}"))
	if want := hex.EncodeToString(sum[:]); !strings.HasPrefix(rest, want) {
		t.Errorf("the digest is %.64s, and that of the bytes %s", rest, want)
	}
}

// TestContextBadInput: the field is named, and nothing is guessed.
func TestContextBadInput(t *testing.T) {
	r := start(t, "")
	for body, field := range map[string]string{
		`{"goal":1}`:                                      "goal",
		`{"style":"yaml"}`:                                "style",
		`{"seeds":"Person:a"}`:                            "seeds",
		`{"seeds":[1]}`:                                   "seeds[0]",
		`{"seeds":[""]}`:                                  "seeds[0]",
		`{"project":" x"}`:                                "project",
		`{"max_facts":-1}`:                                "max_facts",
		`{"max_facts":1001}`:                              "max_facts",
		`{"max_pages":1.5}`:                               "max_pages",
		`{"token_budget":0}`:                              "token_budget",
		`{"token_budget":-5}`:                             "token_budget",
		`{"max_tokens":"many"}`:                           "max_tokens",
		`{"token_budget":5,"max_tokens":5}`:               "max_tokens",
		`{"goal":"a","task":"b"}`:                         "task",
		`{"cluster_threshold":1.1}`:                       "cluster_threshold",
		`{"include_recent":"yes"}`:                        "include_recent",
		`{"include_retracted":true}`:                      "include_retracted",
		`{"as_of":"yesterday"}`:                           "as_of",
		`{"tx":99999}`:                                    "tx",
		`{"tx":0,"known_at":0}`:                           "tx",
		`{"compact_model":{"model":"m"}}`:                 "compact_model.key",
		`{"compact_model":{"model":"m","key":"k","x":1}}`: "compact_model.x",
		`{"compact_model":{"model":"m","key":"k","provider":"p"}}`: "compact_model.provider",
		`{"Goal":"x"}`: "Goal",
		`{"role":"` + strings.Repeat("r", 16<<10+1) + `"}`: "role",
	} {
		if e := r.post("/api/context", body).fails(400, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%.80s: field %v, want %s (%v)", body, e["field"], field, e["message"])
		}
	}
	if e := r.post("/api/context", `{"style":"yaml"}`).fails(400, "SchemaInvalid"); !strings.Contains(e["message"].(string), "claude, openai or generic") {
		t.Errorf("an unknown style: %v", e["message"])
	}
	for query, field := range map[string]string{
		"token_budget=0": "token_budget", "max_tokens=x": "max_tokens", "goal=a&task=b": "task", "style=": "style", "seeds=%20x,%00": "seeds",
		"compact_model=%7B%7D": "compact_model", "seedz=a": "seedz", "max_facts=1001": "max_facts", "cluster_threshold=NaN": "cluster_threshold",
	} {
		if e := r.get("/api/context?"+query).fails(400, "SchemaInvalid"); e["field"] != field {
			t.Errorf("%s: field %v, want %s", query, e["field"], field)
		}
	}
	r.post("/api/context?as_of=5", `{"as_of":5}`).fails(400, "SchemaInvalid")
	r.post("/api/context?branch=none", `{}`).fails(404, "NotFound")
}
