package main

// Words of the victim begin with qb, and what no answer may show is zzcanary. The
// attacker's twin says the same with qn, which nobody has. <fact>, <key>, <job>,
// <blob>, <approval>, <tx> and <now> stand for what the server made, <model> for a
// model and <feed> for an address that answers.

// unsteady are routes whose answers are others each time, for anybody.
var unsteady = []string{"GET /api/observability", "GET /metrics", "POST /api/signup"}

// pathNames are what of the victim's a path names, with blanks between its places.
var pathNames = map[string][]string{
	"/api/facts/{id}":                {"<fact>", "<candidate>", "<branched>"},
	"/api/facts/{id}/history":        {"<fact>", "<branched>"},
	"/api/facts/{id}/explain":        {"<fact>", "<candidate>"},
	"/api/pages/{subject}":           {"Person:qbsubj"},
	"/api/digest/jobs/{id}":          {"<job>"},
	"/api/digest/jobs/{id}/resume":   {"<job>"},
	"/api/digest/jobs/{id}/stop":     {"<job>"},
	"/api/blobs/{hash}":              {"<blob>"},
	"/api/sources/{name}/undo":       {"qbsource", "qbconn"},
	"/api/entities/{id}":             {"Person:qbsubj", "Org:qbobj", "Tenant:qbten", "Secret:qbten/qbsecret", "Lease:qbres"},
	"/api/branches/{name}":           {"qbbranch", "qbten~qbbranch", "qbother"},
	"/api/branches/{name}/diff":      {"qbbranch", "qbten~qbbranch"},
	"/api/branches/{name}/promote":   {"qbbranch", "qbother"},
	"/api/branches/{name}/discard":   {"qbbranch", "qbother"},
	"/api/connectors/{name}":         {"qbconn", "qbfeed"},
	"/api/connectors/{name}/events":  {"qbconn"},
	"/api/connectors/{name}/pull":    {"qbconn", "qbfeed"},
	"/api/triggers/{name}":           {"qbtrigger"},
	"/api/triggers/{name}/pause":     {"qbtrigger"},
	"/api/triggers/{name}/resume":    {"qbtrigger"},
	"/api/triggers/{name}/run":       {"qbtrigger"},
	"/api/reports/{name}":            {"qbreport"},
	"/api/reports/{name}/run":        {"qbreport"},
	"/api/reports/{name}/pause":      {"qbreport"},
	"/api/reports/{name}/resume":     {"qbreport"},
	"/api/leases/{resource}":         {"qbres"},
	"/api/leases/{resource}/renew":   {"qbres"},
	"/api/leases/{resource}/release": {"qbres"},
	"/api/tenants/{id}":              {"qbten"},
	"/api/tenants/{id}/keys":         {"qbten"},
	"/api/tenants/{id}/keys/{key}":   {"qbten <key>", "ann <key>"},
	"/api/alerts/{name}":             {"qbalert"},
	"/api/secrets/{name}":            {"qbsecret"},
	"/api/admin/peers/{id}":          {"qbten"},
	"/docs/{page}":                   {"qbten", "Person:qbsubj"},
}

// plainQueries are what a route cannot do without.
var plainQueries = map[string]string{
	"GET /api/search":       "question=qbsubj+qbobj",
	"POST /api/search":      "",
	"GET /api/walk":         "start=Person:qbsubj&direction=both",
	"GET /api/path":         "from=Person:qbsubj&to=Org:qbobj",
	"GET /api/context":      "goal=qbsubj&seeds=Person:qbsubj",
	"GET /api/changes":      "from=0&to=4102444800000",
	"GET /api/admin/purge":  "subject=Person:qbsubj",
	"POST /api/admin/purge": "subject=Person:qbsubj&confirm=1",
	"DELETE /api/signup":    "email=qb@ask.example",
	"POST /api/consolidate": "subject=Person:qbsubj",
}

