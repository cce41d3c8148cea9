package memory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"abagraph/fact"
	"abagraph/internal/span"
	"abagraph/memory/mask"
)

// WriteOptions go with every write.
type WriteOptions struct {
	Branch string // "" = main
	// Idem makes the write safe to retry (C-31).
	Idem *fact.Idempotency
	// Threshold is the confidence below which this write's statements are
	// candidates (C-7); nil = the service's.
	Threshold *float64
	// Mask says what stands in place of personal data; the zero value is what
	// the node is set to, and mask.Off is for what the server itself writes.
	Mask mask.Mode
	// Approval is the id of what another asked for, where it takes two; "" = nothing was.
	Approval string
	// OwnGuards marks guards that the server sets for itself, as those of a job's
	// steps are: nobody is told what they tell, and so no policy is asked.
	OwnGuards bool
	// Blames says which field of the caller's request an error about a row of the write
	// is told of, where the caller gave no rows; nil where it did.
	Blames func(list string, i int) string
	// own marks what the service writes for itself, as nobody else may.
	own bool
	// Warn is told what the answer should say besides; nil = nobody asks.
	Warn func(text string)
}

func (o *WriteOptions) warn(text string) {
	if text != "" && o.Warn != nil {
		o.Warn(text)
	}
}

// MaxIdempotencyKey is the most bytes of an Idempotency-Key.
const MaxIdempotencyKey = 255

// CheckIdempotencyKey refuses a key that is empty, too long, or not printable.
func CheckIdempotencyKey(key string) error {
	if key == "" || len(key) > MaxIdempotencyKey {
		return fact.Invalid("Idempotency-Key", "must have 1 to 255 characters")
	}
	for i := 0; i < len(key); i++ {
		if key[i] <= 0x20 || key[i] >= 0x7f {
			return fact.Invalid("Idempotency-Key", "may hold only printable ASCII characters, and no space")
		}
	}
	return nil
}

// Assert writes one statement (C-10 to C-15). Where the request was judged and
// refused, the error is that refusal and the result tells at which tx.
func (s *Service) Assert(ctx context.Context, c Caller, o WriteOptions, a *fact.Assert, trace *Trace) (*fact.Result, error) {
	return s.Transact(ctx, c, o, &fact.Write{Asserts: []fact.Assert{*a}}, trace)
}

// Retract ends a statement (C-16). The id is opaque.
func (s *Service) Retract(ctx context.Context, c Caller, o WriteOptions, id string, trace *Trace) (*fact.Result, error) {
	parsed, ok := fact.ParseID(id)
	if !ok {
		if err := c.Require(fact.RoleWrite); err != nil {
			return nil, err
		}
		return nil, NoFact(id)
	}
	w := &fact.Write{Retracts: []fact.Retract{{ID: parsed, KnownAt: fact.NoInstant}}}
	return s.Transact(ctx, c, o, w, trace)
}

// Transact writes a batch, all or nothing (C-34). It gives each assert its id.
func (s *Service) Transact(ctx context.Context, c Caller, o WriteOptions, w *fact.Write, trace *Trace) (*fact.Result, error) {
	if err := c.Require(fact.RoleWrite); err != nil {
		return nil, err
	}
	for i := range w.Asserts {
		if w.Asserts[i].ID.IsZero() {
			w.Asserts[i].ID = s.newID()
		}
	}
	r := fact.Request{Tenant: c.Tenant, Branch: o.Branch, Write: w}
	if r.Branch == "" {
		r.Branch = fact.MainBranch
	}
	if err := unmark(r.Branch, w); err != nil {
		return nil, o.blamed(err)
	}
	result, err := s.propose(ctx, c, o, &r, trace)
	return result, o.blamed(err)
}

// NoField tells errors about rows of no field at all.
func NoField(string, int) string { return "" }

// Field tells errors about rows of one field.
func Field(name string) func(string, int) string {
	return func(string, int) string { return name }
}

// blamed returns an error about a row of the write as one about what the caller sent.
func (o *WriteOptions) blamed(err error) error {
	var e *fact.Error
	if o.Blames == nil || !errors.As(err, &e) {
		return err
	}
	list, rest, _ := strings.Cut(e.Field, "[")
	number, part, found := strings.Cut(rest, "]")
	i, bad := strconv.Atoi(number)
	if !found || bad != nil || list != "compares" && list != "asserts" && list != "retracts" {
		return err
	}
	named := *e
	named.Field = o.Blames(list, i)
	row := ""
	if strings.HasSuffix(named.Field, "]") { // a row of the caller's, with the part of it
		row = named.Field + ": "
		named.Field += part
	}
	if message, cut := strings.CutPrefix(e.Message, list+"["+number+"]: "); cut {
		named.Message = row + message
	}
	return &named
}

// propose sends a request through the log.
func (s *Service) propose(ctx context.Context, c Caller, o WriteOptions, r *fact.Request, trace *Trace) (*fact.Result, error) {
	ctx, part := span.Start(ctx, "memory.write", span.Internal)
	defer part.End()
	ctx, cancel := within(ctx, s.timeout)
	defer cancel()
	if err := s.confirm(ctx, c); err != nil {
		return nil, err
	}
	if err := s.admitRows(c, r.Write); err != nil {
		return nil, err
	}
	r.Actor, r.Threshold, r.Idem, r.Explain = c.Actor, s.threshold, o.Idem, trace != nil
	if o.Threshold != nil {
		r.Threshold = *o.Threshold
	}
	if err := s.authorise(ctx, c, o, r); err != nil {
		return nil, err
	}
	if err := s.policyByHand(ctx, c, o, r); err != nil {
		return nil, err
	}
	if r.Branching != nil {
		if err := s.approveBranching(ctx, c, &o, r.Branching); err != nil {
			return nil, err
		}
		r.Idem = o.Idem
	}
	if err := checkShapes(o, r); err != nil {
		return nil, err
	}
	masked, err := s.maskRequest(o, r)
	if err != nil {
		return nil, err
	}
	trace.Step("validate", "")
	if r.Write != nil {
		o.warn(s.embedWrite(ctx, r.Write, trace))
	}
	result, err := s.engine.Propose(ctx, r)
	if fact.CodeOf(err) == fact.TooLarge && dropVectors(r.Write) {
		// No write is refused for its vectors; nothing was written so far.
		o.warn("the facts are stored without vectors, because the write would be too large with them; they will be embedded later")
		result, err = s.engine.Propose(ctx, r)
	}
	if err != nil {
		return nil, unknownOutcome(err)
	}
	result.Masked = masked
	part.Int("abagraph.tx", int64(result.Tx))
	trace.Step("commit", "")
	if err := s.narrowed(ctx, c, r, result, trace); err != nil {
		return nil, err
	}
	if result.Err != nil {
		return result, inItsRow(result.Err, r.Write, result.RecordedAt)
	}
	return result, nil
}

// unknownOutcome says of a write that timed out that it may have happened
// (C-32).
func unknownOutcome(err error) error {
	if fact.CodeOf(err) == "" && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		return &fact.Error{Code: fact.Timeout, Message: "the outcome is unknown: the write may or may not have been applied; retry it with the same Idempotency-Key"}
	}
	if fact.CodeOf(err) == "" {
		return fmt.Errorf("propose a write: %w", err)
	}
	return err
}
