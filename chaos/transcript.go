package chaos

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Transcript makes requests of one node and takes down every answer, with what
// must differ between two runs (ids, times of now, keys, the count of txs)
// replaced by words that do not: the transcripts of two runs of the same
// requests are then equal to the byte, whichever node each ran through.
type Transcript struct {
	// Lines is what was taken down.
	Lines []string

	base   string
	web    *http.Client
	key    string
	words  map[string]string // what is replaced by what
	ids    map[string]string
	baseTx uint64
	calls  int
	name   string
	begun  time.Time
}

// Request is one request of a Transcript.
type Request struct {
	Method, Path string
	Header       map[string]string
	Body         []byte
	// NoKey sends no Authorization, Key another one than the transcript's.
	NoKey bool
	Key   string
}

// Reply is an answer as it came.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Text is a field of an answer that is a JSON object, or "".
func (r *Reply) Text(field string) string {
	var object map[string]any
	if json.Unmarshal(r.Body, &object) != nil {
		return ""
	}
	switch v := object[field].(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// Transcribe begins a transcript of a node; name is a word of this run alone,
// and of no other length than those of the other runs.
func (n *Node) Transcribe(ctx context.Context, name, key string) (*Transcript, error) {
	t := &Transcript{
		base: n.URL, key: key, name: name, ids: make(map[string]string), begun: time.Now(),
		web:   &http.Client{Transport: &http.Transport{DisableCompression: true, ExpectContinueTimeout: time.Minute}},
		words: map[string]string{name: "<run>", strings.TrimPrefix(n.URL, "http://"): "<node>"},
	}
	for {
		reply, err := t.once(ctx, Request{Method: http.MethodGet, Path: "/api/stats"})
		if err == nil && reply.Status == http.StatusOK {
			t.baseTx, err = strconv.ParseUint(reply.Header.Get("X-Abagraph-Tx"), 10, 64)
			return t, err
		}
		if !rest(ctx, pause) {
			return nil, fmt.Errorf("%s does not say at which tx it stands: %v, %w", n.Name, err, ctx.Err())
		}
	}
}

// Close gives up the connections.
func (t *Transcript) Close() { t.web.CloseIdleConnections() }

// Use sends another key from here on.
func (t *Transcript) Use(key string) { t.key = key }

// Tx is the tx that stood when the transcript began.
func (t *Transcript) Tx() uint64 { return t.baseTx }

// Do makes a request and takes down the answer. While the answer is that there
// is no leader, or that the outcome is not known, or is lost, it sends the same
// request again; each write has an Idempotency-Key, so that this is safe.
func (t *Transcript) Do(ctx context.Context, r Request) (*Reply, error) {
	t.calls++
	if r.Header == nil {
		r.Header = map[string]string{}
	}
	if _, given := r.Header["Idempotency-Key"]; !given && (r.Method == http.MethodPost || r.Method == http.MethodDelete) {
		r.Header["Idempotency-Key"] = fmt.Sprintf("%s-%d", t.name, t.calls)
	}
	for {
		reply, err := t.once(ctx, r)
		if err == nil && reply.Status != http.StatusServiceUnavailable && reply.Status != http.StatusGatewayTimeout {
			return reply, t.take(r, reply)
		}
		if !rest(ctx, pause) {
			return nil, fmt.Errorf("%s %s had no outcome: %v, %w", r.Method, r.Path, err, ctx.Err())
		}
	}
}

func (t *Transcript) open(ctx context.Context, r Request) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, t.base+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.Header {
		request.Header.Set(name, value)
	}
	key := t.key
	if r.Key != "" {
		key = r.Key
	}
	if !r.NoKey && key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	return t.web.Do(request)
}

func (t *Transcript) once(ctx context.Context, r Request) (*Reply, error) {
	response, err := t.open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return &Reply{Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

// longest is the most of one answer that is taken down as it is; of a longer one
// a digest is, too.
const longest = 8 << 10

func (t *Transcript) take(r Request, reply *Reply) error {
	path := r.Path
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded // an id may be hidden in it
	}
	t.Lines = append(t.Lines, fmt.Sprintf("%s %q", r.Method, t.plain(path)), fmt.Sprintf("  %d", reply.Status))
	for _, name := range slices.Sorted(maps.Keys(reply.Header)) {
		value := strings.Join(reply.Header[name], " | ")
		switch name {
		case "Date":
			continue
		case "Content-Length":
			// Its digits depend on the tx; what counts is that it is true.
			if value != strconv.Itoa(len(reply.Body)) && r.Method != http.MethodHead {
				return fmt.Errorf("%s %s: Content-Length is %s and the body has %d bytes", r.Method, r.Path, value, len(reply.Body))
			}
			value = "<length>"
		case "X-Abagraph-Tx":
			value = t.relative(value)
			if !judged(r, reply) {
				value = "<where the node stands>"
			}
		}
		t.Lines = append(t.Lines, "  "+name+": "+t.plain(value))
	}
	body := t.plain(shorten(reply.Body))
	if len(body) > longest {
		body = fmt.Sprintf("%s… %d bytes, %x", body[:longest], len(body), sha256.Sum256([]byte(body)))
	}
	t.Lines = append(t.Lines, "  "+body)
	return nil
}

// judged reports whether an answer was read or written at a tx. All others tell
// where the node stands, and a follower may be a little behind a write that it
// has passed on.
func judged(r Request, reply *Reply) bool {
	for _, path := range []string{"/api/session", "/api/connect", "/api/stream"} {
		if strings.HasPrefix(r.Path, path) {
			return false
		}
	}
	if r.Path == "/mcp" {
		return txs.Match(reply.Body)
	}
	return reply.Status < 300 && r.Method != http.MethodOptions || reply.Status == http.StatusConflict
}

// shorten writes each run of one letter by its length, where a body is large:
// looking for ids in megabytes of the letter x takes longer than all else.
func shorten(body []byte) string {
	if len(body) < 64<<10 {
		return string(body)
	}
	const least = 64
	var b strings.Builder
	for i := 0; i < len(body); {
		n := run(body[i:])
		if n < least {
			b.Write(body[i : i+n])
		} else {
			fmt.Fprintf(&b, "<%d times %q>", n, body[i])
		}
		i += n
	}
	return b.String()
}

// run is how often the first byte is repeated, itself included. It compares
// whole blocks with themselves moved by one, which is fast even where the race
// detector watches every byte.
func run(body []byte) int {
	const block = 4096
	n := 1
	for n+block <= len(body) && bytes.Equal(body[n-1:n-1+block], body[n:n+block]) {
		n += block
	}
	for n < len(body) && body[n] == body[0] {
		n++
	}
	return n
}

// Stream opens a stream and takes down what it tells, up to the message whose id
// is the last tx wanted, counted from where the transcript began.
func (t *Transcript) Stream(ctx context.Context, r Request, last uint64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.Method = http.MethodGet
	response, err := t.open(ctx, r)
	if err != nil {
		return fmt.Errorf("open a stream: %w", err)
	}
	defer response.Body.Close()
	t.Lines = append(t.Lines, "GET "+t.plain(r.Path), fmt.Sprintf("  %d %s", response.StatusCode, response.Header.Get("Content-Type")))
	in := bufio.NewScanner(response.Body)
	in.Buffer(nil, 64<<20)
	reached := false
	for in.Scan() {
		line := in.Text()
		if epoch, tx, found := strings.Cut(strings.TrimPrefix(line, "id: "), ":"); found && strings.HasPrefix(line, "id: ") {
			relative := t.relative(tx)
			reached = relative == fmt.Sprintf("<tx+%d>", last)
			line = "id: " + epoch + ":" + relative
		}
		t.Lines = append(t.Lines, "  "+t.plain(line))
		if reached && line == "" {
			return nil
		}
	}
	return fmt.Errorf("the stream %s ended before its last event: %w", r.Path, in.Err())
}

var (
	uuids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	moments = regexp.MustCompile(`\b\d{13}\b`)
	txs     = regexp.MustCompile(`(\\?"tx\\?":)(\d+)`) // in JSON, and in JSON within a text
	keys    = regexp.MustCompile(`\baba_[A-Za-z0-9_-]{43}`)
	cursors = regexp.MustCompile(`\b(tx|tx_gt|min_tx)=\d+`)
	spans   = regexp.MustCompile(`ms":[0-9.e+-]+`)
)

// plain replaces what differs between runs.
func (t *Transcript) plain(text string) string {
	for _, word := range slices.Sorted(maps.Keys(t.words)) {
		text = strings.ReplaceAll(text, word, t.words[word])
	}
	text = keys.ReplaceAllString(text, "<key>")
	text = uuids.ReplaceAllStringFunc(text, func(id string) string {
		if t.ids[id] == "" {
			t.ids[id] = fmt.Sprintf("<id%d>", len(t.ids)+1)
		}
		return t.ids[id]
	})
	text = moments.ReplaceAllStringFunc(text, func(ms string) string {
		n, err := strconv.ParseInt(ms, 10, 64)
		if err == nil && time.UnixMilli(n).Sub(t.begun).Abs() < time.Hour {
			return "<now>"
		}
		return ms
	})
	text = txs.ReplaceAllStringFunc(text, func(field string) string {
		parts := txs.FindStringSubmatch(field)
		return parts[1] + t.relative(parts[2])
	})
	text = cursors.ReplaceAllStringFunc(text, func(pair string) string {
		name, tx, _ := strings.Cut(pair, "=")
		return name + "=" + t.relative(tx)
	})
	return spans.ReplaceAllString(text, `ms":<span>`)
}

// relative writes a tx by its distance from where the transcript began, unless it
// is one that this run can have nothing to do with.
func (t *Transcript) relative(tx string) string {
	n, err := strconv.ParseUint(tx, 10, 64)
	if err != nil || n < t.baseTx || n > t.baseTx+1000 {
		return tx
	}
	return fmt.Sprintf("<tx+%d>", n-t.baseTx)
}

// Differ finds the first line in which two transcripts differ, with what came
// before it, or nil.
func Differ(nameA string, a *Transcript, nameB string, b *Transcript) error {
	for i := range max(len(a.Lines), len(b.Lines)) {
		lineA, lineB := "(the end)", "(the end)"
		if i < len(a.Lines) {
			lineA = a.Lines[i]
		}
		if i < len(b.Lines) {
			lineB = b.Lines[i]
		}
		if lineA != lineB {
			return fmt.Errorf("after\n%s\n%s: %s\n%s: %s", strings.Join(a.Lines[max(0, i-8):i], "\n"), nameA, clip(lineA), nameB, clip(lineB))
		}
	}
	return nil
}

func clip(line string) string {
	if len(line) > 2000 {
		return line[:2000] + "…"
	}
	return line
}
