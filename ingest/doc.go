// Package ingest turns what people and programs send into facts, and says of each
// piece what became of it.
//
// A digest takes statements that were extracted already, or a text: models that the
// caller brings along find what it says and score that, and its [[links]] become
// references. Personal data is masked before anything else sees it. What a model
// says is not believed: a quote from the text must support it. What is written goes
// through package memory like any other write, as one batch, and so does the text.
//
// It keeps nothing itself, and no key.
package ingest
