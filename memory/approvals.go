package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"abagraph/fact"
	"abagraph/memory/mask"
)

// With two admin keys, what destroys data needs both: one asks, the other sends
// the same request with the approval's id. What was asked is kept as a hash only,
// so that a purge leaves no word of what it erased (C-56). An approval is a
// transient fact of the ownerless scope: it is used once, and ends by itself.

const (
	approvalKind      = "Approval:"
	approvalPredicate = "approves"
	// ApprovalTime is how long an approval waits.
	ApprovalTime = time.Hour
)

// PendingApproval is the error of a request that waits for the other admin key.
type PendingApproval struct {
	ID        string
	Action    string
	By        string // who asked
	ExpiresAt fact.Instant
}

func (p *PendingApproval) Error() string {
	return "this needs the other admin key: send the same request with approval=" + p.ID
}

// approve lets an action through that both admins have asked for, and keeps it
// waiting the first time. what names all that the action depends on.
func (s *Service) approve(ctx context.Context, c Caller, o WriteOptions, action, what string) error {
	if !s.twoAdmins {
		if o.Approval != "" {
			return fact.Invalid("approval", "is not needed here: there is one admin key only")
		}
		return nil
	}
	if o.Approval == "" {
		return s.ask(ctx, c, action, what)
	}
	list, err := s.approvals(ctx, c)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(p approval) bool { return p.ID == o.Approval })
	if i < 0 {
		return &fact.Error{Code: fact.NotFound, Message: "no approval waits: " + shorten(o.Approval)}
	}
	switch p := list[i]; {
	case p.By == c.Actor:
		return fact.Errorf(fact.Forbidden, "who asked cannot approve: this needs the other admin key")
	case p.hash != approvalHash(p.ID, action, what):
		return fact.Errorf(fact.Conflict, "the approval is for another request")
	default:
		return s.useApproval(ctx, c, p)
	}
}

func approvalHash(id, action, what string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + action + "\x00" + what))
	return action + " " + hex.EncodeToString(sum[:])
}

// ask keeps what was asked for, and answers that it waits.
func (s *Service) ask(ctx context.Context, c Caller, action, what string) error {
	p := &PendingApproval{ID: s.newID().String(), Action: action, By: c.Actor, ExpiresAt: s.instant() + fact.Instant(ApprovalTime.Milliseconds())}
	source := c.Actor
	w := &fact.Write{Asserts: []fact.Assert{{
		Subject: approvalKind + p.ID, Predicate: approvalPredicate, Object: fact.TextObject(approvalHash(p.ID, action, what)),
		ValidFrom: fact.NoInstant, ValidUntil: p.ExpiresAt, KnownAt: fact.NoInstant, Confidence: 1, Source: &source, Transient: true,
	}}}
	if _, err := s.Transact(ctx, ownerless(c), WriteOptions{Mask: mask.Off, own: true}, w, nil); err != nil {
		return fmt.Errorf("ask for an approval: %w", err)
	}
	return p
}

// useApproval takes an approval out, so that it lets one action through.
func (s *Service) useApproval(ctx context.Context, c Caller, p approval) error {
	w := &fact.Write{
		Guards:   []fact.Guard{{Subject: approvalKind + p.ID, Predicate: approvalPredicate, Kind: fact.GuardExpect, Object: fact.TextObject(p.hash)}},
		Retracts: []fact.Retract{{ID: p.fact, KnownAt: fact.NoInstant}},
	}
	_, err := s.Transact(ctx, ownerless(c), WriteOptions{Mask: mask.Off, own: true}, w, nil)
	if overtaken(err) {
		return fact.Errorf(fact.Conflict, "the approval was used meanwhile")
	}
	return err
}

// approval is one that waits.
type approval struct {
	PendingApproval
	hash string
	fact fact.ID
}

func (s *Service) approvals(ctx context.Context, c Caller) ([]approval, error) {
	read := NewRead()
	read.bare = true
	r, err := s.begin(ctx, c, read, 0, nil)
	if err != nil {
		return nil, err
	}
	defer r.close()
	var list []approval
	q := &fact.Query{Scope: fact.Scope{Branch: fact.MainBranch}, Predicate: approvalPredicate, At: r.at}
	err = r.view.Each(r.ctx, q, func(f *fact.Fact) bool {
		id, ours := strings.CutPrefix(f.Subject, approvalKind)
		action, _, _ := strings.Cut(f.Object.Text, " ")
		if ours && f.Source != nil {
			list = append(list, approval{PendingApproval{id, action, *f.Source, f.ValidUntil}, f.Object.Text, f.ID})
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}
	slices.SortFunc(list, func(a, b approval) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

// Approvals lists what waits for the other admin key, the oldest first.
func (s *Service) Approvals(ctx context.Context, c Caller) ([]PendingApproval, error) {
	if err := c.RequireOperator(); err != nil {
		return nil, err
	}
	waiting, err := s.approvals(ctx, c)
	list := make([]PendingApproval, len(waiting))
	for i := range waiting {
		list[i] = waiting[i].PendingApproval
	}
	return list, err
}
