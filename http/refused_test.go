package http_test

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestAnswersOfEverySizeComeWhole: around the sizes of the buffers that an answer
// passes through, each arrives whole and at once, one after another on one
// connection.
func TestAnswersOfEverySizeComeWhole(t *testing.T) {
	r := start(t, "")
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	do := func(method, path, body string) (*http.Response, []byte) {
		t.Helper()
		req, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res, b
	}
	var sizes []int
	for _, around := range []int{3300, 7400, 66_000} {
		for size := around; size < around+800; size += 16 {
			sizes = append(sizes, size)
		}
	}
	for i, size := range append(sizes, 300_000) {
		subject := "Size:s" + strconv.Itoa(i)
		text := strings.Repeat("x", size)
		if res, b := do("POST", "/api/facts", `{"subject":"`+subject+`","predicate":"is","object":"`+text+`"}`); res.StatusCode != 201 || !bytes.Contains(b, []byte(text)) {
			t.Fatalf("POST of %d bytes: %d", size, res.StatusCode)
		}
		for _, method := range []string{"GET", "HEAD"} {
			res, b := do(method, "/api/facts?subject="+subject, "")
			if res.StatusCode != 200 || method == "GET" && (int64(len(b)) != res.ContentLength || !bytes.Contains(b, []byte(text))) {
				t.Fatalf("%s of %d bytes: %d, %d of %d bytes", method, size, res.StatusCode, len(b), res.ContentLength)
			}
		}
	}
}
