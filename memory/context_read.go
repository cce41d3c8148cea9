package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"abagraph/fact"
	"abagraph/memory/packet"
	"abagraph/memory/page"
	"abagraph/memory/search"
)

// Bounds of what is read for one packet.
const (
	maxSeedFacts      = 256 // of one seed, as subject
	maxSeedMentions   = 64  // of one seed, as object
	maxNeighbours     = 32  // that are walked to
	maxNeighbourFacts = 16  // of one of them
	maxLines          = 48  // of which the rest is read
	maxLineFacts      = 256 // of one of them
	maxRecent         = 8
	maxRecentLook     = 32 // asserts that are looked at for them
	maxGoalSeeds      = 8  // entities that the goal names
)

// briefing gathers what a packet is made of, from one view.
type briefing struct {
	s *Service
	r *reading
	q *ContextQuery
	g *grapher

	seeds      []string // those that exist: the project, the given ones, those that the goal names
	candidates []packet.Candidate
	pages      []packet.Page
	warnings   []packet.Warning
	steps      []string

	targets   map[fact.ID]string // what facts' objects name, of those that a packet was tried with
	known     map[string]bool    // subjects whose facts have been read
	pageOf    []pageRef
	neighbour []string
	cosines   map[string]search.Cosines // of the search for the goal, by tenant
	scanned   int
	walked    int
}

// pageRef is a page that an entity has.
type pageRef struct{ tenant, subject, id string }

func newBriefing(s *Service, r *reading, q *ContextQuery) *briefing {
	return &briefing{s: s, r: r, q: q, g: newGrapher(r, nil), known: map[string]bool{}}
}

