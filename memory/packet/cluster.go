package packet

import (
	"slices"
	"strings"
	"unicode"

	"abagraph/fact"

	"golang.org/x/text/unicode/norm"
)

// cluster drops the texts that say nearly the same as a better-ranked one of the
// same subject and predicate: whose words, counted, have a cosine of at least the
// threshold. Entity references and values that are no texts never merge, nor do
// texts with another number or code in them: QX1603 is not QX1605.
func cluster(ranked []claim, q *Request) (kept []claim, collapsed int, err error) {
	bags := make(map[topic][]*bag)
	for i := range ranked {
		c := &ranked[i]
		words, err := bagOf(c, q)
		if err != nil {
			return nil, 0, err
		}
		if words == nil {
			kept = append(kept, *c)
			continue
		}
		t := topic{c.Fact.Tenant, c.Fact.Subject, c.Fact.Predicate}
		if slices.ContainsFunc(bags[t], func(b *bag) bool { return b.near(words, q.Cluster) }) {
			collapsed++
			continue
		}
		bags[t] = append(bags[t], words)
		kept = append(kept, *c)
	}
	return kept, collapsed, nil
}

// bag is the words of a text with how often each occurs, in their order.
type bag struct {
	words  []string
	counts []float64
	codes  string  // the words that hold a digit, joined
	square float64 // the sum of the squared counts
}

func bagOf(c *claim, q *Request) (*bag, error) {
	if c.Fact.Object.Kind != fact.Text {
		return nil, nil
	}
	if target, err := q.Target(c.Fact); err != nil || target != "" {
		return nil, err
	}
	text, _ := cut(c.Fact.Object.Text, MaxValueBytes)
	list := strings.FieldsFunc(strings.ToLower(norm.NFKC.String(text)), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
	if len(list) == 0 {
		return nil, nil
	}
	slices.Sort(list)
	b := &bag{}
	for _, word := range list {
		if n := len(b.words); n > 0 && b.words[n-1] == word {
			b.counts[n-1]++
			continue
		}
		b.words, b.counts = append(b.words, word), append(b.counts, 1)
	}
	for i, word := range b.words {
		b.square += float64(b.counts[i] * b.counts[i])
		if strings.ContainsFunc(word, unicode.IsNumber) {
			b.codes += word + " "
		}
	}
	return b, nil
}

// near reports whether two bags have a cosine of at least the threshold. All
// sums are whole numbers, so that they are exact.
func (b *bag) near(other *bag, threshold float64) bool {
	if b.codes != other.codes {
		return false
	}
	dot := 0.0
	for i, j := 0, 0; i < len(b.words) && j < len(other.words); {
		switch {
		case b.words[i] < other.words[j]:
			i++
		case b.words[i] > other.words[j]:
			j++
		default:
			dot += float64(b.counts[i] * other.counts[j])
			i, j = i+1, j+1
		}
	}
	squares := float64(b.square * other.square)
	return float64(dot*dot) >= float64(float64(threshold*threshold)*squares)
}
