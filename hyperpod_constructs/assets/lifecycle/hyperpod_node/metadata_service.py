"""Closes the instance metadata service to everybody but root, so that nobody who logs in holds the role of the node.

Programs of the node that need its role without being root have the group `hyperpod-metadata`. Containers with a network
of their own are closed off too. Rules are replaced in one go: there is no moment in which the service is open.
"""

from __future__ import annotations

import grp
import pwd
import shutil
import socket
import sys
from pathlib import Path

from hyperpod_node import host

GROUP = "hyperpod-metadata"
CHAIN, CONTAINERS = "HYPERPOD-METADATA", "HYPERPOD-CONTAINERS"
JUMPS = {"OUTPUT": CHAIN, "FORWARD": CONTAINERS, "DOCKER-USER": CONTAINERS}
"""Docker puts its own rules before those of FORWARD, and asks DOCKER-USER first."""
FAMILIES = (
    ("iptables", "169.254.169.254", "/32", "icmp-admin-prohibited"),
    ("ip6tables", "fd00:ec2::254", "/128", "icmp6-adm-prohibited"),
)
_ASK = "import socket, sys; s = socket.socket(); s.settimeout(3); print(s.connect_ex((sys.argv[1], 80)))"
_UNIT = """[Unit]
Description=HyperPod: the metadata service is closed before anybody can log in
DefaultDependencies=no
Before=network-pre.target
Wants=network-pre.target

[Service]
Type=oneshot
ExecStart={program}-restore --noflush /etc/hyperpod/{tool}

[Install]
WantedBy=multi-user.target
"""


def work(step: host.Step) -> None:
    """Brings the rules in place, where they are not, and tries them."""
    if not shutil.which("iptables"):
        raise host.Mistake("this image has no iptables, so every user of the node can take the node's role; add it")
    host.run("groupadd", "--system", "--force", GROUP)
    known, unknown = _uids(step.inputs.get("allow_users", []))
    passes = [f"-m owner --uid-owner {uid}" for uid in sorted({0, *known})]
    passes.append(f"-m owner --gid-owner {grp.getgrnam(GROUP).gr_gid}")
    for tool, address, bits, prohibited in FAMILIES:
        program = shutil.which(tool)
        if not program or (tool == "ip6tables" and not Path("/proc/net/if_inet6").exists()):
            continue
        wanted = chains(passes, prohibited)
        change = plan(host.run(tool, "-w", "5", "-S"), address + bits, wanted)
        if change:
            host.run(f"{tool}-restore", "-w", "5", "--noflush", stdin=change)
            host.say(f"{address} is closed")
        host.write(f"/etc/hyperpod/{tool}", plan("", address + bits, wanted))
        unit = _UNIT.format(tool=tool, program=program)
        host.write(f"/etc/systemd/system/hyperpod-{tool}.service", unit)
        # Always, as the last run may have died here; and not started: the rules are there already.
        host.run("systemctl", "enable", f"hyperpod-{tool}.service", "--no-reload")
        _prove(address)
    if unknown:
        host.say(
            f"warning: allow_users names {', '.join(unknown)}, whom this node does not know yet; "
            "the next run looks again"
        )


def _uids(names: list[str]) -> tuple[list[int], list[str]]:
    known: list[int] = []
    unknown: list[str] = []
    for name in names:
        try:
            known.append(pwd.getpwnam(name).pw_uid)
        except KeyError:
            unknown.append(name)
    return known, unknown


def chains(passes: list[str], prohibited: str) -> dict[str, list[str]]:
    """The rules of our two chains, as iptables itself writes them."""
    reject = ["-p tcp -j REJECT --reject-with tcp-reset", f"-j REJECT --reject-with {prohibited}"]
    return {CHAIN: [*(f"{rule} -j RETURN" for rule in passes), *reject], CONTAINERS: reject}


def plan(rules: str, address: str, wanted: dict[str, list[str]]) -> str:
    """What iptables-restore has to do, empty if nothing.

    Args:
        rules: What `iptables -S` writes.
        address: Of the metadata service.
        wanted: Rules of our chains.
    """
    have = rules.splitlines()
    lines: list[str] = []
    for chain, passes in wanted.items():
        own = [f"-A {chain} {rule}" for rule in passes]
        if [line for line in have if line.startswith(f"-A {chain} ")] != own:
            lines += [f":{chain} - [0:0]", *own]  # naming a chain that exists empties it
    if "-N DOCKER-USER" not in have:
        lines.append(":DOCKER-USER - [0:0]")
    for parent, chain in JUMPS.items():
        there = [line for line in have if line.startswith(f"-A {parent} ")]
        jump = f"{parent} -d {address} -j {chain}"
        if there[:1] != [f"-A {jump}"] or there.count(f"-A {jump}") > 1:
            lines += [f"-D {jump}"] * there.count(f"-A {jump}") + [f"-I {jump}"]
    # Chains are declared before rules name them.
    lines.sort(key=lambda line: not line.startswith(":"))
    return "\n".join(["*filter", *lines, "COMMIT", ""]) if lines else ""


def _prove(address: str) -> None:
    """Asks as nobody, where the metadata service answers root."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as mine:
        mine.settimeout(3)
        if mine.connect_ex((address, 80)):
            return
    code = _ASK.replace("socket.socket()", f"socket.socket({int(family)})")
    answer = host.run(sys.executable, "-c", code, address, user="nobody").strip()
    if not answer.isdigit() or answer == "0":
        raise host.Failure(
            f"user nobody still reaches {address} (code {answer}): other rules come before ours; see iptables -S OUTPUT"
        )


if __name__ == "__main__":
    host.main(work)
