package ops

// SetRename has a restore move its parts by another function.
func (r *Restore) SetRename(rename func(from, to string) error) { r.rename = rename }

// Findings are what is told of a cluster, with what mends it.
var Findings = findings
