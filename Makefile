# abagraph: build, run, test, measure. `make help` lists the targets.

GO      ?= go
BIN     := bin/abagraph
DATA    ?= abagraph-data
BIND    ?= 127.0.0.1:8080
ARGS    ?=
FUZZTIME ?= 5m
SOAK     ?= 30m
ONLY    ?=
APISECS ?= 240
SCENARIO ?= mixed
SEED     ?= 0
MINUTES  ?= 1
FROM     ?=
NODES    ?= 3
N        ?= 10

# The module asks for the Go that is installed; nothing is fetched to build it.
export GOTOOLCHAIN := local

.DEFAULT_GOAL := help
.PHONY: help run build test lint test-model test-api bench bench-quick bench-quality bench-pii golden fuzz soak chaos chaos-seeds chaos-upgrade lint-deploy test-chaos-planted cluster clean tools

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Static: it needs no C compiler and runs on any machine of its kind.
build: ## build bin/abagraph
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN) ./cmd/abagraph

run: build ## build and serve one node with embedded storage (BIND, DATA, ARGS)
	$(BIN) serve --bind $(BIND) --data $(DATA) $(ARGS)

# Peer traffic is on loopback, which needs no secret. The first node founds the
# cluster; the others ask it to be let in, and know it by their data afterwards.
cluster: build ## serve three nodes on 127.0.0.1:8081 to 8083 until interrupted
	@pids=; trap 'kill $$pids 2>/dev/null; wait' INT TERM EXIT; \
	for n in 1 2 3; do \
		join=; [ $$n = 1 ] || join="--join 127.0.0.1:9081"; \
		$(BIN) serve --node-id node$$n --bind 127.0.0.1:808$$n --peer-bind 127.0.0.1:908$$n \
			--data $(DATA)/cluster/node$$n $$join $(ARGS) & pids="$$pids $$!"; \
	done; \
	wait

# The race detector needs a C compiler, and the MCP clients of others need npm, which fetches them; everything else
# comes with Go.
tools:
	@command -v gcc >/dev/null 2>&1 || command -v cc >/dev/null 2>&1 || \
		{ apt-get update -q && apt-get install -y -q --no-install-recommends gcc libc6-dev; }
	@command -v npm >/dev/null 2>&1 || { apt-get update -q && apt-get install -y -q --no-install-recommends nodejs npm; }
	@PATH="$(NODE):$$PATH" node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' || \
		npm install --prefix bin/node --no-save --no-audit --no-fund --loglevel=error node@22.23.3

# A Node.js of its own for machines whose own one is too old for the clients.
NODE := $(CURDIR)/bin/node/node_modules/.bin

# The MCP clients of others, as their lock file pins them.
CLIENTS := cmd/abagraph/testdata/clients
$(CLIENTS)/node_modules/.package-lock.json: $(CLIENTS)/package-lock.json | tools
	cd $(CLIENTS) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && touch node_modules/.package-lock.json

# Nothing is taken from an earlier run: the tests of whole processes depend on a
# program that they build, which the cache of results does not know.
test: tools $(CLIENTS)/node_modules/.package-lock.json ## install what the tests need and run all of them with the race detector
	$(GO) vet ./...
	PATH="$(NODE):$$PATH" ABAGRAPH_TEST_CLIENTS=1 $(GO) test -race -count=1 -timeout 15m ./...
	cd bench && $(GO) test -race ./load ./node ./proc ./report ./rest
	@test -n "$$ABAGRAPH_TEST_MODEL" || echo "no real model was asked: ABAGRAPH_TEST_MODEL names none (docs/TESTING.md)"

test-model: ## run the tests of models against a real endpoint (ABAGRAPH_TEST_MODEL, ABAGRAPH_TEST_MODEL_KEY)
	@test -n "$$ABAGRAPH_TEST_MODEL" && test -n "$$ABAGRAPH_TEST_MODEL_KEY" || { echo "ABAGRAPH_TEST_MODEL=\"PROVIDER MODEL [ENDPOINT]\" and ABAGRAPH_TEST_MODEL_KEY must be set"; exit 1; }
	$(GO) test -count=1 -v -timeout 15m ./http -run TestWhateverModelIsAsked

