package chaos

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build compiles the program into a folder and returns its path. With the race
// detector a run also looks for data races in every node, at several times the
// cost. It needs the go command and a working directory inside the module.
func Build(ctx context.Context, dir string, race bool) (string, error) {
	path := filepath.Join(dir, fmt.Sprintf("abagraph-race-%v", race))
	command := exec.CommandContext(ctx, "go", "build", fmt.Sprintf("-race=%v", race), "-o", path, "abagraph/cmd/abagraph")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, output)
	}
	return path, nil
}
