package models_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/internal/byok"
	"abagraph/internal/jsonx"
	"abagraph/internal/models"
	"abagraph/internal/models/standin"
	"abagraph/internal/outbound"
)

const secret = "sk-marked-4e1f77aa90"

var wires = []string{"anthropic", "openai"}

var question = models.Question{System: "Say yes.", Text: "Well?", Name: "answer", Schema: `{"type":"object","properties":{"yes":{"type":"boolean"}},"required":["yes"],"additionalProperties":false}`}

func newClient(t *testing.T, o models.Options) *models.Client {
	t.Helper()
	guard, err := outbound.New(outbound.Options{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(guard.Close)
	o.Guard = guard
	if o.Sleep == nil {
		o.Sleep = func(context.Context, time.Duration) error { return nil }
	}
	return models.New(o)
}

func config(t *testing.T, s *standin.Server, wire string) *byok.Config {
	t.Helper()
	v, err := jsonx.Parse([]byte(s.Config(wire, secret)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := byok.Read(v, "model")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// yes takes an answer as a caller does.
func yes(a *models.Answer) error {
	f := jsonx.Open(a.Value, "")
	if _, ok := f.Get("yes"); !ok {
		f.Fail(fact.Invalid("yes", "is required"))
	}
	f.Flag("yes")
	return f.Done()
}

func TestBothWireFormats(t *testing.T) {
	s := standin.New(t, func(standin.Call) standin.Reply { return standin.Reply{JSON: `{"yes":true}`} })
	c := newClient(t, models.Options{})
	for _, wire := range wires {
		var got models.Answer
		err := c.Ask(t.Context(), "a", config(t, s, wire), &question, func(a *models.Answer) error { got = *a; return yes(a) })
		if err != nil || got.TokensIn != 1 || got.TokensOut != 3 {
			t.Errorf("%s: %+v, %v", wire, got, err)
		}
	}
	for i, call := range s.Calls() {
		if call.Wire != wires[i] || call.Key != secret || call.Model != "stand-in" || !strings.HasPrefix(call.System, "Say yes.") || call.Text != "Well?" ||
			call.Name != "answer" || !strings.Contains(call.Schema, `"required"`) {
			t.Errorf("call %d: %+v", i, call)
		}
	}
}

// TestOBS01ModelFailuresTellNoKey goes through everything that a model can do
// wrong: each failure is told in plain words, tried as often as that may help, and
// holds neither the key nor what the endpoint said.
func TestOBS01ModelFailuresTellNoKey(t *testing.T) {
	for name, c := range map[string]struct {
		reply standin.Reply
		calls int
		code  fact.Code
		says  string
	}{
		"a wrong key":           {standin.Reply{Status: 401}, 1, fact.SchemaInvalid, "answered 401 (invalid_request_error)"},
		"a forbidden key":       {standin.Reply{Status: 403}, 1, fact.SchemaInvalid, "answered 403"},
		"no such model":         {standin.Reply{Status: 404}, 1, fact.SchemaInvalid, "answered 404"},
		"a redirect":            {standin.Reply{Status: 307, Headers: map[string]string{"Location": "http://127.0.0.1:1/"}}, 1, fact.SchemaInvalid, "redirects are not followed"},
		"too many calls":        {standin.Reply{Status: 429}, 3, fact.RateLimited, "answered 429"},
		"a broken server":       {standin.Reply{Status: 500}, 3, fact.Closed, "answered 500"},
		"an overloaded server":  {standin.Reply{Status: 529}, 3, fact.Closed, "answered 529"},
		"cut off in mid-JSON":   {standin.Reply{JSON: `{"yes":true}`, Cut: 60}, 3, fact.Closed, "could not be reached"},
		"cut off by its length": {standin.Reply{JSON: `{}`, Length: true}, 3, fact.Closed, "cut off in the middle"},
		"half an object":        {standin.Reply{Text: `{"yes":tr`}, 3, fact.Closed, "no"},
		"prose":                 {standin.Reply{Text: "I would rather not say " + secret}, 3, fact.Closed, "answer"},
		"another form":          {standin.Reply{JSON: `{"no":false,"` + secret + `":1}`}, 3, fact.Closed, "did not answer what it was asked for"},
		"the wrong type":        {standin.Reply{JSON: `{"yes":"` + secret + `"}`}, 3, fact.Closed, "must be a boolean"},
		"a key twice":           {standin.Reply{JSON: `{"yes":true,"yes":false}`}, 3, fact.Closed, "JSON"},
		"a flood":               {standin.Reply{Flood: true}, 3, fact.Closed, "answered more than"},
		"too long to wait":      {standin.Reply{Status: 429, Headers: map[string]string{"Retry-After": "3000"}}, 1, fact.RateLimited, "answered 429"},
		"no answer":             {standin.Reply{Hang: true}, 3, fact.Timeout, "did not answer in time"},
	} {
		for _, wire := range wires {
			t.Run(name+", "+wire, func(t *testing.T) {
				t.Parallel()
				s := standin.New(t, func(standin.Call) standin.Reply { return c.reply })
				limit := 10 * time.Second
				if c.reply.Hang {
					limit = 30 * time.Millisecond
				}
				client := newClient(t, models.Options{Time: limit})
				err := models.AsError("model", client.Ask(t.Context(), "a", config(t, s, wire), &question, yes))
				var e *fact.Error
				if !errors.As(err, &e) || e.Code != c.code || e.Field != "model" || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v (%s)", err, fact.CodeOf(err))
				}
				if err != nil && strings.Contains(err.Error(), secret[:8]) {
					t.Errorf("the key shows: %v", err)
				}
				if got := len(s.Calls()); got != c.calls && !(c.reply.Hang && got < c.calls) {
					t.Errorf("%d calls, not %d", got, c.calls)
				}
			})
		}
	}
}

func TestAFailedAttemptIsTriedAgain(t *testing.T) {
	var slept []time.Duration
	c := newClient(t, models.Options{Jitter: func() float64 { return 1 }, Sleep: func(_ context.Context, d time.Duration) error {
		slept = append(slept, d)
		return nil
	}})
	for _, wire := range wires {
		slept = nil
		s := standin.New(t, func(c standin.Call) standin.Reply {
			switch c.N {
			case 1:
				return standin.Reply{Status: 503, Headers: map[string]string{"Retry-After": "2"}}
			case 2:
				return standin.Reply{JSON: `{}`}
			}
			return standin.Reply{JSON: `{"yes":true}`}
		})
		if err := c.Ask(t.Context(), "a", config(t, s, wire), &question, yes); err != nil || len(s.Calls()) != 3 {
			t.Errorf("%s: %v after %d calls", wire, err, len(s.Calls()))
		}
		if fmt.Sprint(slept) != "[2s 2s]" {
			t.Errorf("%s: slept %v", wire, slept)
		}
	}
}

// TestEndpointsWithoutSchemas asks once more without a schema where a compatible
// endpoint knows none, and takes the answer out of its fence.
func TestEndpointsWithoutSchemas(t *testing.T) {
	s := standin.New(t, func(c standin.Call) standin.Reply {
		if c.Name != "" {
			return standin.Reply{Status: 400}
		}
		return standin.Reply{Text: "```json\n{\"yes\":true}\n```"}
	})
	if err := newClient(t, models.Options{}).Ask(t.Context(), "a", config(t, s, "openai"), &question, yes); err != nil || len(s.Calls()) != 2 {
		t.Errorf("%v after %d calls", err, len(s.Calls()))
	}
	if !strings.Contains(s.Calls()[1].System, question.Schema) {
		t.Error("the schema is not told in words")
	}
}

// TestSSR01ModelEndpoints holds the endpoints that callers name to the guard.
func TestSSR01ModelEndpoints(t *testing.T) {
	guard, err := outbound.New(outbound.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := models.New(models.Options{Guard: guard})
	s := standin.New(t, func(standin.Call) standin.Reply { t.Error("a private endpoint was asked"); return standin.Reply{} })
	for _, endpoint := range []string{s.URL, "http://localhost:11434/v1", "http://169.254.169.254/v1", "http://[::ffff:169.254.169.254]/", "file:///etc/passwd", "http://u:p@example.com/", "https://example.com/v1?key=1"} {
		m := &byok.Config{Provider: byok.OpenAI, Model: "m", Key: byok.NewKey(secret), Endpoint: endpoint}
		var e *fact.Error
		if err := c.Check("model", m); !errors.As(err, &e) || e.Code != fact.SchemaInvalid || e.Field != "model.endpoint" {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	// And where the connection is made.
	m := &byok.Config{Provider: byok.OpenAI, Model: "m", Key: byok.NewKey(secret), Endpoint: s.URL}
	if err := models.AsError("model", c.Ask(t.Context(), "a", m, &question, yes)); fact.CodeOf(err) != fact.SchemaInvalid {
		t.Errorf("asking: %v", err)
	}
}

// TestAHangingModelHoldsUpNoOtherTenant fills one tenant's places with calls that
// never end: another's call goes through at once, and the places come back when
// the callers give up.
func TestAHangingModelHoldsUpNoOtherTenant(t *testing.T) {
	s := standin.New(t, func(c standin.Call) standin.Reply {
		if c.Text == "hang" {
			return standin.Reply{Hang: true}
		}
		return standin.Reply{JSON: `{"yes":true}`}
	})
	c := newClient(t, models.Options{PerTenant: 2, Total: 8})
	hanging := question
	hanging.Text = "hang"
	ctx, cancel := context.WithCancel(t.Context())
	const calls, places, waiting = 200, 2, 64
	done := make(chan error, calls)
	for range calls {
		go func() { done <- c.Ask(ctx, "a", config(t, s, "openai"), &hanging, yes) }()
	}
	for range calls - places - waiting { // beyond its bound the tenant is refused at once
		if err := <-done; fact.CodeOf(err) != fact.RateLimited {
			t.Errorf("a call too many: %v", err)
		}
	}
	if err := c.Ask(t.Context(), "b", config(t, s, "openai"), &question, yes); err != nil {
		t.Errorf("the other tenant: %v", err)
	}
	for len(s.Calls()) < places+1 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	for range places + waiting {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a call that was given up: %v", err)
		}
	}
	if err := c.Ask(t.Context(), "a", config(t, s, "openai"), &question, yes); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	if got := len(s.Calls()); got != 4 {
		t.Errorf("%d calls were made", got)
	}
}

// TestING05DeepAnswers refuses an answer that is nested without end.
func TestING05DeepAnswers(t *testing.T) {
	deep := `{"yes":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`
	s := standin.New(t, func(standin.Call) standin.Reply { return standin.Reply{JSON: deep} })
	for _, wire := range wires {
		if err := newClient(t, models.Options{}).Ask(t.Context(), "a", config(t, s, wire), &question, yes); err == nil {
			t.Errorf("%s took it", wire)
		}
	}
}
