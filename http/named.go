package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/ingest/connect"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// What connectors, triggers, alerts and secrets have in common: they are kept by name,
// set by a body, and deleted by their path.

// settings reads the body that registers or declares something by a name.
func (c *call) settings() (jsonx.Value, error) {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return jsonx.Value{}, err
	}
	body, err := c.readJSON()
	if err != nil {
		return body, err
	}
	return body, c.input.Scope(body)
}

// named refuses a body that names another thing than the path does; a path without a
// name says nothing.
func (c *call) named(slug string) error {
	path := c.param("name")
	if path == "" {
		return nil
	}
	if named, err := connect.Slug(path); err != nil || named != slug {
		return fact.Invalid("name", "is not the one that the path names")
	}
	return nil
}

// onMain returns what goes with a write that has no branch.
func (c *call) onMain() (memory.WriteOptions, error) {
	o, err := c.writeOptions()
	if err == nil && o.Branch != "" && o.Branch != fact.MainBranch {
		return o, fact.Invalid("branch", "cannot be named here: "+ofConnectors)
	}
	return o, err
}

// bareOnMain is onMain for a request without a body.
func (c *call) bareOnMain() (memory.WriteOptions, error) {
	if err := c.emptyBody(); err != nil {
		return memory.WriteOptions{}, err
	}
	return c.onMain()
}

// judged sets the headers of a write that was judged, and passes its error on.
func (c *call) judged(result *fact.Result, err error) error {
	if result != nil {
		c.wrote(result)
	}
	return err
}

// deleted answers that something is gone, since a tx.
func (c *call) deleted(name string, tx uint64) error {
	b := jsonx.AppendString(append(c.begin(), `{"deleted":`...), name)
	b = strconv.AppendUint(append(b, `,"tx":`...), tx, 10)
	return c.finish(http.StatusOK, append(b, '}'))
}

// ended answers that something that is no longer there was ended.
func (c *call) ended(name string) error {
	b := jsonx.AppendString(append(c.begin(), `{"ok":true,"name":`...), name)
	return c.finish(http.StatusOK, append(b, '}'))
}

// made is the status of something that was set: 200 where it was there already.
func made(result *fact.Result) int {
	if result.Wrote {
		return http.StatusCreated
	}
	return http.StatusOK
}
