package search

import (
	"slices"
)

// postings are the documents that have a term, in their order, each with how
// often it has it.
type postings struct {
	ords     []uint32
	counts   []uint8
	windowed bool
	// blocks tell of each window what its best document could score at most. Short
	// lists have none.
	blocks []block
}

// block is the part of a list that lies in one window.
type block struct {
	window uint32
	start  uint32 // where it begins in the list
	least  uint32 // the shortest document
	most   uint8  // the highest count
}

// shortList is the length up to which a list has no blocks.
const shortList = 256

// add appends a document.
func (p *postings) add(ord uint32, count uint8, length uint32) {
	p.ords = append(p.ords, ord)
	if !p.windowed {
		return
	}
	p.counts = append(p.counts, count)
	if len(p.ords) > shortList && p.blocks != nil {
		p.extend(len(p.ords)-1, length)
	}
}

// extend takes the document at a place into its window's block.
func (p *postings) extend(at int, length uint32) {
	window := p.ords[at] >> windowBits
	if last := len(p.blocks) - 1; last >= 0 && p.blocks[last].window == window {
		b := &p.blocks[last]
		b.least, b.most = min(b.least, length), max(b.most, p.counts[at])
		return
	}
	p.blocks = append(p.blocks, block{window: window, start: uint32(at), least: length, most: p.counts[at]})
}

// divide makes the blocks of a list that has grown long.
func (p *postings) divide(lengths []uint32) {
	if p.blocks != nil || !p.windowed || len(p.ords) <= shortList {
		return
	}
	p.blocks = make([]block, 0, 4)
	for at, ord := range p.ords {
		p.extend(at, lengths[ord])
	}
}

// below is how many documents of the list come before an ordinal.
func (p *postings) below(ord uint32) int {
	n, _ := slices.BinarySearch(p.ords, ord)
	return n
}

// count is how often a document has the term.
func (p *postings) count(ord uint32) uint8 {
	at, ok := slices.BinarySearch(p.ords, ord)
	if !ok {
		return 0
	}
	return p.counts[at]
}

// keep drops the documents that are gone and gives the others their new numbers.
// It tells whether any is left.
func (p *postings) keep(renumbered []uint32) bool {
	n := 0
	for at, ord := range p.ords {
		if to := renumbered[ord]; to != gone {
			p.ords[n] = to
			if p.windowed {
				p.counts[n] = p.counts[at]
			}
			n++
		}
	}
	p.ords, p.blocks = p.ords[:n], nil
	if p.windowed {
		p.counts = p.counts[:n]
	}
	return n > 0
}

// gone stands for the new number of a document that was removed.
const gone = ^uint32(0)
