package lint

import (
	"testing"

	"abagraph/http/openapi"
)

// TestTheDescriptionCanBeRead: one key too many in a file of http/openapi/spec, and no
// server could tell what it is. That the description is true is held in http.
func TestTheDescriptionCanBeRead(t *testing.T) {
	if _, err := openapi.Load(); err != nil {
		t.Error(err)
	}
}
