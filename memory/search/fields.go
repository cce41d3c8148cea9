package search

import (
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// The weights of a fact's parts: a term of the subject counts as often as its
// weight says, and the document is as much longer.
const (
	weightSubject    = 3
	weightPredicate  = 2
	weightObject     = 2
	weightSource     = 1
	weightProperties = 1
)

// eachField visits the texts of a fact that are searched.
func eachField(f *fact.Fact, visit func(text string, weight int)) {
	visit(f.Subject, weightSubject)
	visit(f.Predicate, weightPredicate)
	switch kind := f.Object.Kind; {
	case fact.Quotes(f.Predicate, f.Source):
	case kind == fact.Text, kind == fact.Number:
		visit(f.Object.Text, weightObject)
	case kind == fact.Bool:
		visit(strconv.FormatBool(f.Object.Bool), weightObject)
	}
	if f.Source != nil {
		visit(*f.Source, weightSource)
	}
	if len(f.Properties) > 0 {
		// It was checked when it was written; what cannot be read has no strings.
		if v, err := jsonx.Parse(f.Properties); err == nil {
			eachString(v, visit)
		}
	}
}

// eachString visits the strings in a fact's properties, not their names.
func eachString(v jsonx.Value, visit func(text string, weight int)) {
	if v.Kind == jsonx.String {
		visit(v.Text, weightProperties)
	}
	for i := range v.Kids {
		eachString(v.Kids[i], visit)
	}
}
