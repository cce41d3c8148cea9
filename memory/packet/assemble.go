package packet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"abagraph/fact"
)

// maxMisses is how many facts in a row may be too long for what is left of a
// budget before no others are tried.
const maxMisses = 64

// assembly is one packet on its way.
type assembly struct {
	q      *Request
	p      *Packet
	prompt *prompt
	claims []claim
	kept   []claim
	pages  []Page
}

// Assemble puts a packet together from what was read for it. Candidates may come
// in any order, but in a fixed one; of two with the same id the first counts.
func Assemble(q *Request, candidates []Candidate, pages []Page, counter Counter) (*Packet, error) {
	a := &assembly{q: q, p: &Packet{}, pages: pages}
	a.prompt = &prompt{form: &forms[q.Style], counter: counter, budget: q.Budget}
	if err := a.reduce(distinct(candidates)); err != nil {
		return nil, err
	}
	if err := a.fill(); err != nil {
		return nil, err
	}
	a.finish()
	return a.p, nil
}

// distinct drops facts that are there twice, and joins the reasons to be there.
func distinct(list []Candidate) []Candidate {
	at := make(map[fact.ID]int, len(list))
	once := make([]Candidate, 0, len(list))
	for i := range list {
		c := &list[i]
		first, seen := at[c.Fact.ID]
		if !seen {
			at[c.Fact.ID] = len(once)
			once = append(once, *c)
			continue
		}
		known := &once[first]
		known.Distance = min(known.Distance, c.Distance)
		if c.Relevance > known.Relevance {
			known.Relevance, known.Why = c.Relevance, c.Why
		}
	}
	return once
}

// reduce makes claims of candidates, ranks and clusters them.
func (a *assembly) reduce(candidates []Candidate) error {
	list, collapsed := claims(candidates)
	rank(list)
	if a.q.Cluster > 0 {
		var near int
		var err error
		if list, near, err = cluster(list, a.q); err != nil {
			return err
		}
		collapsed += near
	}
	a.p.Collapsed = collapsed
	a.step("dedup+corroborate: " + plural(len(candidates), "candidate", "candidates") + ", " + strconv.Itoa(collapsed) + " collapsed")
	if !a.q.Conflicts {
		before := len(list)
		kept := list[:0]
		for _, c := range list {
			if c.corroboration.Conflict == 0 {
				kept = append(kept, c)
			}
		}
		list = kept
		a.step("without contradicted facts: " + strconv.Itoa(before-len(list)) + " left out")
	}
	a.claims = list
	return nil
}

func (a *assembly) step(text string) { a.p.Steps = append(a.p.Steps, text) }

func (a *assembly) warn(w Warning) { a.p.Warnings = append(a.p.Warnings, w) }

// fill takes into the prompt what there is room for: the frame, the task, the
// pages, and then facts as far as they go.
func (a *assembly) fill() error {
	ok, cost, err := a.prompt.begin(a.q.Role)
	if err != nil {
		return err
	}
	if !ok {
		a.prompt = nil
		a.warn(tooSmall(a.q.Budget, cost))
		return nil
	}
	p := a.prompt
	if p.task, err = p.optional(p.form.taskLine(a.q.Goal)); err != nil {
		return err
	}
	if !p.brief {
		// The counts are not known yet; every number below 1,000 is one token.
		if p.about, err = p.optional(p.form.countLine(a.q.Seeds, counts{999, 999, 999})); err != nil {
			return err
		}
	}
	if err := a.fillPages(); err != nil {
		return err
	}
	room := a.reserve()
	if err := a.fillFacts(); err != nil {
		return err
	}
	if err := a.derive(room); err != nil {
		return err
	}
	return a.settle()
}

// fillPages takes pages, which may have a quarter of what is left of a budget.
func (a *assembly) fillPages() error {
	p := a.prompt
	list := a.pages[:min(len(a.pages), a.q.MaxPages)]
	if p.budget > 0 {
		whole := p.budget
		p.budget = p.used.most() + p.left()/4
		defer func() { p.budget = whole }()
	}
	var taken []Snippet
	for i := range list {
		s := snippet(&list[i])
		line := p.form.pageLine(&s)
		if len(taken) == 0 {
			t, err := p.counter.Tokens(frame(p.form.pages) + line)
			if err != nil {
				return err
			}
			if !p.fits(t) {
				continue
			}
			if _, err := p.section(p.form.pages, 1); err != nil {
				return err
			}
		}
		ok, err := p.take(line)
		if err != nil {
			return err
		}
		if ok {
			taken, p.pages = append(taken, s), append(p.pages, line)
		}
	}
	a.p.Pages = taken
	return nil
}

// fillFacts takes facts in the order of their rank. One that is longer than what
// is left is skipped for shorter ones behind it.
func (a *assembly) fillFacts() error {
	p := a.prompt
	open, err := p.section(p.form.facts, min(len(a.claims), a.q.MaxFacts))
	if err != nil || !open {
		return err
	}
	misses := 0
	for i := range a.claims {
		if len(a.kept) == a.q.MaxFacts || misses == maxMisses || i == a.q.MaxFacts {
			break
		}
		c := a.claims[i]
		c.line = p.form.factLine(&c, p.brief)
		if c.target, err = a.q.Target(c.Fact); err != nil {
			return err
		}
		if c.cost, err = p.counter.Tokens(c.line); err != nil {
			return err
		}
		if !p.fits(c.cost) {
			misses++
			continue
		}
		misses = 0
		p.used = p.used.add(c.cost)
		a.kept = append(a.kept, c)
	}
	return nil
}

