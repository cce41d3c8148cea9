package replication

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"abagraph/fact"

	"github.com/hashicorp/raft"
)

// joinRequest asks the leader for a change of this node's own membership.
type joinRequest struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	// Fresh: the node has no data. A member of that name is removed first and
	// then added without a vote, because its votes and entries are lost.
	Fresh bool `json:"fresh,omitempty"`
	// Promote: the node has caught up and asks for its vote.
	Promote bool `json:"promote,omitempty"`
	// Passed: another member passes the request on; it is not passed further.
	Passed bool `json:"passed,omitempty"`
}

type joinAnswer struct {
	Cluster clusterID `json:"cluster"`
}

type removeRequest struct {
	ID string `json:"id"`
}

const (
	joinPause = 500 * time.Millisecond
	// changeLimit bounds one change of the membership.
	changeLimit = 10 * time.Second
)

// joinCluster asks the members that Options.Join names, again and again, until
// one has had this node added. Until then nobody may speak Raft with it (port).
func (n *Node) joinCluster(ctx context.Context) {
	request := joinRequest{ID: n.options.NodeID, Address: n.port.advertise, Fresh: true}
	n.problem.Store(&problem{what: "the node has not joined the cluster yet: it is asking " + n.options.Join})
	for ctx.Err() == nil {
		for _, target := range n.options.joinTargets() {
			answer, err := n.askToJoin(ctx, target, streamGuest, request)
			if err == nil {
				err = n.becomeMember(answer.Cluster)
			}
			if err == nil {
				n.logger.Info("abagraph.cluster.joined", "node", n.options.NodeID, "through", target)
				n.problem.Store(nil)
				n.settle(ctx)
				return
			}
			n.problem.Store(&problem{what: fmt.Sprintf("joining through %s: %v", target, err)})
			n.logger.Warn("abagraph.cluster.join_error", "through", target, "error", err)
		}
		pause(ctx, joinPause)
	}
}

// claimed looks at a node of another cluster that counts on this one, by its
// address. An empty node stops then: most likely it was a member, has lost its
// data, and was started without Options.Join, so that it founded a cluster of its
// own. One that holds data says so and goes on.
func (n *Node) claimed(by string) {
	what := fmt.Sprintf("the node %s counts on this one as a member of another cluster", by)
	if n.machine.Position().Tx == 0 {
		n.fail(errors.New(what + "; this one was started with an empty data directory and founded a cluster of its own: empty it again and start it with --join"))
		return
	}
	if p := n.problem.Load(); p == nil || p.what != what {
		n.logger.Warn("abagraph.cluster.claimed", "by", by)
	}
	n.problem.Store(&problem{what: what, by: by, at: time.Now()})
}

// claimKept is how long a claim is told after it was made last.
const claimKept = time.Minute

// forgetClaim ends the telling of a claim that is made no more, or whose maker has
// become a member of this cluster.
func (n *Node) forgetClaim(seen map[string]peerStatus) {
	now := n.problem.Load()
	if now == nil || now.by == "" {
		return
	}
	if _, member := seen[now.by]; member || time.Since(now.at) > claimKept {
		n.problem.CompareAndSwap(now, nil)
	}
}

// becomeMember keeps the cluster's id, and with it opens the door to its Raft.
func (n *Node) becomeMember(cluster clusterID) error {
	if err := saveIdentity(n.options.Dir, identity{node: n.options.NodeID, cluster: cluster, stage: stageMember, reader: n.reader.Load()}); err != nil {
		return err
	}
	n.port.cluster.Store(&cluster)
	return nil
}

func (n *Node) askToJoin(ctx context.Context, address string, kind stream, request joinRequest) (joinAnswer, error) {
	var answer joinAnswer
	payload, err := json.Marshal(request)
	if err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, changeLimit+n.options.LeaderWait)
	defer cancel()
	v, out, err := n.calls.call(ctx, address, kind, methodJoin, payload)
	switch {
	case err != nil:
		return answer, err
	case v == verdictElsewhere:
		return answer, n.noLeader()
	case v == verdictFailed:
		return answer, decodeFailure(out)
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return answer, fmt.Errorf("read the answer to a join: %w", err)
	}
	return answer, nil
}

// settle goes on until this node is a voter at its present address: it announces
// a changed address, and asks for its vote once it has caught up. What it knows of
// itself may be from the log of a time before it lost its data and was added
// again, so that the leader has to say that it is a voter.
func (n *Node) settle(ctx context.Context) {
	if n.port == nil {
		return
	}
	for ctx.Err() == nil {
		if self, known := n.self(); known {
			err := n.improve(ctx, self)
			if err == nil && (self.Suffrage == raft.Voter || n.reader.Load()) && string(self.Address) == n.port.advertise {
				return
			}
			if err != nil {
				n.logger.Debug("abagraph.cluster.unsettled", "error", err)
			}
		}
		pause(ctx, joinPause/5)
	}
}

