package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
)

type carrierKey struct{}

// ServeHTTP answers one message. The request's context must carry the handoff
// of the surface that let it in; without one the answer is that of a thing that
// does not exist (C-42).
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if memory.HandoffOf(r.Context()) == nil {
		http.NotFound(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessageBytes))
	if err != nil {
		status := http.StatusBadRequest
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
		}
		refuse(w, status, &problem{code: codeInvalidRequest, message: "the message cannot be read: " + err.Error()})
		return
	}
	m, p := readMessage(body)
	if p != nil {
		refuse(w, statusOf(p, r), p)
		return
	}
	if m.response || m.id == "" {
		w.WriteHeader(http.StatusAccepted) // there is nothing that it could change
		return
	}
	s.forward(w, r, &m, body)
}

// forward hands a message to the SDK, in the form in which it takes one.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, m *message, body []byte) {
	version := r.Header.Get(headerVersion)
	if version != "" && !slices.Contains(Versions(), version) {
		refuse(w, http.StatusBadRequest, unsupported(m.id, version))
		return
	}
	profile, err := ParseProfile(profileHeader, r.Header.Get(profileHeader))
	if err != nil {
		refuse(w, http.StatusBadRequest, &problem{id: m.id, code: codeInvalidRequest, message: err.Error()})
		return
	}
	ctx := context.WithValue(r.Context(), carrierKey{}, r.Context())
	if r.Header.Get(profileHeader) != "" {
		ctx = context.WithValue(ctx, profileKey{}, profile)
	}
	request := r.WithContext(ctx)
	request.Header = r.Header.Clone()
	request.Header.Del("Last-Event-Id")
	if version == "" && m.method != "initialize" && m.version() == "" {
		// A lone request without a handshake: it gets the oldest version that
		// is spoken, which is the one of the documents.
		request.Header.Set(headerVersion, version20250618)
	}
	if m.method == "initialize" {
		body = m.greeting(body)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if m.wantsProgress() && accepts(r, "text/event-stream") {
		w.Header().Set("X-Accel-Buffering", "no")
		s.events.ServeHTTP(w, request)
		return
	}
	s.plain.ServeHTTP(w, request)
}

// greeting is a handshake that names a version of the protocol: one that names none,
// as a person sends it, gets that of the documents, like every other lone request.
func (m *message) greeting(body []byte) []byte {
	if v, ok := m.params.Field("protocolVersion"); ok && v.Kind != jsonx.Null {
		return body
	}
	b := append(append([]byte(`{"jsonrpc":"2.0","id":`), m.id...), `,"method":"initialize","params":{"protocolVersion":"`+version20250618+`"`...)
	for i := range m.params.Kids {
		kid := &m.params.Kids[i]
		if kid.Name == "protocolVersion" {
			continue
		}
		b = append(jsonx.AppendString(append(b, ','), kid.Name), ':')
		b = append(b, kid.Raw...)
	}
	return append(b, '}', '}')
}

// statusOf gives the status of a message that was refused. A method that does
// not exist, or parameters that are not its own, are an answer like any other to
// the clients that have a handshake.
func statusOf(p *problem, r *http.Request) int {
	newest := r.Header.Get(headerVersion) >= version20260728
	switch {
	case p.code == codeMethodNotFound && newest:
		return http.StatusNotFound
	case (p.code == codeMethodNotFound || p.code == codeInvalidParams) && !newest:
		return http.StatusOK
	}
	return http.StatusBadRequest
}

func refuse(w http.ResponseWriter, status int, p *problem) {
	b := appendProblem(nil, p)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	// A write that fails has lost its reader: there is no one to tell.
	_, _ = w.Write(b)
}

// accepts reports whether a request says that it takes a media type by name.
func accepts(r *http.Request, media string) bool {
	for _, value := range r.Header.Values("Accept") {
		for part := range bytes.SplitSeq([]byte(value), []byte(",")) {
			name, _, _ := bytes.Cut(part, []byte(";"))
			if string(bytes.ToLower(bytes.TrimSpace(name))) == media {
				return true
			}
		}
	}
	return false
}

// rpcData is what the JSON-RPC error of a failure outside the tools carries: the
// stable code of C-43.
func rpcData(err *fact.Error) []byte {
	b := jsonx.AppendString([]byte(`{"code":`), string(err.Code))
	if err.Field != "" {
		b = jsonx.AppendString(append(b, `,"field":`...), err.Field)
	}
	return append(b, '}')
}
