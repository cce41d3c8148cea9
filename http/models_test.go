package http_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	httpd "abagraph/http"
	"abagraph/ingest"
	"abagraph/ingest/load"
	"abagraph/internal/jsonx"
	"abagraph/internal/models"
	"abagraph/internal/models/standin"
	"abagraph/memory"
)

// modelKey is marked, so that it is found wherever it should not be.
const modelKey = "sk-marked-93ab10cc57"

// withModel serves with a stand-in for the models that callers bring along.
func withModel(t *testing.T, door memory.Options, reply func(standin.Call) standin.Reply) (*rig, *standin.Server) {
	t.Helper()
	s := standin.New(t, reply)
	if door.Models == nil {
		door.Models = localModels(t)
	}
	return startWith(t, door, withDesk(t)), s
}

// withDesk has texts read by models on this machine.
func withDesk(t *testing.T) func(*httpd.Config) {
	return func(c *httpd.Config) {
		c.Desk = &ingest.Desk{Memory: c.Memory, Models: localModels(t), Guard: localGuard(t), PDF: inProcess}
		t.Cleanup(c.Desk.Close)
	}
}

func inProcess(_ context.Context, _ string, raw []byte) (*load.Document, error) {
	return load.PDFText(raw)
}

func localModels(t *testing.T) *models.Client { return modelsWithin(t, 2*time.Second) }

// modelsWithin gives each attempt so much time.
func modelsWithin(t *testing.T, limit time.Duration) *models.Client {
	t.Helper()
	return models.New(models.Options{
		Guard: localGuard(t), Time: limit, Sleep: func(context.Context, time.Duration) error { return nil },
	})
}

// quoted writes a text as JSON.
func quoted(text string) string { return string(jsonx.AppendString(nil, text)) }

// number is a field that is a whole number.
func (d doc) number(field string) int {
	n, _ := d[field].(json.Number)
	i, err := n.Int64()
	if err != nil {
		return -1
	}
	return int(i)
}

// blames checks that the answer is 400 and names the field.
func (p *reply) blames(field string) {
	p.t.Helper()
	if e := p.fails(http.StatusBadRequest, "SchemaInvalid"); e["field"] != field {
		p.t.Errorf("want the field %s: %s", field, p.Body)
	}
}
