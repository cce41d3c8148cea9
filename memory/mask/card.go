package mask

// scheme is how the numbers of one card scheme look: their first digits, from low
// to high, and their lengths.
type scheme struct{ digits, low, high, least, most int }

var cards = [...]scheme{
	{1, 4, 4, 13, 13}, // Visa
	{1, 4, 4, 16, 16},
	{1, 4, 4, 19, 19},
	{2, 51, 55, 16, 16},     // Mastercard
	{4, 2221, 2720, 16, 16}, // Mastercard
	{2, 34, 34, 15, 15},     // American Express
	{2, 37, 37, 15, 15},     // American Express
	{4, 6011, 6011, 16, 19}, // Discover
	{3, 644, 649, 16, 19},   // Discover
	{2, 65, 65, 16, 19},     // Discover, RuPay, Troy
	{3, 300, 305, 14, 14},   // Diners Club
	{2, 36, 36, 14, 19},     // Diners Club
	{2, 38, 39, 14, 19},     // Diners Club
	{4, 3528, 3589, 16, 19}, // JCB
	{2, 62, 62, 16, 19},     // UnionPay
	{2, 50, 50, 13, 19},     // Maestro, Dankort, Verve
	{2, 56, 58, 13, 19},     // Maestro
	{2, 63, 63, 16, 19},     // Maestro, InstaPayment, InterPayment
	{2, 67, 67, 13, 19},     // Maestro
	{4, 2200, 2204, 16, 19}, // Mir
	{2, 60, 60, 16, 16},     // RuPay, Hipercard
	{2, 81, 82, 16, 16},     // RuPay
	{4, 9792, 9792, 16, 16}, // Troy
	{4, 8600, 8600, 16, 16}, // Uzcard
	{4, 9860, 9860, 16, 16}, // Humo
}

// isCard reports whether digits are a card's number. The first digits matter: a
// time in milliseconds may pass the check digit, but belongs to no scheme.
func isCard(digits []byte) bool {
	if len(digits) < 13 || len(digits) > 19 || !luhn(digits) {
		return false
	}
	for _, s := range cards {
		first := 0
		for _, d := range digits[:s.digits] {
			first = 10*first + int(d-'0')
		}
		if first >= s.low && first <= s.high && len(digits) >= s.least && len(digits) <= s.most {
			return true
		}
	}
	return false
}

// luhn checks the check digit.
func luhn(digits []byte) bool {
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
