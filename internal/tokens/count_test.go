package tokens_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"abagraph/internal/tokens"

	"github.com/tiktoken-go/tokenizer"
)

// whole counts a text in one go, as everybody else does.
func whole(t *testing.T, text string) tokens.Count {
	t.Helper()
	var n [2]int
	for i, name := range []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase} {
		codec, err := tokenizer.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if n[i], err = codec.Count(text); err != nil {
			t.Fatal(err)
		}
	}
	return tokens.Count{O200k: n[0], Cl100k: n[1]}
}

var samples = []string{
	"", " ", "\n", "  \n\n a", "hello world", "- \"Person:alice\" \"works_at\" \"Company:acme\" (confidence 0.95; since 2024-06-01)\n- \"b\"\n",
	"東京は日本の首都です。人口は約1400万人。", "भारत एक विशाल देश है। यह दक्षिण एशिया में है।", "서울은 대한민국의 수도이다.", "🎉👩‍👩‍👧‍👦🏳️‍🌈 emoji 🎉",
	"func main() {\n\tfmt.Println(\"hi\")\n}\n", "aGVsbG8gd29ybGQhIHRoaXMgaXMgYmFzZTY0+/8=", "a\u00a0b\u3000c d", "x\n/y\n /z\n\n- w", "it's we're I'll  'S",
	"a , b ; c ) \n d", "\ufffd \ufffd", "1 2 3 1234567 8", "tab\there  two", "end ",
}

// TestCountIsThatOfTheWhole: cutting a text and remembering pieces changes no
// count.
func TestCountIsThatOfTheWhole(t *testing.T) {
	var c tokens.Counter
	check := func(text string) {
		t.Helper()
		got, err := c.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		if want := whole(t, text); got != want {
			t.Errorf("%q is %+v tokens, and %+v in one go", text, got, want)
		}
	}
	for _, text := range samples {
		check(text)
		check(text)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		var b strings.Builder
		for range 1 + rnd.IntN(6) {
			runes := []rune(samples[rnd.IntN(len(samples))])
			for range rnd.IntN(12) {
				if len(runes) > 0 {
					b.WriteRune(runes[rnd.IntN(len(runes))])
				}
			}
			b.WriteString([]string{"", " ", "\n", "  ", "/", "\r\n", "'s", " -"}[rnd.IntN(8)])
		}
		check(b.String())
	}
}

// TestLinesAddUp: lines that begin with a letter, a dash or a sign may be counted
// apart.
func TestLinesAddUp(t *testing.T) {
	var c tokens.Counter
	var sum tokens.Count
	text := ""
	for _, line := range []string{"You are.\n", "- \"a\" (b)\n", "<memory>\n", "## Facts\n", "東京\n", "--- end\n", "`x`\n"} {
		got, err := c.Count(line)
		if err != nil {
			t.Fatal(err)
		}
		sum, text = sum.Add(got), text+line
	}
	if want := whole(t, text); sum != want {
		t.Errorf("the lines are %+v, and together %+v", sum, want)
	}
}

// TestCounterIsBoundedAndShared: more pieces than are remembered, from several
// goroutines, are counted all the same.
func TestCounterIsBoundedAndShared(t *testing.T) {
	var c tokens.Counter
	want, err := c.Count("the end")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewPCG(uint64(g), 3))
			for range 300 {
				var b strings.Builder
				for range 150 {
					b.WriteString(" w")
					b.WriteByte(byte('a' + rnd.IntN(26)))
					b.WriteByte(byte('a' + rnd.IntN(26)))
					b.WriteByte(byte('a' + rnd.IntN(26)))
				}
				if _, err := c.Count(b.String()); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	if got, err := c.Count("the end"); err != nil || got != want {
		t.Errorf("afterwards: %+v, %v", got, err)
	}
}

func BenchmarkCount(b *testing.B) {
	var c tokens.Counter
	text := strings.Repeat("- \"Person:alice\" \"works_at\" \"Company:acme\" (confidence 0.95; since 2024-06-01; source \"hr-system\")\n", 64)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := c.Count(text); err != nil {
			b.Fatal(err)
		}
	}
}
