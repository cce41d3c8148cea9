// Package chaos attacks a cluster from the street: it starts real processes of
// the built binary on 127.0.0.1, stands as a network between them that it can
// cut, writes through them, kills them, and judges what they say afterwards.
//
// It owns the processes and everything under the folder it was given, the
// proxies between nodes and in front of them, the disks that nodes may have of
// their own, the ledger of what was written and acknowledged, and the comparison
// of nodes. It speaks the REST API only, knows nothing of Raft or of what the
// store's files mean, and never reaches into the product: what it cannot see from
// outside, an operator could not see either.
//
// The scenarios are tests of this package, and the seeded attacks of package
// scenario below it; README.md lists them.
package chaos
