package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/internal/outbound"
)

const secret = "sk-marked-5f2a9c"

// fake is an endpoint whose next answers a test decides.
type fake struct {
	*httptest.Server
	t     *testing.T
	asked atomic.Int64
	reply func(n int64, q question, w http.ResponseWriter)
}

func newFake(t *testing.T, reply func(n int64, q question, w http.ResponseWriter)) *fake {
	f := &fake{t: t, reply: reply}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q question
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		if r.Method != http.MethodPost || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer "+secret || r.URL.RawQuery != "" {
			t.Errorf("asked %s %s as %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		f.reply(f.asked.Add(1), q, w)
	}))
	t.Cleanup(f.Close)
	return f
}

// vectors answers right: the second number tells the text's length.
func vectors(q question, w http.ResponseWriter) {
	var parts []string
	for i := len(q.Input) - 1; i >= 0; i-- { // index decides, not the order
		parts = append(parts, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[1,%d]}`, i, len(q.Input[i])))
	}
	fmt.Fprintf(w, `{"object":"list","data":[%s],"usage":{}}`, strings.Join(parts, ","))
}

func (f *fake) provider(o Options) Provider {
	f.t.Helper()
	o.Provider, o.Key, o.BaseURL = HTTP, secret, f.URL+"/v1/"
	if o.Dim == 0 {
		o.Dim = 2
	}
	if o.Model == "" {
		o.Model = "small"
	}
	o.Jitter = func() float64 { return 0 }
	o.Guard = local(f.t)
	p, err := New(o)
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

// local lets this machine's own addresses through.
func local(t *testing.T) *outbound.Guard {
	t.Helper()
	g, err := outbound.New(outbound.Options{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func unit(v ...float32) []float32 { fact.Unit(v); return v }

func TestEndpointAnswersUnitVectorsInOrder(t *testing.T) {
	f := newFake(t, func(_ int64, q question, w http.ResponseWriter) {
		if q.Model != "small" || q.Encoding != "float" || q.Dimensions != 0 {
			t.Errorf("asked for %+v", q)
		}
		vectors(q, w)
	})
	p := f.provider(Options{})
	if m := p.Model(); m != (fact.Model{Name: "small", Dim: 2}) {
		t.Fatalf("the model is %+v", m)
	}
	var texts []string
	var want [][]float32
	for i := range 600 {
		texts = append(texts, strings.Repeat("x", i%50))
		want = append(want, unit(1, float32(i%50)))
	}
	got, err := p.Embed(t.Context(), texts)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, %v", got, err)
	}
	if n := f.asked.Load(); n != 3 {
		t.Fatalf("600 texts took %d calls", n)
	}
}

func TestDimensionIsAskedForWhereTheModelTakesOne(t *testing.T) {
	for model, want := range map[string]int{"text-embedding-3-large": 2, "text-embedding-ada-002": 0, "nomic": 0} {
		f := newFake(t, func(_ int64, q question, w http.ResponseWriter) {
			if q.Dimensions != want {
				t.Errorf("%s was asked for dimension %d", model, q.Dimensions)
			}
			vectors(q, w)
		})
		if _, err := f.provider(Options{Model: model}).Embed(t.Context(), []string{"a"}); err != nil {
			t.Error(err)
		}
	}
}

// TestSRC02ProviderFaults is SRC-02's faulty provider: each fault is told in plain
// words that hold neither the key nor what the provider said, and leaves the
// texts without vectors.
func TestSRC02ProviderFaults(t *testing.T) {
	echo := `{"error":{"message":"Incorrect API key provided: ` + secret + `"}}`
	list := func(embedding string) func(int64, question, http.ResponseWriter) {
		return func(_ int64, _ question, w http.ResponseWriter) {
			fmt.Fprintf(w, `{"data":[{"index":0,"embedding":%s}]}`, embedding)
		}
	}
	status := func(code int) func(int64, question, http.ResponseWriter) {
		return func(_ int64, _ question, w http.ResponseWriter) {
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
			w.WriteHeader(code)
			io.WriteString(w, echo)
		}
	}
	for name, c := range map[string]struct {
		reply func(int64, question, http.ResponseWriter)
		asked int64
		says  string
	}{
		"500":             {status(500), 3, "answered 500"},
		"429":             {status(429), 3, "answered 429"},
		"401":             {status(401), 1, "answered 401"},
		"a redirect":      {status(307), 1, "redirects are not followed"},
		"201":             {status(201), 1, "answered 201"},
		"wrong dimension": {list(`[1,2,3]`), 1, "a vector of 3 numbers, and 2 are set"},
		"NaN":             {list(`[NaN,1]`), 1, "no list of vectors"},
		"beyond float32":  {list(`[1e39,1]`), 1, "no list of vectors"},
		"zeros":           {list(`[0,0]`), 1, "without a direction"},
		"empty":           {list(`[]`), 1, "an empty vector"},
		"null":            {list(`null`), 1, "an empty vector"},
		"text":            {func(_ int64, _ question, w http.ResponseWriter) { io.WriteString(w, "hello "+secret) }, 1, "no list of vectors"},
		"no vectors":      {func(_ int64, _ question, w http.ResponseWriter) { io.WriteString(w, `{"data":[]}`) }, 1, "answered 0 vectors to 1 texts"},
		"of another text": {func(_ int64, _ question, w http.ResponseWriter) {
			io.WriteString(w, `{"data":[{"index":7,"embedding":[1,2]}]}`)
		}, 1, "belong to no text"},
		"a huge body":        {func(_ int64, _ question, w http.ResponseWriter) { io.WriteString(w, strings.Repeat("[", 1<<20)) }, 1, "answered more than"},
		"a connection reset": {func(int64, question, http.ResponseWriter) { panic(http.ErrAbortHandler) }, 3, "could not be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.reply)
			got, err := f.provider(Options{}).Embed(t.Context(), []string{"text"})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v", err)
			}
			if err != nil && (strings.Contains(err.Error(), secret[:8]) || strings.Contains(err.Error(), "127.0.0.1")) {
				t.Errorf("the error tells too much: %v", err)
			}
			if len(got) != 1 || got[0] != nil {
				t.Errorf("got vectors %v", got)
			}
			if n := f.asked.Load(); n != c.asked {
				t.Errorf("the provider was asked %d times, not %d", n, c.asked)
			}
		})
	}
}

func TestSlowProviderKeepsToTheTime(t *testing.T) {
	block := make(chan struct{})
	f := newFake(t, func(int64, question, http.ResponseWriter) { <-block })
	defer close(block)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := f.provider(Options{}).Embed(ctx, []string{"text"})
	if err == nil || !strings.Contains(err.Error(), "did not answer in time") {
		t.Fatalf("the error is %v", err)
	}
}

func TestSecondAttemptHelps(t *testing.T) {
	f := newFake(t, func(n int64, q question, w http.ResponseWriter) {
		if n == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		vectors(q, w)
	})
	var slept []time.Duration
	p := f.provider(Options{Sleep: func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil }})
	got, err := p.Embed(t.Context(), []string{"abc"})
	if err != nil || !reflect.DeepEqual(got, [][]float32{unit(1, 3)}) {
		t.Fatalf("got %v, %v", got, err)
	}
	if !slices.Equal(slept, []time.Duration{time.Second}) {
		t.Fatalf("slept %v", slept)
	}
}

// TestFailuresPause: a provider that failed is left alone for a while, longer each
// time, and one that works again is asked at once.
func TestFailuresPause(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	f := newFake(t, func(_ int64, q question, w http.ResponseWriter) {
		if broken.Load() {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		vectors(q, w)
	})
	now := time.Unix(1, 0)
	var told []error
	p := f.provider(Options{Now: func() time.Time { return now }, Told: func(err error) { told = append(told, err) }})
	embed := func() error { _, err := p.Embed(t.Context(), []string{"a"}); return err }
	want := int64(0)
	for _, rest := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		want++
		if err := embed(); err == nil || !strings.Contains(err.Error(), "answered 400") {
			t.Fatal(err)
		}
		now = now.Add(rest*time.Second - time.Millisecond)
		if err := embed(); err == nil || !strings.Contains(err.Error(), "is left alone for a while") {
			t.Fatal(err)
		}
		now = now.Add(time.Millisecond)
	}
	broken.Store(false)
	for range 2 {
		if err := embed(); err != nil {
			t.Fatal(err)
		}
	}
	if len(told) != 2 || told[0] == nil || told[1] != nil {
		t.Errorf("it was told %v", told)
	}
	if n := f.asked.Load(); n != want+2 {
		t.Fatalf("the provider was asked %d times, not %d", n, want+2)
	}
}

// TestGivingUpIsNoFailure: a caller who goes away does not make the others wait.
func TestGivingUpIsNoFailure(t *testing.T) {
	arrived := make(chan struct{}, 1)
	block := make(chan struct{})
	f := newFake(t, func(n int64, q question, w http.ResponseWriter) {
		if n == 1 {
			arrived <- struct{}{}
			<-block
		}
		vectors(q, w)
	})
	p := f.provider(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	if _, err := p.Embed(ctx, []string{"a"}); err == nil {
		t.Fatal("a call that was given up succeeded")
	}
	close(block)
	if _, err := p.Embed(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
}

// TestSomeVectorsAreKept: a vector that is unusable costs its own text only.
func TestSomeVectorsAreKept(t *testing.T) {
	f := newFake(t, func(_ int64, _ question, w http.ResponseWriter) {
		io.WriteString(w, `{"data":[{"embedding":[1,2]},{"embedding":[0,0]},{"embedding":[1,4]}]}`)
	})
	got, err := f.provider(Options{}).Embed(t.Context(), []string{"a", "b", "c"})
	if err == nil || !reflect.DeepEqual(got, [][]float32{unit(1, 2), nil, unit(1, 4)}) {
		t.Fatalf("got %v, %v", got, err)
	}
}

// TestSSR01EmbeddingEndpoint holds the embedding endpoint to the guard of every
// outbound call.
func TestSSR01EmbeddingEndpoint(t *testing.T) {
	for _, base := range []string{"http://169.254.169.254/v1", "http://localhost:11434/v1", "http://127.1/v1", "http://[::ffff:127.0.0.1]/v1", "https://10.0.0.7/v1"} {
		_, err := New(Options{Provider: HTTP, Key: secret, BaseURL: base})
		if err == nil || !strings.Contains(err.Error(), "which is refused") && !strings.Contains(err.Error(), "is not read") {
			t.Errorf("%s: %v", base, err)
		}
	}
	// What a name leads to is judged where the connection is made, and once.
	f := newFake(t, func(int64, question, http.ResponseWriter) { t.Error("the endpoint was asked") })
	guard, err := outbound.New(outbound.Options{Allow: []string{"127.0.0.1"}, Own: func() []string { return []string{strings.TrimPrefix(f.URL, "http://")} }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Options{Provider: HTTP, Key: secret, BaseURL: f.URL, Guard: guard}); err == nil {
		t.Error("the cluster's own port is an endpoint")
	}
}

func TestSettingsAreChecked(t *testing.T) {
	for name, o := range map[string]Options{
		"an unknown provider":  {Provider: "magic"},
		"a dimension below 1":  {Provider: Hash, Dim: -1},
		"a dimension too big":  {Provider: Hash, Dim: fact.MaxVectorDim + 1},
		"the same, asked for":  {Provider: OpenAI, Key: "k", Dim: fact.MaxVectorDim + 1},
		"a model without end":  {Provider: OpenAI, Key: "k", Model: strings.Repeat("x", 300)},
		"a user in the URL":    {Provider: HTTP, Key: "k", BaseURL: "http://user:pass@host/v1"},
		"a query in the URL":   {Provider: HTTP, Key: "k", BaseURL: "http://host/v1?api_key=" + secret},
		"no host":              {Provider: HTTP, Key: "k", BaseURL: "http:///v1"},
		"a file":               {Provider: HTTP, Key: "k", BaseURL: "file:///etc/passwd"},
		"a key with a newline": {Provider: OpenAI, Key: secret + "\n"},
	} {
		p, err := New(o)
		if err == nil || p != nil {
			t.Errorf("%s was accepted", name)
		} else if strings.Contains(err.Error(), secret[:8]) {
			t.Errorf("%s: the error tells the key: %v", name, err)
		}
	}
	if _, err := New(Options{Provider: OpenAI}); !errors.Is(err, ErrNoKey) {
		t.Errorf("without a key: %v", err)
	}
	for _, none := range []string{"", Words, Off} {
		if p, err := New(Options{Provider: none}); p != nil || err != nil {
			t.Errorf("%q: %v, %v", none, p, err)
		}
	}
	p, err := New(Options{Provider: OpenAI, Key: "k"})
	if err != nil || p.Model() != (fact.Model{Name: "text-embedding-3-small", Dim: 1536}) {
		t.Errorf("the defaults are %v, %v", p, err)
	}
}

// TestHashIsStable holds the hash to the vectors of the release that introduced
// it: stored ones must go on comparing.
func TestHashIsStable(t *testing.T) {
	p, err := New(Options{Provider: Hash})
	if err != nil || p.Model() != (fact.Model{Name: "hash", Dim: 64}) {
		t.Fatal(p, err)
	}
	list, err := p.Embed(t.Context(), []string{"Person:alice works_at Company:acme", "", "a", "Person:alice works at Company:acme", "zzz"})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range list {
		if d := fact.Dot(v, v); len(v) != 64 || d < 0.999999 || d > 1.000001 {
			t.Errorf("text %d has a vector of %d numbers and length² %v", i, len(v), d)
		}
	}
	if near, far := fact.Dot(list[0], list[3]), fact.Dot(list[0], list[4]); near < 0.7 || far > 0.4 {
		t.Errorf("near texts have %v, others %v", near, far)
	}
	sum := uint64(0)
	for i, x := range list[0] {
		sum = sum*31 + uint64(int64(x*1000)+int64(i))
	}
	if sum != 2001725586665317702 {
		t.Errorf("the hash of this release gives %d", sum)
	}
}
