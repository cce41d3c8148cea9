package ops

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

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
	client, err := minio.New(at.Host, &minio.Options{
		Creds: credentials.NewStaticV4(o.AccessKey, o.SecretKey, ""), Secure: at.Scheme == "https", Region: o.Region,
	})
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
		return "", fmt.Errorf("look for %s: %w", b.Name(name), err)
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
		return "", fmt.Errorf("send %s: %w", b.Name(name), err)
	}
	if sent.Size != info.Size() {
		return "", fmt.Errorf("the store took %d of the %d bytes of %s", sent.Size, info.Size(), b.Name(name))
	}
	return name, nil
}

// Fetch writes an object of the place into a directory, and returns the file.
func (b *Bucket) Fetch(ctx context.Context, name, dir string) (string, error) {
	file := filepath.Join(dir, path.Base(name))
	if err := b.client.FGetObject(ctx, b.name, b.prefix+name, file, minio.GetObjectOptions{}); err != nil {
		return "", fmt.Errorf("fetch %s: %w", b.Name(name), err)
	}
	return file, nil
}

// maxListed bounds the objects of a place that are looked through.
const maxListed = 100_000

// Retain deletes the oldest backups of the place, by the times in their names, but
// for the newest ones, as Retain does in a directory. Other objects are left alone.
func (b *Bucket) Retain(ctx context.Context, keep int) ([]string, error) {
	if keep < 1 {
		return nil, errKeep(keep)
	}
	ctx, cancel := context.WithCancel(ctx) // which ends the listing
	defer cancel()
	var names []string
	for object := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if object.Err != nil {
			return nil, fmt.Errorf("list the backups in %s: %w", b.Name(""), object.Err)
		}
		if names = append(names, strings.TrimPrefix(object.Key, b.prefix)); len(names) > maxListed {
			return nil, fmt.Errorf("%s holds more than %d objects: give the backups a prefix of their own", b.Name(""), maxListed)
		}
	}
	deleted := []string{}
	for _, name := range tooOld(names, keep) {
		if err := b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}); err != nil {
			return deleted, fmt.Errorf("delete the old backup %s: %w", b.Name(name), err)
		}
		deleted = append(deleted, name)
	}
	return deleted, nil
}
