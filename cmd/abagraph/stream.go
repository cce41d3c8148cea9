package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"abagraph/client"
)

// errEnough ends a stream after as many events as were asked for.
var errEnough = errors.New("enough")

func streamCommand(a *app) *cobra.Command {
	var q client.StreamQuery
	var count int
	c := &cobra.Command{
		Use:   "stream",
		Short: "Follow changes, one JSON object a line",
		Long: `Prints each change as one line of JSON, and connects anew where the connection is
lost, without a gap or a repeat. --last-event-id or --tx-gt replays from there
first. An event "resync" tells that the position is not one of this store: what
was read before must be read anew.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			target, err := a.client()
			if err != nil {
				return err
			}
			defer target.Close()
			q.Interrupted = func(err error) { fmt.Fprintln(a.err, "connection lost, connecting anew: "+oneLine(err)) }
			seen := 0
			err = target.Stream(c.Context(), q, func(e client.Event) error {
				if err := a.event(e); err != nil {
					return err
				}
				if seen++; seen == count {
					return errEnough
				}
				return nil
			})
			if errors.Is(err, errEnough) || c.Context().Err() != nil {
				return nil
			}
			return a.explainDenial(err)
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.Subject, "subject", "", "exact subject")
	flags.StringVar(&q.Predicate, "predicate", "", "exact predicate")
	flags.StringVar(&q.Op, "op", "", "assert, retract, supersede or expire")
	flags.StringVar(&q.Branch, "branch", "", "branch to follow")
	flags.StringVar(&q.TxGt, "tx-gt", "", "replay from after this tx: N or EPOCH:N")
	flags.StringVar(&q.LastEventID, "last-event-id", "", "replay from after this position: EPOCH:TX")
	flags.IntVar(&count, "count", 0, "stop after this many events (default: never)")
	c.MarkFlagsMutuallyExclusive("tx-gt", "last-event-id")
	return c
}

// event prints one event: as it came, with its position as id where it has one.
func (a *app) event(e client.Event) error {
	raw := []byte(e.Raw)
	if e.Op == client.OpResync {
		fmt.Fprintln(a.err, "resync: the position asked for is not one of this store; read anew what was read before")
		var err error
		if raw, err = resyncLine(e); err != nil {
			return fmt.Errorf("write the event: %w", err)
		}
	}
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return fmt.Errorf("write the event: %w", err)
	}
	line.WriteByte('\n')
	_, err := a.out.Write(line.Bytes())
	return err
}

// resyncLine is what the server says of a position that means nothing, with the one that
// the stream goes on from.
func resyncLine(e client.Event) ([]byte, error) {
	said := struct {
		Op      string `json:"op"`
		ID      string `json:"id"`
		Code    string `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}{Op: e.Op, ID: e.ID}
	if len(e.Raw) > 0 {
		if err := json.Unmarshal(e.Raw, &said); err != nil {
			return nil, err
		}
	}
	return json.Marshal(said)
}
