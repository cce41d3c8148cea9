package memory

import (
	"bytes"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// branchMark is the property under which facts of a branch are told its name.
const branchMark = "_branch"

// unmark takes the mark of the branch that is written to out of the properties of
// statements, so that a fact can be written as it was read there, and promotion leaves
// no mark behind. The mark of another branch is refused.
func unmark(branch string, w *fact.Write) error {
	if branch == fact.MainBranch {
		return nil
	}
	for i := range w.Asserts {
		a := &w.Asserts[i]
		if !bytes.Contains(a.Properties, []byte(`"`+branchMark+`"`)) {
			continue
		}
		plain, err := unmarked(branch, a.Properties)
		if err != nil {
			return inRows(err, "asserts", i, len(w.Asserts))
		}
		a.Properties = plain
	}
	return nil
}

func unmarked(branch string, properties []byte) ([]byte, error) {
	v, err := jsonx.Parse(properties)
	if err != nil {
		return nil, err
	}
	for i := range v.Kids {
		kid := &v.Kids[i]
		if kid.Name != branchMark {
			continue
		}
		if kid.Kind != jsonx.String || kid.Text != branch {
			return nil, fact.Invalid("properties."+branchMark, "must be left out, or be the branch that is written to: it names the branch of a fact")
		}
		if len(v.Kids) == 1 {
			return nil, nil
		}
		v.Kids = append(v.Kids[:i:i], v.Kids[i+1:]...)
		return jsonx.Compact(make([]byte, 0, len(properties)), v, "properties")
	}
	return properties, nil // within an object further down
}
