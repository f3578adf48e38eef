"""What is said of access entries for the roles of HyperPod nodes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules import planes
from tests.rules.networks import ROLE, UNDECIDED, ref, resource


def entry(**properties: Any) -> dict[str, Any]:
    """An access entry for the role of the nodes."""
    return resource("AWS::EKS::AccessEntry", **{"ClusterName": ref("Eks"), "PrincipalArn": ROLE, **properties})


class TestEntriesOfNodesAreHyperPods:
    @pytest.mark.parametrize("kind", ["EC2_LINUX", "STANDARD", "EC2"])
    def test_another_type(self, kind: str) -> None:
        assert planes.of("HP2411", Entry=entry(Type=kind)) == [
            (
                f"Entry: access entry for the role of group 'p5' has Type {kind} | take it out, as HyperPod makes one "
                "of type HYPERPOD_LINUX; people and installers need other roles"
            )
        ]

    def test_the_type_that_eks_takes_where_none_is_given(self) -> None:
        (found,) = planes.of("HP2411", Entry=entry())
        assert "has Type STANDARD" in found

    @pytest.mark.parametrize(
        "change",
        [
            {"Type": "HYPERPOD_LINUX"},
            {"Type": UNDECIDED},
            {"Type": "EC2_LINUX", "PrincipalArn": "arn:aws:iam::111122223333:role/People"},
            {"Type": "EC2_LINUX", "PrincipalArn": UNDECIDED},
            {"Type": "EC2_LINUX", "ClusterName": "another"},
        ],
    )
    def test_is_silent_on_hyperpods_own_and_on_those_of_others(self, change: dict[str, Any]) -> None:
        assert planes.of("HP2411", Entry=entry(**change)) == []


class TestEntriesOfNodesAreLeftToHyperPod:
    def test_one_that_hyperpod_makes(self) -> None:
        assert planes.of("HP2412", Entry=entry(Type="HYPERPOD_LINUX")) == [
            (
                "Entry: access entry of type HYPERPOD_LINUX for the role of group 'p5' | take it out and let HyperPod "
                "make it, unless a first deploy has shown that both get along"
            )
        ]

    @pytest.mark.parametrize(
        "change",
        [
            {"Type": "EC2_LINUX"},
            {"Type": UNDECIDED},
            {"Type": "HYPERPOD_LINUX", "PrincipalArn": "arn:aws:iam::111122223333:role/Others"},
            {"Type": "HYPERPOD_LINUX", "PrincipalArn": UNDECIDED},
        ],
    )
    def test_is_silent_on_others(self, change: dict[str, Any]) -> None:
        assert planes.of("HP2412", Entry=entry(**change)) == []
