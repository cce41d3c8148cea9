package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"abagraph/client"
	"abagraph/fact"
)

// Load writes through nodes, from several workers at once: single facts that
// supersede each other, and batches of three. Each write goes to one node after
// another, under one key, until its outcome is known.
type Load struct {
	Nodes   []*Node
	Workers int
	Ledger  *Ledger
	// Name begins the subjects and objects of this load, so that several can
	// follow each other in one store.
	Name string
	// Tenant is written to ("" = the default one).
	Tenant string
	// Pace is a pause of each worker after each write. Once is the share of writes, 0
	// to 1, that are sent one time only and may so stay unknown; Repeat the share of
	// acknowledged ones that are sent again under their key, to be answered alike.
	Pace         time.Duration
	Once, Repeat float64
	// Around, where set, stands around each call.
	Around func(what string, n *Node, call func() error) error
	// Acknowledged, where set, is told each write that was acknowledged, from
	// the worker that made it.
	Acknowledged func(context.Context, Write) error

	done atomic.Int64
}

// Done is how many writes were acknowledged so far.
func (l *Load) Done() int { return int(l.done.Load()) }

// Await waits until so many writes were acknowledged.
func (l *Load) Await(ctx context.Context, count int) error {
	for l.Done() < count {
		if !rest(ctx, pause) {
			return fmt.Errorf("%d of %d writes were acknowledged: %w", l.Done(), count, ctx.Err())
		}
	}
	return nil
}

// Start begins to write. The returned function ends it: no new write is begun,
// and those under way are seen through, but not beyond the context.
func (l *Load) Start(ctx context.Context) (finish func() error) {
	stop := make(chan struct{})
	errs := make([]error, l.Workers)
	var wg sync.WaitGroup
	for w := range l.Workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[w] = l.work(ctx, stop, w)
		}()
	}
	return func() error {
		close(stop)
		wg.Wait()
		return errors.Join(errs...)
	}
}

func (l *Load) work(ctx context.Context, stop <-chan struct{}, worker int) error {
	clients, closing, err := Clients(l.Nodes)
	if err != nil {
		return err
	}
	defer closing()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		default:
		}
		w, err := l.write(ctx, clients, worker, i)
		l.Ledger.Add(w)
		if err != nil {
			return fmt.Errorf("write %s: %w", w.Key, err)
		}
		if l.Pace > 0 {
			rest(ctx, l.Pace)
		}
		if !w.Done {
			continue
		}
		l.done.Add(1)
		if l.Acknowledged != nil {
			if err := l.Acknowledged(ctx, w); err != nil {
				return fmt.Errorf("after write %s: %w", w.Key, err)
			}
		}
	}
}

// write makes one write and sees it through.
func (l *Load) write(ctx context.Context, clients []*client.Client, worker, i int) (Write, error) {
	w := Write{Key: fmt.Sprintf("%s-%d-%d", l.Name, worker, i)}
	what, send := "assert", l.single
	if i%3 == 2 {
		what, send = "transact", l.batch
	}
	call := l.around(what, clients, send(&w, worker, i))
	if rand.Float64() < l.Once {
		err := call(ctx, clients[(worker+i)%len(clients)])
		w.Done = err == nil
		w.Refused = err != nil && !Unknown(err)
		return w, nil
	}
	err := Until(ctx, clients, worker+i, call)
	w.Done = err == nil
	w.Refused = err != nil && client.StatusOf(err) != 0 && !passes(err)
	if w.Done && rand.Float64() < l.Repeat {
		told := w
		if err := Until(ctx, clients, worker+i+1, call); err != nil {
			return w, fmt.Errorf("repeat it: %w", err)
		}
		if w.Tx != told.Tx || !slices.Equal(w.IDs, told.IDs) {
			return told, fmt.Errorf("it was acknowledged as %v at tx %d, and repeated under its key as %v at tx %d: %w", told.IDs, told.Tx, w.IDs, w.Tx, ErrTwice)
		}
	}
	return w, err
}

// ErrTwice is wrapped by the error of a write whose repetition was answered otherwise.
var ErrTwice = errors.New("a key was judged twice")

// around puts what is to stand around each call there.
func (l *Load) around(what string, clients []*client.Client, send func(context.Context, *client.Client) error) func(context.Context, *client.Client) error {
	if l.Around == nil {
		return send
	}
	return func(ctx context.Context, c *client.Client) error {
		return l.Around(what, l.Nodes[slices.Index(clients, c)], func() error { return send(ctx, c) })
	}
}

// Unknown reports whether an error leaves open whether a write that was sent once was
// done: it says so itself, or the answer was lost. Any other one says that it was not
// (C-32).
func Unknown(err error) bool {
	switch client.StatusOf(err) {
	case 0, 502, 504:
		return true
	}
	return false
}

func (l *Load) single(w *Write, worker, _ int) func(context.Context, *client.Client) error {
	w.Objects = []string{w.Key}
	a := client.Assert{Subject: fmt.Sprintf("Counter:%s-%d", l.Name, worker), Predicate: "stands_at", Object: fact.TextObject(w.Key)}
	return func(ctx context.Context, c *client.Client) error {
		got, err := c.Assert(ctx, a, client.Write{Tenant: l.Tenant, IdempotencyKey: w.Key})
		if err == nil {
			w.Tx, w.IDs = got.Tx, []string{got.Fact.ID}
		}
		return err
	}
}

func (l *Load) batch(w *Write, worker, i int) func(context.Context, *client.Client) error {
	var t client.Transact
	for part := range 3 {
		object := fmt.Sprintf("%s-%d", w.Key, part)
		w.Objects = append(w.Objects, object)
		t.Asserts = append(t.Asserts, client.Assert{
			Subject: fmt.Sprintf("Batch:%s-%d-%d", l.Name, worker, i), Predicate: "has_part", Object: fact.TextObject(object), Policy: "coexist",
		})
	}
	return func(ctx context.Context, c *client.Client) error {
		got, err := c.Transact(ctx, &t, client.Write{Tenant: l.Tenant, IdempotencyKey: w.Key})
		if err != nil {
			return err
		}
		w.Tx, w.IDs = got.Tx, nil
		for i := range t.Asserts {
			w.IDs = append(w.IDs, got.Facts[i].ID)
		}
		return nil
	}
}

// callLimit is how long one call of the load waits before it goes to another
// node. The first one goes on behind it, under the same key.
const callLimit = 4 * time.Second

// Clients makes one client of each node, and a function that closes them.
func Clients(nodes []*Node) ([]*client.Client, func(), error) {
	var clients []*client.Client
	closing := func() {
		for _, c := range clients {
			c.Close()
		}
	}
	for _, n := range nodes {
		c, err := n.Client(client.WithTimeout(callLimit))
		if err != nil {
			closing()
			return nil, nil, err
		}
		clients = append(clients, c)
	}
	return clients, closing, nil
}

// Until sends a call to one client after another, beginning with the one at
// first, until it has an outcome or the context ends.
func Until(ctx context.Context, clients []*client.Client, first int, send func(context.Context, *client.Client) error) error {
	for i := first; ; i++ {
		err := send(ctx, clients[i%len(clients)])
		if err == nil || !passes(err) {
			return err
		}
		if !rest(ctx, pause+rand.N(pause)) {
			return err
		}
	}
}

// passes reports whether an error may be gone when the same call is sent again.
func passes(err error) bool {
	switch client.StatusOf(err) {
	case 0, 429, 502, 503, 504:
		return true
	}
	// What one node cannot read another can.
	return client.CodeOf(err) == fact.StorageCorruption
}
