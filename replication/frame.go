package replication

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// Calls between nodes share a connection. A frame is its length, the call's id,
// and a body: of a request a method, the time that is left in milliseconds and
// the payload; of an answer a verdict and the payload.

// method is what a call asks for.
type method byte

const (
	methodPropose   method = iota + 1 // an encoded request → an encoded result
	methodReadIndex                   // → index, now
	methodConfirm                     // → the term that the node is in
	methodJoin                        // joinRequest → joinAnswer
	methodRemove                      // removeRequest → nothing
	methodStatus                      // → peerStatus
	methodChange                      // changeRequest → nothing
	methodRole                        // roleRequest → nothing
	methodTraced                      // a place in a trace, and then as methodPropose
)

// verdict is how a call went.
type verdict byte

const (
	verdictDone verdict = iota
	// verdictElsewhere: the node is not the leader; nothing was done.
	verdictElsewhere
	// verdictFailed: the payload is an error code and a message.
	verdictFailed
)

const (
	frameHead    = 12 // length u32 (of what follows), id u64
	requestHead  = 5  // method, time left u32
	answerHead   = 1  // verdict
	maxFrame     = maxRequestBytes + 64<<20
	maxCallTime  = 10 * time.Minute
	frameBuffer  = 64 << 10
	waitingFrame = 256 // frames that wait for a connection's writer
)

func requestFrame(id uint64, m method, left time.Duration, payload []byte) []byte {
	b := frameStart(id, requestHead+len(payload))
	b = append(b, byte(m))
	b = binary.BigEndian.AppendUint32(b, uint32(min(max(left, 0), maxCallTime).Milliseconds()))
	return append(b, payload...)
}

func answerFrame(id uint64, v verdict, payload []byte) []byte {
	b := frameStart(id, answerHead+len(payload))
	b = append(b, byte(v))
	return append(b, payload...)
}

func frameStart(id uint64, body int) []byte {
	b := make([]byte, 0, frameHead+body)
	b = binary.BigEndian.AppendUint32(b, uint32(8+body))
	return binary.BigEndian.AppendUint64(b, id)
}

// readFrame reads one frame of at most a number of bytes.
func readFrame(r *bufio.Reader, most int) (id uint64, body []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := int(binary.BigEndian.Uint32(head[:])) - 8
	if size < 1 || size > most {
		return 0, nil, fmt.Errorf("a peer sent a frame of %d bytes; at most %d are allowed", size, most)
	}
	body = make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, err
	}
	return binary.BigEndian.Uint64(head[4:]), body, nil
}

// writeFrames writes frames until the channel of them is done with, and flushes
// whenever none waits.
func writeFrames(w io.Writer, frames <-chan []byte, done <-chan struct{}) error {
	out := bufio.NewWriterSize(w, frameBuffer)
	for {
		select {
		case b := <-frames:
			if _, err := out.Write(b); err != nil {
				return err
			}
		case <-done:
			return nil
		}
		if len(frames) > 0 {
			continue
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}
