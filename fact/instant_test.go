package fact_test

import (
	"testing"

	"abagraph/fact"
)

// TestParseInstant holds every written form of a time to C-1.
func TestParseInstant(t *testing.T) {
	for text, want := range map[string]fact.Instant{
		"0":                             0,
		"-1":                            -1,
		"-457056000000":                 -457056000000,
		"1718800000000":                 1718800000000,
		"1718800000000.9":               1718800000000, // floored
		"-0.5":                          -1,            // floored, not cut off
		"-1.0":                          -1,
		".5":                            0,
		"1718800000":                    1718800000, // never guessed to be seconds
		"253402300799999":               fact.MaxInstant,
		"-377705116800000":              fact.MinInstant,
		"1970-01-01":                    0,
		"2024-06-19T12:26:40Z":          1718800000000,
		"2024-06-19t12:26:40z":          1718800000000,
		"2024-06-19T14:26:40+02:00":     1718800000000,
		"2024-06-19T14:26:40+0200":      1718800000000,
		"2024-06-19T12:26:40.123456Z":   1718800000123,
		"2024-06-19T12:26:40,5Z":        1718800000500,
		"2024-06-19T12:26Z":             1718799960000,
		"2025-10-26T02:30:00+02:00":     1761438600000, // the hour that comes twice
		"2025-10-26T02:30:00+01:00":     1761442200000,
		"1955-07-09":                    -457056000000,
		"9999-12-31T23:59:59.999Z":      fact.MaxInstant,
		"-9999-01-01T00:00:00Z":         fact.MinInstant,
		"+2024-06-19T12:26:40Z":         1718800000000,
		"0000-02-29":                    -62162121600000, // the year 0 was a leap year
		" 1718800000000 ":               1718800000000,
		"-0044-03-15T00:00:00+00:00":    -63549360000000,
		"1969-12-31T23:59:59.999+00:00": -1,
	} {
		got, err := fact.ParseInstant("as_of", text)
		if err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "x", "NaN", "Infinity", "1e12", "1.7188e12", "1,000", "--1", "1.2.3", ".", "-",
		"1718800000000000", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "253402300800000", "-377705116800001",
		"2024-06-19T12:26:40+24:00", "2024-06-19T12:26-2400", "2024-06-19T12:26:40+05:60", "-0044-03-15T12:26:40-24", "20240619T122640+2460",
		"2024-06-19T12:26:40", "2024-06-19 12:26:40", "2024-13-01", "2023-02-29", "-2023-02-29", "10000-01-01", "+10000-01-01T00:00:00Z",
		"24:00", "2024-06-19T25:00:00Z", "yesterday",
	} {
		got, err := fact.ParseInstant("as_of", text)
		if fact.CodeOf(err) != fact.SchemaInvalid {
			t.Errorf("%q was read as %d, %v", text, got, err)
		}
	}
}

// TestParseMillisNumber: in JSON a number may have an exponent.
func TestParseMillisNumber(t *testing.T) {
	for text, want := range map[string]fact.Instant{"0": 0, "1.7188e12": 1718800000000, "-1.5": -2, "1E3": 1000, "25e-1": 2} {
		if got, err := fact.ParseMillisNumber("valid_from", text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"1e30", "-1e30", "1e999", "9223372036854775808", "x"} {
		if got, err := fact.ParseMillisNumber("valid_from", text); err == nil {
			t.Errorf("%s was read as %d", text, got)
		}
	}
}

// TestLooksLikeSeconds: such values are read as milliseconds, and warned of.
func TestLooksLikeSeconds(t *testing.T) {
	for at, want := range map[fact.Instant]bool{
		0: false, -1: false, 99_999_999: false, 100_000_000: true, 1_718_800_000: true, -1_718_800_000: true,
		99_999_999_999: true, 100_000_000_000: false, 1_718_800_000_000: false,
	} {
		if at.LooksLikeSeconds() != want {
			t.Errorf("%d: want %v", at, want)
		}
	}
}

// FuzzParseInstant: whatever is read lies in range, and reads back the same.
func FuzzParseInstant(f *testing.F) {
	for _, text := range []string{"0", "-1.5", "2024-06-19T12:26:40Z", "-0044-03-15", "1e12", "+009999-12-31"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at, err := fact.ParseInstant("t", text)
		if err != nil {
			return
		}
		if !at.Valid() {
			t.Fatalf("%q was read as %d, which is out of range", text, at)
		}
		again, err := fact.ParseInstant("t", at.Time().Format("2006-01-02T15:04:05.000Z07:00"))
		if year := at.Time().Year(); year >= 0 && year <= 9999 && (err != nil || again != at) {
			t.Fatalf("%q is %d, which reads back as %d, %v", text, at, again, err)
		}
	})
}
