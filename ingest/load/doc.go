// Package load turns documents into text that keeps their structure: Markdown,
// HTML, plain text, PDF, CSV, JSON Lines, calendars and address cards. It cuts
// them into chunks at their own seams, finds the day that they were written, and
// leaves out what is no part of them: scripts, navigation, and briefings of this
// system's own that somebody has pasted into a transcript.
//
// It is pure: no clock, no store, no network. Time and memory are in proportion to
// the document.
package load
