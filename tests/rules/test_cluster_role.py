"""What is said of the role with which a cluster scales itself."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.identity import Role
from hyperpod_constructs.model.kubernetes import AutoScaling
from hyperpod_constructs.model.storage import NodeVolume
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import deployment, eks_cluster, kubernetes, told
from tests.rules.roles import statement

SCALING = statement(
    ("sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"),
    ("arn:aws:sagemaker:us-west-2:111122223333:cluster/*",),
)


def of(rule: str, *, mode: Any = "Enable", volumes: Any = (), **fields: Any) -> list[str]:
    """What a rule says of a cluster that scales with such a role."""
    its = Role(**{"path": "Role", "trusts": ("hyperpod.sagemaker.amazonaws.com",), "statements": (SCALING,), **fields})
    group = kubernetes(volumes=volumes)
    scaling = eks_cluster(group, autoscaling=AutoScaling(mode=mode), cluster_role="Role")
    return told(rule, deployment(scaling, roles=(its,)))


class TestHyperpodAssumesTheClusterRole:
    def test_the_principal_of_nodes_is_another_one(self) -> None:
        assert of("HP7014", trusts=("sagemaker.amazonaws.com",)) == [
            (
                "HP7014 the ClusterRole trusts sagemaker.amazonaws.com, not hyperpod.sagemaker.amazonaws.com | "
                "write Principal: {Service: hyperpod.sagemaker.amazonaws.com} in its AssumeRolePolicyDocument "
                "(assumed_by=iam.ServicePrincipal('hyperpod.sagemaker.amazonaws.com'))"
            )
        ]

    def test_is_told_once_of_two_clusters(self) -> None:
        its = Role(path="Role", trusts=())
        scaling = [
            eks_cluster(kubernetes(), path=path, autoscaling=AutoScaling(mode="Enable"), cluster_role="Role")
            for path in ("a", "b")
        ]
        judged = deployment(*scaling, roles=(its,))
        assert [len(told(rule, judged)) for rule in ("HP7014", "HP7015")] == [1, 1]

    def test_nobody_is_not_enough(self) -> None:
        (said,) = of("HP7014", trusts=())
        assert "trusts no service" in said

    @pytest.mark.parametrize("fields", [{}, {"trusts": UNKNOWN}, {"trusts": (UNKNOWN,)}])
    def test_is_silent_on_the_right_one_and_unknown_ones(self, fields: dict[str, Any]) -> None:
        assert of("HP7014", **fields) == []

    def test_is_silent_where_nothing_scales(self) -> None:
        assert of("HP7014", trusts=(), mode="Disable") == []


class TestClusterRolesCanScale:
    def test_it_adds_and_deletes_nodes(self) -> None:
        assert of("HP7015", statements=()) == [
            (
                "HP7015 the ClusterRole lacks sagemaker:BatchAddClusterNodes and sagemaker:BatchDeleteClusterNodes "
                "| allow sagemaker:BatchAddClusterNodes and sagemaker:BatchDeleteClusterNodes; the id in a "
                "cluster's ARN is made at creation, so use arn:aws:sagemaker:REGION:ACCOUNT:cluster/*"
            )
        ]

    def test_encrypted_volumes_take_more(self) -> None:
        (said,) = of("HP7015", volumes=(NodeVolume(size_gib=1, kms_key="Key"),))
        assert "lacks kms:CreateGrant and kms:DescribeKey | allow" in said

    @pytest.mark.parametrize("fields", [{}, {"statements": (), "complete": False}])
    def test_is_silent_where_it_can_or_may(self, fields: dict[str, Any]) -> None:
        assert of("HP7015", **fields) == []
