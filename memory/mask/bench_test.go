package mask_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/memory/mask"
)

// texts are what is masked: prose with hardly a number, records that are full of
// them, facts as they are, and what is made to be slow.
var texts = map[string]string{
	"prose":   strings.Repeat("The committee met on 2024-03-15 in Geneva to talk about the plan for the next two years, and nobody disagreed with its 12 points. ", 80),
	"records": strings.Repeat("Alice (alice@example.com, +1-555-867-5309) joined on 2024-03-15 and paid 120 euros for order 2024-555-0199. ", 100),
	"numbers": strings.Repeat("2024-03-15T10:22:31Z 10.1.22.13 4711 200 1762164000006 7c1e02bd-41aa-4f0e-8202-555014399a10 52.520008 13.404954 ", 100),
	"digits":  strings.Repeat("1 ", 5000), "hyphens": strings.Repeat("12-", 3500), "brackets": strings.Repeat("(1) ", 2500), "ats": strings.Repeat("a@", 5000),
	"quotes": strings.Repeat(`"@`, 5000), "pluses": strings.Repeat("+1", 5000), "long": strings.Repeat("7", 10000), "links": strings.Repeat("[[a@b.co", 1300), "escaped": strings.Repeat("https://example.org/?to=u%40example.com&amp;x=%20&#64; (at) ", 170), "invisible": strings.Repeat("a\u00ad@", 2500), "twice": strings.Repeat("%25&amp;", 1250),
	// The slowest of all that repeats a few signs, found by trying them.
	"fours": strings.Repeat("1234 ", 2000), "wide": strings.Repeat("\uff10 123", 1400), "escapes": strings.Repeat(`.0\n`, 2500), "widemail": strings.Repeat("1@\uff10x", 1700),
	"devanagari": strings.Repeat("यह एक वाक्य है ", 250),
}

func BenchmarkText(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		b.Run(name, func(b *testing.B) {
			m := mask.Masker{}
			start := cpuTime(b)
			for b.Loop() {
				m.Text(texts[name])
			}
			b.ReportMetric(float64(b.N)*float64(len(texts[name]))/1e6/(cpuTime(b)-start).Seconds(), "MB/s-of-a-core")
		})
	}
}

// BenchmarkAssert is what a write pays for each fact.
func BenchmarkAssert(b *testing.B) {
	source := "crm-import"
	for _, object := range []string{"Org:acme", "prefers tea over coffee, and never drinks either after four", "mail her at alice@example.com"} {
		a := fact.Assert{Subject: "Person:alice", Predicate: "likes", Object: fact.TextObject(object), Source: &source, Properties: []byte(`{"why":"she said so herself","page":12}`)}
		b.Run(strings.Fields(object)[0], func(b *testing.B) {
			m := mask.Masker{}
			b.ReportAllocs()
			for b.Loop() {
				one := a
				if _, err := m.Assert(&one); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
