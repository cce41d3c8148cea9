package apart

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"abagraph/fact"
	"abagraph/ingest/load"
)

// Bounds that the process sets itself, beside those of the one that started it.
const (
	maxMemory = 768 << 20
	cpuTime   = 20 // seconds
	look      = 10 * time.Millisecond
)

// Exit codes of a process that was too much.
const (
	exitTime   = 3
	exitMemory = 4
)

// Serve reads a PDF from in and writes what it says to out. It ends the process where
// that takes more than it may.
func Serve(in io.Reader, out io.Writer) error {
	debug.SetMemoryLimit(maxMemory / 2)
	limit()
	stop := make(chan struct{})
	defer close(stop)
	go watch(stop)
	raw, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the PDF: %w", err)
	}
	d, err := load.PDFText(raw)
	var a answer
	var known *fact.Error
	switch {
	case errors.As(err, &known):
		a.Problem = known.Message
	case err != nil:
		return fmt.Errorf("read the PDF: %w", err)
	default:
		a.Blocks, a.Notes = d.Blocks, d.Notes
	}
	if err := json.NewEncoder(out).Encode(&a); err != nil {
		return fmt.Errorf("write what the PDF says: %w", err)
	}
	return nil
}

// watch ends the process where it has too much memory, or is too long at it.
func watch(stop <-chan struct{}) {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	late := time.After(wallTime)
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-late:
			os.Exit(exitTime)
		case <-tick.C:
			if metrics.Read(sample); sample[0].Value.Uint64()-sample[1].Value.Uint64() > maxMemory {
				os.Exit(exitMemory)
			}
		}
	}
}
