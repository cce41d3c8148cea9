package outbound

import (
	"io"
	"net/http"
	"net/url"
	"time"

	"abagraph/internal/span"
)

// DefaultHops is how many redirects a call follows unless it says otherwise.
const DefaultHops = 5

// Limits bound one call.
type Limits struct {
	Bytes int64         // of the answer, unpacked; 0 = 16 MiB
	Time  time.Duration // from the call to the end of the answer; 0 = 30 s
	Hops  int           // redirects followed; 0 = DefaultHops, negative = none: the redirect is the answer
}

func (l Limits) filled() Limits {
	if l.Bytes <= 0 {
		l.Bytes = 16 << 20
	}
	if l.Time <= 0 {
		l.Time = 30 * time.Second
	}
	if l.Hops == 0 {
		l.Hops = DefaultHops
	}
	return l
}

// Client makes a client whose every connection is judged. Clients of one Guard
// share their connections. Its errors go through Explain before they are told.
func (g *Guard) Client(l Limits) *http.Client {
	l = l.filled()
	return &http.Client{Timeout: l.Time, Transport: bounded{g, l.Bytes}, CheckRedirect: g.redirects(l.Hops)}
}

// harmless are the headers that a redirect to another host may carry on.
var harmless = [...]string{"Accept", "Accept-Language", "User-Agent"}

// redirects judges each hop: few of them, none from https to http, none for what
// is not only read, and nothing but the harmless headers to another host.
func (g *Guard) redirects(hops int) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, via []*http.Request) error {
		if hops < 0 {
			return http.ErrUseLastResponse
		}
		first, last := via[0], via[len(via)-1]
		switch {
		case len(via) > hops:
			return refused("redirects too often")
		case first.Method != http.MethodGet && first.Method != http.MethodHead:
			return refused("redirects, which is not followed here")
		case last.URL.Scheme == "https" && next.URL.Scheme != "https":
			return refused("redirects from https to http, which is refused")
		}
		if err := g.check(next.URL); err != nil {
			return refused("redirects to an address that " + err.Error())
		}
		// The address that led here may hold a secret of its own.
		next.Header.Del("Referer")
		if leftHost(next.URL, via) {
			kept := http.Header{}
			for _, name := range harmless {
				if values := next.Header.Values(name); len(values) > 0 {
					kept[name] = values
				}
			}
			next.Header = kept
		}
		return nil
	}
}

// leftHost reports whether any hop so far was to another host than the first:
// what was meant for that one does not come back either.
func leftHost(next *url.URL, via []*http.Request) bool {
	for _, r := range via[1:] {
		if !sameHost(via[0].URL, r.URL) {
			return true
		}
	}
	return !sameHost(via[0].URL, next)
}

func sameHost(a, b *url.URL) bool {
	p, _ := portOf(a)
	q, _ := portOf(b)
	return a.Scheme == b.Scheme && p == q && canonical(a.Hostname()) == canonical(b.Hostname())
}

// bounded judges a URL before it is asked, and bounds the answer.
type bounded struct {
	guard *Guard
	bytes int64
}

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := b.guard.check(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // nothing was read of it
		}
		return nil, err
	}
	// A span tells that a call was made, and never to whom; nothing of the trace goes
	// out with it.
	_, part := span.Start(r.Context(), "outbound "+r.Method, span.Client)
	defer part.End()
	response, err := b.guard.transport.RoundTrip(r)
	if err != nil {
		part.Fail("unanswered")
		return nil, err
	}
	part.Int("http.response.status_code", int64(response.StatusCode))
	response.Body = &bodyReader{ReadCloser: response.Body, left: b.bytes, limit: b.bytes}
	return response, nil
}

// bodyReader fails on the first byte beyond its limit, rather than to end as if
// that had been all.
type bodyReader struct {
	io.ReadCloser
	left, limit int64
}

func (b *bodyReader) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, tooLarge(b.limit)
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, tooLarge(b.limit)
	}
	return n, err
}
