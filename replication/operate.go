package replication

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"abagraph/fact"

	"github.com/hashicorp/raft"
)

// changeRequest asks the leader for what an operator wants of the membership.
type changeRequest struct {
	// ID is the member; "" in a transfer = any.
	ID string `json:"id"`
	// Do is promote, demote or transfer.
	Do string `json:"do"`
}

const (
	doPromote  = "promote"
	doDemote   = "demote"
	doTransfer = "transfer"
)

// SetVoter gives a member a vote, once it has caught up, or takes it, until it is
// given again; asked on any node. Taking it must leave a majority that answers. The
// error is a *fact.Error: NotFound if there is no such member, Conflict if it must
// not be, NoLeader, Timeout.
func (n *Node) SetVoter(ctx context.Context, id string, voter bool) error {
	do := doDemote
	if voter {
		do = doPromote
	}
	return n.atLeader(ctx, methodChange, changeRequest{ID: id, Do: do}, n.changeHere)
}

// Transfer hands the leadership to a voter ("" = any other); asked on any node. It
// returns once the new leader is known here. The errors are those of SetVoter.
func (n *Node) Transfer(ctx context.Context, id string) error {
	before := n.raft.CurrentTerm()
	if err := n.atLeader(ctx, methodChange, changeRequest{ID: id, Do: doTransfer}, n.changeHere); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, changeLimit)
	defer cancel()
	for {
		moved := n.leaderMoved()
		// A node that has not heard of the handover yet still knows the leader before it.
		if _, leader := n.raft.LeaderWithID(); leader != "" && (string(leader) == id || id == "" && n.raft.CurrentTerm() > before) {
			return nil
		}
		select {
		case <-moved:
		case <-n.stopped:
			return n.serving()
		case <-ctx.Done():
			return fact.Errorf(fact.Timeout, "the leadership was handed over, and this node does not know the new leader yet")
		}
	}
}

// atLeader has something done by the leader, wherever it was asked for, and again
// after the leader has changed.
func (n *Node) atLeader(ctx context.Context, m method, request changeRequest, here func(context.Context, changeRequest) error) error {
	ctx, cancel := context.WithTimeout(ctx, n.options.RequestLimit)
	defer cancel()
	patience := n.newPatience()
	for {
		err := n.serving()
		if err == nil {
			err = n.atLeaderOnce(ctx, m, request, here)
		}
		var final *fact.Error
		if err == nil || errors.As(err, &final) {
			return err
		}
		if err := patience.wait(ctx, false); err != nil {
			return err
		}
	}
}

func (n *Node) atLeaderOnce(ctx context.Context, m method, request changeRequest, here func(context.Context, changeRequest) error) error {
	if n.raft.State() == raft.Leader {
		return here(ctx, request)
	}
	address, ok := n.leaderAddress()
	if !ok {
		return errNotLeader
	}
	payload, err := json.Marshal(request)
	if err != nil {
		return err
	}
	v, out, err := n.calls.call(ctx, address, streamControl, m, payload)
	switch {
	case err != nil || v == verdictElsewhere:
		return errNotLeader // to ask again is harmless
	case v == verdictFailed:
		return decodeFailure(out)
	}
	return nil
}

func (n *Node) serveChange(ctx context.Context, payload []byte) ([]byte, error) {
	var request changeRequest
	if err := json.Unmarshal(payload, &request); err != nil {
		return nil, fact.Errorf(fact.SchemaInvalid, "a change cannot be read: %s", err)
	}
	if n.raft.State() != raft.Leader {
		return nil, errNotLeader
	}
	return nil, n.changeHere(ctx, request)
}

// changeHere does on the leader what was asked for, one change at a time.
func (n *Node) changeHere(ctx context.Context, request changeRequest) error {
	select {
	case n.changing <- struct{}{}:
		defer func() { <-n.changing }()
	case <-ctx.Done():
		return fact.Errorf(fact.Timeout, "another change of the membership takes too long")
	}
	member, known := n.member(request.ID)
	if !known && (request.ID != "" || request.Do != doTransfer) {
		return fact.Errorf(fact.NotFound, "there is no member %q", request.ID)
	}
	switch request.Do {
	case doPromote:
		return n.promote(ctx, member)
	case doDemote:
		return n.demote(ctx, member)
	case doTransfer:
		return n.transferTo(ctx, member)
	}
	return fact.Errorf(fact.SchemaInvalid, "peers of this version cannot %q", request.Do)
}

func (n *Node) member(id string) (raft.Server, bool) {
	for _, s := range n.servers() {
		if string(s.ID) == id {
			return s, true
		}
	}
	return raft.Server{}, false
}

