package page

import (
	"slices"

	"abagraph/internal/jsonx"
)

// The properties of a cites fact. One URL is one fact: where it is quoted more
// than once, quotes holds all of them, and quote the first.
const (
	quoteField  = "quote"
	quotesField = "quotes"
)

// QuotesOf reads the quotes out of a fact's properties. Others may have written
// them: what is no quote is passed over.
func QuotesOf(properties []byte) []string {
	if len(properties) == 0 {
		return nil
	}
	v, err := jsonx.Parse(properties)
	if err != nil {
		return nil
	}
	var quotes []string
	if list, ok := v.Field(quotesField); ok && list.Kind == jsonx.Array {
		for _, q := range list.Kids {
			if q.Kind == jsonx.String && q.Text != "" {
				quotes = append(quotes, q.Text)
			}
		}
	}
	if one, ok := v.Field(quoteField); ok && len(quotes) == 0 && one.Kind == jsonx.String && one.Text != "" {
		quotes = []string{one.Text}
	}
	return quotes
}

// properties writes quotes as a fact keeps them; nil for none.
func properties(quotes []string) []byte {
	if len(quotes) == 0 {
		return nil
	}
	b := jsonx.AppendString([]byte(`{"`+quoteField+`":`), quotes[0])
	if len(quotes) > 1 {
		b = jsonx.AppendStrings(append(b, `,"`+quotesField+`":`...), quotes)
	}
	return append(b, '}')
}

// source is one URL with every quote from it.
type source struct {
	url    string
	quotes []string
}

// gather puts citations of one URL together, in the order of their first
// occurrence. The same quote twice is one.
func gather(citations []Citation) []source {
	var list []source
	at := make(map[string]int)
	for _, c := range citations {
		i, seen := at[c.URL]
		if !seen {
			i = len(list)
			at[c.URL] = i
			list = append(list, source{url: c.URL})
		}
		if c.Quote != "" && !slices.Contains(list[i].quotes, c.Quote) {
			list[i].quotes = append(list[i].quotes, c.Quote)
		}
	}
	return list
}
