// Package ingest turns what people and programs send into facts, and says of each
// piece what became of it.
//
// A digest takes statements that were extracted already, or a text whose [[links]]
// become references. Personal data is masked before anything else sees it. What is
// written goes through package memory like any other write, as one batch.
//
// It keeps nothing, and calls no model.
package ingest
