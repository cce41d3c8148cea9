package memory

import (
	"net/url"
	"strconv"

	"abagraph/fact"
	"abagraph/memory/mask"
)

// Masker masks personal data for the tenant that a caller's writes go to. A mode
// that is not said is what the node is set to.
func (s *Service) Masker(c Caller, mode mask.Mode) mask.Masker {
	m := s.masking
	m.Tenant = c.Tenant
	if mode != mask.Unsaid {
		m.Mode = mode
	}
	return m
}

// MaskText masks a text that is no tenant's, as the node is set to.
func (s *Service) MaskText(text string) string {
	m := s.Masker(Caller{}, mask.Unsaid)
	text, _ = m.Text(text)
	return text
}

// maskRequest masks a request before anything else sees it: no vector is made of
// personal data, and no entry of the log holds it (C-54). It counts what was
// masked in what shall be written.
func (s *Service) maskRequest(o WriteOptions, r *fact.Request) (int, error) {
	m := s.Masker(Caller{Tenant: r.Tenant}, o.Mask)
	if m.Mode == mask.Off {
		return 0, nil
	}
	maskPath(&m, r.Idem)
	if r.Write == nil {
		return 0, nil
	}
	total := 0
	for i := range r.Write.Asserts {
		a := &r.Write.Asserts[i]
		n, err := m.Assert(a)
		if err == nil && n > 0 {
			err = stillFits(a, i, len(r.Write.Asserts))
		}
		if err != nil {
			return 0, err
		}
		total += n
	}
	for i := range r.Write.Guards {
		if n := maskGuard(&m, &r.Write.Guards[i]); n > 0 {
			o.warn("compares[" + strconv.Itoa(i) + "] was compared in its masked form, as facts are stored")
		}
	}
	if b := r.Write.Backfill; b != nil {
		b.Reason, _ = m.Text(b.Reason)
	}
	return total, nil
}

// maskGuard masks a guard as the facts that it asks for were masked.
func maskGuard(m *mask.Masker, g *fact.Guard) int {
	subject, n := m.Name(g.Subject)
	g.Subject = subject
	if g.Kind == fact.GuardSame || g.Kind == fact.GuardAbsent {
		return n
	}
	object, more := m.Object(g.Object)
	g.Object = object
	return n + more
}

// maskPath masks the path under which an outcome is kept: that of a page names its
// subject.
func maskPath(m *mask.Masker, idem *fact.Idempotency) {
	if idem == nil {
		return
	}
	path, err := url.PathUnescape(idem.Path)
	if err != nil {
		return
	}
	if path, n := m.Text(path); n > 0 {
		idem.Path = path
	}
}

// stillFits refuses a statement that masking has made longer than it may be.
func stillFits(a *fact.Assert, i, of int) error {
	field, limit := "", 0
	switch {
	case len(a.Subject) > fact.MaxNameBytes:
		field, limit = "subject", fact.MaxNameBytes
	case a.Object.Kind == fact.Text && len(a.Object.Text) > fact.MaxObjectBytes:
		field, limit = "object", fact.MaxObjectBytes
	case a.Source != nil && len(*a.Source) > fact.MaxSourceBytes:
		field, limit = "source", fact.MaxSourceBytes
	case len(a.Properties) > fact.MaxPropertiesBytes:
		field, limit = "properties", fact.MaxPropertiesBytes
	default:
		return nil
	}
	which := ""
	if of > 1 {
		which = " (fact " + strconv.Itoa(i+1) + " of " + strconv.Itoa(of) + ")"
	}
	return fact.Invalid(field, "is longer than "+strconv.Itoa(limit)+" bytes once the personal data in it is masked"+which)
}

// mask returns a page and the name that it is saved under without personal data.
func (in *PageInput) mask(m *mask.Masker, name string) (*PageInput, string, int) {
	masked := *in
	total := 0
	text := func(s string) string {
		s, n := m.Text(s)
		total += n
		return s
	}
	name, total = m.Name(name)
	masked.Title, masked.Body = text(in.Title), text(in.Body)
	if in.Source != nil {
		source, n := m.Source(*in.Source)
		masked.Source, total = &source, total+n
	}
	masked.Citations = nil
	for _, c := range in.Citations {
		c.URL, c.Quote = text(c.URL), text(c.Quote)
		masked.Citations = append(masked.Citations, c)
	}
	return &masked, name, total
}
