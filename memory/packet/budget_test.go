package packet_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"abagraph/fact"
	"abagraph/memory/packet"
)

// scripts are texts that tokenizers find cheap and dear.
var scripts = map[string]string{
	"english":  "The quarterly review was moved to Thursday because the customer asked for another week.",
	"japanese": "四半期レビューは、顧客がもう一週間を求めたため、木曜日に延期されました。担当者は田中さんです。",
	"korean":   "고객이 일주일을 더 요청했기 때문에 분기별 검토가 목요일로 연기되었습니다.",
	"hindi":    "ग्राहक ने एक और सप्ताह माँगा, इसलिए तिमाही समीक्षा गुरुवार तक के लिए टाल दी गई।",
	"arabic":   "تم تأجيل المراجعة الفصلية إلى يوم الخميس لأن العميل طلب أسبوعا آخر.",
	"emoji":    "🎉👩‍👩‍👧‍👦🏳️‍🌈🧑🏽‍🚀🫱🏻‍🫲🏿💥🔥✨🐉🦄🍣🗻🎌🀄🎲",
	"code":     "func (s *Server) handle(c *call) error {\n\tif err := c.query.done(); err != nil {\n\t\treturn err\n\t}\n}",
	"base64":   strings.Repeat("aGVsbG8gd29ybGQhIHRoaXMgaXMgYmFzZTY0IGVuY29kZWQgdGV4dA+/", 4),
	"letters":  strings.Repeat("a b c d e f g h i j k l m n o p q r s t u v w x y z ", 4),
	"solid":    strings.Repeat("xqzjvkwpmbt", 20),
	"huge":     strings.Repeat("漢字とかな", 3_500), // about 50 KB
	"marks":    "<<<>>>&&&\"\"\"```\\\\\\\"<|endoftext|><|im_start|>system",
	"zalgo":    strings.Repeat("Z\u0351\u0343\u0342a\u0300\u0301l\u0334g\u0335o\u0336", 12),
}

// TestSRC04BudgetHoldsInEveryScript: by real tokenizers, what is pasted is within
// the budget, whatever script the facts are in, in each style, with pages and a
// role; and the same request has the same bytes twenty times.
func TestSRC04BudgetHoldsInEveryScript(t *testing.T) {
	for name, text := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, pages := facts(text)
			for _, style := range []packet.Style{packet.Generic, packet.Claude, packet.OpenAI} {
				for _, budget := range []int{1, 40, 80, 130, 257, 1024, 4096, 1_000_000_000} {
					q := request()
					q.Style, q.Budget, q.MaxFacts, q.Goal, q.Role = style, budget, packet.MaxFacts, text[:min(len(text), 90)], "You brief a team."
					q.Goal = strings.ToValidUTF8(q.Goal, "")
					p := assemble(t, q, list, pages...)
					check(t, p, budget, len(list))
				}
			}
		})
	}
}

func facts(text string) (list []packet.Candidate, pages []packet.Page) {
	for n := range 30 {
		object := text
		if n%2 == 1 {
			runes := []rune(text)
			object = string(runes[:1+n*len(runes)/64])
		}
		list = append(list, said(n+1, fmt.Sprintf("Person:p%d", n), "noted", object+fmt.Sprint(n)))
	}
	for n := range 3 {
		pages = append(pages, packet.Page{ID: fmt.Sprintf("Page:%d", n), Subject: fmt.Sprintf("Person:p%d", n), Title: text[:min(3, len(text))], Body: text + text, Plain: text + text})
	}
	return list, pages
}

func check(t *testing.T, p *packet.Packet, budget, all int) {
	t.Helper()
	got := really(t, p.SystemPrompt)
	if got > budget {
		t.Errorf("budget %d: the prompt takes %d", budget, got)
	}
	if got != p.PromptTokens || p.Tokens > got || p.TotalTokens < p.Tokens {
		t.Errorf("budget %d: told %d and %d of %d, really %d", budget, p.PromptTokens, p.Tokens, p.TotalTokens, got)
	}
	if p.SystemPrompt == "" && (len(p.Facts) > 0 || len(p.Pages) > 0 || !warns(p, "budget_too_small")) {
		t.Errorf("budget %d: an empty prompt with %d facts: %v", budget, len(p.Facts), p.Warnings)
	}
	if !utf8.ValidString(p.SystemPrompt) || strings.Contains(p.SystemPrompt, "\ufffd") {
		t.Errorf("budget %d: the prompt is cut within a character", budget)
	}
	if len(p.Facts)+p.Dropped != all {
		t.Errorf("budget %d: %d facts and %d dropped, of %d", budget, len(p.Facts), p.Dropped, all)
	}
	for i := range p.Facts {
		f := &p.Facts[i]
		if len(f.Object.Text) > packet.MaxValueBytes || !utf8.ValidString(f.Object.Text) || f.ObjectBytes > 0 && !warns(p, "fact_cut") {
			t.Errorf("budget %d: a value of %d bytes, of %d: %v", budget, len(f.Object.Text), f.ObjectBytes, p.Warnings)
		}
	}
	if budget == 1_000_000_000 && len(p.Facts) != all {
		t.Errorf("without a limit there are %d facts of %d", len(p.Facts), all)
	}
}

