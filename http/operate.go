package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// oneCluster is why the operator's routes name no tenant.
const oneCluster = "is not known here: this is about the nodes, not about a tenant"

// operator refuses everyone but the operator, and parameters that mean nothing here.
func (c *call) operator() error {
	if err := c.caller.RequireOperator(); err != nil {
		return err
	}
	if _, given := c.query.text("tenant"); given {
		return fact.Invalid("tenant", oneCluster)
	}
	return c.query.done()
}

// nodes is GET /api/admin/nodes: every member as an operator sees it.
func (s *Server) nodes(c *call) error {
	if err := c.operator(); err != nil {
		return err
	}
	all, err := s.config.Memory.Nodes(c.r.Context(), c.caller)
	if err != nil {
		return err
	}
	c.stand()
	c.trace.Name("nodes", "ask every member")
	b := jsonx.AppendString(append(c.begin(), `{"node_id":`...), all.NodeID)
	b = jsonx.AppendString(append(b, `,"cluster_id":`...), all.ClusterID)
	b = appendKnown(append(b, `,"leader_id":`...), all.LeaderID)
	b = appendCount(b, "term", all.Term)
	b = appendCount(b, "commit_index", all.CommitIndex)
	b = appendKnown(append(b, `,"problem":`...), all.Problem)
	b = append(b, `,"members":[`...)
	for i := range all.Members {
		b = appendNode(comma(b, i), &all.Members[i])
	}
	return c.finish(http.StatusOK, append(b, ']', '}'))
}

// appendKnown appends a text, or null where it is not known.
func appendKnown(b []byte, text string) []byte {
	if text == "" {
		return append(b, "null"...)
	}
	return jsonx.AppendString(b, text)
}

func appendNode(b []byte, n *memory.NodeReport) []byte {
	b = jsonx.AppendString(append(b, `{"id":`...), n.ID)
	b = appendKnown(append(b, `,"address":`...), n.Address)
	b = strconv.AppendBool(append(b, `,"voter":`...), n.Voter)
	b = strconv.AppendBool(append(b, `,"reader":`...), n.Reader)
	b = strconv.AppendBool(append(b, `,"leader":`...), n.Leader)
	b = strconv.AppendBool(append(b, `,"answers":`...), n.Answers)
	for _, figure := range [...]struct {
		name string
		n    uint64
	}{{"term", n.Term}, {"applied_index", n.AppliedIndex}, {"lag", n.Lag}, {"tx", n.Tx}, {"snapshot_index", n.SnapshotIndex}, {"log_bytes", n.LogBytes},
		{"data_bytes", n.DataBytes}, {"free_bytes", n.FreeBytes}, {"disk_bytes", n.DiskBytes}} {
		if n.Answers {
			b = appendCount(b, figure.name, figure.n)
		} else {
			b = append(append(append(b, `,"`...), figure.name...), `":null`...)
		}
	}
	b = appendKnown(append(b, `,"epoch":`...), n.Epoch)
	b = appendKnown(append(b, `,"digest":`...), n.Digest)
	b = appendKnown(append(b, `,"problem":`...), n.Problem)
	return append(b, '}')
}

// snapshot is POST /api/admin/snapshot.
func (s *Server) snapshot(c *call) error {
	if err := c.operator(); err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	index, err := s.config.Memory.Snapshot(c.r.Context(), c.caller)
	if err != nil {
		return err
	}
	c.stand()
	c.trace.Name("snapshot", "flush, checkpoint, trim the log")
	b := strconv.AppendUint(append(c.begin(), `{"ok":true,"snapshot_index":`...), index, 10)
	return c.finish(http.StatusOK, append(b, '}'))
}

// removePeer is DELETE /api/admin/peers/:id.
func (s *Server) removePeer(c *call) error {
	if err := c.operator(); err != nil {
		return err
	}
	if err := c.noBody(); err != nil {
		return err
	}
	id := c.param("id")
	if err := s.config.Memory.RemoveMember(c.r.Context(), c.caller, id); err != nil {
		return err
	}
	c.trace.Name("remove_peer", "change the membership")
	s.config.Logger.Info("abagraph.admin.peer", "node", id, "change", "removed")
	return c.done(id)
}

// changePeer is POST /api/admin/peers/:id with {"voter": true or false}.
func (s *Server) changePeer(c *call) error {
	if err := c.operator(); err != nil {
		return err
	}
	id := c.param("id")
	body, err := c.readJSON()
	if err != nil {
		return err
	}
	f := jsonx.Open(body, "")
	if _, given := f.Get("voter"); !given {
		f.Fail(fact.Invalid("voter", "is required: true or false"))
	}
	voter := f.Flag("voter")
	if err := f.Done(); err != nil {
		return err
	}
	if err := s.config.Memory.SetVoter(c.r.Context(), c.caller, id, voter); err != nil {
		return err
	}
	c.trace.Name("change_peer", "change the membership")
	s.config.Logger.Info("abagraph.admin.peer", "node", id, "change", voterWord(voter))
	return c.done(id)
}

func voterWord(voter bool) string {
	if voter {
		return "promoted"
	}
	return "demoted"
}

// transfer is POST /api/admin/transfer, with {"to": "…"} or without a body.
func (s *Server) transfer(c *call) error {
	if err := c.operator(); err != nil {
		return err
	}
	to := ""
	if c.r.ContentLength != 0 {
		body, err := c.readJSON()
		if err != nil {
			return err
		}
		f := jsonx.Open(body, "")
		to, _ = f.Text("to")
		if err := f.Done(); err != nil {
			return err
		}
	}
	if err := s.config.Memory.Transfer(c.r.Context(), c.caller, to); err != nil {
		return err
	}
	c.trace.Name("transfer", "hand the leadership over")
	all, _ := s.config.Memory.Cluster()
	return c.done(all.LeaderID)
}

// done answers a change that was made, with the member that it was about.
func (c *call) done(id string) error {
	c.stand()
	b := appendKnown(append(c.begin(), `{"ok":true,"node_id":`...), id)
	return c.finish(http.StatusOK, append(b, '}'))
}
