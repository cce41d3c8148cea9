package memory

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"sync"

	"abagraph/fact"
)

// maxCachedKeys bounds the keys that a node remembers between requests.
const maxCachedKeys = 4096

// errDenied is the answer to a caller that has no business here: the one of a
// thing that does not exist (C-42).
var errDenied = &fact.Error{Code: fact.NotFound, Message: "not found"}

// Denied is the error of a caller without a valid key. It is a NotFound, so
// that it tells nothing.
func Denied() *fact.Error { return errDenied }

// resolved is a tenant's key and the state of the registry in which it was
// found valid.
type resolved struct {
	hash    [sha256.Size]byte
	version uint64
	tenant  string
	name    string
	role    fact.Role
}

// keyCache remembers valid keys by their hash. Keys that are not valid are not
// remembered, so that guessing costs no memory.
type keyCache struct {
	mu   sync.RWMutex
	keys map[[sha256.Size]byte]*resolved
}

func (k *keyCache) get(hash [sha256.Size]byte, version uint64) *resolved {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if r := k.keys[hash]; r != nil && r.version == version {
		return r
	}
	return nil
}

func (k *keyCache) put(r *resolved) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys == nil || len(k.keys) >= maxCachedKeys {
		k.keys = make(map[[sha256.Size]byte]*resolved)
	}
	k.keys[r.hash] = r
}

// AuthEnabled reports whether a key is needed at all (C-41).
func (s *Service) AuthEnabled() bool { return s.auth }

// Resolve finds out who holds a key. The error is Denied for a key that is not
// valid, and NoLeader where this node does not know it and nobody can be asked. While auth is off everyone is the operator in tenant default, unless
// the key is a tenant's own. Comparison takes the same time whatever the key
// (C-41): keys are compared by their hashes.
func (s *Service) Resolve(ctx context.Context, secret string) (Caller, error) {
	if secret == "" && s.auth {
		return Caller{}, errDenied
	}
	if secret != "" {
		hash := sha256.Sum256([]byte(secret))
		if s.auth && subtle.ConstantTimeCompare(hash[:], s.adminHash[:]) == 1 {
			return Caller{Operator: true, Role: fact.RoleAdmin, Actor: "admin"}, nil
		}
		if s.twoAdmins && subtle.ConstantTimeCompare(hash[:], s.secondHash[:]) == 1 {
			return Caller{Operator: true, Role: fact.RoleAdmin, Actor: "admin-2"}, nil
		}
		r, err := s.lookUpAnywhere(ctx, hash)
		if err != nil {
			return Caller{}, err
		}
		if r != nil {
			return Caller{Tenant: r.tenant, Role: r.role, Actor: r.tenant + "/" + r.name, key: r}, nil
		}
		if s.auth {
			return Caller{}, errDenied
		}
	}
	return Caller{Operator: true, Tenant: DefaultTenant, Role: fact.RoleAdmin, Actor: "development"}, nil
}

// lookUpAnywhere finds a key that this node has not heard of yet too: one that lags,
// or is only just joining, would deny whoever was let in by another. A key that stays
// unknown costs a round among the nodes, which all who ask share; where there is no
// leader to ask, that is the answer.
func (s *Service) lookUpAnywhere(ctx context.Context, hash [sha256.Size]byte) (*resolved, error) {
	if r, err := s.lookUp(ctx, hash); r != nil || err != nil {
		return r, err
	}
	if _, err := s.engine.Basis(ctx, fact.Linearizable, 0); err != nil {
		return nil, err
	}
	return s.lookUp(ctx, hash)
}

func (s *Service) lookUp(ctx context.Context, hash [sha256.Size]byte) (*resolved, error) {
	version := s.version()
	if r := s.keys.get(hash, version); r != nil {
		return r, nil
	}
	view, err := s.view(ctx)
	if err != nil {
		return nil, fmt.Errorf("resolve a key: %w", err)
	}
	defer view.Close()
	r, err := findKey(ctx, view, hash)
	if err != nil || r == nil {
		return nil, err
	}
	// The version was read before the view was opened: at worst the view is
	// newer, and the next request looks again.
	r.version = version
	s.keys.put(r)
	return r, nil
}

// findKey returns a key that is valid and whose tenant is active, or nil.
func findKey(ctx context.Context, view View, hash [sha256.Size]byte) (*resolved, error) {
	key, err := view.KeyByHash(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("look up a key: %w", err)
	}
	if key == nil {
		return nil, nil
	}
	return &resolved{hash: hash, tenant: key.Tenant, name: key.Name, role: key.Role}, nil
}

// recheck denies a caller whose key was revoked between the moment it was
// resolved and the state that the view shows.
func (s *Service) recheck(ctx context.Context, c Caller, view View) error {
	if c.key == nil || c.key.version == s.version() {
		return nil
	}
	r, err := findKey(ctx, view, c.key.hash)
	if err != nil {
		return err
	}
	if r == nil || r.tenant != c.key.tenant || r.role < c.key.role {
		return errDenied
	}
	return nil
}

// confirm makes sure that a caller's key was not revoked by anything that was
// acknowledged on any node before now. A node that leads has applied all of
// that; another one asks for a basis first.
func (s *Service) confirm(ctx context.Context, c Caller) error {
	if c.key == nil {
		return nil
	}
	if !s.leads() {
		if _, err := s.engine.Basis(ctx, fact.Linearizable, 0); err != nil {
			return err
		}
	}
	r, err := s.lookUp(ctx, c.key.hash)
	if err != nil {
		return err
	}
	if r == nil || r.tenant != c.key.tenant || r.role < c.key.role {
		return errDenied
	}
	return nil
}
