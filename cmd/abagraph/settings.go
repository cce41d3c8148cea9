package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"abagraph/mcp"
)

// setting is one thing that a server can be told, by a flag, an environment
// variable or the configuration file.
type setting struct {
	name   string // in the file: bind; the flag is --bind, the variable ABAGRAPH_BIND
	help   string
	preset string
	secret bool
	toggle bool // the flag alone means true
	// also is another environment variable that is looked at last.
	also string
	// check reads a value; it returns why it is not one.
	check func(value string) error
}

func (s *setting) flag() string { return strings.ReplaceAll(s.name, "_", "-") }
func (s *setting) env() string  { return "ABAGRAPH_" + strings.ToUpper(s.name) }

const redacted = "***redacted***"

// serverSettings lists every setting of serve, in the order in which config
// shows them.
func serverSettings() []setting {
	return []setting{
		{name: "bind", preset: "127.0.0.1:8080", check: isAddress, help: "address to serve the API on"},
		{name: "data", preset: "./abagraph-data", check: isSet, help: "directory of the data, or :memory: to keep nothing"},
		{name: "admin_key", secret: true, check: isKey, help: "key of the administrator; without any key auth is off, on loopback only"},
		{name: "second_admin_key", secret: true, check: isKey, help: "key of a second administrator: purges and the deletion of tenants then need both"},
		{name: "base_domain", help: "domain whose subdomains name tenants"},
		{name: "allowed_origins", help: "comma list of origins besides the server's own that browsers may call from"},
		{name: "max_body_bytes", preset: "67108864", check: isCount(1<<10, 1<<32), help: "most bytes of one request"},
		{name: "max_concurrent_uploads", preset: "4", check: isCount(1, 1024), help: "large bodies that are read at the same time"},
		{name: "max_connections", preset: "10000", check: isCount(16, 1<<20), help: "open connections to the API; no more than half of the files that the process may open"},
		{name: "max_streams", preset: "1024", check: isCount(1, 1<<20), help: "open streams of this node, no more than half of max_connections"},
		{name: "tenant_streams", preset: "256", check: isCount(1, 1<<20), help: "open streams of one tenant on this node"},
		{name: "candidate_threshold", preset: "0.75", check: isFraction, help: "confidence below which a fact is a candidate"},
		{name: "ttl_interval_secs", preset: "30", check: isCount(1, 86_400), help: "seconds between sweeps of expired facts"},
		{name: "alert_interval_secs", preset: "60", check: isCount(0, 86_400), help: "seconds between looks at the alerts; 0 = never"},
		{name: "cache_bytes", preset: "268435456", check: isCount(1<<20, 1<<40), help: "bytes of the storage's block cache"},
		{name: "search_bytes", preset: "1073741824", check: isCount(1<<20, 1<<40), help: "bytes of memory that the indexes of search may take"},
		{name: "tenant_requests_per_sec", preset: "0", check: isCount(0, 1<<31), help: "requests that one tenant may send to this node a second; 0 = no limit"},
		{name: "tenant_rows_per_sec", preset: "0", check: isCount(0, 1<<31), help: "rows that one tenant may write through this node a second; 0 = no limit"},
		{name: "tenant_heavy_reads", preset: "16", check: isCount(1, 1024), help: "walks, searches and packets of one tenant that run at the same time"},
		{name: "snapshot_bytes", preset: "67108864", check: isCount(64<<10, 1<<40), help: "bytes of log after which a snapshot is taken"},
		{name: "trailing_bytes", preset: "16777216", check: isCount(64<<10, 1<<40), help: "bytes of log kept before a snapshot, for nodes that lag a little"},
		{name: "disk_reserve_bytes", preset: "268435456", check: isCount(0, 1<<44), help: "bytes of the disk that writes leave alone: with fewer free the node takes none; 0 = it does not look"},
		{name: "node_id", help: "this node's name in its cluster (default: made at the first start)"},
		{name: "peer_bind", help: "address to speak to other nodes on"},
		{name: "peer_advertise", help: "address that other nodes reach this one at (default: peer_bind)"},
		{name: "join", help: "comma list of peer addresses HOST:PORT of a cluster to join"},
		{name: "bootstrap", preset: "false", toggle: true, check: isOneOf("true", "false"), help: "found a new cluster; refused on a data directory that is a member's already"},
		{name: "replica", preset: "false", toggle: true, check: isOneOf("true", "false"), help: "join without a vote, for reads only; it counts for no majority"},
		{name: "election_timeout_ms", preset: "500", check: isCount(100, 30_000), help: "milliseconds without a word of the leader after which a node stands for election; the same on every node"},
		{name: "cluster_secret", secret: true, help: "secret that the nodes of a cluster share"},
		{name: "peer_tls_cert", help: "certificate file for mutual TLS between nodes"},
		{name: "peer_tls_key", help: "key file for mutual TLS between nodes"},
		{name: "peer_tls_ca", help: "file of the authorities that sign the nodes' certificates"},
		{name: "mcp_profile", preset: "full", check: isOneOf(mcp.Profiles()...), help: "tools that MCP lists: full, agent-memory or read-only"},
		{name: "embedding", preset: "words", check: isOneOf("words", "off", "hash", "openai", "http"),
			help: "what finds facts by meaning: words (built in), off, hash, openai or http (any endpoint that speaks its protocol)"},
		{name: "embedding_api_key", secret: true, also: "OPENAI_API_KEY", help: "key of the embedding endpoint"},
		{name: "embedding_base_url", help: "address of the embedding endpoint (default: OpenAI's)"},
		{name: "embedding_model", help: "model of the embedding endpoint (default: text-embedding-3-small)"},
		{name: "embedding_dim", check: isCount(1, 8192), help: "numbers in a vector (default: 64 of hash, 1536 of openai and http)"},
		{name: "embedding_timeout_ms", preset: "3000", check: isCount(10, 60_000), help: "milliseconds that a write or a search waits for vectors"},
		{name: "outbound_allow", check: opensHosts, help: "comma list of hosts, addresses and ranges that may be called although they are private: HOST, HOST:PORT, ADDRESS/BITS"},
		{name: "connector_poll_secs", preset: "0", check: isCount(0, 86_400), help: "seconds between pulls of every connector of kind poll, by the leader; 0 = never"},
		{name: "pii", preset: "redact", check: isOneOf("redact", "hash", "shift_date", "off"),
			help: "what stands in place of personal data in writes that name nothing else: redact, hash, shift_date or off"},
		{name: "pii_key", secret: true, help: "secret that the hashes of personal data are keyed with; the same on every node"},
		{name: "pii_regions", check: areRegions, help: "comma list of countries whose telephone numbers are looked for with spaces alone"},
		{name: "signup", preset: "on", check: isOneOf("on", "off"), help: "whether anyone may ask for a key (POST /api/signup): on or off"},
		{name: "otlp_endpoint", also: "OTEL_EXPORTER_OTLP_ENDPOINT", check: isCollector, help: "address of a collector that is sent traces by OTLP over HTTP, such as http://127.0.0.1:4318; none = nothing is traced"},
		{name: "log_level", preset: "info", check: isOneOf("debug", "info", "warn", "error"), help: "least level of the process log: debug, info, warn or error"},
		{name: "shutdown_secs", preset: "10", check: isCount(1, 600), help: "seconds that a shutdown may take"},
	}
}

