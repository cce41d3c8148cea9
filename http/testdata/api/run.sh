#!/bin/sh
# Fuzzes every route of a live node with Schemathesis: run.sh SERVER VENV SECONDS.
set -eu
server=$1 venv=$2 seconds=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
key=key-of-the-api-test

ABAGRAPH_ADMIN_KEY=$key "$server" serve --bind 127.0.0.1:0 --data :memory: >"$work/log" 2>&1 &
node=$!
trap 'kill $node 2>/dev/null || true; wait $node 2>/dev/null || true; rm -rf "$work"' EXIT INT TERM
base=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	base=$(sed -n 's/.*"event":"abagraph.server.start".*"bind":"\([^"]*\)".*/http:\/\/\1/p' "$work/log" | head -n 1)
	[ -n "$base" ] && break
	sleep 0.5
done
[ -n "$base" ] || { cat "$work/log"; echo "the node did not start" >&2; exit 1; }

cd "$work" # what Schemathesis leaves behind goes away with it
status=0
SCHEMATHESIS_HOOKS="$here/hooks.py" "$venv/bin/schemathesis" --config-file "$here/schemathesis.toml" run "$base/openapi.json" \
	--header "Authorization: Bearer $key" --max-time "$seconds" --max-examples 25 --continue-on-failure --request-timeout 30 --no-color || status=$?
if grep -E '"event":"abagraph.server.(panic|error)"' "$work/log"; then
	echo "the node told of errors" >&2
	status=1
fi
kill -0 $node || { tail -n 20 "$work/log"; echo "the node has ended" >&2; status=1; }
exit $status
