package http_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	httpd "abagraph/http"
)

// single is the request that writes one fact.
func single(object string) string {
	body := `{"subject":"Lamp:l","predicate":"colour","object":"` + object + `"}`
	return "POST /api/facts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// send sends a text piece by piece: 0 = in one.
func send(t *testing.T, conn net.Conn, text string, piece int) {
	t.Helper()
	for len(text) > 0 {
		n := len(text)
		if piece > 0 {
			n = min(n, piece)
		}
		if _, err := io.WriteString(conn, text[:n]); err != nil {
			t.Fatal(err)
		}
		text = text[n:]
	}
}

// TestRequestsOfOneConnection: however their bytes come, single writes and reads between
// them are each answered once, in their order.
func TestRequestsOfOneConnection(t *testing.T) {
	r := start(t, "")
	const read = "GET /api/facts?subject=Lamp:l HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for _, piece := range []int{0, 1, 7} {
		conn := r.connect("")
		in := bufio.NewReader(conn)
		answered := func(holds string) {
			t.Helper()
			res, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode > 201 || !strings.Contains(string(text), holds) {
				t.Errorf("pieces of %d: %d %s, %v", piece, res.StatusCode, text, err)
			}
		}
		for _, object := range []string{"red", "green"} { // one after the other
			send(t, conn, single(object), piece)
			answered(object)
			send(t, conn, read, piece)
			answered(object)
		}
		send(t, conn, single("blue")+read+single("black")+single("white")+read, piece) // at once
		for _, holds := range []string{"blue", "blue", "black", "white", "white"} {
			answered(holds)
		}
	}
}

// TestWritesWhoseSenderLeaves are done, and the connection is watched again behind one: a
// stream on it ends with its reader.
func TestWritesWhoseSenderLeaves(t *testing.T) {
	r := start(t, "", func(c *httpd.Config) { c.KeepAlive = time.Hour })
	conn := r.connect(single("red"))
	conn.Close()
	eventually(t, "the write of one who left", func() bool { return strings.Contains(r.get("/api/facts?subject=Lamp:l").Body, "red") })

	conn = r.connect(single("green"))
	r.answered(conn).status(http.StatusCreated)
	send(t, conn, "GET /api/stream HTTP/1.1\r\nHost: localhost\r\n\r\n", 0)
	open := func(n string) func() bool {
		return func() bool { return strings.Contains(r.get("/metrics").Body, "abagraph_stream_subscribers "+n+"\n") }
	}
	eventually(t, "the stream", open("1"))
	conn.Close()
	eventually(t, "the end of the stream", open("0"))
}
