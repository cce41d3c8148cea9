package mask_test

import (
	"os"
	"strings"
	"testing"

	"abagraph/memory/mask"
)

// marked is a text of the corpus, and what is personal in it.
type marked struct {
	text  string
	spans []mask.Found
}

// corpus reads the marked texts: ⟪kind:value⟫ is personal, all else is not.
func corpus(t *testing.T) []marked {
	t.Helper()
	raw, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []marked
	for _, line := range strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n") {
		if strings.HasPrefix(line, "# ") {
			continue
		}
		m := marked{}
		for {
			before, rest, found := strings.Cut(line, "⟪")
			m.text += before
			if !found {
				break
			}
			inner, after, closed := strings.Cut(rest, "⟫")
			word, value, named := strings.Cut(inner, ":")
			kind, known := kindOf(word)
			if !closed || !named || !known {
				t.Fatalf("a mark of the corpus is malformed: %s", line)
			}
			m.spans = append(m.spans, mask.Found{From: len(m.text), To: len(m.text) + len(value), Kind: kind})
			m.text += value
			line = after
		}
		list = append(list, m)
	}
	return list
}

func kindOf(word string) (mask.Kind, bool) {
	for k := mask.Email; k <= mask.Phone; k++ {
		if k.String() == word {
			return k, true
		}
	}
	return 0, false
}

// score counts by kind: what there is and how much of it is covered, what was found
// and how much of that is right.
type score struct{ there, covered, found, right int }

func (s score) recall() float64    { return float64(s.covered) / float64(s.there) }
func (s score) precision() float64 { return float64(s.right) / float64(s.found) }

// judge adds one text. What is personal is covered if no character of it is left;
// what was found is right if it is that, of whatever kind, with a bracket or a sign
// more at most.
func judge(scores map[mask.Kind]*score, m marked, found []mask.Found) {
	inside := func(a, b mask.Found, slack int) bool { return a.From >= b.From-slack && a.To <= b.To+slack }
	for _, want := range m.spans {
		s := scores[want.Kind]
		s.there++
		for _, f := range found {
			if inside(want, f, 0) {
				s.covered++
				break
			}
		}
	}
	for _, f := range found {
		s := scores[f.Kind]
		s.found++
		for _, want := range m.spans {
			if inside(f, want, 1) {
				s.right++
				break
			}
		}
	}
}

// TestCorpus holds precision and recall above bounds, by kind and in all. Run it with
// -v to see them, and what is missed.
func TestCorpus(t *testing.T) {
	scores := map[mask.Kind]*score{mask.Email: {}, mask.SSN: {}, mask.Card: {}, mask.Phone: {}}
	texts := corpus(t)
	m := mask.Masker{}
	for _, one := range texts {
		found := m.Find(one.text)
		judge(scores, one, found)
		alone := map[mask.Kind]*score{mask.Email: {}, mask.SSN: {}, mask.Card: {}, mask.Phone: {}}
		judge(alone, one, found)
		for k := mask.Email; k <= mask.Phone; k++ {
			if s := alone[k]; s.covered < s.there || s.right < s.found {
				masked, _ := m.Text(one.text)
				t.Logf("%-6s %q became %q", k, one.text, masked)
			}
		}
	}
	all := score{}
	t.Logf("%d texts", len(texts))
	for k := mask.Email; k <= mask.Phone; k++ {
		s := scores[k]
		all = score{all.there + s.there, all.covered + s.covered, all.found + s.found, all.right + s.right}
		t.Logf("%-6s %4d there, precision %.3f, recall %.3f", k, s.there, s.precision(), s.recall())
		bound := map[mask.Kind][2]float64{mask.Email: {0.99, 0.99}, mask.SSN: {0.99, 0.99}, mask.Card: {0.99, 0.96}, mask.Phone: {0.97, 0.93}}[k]
		if s.precision() < bound[0] || s.recall() < bound[1] {
			t.Errorf("%s: precision %.3f and recall %.3f, at least %.2f and %.2f are held", k, s.precision(), s.recall(), bound[0], bound[1])
		}
	}
	t.Logf("all    %4d there, precision %.3f, recall %.3f", all.there, all.precision(), all.recall())
}
