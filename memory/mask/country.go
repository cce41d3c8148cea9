package mask

// longest is the most digits that a number has in the country whose code it begins
// with, the code included: what follows it in a text is no part of it.
func longest(digits []byte) int {
	switch digits[0] {
	case '1', '7':
		return 11
	}
	switch 10*int(digits[0]-'0') + int(digits[1]-'0') {
	case 45, 47, 65:
		return 10
	case 27, 31, 32, 33, 34, 36, 40, 41, 48, 51, 56, 61, 66, 93, 94:
		return 11
	case 20, 30, 44, 46, 57, 58, 60, 63, 64, 81, 82, 84, 90, 91, 92, 95, 98:
		return 12
	case 39, 43, 49, 62:
		return 14
	}
	return 13
}
