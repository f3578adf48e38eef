"""Policies of the people who use a cluster: administrator, operator, researcher.

Each has a document for sessions on nodes and one for the rest. They allow and never deny, so that a person can have two
of them. What a persona may and may not do is stated, and tests hold the documents to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.planning.permissions.documents import Document, Statement, Test
from hyperpod_constructs.planning.permissions.names import Names, expand, mentions, values

CLUSTER: Final = "AWS::SageMaker::Cluster"
_BUCKET: Final = "AWS::S3::Bucket"

SESSIONS_ON_CLUSTERS: Final = (
    "UNVERIFIED: AWS documents no resource that names a HyperPod node in ssm:StartSession. These policies allow "
    "sessions on the ARN of the cluster, as ECS does with the ARN of the task; if AWS denies them, the resource has to "
    "be '*', which opens every EC2 instance with an SSM agent too."
)
NO_GROUPS: Final = (
    "No policy can tell one instance group from another: the group is in the target of a session, and IAM has no key "
    "for it. Who may log in to {groups} is decided on the nodes, by the users that exist there and by Run As of "
    "Session Manager."
)
LOGIN: Final = "Sessions of researchers are meant for {groups}; see `hyperpod ssh-config`."
DEPLOY: Final = (
    "deploy, through the roles of the CDK's bootstrap: with them an administrator can do whatever the role can that "
    "CloudFormation deploys with, and IAM is in it (`hyperpod policy PATH` narrows that role)"
)
NO_DATA: Final = (
    "No data bucket is in the templates (a bucket, or a link of a file system to S3), so the researcher reads none."
)

_SESSION: Final = ("ssm:ResumeSession", "ssm:TerminateSession")
_SHELL: Final = ("SSM-SessionManagerRunShell",)
_EVERY_SESSION: Final = (
    *_SHELL,
    "AWS-StartInteractiveCommand",
    "AWS-StartNonInteractiveCommand",
    "AWS-StartPortForwardingSession",
    "AWS-StartSSHSession",
)
"""Session documents. The first belongs to the account, the others to AWS."""
_LOOK: Final = (
    "sagemaker:DescribeCluster",
    "sagemaker:DescribeClusterNode",
    "sagemaker:ListClusterNodes",
    "sagemaker:ListClusters",
)
_LOOK_CLOSER: Final = (
    "cloudformation:DescribeStackEvents",
    "cloudformation:DescribeStacks",
    "cloudwatch:GetMetricData",
    "cloudwatch:ListMetrics",
    "fsx:DescribeDataRepositoryAssociations",
    "fsx:DescribeFileSystems",
    "sagemaker:DescribeClusterEvent",
    "sagemaker:DescribeTrainingPlan",
    "sagemaker:ListClusterEvents",
    "sagemaker:ListTrainingPlans",
)
_REPAIR: Final = ("sagemaker:BatchRebootClusterNodes", "sagemaker:BatchReplaceClusterNodes")
_CHANGE: Final = (
    *_REPAIR,
    "sagemaker:BatchAddClusterNodes",
    "sagemaker:BatchDeleteClusterNodes",
    "sagemaker:UpdateClusterSoftware",
)
_LOGS: Final = ("logs:DescribeLogStreams", "logs:FilterLogEvents", "logs:GetLogEvents")
_BOOTSTRAP: Final = re.compile(r"/cdk-bootstrap/([^/]+)/version")


@dataclass(frozen=True, slots=True, kw_only=True)
class Persona:
    """A kind of person and what they may do.

    Attributes:
        name: `administrator`, `operator` or `researcher`.
        documents: Policies to attach, all of them.
        may: What they may do, each a phrase that follows "may".
        may_not: What they may not do, each a phrase that follows "may not".
    """

    name: str
    documents: tuple[Document, ...]
    may: tuple[str, ...]
    may_not: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Personas:
    """Every persona of a deployment.

    Attributes:
        personas: Those with most rights first.
        notes: What no policy can do, and what is not certain.
    """

    personas: tuple[Persona, ...]
    notes: tuple[str, ...]


def of(assembly: Assembly) -> Personas:
    """Policies for the clusters of an assembly and for the data that they work on; none without a cluster."""
    names = Names(assembly)
    clusters = [each for each in assembly.resources() if each.type == CLUSTER]
    if not clusters:
        return Personas(personas=(), notes=())
    stacks = list({each.stack.id: each.stack for each in clusters}.values())
    data = tuple(sorted(set(_data(assembly, names))))
    personas = (
        _administrator(clusters, stacks, data),
        _operator(clusters, stacks),
        _researcher(clusters, stacks, data),
    )
    return Personas(personas=personas, notes=tuple(_notes(clusters, data)))


def _notes(clusters: list[Resource], data: tuple[str, ...]) -> Iterator[str]:
    yield SESSIONS_ON_CLUSTERS
    groups = [each for cluster in clusters for each in values(cluster.properties, "InstanceGroupName")]
    yield NO_GROUPS.format(groups=", ".join(each for each in groups if isinstance(each, str)) or "a group")
    logins = [name for cluster in clusters for name in _login_groups(cluster)]
    if logins:
        yield LOGIN.format(groups=f"group {', '.join(logins)}")
    if not data:
        yield NO_DATA


def _administrator(clusters: list[Resource], stacks: list[Stack], data: tuple[str, ...]) -> Persona:
    rest = (
        _everywhere("Look", (*_LOOK, *_LOOK_CLOSER), stacks, "what there is, and how it is"),
        _on("Nodes", _CHANGE, _arns(stacks, "arn:{p}:sagemaker:{r}:{a}:cluster/*"), "repairs and patches nodes"),
        _on("Logs", _LOGS, _log_groups(stacks), "logs of nodes"),
        _on("Deploy", ("sts:AssumeRole",), _bootstrap_roles(stacks), "`cdk deploy`, with the roles of the bootstrap"),
        *_kubernetes(clusters, stacks),
        *_read(data, stacks),
        *_write(data),
    )
    return Persona(
        name="administrator",
        documents=_documents("administrator", _sessions(stacks, _EVERY_SESSION), rest),
        may=(
            "open sessions, tunnels and single commands on nodes",
            "reboot, replace, add and remove nodes, and update their software",
            DEPLOY,
            *(("read and write the data",) if data else ()),
        ),
        may_not=(
            "create, change or delete the cluster except by a deploy",
            "pass roles or change IAM except by a deploy",
        ),
    )


def _operator(clusters: list[Resource], stacks: list[Stack]) -> Persona:
    rest = (
        _everywhere("Look", (*_LOOK, *_LOOK_CLOSER), stacks, "what there is, and how it is"),
        _on("Repair", _REPAIR, _arns(stacks, "arn:{p}:sagemaker:{r}:{a}:cluster/*"), "reboots and replaces nodes"),
        _on("Logs", _LOGS, _log_groups(stacks), "logs of nodes"),
        *_kubernetes(clusters, stacks),
    )
    return Persona(
        name="operator",
        documents=_documents("operator", _sessions(stacks, _EVERY_SESSION), rest),
        may=(
            "open sessions, tunnels and single commands on nodes",
            "reboot and replace nodes",
            "read logs, metrics, events and plans",
        ),
        may_not=(
            "add or remove nodes, update their software, or change the cluster",
            "deploy",
            "read or write the data in S3",
        ),
    )


def _researcher(clusters: list[Resource], stacks: list[Stack], data: tuple[str, ...]) -> Persona:
    rest = (
        _everywhere("Look", _LOOK, stacks, "the cluster and its nodes, which `hyperpod ssh-config` asks for"),
        *_kubernetes(clusters, stacks),
        *_read(data, stacks),
    )
    return Persona(
        name="researcher",
        documents=_documents("researcher", _sessions(stacks, (*_SHELL, "AWS-StartSSHSession")), rest),
        may=(
            "open a shell, or SSH, on nodes",
            "see the cluster and its nodes",
            *(("read the data",) if data else ()),
        ),
        may_not=(
            "run single commands or forward ports through SSM",
            "end the sessions of others",
            "repair, add or remove nodes, or change the cluster",
            "read logs of nodes",
            "write or delete the data in S3",
            "deploy",
        ),
    )


def _documents(name: str, session: Iterable[Statement], rest: Iterable[Statement]) -> tuple[Document, ...]:
    parts = ((f"{name}-session", tuple(session)), (f"{name}-access", tuple(rest)))
    return tuple(Document(name=each, statements=statements) for each, statements in parts)


def _sessions(stacks: list[Stack], documents: tuple[str, ...]) -> Iterator[Statement]:
    """Sessions on nodes with some session documents, and the end of one's own."""
    clusters = _arns(stacks, "arn:{p}:sagemaker:{r}:{a}:cluster/*")
    checked: tuple[Test, ...] = (("BoolIfExists", "ssm:SessionDocumentAccessCheck", ("true",)),)
    why = "sessions; without the check a caller who names no document gets the default one unasked"
    yield Statement(sid="StartSession", actions=("ssm:StartSession",), resources=clusters, tests=checked, why=why)
    arns = (
        expand("arn:{p}:ssm:{r}:{a}:document/{n}" if each in _SHELL else "arn:{p}:ssm:{r}::document/{n}", stack, each)
        for stack in stacks
        for each in documents
    )
    kinds = tuple(sorted(set(arns)))
    yield Statement(sid="SessionDocuments", actions=("ssm:StartSession",), resources=kinds, why="kinds of sessions")
    own = _arns(stacks, "arn:{p}:ssm:{r}:{a}:session/${{aws:userid}}-*")
    yield Statement(sid="OwnSessions", actions=_SESSION, resources=own, why="resumes and ends one's own sessions")


