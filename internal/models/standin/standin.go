package standin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Call is one question as it arrived.
type Call struct {
	Wire   string // anthropic or openai
	Model  string
	Key    string
	System string
	Text   string
	Name   string // of the schema; "" where the answer is bound to none
	Schema string
	N      int // 1 for the first call
}

// Reply is what is answered.
type Reply struct {
	JSON    string        // the answer, an object
	Text    string        // in place of JSON: anything
	Status  int           // of an error; the body echoes the key
	Wait    time.Duration // before the answer, or until the caller has gone
	Hang    bool          // until the caller has gone
	Cut     int           // close the connection after so many bytes
	Length  bool          // say that the answer was cut off by its length
	Flood   bool          // never stop
	Headers map[string]string
}

// Server is the stand-in.
type Server struct {
	*httptest.Server
	t     *testing.T
	mu    sync.Mutex
	calls []Call
	reply func(Call) Reply
}

// New starts a stand-in that answers by reply.
func New(t *testing.T, reply func(Call) Reply) *Server {
	t.Helper()
	s := &Server{t: t, reply: reply}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Calls returns what was asked so far.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Config is the JSON of a model of this server's, in one of the wire formats.
func (s *Server) Config(wire, key string) string {
	endpoint := s.URL
	if wire == "openai" {
		endpoint += "/v1"
	}
	return fmt.Sprintf(`{"provider":%q,"key":%q,"model":"stand-in","endpoint":%q}`, wire, key, endpoint)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has gone
	}
	c, ok := read(r, raw)
	if !ok {
		s.t.Errorf("the model was asked %s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.mu.Lock()
	c.N = len(s.calls) + 1
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	reply := s.reply(c)
	for name, value := range reply.Headers {
		w.Header().Set(name, value)
	}
	switch {
	case reply.Hang:
		<-r.Context().Done()
	case reply.Flood:
		flood(w)
	case reply.Status != 0:
		w.WriteHeader(reply.Status)
		fmt.Fprintf(w, `{"error":{"type":"invalid_request_error","code":%q,"message":"no such key: %s"}}`, c.Key, c.Key)
	default:
		if reply.Wait > 0 {
			select {
			case <-time.After(reply.Wait):
			case <-r.Context().Done():
			}
		}
		send(w, body(c, reply), reply.Cut)
	}
}

// read takes a call apart, by the paths and headers of each wire format.
func read(r *http.Request, raw []byte) (Call, bool) {
	var q struct {
		Model    string
		System   string
		Messages []struct{ Role, Content string }
		Tools    []struct {
			Name   string
			Schema json.RawMessage `json:"input_schema"`
		}
		Format *struct {
			Schema struct {
				Name   string
				Schema json.RawMessage
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if r.Method != http.MethodPost || json.Unmarshal(raw, &q) != nil || len(q.Messages) == 0 {
		return Call{}, false
	}
	c := Call{Model: q.Model, System: q.System, Text: q.Messages[len(q.Messages)-1].Content}
	switch r.URL.Path {
	case "/v1/messages":
		c.Wire, c.Key = "anthropic", r.Header.Get("x-api-key")
		if len(q.Tools) != 1 || r.Header.Get("anthropic-version") == "" || r.Header.Get("Authorization") != "" {
			return c, false
		}
		c.Name, c.Schema = q.Tools[0].Name, string(q.Tools[0].Schema)
	case "/v1/chat/completions":
		c.Wire, c.Key, c.System = "openai", strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), q.Messages[0].Content
		if r.Header.Get("x-api-key") != "" {
			return c, false
		}
		if q.Format != nil {
			c.Name, c.Schema = q.Format.Schema.Name, string(q.Format.Schema.Schema)
		}
	default:
		return c, false
	}
	return c, true
}

// body writes an answer in the wire format of the call.
func body(c Call, r Reply) []byte {
	text := r.Text
	if text == "" {
		text = r.JSON
	}
	quoted, _ := json.Marshal(text) // a string can always be written
	if c.Wire == "openai" {
		reason := "stop"
		if r.Length {
			reason = "length"
		}
		return fmt.Appendf(nil, `{"id":"c-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%s,"refusal":null},"finish_reason":%q}],`+
			`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, quoted, reason, len(c.Text)/4, len(text)/4, (len(c.Text)+len(text))/4)
	}
	reason := "tool_use"
	if r.Length {
		reason = "max_tokens"
	}
	block := fmt.Sprintf(`{"type":"tool_use","id":"t-1","name":%q,"input":%s}`, c.Name, r.JSON)
	if r.JSON == "" {
		block = fmt.Sprintf(`{"type":"text","text":%s}`, quoted)
	}
	return fmt.Appendf(nil, `{"id":"m-1","type":"message","role":"assistant","content":[{"type":"text","text":"Here it is."},%s],"stop_reason":%q,`+
		`"usage":{"input_tokens":%d,"output_tokens":%d}}`, block, reason, len(c.Text)/4, len(text)/4)
}

func send(w http.ResponseWriter, b []byte, cut int) {
	w.Header().Set("Content-Type", "application/json")
	if cut == 0 || cut >= len(b) {
		_, _ = w.Write(b)
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(b)))
	_, _ = w.Write(b[:cut])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	panic(http.ErrAbortHandler)
}

func flood(w http.ResponseWriter) {
	piece := []byte(strings.Repeat(`{"choices":[`, 8192))
	for {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
}
