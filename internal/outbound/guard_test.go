package outbound

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func newGuard(t *testing.T, o Options) *Guard {
	t.Helper()
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func kindOf(err error) Kind {
	var f *Failure
	if errors.As(err, &f) {
		return f.Kind
	}
	return 0
}

// inside spells internal addresses in every way that SSR-01 knows of, and a few
// more.
var inside = []string{
	"http://[::ffff:169.254.169.254]/", "http://[::ffff:a9fe:a9fe]/", "http://[::]/", "http://[::1]/", "http://[64:ff9b::a9fe:a9fe]/",
	"http://[fe80::1%25eth0]/", "http://[fd00::1]/", "http://0.0.0.0/", "http://0/", "http://127.1/", "http://2130706433/",
	"http://0x7f000001/", "http://0177.0.0.1/", "http://127.0.0.1./", "http://LOCALHOST/", "http://localhost./", "http://100.64.0.1/",
	"http://198.18.0.1/", "http://１２７.0.0.1/", "http://127。0。0。1/", "http://①②⑦.0.0.1/", "http://user@127.0.0.1/", "http://public.example.test@127.0.0.1/",
	"http://user:pass@example.com/", "file:///etc/passwd", "gopher://example.com/", "http://example.com:22/", "http://8.8.8.8:25/", "//127.0.0.1/", "", "http://",
	"http://[::127.0.0.1]/", "http://[2002:7f00:1::]/", "http://[2001:db8::1]/", "http://[ff02::1]/", "http://224.0.0.1/", "http://255.255.255.255/",
	"http://240.0.0.1/", "http://192.0.0.192/", "http://168.63.129.16/", "http://100.100.100.200/", "http://[fd00:ec2::254]/", "http://10.1.2.3/",
	"http://172.31.255.255/", "http://192.168.0.1/", "http://169.254.169.254/latest/meta-data/", "http://metadata.google.internal/", "http://intranet/",
	"http://app.localhost/", "http://printer.local/", "http://127.0.0.1:0/", "http://127.0.0.1:/", "http://127.0.0.1:99999/", "http://exa mple.com/", "http:127.0.0.1/",
	"http://0x7f.1/", "http://017700000001/", "http://1.2.3.4.5/", "http://%31%32%37.0.0.1/", "http://[::ffff:7f00:1]:8080/", "http://203.0.113.9/",
}

// TestSSR01InsideAddressesInEverySpelling is SSR-01: by the form of a URL, and
// again where the connection is made.
func TestSSR01InsideAddressesInEverySpelling(t *testing.T) {
	g := newGuard(t, Options{})
	for _, raw := range inside {
		if err := g.Check(raw); kindOf(err) != Refused {
			t.Errorf("%s: %v", raw, err)
		}
		if _, _, err := g.Fetch(t.Context(), Request{URL: raw}); kindOf(err) != Refused {
			t.Errorf("fetching %s: %v", raw, err)
		}
		u, err := url.Parse(raw)
		if err != nil {
			continue
		}
		if _, err := g.Client(Limits{}).Do(&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}}); err == nil {
			t.Errorf("a client asked %s", raw)
		}
	}
	for _, raw := range []string{"https://example.com/", "https://93.184.215.14/", "http://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/", "https://bücher.example/",
		"https://example.com.:8443/a?b=c", "http://[64:ff9b::5db8:d70e]/", "http://[::ffff:93.184.215.14]/"} {
		if err := g.Check(raw); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestSSR01TheConnectionIsJudged asks the dialer itself: a name that passes by its
// form, and leads inside, is refused at the moment of connecting.
func TestSSR01TheConnectionIsJudged(t *testing.T) {
	var met atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { met.Add(1) }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	g := newGuard(t, Options{})
	for _, host := range []string{"localhost", "127.0.0.1", "[::ffff:127.0.0.1]"} {
		if conn, err := g.dial(t.Context(), "tcp", host+":"+port); err == nil {
			conn.Close()
			t.Errorf("%s was connected to", host)
		} else if kindOf(err) != Refused {
			t.Errorf("%s: %v", host, err)
		}
	}
	if met.Load() != 0 {
		t.Error("the server was asked")
	}
}

// TestSSR01RefusalsSayNothingOfPorts compares what is told of an open port and of
// one where nothing listens.
func TestSSR01RefusalsSayNothingOfPorts(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	_, _, listening := newGuard(t, Options{}).Fetch(t.Context(), Request{URL: server.URL})
	server.Close()
	_, _, silent := newGuard(t, Options{}).Fetch(t.Context(), Request{URL: server.URL})
	if listening == nil || silent == nil || listening.Error() != silent.Error() {
		t.Errorf("an open port: %v; a closed one: %v", listening, silent)
	}
}

func TestPublicAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "100.63.255.255": true, "100.128.0.0": true, "172.15.0.1": true, "172.32.0.1": true, "198.17.255.255": true, "223.255.255.255": true,
		"2606:4700::1111": true, "2001:4860:4860::8888": true, "::ffff:8.8.8.8": true, "64:ff9b::808:808": true,
		"100.64.0.0": false, "100.127.255.255": false, "172.16.0.0": false, "224.0.0.1": false, "::": false, "::1": false, "fc00::1": false, "fec0::1": false,
		"64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "::ffff:10.0.0.1": false, "4000::1": false, "2001::1": false, "3fff::1": false,
	} {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("public(%s) = %v", text, got)
		}
	}
}

