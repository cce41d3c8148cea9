package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"abagraph/client"
	"abagraph/fact"
)

func policyCommand(a *app) *cobra.Command {
	return group("policy", "Say which agents may read and write which facts",
		`A policy is a document of rules, kept as facts and in force from the moment they are
written. An agent is a key, by its name. Once there is a rule, what none grants is
denied. A key of role admin is needed; the admin key names a --tenant.`, `  abagraph policy list
  abagraph policy put policy-v8.json --dry-run
  abagraph policy simulate agent-7 facts:read --predicate salary --file policy-v8.json
  abagraph policy document --tx 4711 > before.json`,
		policyListCommand(a), policyDocumentCommand(a), policyPutCommand(a), policyDeleteCommand(a), policySimulateCommand(a))
}

func policyListCommand(a *app) *cobra.Command {
	var q client.Read
	var explain bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the rules, and which agents act as which roles",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.read(c.Context(), client.PolicyPath, q.Values(), explain, policyTable)
		},
	}
	travels(c.Flags(), &q)
	freshness(c.Flags(), &q, &explain)
	return c
}

func policyDocumentCommand(a *app) *cobra.Command {
	var q client.Read
	c := &cobra.Command{
		Use:   "document",
		Short: "Write the policy as a document that put takes, to change it or to go back to it",
		Example: `  abagraph policy document > policy.json
  abagraph policy document --tx 4711 > before.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			server, err := a.client()
			if err != nil {
				return err
			}
			defer server.Close()
			got, err := server.Do(c.Context(), client.Call{Method: "GET", Path: client.PolicyPath, Query: q.Values()})
			if err != nil {
				return a.explainDenial(err)
			}
			var p client.Policy
			if err := json.Unmarshal(got.Body, &p); err != nil {
				return fmt.Errorf("read the policy: %w", err)
			}
			document, left := documentOf(&p)
			a.warn(left)
			return writeValue(a.out, document)
		},
	}
	travels(c.Flags(), &q)
	return c
}

// documentOf makes the document of a policy; what cannot be stated in one is told.
func documentOf(p *client.Policy) (*client.PolicyDocument, []string) {
	d := &client.PolicyDocument{Rules: []client.DocumentRule{}, Roles: p.Roles}
	var left []string
	if p.Version != nil {
		d.Version = *p.Version
	}
	for i := range d.Roles {
		d.Roles[i].FactID = ""
	}
	for _, r := range p.Requires {
		if r.Broken != nil {
			left = append(left, fmt.Sprintf("left out a requirement that cannot be understood: fact %s, %s", r.FactID, *r.Broken))
			continue
		}
		r.FactID = ""
		d.Requires = append(d.Requires, r)
	}
	for i := range p.Rules {
		r := &p.Rules[i]
		if r.Broken != nil {
			left = append(left, fmt.Sprintf("left out a rule that cannot be understood: fact %s, %s", r.FactID, *r.Broken))
			continue
		}
		one := client.DocumentRule{Effect: r.Effect, Permissions: []string{r.Permission}}
		one.Role, _ = strings.CutPrefix(r.Subject, fact.PolicyRole)
		if agent, ok := strings.CutPrefix(r.Subject, fact.PolicyAgent); ok {
			one.Role, one.Agent = "", agent
		}
		if len(r.When) == 0 {
			d.Rules = append(d.Rules, one)
		}
		for _, when := range r.When {
			one.PolicyWhen = when
			d.Rules = append(d.Rules, one)
		}
	}
	return d, left
}

func policyPutCommand(a *app) *cobra.Command {
	var w client.Write
	var dryRun, explain bool
	c := &cobra.Command{
		Use:   "put FILE",
		Short: "Make a document the whole policy; - is standard input",
		Args:  exactArgs("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			body, err := a.readInput(args[0], "policy")
			if err != nil {
				return err
			}
			return a.putPolicy(c, w, dryRun, explain, body)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&dryRun, "dry-run", false, "write nothing: show how much would change")
	approvable(flags, &w.Approval)
	retriable(flags, &w, &explain)
	return c
}

func (a *app) putPolicy(c *cobra.Command, w client.Write, dryRun, explain bool, body []byte) error {
	call := client.Call{Method: "PUT", Path: client.PolicyPath, Body: body, IdempotencyKey: w.IdempotencyKey, Query: approved(w.Approval)}
	if dryRun {
		call.Query.Set("dry_run", "1")
	}
	return a.call(c.Context(), call, explain, policySetTable)
}

func policyDeleteCommand(a *app) *cobra.Command {
	var w client.Write
	var next string
	var dryRun, explain bool
	c := &cobra.Command{
		Use:   "delete --version NEXT",
		Short: "Take back the whole policy: from then on only the roles of keys count",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			body, err := json.Marshal(client.PolicyDocument{Version: next, Rules: []client.DocumentRule{}})
			if err != nil {
				return fmt.Errorf("write the policy: %w", err)
			}
			return a.putPolicy(c, w, dryRun, explain, body)
		},
	}
	flags := c.Flags()
	flags.StringVar(&next, "version", "", "name of the version without rules")
	flags.BoolVar(&dryRun, "dry-run", false, "write nothing: show how much would change")
	approvable(flags, &w.Approval)
	retriable(flags, &w, &explain)
	return c
}

func policySimulateCommand(a *app) *cobra.Command {
	var q client.PolicyQuestion
	var source, file string
	var explain bool
	c := &cobra.Command{
		Use:   "simulate PRINCIPAL PERMISSION",
		Short: "Say whether something would be allowed, and by which rule",
		Long: `PRINCIPAL is the name of a key, or Role: and the name of a role. PERMISSION is one of
facts:read, facts:write, branch:create, branch:promote, branch:discard.`,
		Example: `  abagraph policy simulate agent-7 facts:read --predicate salary
  abagraph policy simulate Role:analyst facts:write --source crm --file draft.json`,
		Args: exactArgs("PRINCIPAL", "PERMISSION"),
		RunE: func(c *cobra.Command, args []string) error {
			q.Principal, q.Permission = args[0], args[1]
			if c.Flags().Changed("source") {
				q.Source = &source
			}
			if file != "" {
				draft, err := a.readInput(file, "policy")
				if err != nil {
					return err
				}
				if !json.Valid(draft) {
					return fmt.Errorf("read the policy: %s is no JSON", file)
				}
				q.Policy = draft
			}
			body, err := json.Marshal(q)
			if err != nil {
				return fmt.Errorf("write the question: %w", err)
			}
			call := client.Call{Method: "POST", Path: client.PolicyPath + "/simulate", Body: body}
			return a.write(c.Context(), call, "", explain, simulatedTable)
		},
	}
	flags := c.Flags()
	flags.StringVar(&q.Predicate, "predicate", "", "of facts with this predicate (default any)")
	flags.StringVar(&source, "source", "", "of facts from this source (default any)")
	flags.StringVar(&q.Branch, "branch", "", "on this branch (default main)")
	flags.StringVar(&q.KeyRole, "key-role", "", "role of the key: read, write or admin (default as registered)")
	flags.StringVar(&file, "file", "", "judge by this document in place of the policy in force; - is standard input")
	flags.BoolVar(&explain, "explain", false, "show how the decision was made")
	return c
}

func policyTable(t *table, raw []byte) error {
	var p client.Policy
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	if len(p.Rules)+len(p.Roles)+len(p.Requires) > 0 {
		t.row("WHO", "EFFECT", "PERMISSION", "WHEN", "FACT")
	}
	for i := range p.Rules {
		r := &p.Rules[i]
		t.row(r.Subject, r.Effect, r.Permission, conditionsOf(r), r.FactID)
	}
	for _, r := range p.Roles {
		t.row(fact.PolicyAgent+r.Agent, "acts as", fact.PolicyRole+r.Role, "", r.FactID)
	}
	for _, r := range p.Requires {
		t.row("everyone", "needs", r.Permission+" approved by another", conditionsOf(&client.PolicyRule{Broken: r.Broken, When: []client.PolicyWhen{{Branches: r.Branches}}}), r.FactID)
	}
	if !p.Active {
		t.line("no rule: the roles of keys alone count")
		return nil
	}
	t.line("version %s: %s", orDash(p.Version), count(len(p.Rules), "rule", "rules"))
	return nil
}

// conditionsOf writes when a rule counts: sets of conditions with "or" between them.
func conditionsOf(r *client.PolicyRule) string {
	if r.Broken != nil {
		return "broken: " + *r.Broken
	}
	var sets []string
	for _, w := range r.When {
		var parts []string
		for _, part := range []struct {
			name string
			list []string
		}{{"predicate", w.Predicates}, {"source", w.Sources}, {"branch", w.Branches}} {
			if len(part.list) > 0 {
				parts = append(parts, part.name+" "+strings.Join(part.list, "|"))
			}
		}
		sets = append(sets, strings.Join(parts, ", "))
	}
	return strings.Join(sets, " or ")
}

func policySetTable(t *table, raw []byte) error {
	var s client.PolicySet
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	what := fmt.Sprintf("is in force since tx %d", s.Tx)
	if s.DryRun {
		what = "would be in force"
	}
	t.line("%s %s: %s added, %d removed, %d unchanged", s.Version, what, count(s.Added, "fact", "facts"), s.Removed, s.Unchanged)
	return nil
}

func simulatedTable(t *table, raw []byte) error {
	var p client.PolicyAnswer
	if err := json.Unmarshal(raw, &p); err != nil {
		return err
	}
	answer := "denied"
	if p.Allowed {
		answer = "allowed"
	}
	t.row("answer", answer)
	t.row("why", strings.ReplaceAll(p.Why, "_", " "))
	if r := p.Rule; r != nil {
		t.row("rule", strings.Join(slices.DeleteFunc([]string{r.Subject, r.Effect, r.Permission, conditionsOf(r)}, func(s string) bool { return s == "" }), " "))
	}
	if r := p.Requires; r != nil {
		t.row("requires", "the approval of another agent: "+r.Approval)
	}
	t.row("roles", strings.Join(p.Roles, " "))
	t.row("version", orDash(p.Version))
	return nil
}
