// Package dates reads the time that a question names in words: "on 2019-09-21",
// "in March 2020", "before 2018", "between 2015 and 2017", "last year". It reads
// English, in UTC, and only what names a time beyond doubt: a bare number is a
// year only where a word before it says so.
//
// It reads no clock: what "now" means is told by the caller.
package dates
