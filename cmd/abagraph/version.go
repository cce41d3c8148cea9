package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for a release.
var version = "0.1.0"

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.readable() {
				_, err := fmt.Fprintf(a.out, "abagraph %s (%s)\n", version, runtime.Version())
				return err
			}
			return writeValue(a.out, map[string]string{"version": version, "go": runtime.Version(), "revision": revision(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
		},
	}
}

// revision is the commit that the binary was built from, if it is known.
func revision() string {
	info, known := debug.ReadBuildInfo()
	if !known {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return ""
}
