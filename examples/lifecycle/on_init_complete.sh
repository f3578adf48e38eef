#!/bin/bash
# Runs as root on every new or replaced node, after HyperPod's own provisioning. It must be safe to run twice.
set -euo pipefail

here=$(dirname "$0")
install -m 0644 "$here/motd" /etc/motd
