package signup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBookKeepsAndForgets(t *testing.T) {
	now := func() time.Time { return time.UnixMilli(1_767_225_600_000) }
	path := filepath.Join(t.TempDir(), "signups.jsonl")
	b, err := Open(path, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Entry{{Email: "ada@example.test", Name: "Ada"}, {Email: "bob@example.test"}, {Email: "ADA@example.test", Name: "another"}} {
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Open(path, now)
	if err != nil {
		t.Fatal(err)
	}
	if list := again.List(); len(list) != 2 || list[0] != (Entry{Email: "ada@example.test", Name: "Ada", At: 1_767_225_600_000}) || list[1].Email != "bob@example.test" {
		t.Errorf("read again: %+v", list)
	}
	if there, err := again.Remove("Ada@example.test"); !there || err != nil {
		t.Errorf("remove: %v, %v", there, err)
	}
	if there, err := again.Remove("Ada@example.test"); there || err != nil {
		t.Errorf("remove again: %v, %v", there, err)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Contains(strings.ToLower(string(text)), "ada") || !strings.Contains(string(text), "bob") {
		t.Errorf("left in the file: %s, %v", text, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode: %v, %v", info, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left beside it: %v, %v", left, err)
	}
}

func TestBookBearsACutLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "signups.jsonl")
	if err := os.WriteFile(path, []byte(`{"email":"a@example.test","at":1}`+"\n"+`{"email":"b@exam`), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := Open(path, time.Now)
	if err != nil || len(b.List()) != 1 {
		t.Fatalf("%v, %v", b.List(), err)
	}
}

func TestBookIsBounded(t *testing.T) {
	b, err := Open("", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for i := range Max {
		if err := b.Add(Entry{Email: strings.Repeat("a", i%100+1) + strings.Repeat("b", i/100) + "@example.test"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Add(Entry{Email: "one@example.test"}); !errors.Is(err, ErrFull) {
		t.Errorf("one more: %v", err)
	}
}
