package ingest

import (
	"context"
	"log/slog"

	"abagraph/fact"
	"abagraph/ingest/load"
	"abagraph/internal/models"
	"abagraph/internal/outbound"
	"abagraph/internal/span"
	"abagraph/memory"
)

// Desk is where what is sent in is worked on. It is safe for concurrent use.
type Desk struct {
	Memory *memory.Service
	Models *models.Client  // nil = this node asks no models
	Guard  *outbound.Guard // of pages that are fetched; nil = none is
	// PDF reads the text of a PDF for a tenant, apart from this process, which it
	// could harm; nil = none is read.
	PDF    func(ctx context.Context, tenant string, raw []byte) (*load.Document, error)
	Logger *slog.Logger // nil = nobody is told
	Tracer span.Tracer  // of jobs in parts; nil = nobody keeps them

	jobs runners
}

// checkModels judges the models of a request before anything is sent.
func (d *Desk) checkModels(list ...Model) error {
	for _, m := range list {
		switch {
		case !m.Given():
			continue
		case d.Models == nil:
			return fact.Invalid(m.Field, "cannot be used: this node asks no models")
		}
		if err := d.Models.Check(m.Field, m.Config); err != nil {
			return err
		}
	}
	return nil
}

// document reads a document of any kind.
func (d *Desk) document(ctx context.Context, tenant, kind, content string) (*load.Document, error) {
	if kind != load.PDF {
		return load.Text(kind, content)
	}
	if d.PDF == nil {
		return nil, fact.Invalid("content_type", "cannot be read: this node reads no PDFs")
	}
	raw, err := load.PDFBytes(content)
	if err != nil {
		return nil, err
	}
	return d.PDF(ctx, tenant, raw)
}

// ask asks a model; what went wrong is told of the field that named it.
func (d *Desk) ask(ctx context.Context, tenant string, m Model, q *models.Question, take func(*models.Answer) error) error {
	return models.AsError(m.Field, d.Models.Ask(ctx, tenant, m.Config, q, take))
}
