package chaos

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// A node's ports stay its own while it is down. They are taken from below the
// range that the system gives to outgoing connections, one of which could
// otherwise have the port when the node comes back.
const (
	firstPort = 12_000
	lastPort  = 32_000
)

// freeAddress returns an address on loopback that nobody listens on.
func freeAddress() (string, error) {
	for range 1000 {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.IntN(lastPort-firstPort)))
		listener, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		return address, listener.Close()
	}
	return "", errors.New("no free port was found")
}
