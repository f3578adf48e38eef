"""Whether names that a deployment fixes are free: a create that finds its name taken fails."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.account.gateway.names import Buckets, Roles
from hyperpod_constructs.account.preflight.context import Context
from hyperpod_constructs.account.preflight.registry import Said, check, finding, rule
from hyperpod_constructs.account.preflight.runner import NOT_ALLOWED
from hyperpod_constructs.cloudformation.stack import Resource
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.rules import Rule

SERVICE_ROLE = "AWSServiceRoleForSageMakerHyperPod"

CLUSTER_TAKEN = rule(
    "HP9130",
    Severity.ERROR,
    title="Another cluster of the account has the name of the cluster",
    because="names of clusters are unique in an account and Region: CreateCluster answers ResourceInUse",
    source="SageMaker API, CreateCluster",
)
BUCKET_TAKEN = rule(
    "HP9131",
    Severity.ERROR,
    title="Bucket name is taken",
    because="all accounts share the names of buckets; one that an earlier stack left stands in the way too",
    source="S3 user guide, bucketnamingrules",
)
ROLE_TAKEN = rule(
    "HP9132",
    Severity.ERROR,
    title="Role name is taken",
    because="names of roles are unique in an account, over all Regions",
    source="IAM user guide, reference_iam-quotas",
)
MAYBE_OURS = rule(
    "HP9133",
    Severity.WARNING,
    title="Name is in use, perhaps by an earlier deployment of the same template",
    because="a create that finds its name taken fails, an update does not; a template alone and a nested stack do not "
    "say which stack they are",
    source="CloudFormation user guide, aws-properties-name",
)
NO_SERVICE_ROLE = rule(
    "HP9150",
    Severity.INFO,
    title="Service-linked role of HyperPod is not there yet",
    because="the first CreateCluster makes it, if whoever deploys may call iam:CreateServiceLinkedRole, which many "
    "organisations deny",
    source="SageMaker developer guide, using-service-linked-roles (hyperpod)",
)


@check("cluster names")
def cluster_names_are_free(context: Context) -> Iterator[Said]:
    makers = {each.path: each for each in context.resources if each.type == "AWS::SageMaker::Cluster"}
    for cluster in context.clusters:
        live = context.own().get(cluster.path)
        maker = makers.get(cluster.path)
        if live is None or (maker and context.made(maker) in {live.name, live.arn}):
            continue
        what = f"cluster {live.name} ({live.status}) is in {context.region} already"
        fix = "use another name, or delete that cluster once nobody needs it"
        # A request to the API never updates a cluster; a template may.
        yield _taken(CLUSTER_TAKEN, maker, what, fix) if maker else finding(CLUSTER_TAKEN, cluster.path, what, fix)


@check("bucket names")
def bucket_names_are_free(context: Context) -> Iterator[Said]:
    for each, name in _named(context, "AWS::S3::Bucket", "BucketName"):
        who = context.open(Buckets).taken(name)
        if who == "ours":
            fix = "use another name, or import the bucket"
            yield _taken(BUCKET_TAKEN, each, f"bucket {name} is there already", fix)
        elif who == "others":
            yield finding(
                NOT_ALLOWED,
                each.path,
                f"s3:ListBucket is not allowed for bucket {name}: it is there, and whether it belongs to somebody else "
                "was not seen",
                "use another name, unless it is yours: a stack that did not make it cannot create it",
            )


@check("role names")
def role_names_are_free(context: Context) -> Iterator[Said]:
    for each, name in _named(context, "AWS::IAM::Role", "RoleName"):
        if context.open(Roles).exists(name):
            yield _taken(ROLE_TAKEN, each, f"role {name} is there already", "leave RoleName out, or use another name")


def _taken(rule: Rule, resource: Resource, what: str, fix: str) -> Said:
    """A name that is in use; certainly by somebody else only where the stack of the resource is known by name."""
    if resource.stack.name is None:
        message = f"{what}; whether an earlier deployment of this template made it is not known"
        return finding(MAYBE_OURS, resource.path, message, f"nothing, if it did; else {fix}")
    return finding(rule, resource.path, f"{what}, and stack {resource.stack.name} did not make it", fix)


@check("service-linked role")
def service_role_is_there(context: Context) -> Iterator[Said]:
    if context.clusters and not context.open(Roles).exists(SERVICE_ROLE):
        yield finding(
            NO_SERVICE_ROLE,
            context.clusters[0].path,
            f"account {context.account} has no role {SERVICE_ROLE}",
            "allow iam:CreateServiceLinkedRole, or make it once: aws iam create-service-linked-role "
            "--aws-service-name hyperpod.sagemaker.amazonaws.com",
        )


def _named(context: Context, kind: str, key: str) -> Iterator[tuple[Resource, str]]:
    """Resources of a kind with a fixed name, without those that their stack has made already."""
    for each in context.resources:
        name = each.properties.get(key) if each.type == kind and isinstance(each.properties, dict) else None
        if isinstance(name, str) and not each.conditional and context.made(each) is None:
            yield each, name
