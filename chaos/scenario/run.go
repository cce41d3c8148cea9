package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"abagraph/chaos"
	"abagraph/client"
)

// Config says which attack is made.
type Config struct {
	Scenario string
	Seed     uint64
	// Length is how long faults are made.
	Length time.Duration
	// Binary is the program, as chaos.Build makes it; Clocks tells that it was built
	// with chaos.TagClocks. Without, clocks are left alone.
	Binary string
	Clocks bool
	// Former is the program that the nodes begin with in the scenario Upgrade.
	Former *chaos.Former
	// Disks gives each node a disk of its own, which only root can. Without, disks are
	// left alone.
	Disks bool
	// First ends the attack at the first violation.
	First bool
	// Dir takes everything, and must not exist.
	Dir string
	// Size is how many nodes there are; 0 = 3.
	Size int
	// Say, where set, is told what happens, a line each.
	Say func(line string)
}

// adminKey is the key of the administrator of every cluster here.
const adminKey = "chaos-admin-key"

// tenants are who writes, each with a key of its own. spy is who must see nothing of
// the others.
var tenants = []string{"ledger", "registers", "times", "branches", "purges", "spy", "weather-a", "weather-b"}

// run is one attack under way.
type run struct {
	Config
	*chaos.Cluster
	*record
	ctx  context.Context
	keys map[string]string // of tenants

	stop    chan struct{} // closed when no new call is to be begun
	workers sync.WaitGroup

	ledger, branchLedger chaos.Ledger
	registers            registers
	times                times
	purges               purges
	past                 past
	tails                map[string][]*chaos.Tail
	// mayEnd are nodes whose end is part of the fault under way; harmed those, by name,
	// whose files were damaged, or whose disks lost their power, at any time.
	mayEnd   map[*chaos.Node]bool
	harmed   map[string]bool
	tx       highest // the largest tx that any answer has told
	recorded recordTimes
}

// limit is how long an attack may take beyond its length, however slow the machine is.
const limit = 4 * time.Minute

// Run makes an attack and judges it. The error is that it could not be made; what the
// product did wrong is in the report.
func Run(ctx context.Context, config Config) (_ *Report, err error) {
	if config.Size == 0 {
		config.Size = 3
	}
	episodes, err := plan(config.Scenario, config.Seed, config.Length)
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(config.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the attack: %w", err)
	}
	if (config.Former != nil) != (config.Scenario == Upgrade) {
		return nil, errors.New("a former program and the scenario upgrade belong together")
	}
	outside := ctx
	ctx, cancel := context.WithTimeout(ctx, config.Length+limit)
	defer cancel()
	r := &run{
		Config: config, record: newRecord(), ctx: ctx, keys: make(map[string]string), stop: make(chan struct{}),
		tails: make(map[string][]*chaos.Tail), mayEnd: make(map[*chaos.Node]bool), harmed: make(map[string]bool),
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := r.prepare(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, r.Logs(30))
	}
	r.work()
	r.attack(episodes)
	whole := !r.enough() && r.settle()
	close(r.stop)
	if !whole {
		cancel() // nobody answers what is still under way
	}
	r.workers.Wait()
	if whole {
		r.judge()
	}
	if err := outside.Err(); err != nil {
		return nil, fmt.Errorf("the attack was broken off: %w", err)
	}
	return r.report(episodes), nil
}

// The disks of the nodes, and how much of each they leave alone.
const (
	diskBytes   = 512 << 20
	diskReserve = 32 << 20
)

func (r *run) open() (err error) {
	options := chaos.Options{
		Binary: r.Binary, Dir: r.Dir, Nodes: r.Size, AdminKey: adminKey,
		// Variables, of which a former program ignores those that it does not know.
		Env: []string{"ABAGRAPH_TTL_INTERVAL_SECS=1", "ABAGRAPH_SNAPSHOT_BYTES=262144", "ABAGRAPH_TRAILING_BYTES=65536",
			"ABAGRAPH_EMBEDDING=off", "ABAGRAPH_DISK_RESERVE_BYTES=" + strconv.Itoa(diskReserve)},
	}
	if r.Former != nil {
		options.Binary = r.Former.Binary
	}
	if r.Disks {
		options.DiskBytes = diskBytes
	}
	r.Cluster, err = chaos.Open(r.ctx, options)
	return err
}

