package openapi

import (
	"fmt"
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