def _everywhere(sid: str, actions: Iterable[str], stacks: list[Stack], why: str) -> Statement:
    regions = tuple(sorted({stack.region for stack in stacks if stack.region}))
    known = regions and all(stack.region for stack in stacks)
    tests: tuple[Test, ...] = (("StringEquals", "aws:RequestedRegion", regions),) if known else ()
    return Statement(sid=sid, actions=tuple(sorted(actions)), tests=tests, why=why)


def _on(sid: str, actions: Iterable[str], resources: tuple[str, ...], why: str) -> Statement:
    return Statement(sid=sid, actions=tuple(sorted(actions)), resources=resources, why=why)


def _kubernetes(clusters: list[Resource], stacks: list[Stack]) -> Iterator[Statement]:
    if any(mentions(each.properties, "Eks") for each in clusters):
        arns = _arns(stacks, "arn:{p}:eks:{r}:{a}:cluster/*")
        why = "`aws eks update-kubeconfig`; what a person may do in Kubernetes is said by access entries and RBAC"
        yield _on("Kubernetes", ("eks:DescribeCluster",), arns, why)


def _read(data: tuple[str, ...], stacks: list[Stack]) -> Iterator[Statement]:
    if not data:
        return
    buckets = tuple(sorted({each.partition("/")[0] for each in data}))
    objects = tuple(each if "/" in each.rpartition(":")[2] else f"{each}/*" for each in data)
    yield _on("ListData", ("s3:GetBucketLocation", "s3:ListBucket"), buckets, "the data: what there is")
    yield _on("ReadData", ("s3:GetObject",), objects, "the data itself")
    services = tuple(sorted({f"s3.{stack.region or '*'}.*" for stack in stacks}))
    yield Statement(
        sid="DecryptData",
        actions=("kms:Decrypt",),
        resources=_arns(stacks, "arn:{p}:kms:{r}:{a}:key/*"),
        tests=(("StringLike", "kms:ViaService", services),),
        why="data that is encrypted with a customer key, read through S3 only",
    )


