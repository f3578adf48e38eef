#!/bin/sh
# Installs the Debian packages with which `make proof` plays nodes and runs a real Slurm. The tests start private copies
# of these programs on 127.0.0.1; of the services that the packages bring, none is started, now or at the next boot.
set -eu

PACKAGES="slurmctld slurmd slurm-client munge slurmdbd mariadb-server iptables openssh-server sudo logrotate
util-linux iproute2 prometheus"
POLICY=/usr/sbin/policy-rc.d

without() {
  echo "make proof: $1; what needs played nodes or a real Slurm cannot run, and the proof fails" >&2
  exit 0
}

command -v apt-get >/dev/null || without "this is neither Debian nor Ubuntu"
missing=
for package in $PACKAGES; do
  case $(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null) in
  installed) ;;
  *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0
[ "$(id -u)" = 0 ] || without "packages are missing and this is not root (sudo $0 installs$missing)"

echo "setup: debian packages$missing" >&2
restore() {
  rm -f "$POLICY"
  [ ! -e "$POLICY.before-proof" ] || mv "$POLICY.before-proof" "$POLICY"
}
[ ! -e "$POLICY" ] || mv "$POLICY" "$POLICY.before-proof"
trap restore EXIT
trap 'exit 1' HUP INT TERM
printf '#!/bin/sh\nexit 101\n' >"$POLICY" # what package scripts ask before they start a service
chmod 755 "$POLICY"

export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
apt-get install -qq --no-install-recommends -o Dpkg::Use-Pty=0 $missing >/dev/null
for package in $missing; do
  case $package in
  mariadb-server) unit=mariadb ;;
  openssh-server) unit=ssh ;;
  slurmctld | slurmd | slurmdbd | munge | prometheus) unit=$package ;;
  *) continue ;;
  esac
  systemctl disable --quiet "$unit" 2>/dev/null || true
done
