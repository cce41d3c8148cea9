package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"abagraph/fact"
	"abagraph/internal/secrets"
	"abagraph/memory/mask"
)

// Secrets are references: a name of a tenant's, and where the value is kept on
// the nodes. They are facts of the ownerless scope, out of any tenant's reach, so
// that they have a history and nobody but the operator can make one. Values are
// read where they are used, and are stored nowhere.

const (
	secretKind      = "Secret:"
	secretPredicate = "secret_reference"
	noSecretBranch  = "cannot be named here: secrets have no branches"
	// MaxSecrets is the most references of one tenant.
	MaxSecrets = 1_000
)

// SecretRef is one reference. Reference is "" for all but the operator.
type SecretRef struct {
	Name      string
	Tenant    string
	Reference string
	CreatedAt fact.Instant
	Tx        uint64
	id        fact.ID
}

// checkSecretName refuses what is no name of a secret.
func checkSecretName(field, name string) error {
	fits := func(r rune) bool {
		return r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return !fits(r) }) {
		return fact.Invalid(field, "must be 1 to 64 ASCII letters, digits, hyphens, underscores and dots")
	}
	return nil
}

// SetSecret makes or moves a reference of the tenant that the operator names.
func (s *Service) SetSecret(ctx context.Context, c Caller, o WriteOptions, name, reference string, trace *Trace) (*SecretRef, *fact.Result, error) {
	if err := c.RequireOperator(); err != nil {
		return nil, nil, err
	}
	if o.Branch != "" && o.Branch != fact.MainBranch {
		return nil, nil, fact.Invalid("branch", noSecretBranch)
	}
	if err := checkSecretName("name", name); err != nil {
		return nil, nil, err
	}
	if err := secrets.Check(reference); err != nil {
		return nil, nil, fact.Invalid("reference", err.Error())
	}
	list, _, err := s.Secrets(ctx, c, NewRead(), nil)
	if err != nil {
		return nil, nil, err
	}
	if len(list) >= MaxSecrets && !slices.ContainsFunc(list, func(r SecretRef) bool { return r.Name == name }) {
		return nil, nil, fact.Errorf(fact.SchemaInvalid, "a tenant may have at most 1,000 secrets")
	}
	source := "abagraph"
	w := &fact.Write{Asserts: []fact.Assert{{
		Subject: secretKind + c.Tenant + "/" + name, Predicate: secretPredicate, Object: fact.TextObject(reference),
		ValidFrom: fact.NoInstant, ValidUntil: fact.Forever, KnownAt: fact.NoInstant, Confidence: 1, Source: &source,
	}}}
	o.Mask, o.own = mask.Off, true
	result, err := s.Transact(ctx, ownerless(c), o, w, trace)
	if err != nil {
		return nil, result, err
	}
	trace.Name("set_secret", "ownerless scope")
	f := &result.Asserts[0].Fact
	return &SecretRef{Name: name, Tenant: c.Tenant, Reference: reference, CreatedAt: f.RecordedAt, Tx: f.Tx}, result, nil
}

// ownerless is the caller in the scope that no tenant owns.
func ownerless(c Caller) Caller { return Caller{Operator: true, Role: fact.RoleAdmin, Actor: c.Actor} }

// DeleteSecret takes a reference back.
func (s *Service) DeleteSecret(ctx context.Context, c Caller, o WriteOptions, name string, trace *Trace) (*fact.Result, error) {
	if err := c.RequireOperator(); err != nil {
		return nil, err
	}
	o.Mask, o.own = mask.Off, true
	ref, _, err := s.SecretRef(ctx, c, NewRead(), name, nil)
	if fact.CodeOf(err) == fact.NotFound {
		if result, failed := s.Repeated(ctx, ownerless(c), o, secretKind+c.Tenant+"/"+name, secretPredicate); result != nil || failed != nil {
			return result, failed
		}
	}
	if err != nil {
		return nil, err
	}
	w := &fact.Write{Retracts: []fact.Retract{{ID: ref.id, KnownAt: fact.NoInstant}}}
	result, err := s.Transact(ctx, ownerless(c), o, w, trace)
	trace.Name("delete_secret", "ownerless scope")
	return result, err
}

// Secrets lists the references of the caller's tenant by name.
func (s *Service) Secrets(ctx context.Context, c Caller, read Read, trace *Trace) ([]SecretRef, Meta, error) {
	if err := c.Require(fact.RoleAdmin); err != nil {
		return nil, Meta{}, err
	}
	if read.Branch != "" {
		return nil, Meta{}, fact.Invalid("branch", noSecretBranch)
	}
	list, meta, err := s.secretRefs(ctx, c, read, trace)
	if !c.Operator {
		for i := range list {
			list[i].Reference = ""
		}
	}
	return list, meta, err
}

// SecretRef returns one reference.
func (s *Service) SecretRef(ctx context.Context, c Caller, read Read, name string, trace *Trace) (*SecretRef, Meta, error) {
	list, meta, err := s.Secrets(ctx, c, read, trace)
	if err != nil {
		return nil, meta, err
	}
	for i := range list {
		if list[i].Name == name {
			return &list[i], meta, nil
		}
	}
	return nil, meta, noSecret(name)
}

func noSecret(name string) *fact.Error {
	return &fact.Error{Code: fact.NotFound, Message: "no secret: " + shorten(name)}
}

func (s *Service) secretRefs(ctx context.Context, c Caller, read Read, trace *Trace) ([]SecretRef, Meta, error) {
	read.bare = true
	r, err := s.begin(ctx, c, read, 0, trace)
	if err != nil {
		return nil, Meta{}, err
	}
	defer r.close()
	prefix := secretKind + c.Tenant + "/"
	var list []SecretRef
	q := &fact.Query{Scope: fact.Scope{Branch: fact.MainBranch}, Predicate: secretPredicate, At: r.at}
	err = r.view.Each(r.ctx, q, func(f *fact.Fact) bool {
		if name, ours := strings.CutPrefix(f.Subject, prefix); ours && f.Object.Kind == fact.Text {
			list = append(list, SecretRef{Name: name, Tenant: c.Tenant, Reference: f.Object.Text, CreatedAt: f.RecordedAt, Tx: f.Tx, id: f.ID})
		}
		return true
	})
	if err != nil {
		return nil, r.meta, fmt.Errorf("list secrets: %w", err)
	}
	slices.SortFunc(list, func(a, b SecretRef) int { return strings.Compare(a.Name, b.Name) })
	trace.Step("execute", "by_predicate")
	trace.Name("secrets", "pick by_predicate index of the ownerless scope")
	trace.Int("results", len(list))
	return list, r.meta, nil
}

// Secret reads the value that a tenant's reference names, on this node and now.
// Who calls it must give it to no one but the party that the secret is for. The
// error names the secret, never the value.
func (s *Service) Secret(ctx context.Context, tenant, name string) (string, error) {
	c := Caller{Operator: true, Tenant: tenant, Role: fact.RoleAdmin}
	read := NewRead()
	read.Level = fact.Stale
	list, _, err := s.secretRefs(ctx, c, read, nil)
	if err != nil {
		return "", err
	}
	for i := range list {
		if list[i].Name != name {
			continue
		}
		value, err := secrets.Read(list[i].Reference)
		if err != nil {
			return "", fact.Errorf(fact.NotFound, "the secret %s cannot be read: %v", shorten(name), err)
		}
		return value, nil
	}
	return "", noSecret(name)
}
