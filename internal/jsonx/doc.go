// Package jsonx reads JSON strictly and writes it fast.
//
// Reading (Parse) accepts exactly the JSON of RFC 8259 with the limits of C-44:
// names match case and all, a name that occurs twice in one object, a lone
// surrogate, invalid UTF-8, nesting deeper than 64 and anything after the value
// are refused, a byte-order mark is skipped, and numbers keep the text that
// they were written with. Every error is a fact.Error that names the field by
// its path, such as asserts[3].confidence. An Object hands out typed fields and
// refuses the ones nobody asked for (C-43).
//
// Writing appends to a buffer, without reflection. A fact has one JSON form
// (AppendFact), which every surface sends.
//
// The package knows no request, no tenant and no route.
package jsonx
