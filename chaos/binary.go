package chaos

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build compiles the program into a folder and returns its path. The race
// detector is in it, so that a run also looks for data races in every node. It
// needs the go command and a working directory inside the module.
func Build(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "abagraph")
	command := exec.CommandContext(ctx, "go", "build", "-race", "-o", path, "abagraph/cmd/abagraph")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, output)
	}
	return path, nil
}
