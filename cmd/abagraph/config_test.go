package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// config runs config and returns the settings by name.
func (r *rig) config(args ...string) map[string]shown {
	r.t.Helper()
	var list []shown
	if out := r.ok(append([]string{"config"}, args...)...); json.Unmarshal([]byte(out), &list) != nil {
		r.t.Fatalf("config wrote %s", out)
	}
	got := map[string]shown{}
	for _, one := range list {
		got[one.Name] = one
	}
	return got
}

func TestConfigTellsEachValueAndWhereItComesFrom(t *testing.T) {
	r := shell(t)
	file := r.file("abagraph.conf", "# a comment\n\nbind = 127.0.0.1:1\nABAGRAPH_DATA=\"/var/lib/x y\"\nnode-id=n1\ntransient=\nttl_interval_secs=9\n")
	if got := r.fails("config", "--config", file); !strings.Contains(got, `line 6: there is no setting "transient"`) {
		t.Errorf("said %q", got)
	}
	file = r.file("abagraph.conf", "# a comment\n\nbind = 127.0.0.1:1\nABAGRAPH_DATA=\"/var/lib/x y\"\nnode-id=n1\nttl_interval_secs=9\nadmin_key=in-the-file\n")
	r.env["ABAGRAPH_CONFIG"] = file
	r.env["ABAGRAPH_BIND"] = "127.0.0.1:2"
	r.env["ABAGRAPH_TTL_INTERVAL_SECS"] = "10"
	r.env["ABAGRAPH_CLUSTER_SECRET"] = "in-the-environment"
	r.env["ABAGRAPH_KEY"] = "client-secret"
	got := r.config("--bind", "127.0.0.1:3")
	for name, want := range map[string][2]string{
		"bind": {"127.0.0.1:3", "flag --bind"}, "ttl_interval_secs": {"10", "environment ABAGRAPH_TTL_INTERVAL_SECS"}, "data": {"/var/lib/x y", "file " + file},
		"node_id": {"n1", "file " + file}, "max_body_bytes": {"67108864", "default"}, "admin_key": {redacted, "file " + file},
		"cluster_secret": {redacted, "environment ABAGRAPH_CLUSTER_SECRET"}, "client key": {redacted, "environment ABAGRAPH_KEY"}, "client url": {"", "not set"},
	} {
		if got[name].Value != want[0] || got[name].From != want[1] {
			t.Errorf("%s is %q from %q, want %q from %q", name, got[name].Value, got[name].From, want[0], want[1])
		}
	}
	r.terminal = true
	if out := r.ok("config"); strings.Contains(out, "in-the-") || strings.Contains(out, "client-secret") || !strings.Contains(out, redacted) {
		t.Errorf("config wrote %s", out)
	}
}

func TestConfigFileAsJSON(t *testing.T) {
	r := shell(t)
	got := r.config("--config", r.file("c.json", `{"bind":"127.0.0.1:1","candidate_threshold":0.50,"allowed_origins":["https://a.example","https://b.example"]}`))
	if got["candidate_threshold"].Value != "0.50" || got["allowed_origins"].Value != "https://a.example,https://b.example" {
		t.Errorf("read %+v", got)
	}
}

// TestMalformedConfigurationIsOneLine: for serve as for config.
func TestMalformedConfigurationIsOneLine(t *testing.T) {
	for text, want := range map[string]string{
		`{"bind":`:                                    "it is not valid JSON",
		`{"bind":"127.0.0.1:1"} x`:                    "something follows",
		`{"bend":"127.0.0.1:1"}`:                      `there is no setting "bend"`,
		`{"bind":{"host":"x"}}`:                       "bind: must be text",
		`{"bind":"127.0.0.1:1","bind":"127.0.0.1:2"}`: `the setting "bind" is given twice`,
		`{"bind":"127.0.0.1:1"`:                       "it is not valid JSON",
		`{"bind":"127.0.0.1:1",}`:                     "it is not valid JSON",
		"candidate_threshold=":                        "is empty: give it a value",
		"admin_key=":                                  "is empty: give it a value",
		"bind":                                        "line 1 is not name=value",
		"# a\nadmin_key = s3cret # mine":              "line 2: admin_key: a comment stands on a line of its own; a value that holds it is put in quotes",
		"data=/a\t#b":                                 "line 1: data: a comment stands on a line of its own",
		"bind=1\nABAGRAPH_BIND=2":                     `line 2: the setting "ABAGRAPH_BIND" is given twice`,
		"bind=nowhere":                                "setting bind (file ",
		"bind=127.0.0.1:99999":                        "must have a port from 0 to 65535",
		"election_timeout_ms=50":                      "must be a whole number from 100 to 30000",
		"candidate_threshold=1.5":                     "must be a number from 0 to 1",
		"candidate_threshold=NaN":                     "must be a number from 0 to 1",
		"ttl_interval_secs=soon":                      "must be a whole number",
		"max_body_bytes=1":                            "must be a whole number from 1024",
		"log_level=loud":                              "must be one of",
		"pii=hsah":                                    "must be one of redact, hash, shift_date, off",
		"pii_regions=es, uss":                         `"uss" is no region that is known (br, cn,`,
		"\xff\xfeb\x00i\x00n\x00d\x00":                "line 1 is not name=value",
	} {
		for _, command := range []string{"config", "serve"} {
			r := shell(t)
			got := r.fails(command, "--config", r.file("c", text), "--data", r.home+"/data")
			if !strings.Contains(got, want) || strings.Contains(got, "\n") {
				t.Errorf("%s with %q said %q, want %q", command, text, got, want)
			}
		}
	}
	r := shell(t)
	r.env["ABAGRAPH_BIND"] = "x"
	if got := r.fails("config"); !strings.Contains(got, "setting bind (environment ABAGRAPH_BIND): must be HOST:PORT") {
		t.Errorf("said %q", got)
	}
	r.env["ABAGRAPH_BIND"] = "" // as good as not set
	r.ok("config")
	for _, secret := range []string{"admin_key", "cluster_secret", "pii_key", "embedding_api_key"} {
		name := "ABAGRAPH_" + strings.ToUpper(secret)
		r.env[name] = ""
		if got := r.fails("serve", "--data", r.home+"/data"); !strings.Contains(got, "setting "+secret+" (environment "+name+"): is empty") {
			t.Errorf("with an empty %s serve said %q", name, got)
		}
		delete(r.env, name)
	}
	if got := r.fails("config", "--config", r.home+"/none"); !strings.Contains(got, "read the configuration file") {
		t.Errorf("said %q", got)
	}
}
