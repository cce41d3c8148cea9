// Package tokens counts how many tokens a text is for a language model: exactly,
// by the two public vocabularies o200k_base and cl100k_base, which are part of
// the program. Nothing is fetched.
//
// The library that counts is slow beside a memory lookup, and the same words come
// again and again; so a text is cut where both vocabularies cut it in any case,
// and the counts of the short pieces are remembered, within a bound.
package tokens
