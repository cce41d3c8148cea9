package http_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"abagraph/http/openapi"
)

const answersFolder = "openapi/spec/answers"

// TestExamples runs the example of every route, each against a server of its own, and
// holds the answer to the one that is published. ABAGRAPH_WRITE_EXAMPLES=1 writes the
// answers anew.
func TestExamples(t *testing.T) {
	anew := os.Getenv("ABAGRAPH_WRITE_EXAMPLES") != ""
	answers := map[string]*openapi.Map{}
	for _, o := range described(t).document.Operations {
		switch {
		case o.Example == nil && o.NoExample == "" && answersJSON(o):
			t.Errorf("http/openapi/spec/%s: %s has no example: add one (example: {before, path, query, body}), or say in no_example why there is none", o.File(), o.Key())
			continue
		case o.Example == nil, regexp.MustCompile(`[2-9]$`).MatchString(o.ID): // the same under another path
			continue
		}
		status, answer := runExample(t, o)
		if answers[o.File()] == nil {
			answers[o.File()] = openapi.NewMap()
		}
		answers[o.File()].Set(o.Key(), openapi.NewMap("status", json.Number(fmt.Sprint(status)), "answer", answer))
		if anew {
			continue
		}
		got, _ := openapi.Encode(answers[o.File()].Get(o.Key()))
		want, _ := openapi.Encode(o.Told)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: its example is answered otherwise than published. If that is meant: ABAGRAPH_WRITE_EXAMPLES=1 go test ./http -run TestExamples\n%s\npublished\n%s", o.Key(), got, want)
		}
	}
	if !anew {
		return
	}
	for file, list := range answers {
		text, err := openapi.Encode(list)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, text, "", " "); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
		if err := os.WriteFile(filepath.Join(answersFolder, strings.TrimSuffix(file, ".yaml")+".json"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func answersJSON(o *openapi.Operation) bool {
	return slices.ContainsFunc(o.Answers, func(a openapi.Answer) bool { return a.Schema != nil && a.Type == "application/json" })
}

// runExample sends what comes before, and then the example. {id} in its path or body is
// the id of the last answer before.
func runExample(t *testing.T, o *openapi.Operation) (int, any) {
	t.Helper()
	got := sendExample(t, o, o.ExampleTarget())
	if got.Status >= 300 {
		t.Errorf("%s: the example is answered %d %s", o.Key(), got.Status, got.Body)
		return got.Status, nil
	}
	m, err := openapi.ParseJSON([]byte(`{"answer":` + steady(got.Body) + `}`))
	if err != nil {
		t.Errorf("%s: %v: %s", o.Key(), err, got.Body)
		return got.Status, nil
	}
	return got.Status, settled(m.Get("answer"), instants(m.Get("answer")))
}

// sendExample sends what comes before the example, and then its body to target, on a
// server of its own.
func sendExample(t *testing.T, o *openapi.Operation, target string) *reply {
	t.Helper()
	r := start(t, "", everything)
	id := ""
	before, _ := o.Example.Get("before").([]any)
	for _, line := range before {
		method, rest, _ := strings.Cut(fmt.Sprint(line), " ")
		path, body, _ := strings.Cut(rest, " ")
		got := r.do(method, path, body)
		if got.Status >= 300 {
			t.Fatalf("%s: before the example, %s: %d %s", o.Key(), line, got.Status, got.Body)
		}
		var made struct{ ID string }
		if json.Unmarshal([]byte(got.Body), &made) == nil {
			id = made.ID
		}
		r.node.Advance(time.Second) // nothing happens at the same time
	}
	in := strings.NewReplacer("{id}", id)
	return r.do(o.Method, in.Replace(target), in.Replace(o.ExampleBody()))
}

var (
	anID     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	aSecret  = regexp.MustCompile(`aba_[A-Za-z0-9_-]+`)
	aHash    = regexp.MustCompile(`[0-9a-f]{64}`)
	newYear  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	hostPort = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`)
)

// steady replaces in an answer what is another one each time.
func steady(text string) string {
	var seen []string
	text = anID.ReplaceAllStringFunc(text, func(id string) string {
		i := slices.Index(seen, id)
		if i < 0 {
			i = len(seen)
			seen = append(seen, id)
		}
		return fmt.Sprintf("01900000-0000-7000-8000-%012d", i+1)
	})
	text = aSecret.ReplaceAllString(text, "aba_…")
	text = aHash.ReplaceAllString(text, strings.Repeat("0", 64))
	text = hostPort.ReplaceAllString(text, "https://memory.example")
	return strings.ReplaceAll(text, time.Now().UTC().Format(time.DateOnly), newYear.Format(time.DateOnly))
}

// instants returns the earliest of the instants around now that an answer holds.
func instants(v any) int64 {
	first := int64(math.MaxInt64)
	visit(v, func(n json.Number) {
		if at, ok := nearNow(n); ok {
			first = min(first, at)
		}
	})
	return first
}

func nearNow(n json.Number) (int64, bool) {
	at, err := n.Int64()
	const days = 3 * 24 * 3600 * 1000
	now := time.Now().UnixMilli()
	return at, err == nil && at > now-days && at < now+days
}

func visit(v any, f func(json.Number)) {
	switch v := v.(type) {
	case *openapi.Map:
		for _, key := range v.Keys {
			visit(v.Get(key), f)
		}
	case []any:
		for _, kid := range v {
			visit(kid, f)
		}
	case json.Number:
		f(v)
	}
}

// settled puts the instants of an answer on a day that does not move, and rounds what a
// machine may compute a little otherwise.
func settled(v any, first int64) any {
	switch v := v.(type) {
	case *openapi.Map:
		out := openapi.NewMap()
		for _, key := range v.Keys {
			out.Set(key, settled(v.Get(key), first))
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, kid := range v {
			out = append(out, settled(kid, first))
		}
		return out
	case json.Number:
		const step = 10_000
		if at, ok := nearNow(v); ok {
			return json.Number(fmt.Sprint(newYear.UnixMilli() + (at-first+step/2)/step*step))
		}
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return json.Number(fmt.Sprint(math.Round(f*1000) / 1000))
		}
	}
	return v
}
