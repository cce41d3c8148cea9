package http_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"abagraph/internal/models/standin"
	"abagraph/memory"
)

// reader is a stand-in that extracts what it is told to, and judges everything
// alike but for what it is told.
type reader struct {
	facts  func(text string) string // the items of an extraction, by the chunk
	scores map[string]float64       // by a word of the fact's line
}

func (m reader) reply(c standin.Call) standin.Reply {
	if c.Name == "facts" {
		return standin.Reply{JSON: `{"facts":[` + m.facts(chunkOf(c.Text)) + `]}`}
	}
	_, lines, _ := strings.Cut(c.Text, "\n\nFacts:\n")
	var scores []string
	for i, line := range strings.Split(strings.TrimSpace(lines), "\n") {
		score := 0.95
		for word, other := range m.scores {
			if strings.Contains(line, word) {
				score = other
			}
		}
		if score >= 0 {
			scores = append(scores, fmt.Sprintf(`{"n":%d,"score":%v,"reason":"seen"}`, i+1, score))
		}
	}
	return standin.Reply{JSON: `{"scores":[` + strings.Join(scores, ",") + `]}`}
}

func chunkOf(text string) string {
	_, text, _ = strings.Cut(text, "<text>\n")
	text, _, _ = strings.Cut(text, "\n</text>")
	if strings.HasPrefix(text, "Document: ") || strings.HasPrefix(text, "Section: ") {
		_, text, _ = strings.Cut(text, "\n\n")
	}
	return text
}

// found writes one item of an extraction.
func found(subject, predicate, object, quote string, more ...string) string {
	from, several := "null", "false"
	for _, m := range more {
		if m == "several" {
			several = "true"
		} else {
			from = quoted(m)
		}
	}
	return fmt.Sprintf(`{"subject":%s,"predicate":%s,"object":%s,"several":%s,"valid_from":%s,"valid_until":null,"quote":%s}`,
		quoted(subject), quoted(predicate), quoted(object), several, from, quoted(quote))
}

const hrText = "# Staff\n\nSarah Lee joined Acme Corp on 2024-01-15 as VP Engineering. She leads the [[Project:atlas|Atlas]] project.\n\nBob may join next year."

func hrReader() reader {
	return reader{
		facts: func(string) string {
			return strings.Join([]string{
				found("Person:sarah-lee", "works_at", "Org:acme", "Sarah Lee joined Acme Corp on 2024-01-15", "2024-01-15"),
				found("Person:sarah-lee", "title", "VP Engineering", "as VP  engineering"),
				found("Person:sarah-lee", "leads", "Project:atlas", "She leads the Atlas project", "several"),
				found("Person:bob", "works_at", "Org:acme", "Bob may join next year"),
				found("Person:zoe-quux", "knows", "Person:sarah-lee", "Sarah Lee joined Acme Corp"),
				found("Person:sarah-lee", "lives_in", "City:berlin", "She lives in Berlin"),
				found("", "p", "o", "Sarah"),
				found("Person:sarah-lee", "bad\u0007name", "x", "Sarah"),
				`{"subject":"Person:sarah-lee","predicate":"age","object":41,"several":false,"valid_from":"soon","valid_until":null,"quote":"Sarah"}`,
			}, ",")
		},
		scores: map[string]float64{`"Person:bob"`: 0.3},
	}
}

func digestBody(t *testing.T, s *standin.Server, wire, text string, more ...string) string {
	t.Helper()
	return `{"content":` + quoted(text) + `,"model":` + s.Config(wire, modelKey) + strings.Join(append([]string{""}, more...), ",") + `}`
}