func (n *Node) improve(ctx context.Context, self raft.Server) error {
	request := joinRequest{ID: n.options.NodeID, Address: n.port.advertise}
	if string(self.Address) == n.port.advertise {
		if n.reader.Load() {
			return nil
		}
		caught, cancel := context.WithTimeout(ctx, changeLimit)
		defer cancel()
		if _, err := n.readPoint(caught); err != nil {
			return err
		}
		request.Promote = true
	}
	if n.raft.State() == raft.Leader {
		return n.changeOwn(ctx, request)
	}
	var err error = errNotLeader
	for _, s := range n.servers() {
		if string(s.ID) == n.options.NodeID {
			continue
		}
		if _, err = n.askToJoin(ctx, string(s.Address), streamControl, request); err == nil {
			return nil
		}
	}
	return err
}

func (n *Node) changeOwn(ctx context.Context, request joinRequest) error {
	_, err := n.admit(ctx, request)
	return err
}

// fixOwnAddress lets a leader correct its own address, which it needs nobody for.
func (n *Node) fixOwnAddress(ctx context.Context) {
	self, known := n.self()
	if n.port == nil || !known || string(self.Address) == n.port.advertise {
		return
	}
	if err := n.changeOwn(ctx, joinRequest{ID: n.options.NodeID, Address: n.port.advertise}); err != nil {
		n.logger.Warn("abagraph.cluster.address_error", "error", err)
	}
}

func (n *Node) self() (raft.Server, bool) {
	for _, s := range n.servers() {
		if string(s.ID) == n.options.NodeID {
			return s, true
		}
	}
	return raft.Server{}, false
}

// serveJoin answers a join, or passes it on to the leader.
func (n *Node) serveJoin(ctx context.Context, payload []byte) ([]byte, error) {
	var request joinRequest
	if err := json.Unmarshal(payload, &request); err != nil {
		return nil, fact.Errorf(fact.SchemaInvalid, "a join cannot be read: %s", err)
	}
	if err := n.serving(); err != nil {
		return nil, err
	}
	if !validNodeID(request.ID) {
		return nil, fact.Errorf(fact.SchemaInvalid, "the node id %q is not one", request.ID)
	}
	answer, err := n.admitAnywhere(ctx, request)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

func (n *Node) admitAnywhere(ctx context.Context, request joinRequest) (joinAnswer, error) {
	patience := n.newPatience()
	for {
		if n.raft.State() == raft.Leader {
			return n.admit(ctx, request)
		}
		if address, ok := n.leaderAddress(); ok && !request.Passed {
			request.Passed = true
			return n.askToJoin(ctx, address, streamControl, request)
		}
		if err := patience.wait(ctx, false); err != nil {
			return joinAnswer{}, err
		}
	}
}

// admit performs a join on the leader, one change at a time.
func (n *Node) admit(ctx context.Context, request joinRequest) (joinAnswer, error) {
	cluster := n.port.cluster.Load()
	if cluster == nil {
		return joinAnswer{}, errNotLeader
	}
	select {
	case n.changing <- struct{}{}:
		defer func() { <-n.changing }()
	case <-ctx.Done():
		return joinAnswer{}, fact.Errorf(fact.Timeout, "another change of the membership takes too long")
	}
	member, err := n.checkJoin(ctx, request)
	if err != nil {
		return joinAnswer{}, err
	}
	id, address := raft.ServerID(request.ID), raft.ServerAddress(request.Address)
	switch {
	case request.Promote && member.Suffrage == raft.Voter && member.Address == address:
		return joinAnswer{Cluster: *cluster}, nil // it has its vote already
	case request.Promote && !n.wantsVote(ctx, *member):
		return joinAnswer{}, fact.Errorf(fact.Conflict, "an operator has taken the vote of %s; it is given back by a promotion only", request.ID)
	case request.Fresh:
		if member != nil {
			n.logger.Warn("abagraph.cluster.member_came_back_empty", "node", request.ID)
			if err := n.change(n.raft.RemoveServer(id, 0, changeLimit)); err != nil {
				return joinAnswer{}, err
			}
		}
		err = n.change(n.raft.AddNonvoter(id, address, 0, changeLimit))
	case request.Promote || member.Suffrage == raft.Voter:
		err = n.change(n.raft.AddVoter(id, address, 0, changeLimit))
	default:
		err = n.change(n.raft.AddNonvoter(id, address, 0, changeLimit))
	}
	if err != nil {
		return joinAnswer{}, err
	}
	n.logger.Info("abagraph.cluster.membership", "node", request.ID, "address", request.Address, "voter", request.Promote)
	return joinAnswer{Cluster: *cluster}, nil
}

// wantsVote asks a member whether it still wants the vote that it has asked for:
// the question may have been under way while an operator took the vote.
func (n *Node) wantsVote(ctx context.Context, member raft.Server) bool {
	if string(member.ID) == n.options.NodeID {
		return !n.reader.Load()
	}
	status, err := n.askStatus(ctx, string(member.Address))
	return err == nil && !status.Reader
}

// checkJoin refuses what would harm a running member, and returns the present
// member of that name.
func (n *Node) checkJoin(ctx context.Context, request joinRequest) (*raft.Server, error) {
	var member *raft.Server
	for _, s := range n.servers() {
		switch {
		case string(s.ID) == request.ID:
			member = &s
		case string(s.Address) == request.Address:
			return nil, fact.Errorf(fact.Conflict, "the address %s belongs to the member %s; remove that one first", request.Address, s.ID)
		}
	}
	if member == nil && !request.Fresh {
		return nil, fact.Errorf(fact.NotFound, "the node %s is not a member of this cluster; it was removed, and joins again only with an empty data directory", request.ID)
	}
	if member == nil || !request.Fresh {
		return member, nil
	}
	if request.ID == n.options.NodeID || (string(member.Address) != request.Address && n.answersAs(ctx, *member)) {
		return nil, fact.Errorf(fact.Conflict, "the node id %s is in use by a running member at %s", request.ID, member.Address)
	}
	return member, nil
}

// answersAs reports whether the member itself answers at its address.
func (n *Node) answersAs(ctx context.Context, member raft.Server) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	v, _, err := n.calls.call(ctx, string(member.Address), streamControl, methodConfirm, []byte(member.ID))
	return err == nil && v == verdictDone
}

