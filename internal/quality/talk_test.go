package quality

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"abagraph/fact"
	"abagraph/internal/onenode"
	"abagraph/internal/words"
	"abagraph/memory"
)

// The made-up conversations: pairs of people talk about things that others talk
// about too, and much of what they answer is said elsewhere in the same words. The
// set is planted, and tells whether a signal finds what it is for and spoils
// nothing else; it does not tell how people talk.
var (
	talkers  = []string{"Dana", "Omar", "Lucia", "Piotr", "Mei", "Tom", "Ines", "Raj", "Greta", "Yusuf", "Noor", "Ben"}
	topics   = []string{"the trip to Lisbon", "the garden shed", "the reading club", "the move to Oslo", "the charity run", "the kitchen repair", "the school play", "the sailing course", "the photo book", "the street party"}
	events   = []string{"interview", "exam", "audit", "appointment", "hearing", "rehearsal"}
	orgs     = []string{"Acme", "Borealis", "Cobalt", "Delphi", "Everest", "Fjord", "Granite", "Helix"}
	outcomes = []string{
		"They called on Tuesday and said yes.", "Honestly, it fell through in the end.", "Better than I feared, I start in May.",
		"I have to go back next week.", "They kept me waiting for two hours and then sent me home.", "It went well, we even laughed.",
	}
	chatter = []string{
		"It has been raining all day here.", "Did you sleep well?", "I had too much coffee this morning.", "The train was late again.",
		"My neighbour is practising the drums.", "I still have to call my mother.", "That made me laugh.", "Let me think about it.",
		"You are right, of course.", "We should meet for lunch soon.",
	}
	dishes = []string{"lentil soup", "rhubarb cake", "grilled sardines", "pumpkin risotto", "black pudding", "okra stew"}
	tastes = []string{"I could eat %s every day.", "I never got used to %s, to be frank."}
	// What is said in passing, and what it tells.
	hints = []struct{ said, predicate, object string }{
		{"If there are peanuts in it I end up in hospital.", "allergic_to", "peanuts"},
		{"The little one turned six on Sunday, we had twelve children in the flat.", "has_child", "a six year old"},
		{"On Thursdays you can only reach me after the choir.", "member_of_choir", "Thursday choir"},
		{"Since the accident I take the tram everywhere.", "commutes_by", "tram"},
		{"I signed the papers, from autumn on I teach at the college.", "occupation", "college teacher"},
		{"No steak for me, not for ten years now.", "diet", "vegetarian"},
	}
	asked = map[string]string{
		"allergic_to": "What is %s allergic to?", "has_child": "Does %s have a child?", "member_of_choir": "Which choir is %s a member of?",
		"commutes_by": "How does %s commute?", "occupation": "What is the occupation of %s?", "diet": "What is the diet of %s?",
	}
)

// talkQuestion is a question with the turn that answers it.
type talkQuestion struct {
	kind, text, session string
	at                  fact.Instant
}

// talk is the conversations on their way into a store.
type talk struct {
	rnd       *rand.Rand
	write     *fact.Write
	questions []talkQuestion
	marked    bool // facts say their session and turn
	session   string
	turn      int
	when      fact.Instant
	told      map[string]bool
}

func (k *talk) add(person, predicate, object string, turn int) {
	source := k.session
	a := fact.Assert{
		ID: nextID(), Subject: "Person:" + strings.ToLower(person), Predicate: predicate, Object: fact.TextObject(object), ValidFrom: k.when,
		ValidUntil: fact.Forever, Confidence: 1, Source: &source, Policy: fact.Coexist, KnownAt: fact.NoInstant,
	}
	if k.marked {
		a.Properties = fmt.Appendf(nil, `{"session":%q,"turn":%d}`, k.session, turn)
	}
	k.write.Asserts = append(k.write.Asserts, a)
}

func (k *talk) say(person, text string) {
	k.turn++
	k.when += 60_000
	k.add(person, "said", text, k.turn)
}

// ask puts a question that the last turn answers.
func (k *talk) ask(kind, text string) {
	k.questions = append(k.questions, talkQuestion{kind, text, k.session, k.when})
}

// fresh picks what a person has not spoken of yet; "" where there is nothing left.
func (k *talk) fresh(list []string, person string) string {
	for _, i := range k.rnd.Perm(len(list)) {
		if !k.told[person+list[i]] {
			k.told[person+list[i]] = true
			return list[i]
		}
	}
	return ""
}

func pick[T any](rnd *rand.Rand, list []T) T { return list[rnd.IntN(len(list))] }

