package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"abagraph/client"
	"abagraph/fsm"
)

// backupStall is how long a server may send nothing before a backup is given up.
const backupStall = 2 * time.Minute

// Backup is one backup to take.
type Backup struct {
	Client *client.Client
	// To is the file to write, or a directory to write a file into that is named
	// after the state: abagraph-EPOCH-txN-TIME.backup.
	To string
	// Stale takes what the node has, without asking the leader.
	Stale bool
	// Rate bounds the bytes that are taken a second, so that the node has time for
	// its writers; 0 = as fast as they come.
	Rate int64
	// Progress is told how many bytes have come; nil = nobody.
	Progress func(done, total int64)
}

// BackupReport tells what was written.
type BackupReport struct {
	File     string       `json:"file"`
	Bytes    int64        `json:"bytes"`
	Seconds  float64      `json:"seconds"`
	Manifest fsm.Manifest `json:"manifest"`
}

// Run takes the backup. Every byte is checked on its way; the file gets its name
// only when it is whole and on disk, and no file of that name is ever replaced. An
// error, or the end of ctx, leaves nothing behind.
func (b *Backup) Run(ctx context.Context) (*BackupReport, error) {
	dir, name, err := b.target()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start := time.Now()
	stream, err := b.Client.Backup(ctx, b.Stale)
	if err != nil {
		return nil, err
	}
	defer stream.Body.Close()
	file, err := os.CreateTemp(dir, ".abagraph-*.partial") // made with mode 0600
	if err != nil {
		return nil, fmt.Errorf("write the backup: %w", err)
	}
	report, err := b.receive(ctx, cancel, stream, file)
	if err == nil {
		if name == "" {
			name = report.Manifest.FileName()
		}
		report.File, err = filepath.Join(dir, name), publish(file, dir, name)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(file.Name()))
	}
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// target is the directory to write into, and the file's name, or "" for one that
// the manifest gives.
func (b *Backup) target() (dir, name string, err error) {
	info, err := os.Stat(b.To)
	switch {
	case err == nil && info.IsDir():
		return b.To, "", nil
	case err == nil:
		return "", "", fmt.Errorf("%s is there already: a backup never replaces a file", b.To)
	case !errors.Is(err, fs.ErrNotExist):
		return "", "", fmt.Errorf("look at the place for the backup: %w", err)
	case strings.HasSuffix(b.To, string(filepath.Separator)):
		return "", "", fmt.Errorf("there is no directory %s", b.To)
	}
	dir, name = filepath.Dir(b.To), filepath.Base(b.To)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", "", fmt.Errorf("there is no directory %s", dir)
	}
	return dir, name, nil
}

// receive writes the stream into the file and checks it on the way.
func (b *Backup) receive(ctx context.Context, cancel context.CancelCauseFunc, stream *client.BackupStream, file *os.File) (*BackupReport, error) {
	in := &watched{ctx: ctx, from: stream.Body, total: stream.Size, tell: b.Progress, rate: b.Rate, began: time.Now(), wait: waitUntil}
	in.alarm = time.AfterFunc(backupStall, func() { cancel(fmt.Errorf("the server has sent nothing for %v", backupStall)) })
	defer in.alarm.Stop()
	out := &kept{to: file}
	manifest, err := fsm.CheckBackup(io.TeeReader(in, out))
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case out.err != nil:
		err = fmt.Errorf("write the backup: %w", out.err)
	case in.err != nil:
		err = fmt.Errorf("the backup broke off after %d of %d bytes: %w", in.done, in.total, in.err)
	case err == nil:
		if err = file.Sync(); err != nil {
			err = fmt.Errorf("write the backup: %w", err)
		}
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return &BackupReport{Bytes: in.done, Manifest: *manifest}, nil
}

// publish gives a finished file its name.
func publish(file *os.File, dir, name string) error {
	target := filepath.Join(dir, name)
	// A link, unlike a rename, never replaces a file that came meanwhile.
	if err := os.Link(file.Name(), target); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s is there already: a backup never replaces a file", target)
		}
		if err := os.Rename(file.Name(), target); err != nil {
			return fmt.Errorf("put the backup in place: %w", err)
		}
		return syncDir(dir)
	}
	if err := os.Remove(file.Name()); err != nil {
		return fmt.Errorf("put the backup in place: %w", err)
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync a directory: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// watched counts what is read, keeps to a rate, remembers why reading ended, and puts
// off the alarm.
type watched struct {
	ctx         context.Context
	from        io.Reader
	rate        int64 // bytes a second; 0 = no bound
	began       time.Time
	wait        func(context.Context, time.Time)
	done, total int64
	tell        func(done, total int64)
	alarm       *time.Timer
	err         error // nil at a proper end
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	w.done += int64(n)
	if n > 0 {
		w.alarm.Reset(backupStall)
		if w.tell != nil {
			w.tell(w.done, w.total)
		}
		w.pace()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// pace waits until the rate allows what has been read.
func (w *watched) pace() {
	if w.rate <= 0 {
		return
	}
	w.wait(w.ctx, w.began.Add(time.Duration(float64(w.done)/float64(w.rate)*float64(time.Second))))
}

// waitUntil waits for a time, or until the context ends.
func waitUntil(ctx context.Context, at time.Time) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// kept remembers why a write failed, which who reads through it does not tell.
type kept struct {
	to  io.Writer
	err error
}

func (k *kept) Write(p []byte) (int, error) {
	n, err := k.to.Write(p)
	if err != nil {
		k.err = err
	}
	return n, err
}
