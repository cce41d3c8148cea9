package fsm

import "abagraph/fact"

// dropInheritedVectors deletes what branches keep for statements that they inherit
// and that are gone: a branch may have given one a vector of its own.
func (l *ledger) dropInheritedVectors(s space, rows []*row) error {
	names, err := l.branchesOf(s.tenant)
	if err != nil || len(names) == 0 {
		return err
	}
	for _, r := range rows {
		left, err := l.pieces(r)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			continue
		}
		for _, name := range names {
			if err := l.dropVectorOn(space{s.tenant, name}, r.f.Statement()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *ledger) dropVectorOn(s space, statement fact.ID) error {
	there, err := l.hasVectors(s, statement)
	if err != nil || !there {
		return err
	}
	if r := l.changed(s, statement); r != nil && !r.untouched() {
		if !r.gone {
			return nil // the branch has the statement itself
		}
	} else if own, err := has(l.base, s.id(statement)); own || err != nil {
		return err
	}
	l.vectors.ops = append(l.vectors.ops, vectorOp{space: s, statement: statement})
	return nil
}

// branchesOf is branchNames, remembered until a branch is made.
func (l *ledger) branchesOf(tenant string) ([]string, error) {
	if names, known := l.forkNames[tenant]; known {
		return names, nil
	}
	names, err := l.branchNames(tenant)
	if err != nil {
		return nil, err
	}
	if l.forkNames == nil {
		l.forkNames = make(map[string][]string)
	}
	l.forkNames[tenant] = names
	return names, nil
}
