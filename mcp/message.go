package mcp

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"abagraph/internal/jsonx"
)

// The versions of the protocol that are spoken, newest first.
const (
	version20260728 = "2026-07-28"
	version20251125 = "2025-11-25"
	version20250618 = "2025-06-18"
)

// Versions lists the versions of the protocol that are spoken, newest first.
func Versions() []string { return []string{version20260728, version20251125, version20250618} }

// metaVersion is where a message of the newest protocol says which one it is of.
const metaVersion = "io.modelcontextprotocol/protocolVersion"

// JSON-RPC error codes, and the protocol's own for an unknown version.
const (
	codeParse              = -32700
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeServer             = -32000
	codeUnsupportedVersion = -32022
)

// methods are the requests that are answered. What the SDK could do besides
// needs a connection that outlives a request, or asks the client.
var methods = []string{
	"initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "resources/templates/list",
	"resources/read", "prompts/list", "prompts/get", "completion/complete",
}

// maxIDBytes bounds the id of a message, which is sent back.
const maxIDBytes = 256

// message is one JSON-RPC message, read strictly.
type message struct {
	id     string // as it was written; "" = a notification
	method string
	params jsonx.Value
	// response marks an answer to something that was never asked.
	response bool
}

// problem is a message that cannot be accepted, as JSON-RPC tells it.
type problem struct {
	id      string // "" = not known
	code    int
	message string
	data    string // JSON, or ""
}

// appendProblem appends the error response of a problem.
func appendProblem(b []byte, p *problem) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	if p.id == "" {
		b = append(b, "null"...)
	} else {
		b = append(b, p.id...)
	}
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(p.code), 10)
	b = append(b, `,"message":`...)
	b = jsonx.AppendString(b, p.message)
	if p.data != "" {
		b = append(append(b, `,"data":`...), p.data...)
	}
	return append(b, '}', '}')
}

// readMessage reads the one message of a body.
func readMessage(body []byte) (message, *problem) {
	v, err := jsonx.Parse(body)
	if err != nil {
		return message{}, &problem{code: codeParse, message: "the message is not JSON as it must be: " + err.Error()}
	}
	if v.Kind == jsonx.Array {
		return message{}, &problem{code: codeInvalidRequest, message: "one message at a time: batches were taken out of the protocol in 2025-06-18"}
	}
	if v.Kind != jsonx.Object {
		return message{}, &problem{code: codeInvalidRequest, message: "a message must be an object, not " + v.Kind.String()}
	}
	var m message
	if id, ok := v.Field("id"); ok {
		if !isID(id) {
			return message{}, &problem{code: codeInvalidRequest, message: "id must be a string or a whole number"}
		}
		m.id = id.Raw
	}
	refuse := func(text string) (message, *problem) {
		return message{}, &problem{id: m.id, code: codeInvalidRequest, message: text}
	}
	for i := range v.Kids {
		switch v.Kids[i].Name {
		case "jsonrpc", "id", "method", "params":
		case "result", "error":
			m.response = true
		default:
			return refuse("a message has no member of this name: " + quoted(v.Kids[i].Name))
		}
	}
	if version, _ := v.Field("jsonrpc"); version.Kind != jsonx.String || version.Text != "2.0" {
		return refuse(`jsonrpc must be "2.0"`)
	}
	if m.response {
		return m, nil
	}
	method, _ := v.Field("method")
	if method.Kind != jsonx.String || method.Text == "" {
		return refuse("method must be a string")
	}
	m.method = method.Text
	if params, ok := v.Field("params"); ok {
		if params.Kind != jsonx.Object {
			return refuse("params must be an object, not " + params.Kind.String())
		}
		m.params = params
	}
	return m, m.check()
}

// check refuses what is no request that is answered.
func (m *message) check() *problem {
	known := slices.Contains(methods, m.method)
	switch {
	case m.id == "" && known:
		return &problem{code: codeInvalidRequest, message: m.method + " is a request: it needs an id"}
	case m.id == "":
		return nil
	case known:
		return m.checkParams()
	case strings.HasPrefix(m.method, "notifications/"):
		return &problem{id: m.id, code: codeInvalidRequest, message: "a notification has no id"}
	}
	return &problem{id: m.id, code: codeMethodNotFound, message: "there is no method " + quoted(m.method)}
}

func isID(v jsonx.Value) bool {
	if len(v.Raw) > maxIDBytes {
		return false
	}
	if v.Kind == jsonx.String {
		return true
	}
	n, err := strconv.ParseInt(v.Raw, 10, 64)
	return v.Kind == jsonx.Number && err == nil && n > -1<<53 && n < 1<<53 && n != math.MinInt64
}

// version returns the version of the protocol that a message says it is of, or
// "".
func (m *message) version() string {
	meta, _ := m.params.Field("_meta")
	v, _ := meta.Field(metaVersion)
	return v.Text
}

// target returns what the message is about: the name of a tool or a prompt, or
// a resource's URI.
func (m *message) target() string {
	field := "name"
	if m.method == "resources/read" {
		field = "uri"
	}
	v, _ := m.params.Field(field)
	return v.Text
}

// wantsProgress reports whether the sender asked to be told how it goes.
func (m *message) wantsProgress() bool {
	meta, _ := m.params.Field("_meta")
	token, ok := meta.Field("progressToken")
	return ok && token.Kind != jsonx.Null
}

// quoted returns a text of the caller's for a message, shortened.
func quoted(s string) string {
	const most = 64
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

// unsupported is the problem of a version that is not spoken.
func unsupported(id, requested string) *problem {
	data := append([]byte(`{"supported":`), jsonx.AppendStrings(nil, Versions())...)
	data = jsonx.AppendString(append(data, `,"requested":`...), requested)
	return &problem{id: id, code: codeUnsupportedVersion, message: "protocol version " + quoted(requested) + " is not spoken here", data: string(append(data, '}'))}
}
