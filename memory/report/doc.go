// Package report is what a report says, as pure functions: a document of sections with
// counts and rows, as JSON and as Markdown.
//
// The document is kept as JSON, and the Markdown is made from that, so that both say
// the same. Texts of facts are cut and escaped: nothing that a fact says becomes a
// link, a heading or a table of the page.
//
// The package reads no store, knows no caller and no clock; package memory asks it.
package report
