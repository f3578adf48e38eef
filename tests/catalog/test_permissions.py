from __future__ import annotations

import json
from typing import Any

from moto.iam.aws_managed_policies import aws_managed_policies_data

from hyperpod_constructs.catalog import permissions


def test_the_node_policy_allows_what_its_copy_allows() -> None:
    policy: dict[str, Any] = json.loads(aws_managed_policies_data)[permissions.NODE_POLICY]
    actions = [action for statement in policy["Document"]["Statement"] for action in statement["Action"]]
    reads = {"s3:GetObject", "s3:ListBucket"}
    assert policy["DefaultVersionId"] == "v1", "AWS has changed the policy: read it and update catalog/permissions.py"
    assert sorted(set(actions) - reads) == list(permissions.NODE_ACTIONS)
    assert reads <= set(actions)


def test_reading_and_changing_interfaces_are_kept_apart() -> None:
    assert {action.startswith("ec2:Describe") for action in permissions.INTERFACE_DESCRIBE} == {True}
    assert {action.startswith("ec2:Describe") for action in permissions.INTERFACE_CHANGE} == {False}
