"""How the nodes of a cluster are reached: over Session Manager, because they have no address of their own outside.

Source of the target's form: SageMaker developer guide, access to nodes over SSM, `sagemaker-cluster:<id>_<group>-<i>`
with the last part of the cluster's ARN for its id; of `AWS-StartSSHSession`: Systems Manager user guide.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs.account.gateway import DescribedCluster, ListedNode
from hyperpod_constructs.account.status import RUNNING
from hyperpod_constructs.errors import AccountError

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
SLURM_USER: Final = "ubuntu"
"""User that the images for Slurm have. Source: AWS's easy-ssh.sh, awsome-distributed-training."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A node as ssh knows it.

    Attributes:
        name: Name of the host: cluster, group and number.
        group: Name of its instance group.
        number: Number within the group, from 1; nodes that have run for longest come first.
        instance: Id of its instance.
        target: What Session Manager calls it.
    """

    name: str
    group: str
    number: int
    instance: str
    target: str

    def proxy_command(self, *, region: str, profile: str | None) -> str:
        """The command that carries the connection, as an ssh configuration holds it.

        ssh gives it to a shell, after it has put the port in the place of `%p` and one `%` in that of `%%`.

        Args:
            region: Region of the cluster.
            profile: Profile of the AWS configuration; `None` for the default.
        """
        words = ["aws", "ssm", "start-session", "--target", self.target, "--document-name", "AWS-StartSSHSession"]
        words += ["--region", region, *(["--profile", profile] if profile else [])]
        return f"{shlex.join(words).replace('%', '%%')} --parameters portNumber=%p"


def hosts(cluster: DescribedCluster, nodes: Sequence[ListedNode]) -> tuple[Host, ...]:
    """The nodes that can be reached: those that run.

    Args:
        cluster: The cluster.
        nodes: Its nodes.

    Raises:
        AccountError: if a name has characters that AWS does not allow: it would end up in a command.
    """
    for name in {cluster.name, cluster.id, *(word for node in nodes for word in (node.group, node.instance))}:
        if not _NAME.fullmatch(name):
            raise AccountError(f"AWS returned the name {name!r}, which it does not allow: nothing was written")
    numbers: dict[str, int] = {}
    found = []
    for node in sorted(nodes, key=lambda node: (node.group, node.launched, node.instance)):
        if node.status != RUNNING:
            continue
        number = numbers[node.group] = numbers.get(node.group, 0) + 1
        found.append(
            Host(
                name=f"{cluster.name}-{node.group}-{number}",
                group=node.group,
                number=number,
                instance=node.instance,
                target=f"sagemaker-cluster:{cluster.id}_{node.group}-{node.instance}",
            )
        )
    return tuple(found)


def ssh_config(found: Sequence[Host], *, region: str, profile: str | None, user: str | None) -> list[str]:
    """The lines of an ssh configuration.

    Args:
        found: The nodes.
        region: Region of the cluster.
        profile: Profile of the AWS configuration; `None` for the default.
        user: User on the nodes; `None` for what ssh takes by itself.
    """
    lines = []
    for host in found:
        lines += ["", f"Host {host.name}"]
        # A number goes to another node when one is replaced: the key belongs to the instance.
        lines.append(f"  HostKeyAlias {host.instance}")
        lines += [f"  User {user}"] if user else []
        lines.append(f"  ProxyCommand {host.proxy_command(region=region, profile=profile)}")
    return lines
