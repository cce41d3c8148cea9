package mask

import "strconv"

// scheme is how the numbers of one card scheme look: their first digits, from low
// to high, and their lengths.
type scheme struct{ digits, low, high, least, most int }

var schemes = [...]scheme{
	{1, 4, 4, 13, 19},       // Visa
	{2, 51, 55, 16, 16},     // Mastercard
	{4, 2221, 2720, 16, 16}, // Mastercard
	{2, 34, 34, 15, 15},     // American Express
	{2, 37, 37, 15, 15},     // American Express
	{4, 6011, 6011, 16, 19}, // Discover
	{3, 644, 659, 16, 19},   // Discover
	{3, 300, 305, 14, 14},   // Diners Club
	{2, 36, 36, 14, 19},     // Diners Club
	{2, 38, 39, 14, 19},     // Diners Club
	{4, 3528, 3589, 16, 19}, // JCB
	{2, 62, 62, 16, 19},     // UnionPay
	{2, 50, 50, 13, 19},     // Maestro
	{2, 56, 58, 13, 19},     // Maestro
	{4, 6304, 6304, 13, 19}, // Maestro
	{4, 6759, 6763, 13, 19}, // Maestro
}

// isCard reports whether digits are a card's number. The first digits matter: a
// time in milliseconds may pass the check digit, but belongs to no scheme.
func isCard(digits string) bool {
	if len(digits) < 13 || len(digits) > 19 || !luhn(digits) {
		return false
	}
	for _, s := range schemes {
		first, err := strconv.Atoi(digits[:s.digits])
		if err == nil && first >= s.low && first <= s.high && len(digits) >= s.least && len(digits) <= s.most {
			return true
		}
	}
	return false
}

// luhn checks the check digit.
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			d *= 2
			if d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