// TestDigestOfATextByModels goes through every outcome: written, held back for want
// of support or of certainty, and refused; each with its reason, and the sums match.
func TestDigestOfATextByModels(t *testing.T) {
	for _, wire := range []string{"anthropic", "openai"} {
		t.Run(wire, func(t *testing.T) {
			r, s := withModel(t, memory.Options{}, hrReader().reply)
			d := r.post("/api/digest", digestBody(t, s, wire, hrText, `"source":"hr-doc"`)).status(200).object()
			items := d["items"].([]any)
			var outcomes []string
			for _, one := range items {
				i := doc(one.(map[string]any))
				outcomes = append(outcomes, i.text("subject")+" "+i.text("predicate")+" "+i.text("outcome")+" "+i.text("reason"))
			}
			want := []string{
				"Person:sarah-lee works_at written null", "Person:sarah-lee title written null", "Person:sarah-lee leads written null",
				"Person:bob works_at candidate the judge is not sure enough: seen", "Person:zoe-quux knows candidate the text does not name Person:zoe-quux",
				"Person:sarah-lee lives_in candidate its quote is not in the text", " p refused subject is required and must not be empty",
			}
			for i, w := range want {
				if !strings.HasPrefix(outcomes[i], w) {
					t.Errorf("item %d is %q, not %q", i, outcomes[i], w)
				}
			}
			for i, w := range []string{"bad\u0007name refused predicate", "age refused valid_from"} {
				if !strings.Contains(outcomes[len(want)+i], w) {
					t.Errorf("item %d is %q", len(want)+i, outcomes[len(want)+i])
				}
			}
			sum := d.number("written") + d.number("candidates") + d.number("duplicates") + d.number("refused")
			if sum != len(items) || len(items) != 10 || d.number("refused") != 3 || d.number("written") != 4 || d.number("chunks") != 1 {
				t.Errorf("%d items, in all %d: %v", len(items), sum, d)
			}
			f := r.get("/api/facts?subject=Person:sarah-lee&predicate=works_at").list()[0]
			props := f["properties"].(map[string]any)
			if f.text("source") != "hr-doc" || f.text("confidence") != "0.95" || f.text("valid_from") != "1705276800000" ||
				props["quote"] != "Sarah Lee joined Acme Corp on 2024-01-15" || props["episode"] != d.text("document") || props["extracted_by"] != wire+"/stand-in" {
				t.Errorf("the fact is %v", f)
			}
			// The text itself is kept, under its hash.
			kept := r.get("/api/facts?predicate=content&subject=" + d.text("document")).list()[0]
			hash := kept["object"].(map[string]any)["hash"].(string)
			if text := r.get("/api/blobs/" + hash).status(200).object(); text.text("text") != hrText || text.text("next") != "null" {
				t.Errorf("kept is %v", text)
			}
			// The same text again is known already.
			again := r.post("/api/digest", digestBody(t, s, wire, hrText, `"source":"hr-doc"`)).status(200).object()
			if again.number("written") != 0 || again.number("duplicates")+again.number("candidates")+again.number("refused") != len(items) {
				t.Errorf("again: %v", again)
			}
			r.post("/api/admin/purge?confirm=1&subject="+d.text("document"), "").status(200)
			r.get("/api/blobs/"+hash).fails(404, "NotFound")
		})
	}
}

// TestTIM09LocalTimes cuts a time of day without a zone to its day, and says so; a
// time with an offset is exact; the text's own date is the only today.
func TestTIM09LocalTimes(t *testing.T) {
	text := "Meeting Alpha was moved to 2025-10-26 02:30 Berlin time. Meeting Beta begins 2025-03-30T02:30. Meeting Gamma begins 2025-10-26T02:30:00+02:00. Meeting Delta was in March 2025. Meeting Epsilon happened."
	times := map[string]string{"alpha": "2025-10-26T02:30:00", "beta": "2025-03-30 02:30", "gamma": "2025-10-26T02:30:00+02:00", "delta": "2025-03", "epsilon": ""}
	m := reader{facts: func(string) string {
		var list []string
		for _, name := range []string{"alpha", "beta", "gamma", "delta", "epsilon"} {
			more := []string{}
			if times[name] != "" {
				more = append(more, times[name])
			}
			list = append(list, found("Meeting:"+name, "state", "planned", "Meeting "+name, more...))
		}
		return strings.Join(list, ",")
	}}
	want := map[string]string{"alpha": "1761436800000", "beta": "1743292800000", "gamma": "1761438600000", "delta": "1740787200000", "epsilon": "1746057600000"}
	for _, zone := range []string{"", "America/Los_Angeles", "Asia/Kathmandu"} {
		t.Setenv("TZ", zone)
		r, s := withModel(t, memory.Options{}, m.reply)
		d := r.post("/api/digest", digestBody(t, s, "openai", text, `"date":"2025-05-01"`)).status(200).object()
		for _, f := range r.get("/api/facts?predicate=state&status=all").list() {
			name := strings.TrimPrefix(f.text("subject"), "Meeting:")
			if f.text("valid_from") != want[name] {
				t.Errorf("%s: %s begins %s, not %s", zone, name, f.text("valid_from"), want[name])
			}
		}
		notes := fmt.Sprint(d["items"])
		for _, note := range []string{"valid_from 2025-10-26T02:30:00 names no instant, and was read as 2025-10-26", "valid_from 2025-03 names no instant, and was read as 2025-03-01"} {
			if !strings.Contains(notes, note) {
				t.Errorf("no note says %q: %s", note, notes)
			}
		}
		if !strings.Contains(s.Calls()[0].Text, "Written on: 2025-05-01") {
			t.Error("the model was not told the day")
		}
	}
}

