package log

import (
	"os"
	"path/filepath"
	"testing"
)

// TestUsageIsWhatTheDiskLacks: what files take of the disk counts, not how long they say
// they are, and what two names share counts once.
func TestUsageIsWhatTheDiskLacks(t *testing.T) {
	dir, err := Claim(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	at := func(name string) string { return filepath.Join(dir.Path(), name) }
	sparse, err := os.Create(at("sparse"))
	if err != nil {
		t.Fatal(err)
	}
	full, err := os.Create(at("full"))
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, 1<<20)
	for i := range content {
		content[i] = byte(i * i >> 3)
	}
	if _, err := full.Write(content); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{sparse.Truncate(64 << 20), sparse.Close(), full.Sync(), full.Close(), os.Link(at("full"), at("again"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	use, err := dir.Usage()
	if err != nil || use.Used < 1<<20 || use.Used > 2<<20 || use.Free == 0 || use.Size < use.Free {
		t.Errorf("%+v, %v", use, err)
	}
}