// plainBodies are bodies that a route takes.
var plainBodies = map[string]string{
	"POST /api/facts":                     `{"subject":"Person:qbsubj","predicate":"qbpred","object":"Org:qbobj","source":"qbsource"}`,
	"POST /api/transact":                  `{"compares":[{"subject":"Person:qbsubj","predicate":"qbpred","absent":true}],"asserts":[{"subject":"Person:qbsubj","predicate":"qbother","object":"Org:qbobj"}]}`,
	"POST /api/search":                    `{"question":"qbsubj qbobj"}`,
	"POST /api/context":                   `{"goal":"qbsubj qbobj","seeds":["Person:qbsubj"]}`,
	"POST /api/compact":                   `{"facts":[{"id":"<fact>","subject":"Person:qbsubj","predicate":"qbpred","object":"Org:qbobj","confidence":0.9}],"token_budget":4000}`,
	"POST /api/enrich":                    `{"source":"qbsource","facts":[{"id":"<fact>","subject":"Person:qbsubj","predicate":"qbpred","object":"Org:qbobj"}]}`,
	"PUT /api/pages/{subject}":            `{"title":"qbtitle","body":"See [[Org:qbobj|it]]."}`,
	"POST /api/digest":                    `{"source":"qbsource","facts":[{"subject":"Person:qbsubj","predicate":"qbpred","object":"Org:qbobj"}]}`,
	"POST /api/digest/scrape":             `{"url":"http://127.0.0.1:1/qb"}`,
	"POST /api/digest/jobs/{id}/resume":   `{"model":<model>}`,
	"POST /api/ask":                       `{"question":"What of qbsubj and qbobj?","model":<model>}`,
	"POST /api/branches":                  `{"name":"qbbranch"}`,
	"POST /api/connectors":                `{"name":"qbconn","mapping":{"subject":"Person:$id"}}`,
	"PUT /api/connectors/{name}":          `{"name":"qbconn","mapping":{"subject":"Person:$id"}}`,
	"POST /api/connectors/{name}/events":  `{"id":"qbsubj","qbpred":"Org:qbobj"}`,
	"POST /api/triggers":                  `{"name":"qbtrigger","connector":"qbfeed","schedule":"0 0 1 1 *"}`,
	"PUT /api/triggers/{name}":            `{"name":"qbtrigger","connector":"qbfeed","schedule":"0 0 1 1 *"}`,
	"POST /api/reports":                   `{"name":"qbreport","subject":"Person:qbsubj"}`,
	"POST /api/leases":                    `{"resource":"qbres","holder":"qbholder"}`,
	"POST /api/leases/{resource}/renew":   `{"holder":"qbholder","token":<tx>}`,
	"POST /api/leases/{resource}/release": `{"holder":"qbholder"}`,
	"POST /api/tenants":                   `{"id":"qbten"}`,
	"POST /api/tenants/{id}/keys":         `{"name":"qbagent"}`,
	"POST /api/session":                   `{"key":"qbagent"}`,
	"POST /api/signup":                    `{"email":"qb@ask.example"}`,
	"POST /api/alerts":                    `{"name":"qbalert","kind":"freshness","threshold":60,"source":"qbsource"}`,
	"PUT /api/policy":                     `{"version":"qbpolicy","requires":[{"permission":"branch:promote","branches":["qb*"]}]}`,
	"POST /api/policy/simulate":           `{"principal":"qbagent","permission":"facts:read"}`,
	"POST /api/secrets":                   `{"name":"qbsecret","reference":"env:HOSTILE_SECRET"}`,
	"POST /api/admin/peers/{id}":          `{"voter":true}`,
	"POST /api/admin/transfer":            `{"to":"qbten"}`,
}

