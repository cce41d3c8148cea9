// Command bench measures abagraph beside what it stands next to: etcd 3.4 and
// 3.7, and SQLite. It starts all of them on loopback, loads them in turns,
// prints tables with the ratios, and writes docs/benchmarks.md.
//
// It is a module of its own, so that the peers never become dependencies of the
// server, and it reaches the server only as a client does. `make bench` runs
// it; `make bench-quick` shows in a minute or two that it works.
package main
