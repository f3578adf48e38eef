"""One cluster with one group, and an account that answers what a test says: where preflight draws the line."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from hyperpod_constructs.account import preflight
from hyperpod_constructs.account.preflight import Check, Context, Outcome
from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.model import template
from tests.account.fake_account import ACCOUNT, REGION, FakeAccount, Refused
from tests.account.planted import NOW, P5, ROLE, ZONE

Properties: TypeAlias = dict[str, Any]
SUBNET, GROUP, VPC, TABLE = (f"{kind}-0123456789abcdef0" for kind in ("subnet", "sg", "vpc", "rtb"))
GUARD = "sg-0f0f0f0f0f0f0f0f0"
TRAIN = "Train/Train"


class Small:
    """One cluster with one group in an account that answers what a test says."""

    def __init__(self, account: FakeAccount, folder: Path) -> None:
        self.account, self.folder = account, folder
        self.group: Properties = {
            "InstanceGroupName": "p5",
            "InstanceType": P5,
            "InstanceCount": 4,
            "ExecutionRole": ROLE,
            "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/x", "OnCreate": "on_create.sh"},
        }
        self.cluster: Properties = {
            "ClusterName": "train",
            "NodeProvisioningMode": "Continuous",
            "Orchestrator": {"Slurm": {}},
            "VpcConfig": {"SecurityGroupIds": [GROUP], "Subnets": [SUBNET]},
            "InstanceGroups": [self.group],
        }
        self.resources: dict[str, Any] = {"Train": {"Type": "AWS::SageMaker::Cluster", "Properties": self.cluster}}
        self.template: Properties = {"Resources": self.resources}
        self.subnet: Properties = {
            "SubnetId": SUBNET,
            "VpcId": VPC,
            "OwnerId": ACCOUNT,
            "AvailabilityZoneId": ZONE,
            "CidrBlock": "10.1.0.0/24",
            "AvailableIpAddressCount": 251,
        }
        self.rules: list[Properties] = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": GROUP}]}]
        self.live: list[Properties] = []
        self.has(
            DescribeSubnets={"Subnets": [self.subnet]},
            ListClusters=lambda _: {
                "ClusterSummaries": [
                    {"ClusterArn": f"arn:{each['ClusterName']}", "CreationTime": NOW, "ClusterStatus": "InService"}
                    | {"ClusterName": each["ClusterName"]}
                    for each in self.live
                ]
            },
            DescribeCluster=lambda asked: next(e for e in self.live if e["ClusterName"] == asked["ClusterName"]),
            ListStackResources=lambda _: refuse("ValidationError", "Stack with id Train does not exist"),
            DescribeVpcs={"Vpcs": [{"VpcId": VPC, "DhcpOptionsId": "dopt-1"}]},
            DescribeVpcAttribute={"EnableDnsSupport": {"Value": True}, "EnableDnsHostnames": {"Value": True}},
            DescribeVpcEndpoints={"VpcEndpoints": []},
            DescribeSecurityGroups=lambda _: {
                "SecurityGroups": [
                    {
                        "GroupId": GROUP,
                        "VpcId": VPC,
                        "OwnerId": ACCOUNT,
                        "IpPermissions": self.rules,
                        "IpPermissionsEgress": self.rules,
                    }
                ]
            },
        )

    def has(self, **answers: Mapping[str, Any] | Callable[[Mapping[str, Any]], Any]) -> None:
        """Answers of the account by operation."""
        for name, answer in answers.items():
            self.account.answers[name] = answer if callable(answer) else partial(_given, answer)

    def runs(self, name: str, count: int, kind: str = P5, **fields: Any) -> None:
        """A cluster with one group runs in the account."""
        group = {"InstanceGroupName": "p5", "InstanceType": kind, "CurrentCount": count, "TargetCount": count}
        arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:cluster/{name}"
        state = {"ClusterName": name, "ClusterArn": arn, "ClusterStatus": "InService"}
        self.live.append({**state, "InstanceGroups": [{**group, **fields}]})

    def on_plan(self, **fields: Any) -> Properties:
        """The group is on a training plan, which a test may change."""
        arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan/frontier-of-the-lab"
        self.group["TrainingPlanArn"] = arn
        plan: Properties = {
            "TrainingPlanArn": arn,
            "TrainingPlanName": "frontier-of-the-lab",
            "Status": "Active",
            "TotalInstanceCount": 4,
            "AvailableInstanceCount": 4,
            "InUseInstanceCount": 0,
            "ReservedCapacitySummaries": [
                {
                    "ReservedCapacityArn": f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:reserved-capacity/x",
                    "InstanceType": P5,
                    "TotalInstanceCount": 4,
                    "Status": "Active",
                    "AvailabilityZoneId": ZONE,
                }
            ],
            **fields,
        }
        self.has(DescribeTrainingPlan=lambda _: plan)
        return plan

    def look(self, check: str) -> Outcome:
        """What one check says."""
        self.folder.mkdir(exist_ok=True)
        (self.folder / "Train.template.json").write_text(json.dumps(self.template))
        artifact = {
            "type": "aws:cloudformation:stack",
            "environment": f"aws://{ACCOUNT}/{REGION}",
            "properties": {"templateFile": "Train.template.json", "stackName": "Train"},
            "displayName": "Train",
        }
        (self.folder / "manifest.json").write_text(json.dumps({"version": "50.0.0", "artifacts": {"Train": artifact}}))
        return preflight_of(self.folder, [each for each in preflight.CHECKS if each.name == check])

    def said(self, check: str) -> list[str]:
        """What one check says, as `rule path: message | fix`."""
        return [f"{each.rule} {each.path}: {each.message} | {each.fix}" for each in self.look(check).findings]


def _given(answer: Mapping[str, Any], _: Mapping[str, Any]) -> Mapping[str, Any]:
    return answer


def refuse(code: str, message: str = "") -> Any:
    """Refuses a call, inside an answer."""
    raise Refused(code, message)


def preflight_of(folder: Path, checks: Sequence[Check] = preflight.CHECKS, now: datetime = NOW) -> Outcome:
    """What preflight says of a `cdk.out` in the fake account."""
    read = assembly.read(folder)
    context = Context(
        session=FakeAccount.session(),
        region=REGION,
        account=ACCOUNT,
        deployment=template.decode(read),
        assembly=read,
        now=now,
    )
    return preflight.run(context, checks, say=lambda _: None)
