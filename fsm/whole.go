package fsm

import (
	"context"
	"errors"

	"abagraph/fact"
)

// EachVersion visits all that one tenant's branch has ever said and still has:
// first every fact as it is now, then every version that was replaced since. It
// reads the rows in the order in which they lie, one at a time, and ends early
// when a visitor answers false. The scope names a tenant.
func (v *View) EachVersion(ctx context.Context, scope fact.Scope, now func(*fact.Fact) bool, past func(*fact.Version) bool) error {
	all := &fact.Query{Scope: scope, Statuses: fact.AllStatuses, StatusGiven: true, At: fact.Present(fact.NoInstant)}
	sel, err := v.selector(ctx, all)
	if err != nil {
		return err
	}
	s := space{scope.Tenant, scope.Branch}
	if s.branch != fact.MainBranch {
		return v.eachForked(ctx, s, sel, now, past)
	}
	n := 0
	step := func() error {
		if n++; n%256 == 0 {
			return ctx.Err()
		}
		return nil
	}
	more, err := v.eachRow(s, sel, "", step, now)
	if err != nil || !more {
		return err
	}
	err = scanVersions(v.snap, s.prefix(famVersion), fact.NoInstant, func(axis byte, w *version) error {
		if err := step(); err != nil {
			return err
		}
		if axis == axisRecorded && !past(w.short()) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// DataTenants lists the tenants that hold data, the ownerless scope ("") among
// them, in byte order.
func (v *View) DataTenants(context.Context) ([]string, error) { return dataTenants(v.snap) }
