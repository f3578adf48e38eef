"""What becomes of resources that hold data, or on which something runs, when they go or are replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hyperpod_constructs.catalog import updates
from hyperpod_constructs.cloudformation.stack import Resource
from hyperpod_constructs.cloudformation.values import Value
from hyperpod_constructs.model import roster
from hyperpod_constructs.review.comparison import Comparison, Pair
from hyperpod_constructs.review.impacts import Effect, Impact
from hyperpod_constructs.review.wording import whole

HOLDS: Final[Mapping[str, str]] = {
    "AWS::APS::Workspace": "the metrics in it",
    "AWS::Backup::BackupVault": "the recovery points in it",
    "AWS::Backup::LogicallyAirGappedBackupVault": "the recovery points in it",
    "AWS::Cassandra::Keyspace": "the tables in it",
    "AWS::Cassandra::Table": "the rows in it",
    "AWS::CloudTrail::EventDataStore": "the events in it",
    "AWS::CodeArtifact::Domain": "the packages in it",
    "AWS::CodeArtifact::Repository": "the packages in it",
    "AWS::CodeCommit::Repository": "the source code in it",
    "AWS::Cognito::UserPool": "the users in it",
    "AWS::DirectoryService::MicrosoftAD": "the users and groups in it",
    "AWS::DirectoryService::SimpleAD": "the users and groups in it",
    "AWS::DocDB::DBCluster": "the database",
    "AWS::DocDBElastic::Cluster": "the database",
    "AWS::DynamoDB::GlobalTable": "the items in it",
    "AWS::DynamoDB::Table": "the items in it",
    "AWS::EC2::Volume": "the files on it",
    "AWS::ECR::PublicRepository": "the images in it",
    "AWS::ECR::Repository": "the images in it",
    "AWS::EFS::FileSystem": "the files on it",
    "AWS::ElastiCache::CacheCluster": "the data in it",
    "AWS::ElastiCache::ReplicationGroup": "the data in it",
    "AWS::ElastiCache::ServerlessCache": "the data in it",
    "AWS::Elasticsearch::Domain": "the indexes in it",
    "AWS::FSx::FileSystem": "the files on it",
    "AWS::FSx::Snapshot": "the state that it keeps",
    "AWS::FSx::StorageVirtualMachine": "the volumes in it",
    "AWS::FSx::Volume": "the files on it",
    "AWS::Grafana::Workspace": "the dashboards in it",
    "AWS::KMS::Key": "the only way to read what it encrypts",
    "AWS::Kinesis::Stream": "the records in it",
    "AWS::Lightsail::Bucket": "the objects in it",
    "AWS::Lightsail::Database": "the database",
    "AWS::Lightsail::Disk": "the files on it",
    "AWS::Lightsail::Instance": "the files on it",
    "AWS::Logs::LogGroup": "the logs in it",
    "AWS::MSK::Cluster": "the messages in it",
    "AWS::MemoryDB::Cluster": "the data in it",
    "AWS::Neptune::DBCluster": "the database",
    "AWS::NeptuneGraph::Graph": "the graph in it",
    "AWS::OpenSearchServerless::Collection": "the indexes in it",
    "AWS::OpenSearchService::Domain": "the indexes in it",
    "AWS::QLDB::Ledger": "the entries in it",
    "AWS::RDS::DBCluster": "the database",
    "AWS::RDS::DBInstance": "the database",
    "AWS::Redshift::Cluster": "the database",
    "AWS::RedshiftServerless::Namespace": "the database",
    "AWS::Route53::HostedZone": "the records in it",
    "AWS::S3::Bucket": "the objects in it",
    "AWS::S3Express::DirectoryBucket": "the objects in it",
    "AWS::S3Tables::Table": "the rows in it",
    "AWS::S3Tables::TableBucket": "the tables in it",
    "AWS::S3Vectors::Index": "the vectors in it",
    "AWS::S3Vectors::VectorBucket": "the vectors in it",
    "AWS::SDB::Domain": "the items in it",
    "AWS::SQS::Queue": "the messages in it",
    "AWS::SSM::Parameter": "its value",
    "AWS::SageMaker::FeatureGroup": "the features in it",
    "AWS::SageMaker::MlflowApp": "the runs and models in it",
    "AWS::SageMaker::MlflowTrackingServer": "the runs and models in it",
    "AWS::SageMaker::ModelPackageGroup": "the models in it",
    "AWS::SecretsManager::Secret": "the secret",
    "AWS::Timestream::Database": "the tables in it",
    "AWS::Timestream::InfluxDBCluster": "the database",
    "AWS::Timestream::InfluxDBInstance": "the database",
    "AWS::Timestream::Table": "the rows in it",
}
"""What is lost with a resource of each type that holds data."""

_RUNS: Final = (
    "AWS::EC2::",
    "AWS::EFS::",
    "AWS::EKS::",
    "AWS::FSx::",
    "AWS::Lambda::Function",
    "AWS::RDS::",
    "AWS::SageMaker::",
)
"""Beginnings of types on which something else runs: without them it stops."""
_DOES_NOT: Final = ("AWS::EC2::SecurityGroupEgress", "AWS::EC2::SecurityGroupIngress", "AWS::EC2::FlowLog")
_CUT: Final = (
    "what only this rule lets through is cut, on running nodes too; EFA needs those to and from the group itself"
)
_MEANS: Final[Mapping[str, tuple[str, str]]] = {
    "AWS::Budgets::Budget": ("nobody gets its notices any more", "look which other budget covers this account"),
    "AWS::EC2::SecurityGroupEgress": (_CUT, "look whether running nodes need it"),
    "AWS::EC2::SecurityGroupIngress": (_CUT, "look whether running nodes need it"),
    "AWS::EKS::Addon": ("the add-on goes with its pods", "look which others, and which jobs, need it"),
    "AWS::SageMaker::ClusterSchedulerConfig": (
        "the priorities and the sharing of idle nodes go",
        "let waiting tasks start first, or keep it",
    ),
    "AWS::SageMaker::ComputeQuota": (
        "the team has no quota any more; what becomes of its running tasks is not documented",
        "let them end first",
    ),
}
"""What it means that a resource of a type goes, and what to do about it."""
STAYS: Final = ("Retain", "RetainExceptOnCreate")
"""Policies that keep a resource as it is."""
KEPT: Final = (*STAYS, "Snapshot")
"""Policies that keep the data of a resource."""
_KEEP: Final = (
    "if this is not meant, keep the logical id (CDK: override_logical_id on the L1) and the stack; if it is, copy what "
    "is needed first"
)
_LOOK: Final = "look what is in it, and whether something needs it, before the deploy"
_CUSTOM: Final = ("AWS::CloudFormation::CustomResource", "Custom::")
_RETAIN: Final = "write DeletionPolicy and UpdateReplacePolicy: Retain"


def removed(comparison: Comparison, pair: Pair) -> Effect:
    """What a resource that the head does not have any more leaves behind."""
    resource = pair.either
    name = resource.stack.name
    out = f"taken out of {f'stack {name}' if name else 'the stack'}"
    if _is_turned_off(comparison, pair):
        out = "left out by its condition"
    if is_roster(resource):
        return Effect(Impact.REMOVED, f"nodes that run keep the counts, users and teams they know: {out}", "")
    if resource.type in HOLDS:
        return _parted(resource, on_delete(resource), out + _made_again(comparison, pair))
    if resource.deletion_policy in STAYS:
        reason = f"{out}, and kept in the account by its DeletionPolicy"
        return Effect(Impact.STAYS, reason, "delete it by hand when nothing needs it: it may cost money")
    if unknown := _unknown(resource):
        return Effect(Impact.OPEN, f"{out}: {unknown}", _LOOK)
    runs = resource.type.startswith(_RUNS) and not resource.type.startswith(_DOES_NOT)
    means, action = _MEANS.get(resource.type, ("", ""))
    if resource.type.endswith("Association") or not runs:
        return Effect(Impact.REMOVED, f"{means}: {out}" if means else out, action)
    return Effect(Impact.DESTROYED, f"{means or 'deleted'}: {out}", action or "make sure that nothing uses it any more")


def is_roster(resource: Resource) -> bool:
    """Whether a parameter does no more than say where a roster of ours lies: its value is made again by any deploy."""
    properties = resource.properties if isinstance(resource.properties, dict) else {}
    return resource.type == "AWS::SSM::Parameter" and whole(properties.get("Value")).endswith(f"/{roster.FILE}")


def _unknown(resource: Resource) -> str:
    """Why nobody can tell what goes with a resource; empty where somebody can."""
    if resource.type == "AWS::CloudFormation::Stack" and resource.logical_id not in resource.stack.nested:
        return "the template of the nested stack is not at hand, and everything in it is deleted"
    custom = resource.type.startswith(_CUSTOM)  # its function decides, and mostly writes something elsewhere
    if not custom and updates.of(resource.type, "") is None:
        return "the type is not in CloudFormation's registry as this version has it: what goes with it is not known"
    return ""


def _is_turned_off(comparison: Comparison, pair: Pair) -> bool:
    """Whether a resource that goes is still in the template."""
    stack = comparison.sides[1].get(pair.stack)
    return stack is not None and pair.logical_id in stack.document.body["Resources"]


def on_delete(resource: Resource) -> Value:
    """The deletion policy of a resource, or that which its type has where the template says none."""
    if resource.deletion_policy is not None:
        return resource.deletion_policy
    alone = isinstance(resource.properties, dict) and "DBClusterIdentifier" not in resource.properties
    by_type = resource.type == "AWS::RDS::DBCluster" or (resource.type == "AWS::RDS::DBInstance" and alone)
    return "Snapshot" if by_type else None


def replaced(resource: Resource, why: str) -> Effect | None:
    """What the replacement of a resource does to its data; `None` for a type that holds none."""
    if resource.type not in HOLDS:
        return None
    return _parted(resource, resource.update_replace_policy, why, "replaced by an empty one, and the old one ")


def _parted(resource: Resource, policy: object, why: str, what: str = "") -> Effect:
    """What a policy makes of a resource with data that its stack lets go of."""
    holds = HOLDS[resource.type]
    recipe = "new-file-system" if resource.type == "AWS::FSx::FileSystem" else None
    if policy in STAYS:
        reason = f"{what}leaves the stack with {holds}, kept and paid for: {why}"
        return Effect(Impact.LEFT_BEHIND, reason, _KEEP, recipe)
    if policy == "Snapshot":
        return Effect(
            Impact.LEFT_BEHIND, f"{what}deleted with {holds}, of which a snapshot is kept: {why}", _KEEP, recipe
        )
    if policy in (None, "Delete") and resource.type == "AWS::S3::Bucket":
        reason = f"{what}deleted if it is empty or something empties it, else left behind with {holds}: {why}"
        return Effect(Impact.DATA_LOST, reason, f"{_RETAIN}; {_KEEP}")
    if policy is None or policy == "Delete":
        return Effect(Impact.DATA_LOST, f"{what}deleted with {holds}: {why}", f"{_RETAIN}; {_KEEP}", recipe)
    reason = f"{what}deleted with {holds} or kept, which is decided at deploy: {why}"
    return Effect(Impact.DATA_LOST, reason, f"{_RETAIN}; {_KEEP}", recipe)


def _made_again(comparison: Comparison, pair: Pair) -> str:
    """That the same is made under another logical id, which CloudFormation does not know for the same."""
    resource = pair.either
    new = [each for each in comparison.pairs if each.before is None and each.after is not None]
    like = [each for each in new if _is_like(comparison, resource, each.either)]
    if len(like) != 1:
        return ""
    return f", and a new empty one is made as {like[0].logical_id}: CloudFormation knows it by its logical id"


def _is_like(comparison: Comparison, before: Resource, after: Resource) -> bool:
    """Whether two resources look like one under two names: the same name in the tree of constructs, or properties."""
    if before.type != after.type:
        return False
    if before.path.rpartition("/")[2] == after.path.rpartition("/")[2]:
        return True
    ours, theirs = _without_tags(before), _without_tags(after)
    return ours is not None and comparison.base_value(ours) == comparison.head_value(theirs)


def _without_tags(resource: Resource) -> dict[str, Value] | None:
    """The properties but for tags, in which the CDK writes the path."""
    if not isinstance(resource.properties, dict):
        return None
    return {key: value for key, value in resource.properties.items() if key != "Tags"}
