package http

import (
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// adopt takes the fields of a read's body in beside the parameters of its query,
// so that both are read by one piece of code: a text as it is, a number as it is
// written, true and false. Null is absent. A name that both give is refused, and
// so is a value that no parameter could have, but for the lists that are named,
// which are returned.
func (c *call) adopt(body jsonx.Value, lists ...string) (map[string][]jsonx.Value, error) {
	if body.Kind != jsonx.Object {
		return nil, fact.Invalid("", "the body must be an object, not "+body.Kind.String())
	}
	if err := c.input.Scope(body); err != nil {
		return nil, err
	}
	got := map[string][]jsonx.Value{}
	for i := range body.Kids {
		v := &body.Kids[i]
		text := v.Raw
		switch v.Kind {
		case jsonx.Null:
			continue
		case jsonx.String:
			text = v.Text
		case jsonx.Array:
			if !contains(lists, v.Name) {
				return nil, fact.Invalid(shown(v.Name), "must not be an array")
			}
			got[v.Name] = v.Kids
			continue
		case jsonx.Object:
			return nil, fact.Invalid(shown(v.Name), "must not be an object")
		default:
			if contains(textParams, v.Name) {
				return nil, fact.Invalid(v.Name, "must be a string, not "+v.Kind.String())
			}
			if n, whole := v.Whole(); whole {
				text = strconv.FormatInt(n, 10)
			}
		}
		if v.Name == "tenant" {
			continue // judged with the caller
		}
		if c.query.has(v.Name) {
			return nil, fact.Invalid(shown(v.Name), "is given in the query and in the body")
		}
		if len(c.query.list) == maxParams {
			return nil, fact.Errorf(fact.SchemaInvalid, "the query and the body have more than 64 parameters")
		}
		c.query.list = append(c.query.list, param{name: v.Name, value: text})
	}
	return got, nil
}

// textParams are the parameters that a body gives as strings: a number or a flag among them
// is a mistake, where the others may be either.
var textParams = []string{
	"question", "query", "q", "subject", "predicate", "mode", "order", "status", "seeds", "query_vector", "branch", "consistency",
}

func (q *query) has(name string) bool {
	for i := range q.list {
		if q.list[i].name == name {
			return true
		}
	}
	return false
}

func contains(list []string, name string) bool {
	for _, one := range list {
		if one == name {
			return true
		}
	}
	return false
}

// texts reads the elements of a list as texts.
func (c *call) texts(name string, list []jsonx.Value) []string {
	got := make([]string, 0, len(list))
	for i := range list {
		if list[i].Kind != jsonx.String {
			c.query.fail(fact.Invalid(jsonx.Index(name, i), "must be a string, not "+list[i].Kind.String()))
			return nil
		}
		got = append(got, list[i].Text)
	}
	return got
}
