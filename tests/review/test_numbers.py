"""The numbers of a review in words: nothing is hidden behind "as many", and no number is shown that nobody knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.model.budget import BudgetResource
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.review import figures
from hyperpod_constructs.review.live import drift
from hyperpod_constructs.review.money import Source
from hyperpod_constructs.review.report import numbers
from hyperpod_constructs.tokens import UNKNOWN
from tests.review import snapshots
from tests.review.snapshots import group, snapshot
from tests.rules.builders import cluster, compute, controller, deployment, login


def rows(before: Any, after: Any) -> dict[str, tuple[str, str, str]]:
    """The rows of a change from one cluster or deployment to another, by label."""
    base, head = (deployment(side) if isinstance(side, Cluster) else side for side in (before, after))
    return {row.label: (row.before, row.after, row.change) for row in numbers.rows(figures.of(base, head))}


def in_short(before: Any, after: Any) -> list[str]:
    return numbers.in_short(figures.of(deployment(before), deployment(after)))


class TestNodes:
    def of(self, *groups: Any) -> Cluster:
        return cluster(groups=(controller(), *groups))

    def test_are_usable_and_spare(self) -> None:
        found = rows(self.of(compute(count=30, spares=2)), self.of(compute(count=46, spares=2)))
        assert found["nodes of train, usable + spare"] == ("30 + 2", "46 + 2", "+16")

    def test_that_become_spare_are_as_many_in_all(self) -> None:
        found = rows(self.of(compute(count=32)), self.of(compute(count=30, spares=2)))
        assert found["nodes of train, usable + spare"] == ("32 + 0", "30 + 2", "as many in all")

    def test_for_login_that_come_are_counted(self) -> None:
        before, after = (self.of(login(count=count), compute(count=30, spares=2)) for count in (1, 5))
        label = "nodes of train, usable + spare + controller and login"
        assert rows(before, after)[label] == ("30 + 2 + 2", "30 + 2 + 6", "+4")
        assert in_short(before, after)[0] == "+4 controller or login nodes"
        assert in_short(self.of(login()), self.of())[0] == "-1 controller or login node"

    def test_for_login_of_an_unknown_number_are_no_difference(self) -> None:
        before, after = self.of(login(), compute()), self.of(login(count=UNKNOWN), compute())
        assert rows(before, after)["nodes of train, usable + spare"] == ("2 + 0", "at least 2 + ?", "")

    def test_for_login_of_a_new_cluster_stand_not_apart(self) -> None:
        found = rows(Deployment(), self.of(login(), compute()))
        assert found["nodes of train, usable + spare"] == ("none", "2 + 0", "+2")

    def test_of_which_none_is_known_are_unknown(self) -> None:
        found = rows(cluster(groups=(compute(),)), cluster(groups=(compute(count=UNKNOWN),)))
        assert found["nodes of train, usable + spare"] == ("2 + 0", "?", "")


class TestBudgets:
    def row(self, before: Any, after: Any) -> str:
        sides = [
            Deployment(budgets=(BudgetResource(path=path, amount=amount),)) if path else Deployment()
            for path, amount in (before, after)
        ]
        return "".join(change for label, (*_, change) in rows(*sides).items() if "budget" in label)

    def test_say_what_the_limit_was(self) -> None:
        assert self.row(("B", 100.0), ("B", 200.0)) == "limit was 100 USD"

    def test_that_are_new_are_called_new(self) -> None:
        assert self.row((None, None), ("B", 200.0)) == "new"

    def test_that_stay_are_not_called_changed(self) -> None:
        assert self.row(("base.json/B", 100.0), ("head.json/B", 100.0)) == ""

    def test_of_a_limit_that_was_not_known_say_nothing_of_it(self) -> None:
        assert self.row(("B", UNKNOWN), ("B", 100.0)) == ""


class TestUnpriced:
    def said(self, *texts: str) -> tuple[list[str], str]:
        """The remarks, and what is said of the difference."""
        side = deployment(cluster(groups=(controller(),)))
        found = figures.of(side, side, unpriced=texts)
        change = next(row.change for row in numbers.rows(found) if row.label.startswith("USD/h"))
        return [each for each in numbers.remarks(found) if each.startswith("not priced")], change

    def test_things_are_named_and_the_difference_is_not_called_none(self) -> None:
        nat = "NAT gateway App/Nat (new)"
        assert self.said(nat) == ([f"not priced, so in no sum: {nat}"], "only what has no price")
        assert self.said() == ([], "unchanged")

    def test_things_beyond_the_fourth_are_counted(self) -> None:
        assert self.said(*"abcdef")[0] == ["not priced, so in no sum: a, b, c, d, and 2 more"]


class TestSources:
    def said(self, *sources: tuple[str, bool]) -> list[str]:
        return [*numbers._sources([Source(source=name, as_of="2026", estimate=estimate) for name, estimate in sources])]

    def test_are_two_lines_at_most(self) -> None:
        assert self.said(("a", False), ("b", True)) == ["estimate: b, 2026", "a, 2026"]
        three = self.said(("a", True), ("estimate of b", True), ("c", True))
        assert three == ["estimate: a, 2026", "estimate of b, 2026; 1 more source of prices"]
        assert self.said(*[(name, False) for name in "abcd"])[1] == "b, 2026; 2 more sources of prices"
        assert self.said() == []


class TestLive:
    def said(self, folder: Path, data: dict[str, Any], **fields: Any) -> list[str]:
        side = deployment(cluster(**{"name": "Frontier", "groups": (compute(count=32),), **fields}))
        found = numbers.live(drift.of(side, side, snapshots.read(folder, data)))
        return [" ".join(filter(None, (item.subject, item.text))) for item in found]

    def test_that_is_as_declared_has_no_drift(self, tmp_path: Path) -> None:
        assert self.said(tmp_path, snapshot(group(scripts=None))) == [
            "cluster Frontier as of 2026-11-30 09:10 UTC, no drift"
        ]

    def test_that_is_something_else_is_no_absence_of_drift(self, tmp_path: Path) -> None:
        assert self.said(tmp_path, snapshot(group(scripts=None, spot=True))) == [
            "cluster Frontier as of 2026-11-30 09:10 UTC; it is not what the base asks for",
            "group p5: spot in the snapshot, on demand in the base",
        ]

    def test_that_nobody_can_compare_is_neither(self, tmp_path: Path) -> None:
        groups = (compute(count=UNKNOWN),)
        said = self.said(tmp_path, snapshot(group(scripts=None)), groups=groups)
        assert said == ["cluster Frontier as of 2026-11-30 09:10 UTC"]

    @pytest.mark.parametrize("status", ["InService", "Updating"])
    def test_of_another_cluster_is_one_line(self, tmp_path: Path, status: str) -> None:
        data = snapshot(status=status, plans=[snapshots.plan()], file_systems=[snapshots.file_system()])
        assert self.said(tmp_path, data, name="other") == [
            "cluster Frontier of us-west-2 was not found in the base or the head: nothing that runs was compared"
        ]
