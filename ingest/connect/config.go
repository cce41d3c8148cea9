package connect

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/ingest/mapping"
	"abagraph/ingest/records"
	"abagraph/internal/jsonx"
)

// Kind says how a connector's records come.
type Kind uint8

// The kinds: what is sent, and what is also fetched from its URL in the background.
const (
	Webhook Kind = iota
	Poll
)

var kindNames = [...]string{"webhook", "poll"}

// String returns the word that answers carry.
func (k Kind) String() string { return kindNames[k] }

var formatNames = [...]string{records.JSON: "json", records.CSV: "csv"}

// Bounds of a connector.
const (
	MaxNameBytes  = 64
	maxLabelBytes = 256
	maxURLBytes   = 2048
	maxPathBytes  = 256
)

// Connector is a source with its mapping.
type Connector struct {
	// Name is the slug, which its facts have as their source; Given is the name as
	// it was written.
	Name  string
	Given string
	Kind  Kind
	Label string
	URL   string // "" = none
	// Mapping makes facts of its records.
	Mapping *mapping.Mapping
	Format  records.Format
	// Signature is how deliveries are signed; nil = they are not.
	Signature *Signature
	Pull      Pull

	fact fact.Fact // that tells it
}

// Tenant is whose the connector is.
func (k *Connector) Tenant() string { return k.fact.Tenant }

// Signature says how deliveries are signed, and with which secret of the tenant's.
type Signature struct {
	Secret string
	Scheme Scheme
}

// Pull says how the answers of a connector's URL are read. Names with dots lead
// into objects.
type Pull struct {
	// Items is where the records lie in an answer that is an object; "" = the
	// answer is them.
	Items string
	// Next is where an answer names the next page; "" = only its Link header may.
	Next string
	// CursorField is the field of a record whose last value is sent as the query
	// parameter CursorParam with the next pull.
	CursorField string
	CursorParam string
	// Header carries a secret of the tenant's; "" = none. Prefix stands before it.
	Header string
	Prefix string
	Secret string
}

// Slug is the form of a name in which it is unique: lower-case ASCII letters, digits
// and underscores.
func Slug(name string) (string, error) {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
			continue
		}
		b.WriteByte('_')
	}
	slug := strings.Trim(squeeze(b.String()), "_")
	switch {
	case slug == "":
		return "", fact.Invalid("name", "must have ASCII letters or digits")
	case len(slug) > MaxNameBytes:
		return "", fact.Invalid("name", "is longer than "+strconv.Itoa(MaxNameBytes)+" characters")
	}
	return slug, nil
}

// squeeze leaves one underscore of several.
func squeeze(s string) string {
	for strings.Contains(s, "__") {
		s = strings.ReplaceAll(s, "__", "_")
	}
	return s
}

// Read reads a connector as it is registered or kept. The fields that every body
// may carry have been read by others.
func Read(v jsonx.Value) (*Connector, error) {
	f := jsonx.Open(v, "")
	f.Ignore("branch")
	f.Ignore("tenant")
	k := &Connector{Given: f.Required("name"), Mapping: mapping.New()}
	if f.Err() == nil {
		slug, err := Slug(k.Given)
		if err != nil {
			f.Fail(err)
		}
		k.Name = slug
	}
	k.Kind = kind(f)
	k.Format = records.Format(word(f, "format", formatNames[:]))
	k.Label, _ = f.Text("label")
	k.URL, _ = f.Text("url")
	if m, ok := f.Get("mapping"); ok {
		m, err := mapping.Read(m, "mapping")
		if err != nil {
			f.Fail(err)
		} else {
			k.Mapping = m
		}
	}
	k.Mapping.Source, k.Mapping.Most = k.Name, 1
	if v, ok := f.Any("max_confidence"); ok {
		most, err := mapping.Fraction("max_confidence", v)
		if err != nil {
			f.Fail(err)
		}
		k.Mapping.Most = most
	}
	if v, ok := f.Get("signature"); ok {
		k.Signature = readSignature(f, v)
	}
	if v, ok := f.Get("pull"); ok {
		k.readPull(f, v)
	}
	if err := f.Done(); err != nil {
		return nil, err
	}
	if k.Label == "" {
		k.Label = k.Given
	}
	return k, k.check()
}

// word reads a field that is one of some words; absent is the first.
// kind reads the kind; a connector that polls is also called one in pull mode.
func kind(f *jsonx.Fields) Kind {
	if text, _ := f.Text("kind"); strings.EqualFold(text, "pull") {
		return Poll
	}
	return Kind(word(f, "kind", kindNames[:]))
}

