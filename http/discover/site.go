package discover

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"

	"abagraph/http/openapi"
)

//go:embed texts texts/snippets
var texts embed.FS

// Site is a server as it is spoken to.
type Site struct {
	// Base is the address that the caller used, such as https://acme.example.com.
	Base    string
	Version string
	// MCP tells whether POST /mcp is served; Tools are its tools.
	MCP   bool
	Tools []Tool
	// API describes the routes.
	API *openapi.Document
	// Pages are the documents, in the order in which they are listed.
	Pages []Page
}

// Tool is a tool of the Model Context Protocol.
type Tool struct{ Name, Title, Description string }

// Page is a document.
type Page struct {
	Name  string // as in API.md
	Title string
	Text  string
}

// order puts what a newcomer reads first in front; the others follow by name.
var order = []string{"API.md", "SEMANTICS.md", "GLOSSARY.md", "search.md", "context.md", "digest.md", "mcp.md"}

// Pages reads the Markdown files of a folder.
func Pages(docs fs.FS) ([]Page, error) {
	names, err := fs.Glob(docs, "*.md")
	if err != nil {
		return nil, fmt.Errorf("list the documents: %w", err)
	}
	place := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	pages := make([]Page, 0, len(names))
	for _, name := range names {
		text, err := fs.ReadFile(docs, name)
		if err != nil {
			return nil, fmt.Errorf("read the document %s: %w", name, err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		title := strings.TrimSpace(strings.TrimLeft(first, "# "))
		pages = append(pages, Page{Name: name, Title: title, Text: string(text)})
	}
	return pages, nil
}

// Description is what every surface calls this server.
const Description = "The memory layer for AI agents: a bitemporal, source-backed memory database. It keeps facts with the time they hold, the time they were recorded and where they come from, " +
	"and answers what was so at any moment, as it was known at any other."

// Capabilities are the documents' own words (F-540).
var Capabilities = []string{"context-compaction", "bitemporal-memory", "hybrid-recall", "provenance", "mcp", "streaming"}

// Text writes one of the texts: llms.txt, docs-llms.txt, index.md, auth.md, pricing.md, robots.txt.
func (s *Site) Text(name string) ([]byte, error) {
	text, err := texts.ReadFile(path.Join("texts", name))
	if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	t, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, s); err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	return b.Bytes(), nil
}

// Full is llms.txt and the body of every document.
func (s *Site) Full() ([]byte, error) {
	b, err := s.Text("llms.txt")
	if err != nil {
		return nil, err
	}
	for _, p := range s.Pages {
		b = append(b, "\n\n---\n\n<!-- "...)
		b = append(b, s.Base...)
		b = append(b, "/docs/"+p.Name+" -->\n\n"...)
		b = append(b, strings.TrimSpace(p.Text)...)
		b = append(b, '\n')
	}
	return b, nil
}

// Page finds a document by its name.
func (s *Site) Page(name string) (Page, bool) {
	i := slices.IndexFunc(s.Pages, func(p Page) bool { return p.Name == name })
	if i < 0 {
		return Page{}, false
	}
	return s.Pages[i], true
}

// Areas are the routes by area, for lists.
func (s *Site) Areas() []Area {
	var list []Area
	for _, tag := range s.API.Tags {
		a := Area{Tag: tag}
		for _, o := range s.API.Operations {
			if o.Tag == tag.Name {
				a.Operations = append(a.Operations, o)
			}
		}
		list = append(list, a)
	}
	return list
}

// Area is some routes that belong together.
type Area struct {
	openapi.Tag
	Operations []*openapi.Operation
}
