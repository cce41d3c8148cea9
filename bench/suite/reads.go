package suite

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"

	"abagraph/bench/load"
	"abagraph/bench/node"
	"abagraph/bench/peer"
	"abagraph/bench/report"
	"abagraph/bench/rest"
)

const readsText = `%s. abagraph: GET /api/facts?subject=… over HTTP, one of %s subjects, %d facts in every answer. etcd: a get of one value of %d bytes
from one of %s keys through its Go client, on four connections. All reads are linearizable, and all go to the leader. etcd 3.7 reads
faster than Debian's 3.4: its ratio is the honest one.`

// reads measures the current facts of a subject beside both versions of etcd.
func reads(ctx context.Context, env Env, nodes int) (report.Section, error) {
	ours, stop, err := oursForReads(ctx, env, nodes)
	if err != nil {
		return report.Section{}, err
	}
	defer stop()
	old, err := peer.Debian(ctx, env.Dir, nodes)
	if err != nil {
		return report.Section{}, err
	}
	defer old.Stop()
	recent, err := peer.Embedded(ctx, env.Dir, nodes)
	if err != nil {
		return report.Section{}, err
	}
	defer recent.Stop()
	systems := []system{ours}
	for _, etcd := range []*peer.Etcd{old, recent} {
		env.progress("writing the keys of etcd %s", etcd.Version)
		if err := putAll(ctx, etcd); err != nil {
			return report.Section{}, err
		}
		systems = append(systems, etcdGets("etcd "+etcd.Version, etcd))
	}
	all, err := contest(ctx, env, systems)
	if err != nil {
		return report.Section{}, err
	}
	s := report.Section{Title: "Current facts of a subject, one node", Tables: tables(all, systems, "reads")}
	if nodes > 1 {
		s.Title = fmt.Sprintf("Current facts of a subject, %d nodes", nodes)
	}
	s.Text = fmt.Sprintf(readsText, s.Title, thousands(readSubjects), factsASubject, valueSize, thousands(subjects))
	s.Goals = ratioGoals(all, "GET, "+counted(nodes, "node"), ours, systems[1], map[int]float64{1: 1.5, 16: 1.5, 64: 1.5, 256: 1.5})
	return s, nil
}

// oursForReads starts abagraph with the facts that are read.
func oursForReads(ctx context.Context, env Env, nodes int) (system, func(), error) {
	cluster, err := node.Start(ctx, env.Server, env.Dir, nodes)
	if err != nil {
		return system{}, nil, err
	}
	leader, err := cluster.Leader(ctx)
	if err == nil {
		env.progress("writing the facts of abagraph")
		err = fill(ctx, leader, "Bench:r", new(atomic.Uint64), readSubjects*factsASubject)
	}
	if err != nil {
		cluster.Stop()
		return system{}, nil, err
	}
	return system{name: "abagraph", open: getSubject(leader), processes: cluster.Processes()}, cluster.Stop, nil
}

// getSubject makes clients that read a subject's current facts. Each checks its
// first answer in full and the size of all others.
func getSubject(address string) func(n int) ([]load.Op, func(), error) {
	return func(n int) ([]load.Op, func(), error) {
		return conns(address, n, func(client int, conn *rest.Conn) load.Op {
			w, checked := newWriter(client), false
			return func(context.Context) (int, error) {
				w.buffer = append(w.buffer[:0], "/api/facts?subject="...)
				w.buffer = append(w.buffer, readSubject(w.random.IntN(readSubjects))...)
				answer, err := expect(conn, "GET", string(w.buffer), nil)
				if err != nil {
					return 0, err
				}
				if !checked {
					checked = true
					if got := bytes.Count(answer, []byte(`"predicate":"attribute_`)); got != factsASubject {
						return 0, fmt.Errorf("%d facts in an answer that should have %d: %.300s", got, factsASubject, answer)
					}
				}
				if len(answer) < factsASubject*valueSize {
					return 0, fmt.Errorf("an answer of %d bytes is too short for %d facts", len(answer), factsASubject)
				}
				return 1, nil
			}
		})
	}
}

// putAll writes every key of etcd once.
func putAll(ctx context.Context, etcd *peer.Etcd) error {
	var next atomic.Int64
	var ops []load.Op
	for client := range 64 {
		w := newWriter(client)
		ops = append(ops, etcd.Put(
			func() string { return etcdKey(int(next.Add(1)-1) % subjects) },
			func() string { w.buffer = w.value(w.buffer[:0]); return string(w.buffer) }))
	}
	return share(ctx, ops, subjects)
}

// etcdGets makes clients that read keys linearizably.
func etcdGets(name string, etcd *peer.Etcd) system {
	open := func(n int) ([]load.Op, func(), error) {
		var ops []load.Op
		for client := range n {
			w := newWriter(client)
			ops = append(ops, etcd.Get(func() string { return etcdKey(w.random.IntN(subjects)) }))
		}
		return ops, func() {}, nil
	}
	return system{name: name, open: open, processes: etcd.Processes()}
}
