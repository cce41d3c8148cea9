package outbound

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

const secret = "sk-marked-77e1"

// site answers /KIND with a redirect to where the test says, and keeps what it was
// sent.
type site struct {
	*httptest.Server
	mu   sync.Mutex
	to   string
	seen []http.Header
}

func newSite(t *testing.T) *site {
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen = append(s.seen, r.Header.Clone())
		var status int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &status); err == nil {
			w.Header().Set("Location", s.to)
			w.WriteHeader(status)
			return
		}
		_, _ = w.Write([]byte("<meta http-equiv=refresh content='0;url=http://127.0.0.1/'>here"))
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) port() string { return s.URL[strings.LastIndexByte(s.URL, ':')+1:] }

// TestSSR03RedirectsInside is SSR-03: every hop goes through the guard.
func TestSSR03RedirectsInside(t *testing.T) {
	outside, inner := newSite(t), newSite(t)
	g := newGuard(t, Options{Allow: []string{"127.0.0.1:" + outside.port()}})
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{inner.URL, "http://169.254.169.254/latest/", "//127.0.0.1/", "https://localhost/", "file:///etc/passwd", "http://[::1]/", "http://10.0.0.1/"} {
			outside.to = to
			_, _, err := g.Fetch(t.Context(), Request{URL: fmt.Sprintf("%s/%d", outside.URL, status)})
			if kindOf(err) != Refused {
				t.Errorf("%d to %s: %v", status, to, err)
			}
		}
	}
	if len(inner.seen) > 0 {
		t.Error("the inner site was asked")
	}
	outside.to = "/302"
	outside.seen = nil
	if _, _, err := g.Fetch(t.Context(), Request{URL: outside.URL + "/302"}); kindOf(err) != Refused || len(outside.seen) != DefaultHops+1 {
		t.Errorf("a redirect to itself: %v after %d calls", err, len(outside.seen))
	}
	r, body, err := g.Fetch(t.Context(), Request{URL: outside.URL + "/page"})
	if err != nil || r.Status != 200 || !strings.Contains(string(body), "here") {
		t.Errorf("a page that refreshes itself elsewhere is read as it is: %v", err)
	}
}

// TestSSR03SecretsStayWithTheirHost wants what was meant for one host to reach no
// other, and not to come back by way of one.
func TestSSR03SecretsStayWithTheirHost(t *testing.T) {
	first, second := newSite(t), newSite(t)
	g := newGuard(t, Options{Allow: []string{"127.0.0.1", "localhost"}})
	header := map[string]string{"Authorization": "Bearer " + secret, "X-Api-Key": secret, "Cookie": "a=" + secret, "X-Custom": secret, "Accept": "text/html"}
	told := func(s *site) bool {
		for _, h := range s.seen {
			if strings.Contains(fmt.Sprint(h), secret) {
				return true
			}
		}
		return false
	}
	first.to = second.URL + "/page"
	if _, _, err := g.Fetch(t.Context(), Request{URL: first.URL + "/302?api_key=" + secret, Header: header}); err != nil {
		t.Fatal(err)
	}
	if !told(first) || told(second) || second.seen[0].Get("Accept") != "text/html" {
		t.Errorf("the first saw the secret: %v; the second: %v", told(first), second.seen)
	}
	// The same machine by another name is another host.
	second.seen = nil
	first.to = "http://localhost:" + second.port() + "/page"
	if _, _, err := g.Fetch(t.Context(), Request{URL: first.URL + "/302", Header: header}); err != nil || told(second) {
		t.Errorf("%v, %v", err, second.seen)
	}
	// There and back again.
	first.seen, second.seen = nil, nil
	first.to, second.to = second.URL+"/302", first.URL+"/page"
	if _, _, err := g.Fetch(t.Context(), Request{URL: first.URL + "/302", Header: header}); err != nil {
		t.Fatal(err)
	}
	first.seen = first.seen[1:]
	if told(first) || told(second) {
		t.Error("the secret came back by way of another host")
	}
	// Within one host it goes on.
	first.seen = nil
	first.to = "/page"
	if _, _, err := g.Fetch(t.Context(), Request{URL: first.URL + "/302", Header: header}); err != nil || first.seen[1].Get("X-Api-Key") != secret {
		t.Errorf("%v, %v", err, first.seen)
	}
}

func TestPostsAreNotRedirected(t *testing.T) {
	first, second := newSite(t), newSite(t)
	first.to = second.URL
	g := newGuard(t, Options{Allow: []string{"127.0.0.1"}})
	for _, status := range []int{301, 302, 303, 307, 308} {
		_, _, err := g.Fetch(t.Context(), Request{URL: fmt.Sprintf("%s/%d", first.URL, status), Method: http.MethodPost, Body: []byte("text")})
		if kindOf(err) != Refused {
			t.Errorf("%d: %v", status, err)
		}
	}
	if len(second.seen) > 0 {
		t.Error("what was posted went on")
	}
}

func TestNoDowngrade(t *testing.T) {
	plainSite := newSite(t)
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plainSite.URL, http.StatusFound)
	}))
	defer secure.Close()
	g := newGuard(t, Options{Allow: []string{"127.0.0.1"}})
	g.transport.TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig
	if _, _, err := g.Fetch(t.Context(), Request{URL: secure.URL}); kindOf(err) != Refused || len(plainSite.seen) > 0 {
		t.Errorf("from https to http: %v", err)
	}
}

func TestErrorsHoldNoURL(t *testing.T) {
	s := newSite(t)
	s.to = "http://10.0.0.1/?token=" + secret
	g := newGuard(t, Options{Allow: []string{"127.0.0.1"}})
	for _, raw := range []string{s.URL + "/302?key=" + secret, "http://10.0.0.1/?key=" + secret, "http://u:" + secret + "@example.com/", "http://nowhere.invalid/" + secret, "http://" + secret + ":x/"} {
		_, _, err := g.Fetch(t.Context(), Request{URL: raw})
		if err == nil || strings.Contains(err.Error(), secret[:8]) || strings.Contains(err.Error(), "10.0.0.1") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
