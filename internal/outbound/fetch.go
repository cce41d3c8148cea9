package outbound

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
)

// UserAgent is what fetches call themselves.
const UserAgent = "abagraph"

// Request is one call. Only GET, the default, and HEAD follow redirects.
type Request struct {
	URL    string
	Method string // "" = GET
	// Header is sent to the host of URL and to no other.
	Header map[string]string
	Body   []byte
	Limits Limits
	// Hop is asked before each redirect is followed, beside the guard; its error ends
	// the call and is returned as it is. nil = nobody is asked.
	Hop func(to *url.URL) error
}

// Response is the answer to a Request, whatever its status.
type Response struct {
	Status int
	URL    string // where the answer came from, after redirects
	// Body ends in a *Failure where the answer is too large or too slow. It must be
	// closed.
	Body   io.ReadCloser
	header http.Header
}

// Header returns a header of the answer, "" where there is none.
func (r *Response) Header(name string) string { return r.header.Get(name) }

// Open makes a call and returns before the body is read. Its error is a *Failure,
// or the context's where the caller gave up.
func (g *Guard) Open(ctx context.Context, q Request) (*Response, error) {
	if err := g.Check(q.URL); err != nil {
		return nil, err
	}
	method := q.Method
	if method == "" {
		method = http.MethodGet
	}
	request, err := http.NewRequestWithContext(ctx, method, q.URL, bytes.NewReader(q.Body))
	if err != nil {
		return nil, refused("is not a URL")
	}
	request.Header.Set("User-Agent", UserAgent)
	for name, value := range q.Header {
		request.Header.Set(name, value)
	}
	client, stopped := g.Client(q.Limits), error(nil)
	if judge := client.CheckRedirect; q.Hop != nil {
		client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
			if err := judge(next, via); err != nil {
				return err
			}
			stopped = q.Hop(next.URL)
			return stopped
		}
	}
	response, err := client.Do(request)
	switch {
	case stopped != nil:
		return nil, stopped
	case err != nil:
		return nil, Explain(ctx, err)
	}
	return &Response{Status: response.StatusCode, URL: response.Request.URL.String(), Body: &explained{ctx, response.Body}, header: response.Header}, nil
}

// Fetch makes a call and reads the whole answer.
func (g *Guard) Fetch(ctx context.Context, q Request) (*Response, []byte, error) {
	r, err := g.Open(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, nil, err
	}
	return r, body, nil
}

// explained tells of errors in reading what may be told.
type explained struct {
	ctx context.Context
	io.ReadCloser
}

func (e *explained) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = Explain(e.ctx, err)
	}
	return n, err
}
