package node

import "testing"

func TestFiguresAreRead(t *testing.T) {
	f := parseFigures("# HELP a b\n# TYPE a counter\na 3\nb{x=\"1 2\",y=\"z\"} 4.5\nb{x=\"3\"} 1e3\nbb 7\n" +
		stateMetric + "{state=\"Leader\"} 1\n" + stateMetric + "{state=\"follower\"} 0\n")
	if f.Sum("a") != 3 || f.Sum("b") != 1004.5 || f.Sum("c") != 0 {
		t.Errorf("a = %v, b = %v, c = %v", f.Sum("a"), f.Sum("b"), f.Sum("c"))
	}
	if !f.Has("bb") || f.Has("c") {
		t.Error("Has is wrong")
	}
	if !f.Leads() || parseFigures(stateMetric+"{state=\"leader\"} 0\n").Leads() {
		t.Error("Leads is wrong")
	}
}
