package replication

import (
	"context"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/internal/span"
)

// forward sends a write to the leader. One that is traced takes its place in the trace
// along, so that what the leader does is part of it; a leader of a version that knows
// no such call is sent the write alone for a while.
func (n *Node) forward(ctx context.Context, address string, data []byte) (verdict, []byte, error) {
	ctx, part := span.Start(ctx, "peer.forward", span.Client)
	defer part.End()
	if place, kept := part.Wire(); kept && !n.takesNone(address) {
		v, payload, err := n.calls.call(ctx, address, streamWrites, methodTraced, append(place[:], data...))
		if err != nil || v != verdictFailed || !unknownCall(payload) {
			return v, payload, err
		}
		n.untraced.Store(&olderPeer{address, time.Now().Add(olderWait)}) // nothing was done
	}
	return n.calls.call(ctx, address, streamWrites, methodPropose, data)
}

func (n *Node) takesNone(address string) bool {
	known := n.untraced.Load()
	return known != nil && known.address == address && time.Now().Before(known.until)
}

// olderPeer is a leader that takes no traced writes, until it may have been upgraded.
type olderPeer struct {
	address string
	until   time.Time
}

const olderWait = time.Minute

func unknownCall(payload []byte) bool {
	e := decodeFailure(payload)
	return e.Code == fact.SchemaInvalid && strings.HasPrefix(e.Message, noCall)
}

// serveTraced is servePropose for a write that is traced where it came from.
func (n *Node) serveTraced(ctx context.Context, payload []byte) ([]byte, error) {
	if len(payload) < span.WireBytes {
		return nil, fact.Errorf(fact.SchemaInvalid, "the call has no place in a trace")
	}
	place, data := span.Wire(payload[:span.WireBytes]), payload[span.WireBytes:]
	if n.options.Tracer != nil {
		if r := n.options.Tracer.Join("peer.write", place); r != nil {
			ctx = span.With(ctx, r)
			defer span.Of(ctx).End()
		}
	}
	return n.servePropose(ctx, data)
}
