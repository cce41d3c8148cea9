// Package node runs the server that is measured: the real program in child
// processes on loopback, one node or three, set up by environment variables as
// an operator would. It asks over REST only, and reads /metrics.
package node
