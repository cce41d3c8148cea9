package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"abagraph/client"
)

// readable reports whether a person reads stdout and did not ask for JSON.
func (a *app) readable() bool { return a.outTerminal && !a.json }

// answer writes an answer: as JSON, or by table where a person reads.
func (a *app) answer(got *client.Answer, table func(*table, []byte) error) error {
	a.warn(got.Warnings)
	if a.readable() && table != nil {
		t := newTable(a.width())
		if err := table(t, got.Body); err != nil {
			return fmt.Errorf("show the answer: %w", err)
		}
		return t.write(a.out)
	}
	return writeJSON(a.out, got.Body)
}

func (a *app) warn(warnings []string) {
	for _, warning := range warnings {
		fmt.Fprintln(a.err, "warning: "+warning)
	}
}

// writeJSON writes JSON with an indent of two; numbers and texts stay as they
// are.
func writeJSON(w io.Writer, raw []byte) error {
	var buffer bytes.Buffer
	if err := json.Indent(&buffer, bytes.TrimSpace(raw), "", "  "); err != nil {
		return fmt.Errorf("the answer is not JSON: %w", err)
	}
	buffer.WriteByte('\n')
	_, err := w.Write(buffer.Bytes())
	return err
}

// writeValue writes a value of ours as JSON.
func writeValue(w io.Writer, v any) error {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return errors.Join(errors.New("write the answer"), err)
	}
	_, err := w.Write(buffer.Bytes())
	return err
}
