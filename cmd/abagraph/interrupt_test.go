package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"abagraph/client"
)

// TestImportKilledAgainAndAgain kills the importing process, and once the
// server too, in the middle, and runs the same command again until it is done:
// every row is there once, and retracted once.
func TestImportKilledAgainAndAgain(t *testing.T) {
	const rows, subjects = 4000, 50
	var text strings.Builder
	for i := range rows {
		fmt.Fprintf(&text, `{"subject":"Sensor:%d","predicate":"value","object":%d,"known":%d,"gone":%d}`+"\n", i%subjects, i, 1_500_000_000_000+i, 1_500_000_000_000+i+subjects)
	}
	dir := t.TempDir()
	file, state := filepath.Join(dir, "rows.jsonl"), filepath.Join(dir, "state")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	address := free(t)
	serve := func() *process { return launch(t, "--bind", address, "--data", filepath.Join(dir, "data")).up() }
	server := serve()
	args := []string{"import", file, "--url", server.url, "--state", state, "--batch", "40", "--known-at", "known", "--retracted-at", "gone", "--reason", "a test"}

	lines := 0
	for round := 0; ; round++ {
		command := program(t, args...)
		var out bytes.Buffer
		command.Stdout = &out
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		if round < 3 {
			lines = stateGrows(t, state, lines)
			if round == 1 {
				server.kill()
			}
			if err := command.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait() // it was killed
			if round == 1 {
				server = serve()
			}
			continue
		}
		if err := command.Wait(); err != nil {
			t.Fatal(err)
		}
		var got struct{ Rows, Written, Duplicates, Refused, Retracted int }
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Written+got.Duplicates != rows || got.Refused != 0 || got.Retracted != rows {
			t.Errorf("counted %+v, %v", got, err)
		}
		break
	}
	stats, err := server.client().Stats(t.Context(), client.Read{})
	if err != nil || stats.Facts.Total != rows || stats.Facts.Retracted != rows {
		t.Errorf("the store counts %+v, %v", stats.Facts, err)
	}
}

// stateGrows waits until a state file has a few lines more, and returns how
// many it has.
func stateGrows(t *testing.T, path string, than int) int {
	t.Helper()
	lines := 0
	eventually(t, "the import went on", func(context.Context) bool {
		text, err := os.ReadFile(path)
		lines = bytes.Count(text, []byte("\n"))
		return err == nil && lines > than+5
	})
	return lines
}