func word(f *jsonx.Fields, name string, words []string) int {
	text, ok := f.Text(name)
	if !ok {
		return 0
	}
	i := slices.Index(words, strings.ToLower(text))
	if i < 0 {
		f.Fail(fact.Invalid(f.Path(name), "has no such value ("+strings.Join(words, " or ")+")"))
		return 0
	}
	return i
}

func readSignature(f *jsonx.Fields, v jsonx.Value) *Signature {
	g := jsonx.Open(v, "signature")
	s := &Signature{Secret: g.Required("secret"), Scheme: Scheme(word(g, "scheme", schemeNames[:]))}
	if err := g.Done(); err != nil {
		f.Fail(err)
	}
	return s
}

func (k *Connector) readPull(f *jsonx.Fields, v jsonx.Value) {
	g := jsonx.Open(v, "pull")
	k.Pull.Items, _ = g.Text("items")
	k.Pull.Next, _ = g.Text("next")
	if c, ok := g.Get("cursor"); ok {
		h := jsonx.Open(c, "pull.cursor")
		k.Pull.CursorField, k.Pull.CursorParam = h.Required("field"), h.Required("param")
		if err := h.Done(); err != nil {
			g.Fail(err)
		}
	}
	if c, ok := g.Get("auth"); ok {
		h := jsonx.Open(c, "pull.auth")
		k.Pull.Secret, k.Pull.Header = h.Required("secret"), "Authorization"
		if text, ok := h.Text("header"); ok {
			k.Pull.Header = text
		}
		k.Pull.Prefix, _ = h.Text("prefix")
		if _, given := h.Any("header"); !given && k.Pull.Prefix == "" {
			k.Pull.Prefix = "Bearer "
		}
		if err := h.Done(); err != nil {
			g.Fail(err)
		}
	}
	if err := g.Done(); err != nil {
		f.Fail(err)
	}
}

// check refuses what no connector can be. Whether its URL may be called is the
// guard's to say.
func (k *Connector) check() error {
	switch {
	case len(k.Label) > maxLabelBytes:
		return fact.Invalid("label", "is longer than "+strconv.Itoa(maxLabelBytes)+" bytes")
	case k.Kind == Poll && k.URL == "":
		return fact.Invalid("url", "is required for a connector of kind poll")
	case len(k.URL) > maxURLBytes:
		return fact.Invalid("url", "is longer than "+strconv.Itoa(maxURLBytes)+" bytes")
	case k.Pull != Pull{} && k.URL == "":
		return fact.Invalid("pull", "needs a url")
	case k.Format == records.CSV && (k.Pull.Items != "" || k.Pull.Next != ""):
		return fact.Invalid("pull", "has items or next, which are for JSON")
	case !headerName(k.Pull.Header):
		return fact.Invalid("pull.auth.header", "is no name of a header that may be set")
	case strings.ContainsAny(k.Pull.Prefix, "\r\n\x00") || len(k.Pull.Prefix) > maxPathBytes:
		return fact.Invalid("pull.auth.prefix", "cannot stand in a header")
	}
	for _, path := range [...][2]string{
		{"pull.items", k.Pull.Items}, {"pull.next", k.Pull.Next}, {"pull.cursor.field", k.Pull.CursorField}, {"pull.cursor.param", k.Pull.CursorParam},
	} {
		if len(path[1]) > maxPathBytes {
			return fact.Invalid(path[0], "is longer than "+strconv.Itoa(maxPathBytes)+" bytes")
		}
	}
	return k.checkURL()
}

// secretNames are parameters that are nothing but a key.
var secretNames = []string{"api_key", "apikey", "key", "token", "access_token", "auth", "secret", "password", "sig", "signature"}

// checkURL refuses an address that holds a secret: it would stand in the log, and be
// shown to everyone who may list connectors.
func (k *Connector) checkURL() error {
	if k.URL == "" {
		return nil
	}
	u, err := url.Parse(k.URL)
	if err != nil {
		return fact.Invalid("url", "is not a URL")
	}
	if u.User != nil {
		return fact.Invalid("url", "may hold no user or password: name a secret in pull.auth")
	}
	if u.Fragment != "" {
		return fact.Invalid("url", "may hold no fragment")
	}
	for _, pair := range strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if slices.Contains(secretNames, strings.ToLower(name)) {
			return fact.Invalid("url", "may hold no secret, as its parameter "+name+" seems to be: name a secret in pull.auth")
		}
	}
	return nil
}

// ownHeaders are set by the server and by nobody else.
var ownHeaders = []string{"host", "content-length", "transfer-encoding", "connection", "user-agent", "accept", "if-none-match", "if-modified-since", "te", "upgrade", "trailer"}

func headerName(name string) bool {
	if name == "" {
		return true
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return len(name) <= 64 && !slices.Contains(ownHeaders, strings.ToLower(name))
}
