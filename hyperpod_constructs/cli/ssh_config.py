"""`hyperpod ssh-config`: the ssh configuration with which the nodes of a cluster are reached."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Sequence

from hyperpod_constructs.account import access, arns, gateway
from hyperpod_constructs.account.access import Host
from hyperpod_constructs.cli import inputs, terminal
from hyperpod_constructs.errors import AccountError


def run(arguments: argparse.Namespace) -> int:
    """Prints the configuration; 1 where no node can be reached yet."""
    profile = arguments.profile or ""
    if "\\" in profile or not profile.isprintable():  # ssh itself reads a backslash, quoted or not
        raise AccountError(f"the name of the profile, {arguments.profile!r}, cannot stand in an ssh configuration")
    session = gateway.sign_in(profile=arguments.profile, region=arguments.region)
    arns.must_be_of(session.region, arguments.cluster)
    reader = session.open(gateway.Gateway)
    cluster = reader.describe_cluster(arguments.cluster)
    nodes = reader.list_cluster_nodes(arguments.cluster)
    hosts = access.hosts(cluster, nodes)
    user = arguments.user or (access.SLURM_USER if cluster.orchestrator == "slurm" else None)
    if len(nodes) > len(hosts):
        inputs.note(f"{terminal.plural(len(nodes) - len(hosts), 'node')} of {cluster.name} not running: left out")
    if not hosts:
        command = shlex.join(["hyperpod", "status", cluster.name, "--wait", "--region", session.region])
        inputs.note(f"no node of {cluster.name} runs, the cluster is {cluster.status}: wait with `{command}`")
    if arguments.format == "json":
        data = [_as_data(host, session.region, arguments.profile, user) for host in hosts]
        print(
            json.dumps({"cluster": cluster.name, "id": cluster.id, "region": session.region, "hosts": data}, indent=2)
        )
    elif hosts:
        written = access.ssh_config(hosts, region=session.region, profile=arguments.profile, user=user)
        print("\n".join([*_head(cluster.name, session.region, hosts), *written]))
    return 0 if hosts else 1


def _head(cluster: str, region: str, hosts: Sequence[Host]) -> list[str]:
    """Comments that say what this is and how to use it."""
    again = shlex.join(["hyperpod", "ssh-config", cluster, "--region", region])
    return [
        f"# Nodes of cluster {cluster} in {region}. Numbers move when nodes are replaced: write it again.",
        f"#   {again} > ~/.ssh/{cluster}   and once, as the first line of ~/.ssh/config: Include {cluster}",
        f"#   ssh {hosts[0].name}",
        "# Needs the AWS CLI and its session-manager-plugin, ssm:StartSession, and your public key on the node.",
    ]


def _as_data(host: Host, region: str, profile: str | None, user: str | None) -> dict[str, object]:
    return {
        "host": host.name,
        "group": host.group,
        "number": host.number,
        "instance": host.instance,
        "target": host.target,
        "user": user,
        "proxy_command": host.proxy_command(region=region, profile=profile),
    }
