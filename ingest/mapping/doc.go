// Package mapping says which facts a record of a source becomes: a template makes
// the subject, and fields of the record become predicates with their values
// (C-52).
//
// It is a pure function of a mapping and a record: it reads no store, no clock and
// no network. A record becomes all of its facts, or none and a reason.
package mapping
