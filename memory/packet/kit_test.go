package packet_test

import (
	"testing"

	"abagraph/fact"
	"abagraph/internal/tokens"
	"abagraph/memory/packet"

	"github.com/tiktoken-go/tokenizer"
)

// counter is the one that the product counts with.
type counter struct{ tokens.Counter }

func (c *counter) Tokens(text string) (packet.Tokens, error) {
	n, err := c.Count(text)
	return packet.Tokens{n.O200k, n.Cl100k}, err
}

var counting counter

// tokenizers count as everybody else does: the whole text in one go.
var tokenizers = func() (list []tokenizer.Codec) {
	for _, name := range []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase} {
		codec, err := tokenizer.Get(name)
		if err != nil {
			panic(err)
		}
		list = append(list, codec)
	}
	return list
}()

// really returns the larger count of both tokenizers.
func really(t *testing.T, text string) int {
	t.Helper()
	most := 0
	for _, codec := range tokenizers {
		n, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
	}
	return most
}

const day = 24 * 60 * 60 * 1000

// said makes a candidate; n sets its id and its tx.
func said(n int, subject, predicate, object string) packet.Candidate {
	source := "hr-system"
	return packet.Candidate{Distance: packet.NextToSeed, Fact: &fact.Fact{
		ID: fact.ID{15: byte(n), 14: byte(n >> 8)}, Tenant: "acme", Branch: fact.MainBranch, Subject: subject, Predicate: predicate, Object: fact.TextObject(object),
		ValidFrom: fact.Instant(1_717_200_000_000 + n*day), ValidUntil: fact.Forever, StatedUntil: fact.Forever, Confidence: 0.95, Source: &source,
		Status: fact.Active, Tx: uint64(n), DeclaredKnownAt: fact.NoInstant,
	}}
}

// another is a copy of a candidate that may be changed.
func another(c packet.Candidate) packet.Candidate {
	f := *c.Fact
	c.Fact = &f
	return c
}

func request() *packet.Request {
	return &packet.Request{
		MaxFacts: 64, MaxPages: 8, Conflicts: true,
		Target: func(f *fact.Fact) (string, error) {
			if _, _, ok := fact.SplitEntity(f.Object.Text); ok && f.Object.Kind == fact.Text {
				return f.Object.Text, nil
			}
			return "", nil
		},
	}
}

func assemble(t *testing.T, q *packet.Request, list []packet.Candidate, pages ...packet.Page) *packet.Packet {
	t.Helper()
	p, err := packet.Assemble(q, list, pages, &counting)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
