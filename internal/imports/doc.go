// Package imports reads files of facts and writes them through transact: JSON
// Lines, CSV with a header, N-Triples and N-Quads.
//
// An import is planned and then run. The plan reads the file once, remembers
// for each row where it lies and when it was known (not the row itself: about
// 80 bytes a row, at most MaxRows of them), sorts by known time with
// retractions first, and cuts batches by content alone, so that the same file
// gives the same batches. The run reads the rows again, batch by batch, keeps
// a few batches in flight where none touches what another does, and sends each
// under an Idempotency-Key made from the file's content and the batch's place.
// A state file remembers what was answered, so that an interrupted import goes
// on and writes nothing twice.
//
// The server judges rows; this package refuses only what it cannot read. A
// batch that the server refuses is halved until the rows at fault stand alone.
//
// It prints nothing and reads no environment: the command line does that.
package imports
