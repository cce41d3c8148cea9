// Package page is what a page means, as pure functions: the links in a body,
// the facts that a page is made of, and what a save must write and retract so
// that just the new page is left.
//
// A page is a cluster of facts: subject wiki_page id, id title, id wiki_body,
// subject references target, id cites url. It has no storage of its own, so
// that every point of both times has its pages.
//
// The package reads no store, knows no caller and no clock; package memory asks
// it.
package page
