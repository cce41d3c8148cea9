package main

import (
	"fmt"

	"abagraph/memory/mask"
	"abagraph/replication"
)

// areRegions checks pii_regions: a misspelt one stops the start, rather than
// leaving its numbers unseen.
func areRegions(value string) error {
	_, err := mask.ParseRegions(value)
	return err
}

// maskMode reads pii, which was checked.
func (s settings) maskMode() mask.Mode {
	if s.get("pii") == "off" {
		return mask.Off
	}
	mode, _ := mask.ParseMode(s.get("pii"))
	return mode
}

// alike are the settings that must be the same on every node, since the one that takes
// a request masks it.
func (s settings) alike() []replication.Alike {
	const why = "one value would be masked in two ways"
	return []replication.Alike{
		{Name: "ABAGRAPH_PII_KEY", Mark: mask.Fingerprint(s.get("pii_key")), Why: "one person would have two hashes", Bars: true},
		{Name: "ABAGRAPH_PII", Mark: fmt.Sprint(s.maskMode()), Why: why},
		{Name: "ABAGRAPH_PII_REGIONS", Mark: fmt.Sprint(s.maskRegions()), Why: why},
	}
}

// maskRegions reads pii_regions, which was checked.
func (s settings) maskRegions() mask.Regions {
	set, _ := mask.ParseRegions(s.get("pii_regions"))
	return set
}
