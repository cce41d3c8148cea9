package suite

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/node"
	"abagraph/bench/rest"
)

// ourLife is a cluster of abagraph.
type ourLife struct {
	server  string
	next    *atomic.Uint64
	cluster *node.Cluster
}

// ours fills a cluster and measures it.
func (r *recoveries) ours(ctx context.Context) (happened, error) {
	cluster, err := node.Start(ctx, r.env.Server, r.env.Dir, 3)
	if err != nil {
		return nil, err
	}
	defer cluster.Stop()
	b := &big{env: r.env, cluster: cluster}
	if b.address, err = cluster.Leader(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	if err := b.write(ctx, r.facts); err != nil {
		return nil, err
	}
	r.env.progress("abagraph: %s facts written in %s", thousands(float64(r.facts)), short(time.Since(began)))
	return r.measure(ctx, "abagraph", &ourLife{server: r.env.Server, next: &b.next, cluster: cluster})
}

// others are the addresses of all nodes but one.
func (l *ourLife) others(address string) (list []string) {
	for _, a := range l.cluster.Addresses() {
		if a != address {
			list = append(list, a)
		}
	}
	return list
}

// acceptLimit is how long a cluster may accept no write.
const acceptLimit = time.Minute

// accepted sends a write to a node until it is accepted.
func (l *ourLife) accepted(ctx context.Context, address string) error {
	for end := time.Now().Add(acceptLimit); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		conn, err := rest.Dial(address)
		if err != nil {
			continue
		}
		status, _, err := conn.Do("POST", "/api/facts", fmt.Appendf(nil, `{"subject":"Bench:recovery","predicate":"at","object":%d}`, time.Now().UnixNano()))
		_ = conn.Close()
		if err == nil && status < 300 {
			return nil
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s has accepted no write for %s", address, acceptLimit)
}

func (l *ourLife) killed(ctx context.Context) (time.Duration, error) {
	leader, err := l.cluster.Leader(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := l.cluster.Kill(leader); err != nil {
		return 0, err
	}
	if err := l.accepted(ctx, l.others(leader)[0]); err != nil {
		return 0, err
	}
	took := time.Since(began)
	_, err = l.cluster.Restart(ctx, leader)
	return took, err
}

func (l *ourLife) handedOver(ctx context.Context) (time.Duration, error) {
	leader, err := l.cluster.Leader(ctx)
	if err != nil {
		return 0, err
	}
	conn, err := rest.Dial(leader)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	began := time.Now()
	if _, err := expect(conn, "POST", "/api/admin/transfer", []byte(`{}`)); err != nil {
		return 0, err
	}
	if err := l.accepted(ctx, l.others(leader)[0]); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

func (l *ourLife) restarted(ctx context.Context) (time.Duration, error) {
	leader, err := l.cluster.Leader(ctx)
	if err != nil {
		return 0, err
	}
	follower := l.others(leader)[0]
	if err := l.cluster.Kill(follower); err != nil {
		return 0, err
	}
	if err := fill(ctx, leader, "Bench:m", l.next, meanwhile); err != nil {
		return 0, err
	}
	return l.cluster.Restart(ctx, follower)
}

func (l *ourLife) joined(ctx context.Context) (time.Duration, error) {
	leader, err := l.cluster.Leader(ctx)
	if err != nil {
		return 0, err
	}
	list := l.others(leader)
	follower := list[len(list)-1] // never the founder
	if err := l.cluster.Kill(follower); err != nil {
		return 0, err
	}
	if err := l.cluster.Empty(follower); err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := l.cluster.Restart(ctx, follower); err != nil {
		return 0, err
	}
	conn, err := rest.Dial(follower)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	for time.Since(began) < 5*time.Minute {
		body, err := expect(conn, "GET", "/api/admin/nodes", nil)
		if err != nil {
			return 0, err
		}
		if strings.Count(string(body), `"voter":true`) == 3 {
			return time.Since(began), nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, fmt.Errorf("the node at %s has no vote after five minutes", follower)
}

func (l *ourLife) writers(ctx context.Context, n int) ([]load.Op, func(), error) {
	leader, err := l.cluster.Leader(ctx)
	if err != nil {
		return nil, nil, err
	}
	return post(leader, valueSize)(n)
}

func (l *ourLife) backup(ctx context.Context, file string) error {
	leader, err := l.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	return command(ctx, nil, l.server, "ops", "backup", file, "--url", "http://"+leader)
}

func (l *ourLife) restore(ctx context.Context, file, dir string) error {
	return command(ctx, nil, l.server, "ops", "restore", file, "--data", dir)
}

// command runs a program to its end.
func command(ctx context.Context, env []string, program string, args ...string) error {
	c := exec.CommandContext(ctx, program, args...)
	c.Env = append(c.Environ(), env...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %.300s", program, strings.Join(args[:2], " "), err, out)
	}
	return nil
}
