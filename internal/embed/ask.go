package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"abagraph/fact"
	"abagraph/internal/outbound"
)

type question struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Encoding   string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type answer struct {
	Data []struct {
		Index     *int      `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// ask makes one call. It tells whether another one may help, and after how long;
// rejected is why some of the texts got no vector although the call went well.
func (e *endpoint) ask(ctx context.Context, texts []string, into [][]float32) (rejected error, again bool, after time.Duration, err error) {
	q := question{Model: e.name, Input: texts, Encoding: "float"}
	if e.shrink {
		q.Dimensions = e.model.Dim
	}
	body, err := json.Marshal(&q)
	if err != nil {
		return nil, false, 0, failure("was not asked: the texts cannot be written as JSON")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, false, 0, failure("was not asked: its address cannot be used")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Authorization", "Bearer "+e.key)
	response, err := e.client.Do(request)
	if err != nil {
		err, again = unreached(ctx, err)
		return nil, again, 0, err
	}
	defer response.Body.Close()
	limit := answerBytes(len(texts), e.model.Dim)
	raw, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return nil, false, 0, failure("answered %d: redirects are not followed", response.StatusCode)
	case response.StatusCode != http.StatusOK:
		again, after = retryable(response)
		return nil, again, after, failure("answered %d", response.StatusCode)
	case err != nil:
		err, again = unreached(ctx, err)
		return nil, again, 0, err
	case int64(len(raw)) > limit:
		return nil, false, 0, failure("answered more than %d bytes to %d texts", limit, len(texts))
	}
	rejected, err = e.take(raw, into)
	return rejected, false, 0, err
}

// unreached says of a call that got no answer why, and whether another one may
// get one: the net's own words name addresses.
func unreached(ctx context.Context, err error) (error, bool) {
	var known *outbound.Failure
	if errors.As(outbound.Explain(ctx, err), &known) {
		return failure("%s", known.Error()), known.Kind != outbound.Refused
	}
	return failure("was asked by a request that was given up"), true
}

// retryable tells whether the answer may be another one next time.
func retryable(r *http.Response) (bool, time.Duration) {
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
	default:
		if r.StatusCode < 500 {
			return false, 0
		}
	}
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return true, 0
	}
	return true, time.Duration(min(seconds, 3600)) * time.Second
}

// take reads the vectors out of an answer. One that is unusable leaves its text
// without a vector; an answer that is not to what was asked is refused whole.
func (e *endpoint) take(raw []byte, into [][]float32) (rejected, err error) {
	var a answer
	if json.Unmarshal(raw, &a) != nil {
		return nil, failure("answered something that is no list of vectors")
	}
	if len(a.Data) != len(into) {
		return nil, failure("answered %d vectors to %d texts", len(a.Data), len(into))
	}
	taken, usable := make([]bool, len(into)), false
	var bad *Failure
	for i := range a.Data {
		at := i
		if a.Data[i].Index != nil {
			at = *a.Data[i].Index
		}
		if at < 0 || at >= len(into) || taken[at] {
			clear(into)
			return nil, failure("answered vectors that belong to no text")
		}
		taken[at] = true
		v := a.Data[i].Embedding
		switch {
		case len(v) == 0:
			bad = failure("answered an empty vector")
		case len(v) != e.model.Dim:
			bad = failure("answered a vector of %d numbers, and %d are set", len(v), e.model.Dim)
		case !fact.Unit(v):
			bad = failure("answered a vector without a direction")
		default:
			into[at] = v
			usable = true
		}
	}
	switch {
	case bad == nil:
		return nil, nil
	case !usable:
		return nil, bad // it is the provider's, not the texts'
	}
	bad.text = true
	return bad, nil
}
