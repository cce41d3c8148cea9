package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// attempt bounds one try of what is tried again until it succeeds: short for a write,
// which waits for a leader that is dead, and patient once a member listens.
const (
	attempt = 250 * time.Millisecond
	patient = 2 * time.Second
)

// PutMany returns an operation that writes values in one transaction.
func (e *Etcd) PutMany() func(ctx context.Context, keys, values []string) error {
	client := e.next()
	return func(ctx context.Context, keys, values []string) error {
		ops := make([]clientv3.Op, len(keys))
		for i := range keys {
			ops[i] = clientv3.OpPut(keys[i], values[i])
		}
		if _, err := client.Txn(ctx).Then(ops...).Commit(); err != nil {
			return fmt.Errorf("etcd transaction: %w", err)
		}
		return nil
	}
}

// Endpoint is where a member serves clients.
func (e *Etcd) Endpoint(i int) string { return strings.TrimPrefix(e.members[i].clientURL, "http://") }

// with asks one member something, over a connection of its own: one that is kept waits
// longer and longer before it dials a member again that was down.
func (e *Etcd) with(ctx context.Context, i int, limit time.Duration, ask func(context.Context, *clientv3.Client) error) error {
	client, err := open([]string{e.Endpoint(i)})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return ask(ctx, client)
}

// until asks one member until it answers without an error.
func (e *Etcd) until(ctx context.Context, i int, limit time.Duration, ask func(context.Context, *clientv3.Client) error) error {
	for end := time.Now().Add(startTime); ; time.Sleep(5 * time.Millisecond) {
		err := e.listens(i)
		if err == nil {
			err = e.with(ctx, i, limit, ask)
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(end):
			return fmt.Errorf("%s, within %s: %w", e.members[i].name, startTime, err)
		}
	}
}

// listens tells at once where nobody does; a client would wait for it.
func (e *Etcd) listens(i int) error {
	conn, err := net.DialTimeout("tcp", e.Endpoint(i), attempt)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Leader is the member that leads.
func (e *Etcd) Leader(ctx context.Context) (leader int, err error) {
	for end := time.Now().Add(startTime); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		for i := range e.members {
			if leads, err := e.leads(ctx, i); err == nil && leads {
				return i, nil
			}
		}
	}
	return 0, errors.Join(errors.New("no member of etcd leads"), ctx.Err())
}

func (e *Etcd) leads(ctx context.Context, i int) (leads bool, err error) {
	err = e.with(ctx, i, time.Second, func(ctx context.Context, c *clientv3.Client) error {
		status, err := c.Status(ctx, e.Endpoint(i))
		leads = err == nil && status.Leader == status.Header.MemberId
		return err
	})
	return leads, err
}

// Follow connects the clients to the member that leads now.
func (e *Etcd) Follow(ctx context.Context) error {
	leader, err := e.Leader(ctx)
	if err != nil {
		return err
	}
	e.leader = e.Endpoint(leader)
	for _, client := range e.Clients.all {
		client.SetEndpoints(e.leader)
	}
	return nil
}

// Accepts sends writes to a member until it accepts one.
func (e *Etcd) Accepts(ctx context.Context, i int) error {
	return e.until(ctx, i, attempt, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Put(ctx, "recovery", "now")
		return err
	})
}

// Kill ends a member as kill -9 does.
func (e *Etcd) Kill(i int) { e.processes[i].Kill() }

// Restart starts a member again, and returns when it answers a linearizable read.
func (e *Etcd) Restart(ctx context.Context, i int) (err error) {
	if e.processes[i], err = e.run(e.members[i]); err != nil {
		return err
	}
	return e.until(ctx, i, patient, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.Get(ctx, "recovery")
		return err
	})
}

// HandOver has one member hand the leadership to another.
func (e *Etcd) HandOver(ctx context.Context, from, to int) error {
	id, err := e.id(ctx, from, to)
	if err != nil {
		return err
	}
	return e.with(ctx, from, startTime, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.MoveLeader(ctx, id)
		return err
	})
}

// id is what another member knows a member by.
func (e *Etcd) id(ctx context.Context, asked, i int) (id uint64, err error) {
	err = e.with(ctx, asked, startTime, func(ctx context.Context, c *clientv3.Client) error {
		list, err := c.MemberList(ctx)
		if err != nil {
			return err
		}
		for _, m := range list.Members {
			if m.Name == e.members[i].name {
				id = m.ID
				return nil
			}
		}
		return fmt.Errorf("there is no member %s", e.members[i].name)
	})
	return id, err
}

// Remove takes a member that does not run out of the cluster, and its data away.
func (e *Etcd) Remove(ctx context.Context, asked, i int) error {
	id, err := e.id(ctx, asked, i)
	if err != nil {
		return err
	}
	err = e.until(ctx, asked, startTime, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.MemberRemove(ctx, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("removing a member of etcd: %w", err)
	}
	if err := os.RemoveAll(e.members[i].dir); err != nil {
		return fmt.Errorf("emptying a member of etcd: %w", err)
	}
	return nil
}

// Join adds a member without data as a learner, starts it, and promotes it as soon as
// that is allowed.
func (e *Etcd) Join(ctx context.Context, asked, i int) error {
	m := &e.members[i]
	var id uint64
	err := e.until(ctx, asked, startTime, func(ctx context.Context, c *clientv3.Client) error {
		added, err := c.MemberAddAsLearner(ctx, []string{m.peerURL})
		if err == nil {
			id = added.Member.ID
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("adding a learner: %w", err)
	}
	m.joins = true
	if e.processes[i], err = e.run(*m); err != nil {
		return err
	}
	err = e.until(ctx, asked, patient, func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.MemberPromote(ctx, id)
		return err
	})
	if err != nil {
		return fmt.Errorf("promoting a learner: %w", err)
	}
	return nil
}
