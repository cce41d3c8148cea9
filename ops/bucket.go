package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// BucketScheme begins the name of a place in an S3-compatible store:
// s3://BUCKET/PREFIX.
const BucketScheme = "s3://"

// BucketOptions name a place in an S3-compatible store.
type BucketOptions struct {
	Place    string // s3://BUCKET/PREFIX
	Endpoint string // https://HOST[:PORT]
	Region   string // "" = what the store says
	// AccessKey and SecretKey are the keys themselves: where they come from is the
	// caller's affair. They are in no error and no report.
	AccessKey, SecretKey string

	stall time.Duration // for tests; 0 = storeStall
}

// Bucket is a place for backups in an S3-compatible store.
type Bucket struct {
	client *minio.Client
	name   string
	prefix string // "" or ending in /
}

// OpenBucket sets up access to a place; it calls nobody.
func OpenBucket(o BucketOptions) (*Bucket, error) {
	name, prefix, _ := strings.Cut(strings.TrimPrefix(o.Place, BucketScheme), "/")
	if !strings.HasPrefix(o.Place, BucketScheme) || name == "" {
		return nil, fmt.Errorf("%q is no place in a store: name it as s3://BUCKET/PREFIX", o.Place)
	}
	at, err := url.Parse(o.Endpoint)
	if err != nil || (at.Scheme != "http" && at.Scheme != "https") || at.Host == "" || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.User != nil {
		return nil, errors.New("the endpoint of the store must be https://HOST[:PORT], without a path")
	}
	if o.AccessKey == "" || o.SecretKey == "" {
		return nil, errors.New("the store needs an access key and a secret key")
	}
	options, err := storeOptions(at.Scheme == "https", cmp.Or(o.stall, storeStall))
	if err != nil {
		return nil, err
	}
	options.Creds, options.Region = credentials.NewStaticV4(o.AccessKey, o.SecretKey, ""), o.Region
	client, err := minio.New(at.Host, options)
	if err != nil {
		return nil, fmt.Errorf("set up the store: %w", err)
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return &Bucket{client: client, name: name, prefix: prefix}, nil
}

// Name is how an object of the place is named from outside.
func (b *Bucket) Name(object string) string { return BucketScheme + b.name + "/" + b.prefix + object }

// Put sends a finished file. One of its name that is there is never replaced.
func (b *Bucket) Put(ctx context.Context, file string) (name string, err error) {
	name = filepath.Base(file)
	_, err = b.client.StatObject(ctx, b.name, b.prefix+name, minio.StatObjectOptions{})
	switch code := minio.ToErrorResponse(err).Code; {
	case err == nil:
		return "", fmt.Errorf("%s is there already: a backup never replaces one", b.Name(name))
	case code != minio.NoSuchKey:
		return "", b.failed("look for", name, err)
	}
	in, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("send a backup: %w", err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return "", fmt.Errorf("send a backup: %w", err)
	}
	sent, err := b.client.PutObject(ctx, b.name, b.prefix+name, in, info.Size(), minio.PutObjectOptions{ContentType: "application/octet-stream", SendContentMd5: true})
	if err != nil {
		return "", b.failed("send", name, err)
	}
	if sent.Size != info.Size() {
		return "", fmt.Errorf("the store took %d of the %d bytes of %s", sent.Size, info.Size(), b.Name(name))
	}
	return name, nil
}

// failed says what was not done, with the store's own word for the reason.
func (b *Bucket) failed(what, name string, err error) error {
	if code := minio.ToErrorResponse(err).Code; code != "" && !strings.Contains(err.Error(), code) {
		return fmt.Errorf("%s %s: %s: %w", what, b.Name(name), code, err)
	}
	return fmt.Errorf("%s %s: %w", what, b.Name(name), err)
}

// fetchTries is how often an object is fetched whose connection breaks: each goes on
// where the one before it has ended.
const fetchTries = 3

// Fetch writes an object of the place into a directory, and returns the file.
func (b *Bucket) Fetch(ctx context.Context, name, dir string) (string, error) {
	file := filepath.Join(dir, path.Base(name))
	for try := 1; ; try++ {
		err := b.client.FGetObject(ctx, b.name, b.prefix+name, file, minio.GetObjectOptions{})
		switch {
		case err == nil:
			return file, nil
		case try == fetchTries, ctx.Err() != nil, minio.ToErrorResponse(err).StatusCode != 0:
			return "", b.failed("fetch", name, err)
		}
	}
}

// Remove deletes an object of the place.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	if err := b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}); err != nil {
		return b.failed("delete", name, err)
	}
	return nil
}

// maxListed bounds the objects of a place that are looked through.
const maxListed = 100_000

// Retain deletes the oldest backups of the place, as Retain does in a directory. Other
// objects are left alone.
func (b *Bucket) Retain(ctx context.Context, keep int, made string) (Retained, error) {
	done := Retained{Deleted: []string{}}
	if keep < 1 {
		return done, errKeep(keep)
	}
	ctx, cancel := context.WithCancel(ctx) // which ends the listing
	defer cancel()
	var names []string
	for object := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if object.Err != nil {
			return done, b.failed("list the backups in", "", object.Err)
		}
		if names = append(names, strings.TrimPrefix(object.Key, b.prefix)); len(names) > maxListed {
			return done, fmt.Errorf("%s holds more than %d objects: give the backups a prefix of their own", b.Name(""), maxListed)
		}
	}
	old, others := tooOld(names, keep, made)
	done.Others = others
	for _, name := range old {
		if err := b.Remove(ctx, name); err != nil {
			return done, err
		}
		done.Deleted = append(done.Deleted, name)
	}
	return done, nil
}
