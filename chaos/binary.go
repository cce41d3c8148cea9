package chaos

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// TagClocks is the build tag of a program whose clock can be set: see Node.SetClock.
const TagClocks = "chaos"

// Build compiles the program into a folder and returns its path. With the race
// detector a run also looks for data races in every node, at several times the
// cost. Tags are build tags: TagClocks, or a bug that is planted. It needs the go
// command and a working directory inside the module.
func Build(ctx context.Context, dir string, race bool, tags ...string) (string, error) {
	path := filepath.Join(dir, strings.Join(append([]string{fmt.Sprintf("abagraph-race-%v", race)}, tags...), "-"))
	command := exec.CommandContext(ctx, "go", "build", fmt.Sprintf("-race=%v", race), "-tags="+strings.Join(tags, ","), "-o", path, "abagraph/cmd/abagraph")
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, output)
	}
	return path, nil
}
