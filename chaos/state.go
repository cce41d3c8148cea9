package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"abagraph/client"
)

// State is all that a node tells about one tenant at one tx, as bytes: every
// fact of whatever status, every event since tx 0, the entities, predicates and
// counts.
type State struct {
	Node  string
	Parts []Part
	// Events are the events, read.
	Events []client.Event
}

// Part is one answer, or several pages of one, a line each.
type Part struct {
	Name  string
	Lines [][]byte
}

// errEnough ends a stream that has been read far enough.
var errEnough = errors.New("enough")

// Look reads the state of a tenant ("" = the default one) on this very node,
// which must have come as far as a tx; last is the last tx in which something
// of the tenant changed.
func (n *Node) Look(ctx context.Context, tenant string, tx, last uint64) (*State, error) {
	c, err := n.Client(client.WithRetry(5, pause))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s := &State{Node: n.Name}
	facts, err := exportFacts(ctx, c, tenant, tx)
	if err != nil {
		return nil, fmt.Errorf("export the facts of %s: %w", n.Name, err)
	}
	s.Parts = append(s.Parts, Part{"facts", facts})
	for _, path := range []string{"/api/stats", "/api/entities", "/api/predicates"} {
		query := pinned(tenant, tx)
		if path == "/api/stats" {
			query.Del("tx")
		} else {
			query.Set("limit", "10000")
		}
		answer, err := c.Do(ctx, client.Call{Method: http.MethodGet, Path: path, Query: query})
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", path, n.Name, err)
		}
		s.Parts = append(s.Parts, Part{path, [][]byte{answer.Body}})
	}
	if s.Events, err = replay(ctx, c, tenant, last); err != nil {
		return nil, fmt.Errorf("read the stream of %s: %w", n.Name, err)
	}
	s.Parts = append(s.Parts, Part{"events", rawEvents(s.Events)})
	return s, nil
}

// pinned are the parameters of a read that this node answers by itself, once it
// has come as far as a tx, as of that tx.
func pinned(tenant string, tx uint64) url.Values {
	at := strconv.FormatUint(tx, 10)
	query := url.Values{"consistency": {"stale"}, "min_tx": {at}, "tx": {at}}
	if tenant != "" {
		query.Set("tenant", tenant)
	}
	return query
}

func exportFacts(ctx context.Context, c *client.Client, tenant string, tx uint64) (lines [][]byte, err error) {
	at := strconv.FormatUint(tx, 10)
	q := client.FactQuery{Status: "all", Limit: 1000, Read: client.Read{Tenant: tenant, Consistency: "stale", MinTx: tx, Tx: at}}
	for after := uint64(0); ; {
		q.TxGt = strconv.FormatUint(after, 10)
		page, err := c.Facts(ctx, q)
		if err != nil || len(page.Facts) == 0 {
			return lines, err
		}
		for i := range page.Facts {
			if page.Facts[i].Tx < after {
				return nil, fmt.Errorf("after tx %d the export has a fact of tx %d", after, page.Facts[i].Tx)
			}
			after = page.Facts[i].Tx
			lines = append(lines, page.Facts[i].Raw)
		}
	}
}

// replay reads the stream from tx 0 up to the end of a tx.
func replay(ctx context.Context, c *client.Client, tenant string, last uint64) (events []client.Event, err error) {
	if last == 0 {
		return nil, nil
	}
	err = c.Stream(ctx, client.StreamQuery{Tenant: tenant, TxGt: "0"}, func(e client.Event) error {
		if e.Op == client.OpResync {
			return fmt.Errorf("the stream was reset: %s", e.Raw)
		}
		events = append(events, e)
		if e.Tx >= last && e.ID != "" {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return events, err
}

func rawEvents(events []client.Event) [][]byte {
	lines := make([][]byte, 0, len(events))
	for _, e := range events {
		lines = append(lines, []byte(e.ID+" "+string(e.Raw)))
	}
	return lines
}

// Same compares two states byte for byte, and tells of each part the first
// line that differs.
func Same(a, b *State) error {
	var errs []error
	for i := range max(len(a.Parts), len(b.Parts)) {
		if i >= len(a.Parts) || i >= len(b.Parts) {
			errs = append(errs, fmt.Errorf("%s has %d parts, %s %d", a.Node, len(a.Parts), b.Node, len(b.Parts)))
			break
		}
		errs = append(errs, samePart(a.Node, b.Node, a.Parts[i], b.Parts[i]))
	}
	return errors.Join(errs...)
}

func samePart(nameA, nameB string, a, b Part) error {
	if a.Name != b.Name {
		return fmt.Errorf("%s has the part %s where %s has %s", nameA, a.Name, nameB, b.Name)
	}
	for i := range min(len(a.Lines), len(b.Lines)) {
		if !bytes.Equal(a.Lines[i], b.Lines[i]) {
			return fmt.Errorf("%s differ at line %d:\n%s: %s\n%s: %s", a.Name, i+1, nameA, a.Lines[i], nameB, b.Lines[i])
		}
	}
	if len(a.Lines) != len(b.Lines) {
		return fmt.Errorf("%s: %s has %d lines, %s has %d", a.Name, nameA, len(a.Lines), nameB, len(b.Lines))
	}
	return nil
}

// Compare compares all nodes with the first: the digests of the whole state at a
// tx, and what they tell of some tenants, whose last changes were in the txs
// given. It returns the first node's states, by tenant. Nothing may be written
// meanwhile.
func (c *Cluster) Compare(ctx context.Context, tx uint64, last map[string]uint64) (map[string]*State, error) {
	states := make(map[string]*State)
	var errs []error
	if _, err := c.SameDigest(ctx, tx); err != nil {
		errs = append(errs, err)
	}
	tenants := make([]string, 0, len(last))
	for tenant := range last {
		tenants = append(tenants, tenant)
	}
	slices.Sort(tenants)
	for _, tenant := range tenants {
		for _, n := range c.Nodes {
			s, err := n.Look(ctx, tenant, tx, last[tenant])
			if err != nil {
				return nil, err
			}
			if states[tenant] == nil {
				states[tenant] = s
			}
			errs = append(errs, Same(states[tenant], s))
		}
	}
	return states, errors.Join(errs...)
}
