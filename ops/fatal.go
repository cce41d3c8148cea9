package ops

import "os"

// Fatal is told in one line why a store cannot go on, mostly since its disk is full,
// and ends the process: Pebble writes in goroutines of its own, which cannot return an
// error. nil = a panic.
type Fatal func(line string)

// leaving is a Fatal that removes a temporary directory first: it holds facts.
func (f Fatal) leaving(temp string) Fatal {
	if f == nil {
		return nil
	}
	return func(line string) {
		_ = os.RemoveAll(temp) // the line says what matters
		f(line)
	}
}