# The one tool that comes from PyPI, in an environment of its own.
bin/schemathesis/bin/schemathesis:
	python3 -m venv bin/schemathesis && bin/schemathesis/bin/pip install -q --disable-pip-version-check schemathesis==4.32.5

test-api: build bin/schemathesis/bin/schemathesis ## fuzz every route of a live node against its description, for APISECS
	http/testdata/api/run.sh $(CURDIR)/$(BIN) $(CURDIR)/bin/schemathesis $(APISECS)

lint: ## hold the house's rules: imports, names, clocks, formats
	$(GO) vet ./...
	$(GO) test -count=1 ./internal/lint/...

bench: build ## measure beside etcd and SQLite; writes docs/benchmarks.md (ONLY=posts,reads for a part)
	sh bench/peers.sh
	cd bench && $(GO) vet ./... && $(GO) test ./... && $(GO) build -trimpath -o ../bin/abagraph-bench .
	bin/abagraph-bench -server $(BIN) -repo . -out docs/benchmarks.md -only '$(ONLY)'

bench-quick: build ## the same, small and short, to see that it works; writes nothing
	sh bench/peers.sh
	cd bench && $(GO) vet ./... && $(GO) test ./... && $(GO) build -trimpath -o ../bin/abagraph-bench .
	bin/abagraph-bench -server $(BIN) -repo . -quick -only '$(ONLY)'

bench-quality: ## ask the 900 questions of the shared files in words, and 500 of made-up conversations; print how often the hits are right
	ABAGRAPH_QUALITY=all $(GO) test -count=1 -v -run 'TestQuestionsInWords|TestConversations' ./internal/quality

bench-pii: ## print how well personal data is found (precision, recall, what is missed), and what masking costs
	$(GO) test -count=1 -v -run '^TestCorpus$$' ./memory/mask
	$(GO) test -count=1 -run '^$$' -bench . -benchtime 0.5s ./memory/mask

# What PyPI and the Go module proxy have is installed into bin/lint; promtool and systemd-analyze come with the machine.
lint-deploy: build ## check deploy/ by the tools of others, and name those that are not here
	sh deploy/lint.sh $(BIN)

golden: ## pack a data directory of the present format with its answers as NAME, once, when a format is released
	@test -n "$(NAME)" && test ! -e internal/golden/testdata/$(NAME).tar.gz || { echo "say make golden NAME=…, a name that is not there yet" >&2; exit 1; }
	ABAGRAPH_GOLDEN='$(NAME)' $(GO) test -count=1 -run TestGoldenIsMade ./internal/golden

fuzz: ## run every fuzz target for FUZZTIME each
	@set -e; for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "== $$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

soak: ## run the randomized tests again and again for SOAK, each round with a new seed
	@end=$$(( $$(date +%s) + $$(echo $(SOAK) | sed 's/m$$/*60/; s/h$$/*3600/; s/s$$//') )); \
	while [ $$(date +%s) -lt $$end ]; do \
		seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); \
		echo "== ABAGRAPH_SEED=$$seed"; \
		ABAGRAPH_SEED=$$seed $(GO) test -race -count=1 -timeout 60m ./... || exit 1; \
	done

# Disks of their own for the nodes, which power cuts, full and slow disks need, are made where this runs as root.
chaos: ## attack a cluster for MINUTES by a seeded SCENARIO and write a report (SEED; see chaos/README.md)
	$(GO) run ./chaos/run -scenario '$(SCENARIO)' -seed '$(SEED)' -minutes '$(MINUTES)' -nodes '$(NODES)'

chaos-seeds: ## attack with N seeds after one another, from SEED on, MINUTES each
	$(GO) run ./chaos/run -scenario '$(SCENARIO)' -seed '$(SEED)' -seeds '$(N)' -minutes '$(MINUTES)' -nodes '$(NODES)'

chaos-upgrade: ## attack while three nodes of the program of FROM (a commit or tag) are upgraded one by one, and one goes back
	$(GO) run ./chaos/run -scenario upgrade -from '$(FROM)' -seed '$(SEED)' -minutes '$(MINUTES)'

test-chaos-planted: ## build in bugs on purpose, one at a time, and see that chaos finds each
	ABAGRAPH_CHAOS_PLANTED=all $(GO) test -count=1 -timeout 15m -v -run TestPlantedBugsAreFound ./chaos

clean: ## remove what was built; data is left alone
	rm -rf bin
