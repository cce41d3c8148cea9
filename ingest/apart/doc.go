// Package apart reads documents that may hurt their reader, each in a process of its
// own: a PDF can make the library that reads it work without end, or ask for more
// memory than there is, and nothing within a process can stop that. The process has
// bounds of time, memory and output, no environment and so no key, and what ends it
// is the document's fault and nobody else's.
package apart
