package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/node"
	"abagraph/bench/report"
	"abagraph/bench/rest"
)

const recoveryText = `Three nodes with %s facts, each figure the median of %d. A leader is killed (kill -9) and a write is sent to another node again and again until it is accepted. A hand-over is
measured from the call until a write is accepted. A follower is killed and started, until it is ready; another is emptied, until it is ready and has its vote. The backup is taken by ` + "`abagraph ops backup --rate 0`" + `
beside sixteen writers, the restore by ` + "`abagraph ops restore`" + `. The nodes' timings are the program's own defaults.`

// recovery measures what happens after a fault, and the operations of a node's life.
func recovery(ctx context.Context, env Env) (report.Section, error) {
	facts, rounds := 1_000_000, 10
	if env.Quick {
		facts, rounds = 5_000, 1
	}
	s := report.Section{Title: "Recovery", Text: fmt.Sprintf(recoveryText, thousands(float64(facts)), rounds)}
	cluster, err := node.Start(ctx, env.Server, env.Dir, 3)
	if err != nil {
		return s, err
	}
	defer cluster.Stop()
	r := &recoveries{env: env, cluster: cluster, all: map[string][]float64{}}
	b := &big{env: env, cluster: cluster}
	if b.address, err = cluster.Leader(ctx); err != nil {
		return s, err
	}
	if err := b.write(ctx, facts); err != nil {
		return s, err
	}
	for i := range rounds {
		env.progress("round %d of %d", i+1, rounds)
		for _, step := range []func(context.Context) error{r.leaderKilled, r.handedOver, r.followerRestarted, r.emptyJoined} {
			if err := step(ctx); err != nil {
				return s, err
			}
		}
	}
	if err := r.backedUp(ctx, rounds); err != nil {
		return s, err
	}
	r.tell(&s)
	return s, nil
}

// recoveries are what was measured, in nanoseconds or as a ratio, by name.
type recoveries struct {
	env     Env
	cluster *node.Cluster
	all     map[string][]float64
}

func (r *recoveries) add(name string, took time.Duration) {
	r.all[name] = append(r.all[name], float64(took))
}

// others are the addresses of all nodes but one.
func (r *recoveries) others(address string) (list []string) {
	for _, a := range r.cluster.Addresses() {
		if a != address {
			list = append(list, a)
		}
	}
	return list
}

