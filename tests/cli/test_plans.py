from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from hyperpod_constructs.account import gateway
from hyperpod_constructs.cli import plans
from tests.account.conftest import Account, freeze, plan
from tests.cli.conftest import Run

LINE = (
    'hp.TrainingPlan("frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14", '
    'instance_type="ml.p5.48xlarge")'
)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """The account that the command opens."""
    account = Account()
    monkeypatch.setattr(gateway, "sign_in", lambda **_: account)
    freeze(monkeypatch, plans)
    yield account
    account.assert_everything_was_asked_for()


def has(account: Account, *listed: dict[str, Any]) -> None:
    """The plans of the account."""
    account.answers("sagemaker", "list_training_plans", {"TrainingPlanSummaries": listed})


def test_prints_the_line_of_each_plan_that_can_be_used_and_the_reason_of_each_other(run: Run, account: Account) -> None:
    ended = datetime(2026, 10, 1, 11, 30, tzinfo=UTC)
    has(
        account,
        plan("old", "Expired", EndTime=ended),
        plan("frontier"),
        plan("train-jobs", TargetResources=["training-job"]),
    )
    account.answers("sagemaker", "describe_training_plan", plan("frontier", UnhealthyInstanceCount=1))
    result = run("plans", "list")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "training plans in us-west-2 that a cluster can use: 1",
        "",
        "frontier: Active, 2026-12-07 11:30 UTC to 2027-02-14 11:30 UTC, 30 in use",
        f"    {LINE}",
        "  note: 1 of its instances are out of order",
        "",
        "that it cannot use: 2",
        "  old: it is expired since 2026-10-01 11:30 UTC; an expired plan cannot be extended",
        "  train-jobs: it was bought for training-job and not for hyperpod-cluster; that cannot be changed",
    ]


def test_as_json_has_the_documented_keys(run: Run, account: Account) -> None:
    has(account, plan("frontier"))
    account.answers("sagemaker", "describe_training_plan", plan("frontier"))
    assert run("plans", "list", "--format", "json").data == {
        "region": "us-west-2",
        "plans": [
            {
                "name": "frontier",
                "arn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier",
                "status": "Active",
                "targets": ["hyperpod-cluster"],
                "usable": True,
                "problem": None,
                "line": LINE,
                "notes": [],
                "instance_types": ["ml.p5.48xlarge"],
                "count": 32,
                "available": None,
                "in_use": 30,
                "unhealthy": None,
                "zones": ["usw2-az2"],
                "starts": "2026-12-07T11:30:00+00:00",
                "ends": "2027-02-14T11:30:00+00:00",
            }
        ],
        "denied": [],
    }


def test_of_an_account_without_plans_says_how_to_see_what_is_for_sale(run: Run, account: Account) -> None:
    has(account)
    result = run("plans", "list")
    assert result.code == 0
    assert "aws sagemaker search-training-plan-offerings --target-resources hyperpod-cluster --region us-west-2" in (
        " ".join(result.out.split())
    )


def test_without_the_details_prints_what_the_list_has_and_is_exit_2(run: Run, account: Account) -> None:
    has(account, plan("frontier"), plan("second"))
    account.refuses("sagemaker", "describe_training_plan")
    result = run("plans", "list")
    assert result.code == 2
    assert f"    {LINE}" in result.out.splitlines()
    assert result.err.startswith("hyperpod: note: no permission for sagemaker:DescribeTrainingPlan in us-west-2")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("AccessDeniedException", "hyperpod: no permission for sagemaker:ListTrainingPlans in us-west-2"),
        ("ExpiredTokenException", "hyperpod: the AWS credentials have expired"),
        ("ThrottlingException", "hyperpod: AWS throttles sagemaker:ListTrainingPlans in us-west-2"),
        (
            "UnrecognizedClientException",
            "hyperpod: AWS does not accept these credentials in us-west-2: they are wrong, or",
        ),
    ],
)
def test_that_cannot_be_listed_is_one_line_and_exit_2(run: Run, account: Account, code: str, expected: str) -> None:
    account.refuses("sagemaker", "list_training_plans", code)
    result = run("plans", "list")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert result.err.startswith(expected)
