package suite

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/peer"
)

// etcdLife is a cluster of etcd.
type etcdLife struct {
	cluster *peer.Etcd
	next    *atomic.Int64
}

// theirs fills a cluster of etcd and measures it.
func (r *recoveries) theirs(ctx context.Context) (happened, string, error) {
	cluster, err := peer.Debian(ctx, r.env.Dir, 3)
	if err != nil {
		return nil, "", err
	}
	defer cluster.Stop()
	next := new(atomic.Int64)
	name, began := "etcd "+cluster.Version, time.Now()
	if err := fillEtcd(ctx, cluster, next, r.facts); err != nil {
		return nil, "", fmt.Errorf("filling etcd: %w", err)
	}
	r.env.progress("%s: %s values written in %s", name, thousands(float64(r.facts)), short(time.Since(began)))
	all, err := r.measure(ctx, name, &etcdLife{cluster, next})
	return all, cluster.Version, err
}

// fillEtcd writes n values under new keys, a hundred in each transaction.
func fillEtcd(ctx context.Context, cluster *peer.Etcd, next *atomic.Int64, n int) error {
	var ops []load.Op
	for client := range 4 {
		w := newWriter(client)
		put := cluster.PutMany()
		ops = append(ops, func(ctx context.Context) (int, error) {
			first := int(next.Add(batchSize)) - batchSize
			keys, values := make([]string, batchSize), make([]string, batchSize)
			for i := range keys {
				w.buffer = w.value(w.buffer[:0])
				keys[i], values[i] = fmt.Sprintf("million/%d", first+i), string(w.buffer)
			}
			return batchSize, put(ctx, keys, values)
		})
	}
	return share(ctx, ops, n/batchSize)
}

// other is a member that does not lead.
func (l *etcdLife) other(ctx context.Context) (leader, other int, err error) {
	leader, err = l.cluster.Leader(ctx)
	return leader, (leader + 1) % 3, err
}

func (l *etcdLife) killed(ctx context.Context) (time.Duration, error) {
	leader, other, err := l.other(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	l.cluster.Kill(leader)
	if err := l.cluster.Accepts(ctx, other); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return took, l.cluster.Restart(ctx, leader)
}

func (l *etcdLife) handedOver(ctx context.Context) (time.Duration, error) {
	leader, other, err := l.other(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := l.cluster.HandOver(ctx, leader, other); err != nil {
		return 0, err
	}
	if err := l.cluster.Accepts(ctx, other); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

func (l *etcdLife) restarted(ctx context.Context) (time.Duration, error) {
	_, other, err := l.other(ctx)
	if err != nil {
		return 0, err
	}
	l.cluster.Kill(other)
	if err := l.cluster.Follow(ctx); err != nil {
		return 0, err
	}
	if err := fillEtcd(ctx, l.cluster, l.next, meanwhile); err != nil {
		return 0, err
	}
	began := time.Now()
	err = l.cluster.Restart(ctx, other)
	return time.Since(began), err
}

func (l *etcdLife) joined(ctx context.Context) (time.Duration, error) {
	leader, other, err := l.other(ctx)
	if err != nil {
		return 0, err
	}
	l.cluster.Kill(other)
	if err := l.cluster.Remove(ctx, leader, other); err != nil {
		return 0, err
	}
	began := time.Now()
	err = l.cluster.Join(ctx, leader, other)
	return time.Since(began), err
}

func (l *etcdLife) writers(ctx context.Context, n int) ([]load.Op, func(), error) {
	if err := l.cluster.Follow(ctx); err != nil {
		return nil, nil, err
	}
	return etcdPuts("etcd", l.cluster).open(n)
}

func (l *etcdLife) backup(ctx context.Context, file string) error {
	leader, err := l.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	return command(ctx, etcdctlEnv, "etcdctl", "snapshot", "save", file, "--endpoints", l.cluster.Endpoint(leader))
}

func (l *etcdLife) restore(ctx context.Context, file, dir string) error {
	return command(ctx, etcdctlEnv, "etcdctl", "snapshot", "restore", file, "--data-dir", dir)
}

// etcdctlEnv asks for the interface that etcd 3 has.
var etcdctlEnv = []string{"ETCDCTL_API=3"}
