package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"abagraph/client"
)

var connectors = &kind{path: client.ConnectorsPath, rows: "connectors", field: "name", list: connectorsTable, one: connectorTable}

func connectorCommand(a *app) *cobra.Command {
	return group("connector", "Register sources, and send or fetch their records", "", `  abagraph connector register crm --subject 'Contact:$id' --field company=works_at --field role
  abagraph connector send crm contacts.jsonl
  abagraph connector register feed --kind poll --feed-url https://example.com/items.json
  abagraph connector pull feed
  abagraph source undo crm --dry-run`,
		connectorRegisterCommand(a), connectors.listCommand(a, "List connectors, with how many facts each has brought", false),
		connectors.getCommand(a, "Show one connector and what it brought last"), connectorSendCommand(a),
		connectors.doCommand(a, "Fetch a connector's URL now, and write what it answers", action{verb: "pull", method: "POST", suffix: "/pull", once: true, show: deliveredTable}),
		connectors.deleteCommand(a, "Delete a connector; what it brought stays"))
}

func connectorRegisterCommand(a *app) *cobra.Command {
	var w client.Write
	var kind, label, address, subject, file string
	var fields []string
	var replace, explain bool
	c := &cobra.Command{
		Use:   "register NAME",
		Short: "Register a connector",
		Long: `Registers a connector from flags, or from a file of the whole body of
POST /api/connectors, which may say more than the flags can.`,
		Args: exactArgs("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			body, err := a.connectorBody(args[0], kind, label, address, subject, file, fields)
			if err != nil {
				return err
			}
			call := client.Call{Method: "POST", Path: client.ConnectorsPath, Body: body, IdempotencyKey: w.IdempotencyKey}
			if replace {
				call.Method, call.Path = "PUT", client.ConnectorPath(args[0])
			}
			return a.write(c.Context(), call, "", explain, connectorTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&kind, "kind", "", "webhook (the default) or poll")
	flags.StringVar(&label, "label", "", "a name for people")
	flags.StringVar(&address, "feed-url", "", "address that its records are fetched from")
	flags.StringVar(&subject, "subject", "", "template of subjects, such as 'Contact:$id' (default Record:$id)")
	flags.StringArrayVar(&fields, "field", nil, "field that becomes a fact, or FIELD=PREDICATE; repeat it for more (default every scalar field)")
	flags.StringVar(&file, "file", "", "file of JSON to begin with; - is standard input")
	flags.BoolVar(&replace, "replace", false, "give a connector that is there these settings")
	retriable(flags, &w, &explain)
	return c
}

// connectorBody makes the body of a registration.
func (a *app) connectorBody(name, kind, label, address, subject, file string, fields []string) ([]byte, error) {
	body := map[string]any{}
	if file != "" {
		raw, err := a.readInput(file, "connector")
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &body); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
	}
	body["name"] = name
	for field, value := range map[string]string{"kind": kind, "label": label, "url": address} {
		if value != "" {
			body[field] = value
		}
	}
	mapping, ok := body["mapping"].(map[string]any)
	if !ok {
		mapping = map[string]any{}
	}
	if subject != "" {
		mapping["subject"] = subject
	}
	if len(fields) > 0 {
		renamed := map[string]string{}
		for _, field := range fields {
			from, to, given := strings.Cut(field, "=")
			if !given {
				to = from
			}
			renamed[from] = to
		}
		mapping["fields"] = renamed
	}
	if _, known := body["mapping"]; !known && len(mapping) > 0 || ok {
		body["mapping"] = mapping
	}
	return json.Marshal(body)
}

func connectorSendCommand(a *app) *cobra.Command {
	var w client.Write
	c := &cobra.Command{
		Use:   "send NAME FILE",
		Short: "Send a file of records: a JSON object, an array, JSON Lines or CSV",
		Args:  exactArgs("NAME", "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			source, media := a.in, "application/x-ndjson"
			if args[1] != "-" {
				f, err := os.Open(args[1])
				if err != nil {
					return err
				}
				defer f.Close()
				source = f
			}
			if strings.EqualFold(filepath.Ext(args[1]), ".csv") {
				media = "text/csv"
			}
			server, err := a.client()
			if err != nil {
				return err
			}
			defer server.Close()
			call := client.Call{Method: "POST", Path: client.ConnectorPath(args[0]) + "/events", Query: url.Values{}, IdempotencyKey: w.IdempotencyKey}
			if w.Branch != "" {
				call.Query.Set("branch", w.Branch)
			}
			got, err := server.Upload(c.Context(), call, media, source)
			if err != nil {
				return a.explainDenial(err)
			}
			return a.answer(got, deliveredTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&w.Branch, "branch", "", "branch to write to")
	flags.StringVar(&w.IdempotencyKey, "idempotency-key", "", "name of this delivery: repeated under it, it is written once")
	return c
}

func connectorsTable(t *table, raw []byte) error {
	var list struct {
		Connectors []client.Connector `json:"connectors"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	if len(list.Connectors) > 0 {
		t.row("CONNECTOR", "KIND", "SUBJECT", "FACTS", "URL")
	}
	for i := range list.Connectors {
		k := &list.Connectors[i]
		address := ""
		if k.URL != nil {
			address = *k.URL
		}
		t.row(k.Name, k.Kind, k.Subject, fmt.Sprint(k.Ingested), address)
	}
	t.line("%s", count(len(list.Connectors), "connector", "connectors"))
	return nil
}

func connectorTable(t *table, raw []byte) error {
	var k client.Connector
	if err := json.Unmarshal(raw, &k); err != nil {
		return err
	}
	t.row("connector", k.Name)
	t.row("kind", k.Kind)
	t.row("label", k.Label)
	if k.URL != nil {
		t.row("url", *k.URL)
	}
	t.row("mapping", string(k.Mapping))
	if k.Subject != "" {
		t.row("facts", fmt.Sprint(k.Ingested))
	}
	if k.State.Problem != nil {
		t.row("last pull", *k.State.Problem)
	}
	for i := range k.Recent {
		f := &k.Recent[i]
		t.row(f.Status, f.Subject, f.Predicate, objectText(f.Object))
	}
	limits(t, false, k.Hints)
	return nil
}

func deliveredTable(t *table, raw []byte) error {
	var d client.Delivered
	if err := json.Unmarshal(raw, &d); err != nil {
		return err
	}
	for _, p := range d.Problems {
		t.row(fmt.Sprintf("line %d", p.Line), p.Reason)
	}
	t.line("%s: %s from %s: %d asserted, %d held, %d stood already; %s superseded, %s skipped", d.Connector, count(d.Facts+d.Duplicates, "fact", "facts"),
		count(d.Records, "record", "records"), d.Asserted, d.Held, d.Duplicates, count(d.Superseded, "fact", "facts"), count(d.Skipped, "record", "records"))
	limits(t, false, d.Hints)
	return nil
}
