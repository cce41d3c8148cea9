package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"abagraph/internal/embed"
	"abagraph/internal/models/standin"
	"abagraph/internal/onenode"
	"abagraph/internal/words"
	"abagraph/memory"
)

// pastWorld is a server with a random history.
type pastWorld struct {
	*rig
	root     *rig
	reader   *rig // who asks
	door     memory.Options
	rnd      *rand.Rand // of what happens
	asking   *rand.Rand // of what is asked
	steps    int
	ids      []string
	forks    []string
	closed   map[string]uint64 // branches that were closed, and at which tx
	times    []int64
	vectors  *moody
	fading   bool // transient facts are written, too
	policies int
	first    int64
	model    *standin.Server
	blobs    []string
	pure     bool // nothing is purged
}

// moody is a provider of vectors that fails when it is told to.
type moody struct {
	embed.Provider
	down atomic.Bool
}

func (m *moody) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if m.down.Load() {
		return nil, errors.New("the provider is down")
	}
	return m.Provider.Embed(ctx, texts)
}

var (
	pastTimes = []int64{0, -5, 1_500_000_000_000, 1_600_000_000_000, 1_600_000_000_001, 1_700_000_000_000, 4_000_000_000_000}
	pastNames = []string{"Person:ada", "Person:bob", "Person:eve", "Org:acme", "Org:beta", "City:oslo", "bob", "Zoë:1"}
	pastTexts = []string{`"Person:ada"`, `"Person:bob"`, `"Org:acme"`, `"Org:beta"`, `"City:oslo"`, `"bob"`, `"Person:ghost"`, `"manager of the northern office"`, `"a doctor in 2021"`, `1`, `2.50`, `true`, `null`, `"x"`, `"Zoë:1"`}
	pastVerbs = []string{"works_at", "works_at", "lives_in", "knows", "likes", "title", "references", "status"}
	pastSaid  = []string{`null`, `"hr"`, `"crm"`, `"call-session-7"`}
)

func newPastWorld(t *testing.T, seed uint64) *pastWorld {
	t.Helper()
	table, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	hash, err := embed.New(embed.Options{Provider: embed.Hash})
	if err != nil {
		t.Fatal(err)
	}
	w := &pastWorld{rnd: newDice(seed, 5), asking: newDice(seed, 6), closed: map[string]uint64{}, vectors: &moody{Provider: hash}, fading: seed%4 == 2}
	w.door = memory.Options{AdminKey: "root", Words: table, Leads: func() bool { return false }}
	if seed%3 != 0 {
		w.door.Embedder, w.door.Embedding, w.door.EmbedTimeout = w.vectors, "hash", time.Minute
	}
	w.pure = seed%5 < 2
	w.model = standin.New(t, func(c standin.Call) standin.Reply {
		if c.Name == "answer" {
			return standin.Reply{JSON: `{"answer":"At beta.","confidence":0.9,"used":[1,2]}`}
		}
		return hrReader().reply(c)
	})
	w.door.Models = localModels(t)
	w.root = servePast(t, onenode.Start(t), w.door)
	w.rig = w.root.as(w.root.post("/api/tenants", `{"id":"a","role":"admin"}`).status(http.StatusCreated).object().text("key"))
	w.root.post("/api/tenants", `{"id":"b"}`).status(http.StatusCreated)
	w.reader = w.root
	if seed%4 == 0 {
		w.reader = w.clerk()
	}
	w.first = int64(w.node.Now())
	w.times = append(append(w.times, pastTimes...), w.first)
	return w
}

func (w *pastWorld) oneIn(n int) bool { return w.rnd.IntN(n) == 0 }

func choose[T any](w *pastWorld, from []T) T { return from[w.rnd.IntN(len(from))] }

func (w *pastWorld) time() int64 {
	if w.oneIn(3) {
		return int64(w.node.Now()) + int64(w.rnd.IntN(7)) - 3
	}
	return choose(w, w.times) + int64(w.rnd.IntN(3)) - 1
}

