#!/bin/bash
# What HyperPod calls on a new node of a group. The file is published once for each group, as start-GROUP.sh: its name
# says which group the node is of, so that nothing has to be guessed from addresses.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
group=$(basename -- "${BASH_SOURCE[0]}" .sh)
if ! node=$(mktemp -d 2>&1); then
  echo "hyperpod-node event=refused code=1 message=\"there is no room for the scripts: $node\""
  exit 1
fi
trap 'rm -rf -- "$node"' EXIT
if ! said=$(/usr/bin/python3 -I -m zipfile -e "$here/node.zip" "$node" 2>&1); then
  echo "hyperpod-node event=refused code=65 message=\"$here/node.zip cannot be unpacked: ${said##*$'\n'}\""
  exit 65
fi
cd -- "$node"
PYTHONPATH=$node PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m hyperpod_node.runner --group "${group#start-}"
