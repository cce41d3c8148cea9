package golden

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// pack writes a directory's files into one archive.
func pack(t *testing.T, from, to string) {
	t.Helper()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	small, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(small)
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "LOCK" {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = archive.Write(content)
		return err
	})
	if err := errors.Join(err, archive.Close(), small.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
}

// unpack makes a data directory of an archive.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	in, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	whole, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for files := tar.NewReader(whole); ; {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return root
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, filepath.FromSlash(head.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(files)
		if err == nil {
			err = os.WriteFile(path, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// contents reads every file below a directory.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "LOCK" {
			return err
		}
		raw, err := os.ReadFile(path)
		all[path] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// keep writes a record.
func keep(t *testing.T, made record, path string) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	small, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(json.NewEncoder(small).Encode(made), small.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
}

// recorded reads a record; numbers keep their digits.
func recorded(t *testing.T, path string) (made record) {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	whole, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(whole)
	decoder.UseNumber()
	if err := decoder.Decode(&made); err != nil {
		t.Fatal(err)
	}
	return made
}
