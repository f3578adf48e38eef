"""The metadata service closed on a played node that has a network of its own, with a stand-in for the service.

The stand-in answers behind a network of its own, as AWS's does, and a container sits behind another one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.proof.conftest import Faults
from tests.proof.nodes import Node, can_play_nodes, inputs, step

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not can_play_nodes(), reason="needs root and namespaces")]

IPV4, IPV6 = "169.254.169.254", "fd00:ec2::254"
NETWORK = f"""
set -e
for each in imds box; do ip netns add $each; ip -n $each link set lo up; done
ip link add imds0 type veth peer name eth0 netns imds
ip link add box0 type veth peer name eth0 netns box
ip addr add 10.9.0.1/24 dev imds0; ip addr add fd09::1/64 dev imds0 nodad; ip link set imds0 up
ip addr add 10.8.0.1/24 dev box0; ip addr add fd08::1/64 dev box0 nodad; ip link set box0 up
ip -n imds addr add 10.9.0.2/24 dev eth0; ip -n imds addr add fd09::2/64 dev eth0 nodad; ip -n imds link set eth0 up
ip -n box addr add 10.8.0.2/24 dev eth0; ip -n box addr add fd08::2/64 dev eth0 nodad; ip -n box link set eth0 up
ip -n imds addr add {IPV4}/32 dev lo; ip -n imds addr add {IPV6}/128 dev lo nodad
ip -n imds route add default via 10.9.0.1; ip -n imds -6 route add default via fd09::1
ip -n box route add default via 10.8.0.1; ip -n box -6 route add default via fd08::1
ip route add {IPV4} via 10.9.0.2; ip -6 route add {IPV6} via fd09::2
echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
"""
ASK = (
    "import socket, sys\n"
    "s = socket.socket(socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET)\n"
    "s.settimeout(4)\nprint(s.connect_ex((sys.argv[1], 80)))"
)
SERVE = (
    "import socket, sys\n"
    "family = socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET\n"
    "s = socket.create_server((sys.argv[1], 80), family=family)\nwhile True: s.accept()[0].close()"
)
REFUSED = "111"
IMDS, BOX = ("ip", "netns", "exec", "imds"), ("ip", "netns", "exec", "box")
Play = Callable[..., AbstractContextManager[Node]]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """Starts a node with the step, and a metadata service if asked."""

    @contextmanager
    def make(*, service: bool = True, **given: Any) -> Iterator[Node]:
        steps = [step("metadata-service", required=True, at_boot=True, inputs=given)]
        with Node(name="n1", group="p5", inputs=inputs(steps), folder=tmp_path / "n", network=True) as node:
            if service:
                made = node.run("bash", "-c", NETWORK)
                assert made.returncode == 0, made.stderr
                for address in (IPV4, IPV6):
                    node.start(*IMDS, "/usr/bin/python3", "-c", SERVE, address, log=tmp_path / "served")
                for _ in range(100):
                    if ask(node, IPV4) == ask(node, IPV6) == "0":
                        break
                    time.sleep(0.1)
            yield node

    return make


def ask(node: Node, address: str, *before: str) -> str:
    """What connecting to the service says: 0 if it is open."""
    return node.run(*before, "/usr/bin/python3", "-c", ASK, address).stdout.strip()


def as_user(name: str, group: str | None = None) -> tuple[str, ...]:
    return ("runuser", "-u", name, *(("-g", group) if group else ()), "--")


@pytest.mark.parametrize("address", [IPV4, IPV6])
def test_root_reaches_it_and_nobody_else_at_once(play: Play, address: str) -> None:
    with play(allow_users=["daemon"]) as node:
        assert ask(node, address, *as_user("nobody")) == "0"
        assert ask(node, address, *BOX) == "0"
        booted = node.boot()
        assert booted.returncode == 0, booted.stdout
        assert f"{address} is closed" in booted.stdout
        assert ask(node, address) == "0"
        assert ask(node, address, *as_user("daemon")) == "0"
        assert ask(node, address, *as_user("nobody")) == REFUSED
        assert ask(node, address, *BOX) == REFUSED


def test_a_service_with_the_group_reaches_it_without_being_root(play: Play) -> None:
    with play() as node:
        assert node.boot().returncode == 0
        with_group = ("setpriv", "--reuid", "nobody", "--regid", "hyperpod-metadata", "--clear-groups")
        assert ask(node, IPV4, *with_group) == "0"
        assert ask(node, IPV4, "setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups") == REFUSED


def test_a_second_run_changes_nothing(play: Play) -> None:
    with play() as node:
        node.boot()
        rules = node.run("iptables", "-S").stdout
        again = node.step("metadata-service")
        assert (again.returncode, "closed" in again.stdout) == (0, False)
        assert node.run("iptables", "-S").stdout == rules
        assert "restart" not in node.read("/var/log/systemctl")


def test_it_is_never_open_while_rules_change(play: Play, tmp_path: Path) -> None:
    watch = (
        "import socket, time\nend = time.time() + 6\nwhile time.time() < end:\n"
        f"    s = socket.socket(); s.settimeout(1); print(s.connect_ex(('{IPV4}', 80)), flush=True); s.close()\n"
    )
    with play() as node:
        node.boot()
        log = tmp_path / "watched"
        watching = node.start(*as_user("nobody"), "/usr/bin/python3", "-c", watch, log=log)
        for user in ("daemon", "bin", "sys", "games"):
            steps = [step("metadata-service", required=True, inputs={"allow_users": [user]})]
            node.write("/opt/hyperpod/inputs.json", json.dumps(inputs(steps)))
            assert f"{IPV4} is closed" in node.step("metadata-service").stdout
        watching.wait(20)
        answers = log.read_text().split()
        assert len(answers) > 100
        assert "0" not in answers


def test_after_a_reboot_it_is_closed_before_anybody_can_log_in(play: Play) -> None:
    with play() as node:
        node.boot()
        wanted = node.run("iptables", "-S").stdout
        for tool in ("iptables", "ip6tables"):
            node.run("sh", "-c", f"{tool} -F; {tool} -X")
            assert f"enable hyperpod-{tool}.service" in node.read("/var/log/systemctl")
            unit = node.read(f"/etc/systemd/system/hyperpod-{tool}.service")
            assert "Before=network-pre.target" in unit
            said = node.run("systemd-analyze", "verify", f"/etc/systemd/system/hyperpod-{tool}.service").stderr
            assert "hyperpod" not in said, said
            command = unit.partition("ExecStart=")[2].splitlines()[0].split()
            assert node.run(*command).returncode == 0
        assert node.run("iptables", "-S").stdout == wanted
        assert node.step("--boot").returncode == 0
        assert node.run("iptables", "-S").stdout == wanted


def test_rules_that_somebody_flushed_or_overtook_are_mended(play: Play, faults: Faults) -> None:
    with play() as node:
        node.boot()
        wanted = node.run("iptables", "-S", "OUTPUT").stdout
        began = time.monotonic()
        node.run("iptables", "-I", "OUTPUT", "-j", "ACCEPT")
        assert ask(node, IPV4, *as_user("nobody")) == "0"
        assert node.step("metadata-service").returncode == 0
        assert ask(node, IPV4, *as_user("nobody")) == REFUSED
        node.run("iptables", "-F")
        assert node.step("metadata-service").returncode == 0
        assert ask(node, IPV4, *as_user("nobody")) == REFUSED
        assert node.run("iptables", "-S", "OUTPUT").stdout == wanted
    faults.survived("firewall rules are flushed or overtaken", "mended by the next run", time.monotonic() - began)


def test_rules_that_do_not_close_it_are_a_failure(play: Play, faults: Faults) -> None:
    """Another table may let packets through that ours never sees: the step asks instead of believing."""
    with play() as node:
        node.run(
            "sh", "-c", "printf '#!/bin/sh\\nexit 0\\n' > /usr/local/sbin/iptables-restore; chmod +x /usr/local/sbin/*"
        )
        began = time.monotonic()
        booted = node.boot()
        assert booted.returncode == 1
        assert f"user nobody still reaches {IPV4} (code 0)" in booted.stdout
    faults.survived("rules do not close the metadata service", "found by asking as nobody", time.monotonic() - began)


def test_rules_of_others_stay(play: Play) -> None:
    with play() as node:
        node.run("iptables", "-A", "INPUT", "-p", "tcp", "--dport", "9999", "-j", "DROP")
        node.run("iptables", "-N", "DOCKER-USER")
        node.run("iptables", "-A", "DOCKER-USER", "-j", "RETURN")
        assert node.boot().returncode == 0
        rules = node.run("iptables", "-S").stdout.splitlines()
        assert "-A INPUT -p tcp -m tcp --dport 9999 -j DROP" in rules
        assert [rule for rule in rules if rule.startswith("-A DOCKER-USER")] == [
            f"-A DOCKER-USER -d {IPV4}/32 -j HYPERPOD-CONTAINERS",
            "-A DOCKER-USER -j RETURN",
        ]


def test_a_user_who_is_made_later_is_let_in_by_the_next_run_and_nobody_else_before(play: Play, faults: Faults) -> None:
    with play(allow_users=["later", "daemon"]) as node:
        began = time.monotonic()
        booted = node.boot()
        assert booted.returncode == 0
        assert "warning: allow_users names later, whom this node does not know yet" in booted.stdout
        assert ask(node, IPV4, *as_user("nobody")) == REFUSED
        assert ask(node, IPV4, *as_user("daemon")) == "0"
        node.run("useradd", "later")
        assert ask(node, IPV4, *as_user("later")) == REFUSED
        again = node.step("metadata-service")
        assert (again.returncode, "warning" in again.stdout) == (0, False)
        assert ask(node, IPV4, *as_user("later")) == "0"
        assert ask(node, IPV4, *as_user("nobody")) == REFUSED
    faults.survived("allow_users names somebody who comes later", "let in by the next run", time.monotonic() - began)


def test_a_run_that_died_before_it_enabled_the_rules_is_made_good(play: Play, faults: Faults) -> None:
    with play(service=False) as node:
        systemctl = node.read("/usr/local/bin/systemctl")
        began = time.monotonic()
        node.write("/usr/local/bin/systemctl", "#!/bin/sh\npkill -9 -f hyperpod_node.metadata_service\n", 0o755)
        assert node.boot().returncode != 0
        node.write("/usr/local/bin/systemctl", systemctl, 0o755)
        assert node.step("metadata-service").returncode == 0
        for tool in ("iptables", "ip6tables"):
            assert f"enable hyperpod-{tool}.service" in node.read("/var/log/systemctl")
    faults.survived("killed before the rules are enabled", "enabled by the next run", time.monotonic() - began)


def test_without_iptables_it_is_a_mistake(play: Play, faults: Faults) -> None:
    with play(service=False) as node:
        node.run("sh", "-c", "rm -f /usr/sbin/iptables /sbin/iptables /usr/sbin/ip6tables")
        began = time.monotonic()
        booted = node.boot()
        assert (booted.returncode, "this image has no iptables" in booted.stdout) == (78, True)
    faults.survived("the image has no iptables", "a mistake, not tried again", time.monotonic() - began)


def test_without_a_metadata_service_the_rules_are_there_all_the_same(play: Play) -> None:
    with play(service=False) as node:
        assert node.boot().returncode == 0
        assert "HYPERPOD-METADATA" in node.run("iptables", "-S", "OUTPUT").stdout


def test_without_ipv6_only_ipv4_is_closed(play: Play) -> None:
    with play(service=False) as node:
        node.run("rm", "-f", "/usr/sbin/ip6tables")
        assert node.boot().returncode == 0
