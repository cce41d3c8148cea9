package byok

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

const secret = "sk-marked-0123456789abcdef"

// TestOBS01KeysCannotBePrinted formats, encodes and logs a key in every way that
// comes by accident.
func TestOBS01KeysCannotBePrinted(t *testing.T) {
	c := &Config{Provider: OpenAI, Model: "m", Key: NewKey(secret)}
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	logger.Info("a", "key", c.Key, "config", c, "value", *c, "nil", (*Config)(nil))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&out, verb+verb+verb, c.Key, c, *c)
	}
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out.Write(raw)
	fmt.Fprint(&out, c.Key, c, fmt.Errorf("wrapped: %v", c.Key))
	for i := 0; i+8 <= len(secret); i++ {
		if strings.Contains(out.String(), secret[i:i+8]) || strings.Contains(out.String(), fmt.Sprintf("%x", secret[i:i+8])) {
			t.Fatalf("a part of the key shows: %s", out.String())
		}
	}
	if !strings.Contains(out.String(), Redacted) || c.Key.Reveal() != secret {
		t.Error("the key is lost")
	}
}

func TestScrub(t *testing.T) {
	k := NewKey(secret)
	for text, want := range map[string]string{
		"Incorrect key " + secret + ".":         "Incorrect key ***.",
		secret + secret:                         "******",
		"it began with sk-marked- and so on":    "it began with",
		"nothing of it":                         "nothing of it",
		"the end of it was " + secret[10:] + "": "the end of it was",
	} {
		got := k.Scrub(text)
		if !strings.HasPrefix(got, want) || strings.Contains(got, secret[:8]) || strings.Contains(got, secret[len(secret)-8:]) {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := (Key{}).Scrub("abc"); got != "abc" {
		t.Errorf("without a key: %q", got)
	}
}

func TestRead(t *testing.T) {
	read := func(text string) (*Config, error) {
		v, err := jsonx.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return Read(v, "model")
	}
	c, err := read(`{"key":"k","model":"m"}`)
	if err != nil || c.Provider != Anthropic || c.Endpoint != "" || c.Model != "m" || c.Key.Reveal() != "k" {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = read(`{"key":"k","model":"m","provider":"openai","endpoint":"http://localhost:11434/v1"}`)
	if err != nil || c.Provider != OpenAI || c.Endpoint != "http://localhost:11434/v1" {
		t.Errorf("%+v, %v", c, err)
	}
	for text, field := range map[string]string{
		`{}`:                                               "model.key",
		`{"key":"k"}`:                                      "model.model",
		`{"key":"","model":"m"}`:                           "model.key",
		`{"key":" ","model":"m"}`:                          "model.key",
		`{"key":"a\nb","model":"m"}`:                       "model.key",
		`{"key":"schlüssel","model":"m"}`:                  "model.key",
		`{"key":1,"model":"m"}`:                            "model.key",
		`{"key":"k","model":""}`:                           "model.model",
		`{"key":"k","model":"a\nb"}`:                       "model.model",
		`{"key":"k","model":"m","api_key":1}`:              "model.api_key",
		`{"key":"k","model":"m","base_url":"http://x"}`:    "model.base_url",
		`{"key":"k","model":"m","provider":"OpenAI"}`:      "model.provider",
		`{"key":"k","model":"m","endpoint":["http://x/"]}`: "model.endpoint",
		`[]`: "model", `"m"`: "model",
	} {
		_, err := read(text)
		e, ok := err.(*fact.Error)
		if !ok || e.Code != fact.SchemaInvalid || e.Field != field {
			t.Errorf("%s: %v", text, err)
		}
		if err != nil && strings.Contains(err.Error(), "schl") {
			t.Errorf("the key shows: %v", err)
		}
	}
}
