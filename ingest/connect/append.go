package connect

import (
	"strconv"

	"abagraph/ingest/records"
	"abagraph/internal/jsonx"
)

// Append writes a connector as it is kept and shown, without the closing brace:
// Read reads it again. It holds no secret, only the names of some.
func (k *Connector) Append(b []byte) []byte {
	b = jsonx.AppendString(append(b, `{"name":`...), k.Given)
	return k.appendRest(b)
}

// AppendShown is Append under the name that the connector goes by.
func (k *Connector) AppendShown(b []byte) []byte {
	b = jsonx.AppendString(append(b, `{"name":`...), k.Name)
	return k.appendRest(b)
}

func (k *Connector) appendRest(b []byte) []byte {
	b = jsonx.AppendString(append(b, `,"kind":`...), k.Kind.String())
	b = jsonx.AppendString(append(b, `,"label":`...), k.Label)
	b = append(b, `,"url":`...)
	if k.URL == "" {
		b = append(b, "null"...)
	} else {
		b = jsonx.AppendString(b, k.URL)
	}
	b = k.Mapping.Append(append(b, `,"mapping":`...))
	b = strconv.AppendFloat(append(b, `,"max_confidence":`...), k.Mapping.Most, 'g', -1, 64)
	if k.Format != records.JSON {
		b = jsonx.AppendString(append(b, `,"format":`...), formatNames[k.Format])
	}
	if k.Signature != nil {
		b = jsonx.AppendString(append(b, `,"signature":{"secret":`...), k.Signature.Secret)
		b = append(jsonx.AppendString(append(b, `,"scheme":`...), schemeNames[k.Signature.Scheme]), '}')
	}
	return k.Pull.append(b)
}

func (p *Pull) append(b []byte) []byte {
	if *p == (Pull{}) {
		return b
	}
	b = append(b, `,"pull":{`...)
	n := 0
	field := func(name string) {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(jsonx.AppendString(b, name), ':')
		n++
	}
	for _, text := range [...][2]string{{"items", p.Items}, {"next", p.Next}} {
		if text[1] != "" {
			field(text[0])
			b = jsonx.AppendString(b, text[1])
		}
	}
	if p.CursorField != "" {
		field("cursor")
		b = jsonx.AppendString(append(b, `{"field":`...), p.CursorField)
		b = append(jsonx.AppendString(append(b, `,"param":`...), p.CursorParam), '}')
	}
	if p.Secret != "" {
		field("auth")
		b = jsonx.AppendString(append(b, `{"secret":`...), p.Secret)
		b = jsonx.AppendString(append(b, `,"header":`...), p.Header)
		b = append(jsonx.AppendString(append(b, `,"prefix":`...), p.Prefix), '}')
	}
	return append(b, '}')
}
