package replication

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"abagraph/fact"
	"abagraph/fsm"
	rlog "abagraph/log"
)

// wires is the network between the nodes of one test: it knows every connection
// by who dialled whom, so that a pair, or a node, can be cut off and healed.
type wires struct {
	mu    sync.Mutex
	names map[string]string // address → node
	cut   map[[2]string]bool
	conns map[net.Conn][2]string
}

func newWires() *wires {
	return &wires{names: map[string]string{}, cut: map[[2]string]bool{}, conns: map[net.Conn][2]string{}}
}

var errCut = errors.New("the wire is cut")

func (w *wires) dialer(from string) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		w.mu.Lock()
		pair := [2]string{from, w.names[address]}
		isCut := w.cut[pair]
		w.mu.Unlock()
		if isCut {
			return nil, errCut
		}
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.cut[pair] {
			conn.Close()
			return nil, errCut
		}
		w.conns[conn] = pair
		return &wire{Conn: conn, wires: w}, nil
	}
}

type wire struct {
	net.Conn
	wires *wires
}

func (c *wire) Close() error {
	c.wires.mu.Lock()
	delete(c.wires.conns, c.Conn)
	c.wires.mu.Unlock()
	return c.Conn.Close()
}

func (w *wires) set(a, b string, cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, pair := range [][2]string{{a, b}, {b, a}} {
		w.cut[pair] = cut
		if !cut {
			continue
		}
		for conn, p := range w.conns {
			if p == pair {
				conn.Close()
				delete(w.conns, conn)
			}
		}
	}
}

func (w *wires) isolate(id string, all map[string]*member, cut bool) {
	for other := range all {
		if other != id {
			w.set(id, other, cut)
		}
	}
}

// member is one node of a test and what it needs to be started again.
type member struct {
	*Node
	id      string
	path    string // "" = in memory
	address string
	machine *fsm.Machine
	dir     *rlog.Dir
	wrap    func(StateMachine) StateMachine
}

type cluster struct {
	t       *testing.T
	wires   *wires
	members map[string]*member
	tune    func(*Options)
	wrap    func(StateMachine) StateMachine // gives the next nodes a machine with faults
	base    string                          // removed only after the nodes have stopped
}

func newCluster(t *testing.T, tune func(*Options)) *cluster {
	c := &cluster{t: t, base: t.TempDir(), wires: newWires(), members: map[string]*member{}, tune: tune}
	t.Cleanup(func() {
		var wg sync.WaitGroup
		for _, m := range c.members {
			wg.Go(func() { m.stop(t) })
		}
		wg.Wait()
	})
	return c
}

// disk is where a node keeps its data.
func (c *cluster) disk(id string) string { return filepath.Join(c.base, id) }

// three starts three nodes on disk, n1 having founded the cluster.
func three(t *testing.T, tune func(*Options)) *cluster {
	t.Helper()
	c := newCluster(t, tune)
	c.start("n1", c.disk("n1"), "")
	for _, id := range []string{"n2", "n3"} {
		c.start(id, c.disk(id), c.members["n1"].address)
	}
	c.waitVoters(3)
	return c
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

const testSecret = "a secret of the tests"

func testOptions(id string) Options {
	level := slog.LevelError + 4
	if os.Getenv("VERBOSE") != "" {
		level = slog.LevelDebug
	}
	return Options{
		NodeID: id, Secret: testSecret,
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})).With("node", id),
		Heartbeat: 500 * time.Millisecond, Election: 500 * time.Millisecond, Lease: 400 * time.Millisecond,
		LeaderWait: 5 * time.Second, SweepInterval: -1, CheckInterval: -1,
	}
}

// start starts a node; one that has run before keeps its address.
func (c *cluster) start(id, path, join string) *member {
	c.t.Helper()
	m, err := c.tryStart(id, path, join)
	if err != nil {
		c.t.Fatalf("start %s: %v", id, err)
	}
	return m
}

func (c *cluster) tryStart(id, path, join string) (*member, error) {
	m := &member{id: id, path: path, wrap: c.wrap}
	if before := c.members[id]; before != nil {
		m.address = before.address
	} else {
		m.address = freeAddress(c.t)
	}
	c.wires.mu.Lock()
	c.wires.names[m.address] = id
	c.wires.mu.Unlock()
	o := testOptions(id)
	o.Bind, o.Join, o.dial = m.address, join, c.wires.dialer(id)
	if c.tune != nil {
		c.tune(&o)
	}
	if err := m.open(o); err != nil {
		return nil, err
	}
	c.members[id] = m
	return m, nil
}