// branch is a parameter that names a branch, or nothing.
func (w *pastWorld) branch() string {
	if len(w.forks) == 0 || w.oneIn(2) {
		return "?"
	}
	return "?branch=" + choose(w, w.forks) + "&"
}

func (w *pastWorld) live(n int) {
	w.t.Helper()
	for range n {
		w.steps++
		w.vectors.down.Store(w.oneIn(3))
		w.step()
		w.vectors.down.Store(false)
		if w.oneIn(4) {
			w.node.Advance(time.Duration(w.rnd.IntN(3000)) * time.Millisecond)
		}
	}
}

// fine notes what a write made, and refuses what no write may answer.
func (w *pastWorld) fine(p *reply) *reply {
	w.t.Helper()
	if p.Status >= 500 || p.Status == http.StatusBadRequest {
		w.t.Fatalf("%d %s", p.Status, p.Body)
	}
	return p
}

func (w *pastWorld) step() {
	w.t.Helper()
	switch w.rnd.IntN(30) {
	default:
		d := w.fine(w.post("/api/facts"+w.branch(), w.statement())).object()
		if id, ok := d["id"].(string); ok {
			w.ids = append(w.ids, id)
			if at, err := d["recorded_at"].(json.Number).Int64(); err == nil && w.oneIn(3) {
				w.times = append(w.times, at)
			}
		}
	case 0, 1, 2:
		if len(w.ids) > 0 {
			w.fine(w.delete("/api/facts/" + choose(w, w.ids) + w.branch()))
		}
	case 3, 4, 5, 6:
		w.transact()
	case 7, 8:
		w.page()
	case 9:
		w.fine(w.post("/api/digest"+w.branch(), `{"source":"notes","facts":[`+w.statement()+`,`+w.statement()+`]}`))
	case 10:
		w.fine(w.post("/api/digest"+w.branch(), `{"subject":"Note:`+strconv.Itoa(w.steps)+`","content":"[[Person:ada]] met [[Org:beta|Beta]] at [[City:oslo]]."}`))
		if w.oneIn(2) {
			w.fine(w.post("/api/digest"+w.branch(), digestBody(w.t, w.model, "openai", hrText+strings.Repeat(" More.", w.rnd.IntN(3)), `"source":"hr-doc"`)))
			for _, f := range w.get("/api/facts?status=all&predicate=content&limit=10000").list() {
				if o, ok := f["object"].(map[string]any); ok && !slices.Contains(w.blobs, o["hash"].(string)) {
					w.blobs = append(w.blobs, o["hash"].(string))
				}
			}
		}
	case 11, 12:
		w.lease()
	case 13, 14:
		w.fork()
	case 15:
		if w.oneIn(3) {
			w.fine(w.post("/api/sources/"+choose(w, []string{"crm", "hr", "notes", "hr-doc"})+"/undo"+w.branch(), ""))
		}
	case 16:
		w.fine(w.post("/api/consolidate"+w.branch(), ""))
	case 17:
		w.policy()
	case 18:
		w.others()
	case 19:
		w.fine(w.post("/api/reports", `{"name":"weekly","title":"The week","window_secs":`+strconv.Itoa(3600*(1+w.rnd.IntN(5)))+`}`))
		w.fine(w.post("/api/reports/weekly/run", ""))
	case 20:
		w.embedAll()
	case 21:
		w.node.Advance(time.Duration(w.rnd.IntN(3_000_000)) * time.Millisecond)
		w.node.Sweep(w.t)
	case 22:
		w.fine(w.post("/api/connectors", `{"name":"crm","mapping":{"subject":"Person:$id","fields":{"company":"works_at","role":"title"}}}`))
		w.fine(w.post("/api/connectors/crm/events", fmt.Sprintf(`{"id":%q,"company":"Org:acme","role":"r%d"}`, choose(w, []string{"ada", "bob"}), w.rnd.IntN(4))))
	case 23:
		w.fine(w.root.post("/api/secrets?tenant=a", fmt.Sprintf(`{"name":"s%d","reference":"env:S%d"}`, w.rnd.IntN(3), w.rnd.IntN(3))))
	}
}