func TestAllowListOpensWhatItNames(t *testing.T) {
	for _, c := range []struct {
		allow, url string
		open       bool
	}{
		{"localhost", "http://localhost:11434/v1", true},
		{"localhost:11434", "http://LOCALHOST.:11434/v1", true},
		{"localhost:11434", "http://localhost:11435/v1", false},
		{"127.0.0.1", "http://localhost:11434/v1", true},
		{"127.0.0.1", "http://127.0.0.2/", false},
		{"127.0.0.1", "http://127.1/", false},
		{"127.0.0.1:8000", "http://127.0.0.1:8000/", true},
		{"[::1]:8000", "http://[::1]:8000/", true},
		{"::1", "http://[::1]:9/", true},
		{"10.0.0.0/8", "https://10.9.8.7/", true},
		{"10.0.0.0/8", "https://11.9.8.7:25/", false},
		{"intranet", "http://intranet/", true},
		{"mail.example.com:25", "http://mail.example.com:25/", true},
		{"mail.example.com", "http://example.com:25/", false},
		{"127.0.0.1", "ftp://127.0.0.1/", false},
		{"127.0.0.1", "http://u:p@127.0.0.1/", false},
		// The node's own ports are opened by their number only.
		{"127.0.0.0/8", "http://127.0.0.1:8080/", false},
		{"localhost", "http://localhost:8080/", true}, // refused where the connection is made
		{"127.0.0.1:8080", "http://127.0.0.1:8080/", true},
		{"", "https://node-a.example.com:9080/", true},
		{"", "http://93.184.215.14:9080/", false},
		{"", "http://93.184.215.15:9080/", true},
	} {
		o := Options{Own: func() []string { return []string{"0.0.0.0:8080", "93.184.215.14:9080"} }}
		if c.allow != "" {
			o.Allow = []string{c.allow}
		}
		if err := newGuard(t, o).Check(c.url); (err == nil) != c.open {
			t.Errorf("with %q open, %s: %v", c.allow, c.url, err)
		}
	}
	for _, bad := range []string{"", "http://a", "a/b", "a:b", "a:0", "a:70000", "user@a", "*.a", "127.1", "10.0.0.0/33", "a b"} {
		if _, err := New(Options{Allow: []string{bad}}); err == nil {
			t.Errorf("%q is an entry", bad)
		}
	}
}

func TestOwnPortsAreRefusedWhereTheConnectionIsMade(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(address, ":")
	own := func() []string { return []string{"0.0.0.0:" + port} }
	for allow, open := range map[string]bool{"localhost": false, "127.0.0.0/8": false, "localhost:" + port: true} {
		_, _, err := newGuard(t, Options{Allow: []string{allow}, Own: own}).Fetch(t.Context(), Request{URL: "http://localhost:" + port})
		if (err == nil) != open {
			t.Errorf("with %q open: %v", allow, err)
		}
	}
}

// A refusal tells nobody which ports the cluster listens on.
func TestSSR01RefusalsTellNoPorts(t *testing.T) {
	g := newGuard(t, Options{Own: func() []string { return []string{"0.0.0.0:9080", "10.0.0.7:9081"} }})
	for _, host := range []string{"127.0.0.1", "10.0.0.7", "localhost", "[::1]"} {
		other := g.Check("http://" + host + ":9999/")
		for _, port := range []string{"9080", "9081"} {
			if err := g.Check("http://" + host + ":" + port + "/"); err == nil || err.Error() != other.Error() {
				t.Errorf("%s:%s: %v, and another port: %v", host, port, err, other)
			}
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			w.(http.Flusher).Flush()
			<-release
		case "/never":
			<-release
		default:
			_, _ = w.Write([]byte(strings.Repeat("x", 1000)))
		}
	}))
	defer server.Close()
	defer close(release)
	g := newGuard(t, Options{Allow: []string{"127.0.0.1"}})
	if r, body, err := g.Fetch(t.Context(), Request{URL: server.URL, Limits: Limits{Bytes: 1000}}); err != nil || len(body) != 1000 || r.Status != 200 {
		t.Errorf("an answer of the very size: %d bytes, %v", len(body), err)
	}
	if _, _, err := g.Fetch(t.Context(), Request{URL: server.URL, Limits: Limits{Bytes: 999}}); kindOf(err) != TooLarge {
		t.Errorf("one byte more: %v", err)
	}
	for _, path := range []string{"/slow", "/never"} {
		if _, _, err := g.Fetch(t.Context(), Request{URL: server.URL + path, Limits: Limits{Time: 50 * time.Millisecond}}); kindOf(err) != TimedOut {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestNoProxyOfTheEnvironment(t *testing.T) {
	var met atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { met.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	g := newGuard(t, Options{Allow: []string{"127.0.0.1"}})
	if g.transport.Proxy != nil {
		t.Error("the transport has a proxy")
	}
	_, _, err := g.Fetch(t.Context(), Request{URL: "http://nowhere.invalid/", Limits: Limits{Time: time.Second}})
	if err == nil || met.Load() != 0 {
		t.Errorf("the proxy was asked %d times: %v", met.Load(), err)
	}
}