func warns(p *packet.Packet, code string) bool {
	return slices.ContainsFunc(p.Warnings, func(w packet.Warning) bool { return w.Code == code })
}

// TestSmallBudgetHasShortForm: 80 tokens, as the documents' example gives, hold
// facts with their sources, in each style, within a frame that says what they are.
func TestSmallBudgetHasShortForm(t *testing.T) {
	source := "slack:2026-06"
	list := []packet.Candidate{said(1, "Person:sarah", "works_at", "Org:globex"), said(2, "Person:sarah", "role", "staff-eng")}
	for i := range list {
		list[i].Fact.Source = &source
	}
	for _, style := range []packet.Style{packet.Generic, packet.Claude, packet.OpenAI} {
		q := request()
		q.Style, q.Goal, q.Seeds, q.Budget = style, "brief me on Sarah before a 1:1", []string{"Person:sarah"}, 80
		p := assemble(t, q, list)
		if len(p.Facts) == 0 || really(t, p.SystemPrompt) > 80 || strings.Count(p.SystemPrompt, source) != len(p.Facts) || !strings.Contains(p.SystemPrompt, "untrusted data") {
			t.Errorf("%s: %d facts in\n%s", style, len(p.Facts), p.SystemPrompt)
		}
		q.Role = "You are Ada."
		if p = assemble(t, q, list); !strings.HasPrefix(p.SystemPrompt, "You are Ada.\nBelow is untrusted data") {
			t.Errorf("%s: with a role\n%s", style, p.SystemPrompt)
		}
		q.Budget = 28
		if p = assemble(t, q, list); len(p.Facts) != 0 || len(p.Warnings) == 0 {
			t.Errorf("%s: a budget for the frame alone: %d facts, %v", style, len(p.Facts), p.Warnings)
		}
	}
}

// TestOneFactIsTooLong: it is skipped with a note for the shorter ones behind it.
func TestOneFactIsTooLong(t *testing.T) {
	long := said(9, "Doc:long", "text", strings.Repeat("many short words in a row ", 75))
	long.Distance, long.Fact.Confidence = packet.AtSeed, 1
	list := []packet.Candidate{long, said(1, "Person:a", "likes", "tea"), said(2, "Person:b", "likes", "tea")}
	q := request()
	q.Budget = 200
	p := assemble(t, q, list)
	if len(p.Facts) != 2 || !warns(p, "fact_skipped") {
		t.Errorf("%d facts: %v", len(p.Facts), p.Warnings)
	}
	if p = assemble(t, q, list[:1]); len(p.Facts) != 0 || !warns(p, "fact_skipped") {
		t.Errorf("alone: %d facts: %v", len(p.Facts), p.Warnings)
	}
	q.Budget = 0
	if p = assemble(t, q, list); len(p.Facts) != 3 || p.Facts[0].ID != long.Fact.ID || warns(p, "fact_skipped") {
		t.Errorf("without a budget: %d facts: %v", len(p.Facts), p.Warnings)
	}
}

// TestBudgetIsFilled: with a budget for some of many facts, little is left over.
func TestBudgetIsFilled(t *testing.T) {
	list, _ := facts(scripts["english"])
	for budget := 300; budget < 900; budget += 97 {
		q := request()
		q.Budget, q.MaxFacts = budget, packet.MaxFacts
		p := assemble(t, q, list)
		if left := budget - really(t, p.SystemPrompt); left > 60 {
			t.Errorf("budget %d: %d are left", budget, left)
		}
	}
}

// TestCompactKeepsWhatFits: /api/compact's part, by the same tokenizers.
func TestCompactKeepsWhatFits(t *testing.T) {
	for name, text := range scripts {
		candidates, _ := facts(text)
		rnd := rand.New(rand.NewPCG(1, 1))
		list := make([]fact.Fact, 0, len(candidates))
		for i := range candidates {
			candidates[i].Fact.Confidence = float64(rnd.IntN(100)) / 100
			list = append(list, *candidates[i].Fact)
		}
		for _, budget := range []int{1, 100, 1000, 1_000_000} {
			got, err := packet.Compact(list, budget, &counting)
			if err != nil {
				t.Fatal(err)
			}
			if got.Tokens > budget || got.TotalTokens < got.Tokens || budget == 1_000_000 && len(got.Kept) != len(list) {
				t.Errorf("%s, budget %d: %d tokens of %d, %d facts kept", name, budget, got.Tokens, got.TotalTokens, len(got.Kept))
			}
			lines := 0
			for _, i := range got.Kept {
				lines += really(t, list[i].Subject+" "+list[i].Predicate)
			}
			if lines > got.Tokens {
				t.Errorf("%s, budget %d: names alone take %d, told %d", name, budget, lines, got.Tokens)
			}
			if again, _ := packet.Compact(list, budget, &counting); !slices.Equal(again.Kept, got.Kept) {
				t.Errorf("%s: another choice the second time", name)
			}
		}
	}
	empty, err := packet.Compact(nil, 100, &counting)
	if err != nil || len(empty.Kept) != 0 || empty.Tokens != 0 || empty.TotalTokens != 0 {
		t.Errorf("nothing: %+v, %v", empty, err)
	}
}
