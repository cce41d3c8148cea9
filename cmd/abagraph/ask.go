package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"abagraph/client"
)

// modelTimeout is longer than the server waits for models.
const modelTimeout = 11 * time.Minute

func askCommand(a *app) *cobra.Command {
	var m broughtModel
	var read client.Read
	var top int
	c := &cobra.Command{
		Use:   "ask QUESTION --model NAME",
		Short: "Have a model answer a question from facts",
		Long: `Searches the facts that answer QUESTION best, and has a model that you bring
along answer from them alone. Like every read it can be of another time: --as-of,
--known-at, --tx.`,
		Example: `  OPENAI_API_KEY=... abagraph ask "Where does Alice work?" --provider openai --model gpt-4o-mini --model-key-env OPENAI_API_KEY`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("QUESTION is missing (see %s --help)", c.CommandPath())
			}
			model, err := m.body(a.getenv)
			if err != nil {
				return err
			}
			body := map[string]any{"question": strings.Join(args, " ")}
			if model != nil {
				body["model"] = model
			}
			if top > 0 {
				body["top_k"] = top
			}
			raw, err := encoded(body)
			if err != nil {
				return err
			}
			return a.patiently(c, client.Call{Method: "POST", Path: "/api/ask", Query: read.Values(), Body: raw}, askTable)
		},
	}
	c.Flags().IntVar(&top, "top", 0, "facts to answer from (default 8)")
	m.flags(c)
	readFlags(c.Flags(), &read)
	return c
}

func askTable(t *table, raw []byte) error {
	var got struct {
		Answer   string          `json:"answer"`
		Evidence json.RawMessage `json:"evidence"`
		Model    *float64        `json:"model_confidence"`
		Mean     *float64        `json:"system_reliability"`
		Tokens   struct{ In, Out int }
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	facts, err := decodeFacts(got.Evidence)
	if err != nil {
		return err
	}
	t.line("%s", plain(got.Answer))
	t.line("")
	factRows(t, facts)
	for _, n := range []struct {
		what string
		at   *float64
	}{{"the model's confidence", got.Model}, {"of the evidence", got.Mean}} {
		if n.at != nil {
			t.line("%s: %.2f", n.what, *n.at)
		}
	}
	t.line("tokens: %d in, %d out", got.Tokens.In, got.Tokens.Out)
	return nil
}
