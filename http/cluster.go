package http

import (
	"encoding/hex"
	"strconv"

	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// appendCluster appends how this node sees itself and its cluster. The digest
// is that of the state at tx: two nodes that name one tx name one digest.
func appendCluster(b []byte, c *memory.Cluster) []byte {
	b = jsonx.AppendString(append(b, `{"node_id":`...), c.NodeID)
	b = jsonx.AppendString(append(b, `,"state":`...), c.State)
	b = append(b, `,"leader_id":`...)
	if c.LeaderID == "" {
		b = append(b, "null"...)
	} else {
		b = jsonx.AppendString(b, c.LeaderID)
	}
	b = appendCount(b, "term", c.Term)
	b = appendCount(b, "commit_index", c.CommitIndex)
	b = appendCount(b, "applied_index", c.AppliedIndex)
	b = appendCount(b, "tx", c.At.Tx)
	b = append(b, `,"digest":"`...)
	b = hex.AppendEncode(b, c.At.Digest[:])
	b = jsonx.AppendString(append(b, `","epoch":`...), c.At.Epoch)
	b = append(b, `,"members":[`...)
	for i := range c.Members {
		b = appendMember(comma(b, i), &c.Members[i])
	}
	return append(b, ']', '}')
}

func appendMember(b []byte, m *memory.Member) []byte {
	b = jsonx.AppendString(append(b, `{"id":`...), m.ID)
	b = strconv.AppendBool(append(b, `,"voter":`...), m.Voter)
	b = strconv.AppendBool(append(b, `,"leader":`...), m.Leader)
	b = strconv.AppendBool(append(b, `,"reachable":`...), m.Known)
	if !m.Known {
		return append(b, `,"tx":null,"lag":null}`...)
	}
	b = appendCount(b, "tx", m.Tx)
	return append(appendCount(b, "lag", m.Lag), '}')
}

func appendCount(b []byte, name string, n uint64) []byte {
	b = append(append(append(b, `,"`...), name...), `":`...)
	return strconv.AppendUint(b, n, 10)
}
