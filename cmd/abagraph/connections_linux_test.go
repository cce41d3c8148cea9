package main

import (
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// TestFewFilesMeanFewConnections: a process that may open few files takes no more
// connections than leave the store its own, and says so.
func TestFewFilesMeanFewConnections(t *testing.T) {
	command := program(t, "serve", "--bind", "127.0.0.1:0", "--data", inMemory, "--log-level", "info")
	limited := exec.Command("/bin/sh", append([]string{"-c", `ulimit -n 600; exec "$0" "$@"`}, command.Args...)...)
	limited.Env = command.Env
	p := launchAs(t, limited).up()
	if !strings.Contains(p.errs.String(), `"event":"abagraph.server.few_files","max_connections":10000,"open_files":600,"connections":300`) {
		t.Errorf("the log says %s", p.errs.String())
	}
	answer, err := http.Get(p.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\nabagraph_http_connections_max 300\n") {
		t.Error("the metrics tell of another bound")
	}
}
