package search

import "bytes"

// stem brings the plainest inflections of English to one form: plurals and the
// third person (parties, serves), and -ed and -ing (supported, serving). It is
// in place, touches letters of a to z only, and is no lemma: what it makes is
// compared with what it makes, never shown.
func stem(w []byte) []byte {
	if len(w) < 4 || !plainLetters(w) {
		return w
	}
	w = singular(w)
	w = bare(w, "ing")
	w = bare(w, "ed")
	switch n := len(w); {
	case n > 3 && w[n-1] == 'e':
		return w[:n-1]
	case n > 3 && w[n-1] == 'y' && !vowel(w[n-2]):
		w[n-1] = 'i'
	}
	return w
}

// singular takes off the s of plurals and verbs.
func singular(w []byte) []byte {
	n := len(w)
	switch {
	case bytes.HasSuffix(w, []byte("sses")):
		return w[:n-2]
	case bytes.HasSuffix(w, []byte("ies")) && n > 4:
		return append(w[:n-3], 'y')
	case w[n-1] != 's' || w[n-2] == 's' || w[n-2] == 'u' || w[n-2] == 'i':
		return w
	case bytes.HasSuffix(w, []byte("xes")) || bytes.HasSuffix(w, []byte("ches")) || bytes.HasSuffix(w, []byte("shes")) || bytes.HasSuffix(w, []byte("zes")):
		return w[:n-2]
	}
	return w[:n-1]
}

// bare takes off an ending where a word with a vowel is left, and the letter that
// was doubled before it.
func bare(w []byte, ending string) []byte {
	rest, ok := bytes.CutSuffix(w, []byte(ending))
	n := len(rest)
	if !ok || n < 3 || !bytes.ContainsAny(rest, "aeiouy") || ending == "ed" && rest[n-1] == 'e' {
		return w
	}
	if rest[n-1] == rest[n-2] && !vowel(rest[n-1]) && !bytes.ContainsRune([]byte("lsz"), rune(rest[n-1])) {
		return rest[:n-1]
	}
	return rest
}

func vowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u':
		return true
	}
	return false
}

func plainLetters(w []byte) bool {
	for _, c := range w {
		if !lowerCase(c) {
			return false
		}
	}
	return true
}
