package chaos

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Former is a program of before.
type Former struct {
	Binary string
	// Revision is the commit that it was built from, shortened, or "same".
	Revision string
	// What says it in words.
	What string
}

// same asks for a second build of the same tree.
const same = "same"

// formats is the folder to which a file is added whenever a format is released.
const formats = "internal/golden/testdata"

// BuildFormer compiles the program as it was at a revision of the repository around the
// working directory: a tag, a commit, or "" for the commit at which the newest released
// format was added. Where the repository does not have it (a copy without history), it
// is the present tree under another version number, and What says so.
func BuildFormer(ctx context.Context, dir, revision string) (*Former, error) {
	f := &Former{Binary: filepath.Join(dir, "abagraph-former"), Revision: same}
	commit, why := commitOf(ctx, revision)
	if commit == "" {
		f.What = "the same tree as version 0.0.0, since " + why
		return f, compile(ctx, "", "-o", f.Binary, "-ldflags=-X main.version=0.0.0", "-tags="+TagClocks)
	}
	tree := filepath.Join(dir, "former")
	if err := export(ctx, commit, tree); err != nil {
		return nil, err
	}
	f.Revision, f.What = commit[:12], "the program of commit "+commit[:12]
	return f, compile(ctx, tree, "-o", f.Binary, "-tags="+TagClocks)
}

// commitOf finds a commit, or tells why it cannot be had.
func commitOf(ctx context.Context, revision string) (commit, why string) {
	var err error
	switch revision {
	case same:
		return "", "that was asked for"
	case "":
		revision = "the newest released format"
		commit, err = git(ctx, "log", "-1", "--format=%H", "--diff-filter=A", "--", ":/"+formats)
	default:
		commit, err = git(ctx, "rev-parse", "--verify", "--quiet", revision+"^{commit}")
	}
	if err != nil || len(commit) < 12 {
		return "", fmt.Sprintf("this copy of the repository does not have %s", revision)
	}
	return commit, ""
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", args...).Output()
	return strings.TrimSpace(string(out)), err
}

func compile(ctx context.Context, tree string, args ...string) error {
	command := exec.CommandContext(ctx, "go", append(append([]string{"build", "-buildvcs=false"}, args...), "abagraph/cmd/abagraph")...)
	command.Dir = tree
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the former program: %w\n%s", err, output)
	}
	return nil
}

// export writes the files of a commit into a folder.
func export(ctx context.Context, commit, to string) error {
	root, err := git(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("find the repository: %w", err)
	}
	raw, err := exec.CommandContext(ctx, "git", "-C", root, "archive", "--format=tar", commit).Output()
	if err != nil {
		return fmt.Errorf("read the files of %s: %w", commit, err)
	}
	for in := tar.NewReader(bytes.NewReader(raw)); ; {
		h, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("unpack %s: %w", commit, err)
		case h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name):
			continue
		}
		if err := unpack(filepath.Join(to, h.Name), in); err != nil {
			return fmt.Errorf("unpack %s: %w", commit, err)
		}
	}
}

func unpack(path string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
