package secrets_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"abagraph/internal/secrets"
)

// TestOBS01ReferencesOnly: what is no reference, and what would hand on a setting
// of the server, is refused.
func TestOBS01ReferencesOnly(t *testing.T) {
	for _, good := range []string{"env:STRIPE_SECRET", "env:a", "env:ABAGRAPH_SECRET_X", "file:/run/secrets/stripe"} {
		if err := secrets.Check(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "sk-live-4711", "env:", "env:A B", "env:1A", "env:A=B", "env:ABAGRAPH_ADMIN_KEY", "env:abagraph_admin_key", "env:ABAGRAPH_SECRETS",
		"file:", "file:secret", "file:/run/../etc/shadow", "file:/run//x", "file:/a\nb", "value:x", "ENV:A", "file:/" + strings.Repeat("x", 1024)} {
		if err := secrets.Check(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
		if _, err := secrets.Read(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestReadSecrets: values come without their line end; what cannot be had is told
// without any of it.
func TestReadSecrets(t *testing.T) {
	t.Setenv("A_CANARY", "canary-1")
	t.Setenv("AN_EMPTY_ONE", "")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "file:" + path
	}
	for reference, want := range map[string]string{"env:A_CANARY": "canary-1", write("plain", "canary-2\r\n"): "canary-2", write("lines", "a\nb\n"): "a\nb"} {
		if got, err := secrets.Read(reference); err != nil || got != want {
			t.Errorf("%s: %q, %v", reference, got, err)
		}
	}
	for _, reference := range []string{"env:NOT_SET_AT_ALL", "env:AN_EMPTY_ONE", "file:" + dir, "file:" + dir + "/none", write("blank", "\n"), write("big", strings.Repeat("canary-3", secrets.MaxBytes))} {
		if _, err := secrets.Read(reference); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", reference, err)
		}
	}
}
