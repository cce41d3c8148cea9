package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"abagraph/client"
	"abagraph/fact"
)

// told writes facts and returns the warnings of the answer.
func told(t *testing.T, p *process, from, n int) string {
	t.Helper()
	var batch client.Transact
	for i := from; i < from+n; i++ {
		batch.Asserts = append(batch.Asserts, client.Assert{
			Subject: fmt.Sprintf("Person:p%d", i), Predicate: "likes", Object: fact.TextObject(fmt.Sprintf("beverage number %d", i)),
		})
	}
	got, err := p.client().Transact(t.Context(), &batch, client.Write{})
	if err != nil || len(got.Facts) != n {
		t.Fatalf("%d facts were answered %+v, %v", n, got, err)
	}
	return strings.Join(got.Warnings, "; ")
}

// ask searches in a mode, and fails unless the best hit is the fact of a number.
func ask(t *testing.T, p *process, mode string, number int) *client.SearchAnswer {
	t.Helper()
	got, err := p.client().Search(t.Context(), client.SearchQuery{Question: fmt.Sprintf("Person:p%d likes beverage number %d", number, number), Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("Person:p%d", number); len(got.Hits) == 0 || got.Hits[0].Subject != want {
		t.Errorf("%s search for %s (really %s) answers %+v", mode, want, got.Mode, got.Hits)
	}
	return got
}

// TestSRC02ChangingTheModel is SRC-02 as it is written: a store is restarted with
// another dimension, without embeddings, and with the first again, and with
// providers that fail; nothing is lost, and every search says what it had to do
// without.
func TestSRC02ChangingTheModel(t *testing.T) {
	data := t.TempDir()
	start := func(args ...string) *process {
		return launch(t, append([]string{"--bind", "127.0.0.1:0", "--data", data}, args...)...).up()
	}
	// The job must not mend what the case is about before it is seen.
	p := start("--embedding", "hash")
	if warned := told(t, p, 0, 100); warned != "" {
		t.Errorf("a hash warns %q", warned)
	}
	for _, mode := range []string{"hybrid", "vector", "lexical"} {
		if got := ask(t, p, mode, 7); got.Mode != mode || mode != "lexical" && (got.Vectors == nil || got.Vectors.Missing != 0 || got.Vectors.Searched != 100) {
			t.Errorf("%s search: %s, %+v, %q", mode, got.Mode, got.Vectors, got.Hints)
		}
	}
	p.stop()

	p = start("--embedding", "hash", "--embedding-dim", "128")
	told(t, p, 100, 10)
	eventually(t, "every fact has a vector of the new dimension", func(ctx context.Context) bool {
		got := ask(t, p, "hybrid", 105)
		if v := got.Vectors; v == nil || v.Dim != 128 || v.Missing > 100 || v.Missing > 0 != strings.Contains(strings.Join(got.Hints, " "), "have no vector of hash (128)") {
			t.Fatalf("%+v were searched, with the warnings %q", v, got.Hints)
		}
		return got.Vectors.Missing == 0
	})
	ask(t, p, "vector", 7)
	p.stop()

	p = start("--embedding", "off")
	if warned := told(t, p, 110, 1); warned != "" {
		t.Errorf("without embeddings a write warns %q", warned)
	}
	if got := ask(t, p, "vector", 110); got.Mode != "lexical" || len(got.Hints) == 0 {
		t.Errorf("without embeddings the search is %s and warns %q", got.Mode, got.Hints)
	}
	p.stop()

	p = start("--embedding", "hash")
	if out := shellOf(t, p).object("embeddings", "run"); fmt.Sprint(out["missing"], out["facts"], out["dim"]) != "0 111 64" {
		t.Errorf("after a run: %v", out)
	}
	for _, number := range []int{7, 105, 110} {
		ask(t, p, "vector", number)
		ask(t, p, "lexical", number)
	}
	p.stop()
}

// TestSRC02FailingProviders goes on with a provider that answers an error, an empty
// vector, and nothing for a minute.
func TestSRC02FailingProviders(t *testing.T) {
	const key = "sk-marked-0123456789"
	var fault atomic.Value
	fault.Store("error")
	release := make(chan struct{})
	fake := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch fault.Load() {
		case "error":
			w.WriteHeader(http.StatusInternalServerError)
		case "empty":
			_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[]}]}`)
		case "slow":
			<-release
		}
	}))
	defer fake.Close()
	defer close(release)
	for i, kind := range []string{"error", "empty", "slow"} {
		fault.Store(kind)
		command := program(t, "serve", "--bind", "127.0.0.1:0", "--data", ":memory:", "--embedding", "http", "--embedding-base-url", fake.URL, "--outbound-allow", "127.0.0.1",
			"--embedding-timeout-ms", "300", "--embedding-dim", "4")
		command.Env = append(command.Env, "OPENAI_API_KEY="+key)
		p := launchAs(t, command).up()
		for n := range 3 {
			if warned := told(t, p, 10*i+n, 1); !strings.Contains(warned, "stored without a vector, because the embedding provider") {
				t.Errorf("%s: the write warns %q", kind, warned)
			}
		}
		if got := ask(t, p, "hybrid", 10*i+1); got.Mode != "lexical" || !strings.Contains(strings.Join(got.Hints, " "), "words alone were searched for, because the embedding provider") {
			t.Errorf("%s: the search is %s and warns %q", kind, got.Mode, got.Hints)
		}
		if out := shellOf(t, p).object("embeddings", "status"); fmt.Sprint(out["missing"], out["facts"]) != "3 3" {
			t.Errorf("%s: the state is %v", kind, out)
		}
		p.stop()
		if n := strings.Count(p.errs.String(), `"event":"abagraph.embedding.failed"`); n != 1 {
			t.Errorf("%s: the process told %d times that the provider fails: %s", kind, n, p.errs.String())
		}
		if strings.Contains(p.errs.String()+p.out.String(), key[:8]) {
			t.Errorf("%s: the process tells the key", kind)
		}
	}
}

// TestNoKeyLeavesEmbeddingsOff is F-228.
func TestNoKeyLeavesEmbeddingsOff(t *testing.T) {
	p := launch(t, "--bind", "127.0.0.1:0", "--data", ":memory:", "--embedding", "openai").up()
	if !strings.Contains(p.errs.String(), `"event":"abagraph.embedding.disabled","reason":"no_api_key"`) {
		t.Errorf("the process wrote %s", p.errs.String())
	}
	if out := shellOf(t, p).object("embeddings", "status"); out["enabled"] != false || out["provider"] != "openai" {
		t.Errorf("the state is %v", out)
	}
}

// TestThreeNodesRankAlike: vectors reach every node in the log, and each ranks by
// them to the byte as the others do, also for the past.
func TestThreeNodesRankAlike(t *testing.T) {
	var nodes []*process
	for i := range 3 {
		args := []string{"--bind", "127.0.0.1:0", "--data", ":memory:", "--peer-bind", free(t), "--node-id", fmt.Sprintf("n%d", i), "--embedding", "hash"}
		if i > 0 {
			args = append(args, "--join", nodes[0].peers)
		}
		nodes = append(nodes, launch(t, args...).up())
	}
	for i, p := range nodes {
		told(t, p, 20*i, 20)
	}
	for _, mode := range []string{"vector", "hybrid"} {
		for _, tx := range []string{"", "2"} {
			var first string
			for i, p := range nodes {
				q := client.SearchQuery{Question: "who likes beverage number 33?", Mode: mode, TopK: 20, Read: client.Read{Tx: tx, AsOf: "2100-01-01"}}
				got, err := p.client().Do(t.Context(), client.Call{Method: "GET", Path: "/api/search", Query: q.Values()})
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					first = string(got.Body)
				}
				if string(got.Body) != first || !strings.Contains(first, `"vector":0.`) {
					t.Errorf("%s search at tx %q: node %d answers\n%s, node 0\n%s", mode, tx, i, got.Body, first)
				}
			}
		}
	}
	checkStatus(t, nodes)
}
