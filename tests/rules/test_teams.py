"""What is said of the names of teams and of how they share."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import slurm_cluster
from tests.rules.governing import instances, of, policy, quota


class TestNamesAreUniqueInACluster:
    def test_of_quotas(self) -> None:
        assert of("HP6020", quota("a", name="q"), quota("b", name="q")) == [
            "HP6020 a and b are quotas named 'q' of one cluster | give each a Name of its own"
        ]

    def test_of_policies(self) -> None:
        (found,) = of("HP6020", scheduler_policies=(policy(), policy(path="Second")))
        assert "Policy and Second are scheduler policies named 'policy' of one cluster" in found

    @pytest.mark.parametrize(
        "fields", [{"name": "other"}, {"name": UNKNOWN}, {"cluster": "Other"}, {"cluster": UNKNOWN}, {"certain": False}]
    )
    def test_is_silent_on_others(self, fields: dict[str, Any]) -> None:
        assert of("HP6020", quota("a", name="q"), quota("b", **{"name": "q", **fields})) == []


class TestTeamsHaveOneQuota:
    def test_two_are_one_namespace(self) -> None:
        assert of("HP6021", quota("vision"), quota("vision", path="second")) == [
            (
                "HP6021 vision and second are quotas of team 'vision', which is namespace hyperpod-ns-vision | make "
                "one quota of them, with all of their ComputeQuotaResources, or give each a TeamName of its own"
            )
        ]

    @pytest.mark.parametrize(
        "fields", [{"team": "speech"}, {"team": UNKNOWN}, {"cluster": "Other"}, {"certain": False}]
    )
    def test_is_silent_on_others(self, fields: dict[str, Any]) -> None:
        assert of("HP6021", quota("vision"), quota(**{"path": "second", **fields})) == []


class TestTeamNamesFitANamespace:
    def test_the_namespace_has_63_characters(self) -> None:
        (found,) = of("HP6022", quota("t" * 52))
        assert found == (
            f"HP6022 TeamName {'t' * 52} has 52 characters, and its namespace 64 | use a TeamName (Team(name=...)) of "
            "at most 51 characters; AWS's texts want at most 40"
        )

    @pytest.mark.parametrize("team", ["t" * 51, UNKNOWN])
    def test_is_silent_on_shorter_and_unknown_ones(self, team: Any) -> None:
        assert of("HP6022", quota(team, path="q")) == []


class TestTeamsHaveMembers:
    def test_somebody_has_to_submit(self) -> None:
        assert of("HP6023", quota("vision", has_members=False)) == [
            (
                "HP6023 the quota of team 'vision' is there, but the team has no members | give the ARNs of roles as "
                "Team(members=[...]), or bind a role in its namespace yourself"
            )
        ]

    @pytest.mark.parametrize("has", [True, None, UNKNOWN])
    def test_is_silent_where_there_are_or_may_be_some(self, has: Any) -> None:
        assert of("HP6023", quota("vision", has_members=has)) == []


class TestTeamsHaveWeights:
    @pytest.mark.parametrize(("weight", "said"), [(None, "left out"), (0, "0")])
    def test_zero_is_the_last(self, weight: Any, said: str) -> None:
        assert of("HP6024", quota("vision", weight=weight), quota("speech", weight=10)) == [
            (
                f"HP6024 FairShareWeight of the quota of team 'vision' is {said}, of others speech 10 | give a "
                "FairShareWeight of 1 to 100 (Team(weight=...)), unless the team shall come last"
            )
        ]

    @pytest.mark.parametrize(
        ("ours", "theirs"),
        [
            ({"weight": 0}, {"weight": 0}),
            ({"weight": 0}, {"weight": UNKNOWN}),
            ({"weight": 0}, {"weight": 10, "certain": False}),
            ({"weight": 0}, {"weight": 10, "active": "Disabled"}),
            ({"weight": UNKNOWN}, {"weight": 10}),
            ({"weight": 0, "sharing": "Lend"}, {"weight": 10}),
        ],
    )
    def test_is_silent_where_weights_do_not_differ_or_do_not_count(
        self, ours: dict[str, Any], theirs: dict[str, Any]
    ) -> None:
        assert of("HP6024", quota("vision", **ours), quota("speech", **theirs)) == []

    @pytest.mark.parametrize(
        "policies", [(), (policy(fair_share="Disabled"),), (policy(fair_share=UNKNOWN),), (policy(certain=False),)]
    )
    def test_is_silent_where_weights_are_not_used_for_certain(self, policies: Any) -> None:
        assert of("HP6024", quota("a"), quota("b", weight=10), scheduler_policies=policies) == []

    def test_is_silent_on_slurm(self) -> None:
        assert of("HP6024", quota("a"), quota("b", weight=10), clusters=(slurm_cluster(),)) == []


class TestLimitsAreOfTeamsThatBorrow:
    @pytest.mark.parametrize("strategy", ["Lend", "DontLend"])
    def test_others_do_not_borrow(self, strategy: str) -> None:
        found = of("HP6025", quota("vision", sharing=strategy, borrow_limit=50, borrowable=(instances(1),)))
        assert found == [
            (
                "HP6025 the quota of team 'vision' has BorrowLimit 50 and AbsoluteBorrowLimits and Strategy "
                f"{strategy} | leave BorrowLimit 50 and AbsoluteBorrowLimits out, or use Strategy: LendAndBorrow"
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [
            {"sharing": "LendAndBorrow", "borrow_limit": 50},
            {"borrow_limit": 50},
            {"sharing": UNKNOWN, "borrow_limit": 50},
            {"sharing": "Lend", "borrow_limit": UNKNOWN, "borrowable": UNKNOWN},
            {"sharing": "Lend"},
        ],
    )
    def test_is_silent_on_others(self, fields: dict[str, Any]) -> None:
        assert of("HP6025", quota("vision", **fields)) == []


class TestBorrowLimitsAreUsual:
    @pytest.mark.parametrize(
        ("limit", "said"),
        [
            (501, "501 % | use 1 to 500 (Team(borrow_limit_percent=...))"),
            (
                0,
                (
                    "0 % | use 1 to 500 (Team(borrow_limit_percent=...)), or Strategy: Lend for a team that lends and "
                    "does not borrow"
                ),
            ),
        ],
    )
    def test_the_texts_differ_outside(self, limit: int, said: str) -> None:
        assert of("HP6026", quota("vision", borrow_limit=limit)) == [
            f"HP6026 BorrowLimit of the quota of team 'vision' is {said}"
        ]

    @pytest.mark.parametrize(
        "fields",
        [
            {"borrow_limit": 1},
            {"borrow_limit": 500},
            {"borrow_limit": 10_001},
            {"borrow_limit": None},
            {"borrow_limit": UNKNOWN},
            {"borrow_limit": 501, "sharing": "Lend"},
            {"borrow_limit": 501, "sharing": UNKNOWN},
        ],
    )
    def test_is_silent_within_and_where_it_has_no_effect(self, fields: dict[str, Any]) -> None:
        assert of("HP6026", quota("vision", **fields)) == []
