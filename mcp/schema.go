package mcp

// Parts of the tools' JSON Schemas. They are plain on purpose: every client's
// reader takes an object root with properties, without references, alternatives
// at the root, or a dialect of its own.

// Inputs.
const (
	inNamespace = `"namespace":{"type":"string","minLength":1,"maxLength":64,"description":"Tenant that the call reads or writes, e.g. acme. A tenant's own key always stays in its tenant."}`
	inBranch    = `"branch":{"type":"string","maxLength":64,"description":"Branch to work on. Default: main."}`
	inSubject   = `"subject":{"type":"string","minLength":1,"maxLength":1024,"description":"Entity to filter by, e.g. Person:alice"}`
	inPredicate = `"predicate":{"type":"string","minLength":1,"maxLength":1024,"description":"Relation to filter by, e.g. works_at"}`
	inObject    = `"object":{"type":["string","number","boolean","null"],"description":"Value to filter by: an entity such as Org:acme, or a literal"}`
	inAsOf      = `"as_of":{"type":"integer","description":"Answer as things stood in the world at this time, in Unix milliseconds. Default: now."}`
	inKnownAt   = `"known_at":{"type":"integer","description":"Answer from what had been recorded by this time, in Unix milliseconds. Default: now."}`
	inTx        = `"tx":{"type":"integer","minimum":0,"description":"Answer from what had been recorded by this transaction number, as an earlier answer told it. Not together with known_at."}`
	inLimit     = `"limit":{"type":"integer","minimum":1,"maximum":200,"default":20,"description":"Most facts to return"}`

	newSubject    = `"subject":{"type":"string","minLength":1,"maxLength":1024,"description":"Entity that the fact is about, Type:id, e.g. Person:alice"}`
	newPredicate  = `"predicate":{"type":"string","minLength":1,"maxLength":1024,"description":"Relation, e.g. works_at"}`
	newObject     = `"object":{"type":["string","number","boolean"],"description":"Another entity such as Org:acme, or a literal"}`
	newSource     = `"source":{"type":"string","maxLength":1024,"description":"Where this comes from, e.g. user or doc:handbook"}`
	newConfidence = `"confidence":{"type":"number","minimum":0,"maximum":1,"description":"How sure it is. Below the server's threshold (0.75 unless set otherwise) the fact is kept as a candidate and ends no other. Default: 1."}`
	newCoexist    = `"coexist":{"type":"boolean","description":"true for relations with many values at a time, such as tag or member: no other fact is ended"}`
	newFrom       = `"valid_from":{"type":"integer","description":"When it began to hold in the world, in Unix milliseconds. Default: now."}`
	newUntil      = `"valid_until":{"type":"integer","description":"When it ceased to hold, in Unix milliseconds. Leave it out while it holds."}`
	newProperties = `"properties":{"type":"object","description":"Anything else to keep with the fact, e.g. the quote that supports it"}`
)

// Outputs. An answer that is an error has none of the other properties, so that
// none of them is required.
const (
	outEnd = `"namespace":{"type":"string","description":"Tenant that was read or written"},` +
		`"branch":{"type":"string","description":"Branch that was read or written, where it is not main"},` +
		`"tx":{"type":"integer","description":"Transaction number that the answer was read at, or that the write took"},` +
		`"backfilled":{"type":"integer","description":"Facts that are there by a declaration of earlier knowledge"},` +
		`"warnings":{"type":"array","items":{"type":"string"},"description":"What is worth knowing about this answer"},` +
		`"error":{"type":"object","properties":{"code":{"type":"string"},"message":{"type":"string"},"field":{"type":"string"},"ids":{"type":"array","items":{"type":"string"}}},"required":["code","message"],"description":"Where the call failed: a stable code, and why"}`
	outNotice = `"notice":{"type":"string","description":"How to take the facts"},`

	viewProperties = `"id":{"type":"string"},"subject":{"type":"string"},"predicate":{"type":"string"},` +
		`"object":{"type":["string","number","boolean","null","object"]},` +
		`"valid_from":{"type":["integer","null"]},"valid_until":{"type":["integer","null"],"description":"null = still holds"},` +
		`"confidence":{"type":"number"},"source":{"type":["string","null"]},` +
		`"status":{"type":"string","enum":["active","candidate","superseded","retracted"]}`
	viewRequired = `"required":["id","subject","predicate","object","valid_from","valid_until","confidence","source","status"]`
	viewItem     = `{"type":"object","properties":{` + viewProperties + `},` + viewRequired + `}`
	viewItems    = `{"type":"array","items":` + viewItem + `}`
	foundItems   = `{"type":"array","items":{"type":"object","properties":{` + viewProperties + `,"score":{"type":"number","description":"semantic: how well it answers"}},` + viewRequired + `}}`
	texts        = `{"type":"array","items":{"type":"string"}}`
)

// arguments makes the schema of a tool's arguments.
func arguments(required, properties string) string {
	return `{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`
}

// result makes the schema of a tool's answer.
func result(properties string) string {
	return `{"type":"object","properties":{` + properties + `}}`
}