// read gathers in a fixed order: seeds, what answers the goal, neighbours, recent
// facts, pages.
func (b *briefing) read() error {
	for _, note := range b.q.Notes {
		b.warn("input", note)
	}
	for _, step := range [...]func() error{b.readSeeds, b.search, b.walk, b.recent, b.complete, b.readPages, b.judge, b.lookAround} {
		if err := b.r.ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (b *briefing) warn(code, message string) {
	b.warnings = append(b.warnings, packet.Warning{Code: code, Message: message})
}

func (b *briefing) step(text string) { b.steps = append(b.steps, text) }

// query selects what holds at the point that is read, and the candidates that
// speak against it. The valid time is always named, so that a packet of the
// present and the same one made again later are read in the same way.
func (b *briefing) query(q fact.Query, limit int) fact.Query {
	q.Scope, q.At, q.Limit = b.r.scope, b.r.at, limit
	q.StatusGiven = true
	q.Statuses = fact.StatusSet(0).With(fact.Active).With(fact.Candidate)
	if !q.At.AsOf.Given() {
		q.At.AsOf = b.r.at.Now
		return q
	}
	q.Statuses = q.Statuses.With(fact.Superseded)
	if b.q.IncludeRetracted {
		q.Statuses = q.Statuses.With(fact.Retracted)
	}
	return q
}

func (b *briefing) facts(q fact.Query, limit int) ([]fact.Fact, bool, error) {
	q = b.query(q, limit)
	got, err := b.r.view.Facts(b.r.ctx, &q)
	if err != nil {
		return nil, false, fmt.Errorf("read facts for a packet: %w", err)
	}
	b.scanned += got.Scan.Scanned
	return got.Facts, got.Scan.LimitHit, nil
}

// add makes candidates of facts. What makes a page is no fact of a packet: it is
// shown as a page.
func (b *briefing) add(list []fact.Fact, d packet.Distance) {
	for i := range list {
		f := &list[i]
		if ofReports(f, d) {
			continue
		}
		switch f.Predicate {
		case page.Of:
			if f.Object.Kind == fact.Text && f.Status != fact.Candidate {
				b.pageOf = append(b.pageOf, pageRef{f.Tenant, f.Subject, normalise(f.Object.Text)})
			}
			continue
		case page.Body:
			continue
		}
		b.candidates = append(b.candidates, packet.Candidate{Fact: f, Distance: d})
	}
}

// ofReports tells of a fact that it is of a report, which quotes what the packet has at
// first hand: its page is shown only where the report itself is asked for.
func ofReports(f *fact.Fact, d packet.Distance) bool {
	switch f.Predicate {
	case fact.ReportRule, fact.ReportState, fact.ReportEdition:
		return fact.IsGoverned(f.Subject, f.Predicate)
	case page.Of, page.Title:
		return d == packet.Unreached && f.Source != nil && *f.Source == fact.ReportSource
	}
	return false
}

// target returns the entity that a fact's object names, or "".
func (b *briefing) target(f *fact.Fact) (string, error) {
	name, ok, err := b.g.target(b.r.ctx, f)
	if err != nil || !ok {
		return "", err
	}
	return name, nil
}

// readSeeds reads what is said of the seeds, and what mentions them.
func (b *briefing) readSeeds() error {
	given := b.q.Seeds
	if b.q.Project != "" {
		given = append([]string{b.q.Project}, given...)
	}
	named := map[string]bool{}
	for _, name := range given {
		if named[name] {
			continue
		}
		named[name] = true
		known, err := b.seed(name)
		if err != nil {
			return err
		}
		if !known {
			b.warn("seed_not_found", "no fact mentions "+shorten(name)+" at the time that is read; names are case-sensitive")
		}
	}
	taken := 0
	for _, name := range entitiesIn(b.q.Goal) {
		if named[name] || taken == maxGoalSeeds {
			continue
		}
		named[name] = true
		known, err := b.seed(name)
		if err != nil {
			return err
		}
		if known {
			taken++
		}
	}
	b.step(fmt.Sprintf("seeds→facts: %d of %d seeds, %d candidates", len(b.seeds), len(given)+taken, len(b.candidates)))
	return nil
}

// seed reads one seed, and tells whether anything is known of it.
func (b *briefing) seed(name string) (bool, error) {
	own, more, err := b.facts(fact.Query{Subject: name}, maxSeedFacts)
	if err != nil {
		return false, err
	}
	mentions, moreMentions, err := b.facts(b.naming(name), maxSeedMentions)
	if err != nil {
		return false, err
	}
	if more || moreMentions {
		b.warn("walk_limited", shorten(name)+" has more facts than a packet looks at: the newest "+
			fmt.Sprint(maxSeedFacts)+" of its own and "+fmt.Sprint(maxSeedMentions)+" that mention it were read")
	}
	if len(own)+len(mentions) == 0 {
		known, err := b.r.mentions(name)
		if known {
			b.warn("seed_empty", "nothing holds of "+shorten(name)+" at the time that is read")
		}
		return known, err
	}
	b.seeds = append(b.seeds, name)
	b.known[name] = !more
	from := len(b.candidates)
	b.add(own, packet.AtSeed)
	b.add(mentions, packet.AtSeed)
	if b.q.Project == "" || b.q.Project == name {
		return true, b.meet(b.candidates[from:], name)
	}
	return true, nil
}

// naming selects the facts that have a name for their object. Objects are stored
// as they were written, so that both forms of a name are looked for.
func (b *briefing) naming(name string) fact.Query {
	return fact.Query{Objects: namings(name)}
}

// meet notes the other ends of edges, to be walked to.
func (b *briefing) meet(list []packet.Candidate, seed string) error {
	for i := range list {
		f := list[i].Fact
		if f.Status == fact.Candidate {
			continue
		}
		other, err := b.target(f)
		if err != nil {
			return err
		}
		if other == seed {
			other = f.Subject
		}
		if other != "" {
			b.neighbour = append(b.neighbour, other)
		}
	}
	return nil
}

// walk reads what is said of the neighbours of seeds.
func (b *briefing) walk() error {
	left := 0
	met := make(map[string]bool)
	for _, name := range b.seeds {
		met[name] = true
	}
	for _, name := range b.neighbour {
		if met[name] {
			continue
		}
		met[name] = true
		if b.walked == maxNeighbours {
			left++
			continue
		}
		b.walked++
		list, more, err := b.facts(fact.Query{Subject: name}, maxNeighbourFacts)
		if err != nil {
			return err
		}
		b.known[name] = !more
		b.add(list, packet.NextToSeed)
	}
	if left > 0 {
		b.warn("walk_limited", fmt.Sprintf("the seeds have more neighbours than a packet walks to: the first %d were", maxNeighbours))
	}
	b.step(fmt.Sprintf("1-hop walk: %d neighbours, %d candidates", b.walked, len(b.candidates)))
	return nil
}

// recent adds what was asserted last, whatever it is about.
func (b *briefing) recent() error {
	if !b.q.IncludeRecent {
		return nil
	}
	q := b.query(fact.Query{}, maxRecent)
	q.Statuses &^= fact.StatusSet(0).With(fact.Candidate)
	list, err := b.r.view.Recent(b.r.ctx, &q, maxRecentLook)
	if err != nil {
		return fmt.Errorf("read recent facts for a packet: %w", err)
	}
	b.add(list, packet.Unreached)
	b.step(fmt.Sprintf("recent: %d facts", len(list)))
	return nil
}

// foremost lists the candidates in the order of what they can hope for.
func (b *briefing) foremost() []int {
	list, outlook := make([]int, len(b.candidates)), make([]int, len(b.candidates))
	for i := range list {
		list[i], outlook[i] = i, b.candidates[i].Outlook()
	}
	slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(outlook[j], outlook[i]) })
	return list
}

