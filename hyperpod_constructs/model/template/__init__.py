"""Reads what a deployment is from CloudFormation: templates of any author, a `cdk.out`, or a create-cluster request.

One file per noun. Whatever a template gets wrong becomes a value that is not known and one `Invalid` that names it:
people hand us files that nobody has ever deployed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from hyperpod_constructs.catalog import schemas
from hyperpod_constructs.cloudformation import assembly as assemblies
from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.cloudformation.document import Document
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.cloudformation.values import Text
from hyperpod_constructs.model import intent
from hyperpod_constructs.model._reading import Node
from hyperpod_constructs.model.deployment import Cluster, Deployment, Invalid, Location, Unseen
from hyperpod_constructs.model.network import Subnet
from hyperpod_constructs.model.template import (
    budget,
    capacity,
    conditions,
    control_plane,
    dangling,
    governance,
    identity,
    lifecycle,
    misnamed,
    network,
    observability,
    routing,
    schema,
    stacks,
    storage,
)
from hyperpod_constructs.model.template.resources import Found, Resources, as_written, macros

_CLUSTER = "AWS::SageMaker::Cluster"
_FILE_SYSTEM = "AWS::FSx::FileSystem"
_STACK = "AWS::CloudFormation::Stack"


def read(path: str | Path, region: str | None = None, parameters: Mapping[str, str] | None = None) -> Deployment:
    """Everything that a template, a folder of templates, a `cdk.out` or a create-cluster request deploys.

    Args:
        path: The file or folder.
        region: Region of stacks that do not fix theirs.
        parameters: Values of parameters, for every stack that declares them.

    Raises:
        UnreadableTemplate: It is none of these, or a piece of it is missing.
    """
    return decode(assemblies.read(path, region, parameters), region)


def decode(assembly: Assembly, region: str | None = None) -> Deployment:
    """What an assembly deploys, as far as it can be known before the deploy.

    Args:
        assembly: Its stacks and requests.
        region: Region of stacks that do not fix theirs.
    """
    resources = Resources(assembly)
    clusters = list(resources.of(_CLUSTER))
    uploads = lifecycle.uploads(resources)
    subnets = network.subnets(resources, region)
    associations = storage.associations(resources, region)
    return Deployment(
        clusters=(
            *(lifecycle.with_files(_cluster(found, resources, region), uploads) for found in clusters),
            *(_requested(request, resources, region) for request in assembly.requests),
        ),
        file_systems=storage.file_systems(resources, associations, region),
        other_file_systems=storage.other_file_systems(resources, region),
        databases=storage.databases(resources),
        associations=associations,
        subnets=(*subnets, *_imported(resources, {subnet.path for subnet in subnets})),
        security_groups=network.security_groups(resources),
        routing=routing.routing(resources, region),
        kubernetes=control_plane.kubernetes(resources, region),
        scheduler_policies=governance.scheduler_policies(resources),
        quotas=governance.quotas(resources),
        roles=identity.roles(resources),
        keys=identity.keys(resources),
        secrets=identity.secrets(resources),
        buckets=lifecycle.buckets(resources, region),
        uploads=uploads,
        budgets=budget.budgets(resources, region),
        topics=budget.topics(resources),
        budget_actions=budget.actions(resources, region),
        anomaly_monitors=budget.monitors(resources, region),
        anomaly_subscriptions=budget.subscriptions(resources, region),
        grafana=observability.grafana(resources, region),
        prometheus=observability.prometheus(resources, region),
        prometheus_urls=observability.urls(assembly),
        rule_editing=observability.rule_editing(resources),
        event_rules=observability.event_rules(resources),
        stacks=stacks.sizes(assembly),
        tag_lists=stacks.tag_lists(assembly),
        granting_buckets=identity.granting_buckets(resources),
        locations=dict(_locations(assembly, resources)),
        invalid=_invalid(assembly, resources),
        unseen=tuple(_unseen(assembly)),
        misnamed=tuple(misnamed.misnamed(assembly)),
        dangling=dangling.dangling(assembly),
    )


def _cluster(found: Found, resources: Resources, region: str | None) -> Cluster:
    stack = found.resource.stack
    read_cluster = capacity.cluster(
        found.properties,
        capacity.TEMPLATE,
        path=found.path,
        account=stack.account,
        region=stack.region or region,
        depends_on=resources.created_before(found),
        conditional=not found.certain,
    )
    return intent.apply(read_cluster, found.metadata[intent.KEY])


def _invalid(assembly: Assembly, resources: Resources) -> tuple[Invalid, ...]:
    """All that can never be right, once everything else is read."""
    for kind in schemas.KINDS:
        for found in resources.of(kind):
            schema.check(found.properties, kind)
    for request in assembly.requests:
        schema.check(_request_node(request, resources), schemas.REQUEST)
    return resources.reading.invalid


def _requested(request: Document, resources: Resources, region: str | None) -> Cluster:
    """The cluster of a create-cluster request."""
    node = _request_node(request, resources)
    return capacity.cluster(node, capacity.API, path=node.owner, region=region)


def _request_node(request: Document, resources: Resources) -> Node:
    file, name = Path(request.name).name, request.body.get("ClusterName")
    return Node(
        dict(request.body),
        f"{file}/{name}" if isinstance(name, str) else file,
        resources.reading,
        locate=lambda steps: Location(request.name, request.line(steps)),
    )


def _imported(resources: Resources, known: set[str]) -> Iterator[Subnet]:
    """The subnets that clusters and file systems say they import, each once."""
    for found in resources.of(_CLUSTER, _FILE_SYSTEM):
        for subnet in intent.subnets(found.metadata[intent.KEY]):
            if subnet.path not in known:
                known.add(subnet.path)
                yield subnet


def _unseen(assembly: Assembly) -> Iterator[Unseen]:
    """What a reader could take for checked and is not."""
    for below in assembly.below:
        folder = str(below.folder)
        yield Unseen(kind="folder", path=folder, what=below.holds, location=Location(folder, None))
    for skipped in assembly.skipped:
        if skipped.ordinary:
            continue
        file = str(skipped.file)
        reason = skipped.reason.removeprefix(f"{file}: ")
        yield Unseen(kind="file", path=file, what=reason, location=Location(file, None))
    for stack in assembly.stacks:
        for name in macros(stack):
            location = Location(str(stack.file), stack.document.line(("Transform",)))
            yield Unseen(kind="macro", path=f"{stack.id}/Transform", what=name, location=location)
        for key in stack.unread:
            location = Location(str(stack.file), stack.document.line(("Resources", key)))
            yield Unseen(kind="macro", path=f"{stack.id}/{key}", what=key, location=location)
        yield from _left_out(stack)
        yield from _unseen_resources(stack)


def _unseen_resources(stack: Stack) -> Iterator[Unseen]:
    """The resources of a template of which nobody sees what they make."""
    for resource in stack.resources():
        location = Location(str(stack.file), resource.line)
        if resource.type == _STACK and resource.logical_id not in stack.nested:
            file = _template_name(resource)
            beside = file is not None and file != stack.file.name and (stack.file.parent / file).is_file()
            yield Unseen(kind="nested", path=resource.path, what=file, location=location, beside=beside)
        elif resource.type.endswith("::MODULE"):
            module = f"the module {resource.type}"
            yield Unseen(kind="macro", path=resource.path, what=module, location=location)
        elif misnamed.may_be_a_cluster(resource.type):
            yield Unseen(kind="type", path=resource.path, what=resource.type, location=location)


def _left_out(stack: Stack) -> Iterator[Unseen]:
    """The clusters of a template that a condition leaves out."""
    for key in stack.scope.section("Resources"):
        body = stack.scope.resource(key)
        if body is not None and body["Type"] == _CLUSTER and stack.presence(key) is False:
            why = conditions.reason(stack, str(body["Condition"]))
            location = Location(str(stack.file), stack.document.line(("Resources", key)))
            yield Unseen(kind="condition", path=stack.path_of(key), what=why, location=location)


def _template_name(resource: Resource) -> str | None:
    """File name of the template that a resource nests, as far as known."""
    properties = resource.properties
    url = properties.get("TemplateURL") if isinstance(properties, dict) else None
    end = url.suffix if isinstance(url, Text) else url
    return end.rpartition("/")[2] or None if isinstance(end, str) else None


def _locations(assembly: Assembly, resources: Resources) -> Iterator[tuple[str, Location]]:
    for resource in assembly.resources():
        yield resource.path, Location(str(resource.stack.file), resource.line_of)
    for found in resources.of(_CLUSTER):
        file = str(found.resource.stack.file)
        for index, name in _named_groups(found.properties):
            steps = as_written(found.resource, ("Properties", "InstanceGroups", index))
            yield f"{found.path}/{name}", Location(file, partial(found.resource.line_of, *steps))
    for request in assembly.requests:
        node = _request_node(request, resources)
        yield node.owner, Location(request.name, 1)
        for index, name in _named_groups(node):
            yield f"{node.owner}/{name}", Location(request.name, request.line(("InstanceGroups", index)))


def _named_groups(node: Node) -> list[tuple[int, str]]:
    """Index and name of each group, the first of a name last, so that it wins in a map."""
    names = enumerate(capacity.group_names(node))
    return [(index, name) for index, name in reversed([*names]) if isinstance(name, str)]
