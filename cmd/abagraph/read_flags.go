package main

import (
	"github.com/spf13/pflag"

	"abagraph/client"
)

// readFlags adds the flags that every read takes.
func readFlags(flags *pflag.FlagSet, r *client.Read) {
	flags.StringVar(&r.Branch, "branch", "", "branch to read from")
	flags.StringVar(&r.AsOf, "as-of", "", "valid time: what was so then (Unix milliseconds, 2024-06-19 or RFC 3339)")
	flags.StringVar(&r.KnownAt, "known-at", "", "record time: as it was known then")
	flags.StringVar(&r.Tx, "tx", "", "record time by number: as the store stood at this tx")
	flags.BoolVar(&r.NoBackfill, "no-backfill", false, "leave out rows that were declared as known earlier than recorded")
	flags.StringVar(&r.Consistency, "consistency", "", "linearizable (the default) or stale")
	flags.Uint64Var(&r.MinTx, "min-tx", 0, "wait until the node has applied this tx")
}
