package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"abagraph/ops"
)

// bucketFlags say how to reach an S3-compatible store. Its keys are told by where
// they stand only, so that none is in a command line.
type bucketFlags struct {
	endpoint, region, access, secret string
}

func (b *bucketFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&b.endpoint, "s3-endpoint", "https://s3.amazonaws.com", "address of the S3-compatible store")
	flags.StringVar(&b.region, "s3-region", "", "its region (default: what the store says)")
	flags.StringVar(&b.access, "s3-access-key", "env:AWS_ACCESS_KEY_ID", "where its access key stands: env:NAME or file:PATH")
	flags.StringVar(&b.secret, "s3-secret-key", "env:AWS_SECRET_ACCESS_KEY", "where its secret key stands: env:NAME or file:PATH")
}

// bucket sets up access to a place.
func (a *app) bucket(b *bucketFlags, place string) (*ops.Bucket, error) {
	access, err := a.referred("s3-access-key", b.access)
	if err != nil {
		return nil, err
	}
	secret, err := a.referred("s3-secret-key", b.secret)
	if err != nil {
		return nil, err
	}
	return ops.OpenBucket(ops.BucketOptions{Place: place, Endpoint: b.endpoint, Region: b.region, AccessKey: access, SecretKey: secret})
}

// referred reads a secret from where a reference says that it stands.
func (a *app) referred(flag, reference string) (string, error) {
	kind, name, _ := strings.Cut(reference, ":")
	switch {
	case kind == "env" && name != "":
		if value := a.world.getenv(name); value != "" {
			return value, nil
		}
		return "", fmt.Errorf("--%s: the environment has no %s", flag, name)
	case kind == "file" && name != "":
		raw, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("--%s: %w", flag, err)
		}
		if value := strings.TrimSpace(string(raw)); value != "" {
			return value, nil
		}
		return "", fmt.Errorf("--%s: %s is empty", flag, name)
	}
	return "", fmt.Errorf("--%s must be env:NAME or file:PATH, not the key itself", flag)
}

// backupInto takes a backup, and sends the finished file into a store.
func (a *app) backupInto(ctx context.Context, bucket *ops.Bucket, job ops.Backup, keep int, check bool) (err error) {
	temp, err := os.MkdirTemp("", "abagraph-backup-")
	if err != nil {
		return fmt.Errorf("make room for a backup: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	client, err := a.client()
	if err != nil {
		return err
	}
	defer client.Close()
	bar := newBar(a, a.json)
	defer bar.clear()
	job.To, job.Client, job.Progress = temp, client, bar.reading
	done := backupReport{}
	if done.BackupReport, err = job.Run(ctx); err != nil {
		return a.explainDenial(err)
	}
	name, err := bucket.Put(ctx, done.File)
	if err != nil {
		return err
	}
	done.File = bucket.Name(name)
	if check {
		back := filepath.Join(temp, "back")
		if err := os.Mkdir(back, 0o700); err != nil {
			return fmt.Errorf("make room for a test restore: %w", err)
		}
		file, err := bucket.Fetch(ctx, name, back)
		if err != nil {
			return err
		}
		seen, err := ops.Drill(ctx, file, temp, bar.working, a.die)
		if err != nil {
			if ops.IsUnsound(err) { // or it would be counted among those that are kept
				err = errors.Join(fmt.Errorf("%w; %s is deleted", err, done.File), bucket.Remove(ctx, name))
			}
			return err // no older one is deleted
		}
		done.Checked = seen.Store
	}
	if keep > 0 {
		retained, err := bucket.Retain(ctx, keep, name)
		if err != nil {
			return err
		}
		done.Deleted, done.Others = retained.Deleted, retained.Others
	}
	bar.clear()
	return show(a, done, backupTable)
}

// leastEvery is the shortest time between two scheduled backups.
const leastEvery = time.Minute

// again takes one backup after the other until it is interrupted. One that fails is
// told, and does not keep the next one from being tried.
func (a *app) again(ctx context.Context, every time.Duration, run func(context.Context) error) error {
	if every < leastEvery {
		return fmt.Errorf("--every must be %v at least", leastEvery)
	}
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		if err := run(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintln(a.world.err, "abagraph: "+err.Error())
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return nil // what was under way has left nothing
		}
	}
}

// withFile runs with a file, fetched into a temporary directory where it lies in a
// store.
func (a *app) withFile(ctx context.Context, b *bucketFlags, name string, run func(file string) error) (err error) {
	if !strings.HasPrefix(name, ops.BucketScheme) {
		return run(name)
	}
	place, object := path.Split(strings.TrimPrefix(name, ops.BucketScheme))
	if object == "" || place == "" {
		return fmt.Errorf("name the backup itself: s3://BUCKET/PREFIX/NAME.backup")
	}
	bucket, err := a.bucket(b, ops.BucketScheme+place)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "abagraph-fetch-")
	if err != nil {
		return fmt.Errorf("make room for a backup: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	file, err := bucket.Fetch(ctx, object, temp)
	if err != nil {
		return err
	}
	return run(file)
}
