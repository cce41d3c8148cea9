package main

import "testing"

// A heap of any size is left room to grow by at least itself, so that it is never
// collected without end, and a small one by four times that.
func TestTheHeapAlwaysHasRoomToGrow(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 400, 1 << 20: 400, 200 << 20: 400, 256 << 20: 300, 512 << 20: 100, 1 << 30: 100, 16 << 30: 100,
	} {
		if got := growth(live); got != want {
			t.Errorf("of %d bytes that live: %d percent, not %d", live, got, want)
		}
	}
}
