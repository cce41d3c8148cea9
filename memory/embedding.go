package memory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"abagraph/fact"
)

// Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder interface {
	// Model is what makes the vectors.
	Model() fact.Model
	// Embed returns a unit vector for each text, in order, nil for those that got
	// none; the error then says why, in words that anyone may read. An error with
	// a method OfText that answers true blames the text, not the provider.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Bounds of embedding.
const (
	// DefaultEmbedTimeout bounds what one write or search waits for vectors.
	DefaultEmbedTimeout = 3 * time.Second
	// MaxEmbedText is the most bytes of a fact's text that are embedded.
	MaxEmbedText = 8_000
	// maxWriteVectors is the most bytes of vectors that one write carries; what
	// is over waits for the job.
	maxWriteVectors = 16 << 20
	// keptQuestions is how many questions' vectors are kept.
	keptQuestions = 256
)

// embedding is what a Service needs to embed: nothing where from is nil.
type embedding struct {
	from      Embedder
	provider  string
	limit     time.Duration
	questions questions
	job       embedJob
}

func (e *embedding) set(o Options) {
	e.from, e.provider, e.limit = o.Embedder, o.Embedding, o.EmbedTimeout
	if e.limit <= 0 {
		e.limit = DefaultEmbedTimeout
	}
	e.job.wake = make(chan struct{}, 1)
}

// limited bounds what is waited for vectors: by the provider's own limit, and by half
// of the time that is left, so that the other half is there for what they are for.
func (e *embedding) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := e.limit
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(end)/2)
	}
	return context.WithTimeout(ctx, limit)
}

// usable tells a unit vector of a model from anything else.
func usable(m fact.Model, v []float32) bool {
	const slack = 1e-3
	if len(v) != m.Dim {
		return false
	}
	length := fact.Dot(v, v)
	return length > 1-slack && length < 1+slack
}

// EmbedText is the text of a fact that its vector stands for: subject, predicate,
// object and source; of what only quotes other facts without the object.
func EmbedText(subject, predicate string, object fact.Object, source *string) string {
	var b strings.Builder
	b.WriteString(subject)
	b.WriteByte(' ')
	b.WriteString(strings.ReplaceAll(predicate, "_", " "))
	switch {
	case fact.Quotes(predicate, source):
	case object.Kind == fact.Text, object.Kind == fact.Number:
		b.WriteByte(' ')
		b.WriteString(object.Text)
	case object.Kind == fact.Bool:
		b.WriteByte(' ')
		b.WriteString(strconv.FormatBool(object.Bool))
	}
	if source != nil && *source != "" {
		b.WriteString(" (" + *source + ")")
	}
	return cutText(b.String(), MaxEmbedText)
}

// cutText cuts a text to at most n bytes, between two characters.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// embedWrite gives vectors to the asserts of a write before it is proposed (C-54).
// It never fails: what got no vector is written without one, and the job comes
// back to it. The warning says so; it is "" where there is nothing to say.
func (s *Service) embedWrite(ctx context.Context, w *fact.Write, trace *Trace) (warning string) {
	if s.embed.from == nil || len(w.Asserts) == 0 {
		return ""
	}
	texts := make([]string, len(w.Asserts))
	for i := range w.Asserts {
		a := &w.Asserts[i]
		texts[i] = EmbedText(a.Subject, a.Predicate, a.Object, a.Source)
	}
	m := s.embed.from.Model()
	texts = texts[:min(len(texts), max(1, maxWriteVectors/(4*m.Dim)))]
	ctx, cancel := s.embed.limited(ctx)
	defer cancel()
	vectors, err := s.embed.from.Embed(ctx, texts)
	w.Model = m
	got := 0
	for i := range w.Asserts {
		w.Asserts[i].Vector = nil
		if i < len(vectors) && usable(m, vectors[i]) {
			w.Asserts[i].Vector = vectors[i]
			got++
		}
	}
	trace.Step("embed", m.Name)
	trace.Int("embedded", got)
	missing := len(w.Asserts) - got
	if missing == 0 {
		return ""
	}
	if err == nil {
		err = errors.New("the embedding provider answered no usable vector")
		if len(texts) < len(w.Asserts) {
			err = fmt.Errorf("one write carries at most %d MiB of them", maxWriteVectors>>20)
		}
	}
	return fmt.Sprintf("%d of %d facts are stored without a vector, because %v; they will be embedded later", missing, len(w.Asserts), err)
}

// dropVectors takes the vectors off a write; it reports whether there were any.
func dropVectors(w *fact.Write) bool {
	if w == nil || !w.Model.Given() {
		return false
	}
	for i := range w.Asserts {
		w.Asserts[i].Vector = nil
	}
	w.Model = fact.Model{}
	return true
}

// ErrNoEmbedder is returned where a vector is needed and no provider makes any.
var ErrNoEmbedder = errors.New("no embedding provider is configured")

// embedQuestion returns the vector of a question, within the provider's time. The
// last ones are kept, since the same question often comes again.
func (s *Service) embedQuestion(ctx context.Context, text string) ([]float32, error) {
	if s.embed.from == nil {
		return nil, ErrNoEmbedder
	}
	text = cutText(text, MaxEmbedText)
	if v := s.embed.questions.get(text); v != nil {
		return v, nil
	}
	ctx, cancel := s.embed.limited(ctx)
	defer cancel()
	vectors, err := s.embed.from.Embed(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	if len(vectors) != 1 || !usable(s.embed.from.Model(), vectors[0]) {
		return nil, errors.New("the embedding provider answered no vector")
	}
	s.embed.questions.put(text, vectors[0])
	return vectors[0], nil
}

// questions keeps the vectors of the last questions.
type questions struct {
	mu    sync.Mutex
	known map[string][]float32
	order []string // oldest first
}

func (q *questions) get(text string) []float32 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.known[text]
}

func (q *questions) put(text string, v []float32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.known == nil {
		q.known = make(map[string][]float32)
	}
	if q.known[text] == nil {
		q.order = append(q.order, text)
	}
	q.known[text] = v
	if len(q.order) > keptQuestions {
		delete(q.known, q.order[0])
		q.order = append(q.order[:0], q.order[1:]...)
	}
}
