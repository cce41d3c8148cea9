package http_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	httpd "abagraph/http"
	"abagraph/ingest"
	"abagraph/internal/models/standin"
	"abagraph/internal/outbound"
	"abagraph/memory"
)

const acmePage = `<html><head><title>Acme</title></head><body><nav>Home</nav><h1>We sell widgets</h1><p>Acme sells widgets to mid-market teams.</p></body></html>`

// site is a company's web server that also stands in for the scrapers.
func site(t *testing.T, robots string) (server *httptest.Server, first func() string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.URL.Path)
		mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		var sent struct {
			URL  string
			URLs []string
		}
		_ = json.Unmarshal(body, &sent)
		switch r.URL.Path {
		case "/robots.txt":
			if robots == "" {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = io.WriteString(w, robots)
		case "/scrape":
			fmt.Fprintf(w, `{"success":true,"data":{"markdown":"# Acme\n\nAcme sells widgets to mid-market teams. %s","metadata":{}}}`, sent.URL)
		case "/extract":
			fmt.Fprintf(w, `{"results":[{"url":%q,"raw_content":"Acme sells widgets to mid-market teams."}],"failed_results":[]}`, sent.URLs[0])
		case "/denied/scrape":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, "no such key "+r.Header.Get("Authorization"))
		case "/inside":
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
		case "/rebranded":
			http.Redirect(w, r, "http://127.0.0.1"+r.Host[strings.Index(r.Host, ":"):]+"/about", http.StatusMovedPermanently)
		case "/moved":
			http.Redirect(w, r, "/private/page", http.StatusFound)
		case "/latin":
			w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
			_, _ = io.WriteString(w, strings.Replace(acmePage, "mid-market", "caf\xe9", 1))
		case "/shift":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<meta charset=shift_jis>"+strings.Replace(acmePage, "mid-market", "\x93\xfa\x96{", 1))
		case "/echo/scrape":
			fmt.Fprintf(w, `{"data":{"markdown":"Acme sells widgets to %s"}}`, r.Header.Get("Authorization"))
		case "/picture":
			w.Header().Set("Content-Type", "image/png")
		case "/gone":
			w.WriteHeader(http.StatusGone)
		default:
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, acmePage)
		}
	}))
	t.Cleanup(s.Close)
	return s, func() string { mu.Lock(); defer mu.Unlock(); return asked[0] }
}

func siteReader() reader {
	return reader{facts: func(string) string {
		return found("Brand:127-0-0-1", "sells", "widgets", "Acme sells widgets to mid-market teams", "several")
	}}
}

// TestScrape fetches a page in each of the three ways: the same brand, the receipt of a
// digest, and what is known of the brand now.
func TestScrape(t *testing.T) {
	r, s := withModel(t, memory.Options{}, siteReader().reply)
	web, asked := site(t, "User-agent: *\nDisallow: /private\nAllow: /private/open\n\nUser-agent: abagraph\nDisallow: /secret*x$\n")
	for i, scraper := range []string{
		`{"provider":"http"}`, `{"provider":"firecrawl","key":"` + modelKey + `","endpoint":"` + web.URL + `"}`, `{"provider":"tavily","key":"` + modelKey + `","endpoint":"` + web.URL + `"}`,
	} {
		got := r.post("/api/digest/scrape", `{"url":"`+web.URL+`/about?token=hidden","scraper":`+scraper+`,"model":`+s.Config("openai", modelKey)+`}`).status(200).object()
		if got.text("brand") != "Brand:127-0-0-1" || len(got["recalled"].([]any)) != 1 || got.number("written")+got.number("duplicates") != 1 {
			t.Errorf("%s: %v", scraper, got)
		}
		if i == 0 && (got.number("written") != 1 || got.text("label") != "Acme") {
			t.Errorf("%v", got)
		}
	}
	if asked() != "GET /robots.txt" {
		t.Errorf("asked first: %s", asked())
	}
	f := r.get("/api/facts?predicate=sells").list()[0]
	if f.text("source") != web.URL+"/about" {
		t.Errorf("the fact is %v", f)
	}
	if !strings.Contains(s.Calls()[0].System, "public page") || strings.Contains(s.Calls()[0].Text, "Home") {
		t.Errorf("the model was asked %+v", s.Calls()[0])
	}
	for path, ok := range map[string]bool{"/private": true, "/secret1x": false, "/secret/a/x": false, "/secretxy": true, "/secrets": true} {
		answer := r.post("/api/digest/scrape", `{"url":"`+web.URL+path+`","model":`+s.Config("openai", modelKey)+`}`)
		if (answer.Status == 200) != ok || !ok && !strings.Contains(answer.Body, "robots.txt") {
			t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
		}
	}
	if all := r.logs.String() + r.get("/api/facts?status=all").Body; strings.Contains(all, modelKey[:8]) || strings.Contains(all, "hidden") || !strings.Contains(all, "abagraph.scrape") {
		t.Errorf("told: %s", all)
	}
}

