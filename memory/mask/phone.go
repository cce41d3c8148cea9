package mask

import "strings"

// phone finds a telephone number that begins with the first group: of all groups
// that hang together, or of those before one that stands apart.
func phone(text string, list []group) (span, bool) {
	start, sign := opening(text, list)
	for n := len(list); n > 0; n-- {
		if !ends(text, list, n) || !isPhone(sign, list[:n]) {
			continue
		}
		end := list[n-1].to
		if strings.HasPrefix(text[start:end], "(") && !strings.Contains(text[start:end], ")") {
			start++ // it opens a remark, not the number
		}
		return span{from: start, to: end}, true
	}
	return span{}, false
}

// opening returns where a number begins that may have a sign in front of its
// digits, and the sign: "+", "(", "tel:" or "".
func opening(text string, list []group) (int, string) {
	at := list[0].from
	for _, sign := range [...]string{"(+", "tel:+", "tel:", "+", "("} {
		if !strings.HasSuffix(text[:at], sign) {
			continue
		}
		switch sign {
		case "(+":
			return at - 1, "+"
		case "tel:+", "tel:":
			return at - len(sign) + len("tel:"), "+"
		}
		return at - 1, sign
	}
	return at, ""
}

// isPhone judges groups of digits by the forms in which numbers are written.
func isPhone(sign string, list []group) bool {
	digits := len(join(list))
	first := list[0].digits
	switch {
	case sign == "+":
		return digits >= 8 && digits <= 15
	case digits < 10 || digits > 15 || looksLikeDate(list):
		return false
	case strings.HasPrefix(first, "00"):
		return len(list) > 1
	case first[0] == '0' && digits <= 11:
		return len(list) > 1 && len(first) >= 2 && len(first) <= 5
	case isNorthAmerican(list):
		return true
	}
	return isHyphened(list)
}

// isNorthAmerican reports whether groups are 3-3-4, with a 1 in front or without,
// and with a sign between them that is more than a space.
func isNorthAmerican(list []group) bool {
	if len(list) == 4 && list[0].digits == "1" {
		list = list[1:]
	}
	if len(list) != 3 || len(list[0].digits) != 3 || len(list[1].digits) != 3 || len(list[2].digits) != 4 || list[0].digits[0] < '2' || list[1].digits[0] < '2' {
		return false
	}
	seps := list[1].sep + list[2].sep
	return strings.ContainsAny(seps, "-.)") && !strings.Contains(seps, "/")
}

// isHyphened reports whether groups hang together by hyphens and brackets, as the
// general rule has it; an order's number that begins with a year, and an ISBN, do
// too, and are none.
func isHyphened(list []group) bool {
	for i := 1; i < len(list); i++ {
		if sep := list[i].sep; sep != "-" && sep != ")-" && sep != "-(" && sep != ")" {
			return false
		}
	}
	if len(list) < 2 || isYear(list[0].digits) {
		return false
	}
	digits := join(list)
	return !(len(digits) == 13 && (strings.HasPrefix(digits, "978") || strings.HasPrefix(digits, "979")))
}

func isYear(digits string) bool {
	return len(digits) == 4 && (strings.HasPrefix(digits, "19") || strings.HasPrefix(digits, "20"))
}

// looksLikeDate reports whether groups begin as a date does: 2-2-4 or 4-2-2.
func looksLikeDate(list []group) bool {
	if len(list) < 3 {
		return false
	}
	a, b, c := len(list[0].digits), len(list[1].digits), len(list[2].digits)
	return a == 2 && b == 2 && c == 4 && isYear(list[2].digits) || a == 4 && b == 2 && c == 2 && isYear(list[0].digits)
}
