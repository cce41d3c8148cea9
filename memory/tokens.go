package memory

import (
	"abagraph/internal/tokens"
	"abagraph/memory/packet"
)

// counter counts tokens for packets. It remembers what it has counted, within a
// bound, for all of them.
type counter struct{ tokens.Counter }

// Tokens implements packet.Counter.
func (c *counter) Tokens(text string) (packet.Tokens, error) {
	n, err := c.Count(text)
	return packet.Tokens{n.O200k, n.Cl100k}, err
}
