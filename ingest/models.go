package ingest

import (
	"abagraph/fact"
	"abagraph/internal/byok"
	"abagraph/internal/jsonx"
)

// modelFields are the fields of a body that bring a model along.
var modelFields = [...]string{"model", "extract_model", "judge_model"}

// Model is a model with the field that it came in, which errors name.
type Model struct {
	*byok.Config
	Field string
}

// Given reports whether there is one.
func (m Model) Given() bool { return m.Config != nil }

// readModels reads the models of a body: each step's own, or else the one for both.
// One step alone is of no use.
func (d *Digest) readModels(f *jsonx.Fields) error {
	var found [len(modelFields)]Model
	for i, name := range modelFields {
		v, ok := f.Get(name)
		if !ok {
			continue
		}
		c, err := byok.Read(v, f.Path(name))
		if err != nil {
			return err
		}
		found[i] = Model{c, name}
	}
	both := found[0]
	d.Extract, d.Judge = found[1], found[2]
	if !d.Extract.Given() {
		d.Extract = both
	}
	if !d.Judge.Given() {
		d.Judge = both
	}
	switch {
	case d.Extract.Given() && !d.Judge.Given():
		return fact.Invalid("judge_model", "is required beside extract_model, or model for both")
	case d.Judge.Given() && !d.Extract.Given():
		return fact.Invalid("extract_model", "is required beside judge_model, or model for both")
	}
	return nil
}

// ReadModels reads a body that brings models along, and nothing else.
func ReadModels(v jsonx.Value) (extract, judge Model, err error) {
	f := jsonx.Open(v, "")
	for _, name := range modelFields {
		f.Ignore(name)
	}
	f.Ignore("tenant")
	if err := f.Done(); err != nil {
		return Model{}, Model{}, err
	}
	var d Digest
	if err := d.readModels(f); err != nil {
		return Model{}, Model{}, err
	}
	if !d.Extract.Given() {
		return Model{}, Model{}, fact.Invalid("model", "is required, or extract_model and judge_model")
	}
	return d.Extract, d.Judge, nil
}
