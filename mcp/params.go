package mcp

import (
	"slices"

	"abagraph/fact"
	"abagraph/internal/jsonx"
)

// What a completion can be about.
const (
	refPrompt   = "ref/prompt"
	refResource = "ref/resource"
)

// param is one parameter of a method, below params.
type param struct {
	name     string
	kind     jsonx.Kind
	required bool
	within   []param // of an object
}

var (
	cursorParam = []param{{name: "cursor", kind: jsonx.String}}
	namedParam  = param{name: "name", kind: jsonx.String, required: true}
)

// methodParams says what is read of the parameters of each method. The
// arguments of a tool are the tool's own to judge.
var methodParams = map[string][]param{
	"initialize": {
		{name: "protocolVersion", kind: jsonx.String},
		{name: "capabilities", kind: jsonx.Object},
		{name: "clientInfo", kind: jsonx.Object, within: []param{{name: "name", kind: jsonx.String}, {name: "version", kind: jsonx.String}}},
	},
	"tools/list":               cursorParam,
	"resources/list":           cursorParam,
	"resources/templates/list": cursorParam,
	"prompts/list":             cursorParam,
	"tools/call":               {namedParam},
	"prompts/get":              {namedParam, {name: "arguments", kind: jsonx.Object}},
	"resources/read":           {{name: "uri", kind: jsonx.String, required: true}},
	"completion/complete": {
		{name: "ref", kind: jsonx.Object, required: true, within: []param{
			{name: "type", kind: jsonx.String, required: true}, {name: "name", kind: jsonx.String}, {name: "uri", kind: jsonx.String},
		}},
		{name: "argument", kind: jsonx.Object, required: true, within: []param{namedParam, {name: "value", kind: jsonx.String, required: true}}},
		{name: "context", kind: jsonx.Object, within: []param{{name: "arguments", kind: jsonx.Object}}},
	},
}

// checkParams refuses parameters of another form than the method's, in words of
// ours and before anything is done.
func (m *message) checkParams() *problem {
	err := checkWithin("params", m.params, methodParams[m.method])
	if err == nil {
		err = checkWithin("params", m.params, []param{{name: "_meta", kind: jsonx.Object}})
	}
	if err == nil {
		err = m.checkTexts()
	}
	if err == nil {
		return nil
	}
	return &problem{id: m.id, code: codeInvalidParams, message: err.Message, data: string(rpcData(err))}
}

func checkWithin(path string, v jsonx.Value, known []param) *fact.Error {
	for _, p := range known {
		field := path + "." + p.name
		given, ok := v.Field(p.name)
		switch {
		case (!ok || given.Kind == jsonx.Null) && p.required:
			return fact.Invalid(field, "is required")
		case !ok || given.Kind == jsonx.Null:
			continue
		case given.Kind != p.kind:
			return fact.Invalid(field, "must be "+p.kind.String()+", not "+given.Kind.String())
		}
		if err := checkWithin(field, given, p.within); err != nil {
			return err
		}
	}
	return nil
}

// checkTexts refuses arguments that are not texts where the protocol has texts
// only, and references to what it has not.
func (m *message) checkTexts() *fact.Error {
	path, arguments := "params.arguments", jsonx.Value{}
	switch m.method {
	case "prompts/get":
		arguments, _ = m.params.Field("arguments")
	case "completion/complete":
		ref, _ := m.params.Field("ref")
		if kind, _ := ref.Field("type"); !slices.Contains([]string{refPrompt, refResource}, kind.Text) {
			return fact.Invalid("params.ref.type", "has no such value: "+quoted(kind.Text)+" ("+refPrompt+" or "+refResource+")")
		}
		context, _ := m.params.Field("context")
		path = "params.context.arguments"
		arguments, _ = context.Field("arguments")
	}
	for i := range arguments.Kids {
		if kid := &arguments.Kids[i]; kid.Kind != jsonx.String {
			return fact.Invalid(path+"."+shownText(kid.Name), "must be a string, not "+kid.Kind.String())
		}
	}
	return nil
}
