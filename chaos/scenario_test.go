package chaos_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"abagraph/chaos"
	"abagraph/chaos/scenario"
)

// TestMixedScenario is a short seeded attack with everything: `make chaos` makes longer
// ones.
func TestMixedScenario(t *testing.T) {
	report := attack(t, scenario.Config{
		Scenario: "mixed", Seed: seed(t), Length: time.Duration(scale(t, 6)) * time.Second, Binary: plainBinary,
		Disks: chaos.CanMount(),
	})
	if report.Failed() {
		t.Errorf("make it again by: %s\n%s", report.Again, report)
	}
	for _, judge := range []string{"registers", "past", "times", "branches", "purges", "tenants", "streams", "writes", "nodes equal", "files"} {
		if report.Judges[judge] == 0 {
			t.Errorf("the judge of %s has seen nothing: %v", judge, report.Judges)
		}
	}
}

func attack(t *testing.T, config scenario.Config) *scenario.Report {
	t.Helper()
	config.Clocks, config.Say = true, func(line string) { t.Log(line) }
	config.Dir = filepath.Join(t.TempDir(), "attack")
	report, err := scenario.Run(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// plantedBugs are the bugs that can be built in, each with an attack that must find it
// and judges that may be who do. The first is tried always, the others with
// ABAGRAPH_CHAOS_PLANTED=all.
var plantedBugs = []struct {
	tag, scenario string
	nodes         int
	length        time.Duration
	judges        []string
}{
	{"plant_tenant", "calm", 1, 10 * time.Second, []string{"tenants"}},
	{"plant_twice", "kill", 3, 20 * time.Second, []string{"idempotency", "writes", "registers", "nodes equal"}},
	{"plant_leader", "network", 3, 40 * time.Second, []string{"registers", "past", "branches", "purges"}},
	{"plant_sync", "power", 3, 20 * time.Second, []string{"recovery", "writes", "nodes", "registers"}},
}

// TestPlantedBugsAreFound builds a bug into the program on purpose and attacks it: an
// attack that finds nothing then proves nothing elsewhere either.
func TestPlantedBugsAreFound(t *testing.T) {
	bugs := plantedBugs[:1]
	if os.Getenv("ABAGRAPH_CHAOS_PLANTED") == "all" {
		bugs = plantedBugs
	}
	for _, bug := range bugs {
		t.Run(bug.tag, func(t *testing.T) {
			faulty, err := chaos.Build(t.Context(), t.TempDir(), false, chaos.TagClocks, bug.tag)
			if err != nil {
				t.Fatal(err)
			}
			report := attack(t, scenario.Config{
				Scenario: bug.scenario, Seed: 1, Length: bug.length, Size: bug.nodes, Binary: faulty, Disks: bug.scenario == "power", First: true,
			})
			found := slices.ContainsFunc(report.Violations, func(v scenario.Violation) bool { return slices.Contains(bug.judges, v.Judge) })
			if !found || strings.Contains(report.String(), "harness") {
				t.Errorf("the bug was not found, but\n%s", report)
			}
		})
	}
}
