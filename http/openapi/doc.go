// Package openapi describes the REST API: from the table of routes and one file of
// YAML for each area (folder spec) it makes the OpenAPI 3.1 document that the server
// serves, and the list of operations that its page shows.
//
// It owns the words and schemas of the description and no behaviour: no handler
// reads it. Tests hold the routes and the description against each other, and every
// answer of the server's tests against its schema.
//
// To describe a new route, add a line to the file of its area:
//
//	routes:
//	  POST /api/things/{id}:
//	    id: makeThing                  # the operation's name, unique
//	    summary: Make a thing
//	    role: write                    # read (default), write, admin, operator
//	    uses: [write]                  # shared parameters, see spec/shared.yaml
//	    path:  {id: string - which}
//	    query: {"dry_run?": Flag - writes nothing}
//	    body:  ThingInput              # or a schema; "body?" where none is needed
//	    201:   Thing - the thing that was made
//	    errors: [409]                  # beside those that every such route has
//
// A schema is a name (Thing, Thing[], Thing? for null as well), a type (string, integer,
// number, boolean, object, any), words (active|closed), with bounds, default and
// description (integer 0..100 = 8 - how many); or a mapping with fields, in which a name
// that ends in ? may be absent (quote it within braces); or plain JSON Schema. Schemas of what comes in stand
// under inputs and are closed, as the server refuses unknown fields; those of what goes
// out stand under schemas.
package openapi
