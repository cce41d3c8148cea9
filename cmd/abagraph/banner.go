package main

import (
	"fmt"

	"abagraph/replication"
)

// banner tells a person where the node is and what to do first.
func (a *app) banner(s settings, n *node, waiting error) error {
	url := "http://" + n.server.Addr().String()
	data := "in memory only: gone when the node ends"
	if n.dir != nil {
		data = n.dir.Path()
	}
	auth, header := "off, because no key is set: whoever reaches this port is administrator, and sees the tenant default unless it names another", ""
	if s.get("admin_key") != "" {
		auth, header = "on", ` -H "Authorization: Bearer $ABAGRAPH_ADMIN_KEY"`
	}
	_, err := fmt.Fprintf(a.out, `abagraph %s
  listening  %s
  data       %s
  node       %s
  auth       %s
  try        curl -s%s %s/api/facts -H 'Content-Type: application/json' -d '{"subject":"Person:alice","predicate":"works_at","object":"Company:acme"}'
`, version, url, data, nodeLine(n, s.get("join") != "", waiting), auth, header, url)
	return err
}

// nodeLine tells the node's name and its place in a cluster.
func nodeLine(n *node, joins bool, waiting error) string {
	status := n.raft.Status()
	line := status.ID + place(&status, joins)
	if peers := n.raft.PeerAddress(); peers != "" {
		line += ", for other nodes at " + peers
	}
	switch {
	case waiting == nil:
		return line
	case status.Problem != "":
		return line + "; not ready yet: " + status.Problem
	}
	return line + "; not ready yet: it waits for a leader"
}

// place tells what a node is in its cluster. One that has just joined knows the
// others only once the log has come.
func place(s *replication.Status, joins bool) string {
	switch {
	case s.State == "Joining":
		return ", joining a cluster"
	case len(s.Peers) > 1:
		return fmt.Sprintf(", one of %d", len(s.Peers))
	case joins && s.State == "Leader":
		return ", alone in a cluster of its own: join is passed over, for its data are a member's already"
	case joins:
		return ", of the cluster that it has joined"
	}
	return ", alone"
}
