package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/mcp"
)

// wire runs a bridge over a link, and returns what writes a line to it and what
// reads one from it.
func wire(t *testing.T, link mcp.Link) (write func(string), read func() string, end func() error) {
	t.Helper()
	in, host := io.Pipe()
	answers, out := io.Pipe()
	bridge := mcp.Bridge{In: in, Out: out, Link: link}
	done := make(chan error, 1)
	go func() {
		err := bridge.Run(t.Context())
		out.Close()
		done <- err
	}()
	reader := bufio.NewReader(answers)
	write = func(line string) {
		if _, err := io.WriteString(host, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	read = func() string {
		line, err := reader.ReadString('\n')
		if err != nil {
			t.Errorf("read: %v", err)
		}
		return line
	}
	end = func() error {
		host.Close()
		if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 {
			t.Errorf("at the end: %q, %v", rest, err)
		}
		return <-done
	}
	return write, read, end
}

// TestBridgeGivesUpWhatIsCancelled: a call that is under way ends, one that
// waits is never carried, and neither is answered.
func TestBridgeGivesUpWhatIsCancelled(t *testing.T) {
	begun := make(chan string)
	var carried []string
	write, read, end := wire(t, func(ctx context.Context, body []byte, _ map[string]string, each func([]byte) error) error {
		var m struct {
			ID     json.RawMessage
			Params struct{ Wait bool }
		}
		if err := json.Unmarshal(body, &m); err != nil {
			return err
		}
		carried = append(carried, string(m.ID))
		if m.Params.Wait {
			begun <- string(m.ID)
			<-ctx.Done()
			return ctx.Err()
		}
		return each([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{}}`))
	})
	write(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"wait":true}}`)
	<-begun
	write(`{"jsonrpc":"2.0","id":"two","method":"ping"}`)
	write(`{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"two"}}`)
	write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`)
	write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if got := read(); !strings.Contains(got, `"id":3`) {
		t.Errorf("the answer to 3 was %s", got)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if got := strings.Join(carried, " "); got != "1 3" {
		t.Errorf("carried %s", got)
	}
}

// refused is an error of a link with its code.
type refused struct{ error }

func (refused) RefusalCode() fact.Code { return fact.RateLimited }

// TestBridgeTellsWhatGoesWrong: every request gets an answer, whatever the link
// does, and what is no JSON never reaches the host.
func TestBridgeTellsWhatGoesWrong(t *testing.T) {
	for name, c := range map[string]struct {
		link mcp.Link
		want string
	}{
		"nothing comes back": {func(context.Context, []byte, map[string]string, func([]byte) error) error { return nil },
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server sent no answer"}}`},
		"a failure": {func(context.Context, []byte, map[string]string, func([]byte) error) error {
			return errors.New("no\nway")
		},
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no\nway"}}`},
		"a refusal": {func(context.Context, []byte, map[string]string, func([]byte) error) error {
			return refused{errors.New("later")}
		},
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"later","data":{"code":"RateLimited"}}}`},
		"no JSON": {func(_ context.Context, _ []byte, _ map[string]string, each func([]byte) error) error {
			return each([]byte("<html>"))
		},
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server's answer is not JSON: invalid character '<' looking for beginning of value"}}`},
		"lines in the answer": {func(_ context.Context, _ []byte, _ map[string]string, each func([]byte) error) error {
			return each([]byte("{\n \"jsonrpc\": \"2.0\",\n \"id\": 1, \"result\": {}}\n"))
		}, `{"jsonrpc":"2.0","id":1,"result":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			write, read, end := wire(t, c.link)
			write(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
			if got := strings.TrimSuffix(read(), "\n"); got != strings.ReplaceAll(c.want, "no\nway", `no\nway`) {
				t.Errorf("%s, want %s", got, c.want)
			}
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBridgeSpeaksTheVersionThatWasAgreed: what the handshake settled, or what a
// message of the newest version says, goes beside it over HTTP.
func TestBridgeSpeaksTheVersionThatWasAgreed(t *testing.T) {
	var headers []map[string]string
	write, read, end := wire(t, func(_ context.Context, body []byte, header map[string]string, each func([]byte) error) error {
		headers = append(headers, header)
		if strings.Contains(string(body), "initialize") {
			return each([]byte(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}`))
		}
		return each([]byte(`{"jsonrpc":"2.0","id":2,"result":{}}`))
	})
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"recall",` + meta + `}}`,
		`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"abagraph://a/fact/b",` + meta + `}}`,
	} {
		write(line)
		read()
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	for i, want := range []string{
		`{}`, `{"Mcp-Protocol-Version":"2025-06-18"}`, `{"Mcp-Method":"tools/call","Mcp-Name":"recall","Mcp-Protocol-Version":"2026-07-28"}`,
		`{"Mcp-Method":"resources/read","Mcp-Name":"abagraph://a/fact/b","Mcp-Protocol-Version":"2026-07-28"}`,
	} {
		if got := encoded(headers[i]); got != want {
			t.Errorf("message %d went with %s, want %s", i, got, want)
		}
	}
}
