package byok

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"abagraph/internal/jsonx"
)

// Redacted stands for a key wherever one is shown.
const Redacted = "***redacted***"

// Key is a secret of the caller's.
type Key struct{ secret string }

// NewKey makes a Key.
func NewKey(secret string) Key { return Key{secret} }

// Reveal gives the secret out.
func (k Key) Reveal() string { return k.secret }

// Given reports whether there is a secret.
func (k Key) Given() bool { return k.secret != "" }

// String, GoString, Format, MarshalText and LogValue keep the secret.

func (k Key) String() string { return Redacted }

// GoString is what %#v prints.
func (k Key) GoString() string { return Redacted }

// Format is what every verb of package fmt prints.
func (k Key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, Redacted) }

// MarshalText is what encoders write.
func (k Key) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// LogValue is what a log line holds.
func (k Key) LogValue() slog.Value { return slog.StringValue(Redacted) }

// Scrub takes the secret, and every part of it that is long enough to matter, out
// of a text of somebody else's.
func (k Key) Scrub(text string) string {
	const part = 8
	if k.secret == "" {
		return text
	}
	text = strings.ReplaceAll(text, k.secret, "***")
	for i := 0; i+part <= len(k.secret); i++ {
		text = strings.ReplaceAll(text, k.secret[i:i+part], "***")
	}
	return text
}

// check refuses what cannot be sent in a header.
func (k Key) check() string {
	const most = 4096
	switch {
	case k.secret == "":
		return "must not be empty"
	case len(k.secret) > most:
		return "is longer than 4,096 bytes"
	case strings.ContainsFunc(k.secret, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "may hold only printable ASCII characters, and no space"
	}
	return ""
}

// told is the least length at which a key is a secret rather than a word: an endpoint
// that wants none takes any.
const told = 12

// In reports whether an endpoint's answer tells the secret that it was sent.
func (k Key) In(v jsonx.Value) bool {
	if len(k.secret) < told {
		return false
	}
	if strings.Contains(v.Text, k.secret) || strings.Contains(v.Name, k.secret) {
		return true
	}
	for i := range v.Kids {
		if k.In(v.Kids[i]) {
			return true
		}
	}
	return false
}
