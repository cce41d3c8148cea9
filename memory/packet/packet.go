package packet

import "abagraph/fact"

// Packet is what a task should know, in one piece.
type Packet struct {
	Summary      string
	SystemPrompt string
	Entities     []string
	Facts        []Fact // the best first
	Pages        []Snippet
	// Tokens is what the lines of Facts take in the prompt, TotalTokens about
	// what all candidates would, PromptTokens what the whole prompt takes.
	Tokens       int
	TotalTokens  int
	PromptTokens int
	// Collapsed counts the duplicates and near-duplicates that were merged.
	Collapsed int
	// Dropped counts the facts that there was no room for.
	Dropped int
	// Rest are the facts that were dropped, the best first.
	Rest []*fact.Fact
	// Derived are facts that a model made of the dropped ones.
	Derived  []fact.Fact
	Warnings []Warning
	// Steps tell how the packet was put together.
	Steps []string
	// Tx is the tx that it was read at.
	Tx uint64
}

// Fact is a fact of a packet with what stands beside it.
type Fact struct {
	fact.Fact
	Corroboration Corroboration
	Score         Score
	// ObjectBytes and PropertiesBytes are the sizes of what was cut, in whole; 0
	// where nothing was.
	ObjectBytes     int
	PropertiesBytes int
}

// Snippet is the beginning of a page.
type Snippet struct {
	ID      string
	Subject string
	Title   string
	// Body is the beginning of the page, of at most MaxValueBytes; BodyBytes its
	// size in whole, where something was cut.
	Body      string
	BodyBytes int
	Text      string // the first words, in one line
	Source    *string
}

// short returns a fact as a packet carries it: a long text is cut at a character,
// and long properties are left out.
func short(c *claim) Fact {
	f := Fact{Fact: *c.Fact, Corroboration: c.corroboration, Score: c.score}
	if f.Object.Kind == fact.Text {
		whole := f.Object.Text
		if text, more := cut(whole, MaxValueBytes); more {
			f.Object.Text, f.ObjectBytes = text, len(whole)
		}
	}
	if len(f.Properties) > MaxValueBytes {
		f.PropertiesBytes, f.Properties = len(f.Properties), nil
	}
	return f
}

// snippet returns a page as a packet carries it.
func snippet(p *Page) Snippet {
	s := Snippet{ID: p.ID, Subject: p.Subject, Title: p.Title, Source: p.Source}
	body, more := cut(p.Body, MaxValueBytes)
	s.Body = body
	if more {
		s.BodyBytes = len(p.Body)
	}
	plain, _ := cut(p.Plain, MaxValueBytes)
	text, more := cut(clean(plain), maxSnippetBytes)
	if more {
		text += "…"
	}
	s.Text = text
	return s
}
