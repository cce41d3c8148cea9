// Package docs is the documents, so that the program can hand them out. It holds no code
// but the list of its files.
package docs

import "embed"

// Files are the documents, Markdown in the root.
//
//go:embed *.md
var Files embed.FS
