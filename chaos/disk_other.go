//go:build !linux

package chaos

import "errors"

// Disk is a file system of its own; only Linux has it.
type Disk struct{ at string }

var errNoDisk = errors.New("disks of their own need Linux")

func openDisk(string, int64) (*Disk, error) { return nil, errNoDisk }

// PowerCut needs Linux.
func (d *Disk) PowerCut() error { return errNoDisk }

// PowerBack needs Linux.
func (d *Disk) PowerBack() error { return errNoDisk }

// Free needs Linux.
func (d *Disk) Free() (int64, error) { return 0, errNoDisk }

// Fill needs Linux.
func (d *Disk) Fill(int64) error { return errNoDisk }

// Empty needs Linux.
func (d *Disk) Empty() error { return errNoDisk }

// Slow needs Linux.
func (d *Disk) Slow(int) error { return errNoDisk }

func (d *Disk) user(int) {}

// Close needs Linux.
func (d *Disk) Close() error { return errNoDisk }
