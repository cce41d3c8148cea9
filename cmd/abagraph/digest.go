package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"abagraph/client"
)

// digestFlags are what the flags of digest say.
type digestFlags struct {
	model                             broughtModel
	source, kind, date, subject, mask string
	knownAt, reason                   string
	resume, stop                      string
	threshold                         float64
	detach                            bool
}

func digestCommand(a *app) *cobra.Command {
	var f digestFlags
	c := &cobra.Command{
		Use:   "digest FILE",
		Short: "Turn a document into facts",
		Long: `Sends a document ("-" reads stdin), whose facts a model that you bring along finds
and scores; without --model only its [[links]] are taken. The kind of document is
that of the file's name unless --type says otherwise. A long document is a job, which
is waited for, with its progress on stderr; --detach only starts it.`,
		Example: `  abagraph digest notes.md --source notes --date 2024-06-01 --provider openai --model gpt-4o-mini
  abagraph digest --resume Job:… --provider openai --model gpt-4o-mini
  abagraph digest --stop Job:…`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(a, c, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.source, "source", "", "where the facts come from (default: the file's name)")
	flags.StringVar(&f.kind, "type", "", "content type, such as text/markdown")
	flags.StringVar(&f.date, "date", "", "when it was written: the only today that it knows")
	flags.StringVar(&f.subject, "subject", "", "entity that it is about")
	flags.StringVar(&f.mask, "mask", "", "of personal data: redact, hash or shift_date")
	flags.Float64Var(&f.threshold, "threshold", 0, "score below which a fact is a candidate (default: the server's)")
	flags.StringVar(&f.knownAt, "known-at", "", "declare that it was known then, for --reason")
	flags.StringVar(&f.reason, "reason", "", "why it is told only now")
	flags.StringVar(&f.resume, "resume", "", "job to go on with, in place of FILE")
	flags.StringVar(&f.stop, "stop", "", "job to end where it is, in place of FILE")
	flags.BoolVar(&f.detach, "detach", false, "do not wait for a job")
	f.model.flags(c)
	return c
}

// kindsByName are the content types of files.
var kindsByName = map[string]string{
	".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain", ".html": "text/html", ".htm": "text/html", ".pdf": "application/pdf",
	".csv": "text/csv", ".json": "application/json", ".jsonl": "application/x-ndjson", ".ndjson": "application/x-ndjson", ".ics": "text/calendar", ".vcf": "text/vcard",
}

func (f *digestFlags) run(a *app, c *cobra.Command, args []string) error {
	model, err := f.model.body(a.getenv)
	if err != nil {
		return err
	}
	switch {
	case f.resume != "":
		return f.goOn(a, c, model)
	case f.stop != "":
		f.detach = true // it is not waited for
		return f.send(a, c, jobPath(f.stop)+"/stop", nil)
	}
	if len(args) == 0 {
		return fmt.Errorf("FILE is missing (see %s --help)", c.CommandPath())
	}
	body, err := f.body(a, args[0])
	if err != nil {
		return err
	}
	if model != nil {
		body["model"] = model
	}
	if c.Flags().Changed("threshold") {
		body["threshold"] = f.threshold
	}
	return f.send(a, c, "/api/digest", body)
}

func (f *digestFlags) goOn(a *app, c *cobra.Command, model map[string]string) error {
	if model == nil {
		return errors.New("--resume needs --model: keys of models are kept nowhere")
	}
	return f.send(a, c, jobPath(f.resume)+"/resume", map[string]any{"model": model})
}

func jobPath(id string) string {
	return "/api/digest/jobs/" + url.PathEscape(strings.TrimPrefix(id, "Job:"))
}

// body reads the document.
func (f *digestFlags) body(a *app, name string) (map[string]any, error) {
	raw, err := readAll(a, name)
	if err != nil {
		return nil, err
	}
	kind := f.kind
	if kind == "" {
		kind = kindsByName[strings.ToLower(filepath.Ext(name))]
	}
	body := map[string]any{"content": string(raw), "source": f.source}
	if strings.HasPrefix(kind, "application/pdf") {
		body["content"] = base64.StdEncoding.EncodeToString(raw)
	}
	if f.source == "" && name != "-" {
		body["source"] = filepath.Base(name)
	} else if f.source == "" {
		delete(body, "source")
	}
	for field, value := range map[string]string{"content_type": kind, "date": f.date, "subject": f.subject, "mask": f.mask} {
		if value != "" {
			body[field] = value
		}
	}
	if f.knownAt != "" || f.reason != "" {
		body["backfill"] = map[string]string{"declared_known_at": f.knownAt, "reason": f.reason}
	}
	return body, nil
}

func readAll(a *app, name string) ([]byte, error) {
	if name == "-" {
		raw, err := io.ReadAll(a.in)
		if err != nil {
			return nil, fmt.Errorf("read stdin: %w", err)
		}
		return raw, nil
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	return raw, nil
}

// jobAnswer is the part of an answer that tells of a job.
type jobAnswer struct {
	Job, Status, Reason string
	Chunks, Done        int
	Here                bool `json:"runs_here"`
}

// abandoned is for how many looks a job that runs not on the node that answers may
// stand still: it may run on another one, or nowhere since its node was ended.
const abandoned = 600

// send sends a digest, and waits for the job that it may become.
func (f *digestFlags) send(a *app, c *cobra.Command, path string, body map[string]any) error {
	call := client.Call{Method: "POST", Path: path, Once: true}
	if body != nil {
		raw, err := encoded(body)
		if err != nil {
			return err
		}
		call.Body = raw
	}
	to, err := a.client(client.WithTimeout(modelTimeout))
	if err != nil {
		return err
	}
	defer to.Close()
	got, err := to.Do(c.Context(), call)
	if err != nil {
		return a.explainDenial(err)
	}
	var j jobAnswer
	shown, still := -1, 0
	for json.Unmarshal(got.Body, &j) == nil && j.Job != "" && j.Status == "running" && !f.detach {
		if still++; j.Here || j.Done != shown {
			still = 0
		}
		if j.Done != shown {
			fmt.Fprintf(a.err, "%s: %d of %d chunks\n", j.Job, j.Done, j.Chunks)
			shown = j.Done
		}
		if still == abandoned {
			return fmt.Errorf("the job does not run on the node that answers, and has stood still for 10 minutes at %d of %d chunks: go on with --resume %s", j.Done, j.Chunks, j.Job)
		}
		if err := wait(c, time.Second); err != nil {
			return err
		}
		if got, err = to.Do(c.Context(), client.Call{Method: "GET", Path: jobPath(j.Job)}); err != nil {
			return fmt.Errorf("%s cannot be looked at: %w", j.Job, err)
		}
	}
	if err := a.answer(got, digestTable); err != nil {
		return err
	}
	if j.Status == "stopped" && f.stop == "" {
		return fmt.Errorf("the job stopped after %d of %d chunks: %s; go on with --resume %s", j.Done, j.Chunks, j.Reason, j.Job)
	}
	return nil
}

func wait(c *cobra.Command, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.Context().Done():
		return c.Context().Err()
	}
}

func digestTable(t *table, raw []byte) error {
	var got struct {
		jobAnswer
		Written, Candidates, Duplicates, Refused int
		Masked                                   int `json:"pii_masked"`
		Items                                    []struct{ Outcome, Subject, Predicate, Object, Reason string }
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return err
	}
	if len(got.Items) > 0 {
		t.row("OUTCOME", "SUBJECT", "PREDICATE", "OBJECT", "REASON")
	}
	for _, i := range got.Items {
		t.row(i.Outcome, i.Subject, i.Predicate, i.Object, i.Reason)
	}
	if got.Job != "" {
		t.line("%s: %s, %d of %d chunks", got.Job, got.Status, got.Done, got.Chunks)
	}
	t.line("%d written, %d candidates, %d duplicates, %d refused, %d masked", got.Written, got.Candidates, got.Duplicates, got.Refused, got.Masked)
	return nil
}