// accepted sends a write to a node until it is accepted.
func (r *recoveries) accepted(ctx context.Context, address string) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		conn, err := rest.Dial(address)
		if err == nil {
			var status int
			status, _, err = conn.Do("POST", "/api/facts", fmt.Appendf(nil, `{"subject":"Bench:recovery","predicate":"at","object":%d}`, time.Now().UnixNano()))
			conn.Close()
			if err == nil && status < 300 {
				return nil
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%s has accepted no write for a minute", address)
}

func (r *recoveries) leaderKilled(ctx context.Context) error {
	leader, err := r.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	if err := r.cluster.Kill(leader); err != nil {
		return err
	}
	began := time.Now()
	if err := r.accepted(ctx, r.others(leader)[0]); err != nil {
		return err
	}
	r.add("leader killed", time.Since(began))
	_, err = r.cluster.Restart(ctx, leader)
	return err
}

func (r *recoveries) handedOver(ctx context.Context) error {
	leader, err := r.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	conn, err := rest.Dial(leader)
	if err != nil {
		return err
	}
	defer conn.Close()
	began := time.Now()
	if _, err := expect(conn, "POST", "/api/admin/transfer", []byte(`{}`)); err != nil {
		return err
	}
	if err := r.accepted(ctx, r.others(leader)[0]); err != nil {
		return err
	}
	r.add("handed over", time.Since(began))
	return nil
}

func (r *recoveries) followerRestarted(ctx context.Context) error {
	leader, err := r.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	follower := r.others(leader)[0]
	if err := r.cluster.Kill(follower); err != nil {
		return err
	}
	took, err := r.cluster.Restart(ctx, follower)
	r.add("follower restarted", took)
	return err
}

func (r *recoveries) emptyJoined(ctx context.Context) error {
	leader, err := r.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	list := r.others(leader)
	follower := list[len(list)-1] // never the founder
	if err := r.cluster.Kill(follower); err != nil {
		return err
	}
	if err := r.cluster.Empty(follower); err != nil {
		return err
	}
	began := time.Now()
	if _, err := r.cluster.Restart(ctx, follower); err != nil {
		return err
	}
	conn, err := rest.Dial(leader)
	if err != nil {
		return err
	}
	defer conn.Close()
	for time.Since(began) < 5*time.Minute {
		body, err := expect(conn, "GET", "/api/admin/nodes", nil)
		if err != nil {
			return err
		}
		if strings.Count(string(body), `"voter":true`) == 3 {
			r.add("empty node joined", time.Since(began))
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("the node at %s has no vote after five minutes", follower)
}

// backedUp takes backups beside writers, whose rate is compared with that without,
// and restores each.
func (r *recoveries) backedUp(ctx context.Context, rounds int) error {
	leader, err := r.cluster.Leader(ctx)
	if err != nil {
		return err
	}
	ops, closer, err := post(leader, valueSize)(16)
	if err != nil {
		return err
	}
	defer closer()
	for i := range rounds {
		alone := load.Run(ctx, ops, r.env.Length)
		file := filepath.Join(r.env.Dir, fmt.Sprintf("%d.backup", i))
		during, err := r.beside(ctx, ops, file, leader)
		if err != nil {
			return err
		}
		if alone.Rate() > 0 {
			r.all["rate beside a backup"] = append(r.all["rate beside a backup"], during/alone.Rate())
		}
		data := filepath.Join(r.env.Dir, fmt.Sprintf("restored-%d", i))
		began := time.Now()
		if err := r.command(ctx, "ops", "restore", file, "--data", data); err != nil {
			return err
		}
		r.add("restore", time.Since(began))
		if err := os.RemoveAll(data); err != nil {
			return fmt.Errorf("removing what was restored: %w", err)
		}
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("removing a backup: %w", err)
		}
	}
	return nil
}

// slice is how long writers are watched at a time.
const slice = 200 * time.Millisecond

// beside takes a backup while writers write, and returns their rate meanwhile.
func (r *recoveries) beside(ctx context.Context, ops []load.Op, file, address string) (rate float64, err error) {
	done := make(chan error, 1)
	began := time.Now()
	go func() {
		err := r.command(ctx, "ops", "backup", file, "--rate", "0", "--url", "http://"+address)
		r.add("backup", time.Since(began))
		done <- err
	}()
	var rates []float64
	for {
		rates = append(rates, load.Run(ctx, ops, slice).Rate())
		select {
		case err := <-done:
			return load.Median(rates), err
		default:
		}
	}
}

func (r *recoveries) command(ctx context.Context, args ...string) error {
	if out, err := exec.CommandContext(ctx, r.env.Server, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("abagraph %s: %w: %.300s", strings.Join(args[:2], " "), err, out)
	}
	return nil
}

func (r *recoveries) tell(s *report.Section) {
	table := report.Table{Title: "medians", Head: []string{"", "took"}}
	for _, one := range []struct {
		name, what string
		want       time.Duration
	}{
		{"leader killed", "leader killed, until a write is accepted", 2 * time.Second},
		{"handed over", "leadership handed over, until a write is accepted", 300 * time.Millisecond},
		{"follower restarted", "follower killed and started, until it is caught up", 10 * time.Second},
		{"empty node joined", "empty node started, until it has its vote", time.Minute},
		{"backup", "backup", 30 * time.Second},
		{"restore", "restore", 30 * time.Second},
	} {
		got := load.Median(r.all[one.name])
		table.Rows = append(table.Rows, []string{one.what, asDuration(got)})
		s.Goals = append(s.Goals, most(one.what, float64(one.want), got, asDuration))
	}
	s.Tables = append(s.Tables, table)
	s.Goals = append(s.Goals, least("writers beside a backup, of their rate", 0.7, load.Median(r.all["rate beside a backup"]), times))
}
