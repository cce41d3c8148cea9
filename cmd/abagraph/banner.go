package main

import (
	"fmt"
)

// banner tells a person where the node is and what to do first.
func (a *app) banner(s settings, n *node, waiting error) error {
	url := "http://" + n.server.Addr().String()
	data := "in memory only: gone when the node ends"
	if n.dir != nil {
		data = n.dir.Path()
	}
	auth, header := "off, because no key is set: whoever reaches this port is administrator", ""
	if s.get("admin_key") != "" {
		auth, header = "on", ` -H "Authorization: Bearer $ABAGRAPH_ADMIN_KEY"`
	}
	_, err := fmt.Fprintf(a.out, `abagraph %s
  listening  %s
  data       %s
  node       %s
  auth       %s
  try        curl -s%s %s/api/facts -H 'Content-Type: application/json' -d '{"subject":"Person:alice","predicate":"works_at","object":"Company:acme"}'
`, version, url, data, nodeLine(n, waiting), auth, header, url)
	return err
}

// nodeLine tells the node's name and its place in a cluster.
func nodeLine(n *node, waiting error) string {
	status := n.raft.Status()
	line := status.ID
	if peers := n.raft.PeerAddress(); peers != "" {
		line += fmt.Sprintf(", one of %d, for other nodes at %s", max(len(status.Peers), 1), peers)
	} else {
		line += ", alone"
	}
	switch {
	case waiting == nil:
		return line
	case status.Problem != "":
		return line + "; not ready yet: " + status.Problem
	}
	return line + "; not ready yet: it waits for a leader"
}
