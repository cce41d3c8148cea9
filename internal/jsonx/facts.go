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
// it has no value; only branch is left out for main.
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
	if f.Properties == nil {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, f.Properties...)
	}
	dst = append(dst, `,"status":"`...)
	dst = append(dst, f.Status.String()...)
	dst = append(dst, `","tenant":`...)
	if f.Tenant == "" {
		dst = append(dst, "null"...)
	} else {
		dst = AppendString(dst, f.Tenant)
	}
	if f.Branch != "" && f.Branch != fact.MainBranch {
		dst = append(dst, `,"branch":`...)
		dst = AppendString(dst, f.Branch)
	}
	dst = append(dst, `,"transient":`...)
	dst = AppendBool(dst, f.Transient)
	dst = append(dst, `,"tx":`...)
	dst = strconv.AppendUint(dst, f.Tx, 10)
	return appendStatement(dst, f)
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