// statement is one assert.
func (w *pastWorld) statement() string {
	f := []string{fmt.Sprintf(`"subject":%q,"predicate":%q,"object":%s`, choose(w, pastNames), choose(w, pastVerbs), choose(w, pastTexts))}
	if w.oneIn(2) {
		from := w.time()
		f = append(f, fmt.Sprintf(`"valid_from":%d`, from))
		if w.oneIn(2) {
			f = append(f, fmt.Sprintf(`"valid_until":%d`, from+1+w.rnd.Int64N(choose(w, []int64{3, 5000, 10_000_000, 400_000_000_000}))))
		}
	} else if w.oneIn(4) {
		f = append(f, fmt.Sprintf(`"valid_until":%d`, int64(w.node.Now())+60_000+w.rnd.Int64N(4_000_000)))
		if w.fading {
			f = append(f, `"transient":true`)
		}
	}
	f = append(f, `"source":`+choose(w, pastSaid), fmt.Sprintf(`"confidence":%v`, choose(w, []float64{0.4, 0.74, 0.75, 0.9, 1, 1, 1})))
	if w.oneIn(4) {
		f = append(f, `"policy":`+choose(w, []string{`"coexist"`, `"coexist"`, `"reject"`}))
	}
	if w.oneIn(4) {
		f = append(f, fmt.Sprintf(`"properties":{"session":"s%d","turn":%d,"note":"said twice"}`, w.rnd.IntN(3), w.rnd.IntN(5)))
	}
	return "{" + strings.Join(f, ",") + "}"
}

func (w *pastWorld) transact() {
	w.t.Helper()
	var asserts, retracts []string
	for range w.rnd.IntN(4) {
		asserts = append(asserts, w.statement())
	}
	if len(w.ids) > 0 && (w.oneIn(2) || len(asserts) == 0) {
		retracts = append(retracts, strconv.Quote(choose(w, w.ids)))
	}
	if len(asserts)+len(retracts) == 0 {
		return
	}
	body := `{"asserts":[` + strings.Join(asserts, ",") + `],"retracts":[` + strings.Join(retracts, ",") + `]`
	if w.oneIn(4) {
		at := min(w.time(), int64(w.node.Now()))
		body += fmt.Sprintf(`,"backfill":{"declared_known_at":%d,"reason":"archive"}`, at)
	}
	p := w.fine(w.post("/api/transact"+w.branch(), body+"}"))
	if p.Status == http.StatusOK {
		for _, f := range p.object()["facts"].([]any) {
			w.ids = append(w.ids, f.(map[string]any)["id"].(string))
		}
	}
}

func (w *pastWorld) page() {
	w.t.Helper()
	body := fmt.Sprintf(`{"body":"About [[%s]] and [[%s|it]], %d.","citations":[{"url":"https://a.example/%d","quote":"q%d"}]`,
		choose(w, pastNames), choose(w, pastNames), w.rnd.IntN(3), w.rnd.IntN(2), w.rnd.IntN(2))
	if w.oneIn(2) {
		body += fmt.Sprintf(`,"title":"T%d"`, w.rnd.IntN(3))
	}
	w.fine(w.do(http.MethodPut, "/api/pages/"+url.PathEscape(choose(w, pastNames[:3]))+w.branch(), body+"}"))
}

func (w *pastWorld) lease() {
	w.t.Helper()
	who, what := choose(w, []string{"x", "y"}), choose(w, []string{"job", "door"})
	switch w.rnd.IntN(3) {
	case 0:
		w.fine(w.post("/api/leases/"+what+"/release", `{"holder":"`+who+`"}`))
	default:
		w.fine(w.post("/api/leases", fmt.Sprintf(`{"resource":%q,"holder":%q,"ttl_secs":%d}`, what, who, 1+w.rnd.IntN(2000))))
	}
}

