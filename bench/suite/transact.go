package suite

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"abagraph/bench/load"
	"abagraph/bench/node"
	"abagraph/bench/report"
)

const transactText = `A hundred facts a request. POST /api/transact with %d new facts of %d bytes each, %d about each subject, one node and three on this
machine; and the same through the command line's import. A batch is all or nothing, and on the disk of a majority before it
is answered.`

// transact measures batches on one node and on three.
func transact(ctx context.Context, env Env) (report.Section, error) {
	if !env.Quick {
		env.Clients = []int{1, 4, 16}
	}
	s := report.Section{Title: "A hundred facts a request", Text: fmt.Sprintf(transactText, batchSize, valueSize, factsASubject)}
	var systems []system
	var importers []*importer
	for _, nodes := range []int{1, 3} {
		cluster, leader, err := batchServer(ctx, env, nodes)
		if err != nil {
			return s, err
		}
		defer cluster.Stop()
		name := "abagraph, " + counted(nodes, "node")
		systems = append(systems, system{name: name, open: transactOps(leader, "Bench:t", new(atomic.Uint64)), processes: cluster.Processes()})
		importers = append(importers, &importer{env: env, address: leader, name: name})
	}
	all, err := contest(ctx, env, systems)
	if err != nil {
		return s, err
	}
	imported, err := imports(ctx, env, importers)
	if err != nil {
		return s, err
	}
	t := tables(all, systems, "facts")
	s.Tables = append(t[:1:1], t[2:]...) // one node against three is no contest
	s.Tables = append(s.Tables, imported)
	for i, want := range []float64{25_000, 10_000} {
		s.Goals = append(s.Goals,
			least("transact of 100, "+systems[i].name+", at its best number of clients", want, best(all, systems[i]), perSecond),
			least("import, "+systems[i].name, want, load.Median(importers[i].rates), perSecond))
	}
	return s, nil
}

// best is the highest rate of a system over the numbers of clients.
func best(all results, of system) float64 {
	most := 0.0
	for _, n := range all.clients() {
		most = max(most, rateOf(all[n][of.name]))
	}
	return most
}

// batchServer starts a cluster for batches.
func batchServer(ctx context.Context, env Env, nodes int) (*node.Cluster, string, error) {
	cluster, err := node.Start(ctx, env.Server, filepath.Join(env.Dir, fmt.Sprintf("%d-nodes", nodes)), nodes)
	if err != nil {
		return nil, "", err
	}
	leader, err := cluster.Leader(ctx)
	if err != nil {
		cluster.Stop()
		return nil, "", err
	}
	return cluster, leader, nil
}
