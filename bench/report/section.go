package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is one table of figures, already rendered as text.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// Goal is a figure that the project set itself.
type Goal struct {
	What string
	Want string
	Got  string
	Met  bool
}

// Section is what one part of a run has to say.
type Section struct {
	Name   string // one lower-case word: the mark in the document
	Title  string
	Text   string // how it was measured
	Tables []Table
	Goals  []Goal
}

func (g Goal) verdict() string {
	if g.Met {
		return "met"
	}
	return "missed"
}

// goals is the table of a section's goals.
func (s Section) goals() Table {
	t := Table{Title: "Goals", Head: []string{"goal", "want", "got", ""}}
	for _, g := range s.Goals {
		t.Rows = append(t.Rows, []string{g.What, g.Want, g.Got, g.verdict()})
	}
	return t
}

func (s Section) tables() []Table {
	if len(s.Goals) == 0 {
		return s.Tables
	}
	return append(s.Tables[:len(s.Tables):len(s.Tables)], s.goals())
}

// Print writes the section for a terminal, in columns.
func (s Section) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n== %s\n%s\n", s.Title, s.Text)
	for _, t := range s.tables() {
		fmt.Fprintf(&b, "\n%s\n", t.Title)
		t.columns(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t Table) columns(b *strings.Builder) {
	widths := make([]int, len(t.Head))
	lines := append([][]string{t.Head}, t.Rows...)
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		text := ""
		for i, cell := range line {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				text += "  " + cell + gap
			} else {
				text += "  " + gap + cell
			}
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
}

// Markdown renders the section for the document, without its marks.
func (s Section) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n", s.Title, s.Text)
	for _, t := range s.tables() {
		fmt.Fprintf(&b, "\n**%s**\n\n", t.Title)
		b.WriteString("| " + strings.Join(t.Head, " | ") + " |\n")
		b.WriteString("|" + strings.Repeat(" --- |", len(t.Head)) + "\n")
		for _, row := range t.Rows {
			b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
	}
	return b.String()
}
