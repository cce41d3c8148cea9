package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"abagraph/docs"
	"abagraph/fact"
	"abagraph/fsm"
	httpd "abagraph/http"
	"abagraph/ingest"
	"abagraph/ingest/connect"
	"abagraph/ingest/trigger"
	"abagraph/internal/events"
	"abagraph/internal/models"
	"abagraph/internal/otlp"
	"abagraph/internal/outbound"
	"abagraph/internal/span"
	"abagraph/internal/watch"
	rlog "abagraph/log"
	"abagraph/memory"
	"abagraph/replication"
)

// inMemory is the data directory of a node that keeps nothing.
const inMemory = ":memory:"

// node is everything that one server is made of.
type node struct {
	die     func(line string) // ends the process: the store cannot go on
	server  *httpd.Server
	door    *memory.Service
	dir     *rlog.Dir // nil in memory
	machine *fsm.Machine
	raft    *replication.Node
	keeper  keeper
	watcher *watch.Watcher // nil where nothing is watched
	reports *watch.Reporter
	tracer  *otlp.Tracer // nil where nothing is traced
	guard   *outbound.Guard
	poller  *connect.Poller // nil where nothing is polled
	runner  *trigger.Runner // of triggers
	models  *models.Client
	desk    *ingest.Desk
}

// openNode wires state machine, replication, memory and HTTP. The port is taken
// first and the data directory claimed second, so that neither a port in use
// nor a refused configuration touches data.
func openNode(s settings, logger *slog.Logger, window *events.Window, die func(line string)) (_ *node, err error) {
	n := &node{die: die}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close(s.seconds("shutdown_secs")))
		}
	}()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	door, err := n.openMemory(s, logger)
	if err != nil {
		return nil, err
	}
	tracer, err := n.openTracer(s, logger, registry)
	if err != nil {
		return nil, err
	}
	n.door, n.desk = door, &ingest.Desk{Memory: door, Models: n.models, Guard: n.guard, PDF: pdfReader().PDF, Logger: logger, Tracer: tracer}
	config := serverConfig(s, door, logger, window, registry)
	config.Desk, config.Tracer = n.desk, tracer
	tools, err := mcpServer(s, door, n.desk, logger)
	if err != nil {
		return nil, err
	}
	config.MCP, config.Tools = tools, toolCards(tools)
	if config.Connect, err = n.openConnectors(door, logger, tracer); err != nil {
		return nil, err
	}
	if config.Signups, err = openSignups(s); err != nil {
		return nil, err
	}
	triggers, err := trigger.New(trigger.Options{Memory: door, Connect: config.Connect, Logger: logger, Tracer: tracer})
	if err != nil {
		return nil, err
	}
	config.Triggers = triggers
	if n.server, err = httpd.NewServer(config); err != nil {
		return nil, err
	}
	if err := n.server.Listen(); err != nil {
		return nil, err
	}
	if err := n.openData(s, logger); err != nil {
		return nil, err
	}
	if err := registry.Register(newStorageCollector(n.machine)); err != nil {
		return nil, fmt.Errorf("register the storage's metrics: %w", err)
	}
	if err := n.startRaft(s, logger, registry); err != nil {
		return nil, err
	}
	n.begin(s, config.Connect, triggers, tracer, logger)
	return n, nil
}

// begin starts what the node does by itself, now that it is whole.
func (n *node) begin(s settings, connectors *connect.Service, triggers *trigger.Service, tracer span.Tracer, logger *slog.Logger) {
	n.keeper.start(n.door)
	n.runner = triggers.Start(triggerLook, func() bool { return n.raft.Leads() }, clock)
	n.reports = watch.StartReports(watch.ReportOptions{Memory: n.door, Leads: n.raft.Leads, Now: clock, Every: reportLook, Tracer: tracer, Logger: logger})
	if secs := s.seconds("connector_poll_secs"); secs > 0 {
		n.poller = connectors.StartPoller(secs, func() bool { return n.raft.Leads() })
	}
	if every := s.seconds("alert_interval_secs"); every > 0 {
		n.watcher = watch.Start(watch.Options{Memory: n.door, Guard: n.guard, Leads: n.raft.Leads, Every: every, Tracer: tracer, Logger: logger})
	}
}

// openMemory makes the door before the engine behind it is there: nothing goes
// through until the server serves, and by then the node is whole.
func (n *node) openMemory(s settings, logger *slog.Logger) (*memory.Service, error) {
	threshold := s.fraction("candidate_threshold")
	var err error
	if n.guard, err = n.openGuard(s); err != nil {
		return nil, err
	}
	n.models = models.New(models.Options{Guard: n.guard})
	embedder, err := openEmbedder(s, n.guard, logger)
	if err != nil {
		return nil, err
	}
	table, err := openWords(s)
	if err != nil {
		return nil, err
	}
	return memory.New(memory.Options{
		Engine: late{n}, Now: clock,
		View:       func(ctx context.Context) (memory.View, error) { return n.machine.ViewWithin(ctx) },
		Live:       func(q *fact.Query) (*fact.Page, fact.Position, bool) { return n.machine.Live(q) },
		Leads:      func() bool { return n.raft.Leads() },
		Unlike:     func() string { return n.raft.UnlikeLeader() },
		Cluster:    late{n}.Cluster,
		Operations: operations{n}, MayCall: n.guard.Check,
		Limits: memory.Limits{
			RequestsPerSecond: float64(s.number("tenant_requests_per_sec")), RowsPerSecond: float64(s.number("tenant_rows_per_sec")),
			HeavyReads: int(s.number("tenant_heavy_reads")),
		},
		AdminKey: s.get("admin_key"),

		SecondAdminKey: s.get("second_admin_key"),
		Threshold:      &threshold,
		Words:          table, SearchBytes: s.number("search_bytes"),
		Mask: s.maskMode(), MaskKey: s.get("pii_key"), MaskRegions: s.maskRegions(),
		Embedder: embedder, EmbedTimeout: s.milliseconds("embedding_timeout_ms"), Embedding: s.get("embedding"), Models: n.models,
		// Keys are looked up anew only after the registry has changed.
		PolicyVersion:   func() uint64 { return n.machine.PolicyVersion() + 1 },
		RegistryVersion: func() uint64 { return n.machine.RegistryVersion() },
	})
}

