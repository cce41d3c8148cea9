package fact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of names and texts (C-5), in bytes.
const (
	MaxNameBytes       = 1024
	MaxSourceBytes     = 1024
	MaxPropertiesBytes = 64 << 10
	MaxTenantBytes     = 64
)

// MainBranch is the branch that reads and writes go to when none is named.
const MainBranch = "main"

// CheckName refuses a subject or predicate that C-5 does not allow: empty, over
// 1,024 bytes, invalid UTF-8, with control characters, or with white space or
// invisible characters at either end. Callers bring names to NFC first.
func CheckName(field, name string) error {
	switch {
	case name == "":
		return Invalid(field, "is required and must not be empty")
	case len(name) > MaxNameBytes:
		return Invalid(field, "is longer than 1,024 bytes")
	case !utf8.ValidString(name):
		return Invalid(field, "is not valid UTF-8")
	}
	for _, r := range name {
		if unicode.IsControl(r) {
			return Invalid(field, "contains a control character")
		}
	}
	first, _ := utf8.DecodeRuneInString(name)
	last, _ := utf8.DecodeLastRuneInString(name)
	if isBlank(first) || isBlank(last) {
		return Invalid(field, "begins or ends with white space or an invisible character")
	}
	return nil
}

// isBlank reports whether a rune is white space or cannot be seen.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)
}

// CheckSource refuses a source over 1,024 bytes or of invalid UTF-8.
func CheckSource(field, source string) error {
	if len(source) > MaxSourceBytes {
		return Invalid(field, "is longer than 1,024 bytes")
	}
	if !utf8.ValidString(source) {
		return Invalid(field, "is not valid UTF-8")
	}
	return nil
}

// CheckTenant refuses a tenant id that is not 1 to 64 ASCII letters, digits or
// hyphens.
func CheckTenant(field, id string) error {
	if id == "" || len(id) > MaxTenantBytes {
		return Invalid(field, "must have 1 to 64 characters")
	}
	for i := 0; i < len(id); i++ {
		if c := id[i]; !isAlnum(c) && c != '-' {
			return Invalid(field, "may hold only ASCII letters, digits and hyphens: "+quote(id))
		}
	}
	return nil
}

// SplitEntity splits an entity reference Type:id into its type and the rest
// (C-5). ok is false for anything that is not one, URLs and times among them.
func SplitEntity(ref string) (kind, name string, ok bool) {
	kind, name, found := strings.Cut(ref, ":")
	if !found || kind == "" || name == "" || strings.HasPrefix(name, "//") {
		return "", "", false
	}
	if !isLetter(kind[0]) {
		return "", "", false
	}
	for i := 1; i < len(kind); i++ {
		if c := kind[i]; !isAlnum(c) && c != '_' {
			return "", "", false
		}
	}
	if strings.ContainsFunc(name, unicode.IsSpace) {
		return "", "", false
	}
	return kind, name, true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isAlnum(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' }
