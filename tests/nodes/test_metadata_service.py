"""The rules that close the metadata service, as text for iptables-restore."""

from __future__ import annotations

from typing import Final

from hyperpod_node import metadata_service

ADDRESS: Final = "169.254.169.254/32"
WANTED: Final = metadata_service.chains(["-m owner --uid-owner 0"], "icmp-admin-prohibited")
EMPTY: Final = "-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT\n"
CLOSED: Final = """\
-P INPUT ACCEPT
-P FORWARD ACCEPT
-P OUTPUT ACCEPT
-N DOCKER-USER
-N HYPERPOD-CONTAINERS
-N HYPERPOD-METADATA
-A FORWARD -d 169.254.169.254/32 -j HYPERPOD-CONTAINERS
-A OUTPUT -d 169.254.169.254/32 -j HYPERPOD-METADATA
-A DOCKER-USER -d 169.254.169.254/32 -j HYPERPOD-CONTAINERS
-A HYPERPOD-CONTAINERS -p tcp -j REJECT --reject-with tcp-reset
-A HYPERPOD-CONTAINERS -j REJECT --reject-with icmp-admin-prohibited
-A HYPERPOD-METADATA -m owner --uid-owner 0 -j RETURN
-A HYPERPOD-METADATA -p tcp -j REJECT --reject-with tcp-reset
-A HYPERPOD-METADATA -j REJECT --reject-with icmp-admin-prohibited
"""


def test_a_closed_service_needs_no_change() -> None:
    assert metadata_service.plan(CLOSED, ADDRESS, WANTED) == ""


def test_an_open_service_is_closed_in_one_transaction() -> None:
    assert metadata_service.plan(EMPTY, ADDRESS, WANTED).splitlines() == [
        "*filter",
        ":HYPERPOD-METADATA - [0:0]",
        ":HYPERPOD-CONTAINERS - [0:0]",
        ":DOCKER-USER - [0:0]",
        "-A HYPERPOD-METADATA -m owner --uid-owner 0 -j RETURN",
        "-A HYPERPOD-METADATA -p tcp -j REJECT --reject-with tcp-reset",
        "-A HYPERPOD-METADATA -j REJECT --reject-with icmp-admin-prohibited",
        "-A HYPERPOD-CONTAINERS -p tcp -j REJECT --reject-with tcp-reset",
        "-A HYPERPOD-CONTAINERS -j REJECT --reject-with icmp-admin-prohibited",
        "-I OUTPUT -d 169.254.169.254/32 -j HYPERPOD-METADATA",
        "-I FORWARD -d 169.254.169.254/32 -j HYPERPOD-CONTAINERS",
        "-I DOCKER-USER -d 169.254.169.254/32 -j HYPERPOD-CONTAINERS",
        "COMMIT",
    ]


def test_other_users_that_pass_rebuild_that_chain_alone() -> None:
    wanted = metadata_service.chains(["-m owner --uid-owner 0", "-m owner --uid-owner 7"], "icmp-admin-prohibited")
    change = metadata_service.plan(CLOSED, ADDRESS, wanted)
    assert ":HYPERPOD-METADATA" in change
    assert "CONTAINERS" not in change
    assert "-I OUTPUT" not in change


def test_a_rule_that_came_before_ours_is_overtaken_and_ours_stands_once() -> None:
    ours = "-A OUTPUT -d 169.254.169.254/32 -j HYPERPOD-METADATA\n"
    change = metadata_service.plan(CLOSED.replace(ours, f"-A OUTPUT -j ACCEPT\n{ours}{ours}"), ADDRESS, WANTED)
    assert change.count("-D OUTPUT") == 2
    assert change.count("-I OUTPUT") == 1


def test_what_docker_keeps_in_its_chain_is_not_emptied() -> None:
    there = EMPTY + "-N DOCKER-USER\n-A DOCKER-USER -j RETURN\n"
    change = metadata_service.plan(there, ADDRESS, WANTED)
    assert ":DOCKER-USER" not in change
    assert "-I DOCKER-USER" in change


def test_users_that_the_node_does_not_know_are_told_apart() -> None:
    assert metadata_service._uids(["root", "nobody-of-that-name"]) == ([0], ["nobody-of-that-name"])
