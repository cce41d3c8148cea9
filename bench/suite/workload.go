package suite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"abagraph/bench/load"
	"abagraph/bench/rest"
)

// Sizes of the workloads.
const (
	subjects        = 10_000 // that posts supersede; as many keys as the peers overwrite
	valueSize       = 256    // bytes of a peer's value, and of the whole body of a post
	batchSize       = 100    // facts in one transact
	factsASubject   = 10     // that a read returns
	readSubjects    = 2_000
	predicateOfPost = "state"
)

// serial makes every value of a run another one, so that no write is a
// duplicate of what holds.
var serial atomic.Uint64

// writer makes bodies and values for one client, without allocating.
type writer struct {
	random *rand.Rand
	buffer []byte
}

func newWriter(client int) *writer {
	return &writer{random: rand.New(rand.NewPCG(uint64(client), 1))}
}

// fact appends the JSON of a fact, padded to size bytes.
func (w *writer) fact(dst []byte, subject, predicate string, size int) []byte {
	began := len(dst)
	dst = append(dst, `{"subject":"`...)
	dst = append(dst, subject...)
	dst = append(dst, `","predicate":"`...)
	dst = append(dst, predicate...)
	dst = append(dst, `","source":"bench","object":"`...)
	dst = strconv.AppendUint(dst, serial.Add(1), 36)
	dst = append(dst, '-')
	dst = w.pad(dst, size-(len(dst)-began)-len(`"}`))
	return append(dst, `"}`...)
}

// value appends a peer's value of valueSize bytes.
func (w *writer) value(dst []byte) []byte {
	began := len(dst)
	dst = strconv.AppendUint(dst, serial.Add(1), 36)
	return w.pad(dst, valueSize-(len(dst)-began))
}

const letters = "abcdefghijklmnopqrstuvwxyz012345"

// pad appends n letters that hardly compress.
func (w *writer) pad(dst []byte, n int) []byte {
	for n > 0 {
		bits := w.random.Uint64()
		for range min(n, 12) {
			dst = append(dst, letters[bits&31])
			bits >>= 5
		}
		n -= 12
	}
	return dst
}

// batch makes the body of a transact of batchSize facts, factsASubject to each
// of the subjects from first on.
func (w *writer) batch(prefix string, first uint64) []byte {
	w.buffer = append(w.buffer[:0], `{"asserts":[`...)
	for i := range batchSize {
		if i > 0 {
			w.buffer = append(w.buffer, ',')
		}
		subject := prefix + strconv.FormatUint(first+uint64(i)/factsASubject, 10)
		w.buffer = w.fact(w.buffer, subject, "attribute_"+strconv.Itoa(i%factsASubject), valueSize)
	}
	w.buffer = append(w.buffer, `]}`...)
	return w.buffer
}

func postSubject(i int) string { return "Bench:s" + strconv.Itoa(i) }
func readSubject(i int) string { return "Bench:r" + strconv.Itoa(i) }

// conns opens n connections to a server and makes an operation on each.
func conns(address string, n int, op func(client int, conn *rest.Conn) load.Op) ([]load.Op, func(), error) {
	var open []*rest.Conn
	closer := func() {
		for _, conn := range open {
			_ = conn.Close() // nothing is under way any more
		}
	}
	var ops []load.Op
	for i := range n {
		conn, err := rest.Dial(address)
		if err != nil {
			closer()
			return nil, nil, err
		}
		open = append(open, conn)
		ops = append(ops, op(i, conn))
	}
	return ops, closer, nil
}

// expect sends one request and wants one of two statuses.
func expect(conn *rest.Conn, method, target string, body []byte) ([]byte, error) {
	status, answer, err := conn.Do(method, target, body)
	if err != nil {
		return nil, err
	}
	if status != 200 && status != 201 {
		return nil, fmt.Errorf("%s %s answers %d: %.300s", method, target, status, answer)
	}
	return answer, nil
}

// post makes clients that write one fact a request over the subjects, in bodies
// of size bytes.
func post(address string, size int) func(n int) ([]load.Op, func(), error) {
	return func(n int) ([]load.Op, func(), error) {
		return conns(address, n, func(client int, conn *rest.Conn) load.Op {
			w := newWriter(client)
			return func(context.Context) (int, error) {
				w.buffer = w.fact(w.buffer[:0], postSubject(w.random.IntN(subjects)), predicateOfPost, size)
				_, err := expect(conn, "POST", "/api/facts", w.buffer)
				return 1, err
			}
		})
	}
}

// transactOps makes clients that write batches about subjects that no one has
// written before; next is the first of them that is free.
func transactOps(address, prefix string, next *atomic.Uint64) func(clients int) ([]load.Op, func(), error) {
	return func(clients int) ([]load.Op, func(), error) {
		return conns(address, clients, func(client int, conn *rest.Conn) load.Op {
			w := newWriter(client)
			return func(ctx context.Context) (int, error) {
				const each = batchSize / factsASubject
				return batchSize, accepted(ctx, conn, "/api/transact", w.batch(prefix, next.Add(each)-each))
			}
		})
	}
}

// accepted posts until there is a leader to accept it, for a while: a busy machine may
// lose one. A fact that is there after an unknown outcome is there once.
func accepted(ctx context.Context, conn *rest.Conn, target string, body []byte) error {
	for end := time.Now().Add(acceptLimit); ; time.Sleep(20 * time.Millisecond) {
		status, answer, err := conn.Do("POST", target, body)
		switch {
		case err != nil:
			return err
		case status == 200 || status == 201:
			return nil
		case status < 429 || status == 500 || ctx.Err() != nil || time.Now().After(end):
			return fmt.Errorf("POST %s answers %d: %.300s", target, status, answer)
		}
	}
}

// fill writes n facts about new subjects in batches, from a few clients.
func fill(ctx context.Context, address, prefix string, next *atomic.Uint64, n int) error {
	ops, closer, err := transactOps(address, prefix, next)(min(4, max(1, n/batchSize)))
	if err != nil {
		return err
	}
	defer closer()
	return share(ctx, ops, n/batchSize)
}

// share lets the clients do n operations together.
func share(ctx context.Context, ops []load.Op, n int) error {
	var left atomic.Int64
	left.Store(int64(n))
	group, ctx := errgroup.WithContext(ctx)
	for _, op := range ops {
		group.Go(func() error {
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				if _, err := op(ctx); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}
