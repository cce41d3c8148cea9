package imports

import (
	"strings"

	"github.com/go-json-experiment/json"

	"abagraph/fact"
)

// triples reads N-Triples and N-Quads, one statement a line. Subjects and
// predicates are IRIs or blank nodes as text; objects are text, and numbers and
// bools where their datatype says so; a language or another datatype goes into
// the properties lang and datatype; a graph becomes the source. Since a graph
// is a set of statements, they coexist unless told otherwise.
type triples struct {
	lines   *lineReader
	options *Options
}

func (t *triples) next() (record, row, error) {
	for {
		text, at, err := t.lines.next()
		if err != nil {
			return at, row{}, err
		}
		if text == nil {
			return at, row{}, errTooLong
		}
		if line := strings.TrimSpace(string(text)); line == "" || line[0] == '#' {
			continue
		}
		r, err := t.parse(text)
		return at, r, err
	}
}

func (t *triples) parse(raw []byte) (row, error) {
	p := termParser{rest: string(raw)}
	subject, err := p.term("the subject", iri|blank)
	if err != nil {
		return row{}, err
	}
	predicate, err := p.term("the predicate", iri)
	if err != nil {
		return row{}, err
	}
	object, err := p.term("the object", iri|blank|literal)
	if err != nil {
		return row{}, err
	}
	graph, err := p.end()
	if err != nil {
		return row{}, err
	}
	f := fields{options: t.options, row: row{known: fact.NoInstant, retracted: fact.NoInstant}}
	f.row.assert.Subject, f.row.assert.Predicate = t.name(subject), t.name(predicate)
	if f.row.assert.Object, f.row.assert.Properties, err = t.object(object); err != nil {
		return row{}, asBad(err)
	}
	if graph != nil {
		source := t.name(*graph)
		f.row.assert.Source = &source
	}
	r, err := f.finish()
	if r.assert.Policy == "" {
		r.assert.Policy = fact.Coexist.String()
	}
	return r, asBad(err)
}

// name shortens an IRI by the longest prefix that is known for it.
func (t *triples) name(n term) string {
	if n.kind != iri {
		return n.text
	}
	short, long := "", ""
	for name, prefix := range t.options.Prefixes {
		if strings.HasPrefix(n.text, prefix) && len(prefix) > len(long) {
			short, long = name, prefix
		}
	}
	if long == "" {
		return n.text
	}
	return short + ":" + strings.TrimPrefix(n.text, long)
}

const xsd = "http://www.w3.org/2001/XMLSchema#"

func (t *triples) object(n term) (fact.Object, []byte, error) {
	if n.kind != literal {
		return fact.TextObject(t.name(n)), nil, nil
	}
	switch local, _ := strings.CutPrefix(n.datatype, xsd); local {
	case "boolean":
		switch n.text {
		case "true", "1":
			return fact.BoolObject(true), nil, nil
		case "false", "0":
			return fact.BoolObject(false), nil, nil
		}
	case "integer", "int", "long", "short", "byte", "decimal", "double", "float", "nonNegativeInteger", "positiveInteger",
		"negativeInteger", "nonPositiveInteger", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte":
		if number, err := fact.NumberObject("object", strings.TrimPrefix(n.text, "+")); err == nil {
			return number, nil, nil
		}
	case "string":
		return fact.TextObject(n.text), nil, nil
	}
	properties, err := n.properties()
	return fact.TextObject(n.text), properties, err
}

// properties keeps what a literal says beside its text.
func (n term) properties() ([]byte, error) {
	kept := map[string]string{}
	if n.lang != "" {
		kept["lang"] = n.lang
	}
	if n.datatype != "" {
		kept["datatype"] = n.datatype
	}
	if len(kept) == 0 {
		return nil, nil
	}
	return json.Marshal(kept, json.Deterministic(true))
}
