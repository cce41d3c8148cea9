package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const deployed = "../../deploy/"

func deployFile(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(deployed + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// documents reads every document of a YAML file.
func documents(t *testing.T, name string) (all []map[string]any) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(deployFile(t, name)))
	for {
		var one map[string]any
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, one)
	}
}

// at follows names and numbers into a document.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

var (
	typeLine   = regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)
	sampleLine = regexp.MustCompile(`(?m)^([a-z_]+)\{([^}]*)\}`)
	labelOf    = regexp.MustCompile(`([a-z_]+)=`)
	metricName = regexp.MustCompile(`\b(abagraph|process|go)_[a-z0-9_]+`)
	selector   = regexp.MustCompile(`\b((?:abagraph|process|go)_[a-z0-9_]+)\{([^}]*)\}`)
)

// served are the metrics of a node, with the names of their labels.
func served(t *testing.T) map[string][]string {
	t.Helper()
	p := launch(t, "--bind", "127.0.0.1:0", "--data", inMemory).up()
	shellOf(t, p).ok("assert", "Person:1", "likes", "tea")
	answer, err := http.Get(p.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string][]string{}
	for _, found := range typeLine.FindAllStringSubmatch(string(raw), -1) {
		names[found[1]] = nil
		if found[2] == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				names[found[1]+suffix] = nil
			}
		}
	}
	for _, found := range sampleLine.FindAllStringSubmatch(string(raw), -1) {
		for _, label := range labelOf.FindAllStringSubmatch(found[2], -1) {
			names[found[1]] = append(names[found[1]], label[1])
		}
	}
	return names
}

