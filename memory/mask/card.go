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

// card finds 13 to 19 digits of a card scheme that pass the check digit, in one run
// or in the groups that are printed on cards; four groups of four alone need no
// scheme.
func (c *chain) card(i int) int {
	if n := c.groups[i].n; n >= 13 {
		// Of longer runs nearly all are numbers of other things.
		digits := c.count(i, 1)
		if c.ends(i) && isCard(digits) && (n <= 16 || n == 19 && digits[0] == '6' && digits[1] == '2') {
			return 1
		}
		return 0
	}
	if c.groups[i].n != 4 || i+3 > c.n {
		return 0
	}
	kind := c.groups[i+1].sep
	if kind != space && kind != hyphen {
		return 0
	}
	if kind == space && i+3 <= c.run(i).to && c.inTable(i, 4) {
		return 0
	}
	for n := 3; n <= 5 && i+n <= c.n && c.groups[i+n-1].sep == kind; n++ {
		if !c.joined(i, n, kind) || !c.isPrinted(i, n) || !c.ends(i+n-1) {
			continue
		}
		digits := c.count(i, n)
		if kind == space && c.inTable(i, n) {
			return 0
		}
		if isCard(digits) || n == 4 && len(digits) == 16 && digits[0] != '0' && luhn(digits) && c.isAlone(i) {
			return n
		}
	}
	return 0
}

// isPrinted reports whether groups are as on a card: fours with the rest at the end,
// or 4-6-5 and 4-6-4.
func (c *chain) isPrinted(i, n int) bool {
	if n == 3 {
		return c.shape(i, 4, 6, 5) || c.shape(i, 4, 6, 4)
	}
	for k := i; k < i+n-1; k++ {
		if c.groups[k].n != 4 {
			return false
		}
	}
	return c.groups[i+n-1].n <= 4
}

// fours is a run of groups of four with one kind of separator between them. Each of
// its groups may begin a card, so that it is looked at once for all of them.
type fours struct {
	from, to int // to = 0: none was met
	sep      sep
	judged   bool
	table    bool
}

// run returns the run of fours around group i.
func (c *chain) run(i int) *fours {
	r, sep := &c.fours, c.groups[i+1].sep
	if i >= r.from && i < r.to && sep == r.sep {
		return r
	}
	*r = fours{from: i, to: i + 1, sep: sep}
	for r.from > 0 && c.groups[r.from-1].n == 4 && c.groups[r.from].sep == sep {
		r.from--
	}
	for r.to < c.n && c.groups[r.to].n == 4 && c.groups[r.to].sep == sep {
		r.to++
	}
	return r
}

// inTable reports whether four groups of four stand in a row of more than six such,
// not all of which are cards: a row of a table.
func (c *chain) inTable(i, n int) bool {
	if n < 4 {
		return false
	}
	r := c.run(i)
	if !r.judged {
		r.judged, r.table = true, r.to-r.from > 6 && !c.allCards(r)
	}
	return r.table
}

// allCards reports whether a run is card after card.
func (c *chain) allCards(r *fours) bool {
	for k := r.from; k < r.to; k += 4 {
		if !c.shaped(k, 4, 4, 4, 4) || !isCard(c.count(k, 4)) {
			return false
		}
	}
	return true
}

// isAlone reports whether group i is one of just four groups of four.
func (c *chain) isAlone(i int) bool {
	r := c.run(i)
	return r.to-r.from == 4
}
