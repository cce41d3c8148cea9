// Package journal is a small file in front of the log: what was appended is on the disk
// after one sync, where a commit of the log's own file takes two and writes a page of
// each level of its tree.
//
// The file has a fixed size and is written in place, so that a sync never has to write
// what the file system knows of it. It has two segments, which are used in turn: while
// one is filled, its user moves what the other holds to where it stays. Every sector of
// 512 bytes carries a checksum and its place, and no sector that holds a record is
// given other content before its segment is free. So whoever reads can tell what was never
// finished, which is left out, from what has changed since, which is *Damage.
//
// It knows nothing of Raft, keeps no records in memory and starts no goroutine.
package journal
