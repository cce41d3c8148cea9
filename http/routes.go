package http

import (
	"errors"
	"net/http"

	"abagraph/memory"

	"github.com/labstack/echo/v4"
)

// access says who may come in.
type access uint8

const (
	keyed     access = iota // a valid key, or auth is off
	public                  // anyone
	discovery               // a key, and without any a challenge to bring one
)

// route is one line of the table of routes.
type route struct {
	method   string
	template string
	access   access
	handle   func(*call) error
	measure  *routeMetrics
}

// tells reports whether answers of the route say where the server describes itself.
// Those that only a key opens do not, so that a denied request is a missing route.
func (r *route) tells() bool {
	return r.access == discovery || r.access == public && r.template != metricsPath
}

// unmatched stands for requests that match no route; its name is what metrics
// and events tell of them.
const unmatched = "unmatched"

func (s *Server) table() []route {
	list := []route{
		{method: http.MethodGet, template: "/api/facts", handle: s.listFacts},
		{method: http.MethodPost, template: "/api/facts", handle: s.assertFact},
		{method: http.MethodGet, template: "/api/facts/:id", handle: s.getFact},
		{method: http.MethodDelete, template: "/api/facts/:id", handle: s.retractFact},
		{method: http.MethodGet, template: "/api/facts/:id/history", handle: s.factHistory},
		{method: http.MethodGet, template: "/api/facts/:id/explain", handle: s.explainFact},
		{method: http.MethodPost, template: "/api/transact", handle: s.transact},
		{method: http.MethodGet, template: "/api/stream", handle: s.stream},
		{method: http.MethodGet, template: "/api/entities", handle: s.listEntities},
		{method: http.MethodGet, template: "/api/entities/*", handle: s.getEntity},
		{method: http.MethodGet, template: "/api/predicates", handle: s.listPredicates},
		{method: http.MethodGet, template: "/api/walk", handle: s.walk},
		{method: http.MethodGet, template: "/api/search", handle: s.getSearch},
		{method: http.MethodPost, template: "/api/search", handle: s.postSearch},
		{method: http.MethodGet, template: "/api/graph", handle: s.graph},
		{method: http.MethodGet, template: "/api/path", handle: s.paths},
		{method: http.MethodGet, template: "/api/factcheck", handle: s.factcheck},
		{method: http.MethodPost, template: "/api/digest", handle: s.digest},
		{method: http.MethodPost, template: "/api/consolidate", handle: s.consolidate},
		{method: http.MethodPost, template: "/api/sources/:name/undo", handle: s.undoSource},
		{method: http.MethodGet, template: "/api/changes", handle: s.changes},
		{method: http.MethodGet, template: "/api/pages/*", handle: s.getPage},
		{method: http.MethodPut, template: "/api/pages/*", handle: s.putPage},
		{method: http.MethodGet, template: "/api/context", handle: s.getContext},
		{method: http.MethodPost, template: "/api/context", handle: s.postContext},
		{method: http.MethodPost, template: "/api/compact", handle: s.compact},
		{method: http.MethodPost, template: "/api/enrich", handle: s.enrich},
		{method: http.MethodGet, template: "/api/stats", handle: s.stats},
		{method: http.MethodPost, template: "/api/digest/scrape", handle: s.scrape},
		{method: http.MethodGet, template: "/api/digest/jobs/:id", handle: s.digestJob},
		{method: http.MethodPost, template: "/api/digest/jobs/:id/resume", handle: s.resumeDigest},
		{method: http.MethodPost, template: "/api/digest/jobs/:id/stop", handle: s.stopDigest},
		{method: http.MethodPost, template: "/api/ask", handle: s.ask},
		{method: http.MethodGet, template: "/api/blobs/:hash", handle: s.blob},
		{method: http.MethodGet, template: "/api/embeddings", handle: s.embeddings},
		{method: http.MethodPost, template: "/api/embeddings", handle: s.embed},
		{method: http.MethodGet, template: "/api/health", access: public, handle: s.health},
		{method: http.MethodGet, template: "/api/ready", access: public, handle: s.ready},
		{method: http.MethodGet, template: "/api/observability", handle: s.observability},
		{method: http.MethodPost, template: "/api/session", access: public, handle: s.logIn},
		{method: http.MethodDelete, template: "/api/session", access: public, handle: s.logOut},
		{method: http.MethodGet, template: "/api/session", handle: s.session},
		{method: http.MethodGet, template: "/api/connect", handle: s.connect},
		{method: http.MethodPost, template: "/api/branches", handle: s.createBranch},
		{method: http.MethodGet, template: "/api/branches", handle: s.listBranches},
		{method: http.MethodGet, template: "/api/branches/:name", handle: s.getBranch},
		{method: http.MethodDelete, template: "/api/branches/:name", handle: s.discardBranch},
		{method: http.MethodGet, template: "/api/branches/:name/diff", handle: s.diffBranch},
		{method: http.MethodPost, template: "/api/branches/:name/promote", handle: s.promoteBranch},
		{method: http.MethodPost, template: "/api/branches/:name/discard", handle: s.discardBranch},
		{method: http.MethodPost, template: "/api/connectors", handle: s.registerConnector},
		{method: http.MethodGet, template: "/api/connectors", handle: s.listConnectors},
		{method: http.MethodGet, template: "/api/connectors/:name", handle: s.getConnector},
		{method: http.MethodPut, template: "/api/connectors/:name", handle: s.replaceConnector},
		{method: http.MethodDelete, template: "/api/connectors/:name", handle: s.deleteConnector},
		{method: http.MethodPost, template: "/api/connectors/:name/events", handle: s.deliver},
		{method: http.MethodPost, template: "/api/connectors/:name/pull", handle: s.pull},
		{method: http.MethodPost, template: "/api/triggers", handle: s.declareTrigger},
		{method: http.MethodGet, template: "/api/triggers", handle: s.listTriggers},
		{method: http.MethodGet, template: "/api/triggers/:name", handle: s.getTrigger},
		{method: http.MethodPut, template: "/api/triggers/:name", handle: s.replaceTrigger},
		{method: http.MethodDelete, template: "/api/triggers/:name", handle: s.deleteTrigger},
		{method: http.MethodPost, template: "/api/triggers/:name/pause", handle: s.pauseTrigger},
		{method: http.MethodPost, template: "/api/triggers/:name/resume", handle: s.resumeTrigger},
		{method: http.MethodPost, template: "/api/triggers/:name/run", handle: s.runTrigger},
		{method: http.MethodPost, template: "/api/leases", handle: s.acquireLease},
		{method: http.MethodGet, template: "/api/leases", handle: s.listLeases},
		{method: http.MethodGet, template: "/api/leases/:resource", handle: s.getLease},
		{method: http.MethodPost, template: "/api/leases/:resource/renew", handle: s.renewLease},
		{method: http.MethodPost, template: "/api/leases/:resource/release", handle: s.releaseLease},
		{method: http.MethodPost, template: "/api/tenants", handle: s.createTenant},
		{method: http.MethodGet, template: "/api/tenants", handle: s.listTenants},
		{method: http.MethodGet, template: "/api/tenants/:id", handle: s.getTenant},
		{method: http.MethodDelete, template: "/api/tenants/:id", handle: s.deleteTenant},
		{method: http.MethodPost, template: "/api/tenants/:id/keys", handle: s.createKey},
		{method: http.MethodGet, template: "/api/tenants/:id/keys", handle: s.listKeys},
		{method: http.MethodDelete, template: "/api/tenants/:id/keys/:key", handle: s.revokeKey},
		{method: http.MethodGet, template: "/api/audit", handle: s.audit},
		{method: http.MethodGet, template: "/api/alerts", handle: s.listAlerts},
		{method: http.MethodPost, template: "/api/alerts", handle: s.setAlert},
		{method: http.MethodGet, template: "/api/alerts/:name", handle: s.getAlert},
		{method: http.MethodDelete, template: "/api/alerts/:name", handle: s.deleteAlert},
		{method: http.MethodGet, template: "/api/reports", handle: s.listReports},
		{method: http.MethodPost, template: "/api/reports", handle: s.setReport},
		{method: http.MethodGet, template: "/api/reports/:name", handle: s.getReport},
		{method: http.MethodDelete, template: "/api/reports/:name", handle: s.deleteReport},
		{method: http.MethodPost, template: "/api/reports/:name/run", handle: s.runReport},
		{method: http.MethodPost, template: "/api/reports/:name/pause", handle: s.pauseReport},
		{method: http.MethodPost, template: "/api/reports/:name/resume", handle: s.resumeReport},
		{method: http.MethodGet, template: "/api/admin/approvals", handle: s.listApprovals},
		{method: http.MethodGet, template: "/api/policy", handle: s.getPolicy},
		{method: http.MethodPut, template: "/api/policy", handle: s.putPolicy},
		{method: http.MethodPost, template: "/api/policy/simulate", handle: s.simulatePolicy},
		{method: http.MethodGet, template: "/api/secrets", handle: s.listSecrets},
		{method: http.MethodPost, template: "/api/secrets", handle: s.setSecret},
		{method: http.MethodGet, template: "/api/secrets/:name", handle: s.getSecret},
		{method: http.MethodDelete, template: "/api/secrets/:name", handle: s.deleteSecret},
		{method: http.MethodGet, template: "/api/admin/purge", handle: s.previewPurge},
		{method: http.MethodPost, template: "/api/admin/purge", handle: s.purge},
		{method: http.MethodGet, template: "/api/admin/backup", handle: s.backup},
		{method: http.MethodGet, template: "/api/admin/nodes", handle: s.nodes},
		{method: http.MethodPost, template: "/api/admin/snapshot", handle: s.snapshot},
		{method: http.MethodPost, template: "/api/admin/verify", handle: s.verify},
		{method: http.MethodPost, template: "/api/admin/peers/:id", handle: s.changePeer},
		{method: http.MethodDelete, template: "/api/admin/peers/:id", handle: s.removePeer},
		{method: http.MethodPost, template: "/api/admin/transfer", handle: s.transfer},
		{method: http.MethodGet, template: "/api", access: discovery, handle: s.index},
		{method: http.MethodGet, template: "/api/", access: discovery, handle: s.index},
		{method: http.MethodGet, template: "/v1", access: discovery, handle: s.index},
		{method: http.MethodGet, template: "/v1/", access: discovery, handle: s.index},
		{method: http.MethodGet, template: metricsPath, access: public, handle: s.serveMetrics},
	}
	list = append(append(list, s.siteRoutes()...), s.signupRoutes()...)
	if s.config.MCP != nil {
		list = append(list, route{method: http.MethodPost, template: mcpPath, handle: s.serveMCP})
	}
	return list
}

