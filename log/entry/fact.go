package entry

import "abagraph/fact"

// factVersion is the version of a fact's bytes, in the store and on the wire.
const factVersion = 1

// The flags of a fact's bytes.
const (
	flagDated = 1 << iota
	flagTransient
	flagPending
	flagSource
	flagProperties
	flagDeclared
	flagContinues
	flagSupersededBy
)

// flagPromoted shares the byte of the policy, which needs two bits.
const flagPromoted = 0x80

// AppendFact appends the bytes of one fact.
func AppendFact(dst []byte, f *fact.Fact) []byte {
	w := writer{dst}
	w.byte(factVersion)
	w.byte(factFlags(f))
	w.byte(byte(f.Status))
	w.byte(policyByte(f))
	w.id(f.ID)
	w.string(f.Tenant)
	w.string(f.Branch)
	w.string(f.Subject)
	w.string(f.Predicate)
	w.object(f.Object)
	w.instant(f.ValidFrom)
	w.instant(f.ValidUntil)
	w.instant(f.StatedFrom)
	w.instant(f.StatedUntil)
	w.float(f.Confidence)
	w.int(int64(f.RecordedAt))
	w.uint(f.Tx)
	w.uint(f.FirstTx)
	w.int(int64(f.VersionAt))
	w.int(int64(f.VersionKnownAt))
	if f.Source != nil {
		w.string(*f.Source)
	}
	if f.Properties != nil {
		w.bytes(f.Properties)
	}
	if f.DeclaredKnownAt.Given() {
		w.int(int64(f.DeclaredKnownAt))
		w.uint(f.Batch)
	}
	if !f.Continues.IsZero() {
		w.id(f.Continues)
	}
	if !f.SupersededBy.IsZero() {
		w.id(f.SupersededBy)
	}
	return w.b
}

func policyByte(f *fact.Fact) byte {
	if f.Promoted {
		return byte(f.Policy) | flagPromoted
	}
	return byte(f.Policy)
}

func factFlags(f *fact.Fact) byte {
	var flags byte
	set := func(flag byte, on bool) {
		if on {
			flags |= flag
		}
	}
	set(flagDated, f.Dated)
	set(flagTransient, f.Transient)
	set(flagPending, f.Pending)
	set(flagSource, f.Source != nil)
	set(flagProperties, f.Properties != nil)
	set(flagDeclared, f.DeclaredKnownAt.Given())
	set(flagContinues, !f.Continues.IsZero())
	set(flagSupersededBy, !f.SupersededBy.IsZero())
	return flags
}

// DecodeFact reads the bytes of exactly one fact.
func DecodeFact(b []byte) (fact.Fact, error) {
	r := reader{b: b}
	f := r.fact()
	return f, r.done()
}

func (r *reader) fact() (f fact.Fact) {
	if v := r.byte(); v != factVersion && r.err == nil {
		r.fail("a fact of a version that this program does not know")
		return f
	}
	flags := r.byte()
	f.Status = fact.Status(r.byte())
	policy := r.byte()
	f.Policy, f.Promoted = fact.Policy(policy&^flagPromoted), policy&flagPromoted != 0
	f.Dated = flags&flagDated != 0
	f.Transient = flags&flagTransient != 0
	f.Pending = flags&flagPending != 0
	f.ID = r.id()
	r.names(&f)
	f.Object = r.object()
	f.ValidFrom, f.ValidUntil = r.instant(), r.instant()
	f.StatedFrom, f.StatedUntil = r.instant(), r.instant()
	f.Confidence = r.float()
	f.RecordedAt = fact.Instant(r.int())
	f.Tx, f.FirstTx = r.uint(), r.uint()
	f.VersionAt, f.VersionKnownAt = fact.Instant(r.int()), fact.Instant(r.int())
	if flags&flagSource != 0 {
		f.Source = r.source()
	}
	if flags&flagProperties != 0 {
		f.Properties = r.bytes()
	}
	f.DeclaredKnownAt = fact.NoInstant
	if flags&flagDeclared != 0 {
		f.DeclaredKnownAt = fact.Instant(r.int())
		f.Batch = r.uint()
	}
	if flags&flagContinues != 0 {
		f.Continues = r.id()
	}
	if flags&flagSupersededBy != 0 {
		f.SupersededBy = r.id()
	}
	return f
}

// branch reads a branch's name without allocating for the common one.
func (r *reader) branch() string {
	b := r.take(r.length())
	if string(b) == fact.MainBranch {
		return fact.MainBranch
	}
	return string(b)
}

func (w *writer) facts(list []fact.Fact) {
	w.uint(uint64(len(list)))
	for i := range list {
		w.b = AppendFact(w.b, &list[i])
	}
}

func (r *reader) facts() []fact.Fact {
	n := r.length()
	if n == 0 {
		return nil
	}
	list := make([]fact.Fact, 0, min(n, 1024))
	for i := 0; i < n && r.err == nil; i++ {
		list = append(list, r.fact())
	}
	return list
}

func (w *writer) object(o fact.Object) {
	w.byte(byte(o.Kind))
	switch o.Kind {
	case fact.Text, fact.Number:
		w.string(o.Text)
	case fact.Bool:
		w.bool(o.Bool)
	case fact.Blob:
		w.string(o.Text)
		w.int(o.Size)
	}
}

func (r *reader) object() (o fact.Object) {
	o.Kind = fact.Kind(r.byte())
	switch o.Kind {
	case fact.Null:
	case fact.Text, fact.Number:
		o.Text = r.string()
	case fact.Bool:
		o.Bool = r.bool()
	case fact.Blob:
		o.Text, o.Size = r.string(), r.int()
	default:
		r.fail("bad object")
	}
	return o
}
