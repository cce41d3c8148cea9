package memory

import (
	"context"

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

// within returns the counter for one request, which ends with it: counting a few
// megabytes takes seconds.
func (c *counter) within(ctx context.Context) packet.Counter { return bounded{ctx, c} }

type bounded struct {
	ctx context.Context
	*counter
}

// Tokens implements packet.Counter.
func (b bounded) Tokens(text string) (packet.Tokens, error) {
	if err := b.ctx.Err(); err != nil {
		return packet.Tokens{}, err
	}
	return b.counter.Tokens(text)
}
