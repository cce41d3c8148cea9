package models

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"abagraph/internal/byok"
	"abagraph/internal/jsonx"
)

// The providers' own endpoints (F-377).
const (
	anthropicEndpoint = "https://api.anthropic.com"
	openAIEndpoint    = "https://api.openai.com/v1"
	anthropicVersion  = "2023-06-01"
)

// once makes one attempt.
func (c *Client) once(ctx context.Context, m *byok.Config, q *Question) (*Answer, error) {
	if m.Provider == byok.Anthropic {
		return c.post(ctx, m, anthropicURL(m), anthropicBody(m, q), readAnthropic)
	}
	url := strings.TrimRight(orElse(m.Endpoint, openAIEndpoint), "/") + "/chat/completions"
	answer, err := c.post(ctx, m, url, openAIBody(m, q, true), readOpenAI)
	if f, ok := err.(*Failure); ok && f.Kind == Refused && (strings.HasPrefix(f.what, "answered 400") || strings.HasPrefix(f.what, "answered 422")) {
		// A compatible endpoint that binds no answer to a schema: the text alone asks
		// for the form.
		return c.post(ctx, m, url, openAIBody(m, q, false), readOpenAI)
	}
	return answer, err
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func anthropicURL(m *byok.Config) string {
	base := strings.TrimRight(orElse(m.Endpoint, anthropicEndpoint), "/")
	if strings.HasSuffix(base, "/v1") {
		return base + "/messages"
	}
	return base + "/v1/messages"
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// anthropicBody binds the answer to the schema by a tool that the model must use.
func anthropicBody(m *byok.Config, q *Question) any {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
	}
	type choice struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
	return &struct {
		Model     string    `json:"model"`
		MaxTokens int       `json:"max_tokens"`
		System    string    `json:"system"`
		Messages  []message `json:"messages"`
		Tools     []tool    `json:"tools"`
		Choice    choice    `json:"tool_choice"`
	}{
		m.Model, maxTokens, q.System, []message{{"user", q.Text}},
		[]tool{{q.Name, "Gives the answer.", json.RawMessage(q.Schema)}}, choice{"tool", q.Name},
	}
}

func openAIBody(m *byok.Config, q *Question, bound bool) any {
	type schema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	}
	type format struct {
		Type   string `json:"type"`
		Schema schema `json:"json_schema"`
	}
	body := &struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
		Format   *format   `json:"response_format,omitempty"`
	}{Model: m.Model, Messages: []message{{"system", q.System + "\n\nAnswer with one JSON object of this schema, and nothing else:\n" + q.Schema}, {"user", q.Text}}}
	if bound {
		body.Format = &format{"json_schema", schema{q.Name, true, json.RawMessage(q.Schema)}}
	}
	return body
}

// post sends a body and reads the answer. The key goes into one header.
func (c *Client) post(ctx context.Context, m *byok.Config, url string, body any, read func(jsonx.Value) (*Answer, *Failure)) (*Answer, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, &Failure{Kind: Refused, what: "was not asked: the text cannot be written as JSON"}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		return nil, &Failure{Kind: Refused, what: "was not asked: its endpoint cannot be used"}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if m.Provider == byok.Anthropic {
		r.Header.Set("x-api-key", m.Key.Reveal())
		r.Header.Set("anthropic-version", anthropicVersion)
	} else {
		r.Header.Set("Authorization", "Bearer "+m.Key.Reveal())
	}
	response, err := c.client.Do(r)
	if err != nil {
		return nil, unreached(ctx, err)
	}
	defer response.Body.Close()
	raw, err = io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		return nil, refusal(response, raw, m.Key)
	}
	if err != nil {
		return nil, unreached(ctx, err)
	}
	v, err := jsonx.Parse(raw)
	if err != nil {
		return nil, &Failure{Kind: Malformed, what: "answered something that is no JSON, or is cut off"}
	}
	answer, failed := read(v)
	if failed != nil {
		return nil, failed
	}
	return answer, nil
}

func malformed(what string) *Failure { return &Failure{Kind: Malformed, what: what} }

// readAnthropic finds the input of the tool in a message.
func readAnthropic(v jsonx.Value) (*Answer, *Failure) {
	if reason, _ := v.Field("stop_reason"); reason.Text == "max_tokens" {
		return nil, malformed("was cut off in the middle of its answer")
	}
	usage, _ := v.Field("usage")
	answer := &Answer{TokensIn: count(usage, "input_tokens"), TokensOut: count(usage, "output_tokens")}
	content, _ := v.Field("content")
	for _, block := range content.Kids {
		kind, _ := block.Field("type")
		if input, ok := block.Field("input"); ok && kind.Text == "tool_use" && input.Kind == jsonx.Object {
			answer.Value = input
			return answer, nil
		}
	}
	return nil, malformed("gave no answer of the form that it was asked for")
}

// readOpenAI finds the answer in the text of the first choice.
func readOpenAI(v jsonx.Value) (*Answer, *Failure) {
	usage, _ := v.Field("usage")
	answer := &Answer{TokensIn: count(usage, "prompt_tokens"), TokensOut: count(usage, "completion_tokens")}
	choices, _ := v.Field("choices")
	if len(choices.Kids) == 0 {
		return nil, malformed("gave no answer")
	}
	first := choices.Kids[0]
	if reason, _ := first.Field("finish_reason"); reason.Text == "length" {
		return nil, malformed("was cut off in the middle of its answer")
	}
	said, _ := first.Field("message")
	text, _ := said.Field("content")
	if text.Kind != jsonx.String {
		return nil, malformed("gave no answer of the form that it was asked for")
	}
	value, err := jsonx.Parse([]byte(unfenced(text.Text)))
	if err != nil || value.Kind != jsonx.Object {
		return nil, malformed("answered no JSON object, or one that is cut off")
	}
	answer.Value = value
	return answer, nil
}

// unfenced takes off the fence that models like to put around JSON.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	inner, ok := strings.CutPrefix(text, "```")
	if !ok || !strings.HasSuffix(inner, "```") {
		return text
	}
	if _, rest, found := strings.Cut(inner, "\n"); found {
		return strings.TrimSuffix(rest, "```")
	}
	return text
}

func count(usage jsonx.Value, name string) int {
	v, _ := usage.Field(name)
	n := 0
	for _, d := range []byte(v.Raw) {
		if d < '0' || d > '9' || n > 1<<40 {
			return 0
		}
		n = 10*n + int(d-'0')
	}
	return n
}
