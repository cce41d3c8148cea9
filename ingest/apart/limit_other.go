//go:build !linux

package apart

// limit has nothing to set here: watch alone bounds the process.
func limit() {}
