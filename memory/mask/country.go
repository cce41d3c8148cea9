package mask

// longest is the most digits that a number has in the country whose code it begins
// with, the code included: what follows it in a text is no part of it.
func longest(digits []byte) int {
	two := 10*int(digits[0]-'0') + int(digits[1]-'0')
	switch two {
	case 20, 44, 52, 81, 82, 90, 91, 94:
		return 12
	case 27, 30, 31, 33, 34, 36, 40, 41, 48, 51, 56, 61, 66:
		return 11
	case 45, 47:
		return 10
	case 32, 63, 92, 98:
		return 12
	case 43, 46, 49, 54, 55, 60, 62, 84, 86, 39:
		return 14
	case 57, 58:
		return 12
	case 64, 65, 93, 95:
		return 11
	}
	if digits[0] == '1' || digits[0] == '7' {
		return 11
	}
	return 13
}