// settle writes the prompt and counts the whole of it. Should it be more than
// its lines, the last facts go.
func (a *assembly) settle() error {
	p := a.prompt
	for {
		p.facts = p.facts[:0]
		for i := range a.kept {
			p.facts = append(p.facts, a.kept[i].line)
		}
		a.p.Entities = a.entities()
		if p.about != "" {
			p.about = p.form.countLine(a.q.Seeds, a.counts())
		}
		text := p.String()
		t, err := p.counter.Tokens(text)
		if err != nil {
			return fmt.Errorf("count the prompt: %w", err)
		}
		if p.budget == 0 || t.most() <= p.budget {
			a.p.SystemPrompt, a.p.PromptTokens = text, t.most()
			return nil
		}
		switch {
		case p.derived != "":
			p.derived, a.p.Derived = "", nil
			a.warn(Warning{"compact_model_failed", "there is no room for what compact_model made of the facts that were dropped"})
		case len(a.kept) > 0:
			a.kept = a.kept[:len(a.kept)-1]
		case len(p.pages) > 0:
			p.pages, a.p.Pages = nil, nil
		case p.about != "" || p.task != "":
			p.about, p.task = "", ""
		default:
			a.warn(tooSmall(p.budget, t))
			return nil
		}
	}
}

func (a *assembly) counts() counts { return counts{len(a.p.Entities), len(a.kept), len(a.p.Pages)} }

// entities lists what the packet speaks of: the seeds, then the subjects and
// objects of its facts, each once.
func (a *assembly) entities() []string {
	seen := make(map[string]bool)
	list := []string{}
	add := func(name string) {
		if name != "" && !seen[name] {
			seen[name] = true
			list = append(list, name)
		}
	}
	for _, name := range a.q.Seeds {
		add(name)
	}
	for i := range a.kept {
		add(a.kept[i].Fact.Subject)
		add(a.kept[i].target)
	}
	return list
}

// finish fills in the lists and figures of the answer.
func (a *assembly) finish() {
	p := a.p
	if a.prompt == nil {
		p.Entities = a.entities()
	}
	var sum Tokens
	var shortened []string
	p.Facts = slices.Grow(p.Facts, len(a.kept))
	for i := range a.kept {
		c := &a.kept[i]
		sum = sum.add(c.cost)
		f := short(c)
		if f.ObjectBytes > 0 {
			shortened = append(shortened, c.Fact.ID.String())
		}
		p.Facts = append(p.Facts, f)
	}
	p.Tokens = sum.most()
	p.TotalTokens = p.Tokens + a.estimateRest()
	p.Rest = a.rest()
	p.Dropped = len(p.Rest)
	a.stepFold()
	p.Summary = summary(a.q, a.counts())
	a.step("rank+trim: " + strconv.Itoa(len(a.kept)) + " of " + plural(len(a.claims), "fact", "facts") + " kept")
	a.step("render " + a.q.Style.String())
	if len(shortened) > 0 {
		a.warn(Warning{"fact_cut", "texts over " + strconv.Itoa(MaxValueBytes) + " bytes are cut at a character; read the whole of them by id: " + some(shortened)})
	}
	if skipped := a.skipped(); len(skipped) > 0 {
		what := "longer than what was left of the budget, and skipped for what ranks lower: "
		if len(a.kept) == 0 {
			what = "no fact fits into what is left of the budget; the best is "
		}
		a.warn(Warning{"fact_skipped", what + some(skipped)})
	}
}

// skipped lists the facts that rank above one that was kept, and were not.
func (a *assembly) skipped() []string {
	var list []string
	n := 0
	for i := range a.claims {
		if n == len(a.kept) {
			if n == 0 && a.q.Budget > 0 && a.prompt != nil && len(a.claims) > 0 && a.q.MaxFacts > 0 {
				return []string{a.claims[0].Fact.ID.String()}
			}
			break
		}
		if a.claims[i].Fact.ID == a.kept[n].Fact.ID {
			n++
			continue
		}
		list = append(list, a.claims[i].Fact.ID.String())
	}
	return list
}

// some joins the first of a list.
func some(list []string) string {
	const most = 5
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:most], ", ") + " and " + strconv.Itoa(len(list)-most) + " more"
}

// estimateRest is about what the facts take that were not kept.
func (a *assembly) estimateRest() int {
	total, n := 0, 0
	for i := range a.claims {
		if n < len(a.kept) && a.claims[i].Fact.ID == a.kept[n].Fact.ID {
			n++
			continue
		}
		total += estimate(a.claims[i].Fact)
	}
	return total
}

// estimate is about how many tokens a fact's line takes: four bytes each.
func estimate(f *fact.Fact) int {
	const frame = 80 // confidence, date, quotes
	n := frame + len(f.Subject) + len(f.Predicate) + min(len(f.Object.Text), MaxValueBytes)
	if f.Source != nil {
		n += len(*f.Source)
	}
	return n / 4
}
