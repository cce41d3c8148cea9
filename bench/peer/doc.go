// Package peer runs what abagraph is measured beside: etcd 3.4 as Debian ships
// it, etcd 3.7 as its server module, and SQLite in this process. Each is set up
// as its own documents advise, durable in every write.
//
// A peer keeps its data in a folder of its own and listens on loopback only.
package peer
