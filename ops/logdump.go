package ops

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	rlog "abagraph/log"
	"abagraph/log/entry"
	"abagraph/replication"

	"github.com/hashicorp/raft"
)

// LogDump reads the Raft log of a node that does not run.
type LogDump struct {
	Data string
	// From is the first entry to tell, 0 = the first there is; Limit how many, 0 =
	// all.
	From  uint64
	Limit uint64
	// Facts tells what is written too: without it, no text of a fact, no reason and
	// no name of a key is in an entry (OBS-01). Keys of Idempotency-Key never are.
	Facts bool
}

// LogEntry is one entry of the log.
type LogEntry struct {
	Index uint64 `json:"index"`
	Term  uint64 `json:"term"`
	// Kind is batch, tick, sweep, check, membership, or Raft's own word: noop.
	Kind       string        `json:"kind"`
	ProposedAt *fact.Instant `json:"proposed_at,omitempty"`
	Bytes      int           `json:"bytes"`
	Requests   []LogRequest  `json:"requests,omitempty"`
	Members    []string      `json:"members,omitempty"` // of membership
	Tx         uint64        `json:"tx,omitempty"`      // of check
	Digest     string        `json:"digest,omitempty"`
	Problem    string        `json:"problem,omitempty"` // it cannot be read
}

// LogRequest is one request of a batch.
type LogRequest struct {
	Kind       string `json:"kind"` // write, tenants, purge, vectors or branch
	Tenant     string `json:"tenant"`
	Branch     string `json:"branch,omitempty"`
	Guards     int    `json:"guards,omitempty"`
	Retracts   int    `json:"retracts,omitempty"`
	Asserts    int    `json:"asserts,omitempty"`
	Vectors    int    `json:"vectors,omitempty"`
	Idempotent bool   `json:"idempotent,omitempty"`
	Bytes      int    `json:"bytes"`
	// The rest only where it was asked for.
	Actor    string    `json:"actor,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Selector string    `json:"selector,omitempty"` // of a purge
	Facts    []LogFact `json:"facts,omitempty"`
}

// LogFact is one row of a write.
type LogFact struct {
	Op        string          `json:"op"` // assert or retract
	ID        string          `json:"id"`
	Subject   string          `json:"subject,omitempty"`
	Predicate string          `json:"predicate,omitempty"`
	Object    json.RawMessage `json:"object,omitempty"`
}

// errEnough ends a dump at its limit.
var errEnough = errors.New("enough")

// Run tells the entries in their order, until visit returns an error.
func (d *LogDump) Run(ctx context.Context, visit func(*LogEntry) error) error {
	if _, err := os.Stat(filepath.Join(d.Data, "raft.db")); err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	lock, err := rlog.Lock(d.Data)
	if err != nil {
		return err
	}
	defer lock.Close()
	store, err := rlog.Look(d.Data)
	if err != nil {
		return err
	}
	defer store.Close()
	told := uint64(0)
	err = store.Each(d.From, func(l *raft.Log) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.Limit > 0 && told == d.Limit {
			return errEnough
		}
		told++
		return visit(d.entry(l))
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func (d *LogDump) entry(l *raft.Log) *LogEntry {
	e := &LogEntry{Index: l.Index, Term: l.Term, Bytes: len(l.Data)}
	if servers, ok := replication.ServersIn(l); ok {
		e.Kind = "membership"
		for _, s := range servers {
			line := s.ID
			if !s.Voter {
				line += " (no vote)"
			}
			e.Members = append(e.Members, line)
		}
		return e
	}
	if l.Type != raft.LogCommand {
		e.Kind = strings.ToLower(strings.TrimPrefix(l.Type.String(), "Log"))
		return e
	}
	got, err := entry.Decode(l.Data)
	if err != nil {
		e.Kind, e.Problem = "unknown", err.Error()
		return e
	}
	e.ProposedAt = &got.ProposedAt
	switch got.Kind {
	case entry.KindBatch:
		e.Kind = "batch"
		for _, b := range got.Requests {
			e.Requests = append(e.Requests, d.request(b))
		}
	case entry.KindTick:
		e.Kind = "tick"
	case entry.KindSweep:
		e.Kind = "sweep"
	case entry.KindCheck:
		e.Kind, e.Tx, e.Digest = "check", got.Tx, hex.EncodeToString(got.Digest[:])
	default:
		e.Kind = fmt.Sprintf("kind %d", got.Kind)
	}
	return e
}

func (d *LogDump) request(b []byte) LogRequest {
	q, err := entry.DecodeRequest(b)
	if err != nil {
		return LogRequest{Kind: "unknown", Bytes: len(b)}
	}
	r := LogRequest{Kind: kindOf(q), Tenant: q.Tenant, Branch: q.Branch, Idempotent: q.Idem != nil, Bytes: len(b)}
	if w := q.Write; w != nil {
		r.Guards, r.Retracts, r.Asserts = len(w.Guards), len(w.Retracts), len(w.Asserts)
	}
	if q.Vectors != nil {
		r.Vectors = len(q.Vectors.Rows)
	}
	if d.Facts {
		r.tell(q)
	}
	return r
}

func kindOf(q *fact.Request) string {
	switch {
	case q.Write != nil:
		return "write"
	case q.Registry != nil:
		return "tenants"
	case q.Purge != nil:
		return "purge"
	case q.Vectors != nil:
		return "vectors"
	case q.Branching != nil:
		return "branch"
	}
	return "unknown"
}

// tell adds what the request says. Hashes of keys are left out all the same.
func (r *LogRequest) tell(q *fact.Request) {
	r.Actor = q.Actor
	if p := q.Purge; p != nil {
		r.Selector = "subject " + p.Subject
		if p.Prefix != "" {
			r.Selector = "prefix " + p.Prefix
		}
	}
	w := q.Write
	if w == nil {
		return
	}
	if w.Backfill != nil {
		r.Reason = w.Backfill.Reason
	}
	for i := range w.Retracts {
		r.Facts = append(r.Facts, LogFact{Op: "retract", ID: w.Retracts[i].ID.String()})
	}
	for i := range w.Asserts {
		a := &w.Asserts[i]
		r.Facts = append(r.Facts, LogFact{
			Op: "assert", ID: a.ID.String(), Subject: a.Subject, Predicate: a.Predicate, Object: jsonx.AppendObject(nil, a.Object),
		})
	}
}
