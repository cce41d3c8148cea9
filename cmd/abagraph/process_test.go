package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"abagraph/client"
)

// asProgram, set in its environment, makes the test binary the program itself,
// so that tests run real processes, with the race detector where they have it.
const asProgram = "ABAGRAPH_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		if err := os.Unsetenv(asProgram); err == nil {
			main()
		}
		return
	}
	os.Exit(m.Run())
}

// process is a running `abagraph serve`.
type process struct {
	t       *testing.T
	command *exec.Cmd
	url     string
	peers   string
	out     lockedText
	errs    lockedText
	banner  chan struct{}
	ended   chan struct{}
	err     error
}

// lockedText collects what a process writes.
type lockedText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// program prepares a command line of the program as a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0], args...)
	command.Env = []string{asProgram + "=1", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "GOMAXPROCS=2"}
	return command
}

// launch starts a server that ends with the test.
func launch(t *testing.T, args ...string) *process {
	t.Helper()
	return launchAs(t, program(t, append([]string{"serve"}, args...)...))
}

// built builds the program as users get it, without the race detector, for the
// one test whose data would take it minutes.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "abagraph")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v: %s", err, out)
	}
	return path
}

func launchAs(t *testing.T, command *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, command: command, banner: make(chan struct{}), ended: make(chan struct{})}
	pipe, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.command.Stderr = &p.errs
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(pipe)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%v wrote\n%s", p.command.Args, p.errs.String())
		}
	})
	return p
}

func (p *process) read(pipe io.Reader) {
	scanner := bufio.NewScanner(pipe)
	for scanner.Scan() {
		line := scanner.Text()
		p.out.Write([]byte(line + "\n"))
		if url, found := strings.CutPrefix(strings.TrimSpace(line), "listening"); found {
			p.url = strings.TrimSpace(url)
		}
		if _, peers, found := strings.Cut(line, "for other nodes at "); found {
			p.peers, _, _ = strings.Cut(peers, ";")
		}
		if strings.HasPrefix(strings.TrimSpace(line), "try ") {
			close(p.banner)
		}
	}
	p.err = p.command.Wait()
	close(p.ended)
}

// up waits until the server has said where it is.
func (p *process) up() *process {
	p.t.Helper()
	select {
	case <-p.banner:
	case <-p.ended:
		p.t.Fatalf("the server ended: %v: %s", p.err, p.errs.String())
	case <-time.After(60 * time.Second):
		p.t.Fatal("the server did not start")
	}
	return p
}

// refused waits until the server has ended by itself, and returns the one line
// that it said why.
func (p *process) refused() string {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(60 * time.Second):
		p.t.Fatal("the server did not end")
	}
	if p.err == nil {
		p.t.Error("it ended with exit code 0")
	}
	var said []string
	for _, line := range strings.Split(strings.TrimSpace(p.errs.String()), "\n") {
		if !strings.HasPrefix(line, `{"ts":`) {
			said = append(said, line)
		}
	}
	if len(said) != 1 {
		p.t.Errorf("it said %d lines: %q", len(said), said)
	}
	return strings.Join(said, "\n")
}

// stop asks the server to end, and fails unless it does so in order.
func (p *process) stop() {
	p.t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-time.After(60 * time.Second):
		p.t.Fatal("the server did not end")
	}
	if p.err != nil {
		p.t.Errorf("it ended with %v: %s", p.err, p.errs.String())
	}
}

// kill ends the server at once.
func (p *process) kill() {
	_ = p.command.Process.Signal(syscall.SIGKILL) // it may have ended
	<-p.ended
}

func (p *process) client() *client.Client {
	p.t.Helper()
	c, err := client.New(p.url, client.WithRetry(30, 50*time.Millisecond))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(c.Close)
	return c
}

// free returns a port that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// eventually waits until a condition holds, which it must within a minute.
func eventually(t *testing.T, what string, holds func(ctx context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !holds(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("it never came that %s", what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
