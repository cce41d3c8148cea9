package chaos

import (
	"strings"
	"testing"
)

// TestFormerProgramThatIsNotThere: an upgrade from what the repository does not have
// begins with the present tree, and says so.
func TestFormerProgramThatIsNotThere(t *testing.T) {
	for revision, want := range map[string]string{same: "asked for", "no-such-revision": "does not have no-such-revision", "HEAD:Makefile": "does not have HEAD:Makefile"} {
		if commit, why := commitOf(t.Context(), revision); commit != "" || !strings.Contains(why, want) {
			t.Errorf("%s is %q, %q", revision, commit, why)
		}
	}
}
