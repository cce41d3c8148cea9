package jsonx

import (
	"strconv"

	"abagraph/fact"
)

// AppendFact appends the one JSON form of a fact.
func AppendFact(dst []byte, f *fact.Fact) []byte {
	return append(AppendFactFields(dst, f), '}')
}

// AppendFactFields appends a fact's object without its closing brace, for
// answers that add fields of their own. Every field is always there, null where
// it has no value; only branch is left out for main. A fact of another branch
// tells it by all of its documented names: branch, properties._branch, and a
// tenant of the form owner~branch.
func AppendFactFields(dst []byte, f *fact.Fact) []byte {
	dst = append(dst, `{"id":`...)
	dst = AppendID(dst, f.ID)
	dst = append(dst, `,"subject":`...)
	dst = AppendString(dst, f.Subject)
	dst = append(dst, `,"predicate":`...)
	dst = AppendString(dst, f.Predicate)
	dst = append(dst, `,"object":`...)
	dst = AppendObject(dst, f.Object)
	dst = append(dst, `,"valid_from":`...)
	dst = AppendInstant(dst, f.ValidFrom)
	dst = append(dst, `,"valid_until":`...)
	dst = AppendInstant(dst, f.ValidUntil)
	dst = append(dst, `,"recorded_at":`...)
	dst = AppendInstant(dst, f.RecordedAt)
	dst = append(dst, `,"confidence":`...)
	dst = AppendFloat(dst, f.Confidence)
	dst = append(dst, `,"source":`...)
	dst = appendOptional(dst, f.Source)
	dst = append(dst, `,"properties":`...)
	onBranch := f.Branch != "" && f.Branch != fact.MainBranch
	switch {
	case onBranch:
		dst = appendTagged(dst, f)
	case f.Properties == nil:
		dst = append(dst, "null"...)
	default:
		dst = append(dst, f.Properties...)
	}
	dst = append(dst, `,"status":"`...)
	dst = append(dst, f.Status.String()...)
	dst = append(dst, `","tenant":`...)
	switch {
	case onBranch:
		dst = AppendString(dst, f.Tenant+"~"+f.Branch)
		dst = append(dst, `,"branch":`...)
		dst = AppendString(dst, f.Branch)
	case f.Tenant == "":
		dst = append(dst, "null"...)
	default:
		dst = AppendString(dst, f.Tenant)
	}
	dst = append(dst, `,"transient":`...)
	dst = AppendBool(dst, f.Transient)
	dst = append(dst, `,"tx":`...)
	dst = strconv.AppendUint(dst, f.Tx, 10)
	return appendStatement(dst, f)
}

// appendTagged appends the properties of a fact of a branch, with its name among
// them, unless they have a _branch of their own.
func appendTagged(dst []byte, f *fact.Fact) []byte {
	rest := f.Properties
	if len(rest) > 2 {
		if v, err := Parse(rest); err == nil && v.Kind == Object {
			for i := range v.Kids {
				if v.Kids[i].Name == "_branch" {
					return append(dst, rest...)
				}
			}
		}
	}
	dst = append(dst, `{"_branch":`...)
	dst = AppendString(dst, f.Branch)
	if len(rest) > 2 { // more than {}
		return append(append(dst, ','), rest[1:]...)
	}
	return append(dst, '}')
}

// appendStatement appends what the statement said and what became of it (C-13).
func appendStatement(dst []byte, f *fact.Fact) []byte {
	dst = append(dst, `,"policy":"`...)
	dst = append(dst, f.Policy.String()...)
	dst = append(dst, `","stated_from":`...)
	dst = AppendInstant(dst, f.StatedFrom)
	dst = append(dst, `,"stated_until":`...)
	dst = AppendInstant(dst, f.StatedUntil)
	dst = append(dst, `,"dated":`...)
	dst = AppendBool(dst, f.Dated)
	dst = append(dst, `,"continues":`...)
	dst = AppendID(dst, f.Continues)
	dst = append(dst, `,"superseded_by":`...)
	dst = AppendID(dst, f.SupersededBy)
	dst = append(dst, `,"declared_known_at":`...)
	return AppendInstant(dst, f.DeclaredKnownAt)
}

func appendOptional(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	return AppendString(dst, *s)
}

// AppendFacts appends an array of facts.
func AppendFacts(dst []byte, list []fact.Fact) []byte {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendFact(dst, &list[i])
	}
	return append(dst, ']')
}