func serverConfig(s settings, door *memory.Service, logger *slog.Logger, window *events.Window, registry *prometheus.Registry) httpd.Config {
	return httpd.Config{
		Docs: docs.Files,
		Bind: s.get("bind"), Memory: door, Logger: logger, Window: window, Registry: registry, Version: version,
		BaseDomain: s.get("base_domain"), AllowedOrigins: commaList(s.get("allowed_origins")),
		MaxBodyBytes: s.number("max_body_bytes"), MaxUploads: int(s.number("max_concurrent_uploads")),
		MaxConnections: connectionsWithin(s, logger), MaxStreams: int(s.number("max_streams")), TenantStreams: int(s.number("tenant_streams")),
	}
}

// openData claims the data directory and opens the state machine.
func (n *node) openData(s settings, logger *slog.Logger) (err error) {
	options := fsm.Options{Logger: logger, CacheBytes: s.number("cache_bytes"), Fatal: func(line string) {
		logger.Error("abagraph.node.stopped", "error", line)
		n.die(line)
	}}
	if data := s.get("data"); data != inMemory {
		if n.dir, err = rlog.Claim(data); err != nil {
			return err
		}
		options.Dir = n.dir.State()
	}
	n.machine, err = fsm.Open(options)
	return err
}

func (n *node) startRaft(s settings, logger *slog.Logger, registry *prometheus.Registry) error {
	id, err := n.nodeID(s.get("node_id"))
	if err != nil {
		return err
	}
	bind, err := peerBind(s)
	if err != nil {
		return err
	}
	options := replication.Options{
		NodeID: id, Dir: n.dir, Machine: n.machine, Bind: bind, Advertise: s.get("peer_advertise"), Join: s.get("join"),
		Bootstrap: s.get("bootstrap") == "true", Replica: s.get("replica") == "true", Secret: s.get("cluster_secret"), Logger: logger, Registerer: registry,
		Clock: func() fact.Instant { return fact.Instant(clock().UnixMilli()) }, SweepInterval: s.seconds("ttl_interval_secs"), CheckInterval: checkInterval,
		SnapshotBytes: uint64(s.number("snapshot_bytes")), TrailingBytes: uint64(s.number("trailing_bytes")),
		DiskReserve: uint64(s.number("disk_reserve_bytes")), Election: time.Duration(s.number("election_timeout_ms")) * time.Millisecond,
		Alike: s.alike(),
	}
	if cert, key, ca := s.get("peer_tls_cert"), s.get("peer_tls_key"), s.get("peer_tls_ca"); cert != "" || key != "" || ca != "" {
		options.TLS = &replication.TLSFiles{Cert: cert, Key: key, CA: ca}
	}
	if n.tracer != nil {
		options.Tracer = n.tracer
	}
	n.raft, err = replication.Open(options)
	return err
}

// nodeID is the name that was given, or that the data directory knows, or a new
// one.
func (n *node) nodeID(given string) (string, error) {
	if given != "" {
		return given, nil
	}
	if n.dir != nil {
		raw, err := os.ReadFile(n.dir.Identity())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read who this node is: %w", err)
		}
		var known struct {
			Node string `json:"node_id"`
		}
		if err == nil && json.Unmarshal(raw, &known) == nil && known.Node != "" {
			return known.Node, nil
		}
	}
	return "node-" + uuid.NewString()[:8], nil
}

// peerBind is the peer port's address: the one that was given or, for a node
// that is to be one of a cluster, the API's host and port + 1000.
func peerBind(s settings) (string, error) {
	bind := s.get("peer_bind")
	if bind != "" || s.get("join") == "" && s.get("cluster_secret") == "" && s.get("peer_tls_cert") == "" {
		return bind, nil
	}
	host, port, err := net.SplitHostPort(s.get("bind"))
	if err != nil {
		return "", fmt.Errorf("read the address to bind: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil || number+1000 > 65535 {
		return "", errors.New("a node of a cluster needs --peer-bind HOST:PORT")
	}
	return net.JoinHostPort(host, strconv.Itoa(number+1000)), nil
}

func commaList(text string) []string {
	var list []string
	for _, one := range strings.Split(text, ",") {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

// close ends what was opened, from the outside inwards, within a time.
func (n *node) close(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var errs []error
	if n.raft != nil {
		n.raft.Hasten()
	}
	if n.server != nil {
		errs = append(errs, n.server.Shutdown(ctx))
	}
	if n.runner != nil {
		n.runner.Stop()
	}
	if n.reports != nil {
		n.reports.Stop()
	}
	if n.watcher != nil {
		n.watcher.Stop()
	}
	if n.poller != nil {
		n.poller.Stop()
	}
	if n.desk != nil {
		n.desk.Close() // what it writes needs the engine
	}
	if n.door != nil {
		n.door.Close()
	}
	n.keeper.stop()
	if n.guard != nil {
		n.guard.Close()
	}
	if n.raft != nil {
		errs = append(errs, n.raft.Close())
	}
	if n.tracer != nil {
		n.tracer.Close()
	}
	if n.machine != nil {
		errs = append(errs, n.machine.Close())
	}
	if n.dir != nil {
		errs = append(errs, n.dir.Close())
	}
	return errors.Join(errs...)
}