// resolved is a setting's value and where it comes from.
type resolved struct {
	value, from string
}

// settings are the values of all settings of a server.
type settings map[string]resolved

func (s settings) get(name string) string { return s[name].value }

// settingFlags adds a flag for each setting, and --config.
func settingFlags(flags *pflag.FlagSet) {
	flags.String("config", "", "configuration file: JSON, or lines of name=value (env ABAGRAPH_CONFIG)")
	for _, s := range serverSettings() {
		help := s.help + " (env " + s.env() + ")"
		if s.preset != "" {
			help += " [" + s.preset + "]"
		}
		flags.String(s.flag(), "", help)
		if s.toggle {
			flags.Lookup(s.flag()).NoOptDefVal = "true"
		}
	}
}

// resolve looks up every setting: flag, environment, file, preset. It judges
// each value, and names where a wrong one comes from.
func resolve(flags *pflag.FlagSet, w *world) (settings, error) {
	file, path, err := readConfig(flags, w.getenv)
	if err != nil {
		return nil, err
	}
	got := settings{}
	for _, s := range serverSettings() {
		value := lookUpSetting(&s, flags, w, file, path)
		if err := s.judge(value); err != nil {
			return nil, fmt.Errorf("setting %s (%s): %w", s.name, value.from, err)
		}
		got[s.name] = value
	}
	return got, nil
}

// judge refuses a value that is none. No text is one only where it can mean that a
// setting is taken back: without a key there is no auth, and no number is not 0.
func (s *setting) judge(value resolved) error {
	switch {
	case value.value == "" && value.from != fromPreset && (s.secret || s.preset != ""):
		return errors.New("is empty: give it a value, or leave it out")
	case value.value == "" || s.check == nil:
		return nil
	}
	return s.check(value.value)
}

// lookUpSetting finds a value, and where it comes from. A variable without a text counts
// as not set, but for a secret: who gives that to a node means it to have one.
func lookUpSetting(s *setting, flags *pflag.FlagSet, w *world, file map[string]string, path string) resolved {
	if flag := flags.Lookup(s.flag()); flag != nil && flag.Changed {
		return resolved{flag.Value.String(), "flag --" + s.flag()}
	}
	if value, set := w.lookupEnv(s.env()); value != "" || set && s.secret {
		return resolved{value, "environment " + s.env()}
	}
	if value, given := file[s.name]; given {
		return resolved{value, "file " + path}
	}
	if s.also != "" {
		if value := w.getenv(s.also); value != "" {
			return resolved{value, "environment " + s.also}
		}
	}
	return resolved{s.preset, fromPreset}
}

// fromPreset is where a value comes from that nobody gave.
const fromPreset = "default"
