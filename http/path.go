package http

import (
	"net/url"
	"strings"
)

// param returns a part of the path, decoded. A part that cannot be decoded is
// returned as it is: it names nothing.
func (c *call) param(name string) string { return decodePath(c.echo.Param(name)) }

// rest returns what follows a prefix of the path, decoded: an entity's id may
// hold slashes, raw or encoded.
func (c *call) rest(prefix string) string {
	return decodePath(strings.TrimPrefix(c.r.URL.EscapedPath(), prefix))
}

func decodePath(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	if decoded, err := url.PathUnescape(s); err == nil {
		return decoded
	}
	return s
}
