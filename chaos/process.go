package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// process is one run of the program.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed once it has ended and err is set
	err     error
}

// start runs a command whose output goes to the end of a file. The process is
// killed when this one ends, however it ends.
func start(command *exec.Cmd, output string) (*process, error) {
	file, err := os.OpenFile(output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the file for a node's output: %w", err)
	}
	defer file.Close() // the process has a copy of its own
	if _, err := fmt.Fprintf(file, "--- %v\n", command.Args[1:]); err != nil {
		return nil, fmt.Errorf("write to a node's output: %w", err)
	}
	command.Stdout, command.Stderr = file, file
	p := &process{command: command, ended: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the program: %w", err)
	}
	return p, nil
}

// run starts the process and waits for it, from one thread of the system: the
// process is tied to the thread that started it.
func (p *process) run(started chan<- error) {
	defer tie(p.command)()
	if err := p.command.Start(); err != nil {
		started <- err
		return
	}
	started <- nil
	p.err = p.command.Wait()
	close(p.ended)
}

func (p *process) pid() int { return p.command.Process.Pid }

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// kill ends the process at once and waits until it is gone.
func (p *process) kill() error {
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill a node: %w", err)
	}
	<-p.ended
	return nil
}

// stop asks the process to end in order, and waits until it has.
func (p *process) stop(ctx context.Context) error {
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop a node: %w", err)
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		return fmt.Errorf("a node that was asked to stop did not: %w", ctx.Err())
	}
	if p.err != nil {
		return fmt.Errorf("a node that was asked to stop ended badly: %w", p.err)
	}
	return nil
}
