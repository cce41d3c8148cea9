package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"abagraph/client"
)

// Node is one node of a cluster, running or not. Its methods are safe for
// concurrent use with those of other nodes.
type Node struct {
	Name string
	// URL is where the street reaches the node, through the network. It stays
	// the same through restarts.
	URL string

	cluster *Cluster
	bind    string // where the API listens
	peer    string // where other nodes are listened for
	api     *proxy
	peers   *proxy
	direct  *client.Client // past the network, for watching
	disk    *Disk          // nil = a folder

	mu       sync.Mutex
	run      *process
	logStart int64 // where the present run's output begins
	joins    bool  // it lost its disk, and asks the others ever since
	binary   string
}

// pause is the time between two looks at something that is awaited.
const pause = 20 * time.Millisecond

func (c *Cluster) newNode(name string) (_ *Node, err error) {
	n := &Node{Name: name, cluster: c, binary: c.options.Binary}
	if n.bind, err = freeAddress(); err != nil {
		return nil, err
	}
	if n.peer, err = freeAddress(); err != nil {
		return nil, err
	}
	street := func(net.Conn) (string, error) { return Street, nil }
	if n.api, err = openProxy(c.Network, name, n.bind, street); err != nil {
		return nil, err
	}
	if n.peers, err = openProxy(c.Network, name, n.peer, c.whoDialled); err != nil {
		return nil, errors.Join(err, n.api.close())
	}
	if size := c.options.DiskBytes; size > 0 {
		if n.disk, err = openDisk(filepath.Join(c.options.Dir, name+".disk"), size); err != nil {
			return nil, errors.Join(err, n.api.close(), n.peers.close())
		}
	}
	n.URL = "http://" + n.api.address()
	n.direct, err = client.New("http://"+n.bind, client.WithRetry(1, pause), client.WithTimeout(10*time.Second), client.WithKey(c.options.AdminKey))
	return n, err
}

// PeerAddress is where the node's own peer port listens, past the network.
func (n *Node) PeerAddress() string { return n.peer }

// Data is the node's data directory.
func (n *Node) Data() string {
	if n.disk != nil {
		return filepath.Join(n.disk.at, "data")
	}
	return filepath.Join(n.cluster.options.Dir, n.Name)
}

// Disk is the node's own disk, or nil.
func (n *Node) Disk() *Disk { return n.disk }

// SetClock has the node's clock differ from the machine's from now on. The program
// must have been built with TagClocks.
func (n *Node) SetClock(ahead time.Duration) error {
	// By a rename, so that the node never reads half a number.
	text := strconv.FormatInt(ahead.Milliseconds(), 10)
	if err := os.WriteFile(n.clockFile()+".new", []byte(text), 0o600); err != nil {
		return fmt.Errorf("set the clock of %s: %w", n.Name, err)
	}
	if err := os.Rename(n.clockFile()+".new", n.clockFile()); err != nil {
		return fmt.Errorf("set the clock of %s: %w", n.Name, err)
	}
	return nil
}

func (n *Node) clockFile() string { return filepath.Join(n.cluster.options.Dir, n.Name+".clock") }

// LogFile is where the output of all runs of the node is kept.
func (n *Node) LogFile() string { return filepath.Join(n.cluster.options.Dir, n.Name+".out") }

// Client makes a client of this node that sends each call once, unless options
// say otherwise.
func (n *Node) Client(options ...client.Option) (*client.Client, error) {
	all := []client.Option{client.WithRetry(1, pause), client.WithTimeout(10 * time.Second), client.WithKey(n.cluster.options.AdminKey)}
	return client.New(n.URL, append(all, options...)...)
}

// Start starts the node and waits until its process serves, whether or not it
// has a leader yet.
func (n *Node) Start(ctx context.Context) error {
	if err := n.Launch(); err != nil {
		return err
	}
	return n.await(ctx, "serves", func(ctx context.Context) bool { return n.direct.Health(ctx) == nil })
}

// Launch starts the node and waits for nothing.
func (n *Node) Launch() error {
	c := n.cluster
	args := []string{"serve", "--node-id", n.Name, "--bind", n.bind, "--data", n.Data(), "--log-level", "info"}
	if len(c.Nodes) > 1 {
		args = append(args, "--peer-bind", n.peer, "--peer-advertise", n.peers.address())
	}
	if first := c.Nodes[0]; n != first {
		args = append(args, "--join", first.peers.address())
	} else if n.rejoins() {
		args = append(args, "--join", c.Nodes[1].peers.address())
	}
	command := exec.Command(n.Program(), append(args, c.options.Args...)...)
	command.Env = []string{"HOME=" + c.options.Dir, "PATH=" + os.Getenv("PATH"), "GORACE=halt_on_error=0",
		"ABAGRAPH_CHAOS_CLOCK=" + n.clockFile()}
	command.Env = append(command.Env, c.options.Env...)
	if key := c.options.AdminKey; key != "" {
		command.Env = append(command.Env, "ABAGRAPH_ADMIN_KEY="+key)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.run != nil && n.run.running() {
		return fmt.Errorf("%s runs already", n.Name)
	}
	if info, err := os.Stat(n.LogFile()); err == nil {
		n.logStart = info.Size()
	}
	// While a process begins nobody is told who has dialled: it may dial before
	// its number is known.
	c.starting.Lock()
	defer c.starting.Unlock()
	run, err := start(command, n.LogFile())
	if err != nil {
		return err
	}
	if n.disk != nil {
		n.disk.user(run.pid())
	}
	n.run = run
	c.owners[run.pid()] = n.Name
	return nil
}

// rejoins reports whether the first node has lost the cluster that it founded,
// so that it has to ask the others like any other node.
func (n *Node) rejoins() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.joins && len(n.cluster.Nodes) > 1
}