// hold makes one session of two people.
func (k *talk) hold(n int) {
	k.session, k.turn = fmt.Sprintf("talk-%03d", n), 0
	k.when = fact.Instant(1_700_000_000_000 + int64(n)*86_400_000)
	at := k.rnd.IntN(len(talkers))
	a, b := talkers[at], talkers[(at+1+k.rnd.IntN(len(talkers)-1))%len(talkers)]
	topic := k.fresh(topics, b)
	small := func() {
		for range 1 + k.rnd.IntN(3) {
			k.say(a, pick(k.rnd, chatter))
			k.say(b, pick(k.rnd, chatter))
		}
	}
	if topic != "" {
		k.say(a, "Shall we talk about "+topic+"?")
	}
	small()
	amount := 1 + k.rnd.IntN(9)
	k.say(b, fmt.Sprintf("We should put aside %d hundred for it.", amount))
	if topic != "" {
		k.ask("session", fmt.Sprintf("How much did %s want to put aside for %s?", b, topic))
	}
	small()
	event, org := pick(k.rnd, events), pick(k.rnd, orgs)
	dish := k.fresh(dishes, a)
	if key := b + event + org; !k.told[key] {
		k.told[key] = true
		k.say(a, fmt.Sprintf("How did the %s at %s go?", event, org))
		k.say(b, pick(k.rnd, outcomes))
		k.ask("answer", fmt.Sprintf("What did %s say about the %s at %s?", b, event, org))
	}
	small()
	if dish != "" && !k.told[b+dish] {
		k.told[b+dish] = true
		k.say(a, fmt.Sprintf(tastes[0], dish))
		k.ask("speaker", fmt.Sprintf("What does %s think of %s?", a, dish))
		k.say(b, fmt.Sprintf(tastes[1], dish))
	}
	hint := pick(k.rnd, hints)
	if key := a + hint.predicate; !k.told[key] {
		k.told[key] = true
		k.say(a, hint.said)
		k.add(a, hint.predicate, hint.object, k.turn)
		k.ask("key", fmt.Sprintf(asked[hint.predicate], a))
	}
	small()
	k.say(b, fmt.Sprintf("By the way, my locker number is %d-%s now.", n, strings.ToLower(org)))
	k.ask("plain", fmt.Sprintf("Which locker number %d-%s did %s get?", n, strings.ToLower(org), b))
}

func newTalk(t *testing.T, node *onenode.Node, tenant string, marked bool) *talk {
	t.Helper()
	k := &talk{rnd: rand.New(rand.NewPCG(4, 2)), marked: marked, told: map[string]bool{}}
	for n := range 160 {
		k.write = &fact.Write{}
		k.hold(n)
		propose(t, node, tenant, k.write)
	}
	return k
}

// kinds are what the questions of conversations ask for.
var kinds = []string{"answer", "session", "key", "speaker", "plain"}

// TestConversations asks questions whose answers are turns of made-up conversations,
// of which the facts tell the session and the turn, or do not. That they do must
// find what it is for, and spoil nothing that is found without.
func TestConversations(t *testing.T) {
	table, err := words.Load()
	if err != nil {
		t.Fatal(err)
	}
	node := onenode.Start(t)
	door := node.Service(t, memory.Options{Words: table})
	plain := newTalk(t, node, "plain", false).measure(t, door, "plain")
	marked := newTalk(t, node, "marked", true).measure(t, door, "marked")
	least := map[string]float64{"answer": 0.7, "session": 0.6, "key": 0.9, "speaker": 1, "plain": 1}
	for _, kind := range kinds {
		p, m := plain[kind], marked[kind]
		t.Logf("%-8s %3.0f questions: first hit %5.1f %%, with turns %5.1f %%; among five %5.1f %%, with turns %5.1f %%", kind, p.asked,
			100*p.first/p.asked, 100*m.first/m.asked, 100*p.five/p.asked, 100*m.five/m.asked)
		if m.five/m.asked < least[kind] || m.first < p.first || m.five < p.five {
			t.Errorf("%s: worse than it has to be", kind)
		}
	}
}

// found counts the questions of a kind, and those whose answer came first or among
// five.
type found struct{ asked, first, five float64 }

func (k *talk) measure(t *testing.T, door *memory.Service, tenant string) map[string]*found {
	t.Helper()
	all := map[string]*found{}
	for _, kind := range kinds {
		all[kind] = &found{}
	}
	for _, q := range some(k.questions) {
		query := &memory.SearchQuery{Read: memory.NewRead(), Question: q.text, Mode: memory.HybridSearch, Top: 5}
		got, _, err := door.Search(t.Context(), caller(tenant), query, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := all[q.kind]
		n.asked++
		at := slices.IndexFunc(got.Hits, func(h memory.Found) bool {
			return *h.Fact.Source == q.session && h.Fact.Predicate == "said" && h.Fact.ValidFrom == q.at
		})
		if at >= 0 {
			n.five++
		}
		if at == 0 {
			n.first++
		}
	}
	return all
}
