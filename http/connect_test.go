package http_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestConnectSnippetsRun pastes the snippets of GET /api/connect into files and runs them
// as they are.
func TestConnectSnippetsRun(t *testing.T) {
	r := start(t, "", everything)
	answer := r.get("/api/connect").status(http.StatusOK).object()
	snippets, _ := answer["snippets"].(map[string]any)
	dir := t.TempDir()
	for _, name := range []string{"ts", "agent", "plugin"} {
		text, _ := snippets[name].(string)
		if !strings.Contains(text, "<YOUR_API_KEY>") || !strings.Contains(text, r.url) || strings.Contains(text, "{{") {
			t.Errorf("%s: %s", name, text)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".mjs"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	node, err := exec.LookPath("node")
	if err != nil && os.Getenv("ABAGRAPH_TEST_CLIENTS") == "" {
		return // make test installs one
	}
	const driver = `
import { createAgentMemory } from "./agent.mjs";
import { memoryPlugin } from "./plugin.mjs";
const memory = createAgentMemory({ agent: "agent-7" });
const result = await memory.turn("Where does Person:sarah work?", async (context) => ({
  result: context.system_prompt.includes("Company:acme"), facts: [{ subject: "Task:1", predicate: "status", object: "done" }] }));
console.log("turn", result);
const plugin = memoryPlugin({ agent: "agent-8" });
const context = await plugin.onSessionStart({ task: "status of Task:1", seeds: ["Task:1"] });
console.log("start", context.facts.some((f) => f.source === "agent:agent-7"));
plugin.onSessionEnd({ facts: [{ subject: "Task:2", predicate: "status", object: "open" }], content: "[[Person:sarah]] helped." });
`
	if err := os.WriteFile(filepath.Join(dir, "driver.mjs"), []byte(driver), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, run := range [][2]string{{"ts.mjs", "Company:acme"}, {"driver.mjs", "turn true\nstart true"}} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, node, run[0])
		command.Dir = dir
		out, err := command.CombinedOutput()
		if err != nil || !strings.Contains(string(out), run[1]) {
			t.Errorf("%s: %v\n%s", run[0], err, out)
		}
	}
	if got := column(r.get("/api/facts?subject=Task:2").list(), "source"); got != `"agent:agent-8"` {
		t.Errorf("written at the end of the session: %s", got)
	}
}
