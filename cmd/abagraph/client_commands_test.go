package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestDocumentedWalkthrough(t *testing.T) {
	r := serving(t, "secret-key")
	delete(r.env, "ABAGRAPH_URL")

	if got := r.fails("query"); got != "No abagraph URL configured. Run `abagraph init --url <URL>` or set ABAGRAPH_URL." {
		t.Errorf("without a URL it said %q", got)
	}
	out := r.ok("init", "--url", r.url+"/", "--key", "secret-key")
	lines := strings.Split(out, "\n")
	if lines[0] != "Wrote ~/.abagraph.json" || lines[1] != "Health: OK" || lines[2] != "REST: "+r.url+"/api" ||
		!strings.HasPrefix(lines[3], "MCP: ") || lines[4] != "Stream: "+r.url+"/api/stream" {
		t.Errorf("init wrote %q", out)
	}
	info, err := os.Stat(r.home + "/.abagraph.json")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}

	fact := r.object("assert", "user:alice", "prefers", "dark-mode")
	if fact["object"] != "dark-mode" || fact["status"] != "active" || fact["valid_until"] != nil || fact["confidence"] != 1.0 {
		t.Errorf("assert wrote %v", fact)
	}
	out = r.ok("query", "--subject", "user:alice", "--limit", "5")
	if !strings.HasPrefix(out, "[\n  {\n    \"id\": \""+fact["id"].(string)+"\",\n") {
		t.Errorf("query wrote %s", out)
	}
	r.ok("assert", "user:alice", "prefers", "light-mode")
	history := r.object("history", fact["id"].(string))
	if len(history["timeline"].([]any)) != 2 || len(history["versions"].([]any)) != 2 {
		t.Errorf("history wrote %v", history)
	}
	history = r.object("history", "--limit", "1", fact["id"].(string))
	if len(history["timeline"].([]any)) != 1 || len(history["versions"].([]any)) != 1 || len(history["warnings"].([]any)) != 2 {
		t.Errorf("history with a limit wrote %v", history)
	}
	if got := r.object("retract", fact["id"].(string)); got["ok"] != true {
		t.Errorf("retract wrote %v", got)
	}
	if got := r.fails("retract", "018f0000-0000-7000-8000-000000000000"); !strings.HasPrefix(got, "NotFound: ") {
		t.Errorf("said %q", got)
	}
	if got := r.fails("assert", " x", "p", "o"); !strings.HasPrefix(got, "SchemaInvalid: subject ") {
		t.Errorf("said %q", got)
	}
	if stats := r.object("stats"); stats["facts"].(map[string]any)["total"] != 2.0 {
		t.Errorf("stats wrote %v", stats)
	}
	if status := r.object("status"); status["ready"] != true || status["tx"] != 3.0 {
		t.Errorf("status wrote %v", status)
	}
	var snippets map[string]any
	if out := r.ok("connect"); json.Unmarshal([]byte(out), &snippets) != nil || strings.Contains(out, "secret-key") || snippets["curl"] == nil {
		t.Errorf("connect wrote %s", out)
	}
}

func TestPrecedenceIsFlagEnvironmentFile(t *testing.T) {
	r := serving(t, "right")
	r.ok("init", "--key", "right")
	r.env["ABAGRAPH_KEY"] = "wrong"
	if got := r.fails("stats"); !strings.HasPrefix(got, "NotFound: ") {
		t.Errorf("the environment's key was not used: %q", got)
	}
	r.ok("stats", "--key", "right")
	r.ok("--key", "right", "stats")
	delete(r.env, "ABAGRAPH_KEY")
	r.env["ABAGRAPH_TOKEN"] = "wrong"
	r.env["ABAGRAPH_API_KEY"] = "right"
	r.ok("stats")
	delete(r.env, "ABAGRAPH_API_KEY")
	delete(r.env, "ABAGRAPH_TOKEN")
	delete(r.env, "ABAGRAPH_URL")
	r.env["ABAGRAPH_BASE_URL"] = r.url
	r.ok("stats") // the key of the file
	r.file(".abagraph.json", "{not json")
	if got := r.fails("stats"); !strings.Contains(got, "no key is set") {
		t.Errorf("a malformed file: %q", got)
	}
	delete(r.env, "ABAGRAPH_BASE_URL")
	if got := r.fails("stats"); !strings.HasPrefix(got, "No abagraph URL configured.") {
		t.Errorf("a malformed file: %q", got)
	}
}

