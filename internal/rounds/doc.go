// Package rounds is what a node does again and again while it leads: one goroutine that
// begins a round each so often, and that whoever started it stops.
package rounds
