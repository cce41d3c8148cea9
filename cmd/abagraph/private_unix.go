//go:build unix

package main

import "syscall"

// ownersOnly takes the rights of everybody else from the files that the process makes:
// the store's are made with the system's default, wherever the data directory lies.
func ownersOnly() { syscall.Umask(0o077) }