// routes puts the table into Echo. Every GET also answers HEAD, which net/http
// sends without its body.
func (s *Server) routes() {
	for _, rt := range s.table() {
		rt.measure = s.metrics.route(rt.template, rt.method)
		s.echo.Add(rt.method, rt.template, s.around(&rt))
		if rt.method == http.MethodGet {
			head := rt
			head.method = http.MethodHead
			head.measure = s.metrics.route(rt.template, http.MethodHead)
			s.echo.Add(http.MethodHead, rt.template, s.around(&head))
		}
	}
	none := s.metrics.route(unmatched, "other")
	missing := s.around(&route{template: unmatched, measure: none, handle: noRoute})
	wrong := s.around(&route{template: unmatched, measure: none, handle: wrongMethod})
	s.options = s.around(&route{template: unmatched, measure: none, handle: optionsOf})
	s.echo.HTTPErrorHandler = func(err error, c echo.Context) {
		if errors.Is(err, echo.ErrMethodNotAllowed) {
			c.Response().Header().Del(echo.HeaderAllow) // not before the caller is known
			err = wrong(c)
		} else {
			err = missing(c)
		}
		if err != nil {
			s.config.Logger.Error("abagraph.server.error", "error", err.Error())
		}
	}
}

// dispatch hands a request to its route. OPTIONS has none: Echo would tell anyone which
// methods a path has.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodOptions {
		s.echo.ServeHTTP(w, r)
		return
	}
	if err := s.options(s.echo.NewContext(r, w)); err != nil {
		s.config.Logger.Error("abagraph.server.error", "error", err.Error())
	}
}

func noRoute(*call) error { return memory.Denied() }

// optionsOf answers OPTIONS that is no preflight, for a caller with a key: the methods
// of the path, or that there is none.
func optionsOf(c *call) error {
	e := c.server.echo
	found := e.AcquireContext()
	defer e.ReleaseContext(found)
	e.Router().Find(http.MethodOptions, echo.GetPath(c.r), found)
	allow, ok := found.Get(echo.ContextKeyHeaderAllow).(string)
	if !ok || allow == "" {
		return denied()
	}
	c.stand()
	c.w.Header().Set("Allow", allow)
	c.status = http.StatusNoContent
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
