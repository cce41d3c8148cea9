package main

import (
	"path/filepath"

	"abagraph/internal/signup"
)

// openSignups opens the list of those who ask for a key, a file beside the data; nil where
// there is to be none.
func openSignups(s settings) (*signup.Book, error) {
	if s.get("signup") == "off" {
		return nil, nil
	}
	path := ""
	if dir := s.get("data"); dir != inMemory {
		path = filepath.Join(dir, "signups.jsonl")
	}
	return signup.Open(path, clock)
}