def _write(data: tuple[str, ...]) -> Iterator[Statement]:
    if data:
        objects = tuple(each if "/" in each.rpartition(":")[2] else f"{each}/*" for each in data)
        yield _on("WriteData", ("s3:DeleteObject", "s3:PutObject"), objects, "changes the data")


def _data(assembly: Assembly, names: Names) -> Iterator[str]:
    """ARNs of the data: of whole buckets, or with `/PREFIX/*` where a file system is linked to a part of one."""
    for resource in assembly.resources():
        if resource.type == _BUCKET:
            yield expand("arn:{p}:s3:::", resource.stack) + names.arns(resource)[0].rpartition(":")[2]
        for key in ("DataRepositoryPath", "ImportPath", "ExportPath"):
            for value in values(resource.properties, key) if resource.type.startswith("AWS::FSx::") else ():
                bucket, _, prefix = names.pattern(value).removeprefix("s3://").partition("/")
                part = f"/{prefix.strip('/')}/*" if prefix.strip("/") else ""
                yield expand("arn:{p}:s3:::", resource.stack) + bucket + part


def _login_groups(cluster: Resource) -> Iterator[str]:
    for groups in values(cluster.properties, "InstanceGroups"):
        for group in groups if isinstance(groups, list) else ():
            if isinstance(group, dict) and "Login" in list(values(group, "NodeType")):
                yield str(group.get("InstanceGroupName"))


def _bootstrap_roles(stacks: list[Stack]) -> tuple[str, ...]:
    """Roles that the CDK's command assumes, by the qualifier of the bootstrap stack."""
    found = set()
    for stack in stacks:
        declared = stack.scope.section("Parameters").get("BootstrapVersion")
        default = declared.get("Default") if isinstance(declared, dict) else None
        match = _BOOTSTRAP.fullmatch(default) if isinstance(default, str) else None
        found.add(expand("arn:{p}:iam::{a}:role/{n}*", stack, f"cdk-{match[1]}-" if match else "cdk-"))
    return tuple(sorted(found))


def _log_groups(stacks: list[Stack]) -> tuple[str, ...]:
    return _arns(stacks, "arn:{p}:logs:{r}:{a}:log-group:/aws/sagemaker/Clusters/*")


def _arns(stacks: list[Stack], arn: str) -> tuple[str, ...]:
    return tuple(sorted({expand(arn, stack) for stack in stacks}))
