package suite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"abagraph/bench/load"
	"abagraph/bench/report"
)

// importRows is how many facts one import brings.
const importRows = 50_000

// importer runs the command line's import against a server.
type importer struct {
	env     Env
	address string
	name    string
	rates   []float64
}

// run writes a file of new facts and imports it.
func (im *importer) run(ctx context.Context, round int) error {
	rows := importRows
	if im.env.Quick {
		rows /= 25
	}
	// The file's folder is new each time, for import keeps what it needs to
	// resume beside the file.
	dir, err := os.MkdirTemp(im.env.Dir, "import-")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	file := filepath.Join(dir, "facts.jsonl")
	if err := writeRows(file, fmt.Sprintf("Bench:i%d-", round), rows); err != nil {
		return err
	}
	began := time.Now()
	command := exec.CommandContext(ctx, im.env.Server, "import", file, "--url", "http://"+im.address, "--batch", strconv.Itoa(batchSize))
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("importing into %s: %w\n%s", im.name, err, output)
	}
	im.rates = append(im.rates, float64(rows)/time.Since(began).Seconds())
	return nil
}

// writeRows makes a file of facts, one a line.
func writeRows(name, prefix string, rows int) error {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("making the rows: %w", err)
	}
	defer file.Close()
	out, w := bufio.NewWriter(file), newWriter(0)
	for i := range rows {
		subject := prefix + strconv.Itoa(i/factsASubject)
		w.buffer = w.fact(w.buffer[:0], subject, "attribute_"+strconv.Itoa(i%factsASubject), valueSize)
		out.Write(append(w.buffer, '\n')) //nolint:errcheck // Flush returns it
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("making the rows: %w", err)
	}
	return file.Close()
}

// imports runs each importer in turns.
func imports(ctx context.Context, env Env, list []*importer) (report.Table, error) {
	t := report.Table{Title: fmt.Sprintf("abagraph import of %d rows in batches of %d, the start of the program included", importRows, batchSize), Head: []string{"", "facts a second"}}
	for round := range env.Rounds {
		for _, im := range list {
			if err := im.run(ctx, round); err != nil {
				return t, err
			}
		}
	}
	for _, im := range list {
		env.progress("import  %-18s %9.0f /s", im.name, load.Median(im.rates))
		t.Rows = append(t.Rows, []string{im.name, thousands(load.Median(im.rates))})
	}
	return t, nil
}
