"""What cdk-nag's AwsSolutions pack says about our own resources although it is meant, each with its reason.

Blueprints speak for what they make. Constructs do not: they would speak for the user's stack.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, cast

import aws_cdk as cdk
from constructs import IConstruct

from hyperpod_constructs.catalog.permissions import NODE_POLICY
from hyperpod_constructs.cdk.accounting import AccountingDatabase
from hyperpod_constructs.cdk.addons import ClusterAddons
from hyperpod_constructs.cdk.chart import InstalledChart
from hyperpod_constructs.cdk.cluster import Cluster
from hyperpod_constructs.cdk.control_plane import EksControlPlane
from hyperpod_constructs.tokens import is_token

_MANAGED: Final = "arn:<AWS::Partition>:iam::aws:policy"
_PUBLIC_IMAGES: Final = "AmazonElasticContainerRegistryPublicReadOnly"
_OF_FUNCTIONS: Final = (
    "service-role/AWSLambdaBasicExecutionRole",
    "service-role/AWSLambdaVPCAccessExecutionRole",
    "AmazonEC2ContainerRegistryReadOnly",
)
_PODS: Final = "The VPC CNI gives pods addresses on interfaces of nodes, whose ids exist when nodes do."


def acknowledge_nag(cluster: Cluster) -> None:
    """Acknowledges what the roles of nodes need, and nothing that the user may add to them."""
    stack = cdk.Stack.of(cluster)
    region = stack.region
    region = "<AWS::Region>" if is_token(region) else region
    reasons = {
        f"IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{NODE_POLICY}]": (
            "SageMaker documents this policy as what nodes need: logs, metrics, sessions, and reading buckets whose "
            "names begin with sagemaker-."
        ),
        "IAM5[Resource::*]": (
            "Describe actions know no resources, and SageMaker documents * for the interfaces that it makes and "
            "detaches with this role; they are bound to the Region."
        ),
        f"IAM5[Resource::arn:<AWS::Partition>:ec2:{region}:*:network-interface/*]": (
            "Interfaces get their ids when nodes come; a shared subnet's belong to another account."
        ),
    }
    for place, prefix in cluster.scripts.places:
        bucket = _as_nag_writes(stack, place)
        if bucket is None or is_token(prefix):
            continue  # cdk-nag's id would hold a name that is made at deploy; the user's report will ask for a reason
        where = f"arn:<AWS::Partition>:s3:::{bucket}/{prefix}/*" if prefix else f"arn:<AWS::Partition>:s3:::{bucket}/*"
        reasons[f"IAM5[Resource::{where}]"] = (
            "Every version of the cluster's scripts: with one version alone, an edit would take the scripts away from "
            "nodes that are replaced meanwhile."
        )
    if cluster.control_plane is not None:
        reasons |= {
            f"IAM5[Resource::arn:<AWS::Partition>:ec2:{region}:*:instance/*]": _PODS,
            "IAM5[Resource::arn:<AWS::Partition>:ecr:*:*:repository/*]": (
                "Images of the dependency chart and of add-ons lie in registries of AWS's own accounts, by Region."
            ),
        }
    _acknowledge(cluster.roles, reasons)
    if cluster.cluster_role is not None:
        every = f"arn:<AWS::Partition>:sagemaker:{region}:{_account(stack)}:cluster/*"
        _acknowledge(
            cluster,
            {f"IAM5[Resource::{every}]": "The ARN of a cluster holds an id that the service makes, and no name."},
        )


def acknowledge_nag_of_eks(control_plane: EksControlPlane) -> None:
    """Acknowledges what the role of an EKS cluster needs."""
    _acknowledge(
        control_plane,
        {
            "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AmazonEKSClusterPolicy]": (
                "The EKS user guide names this policy for the role of every cluster."
            )
        },
    )
    if control_plane.chart:
        _acknowledge(control_plane.chart, _of_chart(control_plane.chart))


def _of_chart(chart: InstalledChart) -> dict[str, str]:
    """What the CDK's own functions for kubectl and Helm are: nothing of them is ours to change."""
    stack = cdk.Stack.of(chart)
    handler = chart.provider.node.find_child("Handler")
    condition = stack.get_logical_id(cast("cdk.CfnElement", handler.node.find_child("HasEcrPublic")))
    function = stack.get_logical_id(cast("cdk.CfnElement", handler.node.default_child))
    public = {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":iam::aws:policy/{_PUBLIC_IMAGES}"]]}
    either = json.dumps({"Fn::If": [condition, public, {"Ref": "AWS::NoValue"}]}, separators=(",", ":"))
    bucket = _as_nag_writes(stack, chart.bucket)
    ids = [f"IAM4[Policy::{arn}]" for arn in (*(f"{_MANAGED}/{each}" for each in _OF_FUNCTIONS), either)]
    ids += [f"IAM5[Action::s3:{action}*]" for action in ("GetBucket", "GetObject", "List")]
    ids += [f"IAM5[Resource::arn:{each}:s3:::{bucket}/*]" for each in ("aws", "<AWS::Partition>")]
    ids += [f"IAM5[Resource::<{function}.Arn>:*]", "L1"]
    return dict.fromkeys(ids, "The CDK's own kubectl provider; hp.HelmChart.installed_elsewhere() goes without it.")


def acknowledge_nag_of_addons(addons: ClusterAddons) -> None:
    """Acknowledges the managed policies that the documents of add-ons name for their pods."""
    _acknowledge(
        addons,
        {
            f"IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{policy}]": (
                "The add-on's own documents name this policy for its service account."
            )
            for policy in addons.managed_policies
        },
    )


def acknowledge_nag_of_database(database: AccountingDatabase) -> None:
    """Acknowledges what an accounting database is on purpose."""
    reasons = {
        "RDS11": (
            "Only the security group of nodes reaches it, so that another port hides it from nobody; the port is what "
            "an operator expects in slurmdbd.conf."
        ),
        "SMG4": (
            "No page says whether HyperPod's slurmdbd reads a password again: a rotation could cut accounting off, and "
            "with limits that are enforced no job would start."
        ),
    }
    if not database.multi_az:
        reasons["RDS3"] = (
            "Slurm keeps records on the controller while its database is away, and backups are kept; "
            "hp.AccountingDatabase(multi_az=True) buys a second instance."
        )
    _acknowledge(database, reasons)


def _acknowledge(scope: IConstruct, reasons: Mapping[str, str]) -> None:
    cdk.Validations.of(scope).acknowledge(
        *(
            cdk.Acknowledgment(id=f"AwsSolutions::AwsSolutions-{rule}", reason=reason)
            for rule, reason in reasons.items()
        )
    )


def _account(stack: cdk.Stack) -> str:
    return "<AWS::AccountId>" if is_token(stack.account) else stack.account


def _as_nag_writes(stack: cdk.Stack, bucket: str) -> str | None:
    """A bucket's name as it stands in an id of cdk-nag: `<AWS::Region>` for the stack's own Region.

    `None` for a name that only the deploy gives.
    """
    resolved = stack.resolve(bucket) if is_token(bucket) else bucket
    written = resolved.get("Fn::Sub") if isinstance(resolved, dict) else resolved
    return re.sub(r"\$\{(AWS::\w+)\}", r"<\1>", written) if isinstance(written, str) else None