// TestING06ModelsThatFail: whatever a model does, nothing is half written, the
// error names the field, and neither key nor text is told.
func TestING06ModelsThatFail(t *testing.T) {
	for name, reply := range map[string]struct {
		facts, scores standin.Reply
		code          string
		status        int
		field         string
	}{
		"extraction cut off":   {standin.Reply{JSON: `{"facts":[]}`, Cut: 40}, standin.Reply{}, "Closed", 503, "extract_model"},
		"extraction refused":   {standin.Reply{Status: 401}, standin.Reply{}, "SchemaInvalid", 400, "extract_model"},
		"extraction down":      {standin.Reply{Status: 500}, standin.Reply{}, "Closed", 503, "extract_model"},
		"half an answer":       {standin.Reply{Text: `{"facts":[{"subject":"Per`}, standin.Reply{}, "Closed", 503, "extract_model"},
		"another form":         {standin.Reply{JSON: `{"triples":[]}`}, standin.Reply{}, "Closed", 503, "extract_model"},
		"a flood":              {standin.Reply{Flood: true}, standin.Reply{}, "Closed", 503, "extract_model"},
		"the judge limits":     {standin.Reply{}, standin.Reply{Status: 429}, "RateLimited", 429, "judge_model"},
		"a score out of range": {standin.Reply{}, standin.Reply{JSON: `{"scores":[{"n":1,"score":2,"reason":""}]}`}, "Closed", 503, "judge_model"},
		"a score of no fact":   {standin.Reply{}, standin.Reply{JSON: `{"scores":[{"n":999,"score":1,"reason":""}]}`}, "Closed", 503, "judge_model"},
	} {
		t.Run(name, func(t *testing.T) {
			good := hrReader()
			r, s := withModel(t, memory.Options{}, func(c standin.Call) standin.Reply {
				switch {
				case c.Name == "facts" && reply.field == "extract_model":
					return reply.facts
				case c.Name == "scores" && reply.field == "judge_model":
					return reply.scores
				}
				return good.reply(c)
			})
			body := `{"content":` + quoted(hrText) + `,"extract_model":` + s.Config("openai", modelKey) + `,"judge_model":` + s.Config("openai", modelKey) + `}`
			got := r.post("/api/digest", body)
			if e := got.fails(reply.status, reply.code); e.text("field") != reply.field {
				t.Errorf("%v", e)
			}
			if facts := r.get("/api/facts?status=all").list(); len(facts) != 0 {
				t.Errorf("written: %v", facts)
			}
			if all := got.Body + r.logs.String(); strings.Contains(all, modelKey[:8]) || strings.Contains(all, "Sarah") {
				t.Errorf("told: %s", all)
			}
		})
	}
	// An item without a score is held back.
	m := hrReader()
	m.scores = map[string]float64{`"works_at"`: -1}
	r, s := withModel(t, memory.Options{}, m.reply)
	d := r.post("/api/digest", digestBody(t, s, "openai", hrText)).status(200).object()
	if !strings.Contains(fmt.Sprint(d["items"]), "the judge gave it no score") {
		t.Errorf("%v", d["items"])
	}
}