// parameterValues are what goes into a parameter of a query or a header.
var parameterValues = map[string][]string{
	"subject": {"Person:qbsubj", "Tenant:qbten"}, "predicate": {"qbpred", "wiki_page"}, "object": {"Org:qbobj"}, "source": {"qbsource"},
	"status": {"all", "candidate", "retracted", "open", "held"}, "tx_gt": {"0", "<tx>", "<epoch>:<tx>"}, "limit": {"1", "10000"}, "include_retracted": {"1"},
	"branch": {"qbbranch", "qbten~qbbranch", "qbten~main"}, "consistency": {"stale"}, "min_tx": {"<tx>"}, "tx": {"<tx>", "999999"}, "known_at": {"<now>"}, "backfill": {"0"},
	"as_of": {"<now>"}, "explain": {"1"}, "tenant": {"qbten", "qbten~qbbranch", ""}, "op": {"assert"},
	"question": {"qbsubj"}, "query": {"qbpred"}, "q": {"qbobj"}, "top_k": {"100"}, "k": {"100"}, "mode": {"vector", "lexical", "agent"}, "order": {"recency"}, "min_score": {"0"},
	"min_confidence": {"0"}, "seeds": {"Person:qbsubj,Org:qbobj"}, "query_vector": {"[1,0,0,0,0,0,0,0]", "1,0,0,0,0,0,0,0"}, "start": {"Org:qbobj"}, "entity": {"Person:qbsubj"},
	"depth": {"16"}, "direction": {"in", "both"}, "edge_types": {"qbpred"}, "from": {"Org:qbobj", "0"}, "to": {"Person:qbsubj", "<now>"}, "goal": {"qbobj"}, "task": {"qbobj"},
	"project": {"Person:qbsubj", "qbsubj"}, "max_facts": {"1000"}, "max_pages": {"10"}, "token_budget": {"4000"}, "max_tokens": {"4000"}, "include_recent": {"1"}, "include_conflicts": {"1"},
	"cluster_threshold": {"0.1"}, "style": {"claude"}, "role": {"qbagent"}, "part": {"0", "1"}, "coexist": {"qbpred"}, "kind": {"multiple_active", "freshness", "Person", "person"},
	"integrity": {"1"}, "after": {"Person:qb", "qb", "qbb"}, "dry_run": {"1"}, "partial": {"1"}, "axis": {"known"}, "approval": {"<approval>"}, "format": {"md", "markdown"},
	"email": {"qb@ask.example"}, "state": {"firing"}, "actor": {"qbten/qbagent", "qbagent"}, "action": {"write"}, "tx_lt": {"<tx>"}, "prefix": {"Person:qb"}, "confirm": {"1"},
	"Idempotency-Key": {"qbonce"}, "X-Abagraph-Epoch": {"<epoch>", "qbepoch"}, "X-Abagraph-Min-Tx": {"<tx>"}, "Last-Event-ID": {"<epoch>:<tx>", "<epoch>:0"},
	"X-Hub-Signature-256": {"sha256=qb"}, "X-GitHub-Delivery": {"qbdelivery"}, "Webhook-Id": {"qbdelivery"}, "Webhook-Timestamp": {"1700000000"}, "Webhook-Signature": {"v1,qb"},
	"Mcp-Protocol-Version": {"2025-06-18"}, "Mcp-Session-Id": {"qbsession"},
}

