package report

import (
	"strings"
	"testing"
)

func sample(name, cell string) Section {
	return Section{
		Name: name, Title: "Posts", Text: "One fact a request.",
		Tables: []Table{{Title: "One node", Head: []string{"", "1 client"}, Rows: [][]string{{"abagraph", cell}}}},
		Goals:  []Goal{{What: "posts", Want: "1.2", Got: "1.5", Met: true}, {What: "posts", Want: "2.0", Got: "1.5"}},
	}
}

func TestMergeReplacesItsOwnSectionsOnly(t *testing.T) {
	first, err := Merge("", []Section{sample("posts", "100"), sample("reads", "200")})
	if err != nil {
		t.Fatal(err)
	}
	byHand := strings.Replace(first, end("posts"), end("posts")+"\nWhat limits it: index keys.\n", 1)
	second, err := Merge(byHand, []Section{sample("posts", "300")})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| abagraph | 300 |", "| abagraph | 200 |", "What limits it: index keys.", "# Benchmarks"} {
		if !strings.Contains(second, want) {
			t.Errorf("%q is missing in\n%s", want, second)
		}
	}
	if strings.Contains(second, "| abagraph | 100 |") {
		t.Error("the old figures are still there")
	}
	again, err := Merge(second, []Section{sample("posts", "300")})
	if err != nil || again != second {
		t.Errorf("the same figures change the document (%v)", err)
	}
}

func TestMergeRefusesABrokenDocument(t *testing.T) {
	if _, err := Merge(begin("posts")+"text\n", []Section{sample("posts", "1")}); err == nil {
		t.Error("a section without an end was replaced")
	}
}

func TestPrintAlignsColumns(t *testing.T) {
	var b strings.Builder
	if err := sample("posts", "12345").Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"            1 client\n  abagraph     12345\n", "  posts   1.2  1.5     met\n", "  posts   2.0  1.5  missed\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}