// TestINJ03MemoryDoesNotEatItsOutput pastes a packet into a transcript with one new
// sentence, ten times: only the new sentences come in.
func TestINJ03MemoryDoesNotEatItsOutput(t *testing.T) {
	m := reader{facts: func(text string) string {
		var list []string
		for line := range strings.SplitSeq(text, "\n") {
			words := strings.Fields(line)
			if len(words) >= 4 && strings.Contains(line, "likes") { // whatever looks like a fact
				list = append(list, found("Person:ann", "likes", strings.Trim(words[len(words)-1], ".\"()"), line, "several"))
			}
		}
		return strings.Join(list, ",")
	}}
	r, s := withModel(t, memory.Options{}, m.reply)
	for round := range 10 {
		style := []string{"generic", "claude", "openai"}[round%3]
		p := r.post("/api/context", `{"goal":"what Ann likes","seeds":["Person:ann"],"style":"`+style+`"}`).status(200)
		transcript := p.object().text("system_prompt") + "\n\nuser: hello\n\n" + p.Body + "\n\nAnn said that she likes number" + fmt.Sprint(round) + ".\n"
		d := r.post("/api/digest", digestBody(t, s, "openai", transcript, `"content_type":"text/plain"`, fmt.Sprintf(`"source":"session-%d"`, round))).status(200).object()
		if d.number("written") != 1 || len(d["items"].([]any)) != 1 {
			t.Fatalf("round %d: %v", round, d["items"])
		}
	}
	facts := r.get("/api/facts?subject=Person:ann").list()
	if len(facts) != 10 {
		t.Errorf("%d facts after 10 rounds", len(facts))
	}
	// What is nothing but a briefing is nothing to read.
	before := len(s.Calls())
	p := r.post("/api/context", `{"goal":"what Ann likes","seeds":["Person:ann"]}`).status(200).object().text("system_prompt")
	d := r.post("/api/digest", digestBody(t, s, "openai", p)).status(200).object()
	if len(d["items"].([]any)) != 0 || len(s.Calls()) != before || d.number("chunks") != 0 {
		t.Errorf("a briefing alone: %v", d)
	}
}

// TestDigestMasksBeforeModels: no model, fact or kept text sees personal data.
func TestDigestMasksBeforeModels(t *testing.T) {
	m := reader{facts: func(text string) string { return found("Person:ann", "mail", "[REDACTED]", "write to [REDACTED]") }}
	r, s := withModel(t, memory.Options{}, m.reply)
	d := r.post("/api/digest", digestBody(t, s, "anthropic", "Ann asks to write to ann.marked@example.com soon.")).status(200).object()
	if d.number("pii_masked") != 1 || d.number("written") != 1 {
		t.Errorf("%v", d)
	}
	hash := r.get("/api/facts?predicate=content").list()[0]["object"].(map[string]any)["hash"].(string)
	for what, text := range map[string]string{"the model": fmt.Sprint(s.Calls()), "the kept text": r.get("/api/blobs/" + hash).Body, "the facts": r.get("/api/facts?status=all").Body, "the log": r.logs.String()} {
		if strings.Contains(text, "ann.marked") {
			t.Errorf("%s has the address: %s", what, text)
		}
	}
}

// TestOBS01ModelKeyIsNowhere looks for the marked key in everything that can be
// read after digests that went well and badly.
func TestOBS01ModelKeyIsNowhere(t *testing.T) {
	good := hrReader()
	r, s := withModel(t, memory.Options{}, func(c standin.Call) standin.Reply {
		if c.N%3 == 0 {
			return standin.Reply{Status: 500}
		}
		return good.reply(c)
	})
	var told strings.Builder
	for _, wire := range []string{"openai", "anthropic"} {
		told.WriteString(r.post("/api/digest?explain=1", digestBody(t, s, wire, hrText)).status(200).Body)
	}
	for _, path := range []string{"/api/facts?status=all", "/metrics", "/api/observability", "/api/stats", "/api/audit"} {
		told.WriteString(r.get(path).Body)
	}
	told.WriteString(r.logs.String())
	for i := 0; i+8 <= len(modelKey); i++ {
		if strings.Contains(told.String(), modelKey[i:i+8]) {
			t.Fatalf("a part of the key is told")
		}
	}
	var line map[string]any
	for text := range strings.SplitSeq(r.logs.String(), "\n") {
		if strings.Contains(text, `"abagraph.digest"`) {
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatal(err)
			}
		}
	}
	if line["extract_model"] != "anthropic/stand-in key=***redacted***" || line["content_type"] != "text/markdown" || line["mode"] != "content" {
		t.Errorf("the event is %v", line)
	}
}
