package replication

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

// A node without a secret or certificates that calls one with them is hung up on: the
// error says what is likely missing.
func TestWhoIsHungUpOnIsToldWhy(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	go func() {
		readGreeting(there)
		there.Close()
	}()
	err := greet(here, greeting{})
	if !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "asks for a cluster secret or a certificate") {
		t.Errorf("got %v", err)
	}
}