func (n *Node) process() *process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.run
}

// Program is what the node runs from its next start on.
func (n *Node) Program() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.binary
}

// SetProgram has the node run another program from its next start on.
func (n *Node) SetProgram(binary string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.binary = binary
}

// Running reports whether the node's process lives.
func (n *Node) Running() bool {
	p := n.process()
	return p != nil && p.running()
}

// Kill ends the node with SIGKILL and waits until it is gone.
func (n *Node) Kill() error {
	if p := n.process(); p != nil {
		return p.kill()
	}
	return nil
}

// Stop asks the node to end in order, and fails unless it does.
func (n *Node) Stop(ctx context.Context) error {
	if p := n.process(); p != nil {
		return p.stop(ctx)
	}
	return nil
}

// Freeze stops the node's process where it is, as a machine that swaps or a
// virtual one that is moved does; Thaw lets it go on.
func (n *Node) Freeze() error { return n.signal(syscall.SIGSTOP) }

// Thaw lets a frozen node go on.
func (n *Node) Thaw() error { return n.signal(syscall.SIGCONT) }

func (n *Node) signal(s syscall.Signal) error {
	p := n.process()
	if p == nil {
		return fmt.Errorf("%s has never run", n.Name)
	}
	if err := p.command.Process.Signal(s); err != nil {
		return fmt.Errorf("signal %s: %w", n.Name, err)
	}
	return nil
}

// Verify has the program look through the files of the node, which must not run: log,
// store, indexes and digests.
func (n *Node) Verify(ctx context.Context) error {
	command := exec.CommandContext(ctx, n.Program(), "ops", "verify", n.Data())
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("verify the files of %s: %w\n%s", n.Name, err, output)
	}
	return nil
}

// Wipe removes the data of a node that does not run, as a new disk does.
func (n *Node) Wipe() error {
	if n.Running() {
		return fmt.Errorf("%s runs: its data cannot be removed", n.Name)
	}
	n.mu.Lock()
	n.joins = true
	n.mu.Unlock()
	if err := os.RemoveAll(n.Data()); err != nil {
		return fmt.Errorf("remove the data of %s: %w", n.Name, err)
	}
	return nil
}

// Ready waits until the node can answer linearizable reads.
func (n *Node) Ready(ctx context.Context) error {
	return n.await(ctx, "is ready", func(ctx context.Context) bool {
		_, err := n.direct.Ready(ctx)
		return err == nil
	})
}

// await looks until a condition holds, the process has ended, or the context
// has.
func (n *Node) await(ctx context.Context, what string, holds func(context.Context) bool) error {
	for !holds(ctx) {
		if !n.Running() {
			return fmt.Errorf("%s ended before it could be seen that it %s", n.Name, what)
		}
		if !rest(ctx, pause) {
			return fmt.Errorf("it was not seen that %s %s: %w", n.Name, what, ctx.Err())
		}
	}
	return nil
}

// Log is what the node has written since its last start, or since the first.
func (n *Node) Log(all bool) (string, error) {
	raw, err := os.ReadFile(n.LogFile())
	if err != nil {
		return "", fmt.Errorf("read the output of %s: %w", n.Name, err)
	}
	n.mu.Lock()
	from := n.logStart
	n.mu.Unlock()
	if all || from > int64(len(raw)) {
		from = 0
	}
	return string(raw[from:]), nil
}

// Status is how the node sees itself and its cluster, asked past the network.
func (n *Node) Status(ctx context.Context) (*client.Cluster, error) {
	got, err := n.direct.Observability(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask %s how it stands: %w", n.Name, err)
	case got.Cluster == nil:
		return nil, fmt.Errorf("%s tells nothing of its cluster", n.Name)
	}
	return got.Cluster, nil
}

// Metrics reads /metrics past the network.
func (n *Node) Metrics(ctx context.Context) (Metrics, error) {
	answer, err := n.direct.Do(ctx, client.Call{Method: http.MethodGet, Path: "/metrics"})
	if err != nil {
		return nil, fmt.Errorf("read the metrics of %s: %w", n.Name, err)
	}
	return parseMetrics(string(answer.Body)), nil
}

// close ends the node and what stands before it.
func (n *Node) close() error {
	err := n.Kill()
	n.direct.Close()
	if n.disk != nil {
		err = errors.Join(err, n.disk.Close())
	}
	return errors.Join(err, n.api.close(), n.peers.close())
}

// rest waits, and returns false where the context ends first.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// tail returns the last lines of a text.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