func (m *member) open(o Options) error {
	machineDir := ""
	if m.path != "" {
		dir, err := rlog.Claim(m.path)
		if err != nil {
			return err
		}
		m.dir, machineDir = dir, dir.State()
	}
	machine, err := fsm.Open(fsm.Options{Dir: machineDir, CacheBytes: 8 << 20, MemTableBytes: 4 << 20})
	if err == nil {
		m.machine = machine
		o.Dir, o.Machine = m.dir, machine
		if m.wrap != nil {
			o.Machine = m.wrap(machine)
		}
		m.Node, err = Open(o)
	}
	if err != nil {
		if m.machine != nil {
			m.machine.Close()
		}
		if m.dir != nil {
			m.dir.Close()
		}
		m.Node = nil
	}
	return err
}

func (m *member) stop(t *testing.T) {
	t.Helper()
	if m.Node == nil {
		return
	}
	if err := m.Node.Close(); err != nil {
		t.Errorf("close %s: %v", m.id, err)
	}
	if err := m.machine.Close(); err != nil {
		t.Errorf("close the machine of %s: %v", m.id, err)
	}
	if m.dir != nil {
		m.dir.Close()
	}
	m.Node = nil
}

// crash stops a node without the courtesies: nothing is handed over or drained.
func (m *member) crash(t *testing.T) {
	t.Helper()
	m.Node.fail(errors.New("crashed by the test"))
	m.stop(t)
}

func (c *cluster) leader() *member {
	c.t.Helper()
	var found *member
	eventually(c.t, "a leader", func() bool {
		for _, m := range c.members {
			if m.Node == nil {
				continue
			}
			if s := m.leadership.Load(); s != nil && s.isReady() {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func (c *cluster) follower() *member {
	leader := c.leader()
	for _, m := range c.members {
		if m != leader && m.Node != nil {
			return m
		}
	}
	c.t.Fatal("there is no follower")
	return nil
}

func (c *cluster) waitVoters(n int) {
	c.t.Helper()
	eventually(c.t, fmt.Sprintf("%d voters on every node", n), func() bool {
		for _, m := range c.members {
			if m.Node == nil {
				continue
			}
			voters := 0
			for _, p := range m.Status().Peers {
				if p.Voter {
					voters++
				}
			}
			if voters != n {
				return false
			}
		}
		return true
	})
}

// snapshot has every node that runs trim its log to a snapshot of all that was written,
// whichever of them leads later.
func (c *cluster) snapshot() {
	c.t.Helper()
	c.equalDigests()
	for _, m := range c.members {
		if m.Node == nil {
			continue
		}
		if err := m.Snapshot(); err != nil {
			c.t.Fatal(err)
		}
	}
}

// eventually polls for a condition that other goroutines bring about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited in vain for: %s", what)
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// write asserts one fact; the id is derived from the name.
func write(subject string, n int) *fact.Request {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", subject, n))
	return &fact.Request{
		Tenant: "default", Branch: fact.MainBranch, Actor: "test", Threshold: fact.DefaultThreshold,
		Write: &fact.Write{Asserts: []fact.Assert{{
			ID: fact.NewID(fact.Instant(n), [10]byte(sum[:10])), Subject: subject, Predicate: "value",
			Object: fact.TextObject(fmt.Sprint(n)), ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, Confidence: 1, KnownAt: fact.NoInstant,
		}}},
	}
}

// keyed gives a request an idempotency key.
func keyed(r *fact.Request, key string) *fact.Request {
	r.Idem = &fact.Idempotency{Key: key, Method: "POST", Path: "/api/facts", Hash: sha256.Sum256([]byte(key))}
	return r
}

// mustWrite writes with a key, so that an election on a busy machine is waited
// out, and waits until this node has it in its store.
func (m *member) mustWrite(t *testing.T, r *fact.Request) *fact.Result {
	t.Helper()
	if r.Idem == nil {
		keyed(r, r.Write.Asserts[0].ID.String())
	}
	result, err := m.Propose(soon(t), r)
	if err != nil {
		t.Fatalf("write through %s: %v", m.id, err)
	}
	if result.Err != nil {
		t.Fatalf("write through %s refused: %v", m.id, result.Err)
	}
	if err := m.WaitTx(soon(t), result.Tx); err != nil {
		t.Fatalf("write through %s: %v", m.id, err)
	}
	return result
}

// mustRead reads the current value of a subject, linearizably.
func (m *member) mustRead(t *testing.T, subject string) string {
	t.Helper()
	value, err := m.read(soon(t), fact.Linearizable, subject)
	if err != nil {
		t.Fatalf("read through %s: %v", m.id, err)
	}
	return value
}

func (m *member) read(ctx context.Context, level fact.Level, subject string) (string, error) {
	basis, err := m.Basis(ctx, level, 0)
	if err != nil {
		return "", err
	}
	view, err := m.machine.View()
	if err != nil {
		return "", err
	}
	defer view.Close()
	page, err := view.Facts(ctx, &fact.Query{
		Scope: fact.Scope{Tenant: "default", Branch: fact.MainBranch}, Subject: subject,
		At: fact.Present(max(basis.Now, view.Position().RecordedAt)),
	})
	if err != nil || len(page.Facts) == 0 {
		return "", err
	}
	return page.Facts[0].Object.Text, nil
}