// fieldValues are what goes into a field of a body: of each, or of one route's.
var fieldValues = map[string]string{
	"subject": `"Person:qbsubj"`, "predicate": `"qbpred"`, "object": `{"hash":"<blob>","size":1}`, "valid_from": `<now>`, "valid_until": `4102444800000`, "confidence": `0.1`, "source": `"qbsource"`,
	"properties": `{"qbprop":"<fact>"}`, "policy": `"reject"`, "policy_override": `"coexist"`, "conflict_policy": `"coexist"`, "coexist": `true`, "transient": `true`, "branch": `"qbbranch"`, "tenant": `"qbten"`,
	"compares": `[{"subject":"Person:qbsubj","predicate":"qbpred","expect":"Org:qbobj"}]`, "retracts": `["<fact>"]`, "asserts": `[{"subject":"Person:qbsubj","predicate":"qbpred","object":"Org:qbobj"}]`,
	"backfill": `{"declared_known_at":1700000000000,"reason":"qbreason"}`, "POST /api/search backfill": `false`, "POST /api/context backfill": `false`,
	"question": `"qbobj"`, "query": `"qbobj"`, "q": `"qbobj"`, "top_k": `100`, "limit": `100`, "k": `100`, "mode": `"vector"`, "order": `"recency"`, "min_score": `0`, "min_confidence": `0`, "status": `"all"`,
	"include_retracted": `true`, "seeds": `["Person:qbsubj","Org:qbobj"]`, "query_vector": `[1,0,0,0,0,0,0,0]`, "consistency": `"stale"`, "min_tx": `<tx>`, "tx": `<tx>`, "known_at": `<now>`, "as_of": `<now>`, "explain": `true`,
	"goal": `"qbobj"`, "task": `"qbobj"`, "project": `"Person:qbsubj"`, "max_facts": `1000`, "max_pages": `10`, "token_budget": `4000`, "max_tokens": `4000`, "include_recent": `true`, "include_conflicts": `true`,
	"cluster_threshold": `0.1`, "style": `"claude"`, "role": `"admin"`, "POST /api/context role": `"qbagent"`, "compact_model": `<model>`, "facts": `[{"subject":"Person:qbsubj","predicate":"qbpred","object":"Org:qbobj","continues":"<fact>"}]`, "mask": `"hash"`,
	"body": `"[[Person:qbsubj]] and [[Org:qbobj]]"`, "title": `"qbtitle"`, "citations": `[{"url":"https://qb.example","quote":"qbobj"}]`, "content": `"qbsubj works at qbobj."`, "content_type": `"text/plain"`, "date": `<now>`,
	"threshold": `0.5`, "model": `<model>`, "extract_model": `<model>`, "judge_model": `<model>`, "company": `"qb.example"`, "domain": `"qb.example"`, "url": `"<feed>/qb"`, "scraper": `{"provider":"http"}`,
	"dry_run": `true`, "partial": `true`, "tx_gt": `<tx>`, "name": `"qbagent"`, "POST /api/branches name": `"qbother"`, "POST /api/connectors name": `"qbfeed"`, "PUT /api/connectors/{name} name": `"qbfeed"`,
	"POST /api/triggers name": `"qbtrigger"`, "PUT /api/triggers/{name} name": `"qbtrigger"`, "POST /api/reports name": `"qbreport"`, "POST /api/alerts name": `"qbalert"`, "POST /api/secrets name": `"qbsecret"`,
	"parent": `"qbother"`, "kind": `"poll"`, "POST /api/alerts kind": `"drift"`, "label": `"qblabel"`, "mapping": `{"subject":"Person:$id","fields":{"qbpred":"qbpred"}}`, "max_confidence": `0.5`, "format": `"csv"`,
	"signature": `{"secret":"qbsecret"}`, "pull": `{"auth":{"secret":"qbsecret"}}`, "connector": `"qbconn"`, "schedule": `"0 0 2 1 *"`, "timezone": `"Europe/Berlin"`, "every_secs": `86000`, "paused": `true`, "window_secs": `86400`,
	"sections": `["changes"]`, "low_confidence": `0.9`, "stale_secs": `60`, "resource": `"qbres"`, "POST /api/policy/simulate resource": `{"branch":"qbbranch","source":"qbsource"}`, "holder": `"qbholder"`, "ttl_secs": `86000`, "token": `<tx>`,
	"id": `"qbten"`, "quota_facts": `1`, "rotate": `true`, "key": `"qbkey"`, "email": `"qb@ask.example"`, "message": `"qbmessage"`, "webhook": `"secret:qbsecret"`, "secret": `"qbsecret"`, "version": `"qbpolicy"`,
	"rules": `[{"role":"Role:write","permissions":["facts:*","branch:*"]},{"role":"Role:read","permissions":["facts:read"]}]`, "roles": `[{"agent":"qbagent","role":"qbrole"}]`, "requires": `[{"permission":"branch:promote","branches":["qb*"]}]`,
	"principal": `"qbagent"`, "agent": `"qbagent"`, "key_role": `"write"`, "permission": `"facts:write"`, "reference": `"env:HOSTILE_SECRET"`, "voter": `false`, "to": `"qbten"`,
	"POST /api/policy/simulate policy": `{"version":"qbpolicy"}`,
}

