package http_test

import "testing"

// A statement that was cut in pieces is collapsed only into one with the same
// pieces: its retraction ends all of them, those of the past too.
func TestConsolidateKeepsPieces(t *testing.T) {
	r := start(t, "")
	r.assert("Price:x", "amount", `"A"`, `"valid_from":"2001-01-01","source":"a"`)
	r.assert("Price:x", "amount", `"A"`, `"valid_from":"2001-01-01","source":"b","confidence":0.9`)
	r.assert("Price:x", "amount", `"B"`, `"valid_from":"2002-01-01","valid_until":"2003-01-01"`)
	r.assert("Price:x", "amount", `"A"`, `"valid_from":"2003-01-01","source":"c","confidence":0.8`) // only the later piece
	count := func(at string, want int) {
		t.Helper()
		if got := r.get("/api/facts?subject=Price:x&as_of=" + at).list(); len(got) != want {
			t.Errorf("as of %s %d facts hold, want %d: %s", at, len(got), want, column(got, "source"))
		}
	}
	count("2001-06-01", 2)
	count("2004-01-01", 3)
	done := r.post("/api/consolidate", "").status(200).object()
	if done.text("collapsed") != "1" {
		t.Errorf("consolidate: %v", done)
	}
	count("2001-06-01", 1)
	count("2002-06-01", 1)
	count("2004-01-01", 2) // the whole statement, and the later one
	if again := r.post("/api/consolidate", "").status(200).object(); again.text("collapsed") != "0" {
		t.Errorf("again: %v", again)
	}
	if got := r.get("/api/facts?subject=Price:x&as_of=2001-06-01").list(); column(got, "source") != `"a"` {
		t.Errorf("what stays is of source %s", column(got, "source"))
	}
}
