package packet

import (
	"strconv"
	"strings"
)

// prompt is a system prompt that is being put together: lines with what each
// takes. Lines are counted apart, which is exact for lines that begin as ours
// do; the whole is counted once more at the end.
type prompt struct {
	form    *form
	counter Counter
	budget  int // 0 = none
	used    Tokens
	brief   bool // the short form of the frame and of the lines

	head, task, about string
	facts, pages      []string
	derived           string // the digest of what was dropped, last of the facts
}

// fits reports whether there is room for so much more.
func (p *prompt) fits(t Tokens) bool { return p.budget == 0 || p.used.add(t).most() <= p.budget }

// left is what is left of the budget.
func (p *prompt) left() int { return p.budget - p.used.most() }

// take counts a line that stays, if there is room for it.
func (p *prompt) take(line string) (bool, error) {
	t, err := p.counter.Tokens(line)
	if err != nil || !p.fits(t) {
		return false, err
	}
	p.used = p.used.add(t)
	return true, nil
}

// frame is what the sections cost whose first line is not there yet.
func frame(parts [2]string) string {
	text := parts[0] + "\n"
	if parts[1] != "" {
		text += parts[1] + "\n"
	}
	return text
}

// minRoom is how many tokens of a budget must be left beside the frame for its
// long form: room for two or three facts.
const minRoom = 96

// begin lays out what every prompt has: in the short form where the long one
// would leave next to nothing for facts. It tells whether there is room for that,
// and what it takes.
func (p *prompt) begin(role string) (bool, Tokens, error) {
	cost, err := p.beginAs(role, false)
	if err == nil && p.budget > 0 && p.budget-cost.most() < minRoom {
		cost, err = p.beginAs(role, true)
	}
	if err != nil || !p.fits(cost) {
		return false, cost, err
	}
	p.used = cost
	return true, cost, nil
}

func (p *prompt) beginAs(role string, brief bool) (Tokens, error) {
	p.brief, p.head = brief, head(role, brief)
	return p.counter.Tokens(p.head + frame(p.form.data))
}

// optional takes a line that may be left out: where there is a budget it may
// have a quarter of what is left.
func (p *prompt) optional(line string) (string, error) {
	if line == "" {
		return "", nil
	}
	t, err := p.counter.Tokens(line)
	if err != nil || p.budget > 0 && 4*t.most() > p.left() {
		return "", err
	}
	p.used = p.used.add(t)
	return line, nil
}

// section takes the frame of a section for which there are lines.
func (p *prompt) section(parts [2]string, lines int) (bool, error) {
	if lines == 0 {
		return false, nil
	}
	return p.take(frame(parts))
}

// String writes the prompt.
func (p *prompt) String() string {
	var b strings.Builder
	b.WriteString(p.head)
	b.WriteString(p.task)
	b.WriteString(p.form.data[0] + "\n")
	b.WriteString(p.about)
	facts := p.facts
	if p.derived != "" {
		facts = append(facts[:len(facts):len(facts)], p.derived)
	}
	p.write(&b, p.form.facts, facts)
	p.write(&b, p.form.pages, p.pages)
	b.WriteString(p.form.data[1] + "\n")
	return b.String()
}

func (p *prompt) write(b *strings.Builder, parts [2]string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString(parts[0] + "\n")
	for _, line := range lines {
		b.WriteString(line)
	}
	if parts[1] != "" {
		b.WriteString(parts[1] + "\n")
	}
}

// tooSmall is the warning of a budget that holds not even the frame.
func tooSmall(budget int, cost Tokens) Warning {
	return Warning{"budget_too_small", "a budget of " + strconv.Itoa(budget) + " tokens leaves no room: the role and the frame of the prompt alone take " +
		strconv.Itoa(cost.most())}
}
