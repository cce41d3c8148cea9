package connect

import "sync"

// pullKey names a connector of a tenant.
type pullKey struct{ tenant, name string }

// pulls are those that are under way on this node.
type pulls struct {
	mu      sync.Mutex
	running map[pullKey]bool
}
