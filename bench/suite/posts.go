package suite

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"abagraph/bench/load"
	"abagraph/bench/node"
	"abagraph/bench/peer"
	"abagraph/bench/report"
)

const postsText = `%s. Each client waits for its answer before it writes again. abagraph: POST /api/facts over HTTP, a body of %d bytes, one of
%s subjects, so that every write supersedes a fact. etcd: a put of %d bytes to one of as many keys through its Go client; each client has a
connection of its own, as those of abagraph have. The row "shared" is the same etcd with all clients, as goroutines of one program, on %d connections: their
requests then share system calls, which HTTP/1.1 cannot do, and etcd does most.%s Every write is on disk%s before it is answered. The clients write to the leader.`

const sqliteText = ` SQLite: modernc driver, WAL, synchronous=FULL, four secondary indexes, in the client's own process (no network); a write
closes the current row and inserts the new one in one transaction.`

// posts measures single facts beside etcd 3.4 and, on one node, SQLite.
func posts(ctx context.Context, env Env, nodes int) (report.Section, error) {
	ours, stop, err := oursForPosts(ctx, env, nodes)
	if err != nil {
		return report.Section{}, err
	}
	defer stop()
	etcd, err := peer.Debian(ctx, env.Dir, nodes)
	if err != nil {
		return report.Section{}, err
	}
	defer etcd.Stop()
	theirs := etcdOwnPuts("etcd "+etcd.Version, etcd)
	systems, sqliteToo := []system{ours, theirs, etcdPuts("etcd "+etcd.Version+", shared", etcd)}, nodes == 1
	if sqliteToo {
		store, err := peer.OpenSQLite(env.Dir)
		if err != nil {
			return report.Section{}, err
		}
		defer store.Close()
		systems = append(systems, sqliteWrites(store))
	}
	for _, s := range systems {
		env.progress("writing every subject once: %s", s.name)
		if err := preload(ctx, s, env.Quick); err != nil {
			return report.Section{}, fmt.Errorf("preparing %s: %w", s.name, err)
		}
	}
	all, err := contest(ctx, env, systems)
	if err != nil {
		return report.Section{}, err
	}
	return postsSection(all, systems, nodes), nil
}

func postsSection(all results, systems []system, nodes int) report.Section {
	s := report.Section{Title: "One fact a request, one node", Tables: tables(all, systems, "writes")}
	majority, more := "", sqliteText
	if nodes > 1 {
		s.Title, majority, more = fmt.Sprintf("One fact a request, %d nodes", nodes), " of a majority", ""
	}
	s.Text = fmt.Sprintf(postsText, s.Title, valueSize, thousands(subjects), valueSize, peer.Shared, more, majority)
	what := "POST, " + counted(nodes, "node")
	s.Goals = ratioGoals(all, what, systems[0], systems[1], map[int]float64{1: 0.75, 16: 1.2, 64: 1.2, 256: 1.0})
	if nodes == 1 {
		s.Goals = append(s.Goals, ratioGoals(all, what, systems[0], systems[len(systems)-1], map[int]float64{16: 4, 64: 4, 256: 4})...)
	}
	for _, n := range all.clients() {
		if n < 16 {
			continue
		}
		got := median(all[n][systems[0].name], perSync)
		s.Goals = append(s.Goals, least(fmt.Sprintf("facts a synced write, %d clients", n), float64(n)/3, got, func(v float64) string { return fmt.Sprintf("%.1f", v) }))
	}
	return s
}

// oursForPosts starts abagraph and makes a contestant of it.
func oursForPosts(ctx context.Context, env Env, nodes int) (system, func(), error) {
	cluster, err := node.Start(ctx, env.Server, env.Dir, nodes)
	if err != nil {
		return system{}, nil, err
	}
	leader, err := cluster.Leader(ctx)
	if err != nil {
		cluster.Stop()
		return system{}, nil, err
	}
	s := system{name: "abagraph", open: post(leader, valueSize), processes: cluster.Processes(), syncs: func() (float64, float64, error) {
		figures, err := node.Scrape(leader)
		if err != nil {
			return 0, 0, err
		}
		return figures.Syncs()
	}}
	return s, cluster.Stop, nil
}

// preload writes every subject once, so that each later write supersedes.
func preload(ctx context.Context, s system, quick bool) error {
	n := subjects
	if quick {
		n = subjects / 20
	}
	ops, closer, err := s.open(min(64, n))
	if err != nil {
		return err
	}
	defer closer()
	return share(ctx, ops, n)
}

func etcdKey(i int) string { return "bench/" + strconv.Itoa(i) }

// etcdOwnPuts makes clients that overwrite keys, each on a connection of its own.
func etcdOwnPuts(name string, etcd *peer.Etcd) system {
	open := func(n int) ([]load.Op, func(), error) {
		own, err := etcd.Dial(n)
		if err != nil {
			return nil, nil, err
		}
		return etcdWriters(own, n), own.Close, nil
	}
	return system{name: name, open: open, processes: etcd.Processes()}
}

// etcdPuts makes clients that overwrite keys, on the connections that etcd is best at.
func etcdPuts(name string, etcd *peer.Etcd) system {
	open := func(n int) ([]load.Op, func(), error) { return etcdWriters(etcd.Clients, n), func() {}, nil }
	return system{name: name, open: open, processes: etcd.Processes()}
}

func etcdWriters(on *peer.Clients, n int) []load.Op {
	var ops []load.Op
	for client := range n {
		w := newWriter(client)
		ops = append(ops, on.Put(
			func() string { return etcdKey(w.random.IntN(subjects)) },
			func() string { w.buffer = w.value(w.buffer[:0]); return string(w.buffer) }))
	}
	return ops
}

// sqliteWrites makes clients of the store in this process.
func sqliteWrites(store *peer.SQLite) system {
	var tx atomic.Int64
	open := func(n int) ([]load.Op, func(), error) {
		var ops []load.Op
		for client := range n {
			w := newWriter(client)
			ops = append(ops, func(ctx context.Context) (int, error) {
				number := tx.Add(1)
				w.buffer = w.value(w.buffer[:0])
				id := strconv.FormatInt(number, 36)
				return 1, store.Supersede(ctx, id, postSubject(w.random.IntN(subjects)), predicateOfPost, string(w.buffer), number)
			})
		}
		return ops, func() {}, nil
	}
	return system{name: "SQLite FULL", open: open}
}
