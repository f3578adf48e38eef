"""The table of Kubernetes versions and add-ons, in itself."""

from __future__ import annotations

import pytest

from hyperpod_constructs.catalog import kubernetes
from hyperpod_constructs.catalog.kubernetes import ADDONS, EVERY_ADDON, HYPERPOD, numbers


@pytest.mark.parametrize(
    ("text", "read"),
    [("v1.18.3-eksbuild.1", (1, 18, 3)), ("1.34", (1, 34)), ("v1.2", (1, 2)), ("latest", ()), ("", ())],
)
def test_versions_are_numbers_that_compare(text: str, read: tuple[int, ...]) -> None:
    assert numbers(text) == read


@pytest.mark.parametrize(
    ("version", "older", "newer"),
    [
        ("1.29", True, False),
        ("1.30", False, False),
        ("1.30.4", False, False),
        ("1.35", False, False),
        ("1.36", False, True),
    ],
)
def test_ranges_include_both_ends(version: str, older: bool, newer: bool) -> None:  # a table
    assert (HYPERPOD.is_older(version), HYPERPOD.is_newer(version)) == (older, newer)


def test_what_every_add_on_takes_is_what_all_ranges_share() -> None:
    ranges = [HYPERPOD, *(each.kubernetes for each in ADDONS.values() if each.kubernetes)]
    assert EVERY_ADDON.oldest == max((each.oldest for each in ranges), key=numbers)
    assert EVERY_ADDON.newest == min((each.newest for each in ranges), key=numbers)


def test_what_an_add_on_needs_is_in_the_table() -> None:
    assert {name for each in ADDONS.values() for name, _ in each.needs} <= ADDONS.keys()


def test_every_add_on_says_where_it_is_from() -> None:
    assert all(each.source for each in ADDONS.values())


@pytest.mark.parametrize(
    ("addon", "waits"), [("coredns", True), ("vpc-cni", False), ("kube-proxy", False), ("something", False)]
)
def test_deployments_wait_for_nodes(addon: str, waits: bool) -> None:  # a table
    assert kubernetes.runs_deployments(addon) is waits
