"""Permissions of nodes follow from the features in use, and from nothing else."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam

from hyperpod_constructs.cdk.identity import NodeFeatures, NodeRoles, statements
from tests.templates import of_type, synthesized

BUCKET = "arn:aws:s3:::cdk-assets"


def sids(**features: object) -> list[object]:
    found = statements(NodeFeatures(**features), partition="aws", region="us-west-2", account="111122223333")  # type: ignore[arg-type]  # test data
    return [statement["Sid"] for statement in found]


class TestStatements:
    @pytest.mark.parametrize(
        ("features", "expected"),
        [
            ({}, []),
            ({"lustre_efa": True}, ["DescribeLustre"]),
            ({"scripts": [(BUCKET, "hyperpod/train")]}, ["ReadScripts1", "ListScripts1"]),
            ({"objects": ["people/all.json"]}, ["ReadObjects"]),
            ({"secrets": ["arn:aws:secretsmanager:us-west-2:111122223333:secret:ldap"]}, ["ReadSecrets"]),
            ({"parameters": ["hyperpod/train/people"]}, ["ReadParameters"]),
            ({"rollback_alarms": True}, ["ReadAlarms"]),
            ({"volume_key_arns": ["arn:aws:kms:us-west-2:111122223333:key/k"]}, ["VolumeKeys"]),
        ],
    )
    def test_are_there_for_the_features_in_use(self, features: dict[str, object], expected: list[str]) -> None:
        assert sids(**features) == ["DescribeNetwork", "NodeInterfaces", "TagInterfaces", *expected]

    def test_scripts_are_read_below_their_prefix_and_never_written(self) -> None:
        found = statements(
            NodeFeatures(scripts=[(BUCKET, "hyperpod/train")]),
            partition="aws",
            region="us-west-2",
            account="111122223333",
        )
        about_s3 = [each for each in found if "s3:" in str(each["Action"])]
        assert [(each["Action"], each["Resource"]) for each in about_s3] == [
            ("s3:GetObject", f"{BUCKET}/hyperpod/train/*"),
            ("s3:ListBucket", BUCKET),
        ]

    def test_changes_of_interfaces_are_bound_to_the_region(self) -> None:
        found = statements(NodeFeatures(), partition="aws", region="us-west-2", account="111122223333")
        (changes,) = (each for each in found if each["Sid"] == "NodeInterfaces")
        assert changes["Condition"] == {"StringEquals": {"aws:RequestedRegion": "us-west-2"}}


class TestRolesOfTheUsers:
    """Each is asked, because it may decline."""

    def attached(self, stack: cdk.Stack, *given: iam.IRole) -> list[Any]:
        roles = {f"g{number}": role for number, role in enumerate(given)}
        NodeRoles(stack, "Roles", groups=["made", *roles], features=NodeFeatures(), given=roles)
        (policy,) = of_type(synthesized(stack), "AWS::IAM::Policy").values()
        return [each if isinstance(each, str) else "made" for each in policy["Roles"]]

    def named(self, stack: cdk.Stack, account: str = "111122223333", **options: Any) -> iam.IRole:
        return iam.Role.from_role_arn(stack, "Given", f"arn:aws:iam::{account}:role/nodes", **options)

    def test_get_the_policy_of_nodes(self, stack: cdk.Stack) -> None:
        assert self.attached(stack, self.named(stack)) == ["made", "nodes"]

    def test_get_it_once_for_several_groups(self, stack: cdk.Stack) -> None:
        role = self.named(stack)
        assert self.attached(stack, role, role) == ["made", "nodes"]

    def test_that_are_closed_to_changes_do_not(self, stack: cdk.Stack) -> None:
        closed = iam.Role(stack, "R", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        assert self.attached(stack, self.named(stack, mutable=False), closed.without_policy_updates()) == ["made"]

    def test_of_another_account_do_not(self, stack: cdk.Stack) -> None:
        assert self.attached(stack, self.named(stack, "999999999999")) == ["made"]

    def test_that_are_all_closed_leave_no_policy(self, stack: cdk.Stack) -> None:
        closed = self.named(stack, mutable=False)
        NodeRoles(stack, "Roles", groups=["a"], features=NodeFeatures(), given={"a": closed})
        assert "Resources" not in synthesized(stack)
