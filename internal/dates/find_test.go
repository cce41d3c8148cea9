package dates

import (
	"testing"
	"time"

	"abagraph/fact"
)

func instant(t *testing.T, text string) fact.Instant {
	t.Helper()
	switch text {
	case "":
		return fact.MinInstant
	case "∞":
		return fact.Forever
	}
	at, err := fact.ParseInstant("", text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestFind(t *testing.T) {
	now := fact.Instant(time.Date(2024, 5, 15, 13, 0, 0, 0, time.UTC).UnixMilli()) // a Wednesday
	for _, c := range []struct{ text, named, from, until string }{
		{"Was Go 1.13 supported on 2019-09-21?", "on 2019-09-21", "2019-09-21", "2019-09-22"},
		{"in March 2020 who led it", "in March 2020", "2020-03-01", "2020-04-01"},
		{"Who chaired it in 2019?", "in 2019", "2019-01-01", "2020-01-01"},
		{"who lived there before 2018?", "before 2018", "", "2018-01-01"},
		{"prior to March 2018", "prior to March 2018", "", "2018-03-01"},
		{"until 2018-05-01", "until 2018-05-01", "", "2018-05-01"},
		{"by 2018", "by 2018", "", "2019-01-01"},
		{"after 2018", "after 2018", "2019-01-01", "∞"},
		{"since 2018-02", "since 2018-02", "2018-02-01", "∞"},
		{"from 2015 on", "from 2015", "2015-01-01", "∞"},
		{"from 2015 to 2017", "from 2015 to 2017", "2015-01-01", "2018-01-01"},
		{"between March 2015 and 2017-01-02", "between March 2015 and 2017-01-02", "2015-03-01", "2017-01-03"},
		{"as of 2020", "as of 2020", "2020-01-01", "2021-01-01"},
		{"during the year 2020", "during the year 2020", "2020-01-01", "2021-01-01"},
		{"in the 1990s", "in the 1990s", "1990-01-01", "2000-01-01"},
		{"September 21, 2019", "September 21, 2019", "2019-09-21", "2019-09-22"},
		{"on the 21st of September 2019", "on the 21st of September 2019", "2019-09-21", "2019-09-22"},
		{"3 Sept. 2019", "3 Sept. 2019", "2019-09-03", "2019-09-04"},
		{"in Q3 2021", "in Q3 2021", "2021-07-01", "2021-10-01"},
		{"2019/9/1", "2019/9/1", "2019-09-01", "2019-09-02"},
		{"at 2019-09-21T10:00:00Z", "at 2019-09-21T10:00:00Z", "2019-09-21T10:00:00Z", "2019-09-21T10:00:00.001Z"},
		{"where did she live yesterday", "yesterday", "2024-05-14", "2024-05-15"},
		{"last week", "last week", "2024-05-06", "2024-05-13"},
		{"this month?", "this month", "2024-05-01", "2024-06-01"},
		{"last year", "last year", "2023-01-01", "2024-01-01"},
		{"3 days ago", "3 days ago", "2024-05-12", "2024-05-13"},
		{"a year ago", "a year ago", "2023-05-15", "2023-05-16"},
	} {
		w, ok := Find(c.text, now)
		if !ok || c.text[w.Start:w.End] != c.named || w.From != instant(t, c.from) || w.Until != instant(t, c.until) {
			t.Errorf("%q: %v from %v until %v: %q", c.text, ok, w.From.Time(), w.Until, c.text[w.Start:w.End])
		}
	}
}

func TestWhatIsNoDate(t *testing.T) {
	for _, text := range []string{
		"", "version 3.5.2", "Go 1.13", "iPhone 2019", "room 2019", "who may march", "may 2", "in 3 days", "2019-13-01", "2019-02-30",
		"Company:2019", "1-2", "2019/20", "between us and them", "before noon", "the last day", "from me to you", "in the year", "0000-01-01",
	} {
		if w, ok := Find(text, 0); ok {
			t.Errorf("%q: %q", text, text[w.Start:w.End])
		}
	}
}

func TestPoint(t *testing.T) {
	w, _ := Find("on 2019-09-21", 0)
	if at, ok := w.Point(); !ok || at != instant(t, "2019-09-21T12:00:00Z") {
		t.Errorf("the middle of a day is %v, %v", at, ok)
	}
	for _, text := range []string{"in 2019", "before 2018", "since 2018-02-01"} {
		w, ok := Find(text, 0)
		if _, point := w.Point(); !ok || point {
			t.Errorf("%q is a point", text)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("between 2015 and 2017 a year ago", int64(0))
	f.Add("9999 years ago", int64(fact.MinInstant))
	f.Fuzz(func(t *testing.T, text string, now int64) {
		at := fact.Instant(now)
		if !at.Valid() {
			return
		}
		w, ok := Find(text, at)
		if ok && (w.From >= w.Until || w.Start >= w.End || w.End > len(text)) {
			t.Errorf("%q: %+v", text, w)
		}
	})
}