// TestScrapeOfASiteThatMoved: the brand is that of the site that was asked for, by
// whichever fetcher, though only some of them know where it leads to.
func TestScrapeOfASiteThatMoved(t *testing.T) {
	s := standin.New(t, siteReader().reply)
	guard, err := outbound.New(outbound.Options{Allow: []string{"127.0.0.1", "localhost"}})
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, "", func(c *httpd.Config) {
		c.Desk = &ingest.Desk{Memory: c.Memory, Models: localModels(t), Guard: guard, PDF: inProcess}
		t.Cleanup(c.Desk.Close)
	})
	web, _ := site(t, "")
	for _, scraper := range []string{`{"provider":"http"}`, `{"provider":"firecrawl","key":"` + modelKey + `","endpoint":"` + web.URL + `"}`} {
		got := r.post("/api/digest/scrape", `{"url":"`+strings.Replace(web.URL, "127.0.0.1", "localhost", 1)+`/rebranded","scraper":`+scraper+`,"model":`+s.Config("openai", modelKey)+`}`).
			status(200).object()
		if got.text("brand") != "Brand:localhost" {
			t.Errorf("%s: %v", scraper, got)
		}
	}
	if f := r.get("/api/facts?predicate=sells&status=all").list(); f[len(f)-1].text("source") != web.URL+"/about" {
		t.Errorf("the source of what was read elsewhere is %v", f)
	}
}

// TestSSR03ScrapesThatFail: where a page cannot be had, nothing is written, no model
// is asked, and the error names what is at fault, without a key.
func TestSSR03ScrapesThatFail(t *testing.T) {
	r, s := withModel(t, memory.Options{}, siteReader().reply)
	web, _ := site(t, "")
	closed, _ := site(t, "User-agent: *\nDisallow: /\n")
	model := `,"model":` + s.Config("openai", modelKey)
	for body, want := range map[string]string{
		`{}`:                                  "company",
		`{"company":""` + model + `}`:         "company",
		`{"domain":"no domain"` + model + `}`: "domain",
		`{"company":"Müller"` + model + `}`:   "company",
		`{"domain":"a.com","url":"https://a.com"` + model + `}`:                                                                                  "domain",
		`{"url":"http://169.254.169.254/"` + model + `}`:                                                                                         "url",
		`{"company":"printer.local"` + model + `}`:                                                                                               "url",
		`{"url":"file:///etc/passwd"` + model + `}`:                                                                                              "url",
		`{"url":"` + web.URL + `/inside"` + model + `}`:                                                                                          "url",
		`{"url":"` + web.URL + `/picture"` + model + `}`:                                                                                         "url",
		`{"url":"` + closed.URL + `"` + model + `}`:                                                                                              "url",
		`{"url":"` + web.URL + `"}`:                                                                                                              "extract_model",
		`{"url":"` + web.URL + `","scraper":{"provider":"curl"}}`:                                                                                "scraper.provider",
		`{"url":"` + web.URL + `","scraper":{"key":"` + modelKey + `"}` + model + `}`:                                                            "scraper.key",
		`{"url":"` + web.URL + `","scraper":{"provider":"tavily"}` + model + `}`:                                                                 "scraper.key",
		`{"url":"http://10.0.0.1/","scraper":{"provider":"tavily","key":"k","endpoint":"` + web.URL + `"}` + model + `}`:                         "url",
		`{"url":"` + web.URL + `","scraper":{"provider":"firecrawl","key":"k","endpoint":"http://10.0.0.1"}` + model + `}`:                       "scraper.endpoint",
		`{"url":"` + web.URL + `","scraper":{"provider":"firecrawl","key":"` + modelKey + `","endpoint":"` + web.URL + `/denied"}` + model + `}`: "scraper",
	} {
		answer := r.post("/api/digest/scrape", body)
		answer.blames(want)
		if strings.Contains(answer.Body, modelKey[:8]) {
			t.Errorf("the key is told: %s", answer.Body)
		}
	}
	r.post("/api/digest/scrape", `{"url":"`+web.URL+`/gone"`+model+`}`).fails(503, "Closed")
	if len(s.Calls()) != 0 || len(r.get("/api/facts?status=all").list()) != 0 {
		t.Error("a scrape that failed asked a model, or wrote")
	}
}

// TestScrapesMindRobots in every hop and with the query, and read pages in whatever
// encoding they come.
func TestScrapesMindRobots(t *testing.T) {
	r, s := withModel(t, memory.Options{}, siteReader().reply)
	web, _ := site(t, "\ufeffUser-agent: *\nDisallow: /private\nDisallow: /*?print=\nDisallow: /gro\u00df\n")
	model := `,"model":` + s.Config("openai", modelKey) + `}`
	for path, ok := range map[string]bool{"/about": true, "/moved": false, "/about?print=1": false, "/about?q=1": true, "/gro%C3%9F": false, "/gr": true} {
		answer := r.post("/api/digest/scrape", `{"url":"`+web.URL+path+`"`+model)
		if (answer.Status == 200) != ok || !ok && !strings.Contains(answer.Body, "robots.txt") {
			t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
		}
	}
	open, _ := site(t, "")
	for path, want := range map[string]string{"/latin": "café", "/shift": "日本"} {
		before := len(s.Calls())
		r.post("/api/digest/scrape", `{"url":"`+open.URL+path+`"`+model).status(200)
		if got := s.Calls()[before].Text; !strings.Contains(got, want+" teams") {
			t.Errorf("%s is read as %s", path, got)
		}
	}
	r.post("/api/digest/scrape", `{"url":"`+open.URL+`","scraper":{"provider":"firecrawl","key":"`+modelKey+`","endpoint":"`+open.URL+`/echo"}`+model).fails(503, "Closed")
	if strings.Contains(r.get("/api/facts?status=all").Body+r.logs.String(), modelKey[:8]) {
		t.Error("a scraper's key is kept")
	}
}