// fork makes branches, and now and then closes one.
func (w *pastWorld) fork() {
	w.t.Helper()
	if len(w.forks) > 1 && w.oneIn(3) {
		name := choose(w, w.forks)
		done := w.fine(w.post("/api/branches/"+name+"/"+choose(w, []string{"promote", "discard"}), ""))
		if done.Status == http.StatusOK {
			tx, _ := strconv.ParseUint(done.Header.Get("X-Abagraph-Tx"), 10, 64)
			w.closed[name] = tx
			w.forks = slices.DeleteFunc(w.forks, func(n string) bool { return n == name })
		}
		return
	}
	if len(w.forks) == 4 {
		return
	}
	name, parent := fmt.Sprintf("b%d", w.steps), "main"
	if len(w.forks) > 0 && w.oneIn(2) {
		parent = choose(w, w.forks)
	}
	body := fmt.Sprintf(`{"name":%q,"parent":%q`, name, parent)
	if w.oneIn(3) {
		body += fmt.Sprintf(`,"as_of":%d`, min(choose(w, w.times), int64(w.node.Now())))
	}
	if w.fine(w.post("/api/branches", body+"}")).Status == http.StatusCreated {
		w.forks = append(w.forks, name)
	}
}

// clerk is a reader whom a policy shows a part of the facts.
func (w *pastWorld) clerk() *rig {
	w.t.Helper()
	w.fine(w.root.do(http.MethodPut, "/api/policy?tenant=a", `{"version":"v0","rules":[{"role":"admin","permissions":["facts:*","branch:*"]},{"role":"clerk","permissions":["facts:read"]},
		{"role":"clerk","effect":"deny","permissions":["facts:read"],"predicates":["likes","title"]},{"role":"clerk","effect":"deny","permissions":["facts:read"],"sources":["hr"]}],
		"roles":[{"agent":"clerk","role":"clerk"}]}`))
	key := w.root.post("/api/tenants/a/keys", `{"name":"clerk","role":"read"}`).status(http.StatusCreated).object()
	return w.root.as(key.text("key"))
}

func (w *pastWorld) policy() {
	w.t.Helper()
	if w.reader != w.root {
		return // who may see what is a matter of today
	}
	w.policies++
	w.fine(w.root.do(http.MethodPut, "/api/policy?tenant=a", fmt.Sprintf(`{"version":"v%d","rules":[{"role":"admin","permissions":["facts:*","branch:*"]},{"role":"clerk","permissions":["facts:read"],"predicates":["p%d"]}],
		"roles":[{"agent":"agent-%d","role":"clerk"}]}`, w.policies, w.policies, w.policies)))
}

// others is what happens in another tenant, which is nobody's concern.
func (w *pastWorld) others() {
	w.t.Helper()
	for range 3 {
		w.fine(w.root.post("/api/facts?tenant=b", w.statement()))
	}
	if w.fading { // and what will be erased
		w.fine(w.post("/api/facts"+w.branch(), fmt.Sprintf(`{"subject":"Gone:1","predicate":"knows","object":"Person:%d","transient":true,"valid_until":4000000000000}`, w.rnd.IntN(4))))
	}
	if !w.pure && w.oneIn(2) {
		w.fine(w.root.post("/api/admin/purge?tenant=b&confirm=1&subject="+url.QueryEscape(choose(w, pastNames)), ""))
	}
}

// embedAll waits until every fact has a vector.
func (w *pastWorld) embedAll() {
	w.t.Helper()
	w.vectors.down.Store(false)
	if w.door.Embedder == nil {
		return
	}
	w.root.post("/api/embeddings", "").status(http.StatusOK)
	for w.root.get("/api/embeddings?tenant=a").status(http.StatusOK).object()["job"].(map[string]any)["running"] == true {
		time.Sleep(time.Millisecond)
	}
}

// night is what happens when nobody looks: everything that is due, erasures, another
// tenant's end, and vectors for all.
func (w *pastWorld) night() {
	w.t.Helper()
	w.node.Advance(3 * time.Hour)
	w.node.Sweep(w.t)
	w.embedAll()
	if !w.pure {
		w.fine(w.root.post("/api/admin/purge?tenant=b&confirm=1&prefix=P", ""))
	}
	if w.fading {
		w.fine(w.root.post("/api/admin/purge?tenant=a&confirm=1&subject=Gone:1", ""))
	}
	w.fine(w.root.delete("/api/tenants/b"))
}
