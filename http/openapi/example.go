package openapi

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
)

// ExampleTarget is the path of the operation's example, with its query.
func (o *Operation) ExampleTarget() string {
	target := o.Path
	for _, found := range aPlace.FindAllStringSubmatch(o.Path, -1) {
		if v := o.Example.Child("path").Get(found[1]); v != nil {
			target = strings.Replace(target, found[0], pathPart(fmt.Sprint(v)), 1)
		}
	}
	query := o.Example.Child("query")
	for i, name := range query.Keys {
		mark := "&"
		if i == 0 {
			mark = "?"
		}
		target += mark + name + "=" + queryPart(fmt.Sprint(query.Get(name)))
	}
	return target
}

// pathPart escapes what a path cannot hold; a place such as {id} stays.
func pathPart(text string) string {
	if strings.HasPrefix(text, "{") {
		return text
	}
	return url.PathEscape(text)
}

// queryPart escapes what a query cannot hold, and leaves a colon readable.
func queryPart(text string) string {
	return strings.ReplaceAll(url.QueryEscape(text), "%3A", ":")
}

// ExampleBody is the body of the operation's example, or "".
func (o *Operation) ExampleBody() string {
	body := o.Example.Get("body")
	if body == nil {
		return ""
	}
	text, err := Encode(body)
	if err != nil {
		return ""
	}
	return string(text)
}

// File is the file in the folder spec that describes the operation.
func (o *Operation) File() string { return o.file }

// Key names the operation as its file does.
func (o *Operation) Key() string { return o.Method + " " + o.Path }

// answersOf is where the answers to the examples of a file lie. A test writes them.
func answersOf(file string) string { return "answers/" + strings.TrimSuffix(file, ".yaml") + ".json" }

// readAnswers reads what the examples were answered. That they are the answers that are
// given is held by the server's tests.
func (r *reader) readAnswers(from fs.FS) {
	all := map[string]*Map{}
	for _, o := range r.spec.Operations {
		if o.Example == nil {
			continue
		}
		answers, known := all[o.file]
		if !known {
			answers = r.answersIn(from, o.file)
			all[o.file] = answers
		}
		if told, ok := answers.Get(o.Key()).(*Map); ok {
			o.Told = told
		}
	}
}

func (r *reader) answersIn(from fs.FS, file string) *Map {
	text, err := fs.ReadFile(from, answersOf(file))
	if err != nil {
		return NewMap() // not written yet: the test says so
	}
	m, err := ParseJSON(text)
	if err != nil {
		r.fail(answersOf(file), "%v", err)
		return NewMap()
	}
	return m
}

// ParseJSON reads an object of JSON in its order, and numbers as they are written.
func ParseJSON(text []byte) (*Map, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	v, err := ordered(d)
	if err != nil {
		return nil, err
	}
	m, ok := v.(*Map)
	if !ok {
		return nil, fmt.Errorf("is no object")
	}
	return m, nil
}

func ordered(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		m := NewMap()
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := ordered(d)
			if err != nil {
				return nil, err
			}
			m.Set(fmt.Sprint(key), value)
		}
		_, err := d.Token()
		return m, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			value, err := ordered(d)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err := d.Token()
		return list, err
	}
	return t, nil
}
