// Package log is the durable log on disk: the Raft log and Raft's few stable
// values, kept with raft-boltdb in one file of the data directory, and a journal
// in front of it that makes an append cheap.
//
// It owns the data directory's lock and layout (Dir), the files raft.db and
// raft.journal (Store), a checksum on every entry, and the figures that metrics
// and the snapshot trigger need: how many StoreLogs calls, entries and bytes there
// were, and how many bytes lie after a given index. A file whose bytes have changed is refused
// by name and index; it is never cut short in silence, because what would be
// cut has been acknowledged to somebody.
//
// It never looks inside an entry's data and knows no state machine. An open Store
// has one goroutine, which moves entries from the journal to raft.db; Close ends
// it. Outside this folder it is imported as rlog, and it exports no name of the
// standard library's package log.
package log
