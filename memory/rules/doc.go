// Package rules says who may do what: it reads a tenant's policy from the facts
// that state it, and decides by it.
//
// A policy is facts on the main branch: `Role:analyst grants Permission:facts:read`,
// with conditions as properties; `Agent:agent-7 acts_as Role:analyst`. Once there is
// any rule, what no rule grants is denied; a denial counts more than any grant, and
// what cannot be understood grants nothing and denies all of its permission.
//
// It is pure: the same facts and the same question give the same decision, and the
// rule that made it.
package rules
