"""The computed policy against what a deploy, an update and a destroy of the Slurm cluster exercise, type by type.

The emulated account makes most resources in its own memory, where IAM sees no call. So its journal has, for everything
that was really created, updated or deleted, what the registry's handler of that operation may call on AWS. Nothing of
that may be missing in the policy but what the templates cannot need, and nothing may be in the policy without a reason.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import pytest
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from tests.proof.emulator.aws import REGION, ROOT, Aws

APP = Path(__file__).parent / "emulator" / "app.py"
NAME = "Day"
WITHOUT_HANDLERS = "AWS::FSx::FileSystem"
"""The only type of the stacks of which the registry has no handlers."""

NOT_NEEDED: Final = {
    ("AWS::EC2::FlowLog", "s3:*BucketPolicy"): "the flow log goes to CloudWatch Logs and not to a bucket",
    ("AWS::EC2::VPCEndpoint", "vpc-lattice:*"): "the endpoint leads to S3 and not to a service network",
    ("AWS::EC2::VPCEndpoint", "vpce:AllowMultiRegion"): "the endpoint leads to S3 of the same Region",
    ("AWS::IAM::Policy", "iam:*GroupPolicy"): "policies belong to roles, and there are no IAM groups",
    ("AWS::IAM::Policy", "iam:*UserPolicy"): "policies belong to roles, and there are no IAM users",
    ("AWS::Logs::LogGroup", "firehose:TagDeliveryStream"): "no log group has a data protection policy",
    ("AWS::Logs::LogGroup", "s3:REST.PUT.OBJECT"): "that is no action of IAM",
    ("AWS::SageMaker::Cluster", "ec2:*"): "no group has an image of its own",
    ("AWS::SageMaker::Cluster", "eks:*"): "the cluster is on Slurm",
    ("AWS::SageMaker::Cluster", "kms:*"): "no volume is encrypted with a key of the user's",
}
"""What handlers that ran may call and the policy leaves out, by type and pattern, with the reason."""

SURPLUS: Final = {
    "read": "CloudFormation reads a resource for drift detection, and where a template asks for an attribute",
    "list": "CloudFormation lists resources for an import",
    "update": "the next deploy may change, tag or untag what this one did not",
    "delete": "what holds data and its network outlive a destroy, but a create that fails is deleted again",
    "file system": "the registry has no handlers of file systems, so the policy has all that FSx's console role has",
}
"""Why the policy allows what was not exercised."""

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aws]:
    """An account in which the cluster was deployed, given a node more, and destroyed."""
    account = Aws(tmp_path_factory.mktemp("aws"))
    account.start()
    try:
        for command in (("deploy", "--all", "--require-approval", "never"), ("destroy", "--all", "--force")):
            for count in (4, 5) if command[0] == "deploy" else (5,):
                settings = {"names": [NAME], "groups": {"p5": {"count": count}}}
                account.cdk(*command, app=APP, settings={"SCENARIO": json.dumps(settings)})
        yield account
    finally:
        account.stop()


@pytest.fixture(scope="module")
def events(aws: Aws) -> list[Mapping[str, Any]]:
    """What was done to the resources of the cluster's stacks."""
    made = {each["physical_id"] for each in aws.events() if each["stack"].startswith(NAME)}
    return [each for each in aws.events() if each["physical_id"] in made]


@pytest.fixture(scope="module")
def allowed(aws: Aws) -> set[str]:
    """Actions of the policy that the command computes for the stacks."""
    command = [sys.executable, "-m", "hyperpod_constructs.cli", "policy", "cdk.out", "--format", "json"]
    environment = {**aws.environment, "PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=aws.folder, env=environment, capture_output=True, check=True, timeout=60)
    statements = [each for one in json.loads(done.stdout)["documents"] for each in one["document"]["Statement"]]
    actions = [each["Action"] for each in statements]
    return {action for each in actions for action in (each if isinstance(each, list) else [each])}


def exercised(events: list[Mapping[str, Any]]) -> dict[str, set[str]]:
    """Actions by type of the resources for which they were needed."""
    found: dict[str, set[str]] = {}
    for each in events:
        found.setdefault(each["type"], set()).update(each["permissions"])
    return found


def test_the_scenario_creates_every_type_of_the_templates_updates_and_deletes(
    aws: Aws, events: list[Mapping[str, Any]]
) -> None:
    templates = [json.loads(file.read_text()) for file in (aws.folder / "cdk.out").glob("*.template.json")]
    declared = {each["Type"] for template in templates for each in template["Resources"].values()}
    assert {each["type"] for each in events if each["operation"] == "create"} == declared
    assert "AWS::SageMaker::Cluster" in {each["type"] for each in events if each["operation"] == "update"}
    assert {"AWS::SageMaker::Cluster", "AWS::IAM::Role", "AWS::EC2::NatGateway"} <= {
        each["type"] for each in events if each["operation"] == "delete"
    }
    assert {name for name, actions in exercised(events).items() if not actions} <= {"AWS::CDK::Metadata"}


def test_everything_that_was_exercised_is_allowed_but_what_the_templates_cannot_need(
    events: list[Mapping[str, Any]], allowed: set[str]
) -> None:
    missing = {(kind, action) for kind, actions in exercised(events).items() for action in actions - allowed}
    reasons = {
        one: [pair for pair in NOT_NEEDED if pair[0] == one[0] and fnmatchcase(one[1], pair[1])] for one in missing
    }
    assert {one: found for one, found in reasons.items() if len(found) != 1} == {}
    assert NOT_NEEDED.keys() - {found[0] for found in reasons.values()} == set(), "reasons that nothing needs"


def test_everything_that_is_allowed_and_was_not_exercised_has_a_reason(
    events: list[Mapping[str, Any]], allowed: set[str]
) -> None:
    handlers = {kind: _handlers(kind) for kind in exercised(events) if kind.startswith("AWS::")}
    surplus = allowed - set[str]().union(*exercised(events).values())
    reasons = {action: _reasons(action, handlers) for action in surplus}
    assert {action for action, found in reasons.items() if not found} == set()
    assert {one for found in reasons.values() for one in found} == SURPLUS.keys()


def _reasons(action: str, handlers: Mapping[str, Mapping[str, set[str]]]) -> set[str]:
    """Which of `SURPLUS` explain an action."""
    found = {name for of_type in handlers.values() for name, actions in of_type.items() if action in actions}
    return found or ({"file system"} if action in OF_FILE_SYSTEMS else set())


OF_FILE_SYSTEMS: Final = {
    "ec2:GetSecurityGroupsForVpc",
    "fsx:DescribeFileSystems",
    "fsx:ListTagsForResource",
    "fsx:DeleteFileSystem",
    "fsx:TagResource",
    "fsx:UntagResource",
    "fsx:UpdateFileSystem",
    "logs:CreateLogStream",
    "logs:PutLogEvents",
}


def _handlers(kind: str) -> dict[str, set[str]]:
    """What the registry's handlers of a type may call, by operation."""
    if kind in {WITHOUT_HANDLERS, "AWS::CDK::Metadata"}:
        return {}
    schema: dict[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema(REGION, kind).schema
    return {
        name: {f"{each.partition(':')[0].lower()}:{each.partition(':')[2]}" for each in handler.get("permissions", ())}
        for name, handler in schema["handlers"].items()
    }
