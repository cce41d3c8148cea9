package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// SearchQuery asks for the facts that answer a question best. Empty fields mean
// the server's defaults, and let every fact pass.
type SearchQuery struct {
	Read
	Question         string
	TopK             int    // hits, 1 … 1,000; 0 = the server's default of 8
	Mode             string // hybrid (the default), lexical or vector
	Order            string // score (the default), desc = newest first, asc
	MinScore         *float64
	MinConfidence    float64
	Subject          string
	Predicate        string
	Status           string // a comma list, or all (C-20)
	IncludeRetracted bool
	Seeds            []string // entities near which facts count more; no commas
	// Vector stands for the question, in place of one that the server's provider
	// makes of it; it has the dimension of the stored vectors. nil = none.
	Vector []float32
}

// Values returns the query parameters.
func (q SearchQuery) Values() url.Values {
	v := q.values()
	v.Set("question", q.Question)
	setInt(v, "top_k", q.TopK)
	set(v, "mode", q.Mode)
	set(v, "order", q.Order)
	set(v, "subject", q.Subject)
	set(v, "predicate", q.Predicate)
	set(v, "status", q.Status)
	set(v, "seeds", strings.Join(q.Seeds, ","))
	if q.MinScore != nil {
		v.Set("min_score", strconv.FormatFloat(*q.MinScore, 'g', -1, 64))
	}
	if q.MinConfidence != 0 {
		v.Set("min_confidence", strconv.FormatFloat(q.MinConfidence, 'g', -1, 64))
	}
	if q.IncludeRetracted {
		v.Set("include_retracted", "1")
	}
	var numbers []string
	for _, x := range q.Vector {
		numbers = append(numbers, strconv.FormatFloat(float64(x), 'g', -1, 32))
	}
	set(v, "query_vector", strings.Join(numbers, ","))
	return v
}

// Hit is a fact that answers a question, with its score and what each part of the
// ranking gave to it.
type Hit struct {
	Fact
	Score float64
	Why   Why
}

// UnmarshalJSON reads a hit: a fact with more fields.
func (h *Hit) UnmarshalJSON(raw []byte) error {
	var more struct {
		Score float64 `json:"score"`
		Why   Why     `json:"why"`
	}
	if err := json.Unmarshal(raw, &more); err != nil {
		return fmt.Errorf("read a hit: %w", err)
	}
	h.Score, h.Why = more.Score, more.Why
	return h.Fact.UnmarshalJSON(raw)
}

// Why tells what each part gave to a score, and which words met.
type Why struct {
	Lexical float64 `json:"lexical"`
	Words   float64 `json:"words"`
	Vector  float64 `json:"vector"`
	Graph   float64 `json:"graph"`
	Turns   float64 `json:"turns"`
	Session float64 `json:"session"`
	Matches []Match `json:"matches"`
}

// Match is a word of a question that met a word of a fact.
type Match struct {
	Part   string  `json:"part"` // lexical or words
	Word   string  `json:"word"`
	Found  string  `json:"found"`
	Cosine float64 `json:"cosine"`
	Gain   float64 `json:"gain"`
}

// SearchTime is the time that a question names: one instant, or from and until,
// nil where it has no bound.
type SearchTime struct {
	Text  string `json:"text"`
	AsOf  *int64 `json:"as_of"`
	From  *int64 `json:"from"`
	Until *int64 `json:"until"`
}

// SearchAnswer holds the best facts, the best first unless another order was
// asked for.
type SearchAnswer struct {
	Meta     `json:"-"`
	Question string      `json:"question"`
	Mode     string      `json:"mode"` // the one that the ranking really had
	Hits     []Hit       `json:"answer_facts"`
	Entities []string    `json:"entities"`
	Time     *SearchTime `json:"time"`
	Hints    []string    `json:"warnings"`
	// Vectors tells of the stored vectors that were searched; nil = none were.
	Vectors *SearchedVectors `json:"vectors"`
}

// SearchedVectors tells how many facts passed the filters of a search, and how many
// of them have no vector of the model.
type SearchedVectors struct {
	Model    string `json:"model"`
	Dim      int    `json:"dim"`
	Searched int    `json:"searched"`
	Missing  int    `json:"missing"`
}

// Search ranks facts by a question: GET /api/search or, with a vector, which may be
// long, POST.
func (c *Client) Search(ctx context.Context, q SearchQuery) (*SearchAnswer, error) {
	var answer SearchAnswer
	call := Call{Method: http.MethodGet, Path: "/api/search", Query: q.Values()}
	if q.Vector != nil {
		call.Method, call.Body = http.MethodPost, []byte(`{"query_vector":[`+call.Query.Get("query_vector")+`]}`)
		call.Query.Del("query_vector")
	}
	meta, err := c.into(ctx, call, &answer)
	if err != nil {
		return nil, err
	}
	answer.Meta = meta
	return &answer, nil
}
