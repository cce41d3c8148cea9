package main

import (
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"abagraph/ingest/apart"
)

const readPDF = "read-pdf"

// readPDFCommand is what a server starts for each PDF (package apart).
func readPDFCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    readPDF,
		Short:  "Read a PDF from stdin for a server, within bounds",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return apart.Serve(a.in, a.out) },
	}
}

// pdfReader reads PDFs by this very program, in processes of their own.
func pdfReader() *apart.Reader {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	if runtime.GOOS == "linux" {
		self = "/proc/self/exe" // also once an upgrade has replaced the file
	}
	return apart.New(self, readPDF)
}
