// Package golden keeps a data directory of every format that was ever released,
// small and packed, with what it must answer: each build opens all of them.
//
// A directory is made once, by `make golden`, when a format is released, and never
// changed afterwards; `internal/golden/testdata` holds NAME.tar.gz beside NAME.json.gz.
package golden
