package suite

import (
	"context"
	"fmt"
	"sync/atomic"

	"abagraph/bench/node"
	"abagraph/bench/report"
)

const transactText = `A hundred facts a request. POST /api/transact with %d new facts of %d bytes each, %d about each subject, one node and three on this
machine. A batch is one entry of the log and all or nothing; it is on disk of a majority before it is answered.`

// transact measures batches on one node and on three.
func transact(ctx context.Context, env Env) (report.Section, error) {
	if !env.Quick {
		env.Clients = []int{1, 4, 16}
	}
	s := report.Section{Title: "A hundred facts a request", Text: fmt.Sprintf(transactText, batchSize, valueSize, factsASubject)}
	one, stopOne, err := oursForTransact(ctx, env, 1)
	if err != nil {
		return s, err
	}
	defer stopOne()
	three, stopThree, err := oursForTransact(ctx, env, 3)
	if err != nil {
		return s, err
	}
	defer stopThree()
	systems := []system{one, three}
	all, err := contest(ctx, env, systems)
	if err != nil {
		return s, err
	}
	t := tables(all, systems, "facts")
	s.Tables = append(t[:1:1], t[2:]...) // one against three is no contest
	best := func(of system) float64 {
		most := 0.0
		for _, n := range all.clients() {
			most = max(most, rateOf(all[n][of.name]))
		}
		return most
	}
	s.Goals = []report.Goal{
		least("transact of 100, one node, at the best number of clients", 25_000, best(one), perSecond),
		least("transact of 100, three nodes, at the best number of clients", 10_000, best(three), perSecond),
	}
	return s, nil
}

func oursForTransact(ctx context.Context, env Env, nodes int) (system, func(), error) {
	env.Dir = fmt.Sprintf("%s/%d-nodes", env.Dir, nodes)
	cluster, err := node.Start(ctx, env.Server, env.Dir, nodes)
	if err != nil {
		return system{}, nil, err
	}
	leader, err := cluster.Leader(ctx)
	if err != nil {
		cluster.Stop()
		return system{}, nil, err
	}
	name := "abagraph, one node"
	if nodes > 1 {
		name = fmt.Sprintf("abagraph, %d nodes", nodes)
	}
	return system{name: name, open: transactOps(leader, "Bench:t", new(atomic.Uint64)), processes: cluster.Processes()}, cluster.Stop, nil
}
