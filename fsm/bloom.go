package fsm

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// addBloomFilters lets a look-up of a subject, an id or a key's hash that is
// not there end without reading a block.
func addBloomFilters(o *pebble.Options) {
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].FilterType = pebble.TableFilter
	}
}
