package mcp

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"abagraph/fact"
	"abagraph/internal/jsonx"
	"abagraph/memory"
)

// scheme begins every resource's URI: abagraph://NAMESPACE/KIND/NAME.
const scheme = "abagraph"

// resource is one kind of thing that can be read by its URI.
type resource struct {
	kind, variable, title, description string
	// field is the argument that the name becomes, and tool what answers it.
	field string
	tool  tool
}

func resources() []resource {
	return []resource{
		{"fact", "{id}", "One fact", "A fact with its source and the history of its subject and predicate, as explain_fact tells it.", "fact_id", explainFactTool()},
		{"entity", "{+ref}", "One entity", "The facts that hold of an entity now.", "ref", entityTool()},
		{"page", "{+subject}", "One page", "The page about an entity: its text, links and citations, as they are now.", "subject", pageTool()},
	}
}

func (r *resource) template() string {
	return scheme + "://{namespace}/" + r.kind + "/" + r.variable
}

func (s *Server) addResources() {
	for _, r := range resources() {
		s.sdk.AddResourceTemplate(&mcpsdk.ResourceTemplate{
			Name: r.kind, Title: r.title, Description: r.description, MIMEType: "application/json",
			URITemplate: r.template(),
		}, s.reader(&r))
	}
}

func (s *Server) reader(r *resource) mcpsdk.ResourceHandler {
	return func(ctx context.Context, request *mcpsdk.ReadResourceRequest) (*mcpsdk.ReadResourceResult, error) {
		namespace, name, ok := splitURI(request.Params.URI, r.kind)
		if !ok {
			return nil, mcpsdk.ResourceNotFoundError(request.Params.URI)
		}
		b, err := s.run(ctx, &r.tool, nil, argumentsOf("namespace", namespace, r.field, name))
		if fact.CodeOf(err) == fact.NotFound {
			return nil, mcpsdk.ResourceNotFoundError(request.Params.URI)
		}
		if err != nil {
			return nil, s.rpcFailure("resource "+r.kind, err)
		}
		return &mcpsdk.ReadResourceResult{Contents: []*mcpsdk.ResourceContents{{
			URI: request.Params.URI, MIMEType: "application/json", Text: string(b),
		}}}, nil
	}
}

// splitURI takes a resource's URI apart. The name is all that follows the kind:
// clients write ? and # of an entity as they are, as {+ref} has it.
func splitURI(uri, kind string) (namespace, name string, ok bool) {
	rest, found := strings.CutPrefix(uri, scheme+"://")
	if !found {
		return "", "", false
	}
	namespace, rest, found = strings.Cut(rest, "/"+kind+"/")
	if !found || rest == "" || namespace == "" || strings.Contains(namespace, "/") {
		return "", "", false
	}
	name, err := url.PathUnescape(rest)
	return namespace, name, err == nil
}

// argumentsOf writes arguments as a client would; an empty value is left out.
func argumentsOf(pairs ...string) []byte {
	b := []byte{'{'}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = jsonx.AppendString(b, pairs[i])
		b = jsonx.AppendString(append(b, ':'), pairs[i+1])
	}
	return append(b, '}')
}

// rpcFailure makes the JSON-RPC error of a failure outside the tools.
func (s *Server) rpcFailure(doing string, err error) error {
	e := s.failure(doing, err)
	code := int64(codeServer)
	if e.Code == fact.SchemaInvalid || e.Code == fact.NotFound {
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: string(e.Code) + ": " + shownText(e.Message), Data: rpcData(e)}
}

// entityTool answers the resource of an entity.
func entityTool() tool {
	return tool{name: "entity", role: fact.RoleRead, facts: true, run: func(c *call) error {
		ref := c.args.Required("ref")
		if err := c.done(); err != nil {
			return err
		}
		page, meta, err := c.server.memory.Entity(c.ctx, c.caller, memory.NewRead(), ref, nil)
		if err != nil {
			return err
		}
		c.told(meta)
		c.b = append(c.b, `{"id":`...)
		c.b = jsonx.AppendString(c.b, page.ID)
		c.number("count", len(page.Facts))
		n := c.views("facts", page.Facts)
		c.flag("limited", page.Cut || n < len(page.Facts))
		return nil
	}}
}
