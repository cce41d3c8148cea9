package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// TestBackupsInAStore takes backups of a server into an S3-compatible store as a
// timer does, keeps the newest, and restores from it.
func TestBackupsInAStore(t *testing.T) {
	backend := s3mem.New()
	served, harm := gofakes3.New(backend).Server(), atomic.Bool{}
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		served.ServeHTTP(whole, r)
		content := whole.Body.Bytes()
		if harm.Load() && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".backup") {
			content[len(content)/2] ^= 1
		}
		for name, values := range whole.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(whole.Code)
		_, _ = w.Write(content)
	}))
	defer store.Close()
	if err := backend.CreateBucket("safe"); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.PutObject("safe", "nightly/a note", nil, strings.NewReader("keep me"), 7, nil); err != nil {
		t.Fatal(err)
	}
	r := shellOf(t, launch(t, "--bind", "127.0.0.1:0", "--data", t.TempDir()).up())
	r.env["AWS_ACCESS_KEY_ID"], r.env["AWS_SECRET_ACCESS_KEY"] = "key-id-of-a-test", "secret-of-a-test"
	const place = "s3://safe/nightly"
	var files []string
	for _, text := range []string{"tea", "coffee", "water"} {
		r.ok("assert", "Person:1", "likes", text)
		got := r.object("ops", "backup", place, "--s3-endpoint", store.URL, "--check", "--keep", "2", "--rate", "0")
		files = append(files, got["file"].(string))
		if got["checked"] == nil {
			t.Errorf("the backup was not restored: %v", got)
		}
	}
	listed := func() (names []string) {
		t.Helper()
		all, err := backend.ListBucket("safe", &gofakes3.Prefix{}, gofakes3.ListBucketPage{})
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range all.Contents {
			names = append(names, object.Key)
		}
		return names
	}
	names := listed()
	if len(names) != 3 || !slices.Contains(names, "nightly/a note") || slices.Contains(names, strings.TrimPrefix(files[0], "s3://safe/")) {
		t.Errorf("the store holds %q", names)
	}
	harm.Store(true)
	if said := r.fails("ops", "backup", place, "--s3-endpoint", store.URL, "--check", "--keep", "1"); !strings.Contains(said, "is deleted") || !slices.Equal(names, listed()) {
		t.Errorf("a store that loses a bit: %q, %q", said, listed())
	}
	harm.Store(false)
	data := r.home + "/restored"
	restored := r.object("ops", "restore", files[2], "--data", data, "--s3-endpoint", store.URL)
	manifest, err := json.Marshal(restored["manifest"])
	if err != nil || !bytes.Contains(manifest, []byte(`"active":1`)) {
		t.Errorf("restored %s: %v", manifest, err)
	}
	r.ok("ops", "verify", data)
	r.ok("ops", "verify", files[1], "--s3-endpoint", store.URL)
	for what, args := range map[string][]string{
		"has no NOT_SET":                 {"ops", "backup", place, "--s3-endpoint", store.URL, "--s3-secret-key", "env:NOT_SET"},
		"not the key itself":             {"ops", "backup", place, "--s3-endpoint", store.URL, "--s3-secret-key", "secret-of-a-test"},
		"must be https://":               {"ops", "backup", place, "--s3-endpoint", "store.example"},
		"name it as s3://":               {"ops", "backup", "s3:///x", "--s3-endpoint", store.URL},
		"does not exist":                 {"ops", "backup", "s3://other/x", "--s3-endpoint", store.URL},
		"fetch s3://safe/nightly/gone":   {"ops", "restore", "s3://safe/nightly/gone.backup", "--data", r.home + "/x", "--s3-endpoint", store.URL},
		"--every must be 1m0s at least":  {"ops", "backup", r.home, "--every", "1s"},
		"--keep is 1 or more":            {"ops", "backup", r.home, "--keep", "-1"},
		"--rate 0 to 1048576":            {"ops", "backup", r.home, "--rate", "-1"},
		"--keep and --every need a dire": {"ops", "backup", r.home + "/file", "--every", "1h"},
	} {
		said := r.fails(args...)
		if !strings.Contains(said, what) || strings.Contains(said, "secret-of-a-test") {
			t.Errorf("%v says %q", args, said)
		}
	}
	if !slices.Equal(names, listed()) {
		t.Error("what was refused has changed the store")
	}
}
