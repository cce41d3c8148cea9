#!/bin/sh
# Installs etcd as the distribution ships it, if it is missing. The package's own
# service is not to run: the benchmark starts etcd itself, with data of its own.
set -eu
command -v etcd >/dev/null 2>&1 && command -v etcdctl >/dev/null 2>&1 && exit 0
command -v apt-get >/dev/null 2>&1 || { echo "etcd and etcdctl are not installed, and apt-get is not here to install it" >&2; exit 1; }
echo "installing etcd-server and etcd-client"
apt-get update -q
RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends etcd-server etcd-client
if command -v systemctl >/dev/null 2>&1; then
	systemctl disable --now etcd >/dev/null 2>&1 || true
fi
