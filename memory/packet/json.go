package packet

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"abagraph/internal/jsonx"
)

// AppendJSON appends the packet as the one JSON form that every surface sends.
//
// digest is the SHA-256, in hex, of the bytes in front of `,"digest"` with a
// closing brace behind them: of what the packet says, whenever and at whichever
// tx it was put together. Packets with the same digest are the same briefing.
func (p *Packet) AppendJSON(dst []byte, explain bool) []byte {
	start := len(dst)
	dst = p.appendContent(dst)
	sum := sha256.New()
	sum.Write(dst[start:])
	sum.Write([]byte{'}'})
	dst = append(dst, `,"digest":"`...)
	dst = hex.AppendEncode(dst, sum.Sum(nil))
	dst = append(dst, `","tx":`...)
	dst = strconv.AppendUint(dst, p.Tx, 10)
	dst = append(dst, `,"explain":{"steps":`...)
	dst = jsonx.AppendStrings(dst, p.Steps)
	if explain {
		dst = p.appendRanking(append(dst, `,"ranking":`...))
	}
	return append(dst, '}', '}')
}

// Digest returns the digest that AppendJSON tells.
func (p *Packet) Digest() string {
	sum := sha256.Sum256(append(p.appendContent(nil), '}'))
	return hex.EncodeToString(sum[:])
}

func (p *Packet) appendContent(dst []byte) []byte {
	dst = append(dst, `{"kind":"context_packet","summary":`...)
	dst = jsonx.AppendString(dst, p.Summary)
	dst = append(dst, `,"system_prompt":`...)
	dst = jsonx.AppendString(dst, p.SystemPrompt)
	dst = append(dst, `,"entities":`...)
	dst = jsonx.AppendStrings(dst, p.Entities)
	dst = append(dst, `,"facts":[`...)
	for i := range p.Facts {
		dst = AppendFact(comma(dst, i), &p.Facts[i])
	}
	dst = append(dst, `],"pages":[`...)
	for i := range p.Pages {
		dst = p.Pages[i].append(comma(dst, i))
	}
	dst = append(dst, ']')
	dst = appendInt(dst, "tokens", p.Tokens)
	dst = appendInt(dst, "total_tokens", p.TotalTokens)
	dst = appendInt(dst, "prompt_tokens", p.PromptTokens)
	dst = appendInt(dst, "collapsed", p.Collapsed)
	dst = appendInt(dst, "dropped", p.Dropped)
	dst = append(dst, `,"corroboration":[`...)
	for i := range p.Facts {
		dst = p.Facts[i].Corroboration.Append(comma(dst, i))
	}
	dst = append(dst, `],"derived_facts":`...)
	dst = jsonx.AppendFacts(dst, p.Derived)
	dst = append(dst, `,"warnings":[`...)
	for i, w := range p.Warnings {
		dst = append(comma(dst, i), `{"code":`...)
		dst = jsonx.AppendString(dst, w.Code)
		dst = append(dst, `,"message":`...)
		dst = append(jsonx.AppendString(dst, w.Message), '}')
	}
	return append(dst, ']')
}

// AppendFact appends a fact of a packet in the one form of facts, with
// cut: {"object": bytes, "properties": bytes} where it is not whole.
func AppendFact(dst []byte, f *Fact) []byte {
	dst = jsonx.AppendFactFields(dst, &f.Fact)
	if f.ObjectBytes > 0 || f.PropertiesBytes > 0 {
		dst = append(dst, `,"cut":{`...)
		n := 0
		if f.ObjectBytes > 0 {
			dst = strconv.AppendInt(append(dst, `"object":`...), int64(f.ObjectBytes), 10)
			n++
		}
		if f.PropertiesBytes > 0 {
			dst = strconv.AppendInt(append(comma(dst, n), `"properties":`...), int64(f.PropertiesBytes), 10)
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// Append appends what others say about a fact (C-51).
func (c *Corroboration) Append(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"agree":`...), int64(c.Agree), 10)
	dst = appendInt(dst, "conflict", c.Conflict)
	dst = appendInt(dst, "sources", len(c.Sources))
	dst = jsonx.AppendStrings(append(dst, `,"source_names":`...), c.Sources)
	return append(dst, '}')
}

func (s *Snippet) append(dst []byte) []byte {
	dst = jsonx.AppendString(append(dst, `{"id":`...), s.ID)
	dst = jsonx.AppendString(append(dst, `,"subject":`...), s.Subject)
	dst = jsonx.AppendString(append(dst, `,"title":`...), s.Title)
	dst = jsonx.AppendString(append(dst, `,"body":`...), s.Body)
	dst = jsonx.AppendString(append(dst, `,"snippet":`...), s.Text)
	dst = append(dst, `,"source":`...)
	if s.Source == nil {
		dst = append(dst, "null"...)
	} else {
		dst = jsonx.AppendString(dst, *s.Source)
	}
	if s.BodyBytes > 0 {
		dst = strconv.AppendInt(append(dst, `,"cut":{"body":`...), int64(s.BodyBytes), 10)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func (p *Packet) appendRanking(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range p.Facts {
		f := &p.Facts[i]
		dst = jsonx.AppendID(append(comma(dst, i), `{"id":`...), f.ID)
		for _, part := range [...]struct {
			name  string
			value int
		}{
			{"score", f.Score.Total}, {"relevance", f.Score.Relevance}, {"proximity", f.Score.Proximity}, {"confidence", f.Score.Confidence},
			{"recency", f.Score.Recency}, {"corroboration", f.Score.Corroboration},
		} {
			dst = append(append(append(dst, `,"`...), part.name...), `":`...)
			dst = jsonx.AppendFloat(dst, float64(part.value)/Unit)
		}
		dst = jsonx.AppendString(append(dst, `,"why":`...), f.Score.Why)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendInt(dst []byte, name string, n int) []byte {
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return strconv.AppendInt(dst, int64(n), 10)
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}
