from __future__ import annotations

from hyperpod_constructs.account import permissions
from hyperpod_constructs.planning.permissions import reading
from hyperpod_constructs.planning.permissions.documents import LIMIT
from tests.planning.permissions.evaluator import allows


def test_every_read_of_the_preflight_is_allowed_and_nothing_else() -> None:
    documents = reading.policy(permissions.of_preflight())
    allowed = [action for each in documents for statement in each.statements for action in statement.actions]
    listed = {permission for reader in permissions.readers() for permission in reader.READS.values()}
    assert sorted(allowed) == sorted(listed - {"sagemaker:ListTrainingPlans"})
    assert all(each.characters <= LIMIT for each in documents)


def test_nothing_that_changes_anything_is_allowed() -> None:
    names = [permission.partition(":")[2] for permission in permissions.of_preflight()]
    assert [
        name for name in names if not name.startswith(("Describe", "Filter", "Get", "List", "Search", "View"))
    ] == []


def test_each_service_has_one_statement_in_a_fixed_order() -> None:
    (document,) = reading.policy(["fsx:DescribeFileSystems", "ec2:DescribeVpcs", "ec2:DescribeSubnets"])
    assert [(each.sid, each.actions) for each in document.statements] == [
        ("ReadEc2", ("ec2:DescribeSubnets", "ec2:DescribeVpcs")),
        ("ReadFsx", ("fsx:DescribeFileSystems",)),
    ]


def test_of_parameters_only_the_version_of_the_bootstrap_can_be_read() -> None:
    documents = reading.policy(permissions.of_preflight())
    assert allows(documents, "ssm:GetParameter", "arn:aws:ssm:us-west-2:1:parameter/cdk-bootstrap/acme/version")
    assert not allows(documents, "ssm:GetParameter", "arn:aws:ssm:us-west-2:1:parameter/prod/password")
