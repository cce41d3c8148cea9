package main

import (
	"abagraph/internal/outbound"
)

// openGuard makes the guard of every outbound call.
func (n *node) openGuard(s settings) (*outbound.Guard, error) {
	return outbound.New(outbound.Options{Allow: commaList(s.get("outbound_allow")), Own: func() []string { return n.ports(s) }})
}

// ports lists the addresses that the nodes of the cluster are known to listen on.
func (n *node) ports(s settings) []string {
	list := []string{s.get("bind")}
	if n.server != nil {
		if at := n.server.Addr(); at != nil {
			list = append(list, at.String())
		}
	}
	if n.raft == nil {
		return list
	}
	list = append(list, n.raft.PeerAddress())
	for _, p := range n.raft.Status().Peers {
		list = append(list, p.Address)
	}
	return list
}

// opensHosts judges a list of hosts that may be called.
func opensHosts(value string) error {
	_, err := outbound.New(outbound.Options{Allow: commaList(value)})
	return err
}
