package imports

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"abagraph/fact"
)

// Bounds of an import.
const (
	// DefaultBatch is how many rows a batch holds unless told otherwise.
	DefaultBatch = 500
	// MaxRows is the most rows of one file.
	MaxRows = 20_000_000
	// MaxRecordBytes is the most bytes of one row.
	MaxRecordBytes = 16 << 20

	// maxBatchBytes ends a batch of large rows early, well below the server's
	// limit of one body.
	maxBatchBytes = 4 << 20
)

// Format is how a file is written.
type Format string

// The formats.
const (
	JSONLines Format = "jsonl"
	CSV       Format = "csv"
	NTriples  Format = "ntriples" // N-Quads are read by the same grammar
)

// FormatOf tells the format from a name's extension.
func FormatOf(name string) (Format, error) {
	lower := strings.ToLower(name)
	for extension, format := range map[string]Format{
		".jsonl": JSONLines, ".ndjson": JSONLines, ".json": JSONLines, ".csv": CSV, ".tsv": CSV,
		".nt": NTriples, ".nq": NTriples, ".ntriples": NTriples, ".nquads": NTriples,
	} {
		if strings.HasSuffix(lower, extension) {
			return format, nil
		}
	}
	return "", fmt.Errorf("the format of %q cannot be told from its name: give --format jsonl, csv, ntriples or nquads", name)
}

// ParseFormat reads a format's name.
func ParseFormat(text string) (Format, error) {
	switch strings.ToLower(text) {
	case "jsonl", "ndjson", "json":
		return JSONLines, nil
	case "csv", "tsv":
		return CSV, nil
	case "nt", "ntriples", "n-triples", "nq", "nquads", "n-quads":
		return NTriples, nil
	}
	return "", fmt.Errorf("there is no format %q: jsonl, csv, ntriples or nquads", text)
}

// Options say how rows become facts. All of them are part of an import's
// identity: a file imported with other options is another import.
type Options struct {
	Format    Format
	Delimiter rune // of CSV; 0 = comma
	// Map renames fields of the file: {"Name": "subject"}. A field mapped to ""
	// is left out.
	Map map[string]string
	// Typed reads CSV objects that are JSON numbers, true, false or null as
	// such; otherwise they are text.
	Typed bool
	// Prefixes shortens IRIs of N-Triples: {"ex": "http://example.org/"}.
	Prefixes map[string]string

	// KnownAt names the field that says when a row was known (C-28), and
	// Reason says why that is declared; RetractedAt names the field that says
	// when the row was retracted.
	KnownAt     string
	RetractedAt string
	Reason      string

	Policy string // for all rows, whatever they name
	Source string // for rows that name none
	Tenant string
	Branch string
	Batch  int // rows in a batch
}

// checkFormat refuses options that mean nothing in the file's format: whoever gave them
// took it for another.
func (o *Options) checkFormat() error {
	switch {
	case o.Typed && o.Format != CSV:
		return errors.New("--typed belongs to CSV: other formats tell numbers from text")
	case len(o.Prefixes) > 0 && o.Format != NTriples:
		return errors.New("--prefix belongs to N-Triples and N-Quads")
	case len(o.Map) > 0 && o.Format == NTriples:
		return errors.New("--map belongs to JSON Lines and CSV: N-Triples have no fields")
	case o.KnownAt != "" && o.Format == NTriples:
		return errors.New("--known-at belongs to JSON Lines and CSV: N-Triples have no field that says when a row was known")
	}
	of := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(o.Prefixes)) {
		prefix := o.Prefixes[name]
		if other, twice := of[prefix]; twice {
			return fmt.Errorf("--prefix names %s twice: %s and %s", prefix, other, name)
		}
		of[prefix] = name
	}
	return nil
}

// Check refuses options that contradict each other.
func (o *Options) Check() error {
	switch {
	case o.Batch < 1 || o.Batch > fact.MaxTransactRows:
		return fmt.Errorf("a batch holds 1 to %d rows, not %d", fact.MaxTransactRows, o.Batch)
	case o.KnownAt != "" && strings.TrimSpace(o.Reason) == "":
		return errors.New("--known-at declares when rows were known, which needs a --reason")
	case o.KnownAt == "" && o.RetractedAt != "":
		return errors.New("--retracted-at needs --known-at: a retraction in the past needs rows that were known before it")
	case o.KnownAt == "" && o.Reason != "":
		return errors.New("--reason belongs to --known-at FIELD")
	}
	if err := o.checkFormat(); err != nil {
		return err
	}
	if o.Policy != "" {
		if _, err := fact.ParsePolicy("policy", o.Policy); err != nil {
			return err
		}
	}
	return nil
}
