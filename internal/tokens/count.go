package tokens

import (
	"fmt"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// Count is how many tokens a text is, by each vocabulary.
type Count struct {
	O200k  int
	Cl100k int
}

// Add returns the sum of two counts.
func (c Count) Add(d Count) Count { return Count{c.O200k + d.O200k, c.Cl100k + d.Cl100k} }

// Most returns the larger of the two: what fits by it fits by both.
func (c Count) Most() int { return max(c.O200k, c.Cl100k) }

const (
	// maxPiece is the longest piece, in bytes, whose count is remembered.
	maxPiece = 64
	// maxPieces is how many of them one generation holds; there are two.
	maxPieces = 32 << 10
)

// Counter counts tokens. It is safe for concurrent use. The zero value is ready;
// the vocabularies, of some 12 MB, are laid out with the first count.
type Counter struct {
	once   sync.Once
	codecs [2]tokenizer.Codec
	err    error

	mu         sync.Mutex
	young, old map[string]Count
}

// Count returns how many tokens a text is. Texts that end with a line feed, and
// are followed by a letter or a dash, may be counted apart and added up.
func (c *Counter) Count(text string) (Count, error) {
	c.once.Do(c.load)
	if c.err != nil {
		return Count{}, c.err
	}
	var sum Count
	for text != "" {
		n := piece(text)
		got, err := c.one(text[:n])
		if err != nil {
			return Count{}, err
		}
		sum, text = sum.Add(got), text[n:]
	}
	return sum, nil
}

func (c *Counter) load() {
	for i, name := range [...]tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase} {
		codec, err := tokenizer.Get(name)
		if err != nil {
			c.err = fmt.Errorf("load the vocabulary %s: %w", name, err)
			return
		}
		c.codecs[i] = codec
	}
	c.young = make(map[string]Count)
}

// one counts a piece.
func (c *Counter) one(text string) (Count, error) {
	if len(text) > maxPiece {
		return c.count(text)
	}
	if known, ok := c.known(text); ok {
		return known, nil
	}
	got, err := c.count(text)
	if err == nil {
		c.remember(text, got)
	}
	return got, err
}

func (c *Counter) count(text string) (Count, error) {
	var n [2]int
	for i, codec := range c.codecs {
		var err error
		if n[i], err = codec.Count(text); err != nil {
			return Count{}, fmt.Errorf("count tokens: %w", err)
		}
	}
	return Count{n[0], n[1]}, nil
}

func (c *Counter) known(text string) (Count, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if got, ok := c.young[text]; ok {
		return got, true
	}
	got, ok := c.old[text]
	if ok {
		c.keep(text, got)
	}
	return got, ok
}

func (c *Counter) remember(text string, got Count) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// The key must not hold on to the long text that it is a part of.
	c.keep(string([]byte(text)), got)
}

// keep puts a count among the young. When they are many, they become the old
// ones, and what nobody has asked for since goes.
func (c *Counter) keep(text string, got Count) {
	if len(c.young) >= maxPieces {
		c.old, c.young = c.young, make(map[string]Count, maxPieces)
	}
	c.young[text] = got
}

// piece returns where the first piece of a text ends: before a single space
// between two characters that are none, or behind a line feed before one that is
// neither space nor slash. Neither vocabulary has a token across such a place,
// since both split the text there before they merge bytes.
func piece(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case ' ':
			if solidBefore(text, i) && solidAfter(text, i+1) {
				return i
			}
		case '\n':
			if i+1 < len(text) && text[i+1] != '/' && solidAfter(text, i+1) {
				return i + 1
			}
		}
	}
	return len(text)
}

func solidBefore(text string, at int) bool {
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	return solid(r)
}

func solidAfter(text string, at int) bool {
	if at >= len(text) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text[at:])
	return solid(r)
}

func solid(r rune) bool { return !unicode.IsSpace(r) && r != utf8.RuneError }
