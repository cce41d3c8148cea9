package http

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// getSearch is GET /api/search.
func (s *Server) getSearch(c *call) error { return s.search(c, nil) }

// postSearch is POST /api/search, which says the same in a body.
func (s *Server) postSearch(c *call) error {
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	lists, err := c.adopt(body, "seeds", "query_vector")
	if err != nil {
		return err
	}
	return s.search(c, lists)
}

func (s *Server) search(c *call, lists map[string][]jsonx.Value) error {
	q := c.searchQuery(lists)
	if err := c.query.done(); err != nil {
		return err
	}
	got, meta, err := s.config.Memory.Search(c.r.Context(), c.caller, q, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	c.warn(&meta)
	b := append(c.begin(), `{"kind":"search_result","question":`...)
	b = jsonx.AppendString(b, q.Question)
	b = append(b, `,"mode":`...)
	b = jsonx.AppendString(b, got.Mode.String())
	b = append(b, `,"answer_facts":[`...)
	for i := range got.Hits {
		b = appendFound(comma(b, i), &got.Hits[i])
	}
	b = append(b, `],"entities":`...)
	b = jsonx.AppendStrings(b, got.Entities)
	if v := got.Vectors; v != nil {
		b = jsonx.AppendString(append(b, `,"vectors":{"model":`...), v.Model.Name)
		b = strconv.AppendInt(append(b, `,"dim":`...), int64(v.Model.Dim), 10)
		b = strconv.AppendInt(append(b, `,"searched":`...), int64(v.Candidates), 10)
		b = append(strconv.AppendInt(append(b, `,"missing":`...), int64(v.Missing), 10), '}')
	}
	if got.Time != nil {
		b = appendSearchTime(append(b, `,"time":`...), got.Time)
	}
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// searchQuery reads what is searched.
func (c *call) searchQuery(lists map[string][]jsonx.Value) *memory.SearchQuery {
	q := &memory.SearchQuery{Read: c.travel()}
	q.Question = c.question()
	q.Top = c.top()
	q.Subject, q.Predicate = c.query.name("subject"), c.query.name("predicate")
	c.searchRanking(q)
	if text, ok := c.query.text("status"); ok {
		set, err := fact.ParseStatusSet("status", text)
		if err != nil {
			c.query.fail(err)
		}
		q.Statuses, q.StatusGiven = set, true
	}
	q.IncludeRetracted, _ = c.query.flag("include_retracted")
	q.MinConfidence, _ = c.fraction("min_confidence", 0, 1)
	q.MinScore, q.MinScoreGiven = c.fraction("min_score", -math.MaxFloat64, math.MaxFloat64)
	q.Seeds = c.seeds(lists)
	q.Vector = c.queryVector(lists)
	if strings.TrimSpace(q.Question) == "" && (q.Vector == nil || q.Mode == memory.LexicalSearch) {
		c.input.Warn("the question is empty: nothing can be found by it")
	}
	return q
}

// searchRanking reads how hits are ranked and listed.
func (c *call) searchRanking(q *memory.SearchQuery) {
	if text, ok := c.query.text("mode"); ok {
		mode, err := memory.ParseSearchMode("mode", text)
		if err != nil {
			c.query.fail(err)
		}
		q.Mode = mode
	}
	if text, ok := c.query.text("order"); ok {
		order, err := memory.ParseSearchOrder("order", text)
		if err != nil {
			c.query.fail(err)
		}
		q.Order = order
	}
}

// question returns the text that is searched for; none finds nothing.
func (c *call) question() string {
	name, text, _ := c.one("question", "query", "q")
	if len(text) > memory.MaxQuestionBytes {
		c.query.fail(fact.Invalid(name, "is longer than "+strconv.Itoa(memory.MaxQuestionBytes)+" bytes"))
	}
	return text
}

// top returns how many hits are asked for; 0 = the default.
func (c *call) top() int {
	name, text, given := c.one("top_k", "limit", "k")
	if !given {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > memory.MaxTop {
		c.query.fail(fact.Invalid(name, "must be a whole number from 1 to "+strconv.Itoa(memory.MaxTop)+", or 0 for the default of "+strconv.Itoa(memory.DefaultTop)))
		return 0
	}
	return int(n)
}

// fraction returns a number within bounds.
func (c *call) fraction(name string, low, high float64) (float64, bool) {
	text, ok := c.query.text(name)
	if !ok {
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= low && f <= high) {
		problem := "must be a number"
		if high <= 1 {
			problem += " from 0 to 1"
		}
		c.query.fail(fact.Invalid(name, problem))
		return 0, false
	}
	return f, true
}

// seeds returns the entities near which facts count more: a list, or in a query a
// comma list or an array in JSON.
func (c *call) seeds(lists map[string][]jsonx.Value) []string {
	var names []string
	if text, ok := c.query.text("seeds"); ok {
		names = strings.Split(text, ",")
		if strings.HasPrefix(text, "[") {
			var err error
			if names, err = memory.ParseEntities("seeds", text); err != nil {
				c.query.fail(err)
			}
		}
	}
	if list, ok := lists["seeds"]; ok {
		names = c.texts("seeds", list)
	}
	if len(names) > memory.MaxSeeds {
		c.query.fail(fact.Invalid("seeds", "names more than "+strconv.Itoa(memory.MaxSeeds)+" entities"))
		return nil
	}
	for i, name := range names {
		name, err := memory.Name("seeds", strings.TrimSpace(name))
		if err != nil {
			c.query.fail(err)
		}
		names[i] = name
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// queryVector returns the vector that the caller brought: a list, or in a query a
// comma list; nil = none.
func (c *call) queryVector(lists map[string][]jsonx.Value) []float32 {
	var parts []string
	if text, ok := c.query.text("query_vector"); ok {
		parts = strings.Split(text, ",")
	}
	for i, v := range lists["query_vector"] {
		if v.Kind != jsonx.Number {
			c.query.fail(fact.Invalid(jsonx.Index("query_vector", i), "must be a number"))
			return nil
		}
		parts = append(parts, v.Raw)
	}
	if list, given := lists["query_vector"]; given && len(list) == 0 || len(parts) > fact.MaxVectorDim {
		c.query.fail(fact.Invalid("query_vector", "must have from 1 to "+strconv.Itoa(fact.MaxVectorDim)+" numbers"))
		return nil
	}
	var vector []float32
	for i, part := range parts {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 32)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			c.query.fail(fact.Invalid(jsonx.Index("query_vector", i), "must be a number"))
			return nil
		}
		vector = append(vector, float32(x))
	}
	return vector
}

// appendFound appends a fact with its score, and what each part gave to it.
func appendFound(b []byte, f *memory.Found) []byte {
	b = jsonx.AppendFact(b, &f.Fact)
	b = append(b[:len(b)-1], `,"score":`...)
	b = jsonx.AppendFloat(b, f.Score)
	return append(appendWhy(append(b, `,"why":`...), &f.Why), '}')
}

func appendWhy(b []byte, w *memory.Why) []byte {
	b = jsonx.AppendFloat(append(b, `{"lexical":`...), w.Lexical)
	b = jsonx.AppendFloat(append(b, `,"words":`...), w.Words)
	b = jsonx.AppendFloat(append(b, `,"vector":`...), w.Vector)
	b = jsonx.AppendFloat(append(b, `,"graph":`...), w.Graph)
	b = jsonx.AppendFloat(append(b, `,"turns":`...), w.Turns)
	b = jsonx.AppendFloat(append(b, `,"session":`...), w.Session)
	b = append(b, `,"matches":[`...)
	for i := range w.Matches {
		m := &w.Matches[i]
		b = jsonx.AppendString(append(comma(b, i), `{"part":`...), m.Part)
		b = jsonx.AppendString(append(b, `,"word":`...), m.Word)
		b = jsonx.AppendString(append(b, `,"found":`...), m.Found)
		b = jsonx.AppendFloat(append(b, `,"cosine":`...), m.Cosine)
		b = append(jsonx.AppendFloat(append(b, `,"gain":`...), m.Gain), '}')
	}
	return append(b, `]}`...)
}

// appendSearchTime appends the time that a question names.
func appendSearchTime(b []byte, t *memory.SearchTime) []byte {
	b = jsonx.AppendString(append(b, `{"text":`...), t.Text)
	if t.AsOf.Given() {
		b = jsonx.AppendInstant(append(b, `,"as_of":`...), t.AsOf)
		return append(b, '}')
	}
	from := t.From
	if from == fact.MinInstant {
		from = fact.NoInstant
	}
	b = jsonx.AppendInstant(append(b, `,"from":`...), from)
	b = jsonx.AppendInstant(append(b, `,"until":`...), t.Until)
	return append(b, '}')
}