// toolCalls are plain arguments of each tool of MCP.
var toolCalls = map[string]string{
	"remember":      `{"namespace":"qbten","subject":"Person:qbsubj","predicate":"qbpred","object":"Org:qbobj","source":"qbsource"}`,
	"digest":        `{"namespace":"qbten","source":"qbsource","facts":[{"subject":"Person:qbsubj","predicate":"qbpred","object":"Org:qbobj"}]}`,
	"recall":        `{"namespace":"qbten","mode":"pattern"}`,
	"recall_as_of":  `{"namespace":"qbten","as_of":<now>}`,
	"whats_changed": `{"namespace":"qbten","from":0,"to":4102444800000}`,
	"build_context": `{"namespace":"qbten","task":"qbsubj qbobj","seeds":["Person:qbsubj"]}`,
	"explain_fact":  `{"namespace":"qbten","fact_id":"<fact>"}`,
}

// toolValues are what goes into an argument of a tool, where a body has another.
var toolValues = map[string][]string{
	"namespace": {`"qbten"`, `"qbten~qbbranch"`}, "fact_id": {`"<fact>"`, `"<candidate>"`, `"<branched>"`}, "mode": {`"semantic"`, `"walk"`, `"pattern"`}, "query": {`"qbsubj qbobj"`},
	"start": {`"Person:qbsubj"`}, "depth": {`6`}, "direction": {`"both"`}, "edge_types": {`["qbpred"]`}, "object": {`"Org:qbobj"`}, "from": {`0`}, "to": {`4102444800000`}, "axis": {`"known"`}, "after": {`"Person:qb"`},
	"role": {`"qbagent"`}, "branch": {`"qbbranch"`, `"qbten~qbbranch"`},
}

// otherMessages are messages of MCP that are no call of a tool.
var otherMessages = []string{
	`"tools/list","params":{}`, `"resources/list","params":{}`, `"resources/templates/list","params":{}`, `"prompts/list","params":{}`,
	`"resources/read","params":{"uri":"abagraph://qbten/entity/Person:qbsubj"}`, `"resources/read","params":{"uri":"abagraph://qbten/fact/<fact>"}`,
	`"resources/read","params":{"uri":"abagraph://ann/fact/<fact>"}`,
	`"resources/read","params":{"uri":"abagraph://ann/entity/Person:qbsubj"}`,
	`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"why_do_we_believe"},"argument":{"name":"subject","value":"Person:qb"},"context":{"arguments":{"namespace":"qbten"}}}`,
	`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"why_do_we_believe"},"argument":{"name":"predicate","value":"qb"},"context":{"arguments":{"namespace":"qbten","subject":"Person:qbsubj"}}}`,
	`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"why_do_we_believe"},"argument":{"name":"namespace","value":"qb"}}`,
	`"completion/complete","params":{"ref":{"type":"ref/resource","uri":"abagraph://{namespace}/entity/{id}"},"argument":{"name":"namespace","value":"qb"}}`,
	`"prompts/get","params":{"name":"why_do_we_believe","arguments":{"namespace":"qbten","subject":"Person:qbsubj","predicate":"qbpred"}}`,
	`"prompts/get","params":{"name":"brief_me","arguments":{"namespace":"qbten","subject":"Person:qbsubj"}}`,
	`"prompts/get","params":{"name":"what_changed","arguments":{"namespace":"qbten","since":"2020-01-01"}}`,
}
