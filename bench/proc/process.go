package proc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Process is a running child.
type Process struct {
	name   string
	cmd    *exec.Cmd
	output string // file with what it printed
	done   chan struct{}
	err    error // valid once done is closed
}

// Start runs a program with its output in dir/name.out. The child gets env on
// top of our own environment.
func Start(name, dir string, env []string, program string, args ...string) (*Process, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of %s: %w", name, err)
	}
	output, err := os.Create(filepath.Join(dir, name+".out"))
	if err != nil {
		return nil, fmt.Errorf("making the output of %s: %w", name, err)
	}
	defer output.Close()
	p := &Process{name: name, output: output.Name(), done: make(chan struct{})}
	p.cmd = exec.Command(program, args...)
	p.cmd.Stdout, p.cmd.Stderr = output, output
	p.cmd.Env = append(os.Environ(), env...)
	// An interrupt at the keyboard is for us; we end the children in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// PID returns the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// stopTime is how long a child may take to shut down before it is killed.
const stopTime = 20 * time.Second

// Stop asks the child to end and waits for it.
func (p *Process) Stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	select {
	case <-p.done:
	case <-time.After(stopTime):
		p.Kill()
	}
}

// Kill ends the child at once, as kill -9 does, and waits for it.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.done
}

// Await calls ready until it returns nil, and fails when the child ends or the
// time is over, with the end of what the child printed.
func (p *Process) Await(ctx context.Context, limit time.Duration, ready func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := ready()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s was not ready within %v: %w\n%s", p.name, limit, err, p.tail())
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.done:
			return fmt.Errorf("%s ended while starting: %w\n%s", p.name, errors.Join(p.err, err), p.tail())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// tail is the end of what the child printed.
func (p *Process) tail() string {
	text, err := os.ReadFile(p.output)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

// FreePorts returns n ports of loopback that were free a moment ago.
func FreePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("looking for a free port: %w", err)
		}
		defer listener.Close()
		ports[i] = listener.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}
