package client

import (
	"bytes"
	"encoding/json"
	"errors"

	"abagraph/fact"

	jsonv2 "github.com/go-json-experiment/json"
)

// DecodeObject reads an object from JSON (C-3). A number keeps its text.
func DecodeObject(raw json.RawMessage) (fact.Object, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return fact.Object{}, nil
	}
	switch raw[0] {
	case '"':
		var text string
		err := jsonv2.Unmarshal(raw, &text)
		return fact.TextObject(text), err
	case 't', 'f':
		var b bool
		err := jsonv2.Unmarshal(raw, &b)
		return fact.BoolObject(b), err
	case 'n':
		return fact.Object{}, nil
	case '{':
		return decodeBlob(raw)
	case '[':
		return fact.Object{}, fact.Invalid("object", "must be text, a number, a bool, null or a blob reference")
	}
	return fact.NumberObject("object", string(raw))
}

func decodeBlob(raw json.RawMessage) (fact.Object, error) {
	var blob struct {
		Hash *string `json:"hash"`
		Size *int64  `json:"size"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&blob); err != nil || blob.Hash == nil || blob.Size == nil {
		return fact.Object{}, fact.Invalid("object", `is no blob reference: it must be {"hash", "size"}`)
	}
	return fact.BlobObject("object", *blob.Hash, *blob.Size)
}

// EncodeObject writes an object as JSON.
func EncodeObject(o fact.Object) (json.RawMessage, error) {
	switch o.Kind {
	case fact.Null:
		return json.RawMessage("null"), nil
	case fact.Text:
		return marshal(o.Text)
	case fact.Number:
		return json.RawMessage(o.Text), nil
	case fact.Bool:
		return marshal(o.Bool)
	case fact.Blob:
		return marshal(struct {
			Hash string `json:"hash"`
			Size int64  `json:"size"`
		}{o.Text, o.Size})
	}
	return nil, errors.New("the object has no known kind")
}

// marshal writes JSON without escaping <, > and &, which only web pages need.
func marshal(v any) (json.RawMessage, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buffer.Bytes(), "\n"), nil
}
