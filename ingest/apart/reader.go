package apart

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"abagraph/fact"
	"abagraph/ingest/load"
)

// Bounds of one reading, and of how many there are at a time.
const (
	wallTime  = time.Minute
	maxOutput = 96 << 20 // what is read, as JSON
	maxAll    = 4
)

// Reader starts the processes. It is safe for concurrent use.
type Reader struct {
	command []string
	all     chan struct{}
	mu      sync.Mutex
	tenants map[string]*turn
}

// turn is the one place of a tenant. It goes when nobody uses it.
type turn struct {
	place chan struct{}
	users int
}

// New makes a Reader. The command is that of a program which calls Serve.
func New(command ...string) *Reader {
	return &Reader{command: command, all: make(chan struct{}, maxAll), tenants: map[string]*turn{}}
}

// PDF reads the text of a PDF; one of a tenant at a time. Its error is a SchemaInvalid
// about the field content where the PDF is at fault.
func (r *Reader) PDF(ctx context.Context, tenant string, raw []byte) (*load.Document, error) {
	ctx, cancel := context.WithTimeout(ctx, wallTime)
	defer cancel()
	leave, err := r.enter(ctx, tenant)
	if err != nil {
		return nil, err
	}
	defer leave()
	out := &output{left: maxOutput}
	cmd := exec.CommandContext(ctx, r.command[0], r.command[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.WaitDelay = []string{"GOMAXPROCS=2"}, bytes.NewReader(raw), out, time.Second
	err = cmd.Run()
	var ended *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case ctx.Err() != nil, errors.As(err, &ended), out.left < 0:
		return nil, fact.Invalid("content", "is a PDF that cannot be read: it takes too much time or memory, or breaks its reader")
	case err != nil:
		return nil, fmt.Errorf("start a process that reads a PDF: %w", err)
	}
	return told(out.Bytes())
}

// enter waits for the tenant's place, and then for one among all.
func (r *Reader) enter(ctx context.Context, tenant string) (leave func(), err error) {
	r.mu.Lock()
	t := r.tenants[tenant]
	if t == nil {
		t = &turn{place: make(chan struct{}, 1)}
		r.tenants[tenant] = t
	}
	t.users++
	r.mu.Unlock()
	part := func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(r.tenants, tenant)
		}
	}
	for i, places := range [...]chan struct{}{t.place, r.all} {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			if i > 0 {
				<-t.place
			}
			part()
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, ctx.Err()
			}
			return nil, fact.Errorf(fact.RateLimited, "too many PDFs are being read: try again later")
		}
	}
	return func() {
		<-r.all
		<-t.place
		part()
	}, nil
}

// output keeps what a process writes, up to a bound.
type output struct {
	bytes.Buffer
	left int
}

var errOutput = errors.New("too much was written")

func (o *output) Write(p []byte) (int, error) {
	if o.left -= len(p); o.left < 0 {
		return 0, errOutput
	}
	return o.Buffer.Write(p)
}

// answer is what the process says.
type answer struct {
	Blocks  []load.Block
	Notes   []string
	Problem string // why the content cannot be read; "" = it was
}

func told(raw []byte) (*load.Document, error) {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fact.Invalid("content", "is a PDF that breaks its reader")
	}
	if a.Problem != "" {
		return nil, &fact.Error{Code: fact.SchemaInvalid, Field: "content", Message: a.Problem}
	}
	return &load.Document{Blocks: a.Blocks, Notes: a.Notes, Written: fact.NoInstant}, nil
}
