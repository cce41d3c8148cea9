package proc

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestProcessIsOwned(t *testing.T) {
	p, err := Start("sleeper", t.TempDir(), []string{"MARK=here"}, "/bin/sh", "-c", "echo $MARK; exec sleep 60")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	err = p.Await(t.Context(), 10*time.Second, func() error {
		text, err := os.ReadFile(p.output)
		if err == nil && !strings.Contains(string(text), "here") {
			err = errors.New("silent")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := MemoryOf(p); err != nil || m.Resident <= 0 || m.Peak < m.Resident {
		t.Errorf("memory = %+v, %v", m, err)
	}
	if CPU(p) < 0 {
		t.Error("processor time is negative")
	}
	p.Stop()
	if _, err := MemoryOf(p); err == nil {
		t.Error("the process lives after Stop")
	}
}

func TestAwaitTellsWhyAChildEnded(t *testing.T) {
	p, err := Start("failing", t.TempDir(), nil, "/bin/sh", "-c", "echo the port is taken >&2; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	err = p.Await(t.Context(), 10*time.Second, func() error { return errors.New("refused") })
	if err == nil || !strings.Contains(err.Error(), "the port is taken") {
		t.Errorf("err = %v", err)
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	p, err := Start("sleeper", t.TempDir(), nil, "/bin/sleep", "60")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Await(ctx, time.Minute, func() error { return errors.New("refused") }); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}
