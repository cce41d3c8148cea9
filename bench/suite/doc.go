// Package suite is what `make bench` measures: which workloads, beside which
// peers, and which goals they are held to. Everything that takes part in a
// contest runs at the same time and is loaded in turns, so that whatever else
// the machine does meets all of them.
package suite