func TestAssertFlags(t *testing.T) {
	r := serving(t, "")
	got := r.object("assert", "a", "p", "1.50", "--number", "--source", "s", "--confidence", "0.8", "--valid-from", "2020-01-01",
		"--valid-until", "2021-01-01T00:00:00Z", "--policy", "coexist", "--properties", `{"k":[1]}`, "--transient")
	for field, want := range map[string]any{
		"object": 1.5, "source": "s", "confidence": 0.8, "valid_from": 1577836800000.0, "valid_until": 1609459200000.0, "policy": "coexist", "transient": true,
	} {
		if got[field] != want {
			t.Errorf("%s is %v, want %v", field, got[field], want)
		}
	}
	if out := r.ok("assert", "a", "q", "--number", "--", "-9007199254740993"); !strings.Contains(out, `"object": -9007199254740993,`) {
		t.Errorf("a large number became %s", out)
	}
	if got := r.object("assert", "a", "text", "true"); got["object"] != "true" {
		t.Errorf("text became %v", got["object"])
	}
	if got := r.object("assert", "a", "bool", "true", "--bool"); got["object"] != true {
		t.Errorf("a bool became %v", got["object"])
	}
	if got := r.object("assert", "a", "null", "null", "--null"); got["object"] != nil {
		t.Errorf("null became %v", got["object"])
	}
	if got := r.object("assert", "a", "blob", `{"hash":"`+strings.Repeat("ab", 32)+`","size":3}`, "--json-object"); got["object"].(map[string]any)["size"] != 3.0 {
		t.Errorf("a blob became %v", got["object"])
	}
	for want, args := range map[string][]string{
		"OBJECT is missing":            {"assert", "a", "b"},
		"too many arguments":           {"assert", "a", "b", "c", "d"},
		"OBJECT is not a number":       {"assert", "a", "b", "c", "--number"},
		"--confidence must be":         {"assert", "a", "b", "c", "--confidence", "NaN"},
		"--properties must be":         {"assert", "a", "b", "c", "--properties", "{"},
		"SchemaInvalid: confidence":    {"assert", "a", "b", "c", "--confidence", "2"},
		"unknown flag: --confidense":   {"assert", "a", "b", "c", "--confidense", "1"},
		"none of the others can be":    {"assert", "a", "b", "1", "--number", "--bool"},
		"unknown command \"asert\"":    {"asert", "a", "b", "c"},
		"unknown command \"asrt\"":     {"help", "asrt"},
		"unknown command \"ops nope\"": {"help", "ops", "nope"},
		"unknown command \"tcsh\"":     {"completion", "tcsh"},
		"the base URL must be like":    {"query", "--url", "nonsense"},
		"OBJECT is not valid JSON":     {"assert", "a", "b", "x", "--json-object"},
		"valid_until":                  {"assert", "a", "b", "c", "--valid-from", "2020-01-02", "--valid-until", "2020-01-01"},
		"SchemaInvalid: valid_from is": {"assert", "a", "b", "c", "--valid-from", "yesterday"},
	} {
		if got := r.fails(args...); !strings.Contains(got, want) {
			t.Errorf("abagraph %s said %q, want %q", strings.Join(args, " "), got, want)
		}
	}
}

func TestTransactReadsFileAndStandardInput(t *testing.T) {
	r := serving(t, "")
	body := `{"compares":[{"subject":"Job:1","predicate":"owner","absent":true}],"asserts":[{"subject":"Job:1","predicate":"owner","object":"me"}]}`
	r.in = body
	first := r.object("transact", "-", "--idempotency-key", "k1")
	again := r.object("transact", r.file("body.json", body), "--idempotency-key", "k1")
	if first["tx"] != again["tx"] || len(again["facts"].([]any)) != 1 {
		t.Errorf("the same key wrote %v, then %v", first, again)
	}
	if got := r.fails("transact", r.file("body.json", body)); !strings.HasPrefix(got, "CompareFailed: ") {
		t.Errorf("said %q", got)
	}
	if got := r.fails("transact", r.home+"/none"); !strings.Contains(got, "no such file") {
		t.Errorf("said %q", got)
	}
}

func TestTablesWhereAPersonReads(t *testing.T) {
	r := serving(t, "")
	r.ok("assert", "Person:alice", "works_at", "Company:\x1b[31macme\nx", "--valid-from", "2020-01-01", "--source", strings.Repeat("long ", 40))
	r.terminal = true
	out := r.ok("query", "--subject", "Person:alice")
	if !strings.Contains(out, "SUBJECT") || !strings.Contains(out, "2020-01-01") || strings.Contains(out, "\x1b") || !strings.Contains(out, "1 fact\n") {
		t.Errorf("query wrote %q", out)
	}
	for _, line := range strings.Split(out, "\n") {
		if len([]rune(line)) > 140 {
			t.Errorf("a line of %d columns: %q", len([]rune(line)), line)
		}
	}
	if out := r.ok("query", "--json"); !strings.HasPrefix(out, "[\n  {") {
		t.Errorf("--json wrote %q", out)
	}
	if out := r.ok("query", "--subject", "nobody"); out != "no facts\n" {
		t.Errorf("an empty list is %q", out)
	}
	if out := r.ok("stats"); !strings.Contains(out, "active") {
		t.Errorf("stats wrote %q", out)
	}
	if out := r.ok("version"); !strings.HasPrefix(out, "abagraph "+version) {
		t.Errorf("version wrote %q", out)
	}
}

func TestHelpAndCompletion(t *testing.T) {
	r := shell(t)
	for _, args := range [][]string{{"help"}, {"--help"}, {}} {
		out := r.ok(args...)
		for _, command := range []string{"serve", "init", "assert", "query", "retract", "transact", "history", "stream", "import", "export", "stats",
			"status", "connect", "config", "version", "completion", "--url", "--key"} {
			if !strings.Contains(out, command) {
				t.Errorf("%v does not name %s", args, command)
			}
		}
	}
	for _, kind := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := r.ok("completion", kind); !strings.Contains(out, "abagraph") {
			t.Errorf("completion %s wrote %d bytes", kind, len(out))
		}
	}
}

func TestStreamReplaysAndStops(t *testing.T) {
	r := serving(t, "")
	id := r.object("assert", "a", "p", "1")["id"].(string)
	r.ok("assert", "a", "p", "2")
	r.ok("retract", id)
	out := r.ok("stream", "--tx-gt", "0", "--count", "3")
	var ops []string
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var event struct {
			Op string
			Tx int
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatal(err)
		}
		ops = append(ops, event.Op)
	}
	if strings.Join(ops, " ") != "assert assert retract" {
		t.Errorf("saw %v", ops)
	}
	if out := r.ok("stream", "--last-event-id", "another:1", "--count", "1"); !strings.HasPrefix(out, `{"op":"resync","id":"`+r.object("status")["epoch"].(string)+`:`) || !strings.Contains(out, `"code":"EpochChanged","message":"the cursor is of epoch another, `) {
		t.Errorf("another epoch wrote %q", out)
	}
}
