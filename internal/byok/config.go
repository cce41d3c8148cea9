package byok

import (
	"log/slog"
	"strings"
	"unicode"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// The wire formats that models speak.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
)

// maxModel is the most bytes of a model's name.
const maxModel = 256

// Config says which model to ask, and with which key.
type Config struct {
	Provider string // Anthropic or OpenAI
	Model    string
	Endpoint string // "" = the provider's own
	Key      Key
}

// LogValue is what a log line tells of a model.
func (c *Config) LogValue() slog.Value {
	if c == nil {
		return slog.Value{}
	}
	return slog.StringValue(c.Provider + "/" + c.Model + " key=" + Redacted)
}

// Read reads a model of a body (F-373). There is no api_key or base_url: every
// other field is refused by name.
func Read(v jsonx.Value, path string) (*Config, error) {
	f := jsonx.Open(v, path)
	c := &Config{Provider: Anthropic, Key: NewKey(f.Required("key")), Model: f.Required("model")}
	if provider, ok := f.Text("provider"); ok {
		c.Provider = provider
	}
	c.Endpoint, _ = f.Text("endpoint")
	if problem := c.Key.check(); problem != "" {
		f.Fail(fact.Invalid(f.Path("key"), problem))
	}
	switch {
	case c.Model == "":
		f.Fail(fact.Invalid(f.Path("model"), "must not be empty"))
	case len(c.Model) > maxModel || strings.ContainsFunc(c.Model, unicode.IsControl):
		f.Fail(fact.Invalid(f.Path("model"), "must be at most 256 bytes without control characters"))
	case c.Provider != Anthropic && c.Provider != OpenAI:
		f.Fail(fact.Invalid(f.Path("provider"), "has no such value (anthropic or openai)"))
	}
	if err := f.Done(); err != nil {
		return nil, err
	}
	return c, nil
}
