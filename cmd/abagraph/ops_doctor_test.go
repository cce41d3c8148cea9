package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"abagraph/client"
)

// untar reads a bundle.
func untar(t *testing.T, path string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(zipped); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(head.Name, "abagraph-bundle/")] = string(content)
	}
}

// TestOBS01Bundle: a bundle tells how the cluster stands, and holds no text of a
// fact, no key and no name of a tenant's key.
func TestOBS01Bundle(t *testing.T) {
	p := launch(t, "--bind", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "data"), "--admin-key", "the-operators-secret-key").up()
	admin, err := client.New(p.url, client.WithKey("the-operators-secret-key"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	tenant, err := admin.CreateTenant(t.Context(), client.NewTenant{ID: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	r := shellOf(t, p)
	file := filepath.Join(r.home, "b.tar.gz")
	if said := r.fails("ops", "bundle", file); !strings.Contains(said, "no key is set") {
		t.Errorf("without a key: %q", said)
	}
	r.env["ABAGRAPH_KEY"] = "the-operators-secret-key"
	r.ok("assert", "Person:marked", "marked_predicate", "marked object")
	if got := r.object("ops", "bundle", file); len(got["missing"].([]any)) > 0 {
		t.Errorf("bundle %v", got)
	}
	files := untar(t, file)
	names := []string{"about.json", "doctor.json", "metrics.txt", "nodes.json", "observability.json", "ready.json", "stats.json"}
	for _, name := range names {
		if strings.HasSuffix(name, ".json") && !json.Valid([]byte(files[name])) {
			t.Errorf("%s is %q", name, files[name])
		}
		for _, secret := range []string{"the-operators-secret-key", tenant.Key, tenant.Key[:12], "marked"} {
			if strings.Contains(files[name], secret) {
				t.Errorf("%s holds %q", name, secret)
			}
		}
	}
	if len(files) != len(names) || !strings.Contains(files["metrics.txt"], "abagraph_facts") {
		t.Errorf("the bundle holds %v", slices.Collect(keysOf(files)))
	}
	if said := r.fails("ops", "bundle", file); !strings.Contains(said, "never replaces a file") {
		t.Errorf("again: %q", said)
	}
	p.stop()
}

func keysOf(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestDoctor: nothing is found where nothing is wrong; a server that is down, and
// data that is damaged, are told with what mends them.
func TestDoctor(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := launch(t, "--bind", "127.0.0.1:0", "--data", data).up()
	r := shellOf(t, p)
	assert(t, p.client(), "Person:alice", "likes", "tea")
	if got := r.object("ops", "doctor"); got["healthy"] != true {
		t.Errorf("healthy: %v", got)
	}
	p.stop()
	code, out, _ := r.run("ops", "doctor")
	if code != 1 || !strings.Contains(out, "the node does not answer") || !strings.Contains(out, "abagraph serve") {
		t.Errorf("down: exit %d, %s", code, out)
	}
	if got := r.object("ops", "doctor", "--data", data); got["healthy"] != true {
		t.Errorf("the data: %v", got)
	}
	raw, err := os.ReadFile(filepath.Join(data, "raft.db"))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(raw, []byte("Person:alice"))
	raw[at] ^= 1
	if err := os.WriteFile(filepath.Join(data, "raft.db"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	r.terminal = true
	code, out, _ = r.run("ops", "doctor", "--data", data)
	if code != 1 || !strings.Contains(out, "PROBLEM: ") || !strings.Contains(out, "is damaged at entry") || !strings.Contains(out, "abagraph ops restore FILE") {
		t.Errorf("damaged: exit %d, %s", code, out)
	}
}
