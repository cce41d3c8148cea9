package main

import "abagraph/memory/mask"

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

// maskRegions reads pii_regions, which was checked.
func (s settings) maskRegions() mask.Regions {
	set, _ := mask.ParseRegions(s.get("pii_regions"))
	return set
}
