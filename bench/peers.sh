#!/bin/sh
# Installs etcd as the distribution ships it, if it is missing. The package's own
# service is not to run: the benchmark starts etcd itself, with data of its own.
set -eu
command -v etcd >/dev/null 2>&1 && exit 0
command -v apt-get >/dev/null 2>&1 || { echo "etcd is not installed, and apt-get is not here to install it" >&2; exit 1; }
echo "installing etcd-server"
apt-get update -q
RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends etcd-server
if command -v systemctl >/dev/null 2>&1; then
	systemctl disable --now etcd >/dev/null 2>&1 || true
fi
