// Package replication is the Raft node around the state machine: it stamps and
// groups writes, has them committed by a majority, feeds them to the state
// machine, and answers on what basis a read may be made.
//
// A write goes Propose → (follower: forwarded to the leader) → proposer, which
// puts every request that waits into one log entry → raft.Apply → adapter →
// StateMachine.ApplyTelling → the results back to each caller. A read goes Basis →
// leader check, shared by all reads that wait → wait until this node has applied
// what the leader had.
//
// It owns the peer port (one, for Raft streams and calls between nodes, always
// authenticated or on loopback), membership, the snapshots on disk, and the
// loops that only a leader runs. It never looks inside a request or a fact,
// judges nothing, and has no global state: any number of nodes fit into one
// process.
package replication
