package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	httpd "abagraph/http"
	"abagraph/internal/onenode"
	"abagraph/internal/words"
	"abagraph/memory"
)

// rig is a user's shell: a home, an environment and a server to speak to.
type rig struct {
	t        *testing.T
	home     string
	env      map[string]string
	url      string
	node     *onenode.Node
	in       string
	terminal bool
}

// shell makes a rig without a server.
func shell(t *testing.T) *rig {
	t.Helper()
	return &rig{t: t, home: t.TempDir(), env: map[string]string{}}
}

// serving makes a rig with a server whose admin key is key; "" = none.
func serving(t *testing.T, key string) *rig {
	t.Helper()
	return servingWith(t, memory.Options{AdminKey: key})
}

func servingWith(t *testing.T, o memory.Options) *rig {
	t.Helper()
	r := shell(t)
	r.node = onenode.Start(t)
	table, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	o.Words = table
	server, err := httpd.NewServer(httpd.Config{
		Bind: "127.0.0.1:0", Memory: r.node.Service(t, o),
		Logger: slog.New(slog.DiscardHandler), Version: version,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(server.Shutdown(ctx), <-served); err != nil {
			t.Error(err)
		}
	})
	r.url = "http://" + server.Addr().String()
	r.env["ABAGRAPH_URL"] = r.url
	return r
}

// world is the surroundings that the rig's commands see.
func (r *rig) world(out, err io.Writer) *world {
	return &world{
		in: strings.NewReader(r.in), out: out, err: err, lookupEnv: func(name string) (string, bool) { value, set := r.env[name]; return value, set },
		home: func() (string, error) { return r.home, nil }, outTerminal: r.terminal, errTerminal: r.terminal, width: func() int { return 100 },
	}
}

// run runs a command line.
func (r *rig) run(args ...string) (code int, stdout, stderr string) {
	r.t.Helper()
	var out, errs bytes.Buffer
	code = run(r.t.Context(), r.world(&out, &errs), args)
	return code, out.String(), errs.String()
}

// ok runs a command line that must succeed, and returns its stdout.
func (r *rig) ok(args ...string) string {
	r.t.Helper()
	code, out, errs := r.run(args...)
	if code != 0 {
		r.t.Fatalf("abagraph %s: exit %d: %s", strings.Join(args, " "), code, errs)
	}
	return out
}

// object runs a command line whose stdout is one JSON object.
func (r *rig) object(args ...string) map[string]any {
	r.t.Helper()
	var got map[string]any
	if out := r.ok(args...); json.Unmarshal([]byte(out), &got) != nil {
		r.t.Fatalf("abagraph %s wrote %q", strings.Join(args, " "), out)
	}
	return got
}

// fails runs a command line that must end with exit code 1, and returns its
// stderr without the line end.
func (r *rig) fails(args ...string) string {
	r.t.Helper()
	code, out, errs := r.run(args...)
	if code != 1 || out != "" {
		r.t.Fatalf("abagraph %s: exit %d, stdout %q", strings.Join(args, " "), code, out)
	}
	return strings.TrimSuffix(errs, "\n")
}

// file writes a file and returns its path.
func (r *rig) file(name, text string) string {
	r.t.Helper()
	path := r.home + "/" + name
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}
