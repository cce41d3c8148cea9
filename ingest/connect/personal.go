package connect

import (
	"strings"

	"abagraph/fact"
	"abagraph/memory/mask"
)

// refusePersonal refuses settings that hold personal data: they must stay as they
// are, so that they cannot be masked. The label, which is for people, is masked.
func (k *Connector) refusePersonal(m *mask.Masker) error {
	k.Label, _ = m.Text(k.Label)
	texts := [][2]string{
		{"name", k.Given}, {"mapping.subject", k.Mapping.Subject}, {"mapping.valid_from", k.Mapping.ValidFrom}, {"pull.items", k.Pull.Items}, {"pull.next", k.Pull.Next},
		{"pull.cursor.field", k.Pull.CursorField}, {"pull.cursor.param", k.Pull.CursorParam}, {"pull.auth.secret", k.Pull.Secret}, {"pull.auth.prefix", k.Pull.Prefix},
	}
	for _, name := range k.Mapping.Names() {
		texts = append(texts, [2]string{"mapping.fields", name})
	}
	if strings.Contains(k.URL, "@") || strings.Contains(strings.ToLower(k.URL), "%40") { // a number in an address is no telephone's
		texts = append(texts, [2]string{"url", strings.NewReplacer("%40", "@", "&", " ", "=", " ", "?", " ").Replace(k.URL)})
	}
	if k.Signature != nil {
		texts = append(texts, [2]string{"signature.secret", k.Signature.Secret})
	}
	for _, text := range texts {
		if _, n := m.Text(text[1]); n > 0 {
			return fact.Invalid(text[0], "looks like personal data, which is not stored")
		}
	}
	return nil
}

// names judges the names of fields that become predicates, each once. They are kept as
// they are, so that one with personal data refuses its record.
type names struct {
	masker mask.Masker
	clean  map[string]bool
}

// maxNames bounds what is remembered of them.
const maxNames = 10_000

func (n *names) check(facts []fact.Assert) error {
	for i := range facts {
		name := facts[i].Predicate
		if fact.IsState(facts[i].Subject, name) { // whoever delivers it
			return fact.Errorf(fact.SchemaInvalid, "would tell the server what to do, as facts of %s with predicate %s do, which no source may", facts[i].Subject, name)
		}
		if n.clean[name] {
			continue
		}
		if _, found := n.masker.Text(name); found > 0 {
			return fact.Errorf(fact.SchemaInvalid, "the name of a field looks like personal data, which is not stored")
		}
		if len(n.clean) < maxNames {
			n.clean[name] = true
		}
	}
	return nil
}

// clean is a state without personal data. A cursor that is some is not kept.
func (st State) clean(m *mask.Masker) State {
	st.Problem, _ = m.Text(st.Problem)
	if _, n := m.Text(st.Cursor); n > 0 && strings.Trim(st.Cursor, "0123456789.-") != "" {
		st.Cursor = ""
	}
	return st
}