// complete reads the rest of the timelines of which only a fact is there, so that
// who agrees and who contradicts is known of the facts that will rank first.
func (b *briefing) complete() error {
	type line struct{ subject, predicate string }
	done := map[line]bool{}
	for _, i := range b.foremost() {
		c := &b.candidates[i]
		distance := max(c.Distance, packet.NextToSeed) // the others mention no seed themselves
		at := line{c.Fact.Subject, c.Fact.Predicate}
		if c.Fact.Status == fact.Candidate || b.known[at.subject] || done[at] {
			continue
		}
		if len(done) == maxLines {
			break
		}
		done[at] = true
		list, _, err := b.facts(fact.Query{Subject: at.subject, Predicate: at.predicate}, maxLineFacts)
		if err != nil {
			return err
		}
		b.add(list, distance)
	}
	return nil
}

// lookAround says so where nothing was found.
func (b *briefing) lookAround() error {
	if len(b.candidates) > 0 || len(b.pages) > 0 {
		return nil
	}
	empty, err := b.r.emptyNamespace()
	if err != nil {
		return err
	}
	if empty != "" {
		b.warn("namespace_empty", empty)
		return nil
	}
	b.warn("nothing_found", "nothing was found for this request at the time that is read")
	return nil
}

// emptyNamespace says so where a namespace holds nothing at all at the record time
// that is read; "" where it holds something, or where a caller reads all of them.
func (r *reading) emptyNamespace() (string, error) {
	if r.scope.All {
		return "", nil
	}
	holds, err := r.holdsFacts()
	if err != nil || holds {
		return "", err
	}
	if r.scope.Branch != fact.MainBranch {
		return "branch " + shorten(r.scope.Branch) + " of the namespace " + shorten(r.scope.Tenant) + " holds no facts yet", nil
	}
	return "the namespace " + shorten(r.scope.Tenant) + " does not exist, or holds no facts yet", nil
}

// holdsFacts reports whether there is any fact at the record time that is read, of
// whatever status and time. The counters know it of the present alone, and of no branch.
func (r *reading) holdsFacts() (bool, error) {
	if !r.at.Past() && r.scope.Branch == fact.MainBranch {
		stats, err := r.view.Stats(r.ctx, r.scope)
		if err != nil {
			return false, fmt.Errorf("look whether a namespace holds anything: %w", err)
		}
		return stats.Total() > 0, nil
	}
	holds := false
	q := &fact.Query{Scope: r.scope, At: r.at, Statuses: fact.AllStatuses, StatusGiven: true}
	q.At.AsOf = fact.NoInstant
	err := r.view.Each(r.ctx, q, func(*fact.Fact) bool {
		holds = true
		return false
	})
	if err != nil {
		return false, fmt.Errorf("look whether a namespace holds anything: %w", err)
	}
	return holds, nil
}

// EmptyNamespace says so where the caller's namespace holds no fact at all at the
// record time of a read; else it is "".
func (s *Service) EmptyNamespace(ctx context.Context, c Caller, read Read) (string, error) {
	r, err := s.begin(ctx, c, read, 0, nil)
	if err != nil {
		return "", err
	}
	defer r.close()
	return r.emptyNamespace()
}

// warnIfEmpty warns of a namespace that holds nothing.
func (r *reading) warnIfEmpty() error {
	empty, err := r.emptyNamespace()
	if err == nil && empty != "" {
		r.warnOnce(empty)
	}
	return err
}

// entitiesIn lists the entity references that a text names, each once.
func entitiesIn(text string) []string {
	var list []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`"'()[]{}<>,;`, r) }) {
		word = strings.TrimRight(word, ".:!?")
		name, err := Name("goal", word)
		if err != nil {
			continue
		}
		if _, _, ok := fact.SplitEntity(name); ok {
			list = append(list, name)
		}
	}
	return list
}

// request is what the packet is made for.
func (b *briefing) request() *packet.Request {
	q := b.q
	most := q.MaxFacts
	if q.TokenBudget > 0 && !q.FactsGiven {
		most = packet.MaxFacts
	}
	return &packet.Request{
		Goal: q.Goal, Role: q.Role, Style: q.Style, Seeds: b.seeds, MaxFacts: most, MaxPages: q.MaxPages, Budget: q.TokenBudget,
		Cluster: q.ClusterThreshold, Conflicts: q.IncludeConflicts, Target: b.remembered,
	}
}

// finish puts what reading has to say in front of what assembling had to say.
func (b *briefing) finish(p *packet.Packet) {
	for _, w := range b.r.meta.Warnings {
		b.warn("search", w)
	}
	p.Warnings = append(b.warnings, p.Warnings...)
	p.Steps = append(b.steps, p.Steps...)
	p.Tx = b.r.meta.Tx
}