// expressions are those of the alert rules and of the dashboard.
func expressions(t *testing.T) (all []string) {
	t.Helper()
	for _, group := range at(documents(t, "prometheus/alerts.yml")[0], "groups").([]any) {
		for _, rule := range at(group, "rules").([]any) {
			all = append(all, at(rule, "expr").(string))
		}
	}
	var dashboard map[string]any
	if err := json.Unmarshal([]byte(deployFile(t, "grafana/abagraph.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, panel := range at(dashboard, "panels").([]any) {
		for _, target := range at(panel, "targets").([]any) {
			all = append(all, at(target, "expr").(string))
		}
	}
	return all
}

// unknownMetrics names what an expression asks of a node that it does not serve.
func unknownMetrics(expression string, known map[string][]string) (problems []string) {
	for _, name := range metricName.FindAllString(expression, -1) {
		if _, there := known[name]; !there {
			problems = append(problems, name)
		}
	}
	for _, found := range selector.FindAllStringSubmatch(expression, -1) {
		for _, label := range labelOf.FindAllStringSubmatch(found[2], -1) {
			if !slices.Contains(known[found[1]], label[1]) && label[1] != "instance" && label[1] != "job" {
				problems = append(problems, found[1]+"{"+label[1]+"}")
			}
		}
	}
	return problems
}

// TestAlertsAndDashboardAskForWhatIsServed holds their metrics and labels to those of
// a running node.
func TestAlertsAndDashboardAskForWhatIsServed(t *testing.T) {
	known := served(t)
	all := expressions(t)
	if len(all) < 25 {
		t.Fatalf("only %d expressions were found", len(all))
	}
	for _, expression := range all {
		if problems := unknownMetrics(expression, known); len(problems) > 0 {
			t.Errorf("%s: no node serves %q", expression, problems)
		}
	}
	if got := unknownMetrics(`abagraph_gone > 1 or abagraph_raft_state{kind="x"}`, known); len(got) != 2 {
		t.Errorf("of an unknown metric and an unknown label these were caught: %q", got)
	}
	manual, err := os.ReadFile("../../docs/OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range known {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		short := strings.Replace(base, "abagraph_pebble_block_cache", "…", 1)
		if strings.HasPrefix(name, "abagraph_") && !bytes.Contains(manual, []byte(base)) && !bytes.Contains(manual, []byte(short)) {
			t.Errorf("docs/OPERATIONS.md does not explain %s", name)
		}
	}
}

// TestRunbooksOfAlertsExist holds each alert's runbook to a heading.
func TestRunbooksOfAlertsExist(t *testing.T) {
	raw, err := os.ReadFile("../../docs/OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	anchors := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(raw), -1) {
		anchors[strings.ReplaceAll(strings.ToLower(strings.NewReplacer(",", "", "'", "", "?", "", "`", "").Replace(found[1])), " ", "-")] = true
	}
	found := regexp.MustCompile(`docs/OPERATIONS\.md#([a-z0-9-]+)`).FindAllStringSubmatch(deployFile(t, "prometheus/alerts.yml")+deployFile(t, "README.md"), -1)
	if len(found) == 0 {
		t.Fatal("no alert names a runbook")
	}
	for _, one := range found {
		if !anchors[one[1]] {
			t.Errorf("docs/OPERATIONS.md has no heading #%s", one[1])
		}
	}
}

// TestDeploymentsNameSettingsThatExist reads every file: each variable is a setting,
// each line of the configuration too, and each command line is one that parses.
func TestDeploymentsNameSettingsThatExist(t *testing.T) {
	known := map[string]bool{"ABAGRAPH_URL": true, "ABAGRAPH_KEY": true, "ABAGRAPH_CONFIG": true}
	settings := map[string]bool{}
	for _, s := range serverSettings() {
		known[s.env()], settings[s.name] = true, true
	}
	files, err := filepath.Glob(deployed + "*")
	if err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Glob(deployed + "*/*")
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`ABAGRAPH_[A-Z_]+`)
	for _, path := range append(files, below...) {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			continue
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range variable.FindAllString(string(raw), -1) {
			if !known[name] {
				t.Errorf("%s names %s, which is no setting", path, name)
			}
		}
	}
	for _, found := range regexp.MustCompile(`(?m)^(?:# )?([a-z_]+) = `).FindAllStringSubmatch(deployFile(t, "systemd/abagraph.conf"), -1) {
		if !settings[found[1]] {
			t.Errorf("systemd/abagraph.conf names %s, which is no setting", found[1])
		}
	}
	r := shell(t)
	for _, line := range commandLines(t) {
		command, rest, err := newRoot(r.world(io.Discard, io.Discard)).Find(line)
		if err == nil {
			err = command.ParseFlags(rest)
		}
		if err != nil || !command.HasParent() {
			t.Errorf("abagraph %s: %v", strings.Join(line, " "), err)
		}
	}
	r.ok("config", "--config", r.file("empty.conf", "")) // what a founding pod is given
}

// commandLines are those of the units, the compose file and the manifests.
func commandLines(t *testing.T) (all [][]string) {
	t.Helper()
	for _, unit := range []string{"systemd/abagraph.service", "systemd/abagraph-backup.service"} {
		found := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/abagraph (.+)$`).FindStringSubmatch(deployFile(t, unit))
		if found == nil {
			t.Fatalf("%s starts nothing", unit)
		}
		all = append(all, strings.Fields(found[1]))
	}
	health := at(documents(t, "compose.yaml")[0], "x-node", "healthcheck", "test")
	list, _ := health.([]any)
	var line []string
	for _, word := range list[min(2, len(list)):] {
		line = append(line, word.(string))
	}
	all = append(all, line)
	for _, d := range documents(t, "kubernetes/abagraph.yaml") {
		args, _ := at(d, "spec", "template", "spec", "containers", 0, "args").([]any)
		line = nil
		for _, word := range args {
			line = append(line, word.(string))
		}
		if line != nil {
			all = append(all, line)
		}
	}
	if len(all) != 4 {
		t.Fatalf("%d command lines were found: %q", len(all), all)
	}
	return all
}

// TestThreeNodesAreDeployed: of three nodes one founds, and the others join it; every
// node has its own name and data; none runs as root.
func TestThreeNodesAreDeployed(t *testing.T) {
	services, _ := at(documents(t, "compose.yaml")[0], "services").(map[string]any)
	founders, names := 0, map[string]bool{}
	for name, service := range services {
		if at(service, "environment", "ABAGRAPH_JOIN") == nil {
			founders++
		}
		names[at(service, "environment", "ABAGRAPH_NODE_ID").(string)+at(service, "volumes", 0).(string)] = true
		if at(service, "environment", "ABAGRAPH_PEER_ADVERTISE") != name+":9080" {
			t.Errorf("%s is not reached by its own name", name)
		}
	}
	if len(services) != 3 || len(names) != 3 || founders != 1 {
		t.Errorf("compose: %d services with %d names and %d founders", len(services), len(names), founders)
	}
	kinds := map[string]map[string]any{}
	for _, d := range documents(t, "kubernetes/abagraph.yaml") {
		kinds[at(d, "kind").(string)+"/"+at(d, "metadata", "name").(string)] = d
	}
	set := kinds["StatefulSet/abagraph"]
	pod := at(set, "spec", "template", "spec")
	for what, found := range map[string]bool{
		"three replicas":         at(set, "spec", "replicas") == 3,
		"one at a time":          at(set, "spec", "podManagementPolicy") == "OrderedReady" && at(kinds["PodDisruptionBudget/abagraph"], "spec", "maxUnavailable") == 1,
		"the headless service":   at(kinds["Service/"+at(set, "spec", "serviceName").(string)], "spec", "clusterIP") == "None",
		"peers before readiness": at(kinds["Service/abagraph-peers"], "spec", "publishNotReadyAddresses") == true,
		"no root":                at(pod, "securityContext", "runAsNonRoot") == true,
		"readiness":              at(pod, "containers", 0, "readinessProbe", "httpGet", "path") == "/api/ready",
		"liveness":               at(pod, "containers", 0, "livenessProbe", "httpGet", "path") == "/api/health",
		"a volume of its own":    at(set, "spec", "volumeClaimTemplates", 0, "metadata", "name") == "data",
	} {
		if !found {
			t.Errorf("kubernetes: not so: %s", what)
		}
	}
	dockerfile := deployFile(t, "Dockerfile")
	for _, want := range []string{"CGO_ENABLED=0", "gcr.io/distroless/static", "\nUSER 65532:65532\n", `ENTRYPOINT ["/usr/local/bin/abagraph"]`} {
		if !strings.Contains(dockerfile, want) {
			t.Errorf("the Dockerfile lacks %q", want)
		}
	}
}
