package mcp

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"abagraph/memory"
)

// Local links to a server in this process, on behalf of a caller. Nothing is done
// for one who has given up.
func (s *Server) Local(caller memory.Caller) Link {
	return func(ctx context.Context, body []byte, header map[string]string, each func([]byte) error) error {
		if ctx.Err() != nil {
			return nil
		}
		ctx = memory.WithHandoff(ctx, &memory.Handoff{Caller: caller})
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/mcp", bytes.NewReader(body))
		if err != nil {
			return fmt.Errorf("make the request: %w", err)
		}
		r.Header.Set("Accept", "application/json, text/event-stream")
		for name, value := range header {
			r.Header.Set(name, value)
		}
		w := &localWriter{header: http.Header{}, each: each}
		s.ServeHTTP(w, r)
		return w.end()
	}
}

// localWriter hands on the messages of an answer: the events of a stream as they
// come, and another answer at its end.
type localWriter struct {
	header http.Header
	buffer bytes.Buffer
	each   func([]byte) error
	err    error
}

func (w *localWriter) Header() http.Header { return w.header }

func (w *localWriter) WriteHeader(int) {}

func (w *localWriter) Flush() {}

func (w *localWriter) Write(b []byte) (int, error) {
	w.buffer.Write(b)
	for w.err == nil && w.header.Get("Content-Type") == "text/event-stream" {
		event, rest, found := bytes.Cut(w.buffer.Bytes(), []byte("\n\n"))
		if !found {
			break
		}
		w.err = w.event(event)
		w.buffer = *bytes.NewBuffer(bytes.Clone(rest))
	}
	return len(b), w.err
}

func (w *localWriter) event(event []byte) error {
	var data []byte
	for line := range bytes.SplitSeq(event, []byte("\n")) {
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, bytes.TrimSpace(value)...)
		}
	}
	if len(data) == 0 {
		return nil
	}
	return w.each(data)
}

// end hands on what is not a stream.
func (w *localWriter) end() error {
	if w.err != nil || len(bytes.TrimSpace(w.buffer.Bytes())) == 0 {
		return w.err
	}
	return w.each(w.buffer.Bytes())
}
