package ops

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"abagraph/client"
)

// Bundle gathers what someone who helps has to know of a running cluster: no fact, no
// key and no secret is in it, but names of members and addresses of peer ports are.
type Bundle struct {
	Client  *client.Client
	To      string // the file to write
	Version string // of this program

	now func() time.Time // for tests; nil = the system's
}

// BundleReport tells what was gathered.
type BundleReport struct {
	File  string   `json:"file"`
	Parts []string `json:"parts"`
	// Missing are the parts that could not be had, with the reason.
	Missing []string `json:"missing"`
}

// part is one file of a bundle.
type part struct {
	name string
	read func(context.Context) ([]byte, error)
}

// Run gathers. What one part lacks is told and leaves the others; no file is ever
// replaced, and an error leaves nothing.
func (b *Bundle) Run(ctx context.Context) (*BundleReport, error) {
	if b.now == nil {
		b.now = time.Now
	}
	if _, err := os.Stat(b.To); err == nil {
		return nil, fmt.Errorf("%s is there already: a bundle never replaces a file", b.To)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look at the place for the bundle: %w", err)
	}
	var denied *client.Error
	if _, err := b.Client.Nodes(ctx); errors.As(err, &denied) && denied.Status < 500 {
		return nil, err // without the admin key there is nothing to gather
	}
	dir := filepath.Dir(b.To)
	file, err := os.CreateTemp(dir, ".abagraph-*.partial")
	if err != nil {
		return nil, fmt.Errorf("write the bundle: %w", err)
	}
	report := &BundleReport{File: b.To, Parts: []string{}, Missing: []string{}}
	err = errors.Join(b.write(ctx, file, report), file.Sync(), file.Close(), ctx.Err())
	if err == nil {
		err = publish(file, dir, filepath.Base(b.To))
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(file.Name()))
	}
	return report, nil
}

func (b *Bundle) parts() []part {
	return []part{
		{"about.json", func(context.Context) ([]byte, error) {
			return json.Marshal(map[string]any{"made_at": b.now().UnixMilli(), "asked": b.Client.Base(), "by": b.Version, "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH})
		}},
		{"ready.json", b.get("/api/ready", nil)},
		{"nodes.json", b.get("/api/admin/nodes", nil)},
		{"observability.json", b.get("/api/observability", nil)},
		{"stats.json", b.get("/api/stats", url.Values{"consistency": {"stale"}})},
		{"metrics.txt", b.get("/metrics", nil)},
		{"doctor.json", func(ctx context.Context) ([]byte, error) {
			report, err := (&Doctor{Client: b.Client}).Run(ctx)
			if err != nil {
				return nil, err
			}
			return json.Marshal(report)
		}},
	}
}

// get reads a route that tells no fact.
func (b *Bundle) get(path string, query url.Values) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		answer, err := b.Client.Do(ctx, client.Call{Method: "GET", Path: path, Query: query, Once: true})
		if err != nil {
			return nil, err
		}
		return answer.Body, nil
	}
}

func (b *Bundle) write(ctx context.Context, to io.Writer, report *BundleReport) error {
	zipped := gzip.NewWriter(to)
	archive := tar.NewWriter(zipped)
	for _, p := range b.parts() {
		content, err := p.read(ctx)
		if err != nil {
			report.Missing = append(report.Missing, fmt.Sprintf("%s: %v", p.name, err))
			content = []byte("not there: " + err.Error() + "\n")
		} else {
			report.Parts = append(report.Parts, p.name)
		}
		head := &tar.Header{Name: "abagraph-bundle/" + p.name, Mode: 0o600, Size: int64(len(content)), ModTime: b.now(), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(head); err != nil {
			return fmt.Errorf("write the bundle: %w", err)
		}
		if _, err := archive.Write(content); err != nil {
			return fmt.Errorf("write the bundle: %w", err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		return fmt.Errorf("write the bundle: %w", err)
	}
	return nil
}