// change waits for a change of the membership and sorts its error.
func (n *Node) change(future raft.IndexFuture) error {
	err := n.settled(future)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrLeadershipLost),
		errors.Is(err, raft.ErrLeadershipTransferInProgress), errors.Is(err, raft.ErrEnqueueTimeout):
		return errNotLeader
	}
	return fact.Errorf(fact.Io, "change the membership: %s", err)
}

// Remove takes a node out of the cluster; asked on any node. A leader that is
// removed hands over first. The error is a *fact.Error: NotFound if there is no
// such member, Conflict if it is the last voter, NoLeader, Timeout.
func (n *Node) Remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, n.options.RequestLimit)
	defer cancel()
	patience := n.newPatience()
	for {
		if err := n.serving(); err != nil {
			return err
		}
		err := n.removeOnce(ctx, id)
		var final *fact.Error
		if err == nil || errors.As(err, &final) {
			return err
		}
		if err := patience.wait(ctx, false); err != nil {
			return err
		}
	}
}

func (n *Node) removeOnce(ctx context.Context, id string) error {
	if n.raft.State() == raft.Leader {
		return n.removeHere(ctx, id)
	}
	address, ok := n.leaderAddress()
	if !ok {
		return errNotLeader
	}
	payload, err := json.Marshal(removeRequest{ID: id})
	if err != nil {
		return err
	}
	v, out, err := n.calls.call(ctx, address, streamControl, methodRemove, payload)
	switch {
	case err != nil || v == verdictElsewhere:
		return errNotLeader // to remove again is harmless
	case v == verdictFailed:
		return decodeFailure(out)
	}
	return nil
}

func (n *Node) serveRemove(ctx context.Context, payload []byte) ([]byte, error) {
	var request removeRequest
	if err := json.Unmarshal(payload, &request); err != nil {
		return nil, fact.Errorf(fact.SchemaInvalid, "a removal cannot be read: %s", err)
	}
	if n.raft.State() != raft.Leader {
		return nil, errNotLeader
	}
	return nil, n.removeHere(ctx, request.ID)
}

// removeHere removes a member on the leader, one change at a time: what another one
// leaves of the majority must be known first.
func (n *Node) removeHere(ctx context.Context, id string) error {
	select {
	case n.changing <- struct{}{}:
		defer func() { <-n.changing }()
	case <-ctx.Done():
		return fact.Errorf(fact.Timeout, "another change of the membership takes too long")
	}
	member, known := n.member(id)
	if !known {
		return fact.Errorf(fact.NotFound, "there is no member %q", id)
	}
	if err := n.keepsMajority(ctx, member, "removing"); err != nil {
		return err
	}
	if id == n.options.NodeID {
		if err := n.transferTo(ctx, raft.Server{}); err != nil {
			return fmt.Errorf("%w: %s", errNotLeader, err)
		}
		return errNotLeader // the new leader removes this node
	}
	return n.change(n.raft.RemoveServer(raft.ServerID(id), 0, changeLimit))
}

// pause waits, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