// prepare makes the tenants and begins to follow them.
func (r *run) prepare() error {
	admin, err := r.Nodes[0].Client(client.WithRetry(20, 50*time.Millisecond))
	if err != nil {
		return err
	}
	defer admin.Close()
	for _, name := range tenants {
		made, err := admin.CreateTenant(r.ctx, client.NewTenant{ID: name})
		if err != nil {
			return fmt.Errorf("make the tenant %s: %w", name, err)
		}
		r.keys[name] = made.Key
	}
	if err := r.registers.prepare(r); err != nil {
		return err
	}
	for _, tenant := range []string{"ledger", "registers"} {
		for _, n := range r.Nodes {
			tail, err := n.Follow(r.ctx, tenant)
			if err != nil {
				return err
			}
			r.tails[tenant] = append(r.tails[tenant], tail)
		}
	}
	r.ledger.Shared, r.branchLedger.Shared = true, true
	return nil
}

// worker is one client that makes call after call.
type worker struct {
	*run
	number  int
	rng     *rand.Rand
	clients []*client.Client // of a tenant, one a node
}

// worker makes one; its clients are of a tenant, or of the administrator ("").
func (r *run) worker(tenant string, number int) (*worker, error) {
	w := &worker{run: r, number: number, rng: rand.New(rand.NewPCG(r.Seed, uint64(number)))}
	for _, n := range r.Nodes {
		options := []client.Option{client.WithTimeout(5 * time.Second)}
		if tenant != "" {
			options = append(options, client.WithKey(r.keys[tenant]))
		}
		c, err := n.Client(options...)
		if err != nil {
			return nil, err
		}
		w.clients = append(w.clients, c)
	}
	return w, nil
}

func (w *worker) close() {
	for _, c := range w.clients {
		c.Close()
	}
}

// employ has workers of a tenant do something again and again, with a pause.
func (r *run) employ(tenant string, count int, pace time.Duration, step func(*worker)) {
	for range count {
		number := r.hired()
		r.workers.Go(func() {
			w, err := r.worker(tenant, number)
			if err != nil {
				r.violate("harness", "make the clients of a worker: %v", err)
				return
			}
			defer w.close()
			for !r.stopping() {
				step(w)
				r.wait(pace/2 + rand.N(pace))
			}
		})
	}
}

func (r *run) hired() int {
	r.check("workers", 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.checked["workers"]
}

func (r *run) stopping() bool {
	select {
	case <-r.stop:
		return true
	case <-r.ctx.Done():
		return true
	default:
		return false
	}
}

// wait rests, or until the end.
func (r *run) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.ctx.Done():
	case <-timer.C:
	}
}

// once makes a call on one node.
func (w *worker) once(kind string, node int, send func(context.Context, *client.Client) error) error {
	return w.call(kind, w.Nodes[node].Name, func() error { return send(w.ctx, w.clients[node]) })
}

// until makes a call on one node after another until it has an outcome.
func (w *worker) until(kind string, first int, send func(context.Context, *client.Client) error) error {
	return chaos.Until(w.ctx, w.clients, first, func(ctx context.Context, c *client.Client) error {
		node := w.Nodes[slices.Index(w.clients, c)].Name
		return w.call(kind, node, func() error { return send(ctx, c) })
	})
}

func (w *worker) someNode() int { return w.rng.IntN(len(w.Nodes)) }

func (r *run) say(format string, args ...any) {
	if r.Say != nil {
		r.Say(fmt.Sprintf("%6.1fs  ", r.since().Seconds()) + fmt.Sprintf(format, args...))
	}
}

// highest is the largest number that was noted.
type highest struct {
	mu sync.Mutex
	n  uint64
}

func (h *highest) note(n uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n = max(h.n, n)
}

func (h *highest) get() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.n
}