// promote gives a member that has caught up its vote.
func (n *Node) promote(ctx context.Context, member raft.Server) error {
	if err := n.tellRole(ctx, member, false); err != nil {
		return err
	}
	if member.Suffrage == raft.Voter {
		return nil
	}
	goal := n.machine.Position().Index
	for wait := time.Duration(0); ; wait += joinPause {
		status, err := n.askStatus(ctx, string(member.Address))
		switch {
		case err == nil && status.Applied >= goal:
			return n.change(n.raft.AddVoter(member.ID, member.Address, 0, changeLimit))
		case wait > changeLimit || ctx.Err() != nil:
			return fact.Errorf(fact.Conflict, "%s is %d entries behind: it gets its vote when it has caught up", member.ID, goal-min(goal, status.Applied))
		}
		pause(ctx, joinPause)
	}
}

// demote takes a member's vote. The member is told first, or it would ask for it
// again at its next start.
func (n *Node) demote(ctx context.Context, member raft.Server) error {
	if string(member.ID) == n.options.NodeID {
		return fact.Errorf(fact.Conflict, "%s leads: hand the leadership over first", member.ID)
	}
	if err := n.keepsMajority(ctx, member, "taking the vote of"); err != nil {
		return err
	}
	if err := n.tellRole(ctx, member, true); err != nil {
		return err
	}
	if member.Suffrage != raft.Voter {
		return nil
	}
	return n.change(n.raft.DemoteVoter(member.ID, 0, changeLimit))
}

// keepsMajority refuses a change after which the voters that answer now would be no
// majority: nothing could be written then, nor the change be taken back.
func (n *Node) keepsMajority(ctx context.Context, leaving raft.Server, what string) error {
	if leaving.Suffrage != raft.Voter {
		return nil
	}
	n.askPeers(ctx)
	n.seenMu.Lock()
	defer n.seenMu.Unlock()
	left, answer := 0, 0
	for _, s := range n.servers() {
		if s.Suffrage != raft.Voter || s.ID == leaving.ID {
			continue
		}
		left++
		if _, told := n.seen[string(s.ID)]; told || string(s.ID) == n.options.NodeID {
			answer++
		}
	}
	switch {
	case left == 0:
		return fact.Errorf(fact.Conflict, "%s is the only voter and cannot be removed", leaving.ID)
	case 2*answer <= left:
		return fact.Errorf(fact.Conflict, "%s %s would leave %d voters, of which %d answer: that is no majority, and nothing could be written; bring the others back first",
			what, leaving.ID, left, answer)
	}
	return nil
}

// roleRequest tells a member that an operator took its vote, or gives it back.
type roleRequest struct {
	Reader bool `json:"reader"`
}

// tellRole has a member keep whether it may ask for a vote.
func (n *Node) tellRole(ctx context.Context, member raft.Server, reader bool) error {
	if string(member.ID) == n.options.NodeID {
		return n.setReader(reader)
	}
	payload, err := json.Marshal(roleRequest{Reader: reader})
	if err != nil {
		return err
	}
	// The connection may just have broken, with the last change of the leader.
	until := time.Now().Add(roleLimit)
	for {
		asked, cancel := context.WithTimeout(ctx, roleLimit)
		v, out, err := n.calls.call(asked, string(member.Address), streamControl, methodRole, payload)
		cancel()
		switch {
		case err == nil && v == verdictFailed:
			return decodeFailure(out)
		case err == nil:
			return nil
		case ctx.Err() != nil || time.Now().After(until):
			return fact.Errorf(fact.Conflict, "%s does not answer: it has to be told itself; a member that is gone for good is removed", member.ID)
		}
		pause(ctx, redialWait)
	}
}

// roleLimit is how long a member may take to keep its role.
const roleLimit = 3 * time.Second

func (n *Node) serveRole(payload []byte) ([]byte, error) {
	var request roleRequest
	if err := json.Unmarshal(payload, &request); err != nil {
		return nil, fact.Errorf(fact.SchemaInvalid, "a role cannot be read: %s", err)
	}
	return nil, n.setReader(request.Reader)
}

// setReader keeps on disk whether this node asks for a vote.
func (n *Node) setReader(reader bool) error {
	cluster := n.cluster()
	if cluster == nil {
		return fact.Errorf(fact.Conflict, "this node has still to join its cluster")
	}
	if n.reader.Swap(reader) == reader {
		return nil
	}
	return saveIdentity(n.options.Dir, identity{node: n.options.NodeID, cluster: *cluster, stage: stageMember, reader: reader})
}
