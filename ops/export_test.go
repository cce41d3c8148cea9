package ops

import "time"

// SetRename has a restore move its parts by another function.
func (r *Restore) SetRename(rename func(from, to string) error) { r.rename = rename }

// Findings are what is told of a cluster, with what mends it.
var Findings = findings

// SetStall has a store be given up after another time.
func (o *BucketOptions) SetStall(d time.Duration) { o.stall = d }
