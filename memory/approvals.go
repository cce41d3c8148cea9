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

// Some actions need two: what destroys data both admin keys, where there are two, and
// on branches whatever a tenant's policy says. One asks, another sends the same request
// with the approval's id. What was asked is kept as a hash only, so that a purge leaves
// no word of what it erased (C-56). An approval is a transient fact of the ownerless
// scope: it lets one action through, answers repetitions of it alike, and ends by itself.

const (
	approvalKind      = "Approval:"
	approvalPredicate = "approves"
	approvalUsed      = " used"
	// ApprovalTime is how long an approval waits.
	ApprovalTime = time.Hour
)

// PendingApproval is the error of a request that waits for somebody else.
type PendingApproval struct {
	ID        string
	Action    string
	By        string // who asked
	ExpiresAt fact.Instant
}

func (p *PendingApproval) Error() string {
	other := "the other admin key"
	if p.tenant() != "" {
		other = "the approval of another agent"
	}
	return "this needs " + other + ": send the same request with approval=" + p.ID
}

// tenant is whose key asked; "" for an administrator of the server.
func (p *PendingApproval) tenant() string {
	tenant, _, found := strings.Cut(p.By, "/")
	if !found {
		return ""
	}
	return tenant
}

// approve lets an action through that both admins have asked for, and keeps it
// waiting the first time. what names all that the action depends on.
func (s *Service) approve(ctx context.Context, c Caller, o *WriteOptions, action, what string) error {
	if !s.twoAdmins {
		return needless(o, "there is one admin key only")
	}
	return s.takesTwo(ctx, c, o, action, what)
}

// needless refuses an approval that nothing asks for.
func needless(o *WriteOptions, why string) error {
	if o.Approval == "" {
		return nil
	}
	return fact.Invalid("approval", "is not needed here: "+why)
}

// takesTwo lets an action through that another has asked for. Once it was let through
// it is written under a key of its own, so that a repetition is told what came of it,
// and does what a crash has kept from being done.
func (s *Service) takesTwo(ctx context.Context, c Caller, o *WriteOptions, action, what string) error {
	list, err := s.approvals(ctx, c)
	if err != nil {
		return err
	}
	if o.Approval == "" {
		return s.ask(ctx, c, list, action, what)
	}
	i := slices.IndexFunc(list, func(p approval) bool { return p.ID == o.Approval && (!p.used || p.By == c.Actor) })
	if i < 0 {
		return &fact.Error{Code: fact.NotFound, Message: "no approval waits: " + shorten(o.Approval)}
	}
	p, hash := &list[i], approvalHash(o.Approval, action, what)
	switch {
	case !p.used && p.By == c.Actor:
		return fact.Errorf(fact.Forbidden, "who asked cannot approve: %s", p.Error())
	case p.hash != hash:
		return fact.Errorf(fact.Conflict, "the approval is for another request")
	case !p.used:
		if err := s.useApproval(ctx, c, p); err != nil {
			return err
		}
	}
	o.Idem = &fact.Idempotency{Key: p.ID, Method: "APPROVED", Path: action, Hash: sha256.Sum256([]byte(hash))}
	return nil
}

func approvalHash(id, action, what string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + action + "\x00" + what))
	return action + " " + hex.EncodeToString(sum[:])
}

// ask keeps what was asked for, and answers that it waits. Who asks again for the same
// is told of the same approval.
func (s *Service) ask(ctx context.Context, c Caller, waiting []approval, action, what string) error {
	for i := range waiting {
		p := &waiting[i]
		if !p.used && p.By == c.Actor && p.hash == approvalHash(p.ID, action, what) {
			return &p.PendingApproval
		}
	}
	p := &PendingApproval{ID: s.newID().String(), Action: action, By: c.Actor, ExpiresAt: s.instant() + fact.Instant(ApprovalTime.Milliseconds())}
	w := &fact.Write{Asserts: []fact.Assert{approvalFact(p, c.Actor, approvalHash(p.ID, action, what))}}
	if _, err := s.Transact(ctx, ownerless(c), WriteOptions{Mask: mask.Off, own: true}, w, nil); err != nil {
		return fmt.Errorf("ask for an approval: %w", err)
	}
	return p
}

// approvalFact states that someone has asked for something, or has approved it.
func approvalFact(p *PendingApproval, by, object string) fact.Assert {
	return fact.Assert{
		Subject: approvalKind + p.ID, Predicate: approvalPredicate, Object: fact.TextObject(object), Source: &by, Transient: true,
		ValidFrom: fact.NoInstant, ValidUntil: p.ExpiresAt, KnownAt: fact.NoInstant, Confidence: 1,
	}
}

// useApproval marks an approval as used by who approves, so that it lets one action
// through.
func (s *Service) useApproval(ctx context.Context, c Caller, p *approval) error {
	w := &fact.Write{
		Guards:  []fact.Guard{{Subject: approvalKind + p.ID, Predicate: approvalPredicate, Kind: fact.GuardExpect, Object: fact.TextObject(p.hash)}},
		Asserts: []fact.Assert{approvalFact(&p.PendingApproval, c.Actor, p.hash+approvalUsed)},
	}
	_, err := s.Transact(ctx, ownerless(c), WriteOptions{Mask: mask.Off, own: true}, w, nil)
	if overtaken(err) {
		return fact.Errorf(fact.Conflict, "the approval was used meanwhile")
	}
	return err
}

// approval is one that waits, or was used within its time.
type approval struct {
	PendingApproval
	hash string
	used bool
}

// approvals lists those that are the caller's business: of its tenant, or of the
// administrators.
func (s *Service) approvals(ctx context.Context, c Caller) ([]approval, error) {
	read := NewRead()
	read.bare = true
	r, err := s.begin(ctx, ownerless(c), read, 0, nil)
	if err != nil {
		return nil, err
	}
	defer r.close()
	tenant := c.Tenant
	if !c.governed() {
		tenant = ""
	}
	var list []approval
	q := &fact.Query{Scope: fact.Scope{Branch: fact.MainBranch}, Predicate: approvalPredicate, At: r.at}
	err = r.view.Each(r.ctx, q, func(f *fact.Fact) bool {
		id, ours := strings.CutPrefix(f.Subject, approvalKind)
		if !ours || f.Source == nil {
			return true
		}
		action, _, _ := strings.Cut(f.Object.Text, " ")
		hash, used := strings.CutSuffix(f.Object.Text, approvalUsed)
		p := approval{PendingApproval{id, action, *f.Source, f.ValidUntil}, hash, used}
		if p.tenant() == tenant {
			list = append(list, p)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("list approvals: %w", err)
	}
	slices.SortFunc(list, func(a, b approval) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

// Approvals lists what waits for somebody else, the oldest first: for the other admin
// key, or for another agent of the caller's tenant.
func (s *Service) Approvals(ctx context.Context, c Caller) ([]PendingApproval, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, err
	}
	all, err := s.approvals(ctx, c)
	list := make([]PendingApproval, 0, len(all))
	for i := range all {
		if !all[i].used {
			list = append(list, all[i].PendingApproval)
		}
	}
	return list, err
}
