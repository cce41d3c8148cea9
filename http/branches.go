package http

import (
	"net/http"
	"strconv"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// createBranch is POST /api/branches (C-55).
func (s *Server) createBranch(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	body, err := c.readOwn()
	if err != nil {
		return err
	}
	f := jsonx.Open(body, "")
	b := memory.NewBranch{Name: f.Required("name")}
	parent, named := f.Text("parent")
	if b.Parent = parent; named && parent == "" {
		f.Fail(fact.Invalid("parent", "must not be empty: leave it out for main"))
	}
	b.AsOf = c.input.Time(f, "as_of")
	if err := f.Done(); err != nil {
		return err
	}
	o, err := c.withApproval(c.writeOptions)
	if err != nil {
		return err
	}
	result, err := s.config.Memory.CreateBranch(c.r.Context(), c.caller, o, b, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return c.waits(err)
	}
	s.config.Logger.Info("abagraph.branch.create", "tx", result.Tx)
	out := appendBranch(append(c.begin(), '{'), &result.Branching.Branch)
	return c.finish(http.StatusCreated, append(c.warnField(out), '}'))
}

// appendBranch appends the fields of a branch. base_ts and as_of are one time under
// both of its names.
func appendBranch(b []byte, r *fact.Branch) []byte {
	b = jsonx.AppendString(append(b, `"name":`...), r.Name)
	b = appendOwner(append(b, `,"owner":`...), r.Tenant)
	b = jsonx.AppendString(append(b, `,"parent":`...), r.Parent)
	b = jsonx.AppendInstant(append(b, `,"base_ts":`...), r.BaseTs)
	b = jsonx.AppendInstant(append(b, `,"as_of":`...), r.BaseTs)
	b = strconv.AppendUint(append(b, `,"base_tx":`...), r.BaseTx, 10)
	b = jsonx.AppendString(append(b, `,"status":`...), r.Status.String())
	b = jsonx.AppendInstant(append(b, `,"created_at":`...), r.CreatedAt)
	b = strconv.AppendUint(append(b, `,"created_tx":`...), r.CreatedTx, 10)
	b = jsonx.AppendInstant(append(b, `,"closed_at":`...), r.ClosedAt)
	b = append(b, `,"closed_tx":`...)
	if r.ClosedTx == 0 {
		return append(b, "null"...)
	}
	return strconv.AppendUint(b, r.ClosedTx, 10)
}

func appendOwner(b []byte, tenant string) []byte {
	if tenant == "" {
		return append(b, "null"...)
	}
	return jsonx.AppendString(b, tenant)
}

// listBranches is GET /api/branches.
func (s *Server) listBranches(c *call) error {
	l := &memory.BranchList{Read: c.onlyMain(c.read(), ofBranches), Limit: c.query.limit()}
	l.After, _ = c.query.text("after")
	if text, ok := c.query.text("status"); ok {
		status, err := fact.ParseBranchStatus("status", text)
		if err != nil {
			c.query.fail(err)
		}
		l.Status, l.StatusGiven = status, true
	}
	if err := c.query.done(); err != nil {
		return err
	}
	list, more, meta, err := s.config.Memory.Branches(c.r.Context(), c.caller, l, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := append(c.begin(), '[')
	for i := range list {
		b = append(appendBranch(append(comma(b, i), '{'), &list[i]), '}')
	}
	if len(list) > 0 {
		c.next(more, list[len(list)-1].Name)
	}
	return c.finish(http.StatusOK, append(b, ']'))
}

// getBranch is GET /api/branches/:name.
func (s *Server) getBranch(c *call) error {
	read := c.onlyMain(c.read(), ofBranches)
	if err := c.query.done(); err != nil {
		return err
	}
	rec, meta, err := s.config.Memory.Branch(c.r.Context(), c.caller, read, c.param("name"), c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	return c.finish(http.StatusOK, append(appendBranch(append(c.begin(), '{'), rec), '}'))
}

// diffBranch is GET /api/branches/:name/diff.
func (s *Server) diffBranch(c *call) error {
	read := c.onlyMain(c.read(), ofBranches)
	limit := c.query.limit()
	if err := c.query.done(); err != nil {
		return err
	}
	d, meta, err := s.config.Memory.BranchDiff(c.r.Context(), c.caller, read, c.param("name"), limit, c.trace)
	c.meta(&meta)
	if err != nil {
		return err
	}
	b := jsonx.AppendString(append(c.begin(), `{"branch":`...), d.Branch.Name)
	b = jsonx.AppendString(append(b, `,"parent":`...), d.Branch.Parent)
	b = jsonx.AppendInstant(append(b, `,"base_ts":`...), d.Branch.BaseTs)
	b = strconv.AppendUint(append(b, `,"base_tx":`...), d.Branch.BaseTx, 10)
	b = jsonx.AppendString(append(b, `,"status":`...), d.Branch.Status.String())
	parts := [...]struct {
		name  string
		facts []fact.Fact
		count int
	}{
		{"added", d.Added, d.AddedCount}, {"changed", d.Changed, d.ChangedCount},
		{"removed", d.Removed, d.RemovedCount}, {"replaced", d.Replaced, d.ReplacedCount},
	}
	for _, p := range parts {
		b = jsonx.AppendFacts(append(jsonx.AppendString(append(b, ','), p.name), ':'), p.facts)
		if len(p.facts) < p.count {
			c.input.Warn(p.name + " holds the first " + strconv.Itoa(len(p.facts)) + " of " + strconv.Itoa(p.count) + " only: give limit=, at most " + strconv.Itoa(fact.MaxLimit))
		}
	}
	b = append(b, `,"counts":{`...)
	for i, p := range parts {
		b = append(jsonx.AppendString(comma(b, i), p.name), ':')
		b = strconv.AppendInt(b, int64(p.count), 10)
	}
	return c.finish(http.StatusOK, append(c.warnField(append(b, '}')), '}'))
}

// promoteBranch is POST /api/branches/:name/promote.
func (s *Server) promoteBranch(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	dryRun, _ := c.query.flag("dry_run")
	if err := c.readBody(); err != nil {
		return err
	}
	if len(c.body) > 0 { // a body is not needed
		v, err := jsonx.Parse(c.body)
		if err != nil {
			return err
		}
		if v, err = c.withoutTenant(v); err != nil {
			return err
		}
		f := jsonx.Open(v, "")
		dryRun = f.Flag("dry_run") || dryRun
		if err := f.Done(); err != nil {
			return err
		}
	}
	o, err := c.withApproval(c.writeOptions)
	if err != nil {
		return err
	}
	result, err := s.config.Memory.PromoteBranch(c.r.Context(), c.caller, o, c.param("name"), dryRun, c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return c.waits(err)
	}
	done := result.Branching
	c.trace.Int("promoted", done.Promoted)
	c.trace.Int("retracted", done.Retracted)
	c.trace.Int("superseded", len(done.Superseded))
	c.trace.Int("conflicts", done.ConflictCount)
	if !dryRun {
		s.config.Logger.Info("abagraph.branch.promote", "promoted", done.Promoted, "tx", result.Tx)
	}
	b := jsonx.AppendBool(append(c.begin(), `{"ok":`...), !refusedAny(done))
	b = jsonx.AppendString(append(b, `,"branch":`...), done.Branch.Name)
	b = jsonx.AppendString(append(b, `,"parent":`...), done.Branch.Parent)
	b = jsonx.AppendString(append(b, `,"status":`...), done.Branch.Status.String())
	b = jsonx.AppendBool(append(b, `,"dry_run":`...), done.DryRun)
	for _, n := range [...]struct {
		name  string
		count int
	}{{"promoted", done.Promoted}, {"unchanged", done.Unchanged}, {"retracted", done.Retracted}, {"superseded", len(done.Superseded)}} {
		b = append(jsonx.AppendString(append(b, ','), n.name), ':')
		b = strconv.AppendInt(b, int64(n.count), 10)
	}
	b = jsonx.AppendIDs(append(b, `,"superseded_ids":`...), done.Superseded)
	b = c.appendConflicts(b, done)
	b = strconv.AppendUint(append(b, `,"tx":`...), result.Tx, 10)
	return c.finish(http.StatusOK, append(c.warnField(b), '}'))
}

// refusedAny reports whether a dry run met what a promotion would be refused for.
func refusedAny(done *fact.BranchResult) bool {
	for i := range done.Conflicts {
		if done.Conflicts[i].Reason == fact.Rejected {
			return true
		}
	}
	return false
}

func (c *call) appendConflicts(b []byte, done *fact.BranchResult) []byte {
	b = append(b, `,"conflicts":[`...)
	for i := range done.Conflicts {
		k := &done.Conflicts[i]
		b = jsonx.AppendString(append(comma(b, i), `{"reason":`...), k.Reason.String())
		b = jsonx.AppendFact(append(b, `,"fact":`...), &k.Fact)
		b = append(jsonx.AppendFacts(append(b, `,"with":`...), k.With), '}')
	}
	if left := done.ConflictCount - len(done.Conflicts); left > 0 {
		c.input.Warn(strconv.Itoa(left) + " further conflicts are left out")
	}
	b = append(b, `],"conflict_count":`...)
	return strconv.AppendInt(b, int64(done.ConflictCount), 10)
}

// discardBranch is POST /api/branches/:name/discard, and DELETE /api/branches/:name.
func (s *Server) discardBranch(c *call) error {
	if err := c.caller.Require(fact.RoleWrite); err != nil {
		return err
	}
	if err := c.readBody(); err != nil {
		return err
	}
	if len(c.body) > 0 { // {} says nothing, and is what some clients send
		v, err := jsonx.Parse(c.body)
		if err != nil {
			return err
		}
		if err := jsonx.Open(v, "").Done(); err != nil {
			return err
		}
	}
	o, err := c.withApproval(c.writeOptions)
	if err != nil {
		return err
	}
	result, err := s.config.Memory.DiscardBranch(c.r.Context(), c.caller, o, c.param("name"), c.trace)
	if result != nil {
		c.wrote(result)
	}
	if err != nil {
		return c.waits(err)
	}
	done := result.Branching
	c.trace.Int("discarded", done.Discarded)
	s.config.Logger.Info("abagraph.branch.discard", "discarded", done.Discarded, "tx", result.Tx)
	b := jsonx.AppendString(append(c.begin(), `{"ok":true,"branch":`...), done.Branch.Name)
	b = jsonx.AppendString(append(b, `,"status":`...), done.Branch.Status.String())
	b = strconv.AppendInt(append(b, `,"discarded":`...), int64(done.Discarded), 10)
	b = strconv.AppendUint(append(b, `,"tx":`...), result.Tx, 10)
	return c.finish(http.StatusOK, append(b, '}'))
}
