package ops_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"abagraph/client"
	"abagraph/ops"
)

// sender is a server whose backup is what a test says.
func sender(t *testing.T, handle http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.WithRetry(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func sending(content []byte, announced int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(announced))
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(content) // a reader that goes away is part of the test
	}
}

// empty fails unless a directory holds nothing.
func empty(t *testing.T, dir string) {
	t.Helper()
	for path := range tree(t, dir) {
		t.Errorf("%s was left", path)
	}
}

// A backup that breaks off, that is damaged on its way, or that the server refuses
// leaves no file.
func TestBackupThatFailsLeavesNothing(t *testing.T) {
	good := filled(t, filepath.Join(t.TempDir(), "store"))
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		says   string
	}{
		"cut at 90 %":     {sending(good[:len(good)*9/10], len(good)), "broke off after"},
		"short, not told": {sending(good[:len(good)*9/10], len(good)*9/10), "it is cut short"},
		"one bit flipped": {sending(flipped(good, len(good)/2), len(good)), "it is damaged"},
		"something else":  {sending([]byte("<html>sign in</html>"), 20), "it does not begin as one"},
		"refused": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"error":{"code":"RateLimited","message":"another backup of this node is under way"}}`))
		}, "RateLimited: another backup of this node is under way"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, to := range []string{dir, filepath.Join(dir, "b")} {
				job := ops.Backup{Client: sender(t, c.handle), To: to}
				if report, err := job.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("the answer is %+v, %v", report, err)
				}
			}
			empty(t, dir)
		})
	}
}

// A backup that is interrupted leaves nothing, however far it was.
func TestBackupInterrupted(t *testing.T) {
	good := filled(t, filepath.Join(t.TempDir(), "store"))
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan struct{})
	defer close(waiting)
	c := sender(t, func(w http.ResponseWriter, r *http.Request) {
		sending(good[:len(good)/2], len(good))(w, r)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-waiting:
		case <-r.Context().Done():
		}
	})
	job := ops.Backup{Client: c, To: dir, Progress: func(done, total int64) {
		if done > 0 && total == int64(len(good)) {
			cancel()
		}
	}}
	if _, err := job.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	empty(t, dir)
}

// A whole backup is written byte for byte, under the name that was given or one of
// its state; a file that is there is never replaced.
func TestBackupFile(t *testing.T) {
	good := filled(t, filepath.Join(t.TempDir(), "store"))
	c := sender(t, sending(good, len(good)))
	dir := t.TempDir()
	for _, to := range []string{dir, filepath.Join(dir, "mine")} {
		job := ops.Backup{Client: c, To: to}
		report, err := job.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(report.File)
		if err != nil || string(raw) != string(good) || report.Bytes != int64(len(good)) || report.Manifest.Tx != 40 {
			t.Errorf("report %+v, %v", report, err)
		}
		if to == dir && filepath.Base(report.File) != report.Manifest.FileName() {
			t.Errorf("named %s", report.File)
		}
		info, err := os.Stat(report.File)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if _, err := job.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "is there already") {
			t.Errorf("again: %v", err)
		}
	}
	if files := tree(t, dir); len(files) != 2 {
		t.Errorf("%d files", len(files))
	}
	none := ops.Backup{Client: c, To: filepath.Join(dir, "no", "such", "b")}
	if _, err := none.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "there is no directory") {
		t.Errorf("the error is %v", err)
	}
}
