"""Handlers for the resource types that ministack lacks, each as strict as its registry schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ministack.services import ec2
from ministack.services.cloudformation import provisioners

from tests.proof.emulator import kubernetes, sharing, world
from tests.proof.emulator.generic import LUSTRE, Created, Generic, at, attributes_of, client, new_id, replacing
from tests.proof.emulator.journal import Journal
from tests.proof.emulator.registry import Registry, Schema

GENERIC: Final = (
    "AWS::Budgets::Budget",
    "AWS::EC2::EIP",
    "AWS::EC2::FlowLog",
    "AWS::EC2::NatGateway",
    "AWS::FSx::DataRepositoryAssociation",
)
RULES: Final = {
    "AWS::EC2::SecurityGroupEgress": "IpPermissionsEgress",
    "AWS::EC2::SecurityGroupIngress": "IpPermissions",
}
CLUSTER: Final = "AWS::SageMaker::Cluster"
EAGER: Final = (sharing.QUOTA, sharing.POLICY, kubernetes.ADDON, CLUSTER, kubernetes.PLANE, LUSTRE)
"""Types that fail where something that they need is not there yet, those that need most first."""
CALLS: Final = {LUSTRE: {"create": ["fsx:CreateFileSystem"], "delete": ["fsx:DeleteFileSystem"]}}
"""What the handlers below call for a type of which the registry has no handlers."""


class SecurityGroupRule(Generic):
    """A rule of a security group that is a resource of its own; it reaches the group, where the cluster looks."""

    def _permissions(self, group: dict[str, Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = group[RULES[self._schema.type]]
        return found

    def made(self, physical_id: str, properties: dict[str, Any]) -> None:
        """Adds the rule to its group."""
        group = ec2._security_groups.get(properties["GroupId"])
        if group is None:
            raise ValueError(f"The security group '{properties['GroupId']}' does not exist")
        (rule,) = provisioners._ec2_sg_permissions([properties])
        self._permissions(group).append({**rule, "SecurityGroupRuleId": physical_id})

    def delete(self, physical_id: str, properties: dict[str, Any]) -> None:
        """Takes the rule away."""
        group = ec2._security_groups.get(properties["GroupId"])
        if group is not None:
            rules = self._permissions(group)
            rules[:] = [rule for rule in rules if rule.get("SecurityGroupRuleId") != physical_id]


class LustreFileSystem(Generic):
    """A file system, with a network interface in its subnet; the request goes on to FSx."""

    def __init__(self, schema: Schema, endpoint: str) -> None:
        """Takes the schema and where FSx listens."""
        super().__init__(schema)
        self._endpoint = endpoint

    def create(self, logical_id: str, properties: dict[str, Any], stack: str) -> Created:  # noqa: ARG002  # as ministack calls it
        """Makes a file system where its security groups let clients in."""
        if why := world.lustre_refusal(properties):
            raise ValueError(f"Resource handler returned message: {why}")
        request = self._schema.checked(properties)
        made = client("fsx", self._endpoint).create_file_system(**request)["FileSystem"]["FileSystemId"]
        world.attach(made, [*request["SubnetIds"], *request.get("SecurityGroupIds", ())])
        return made, attributes_of(self._schema, made)

    def delete(self, physical_id: str, properties: dict[str, Any]) -> None:  # noqa: ARG002  # as ministack calls it
        """Deletes it, data and all."""
        client("fsx", self._endpoint).delete_file_system(FileSystemId=physical_id)
        world.INTERFACES.pop(physical_id, None)


class Cluster:
    """A HyperPod cluster: the requests go on to SageMaker."""

    def __init__(self, schema: Schema, endpoint: str) -> None:
        """Takes the schema and where SageMaker listens."""
        self._schema = schema
        self._endpoint = endpoint
        self.replacing = replacing(schema)

    def create(self, logical_id: str, properties: dict[str, Any], stack: str) -> Created:
        """CreateCluster, and what happens while the first nodes start."""
        request = self._schema.checked(properties)
        name = request.get("ClusterName") or f"{stack}-{logical_id}-{new_id('', stack, logical_id)[-12:]}"[:63]
        sagemaker = client("sagemaker", self._endpoint)
        arn = sagemaker.create_cluster(**{**request, "ClusterName": name})["ClusterArn"]
        if why := world.refusal(request):
            # CloudFormation knows the id of what failed to stabilize and deletes it in the rollback.
            sagemaker.delete_cluster(ClusterName=name)
            raise ValueError(f"Resource handler returned message: {why} (HandlerErrorCode: NotStabilized)")
        placements = [
            request.get("VpcConfig", {}),
            *(g.get("OverrideVpcConfig", {}) for g in request["InstanceGroups"]),
        ]
        world.attach(arn, [each for placement in placements for ids in placement.values() for each in ids])
        return arn, {"ClusterArn": arn, "ClusterStatus": "InService", "CreationTime": "0", "FailureMessage": ""}

    def update(
        self, physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str, logical_id: str
    ) -> Created:
        """UpdateCluster; another orchestrator is another cluster."""
        request = self._schema.checked(new)
        if at(old, ["Orchestrator", "Eks"]) != at(new, ["Orchestrator", "Eks"]):
            return self.create(logical_id, new, stack)
        names = {group["InstanceGroupName"] for group in request.get("InstanceGroups", ())}
        gone = [
            group["InstanceGroupName"]
            for group in old.get("InstanceGroups", ())
            if group["InstanceGroupName"] not in names
        ]
        settings = {key: value for key, value in request.items() if key not in {"VpcConfig", "Tags"}}
        settings["ClusterName"] = physical_id
        client("sagemaker", self._endpoint).update_cluster(
            **settings, **({"InstanceGroupsToDelete": gone} if gone else {})
        )
        if why := world.refusal(request):
            raise ValueError(f"Resource handler returned message: {why} (HandlerErrorCode: NotStabilized)")
        return physical_id, {"ClusterArn": physical_id, "ClusterStatus": "InService"}

    def delete(self, physical_id: str, properties: dict[str, Any]) -> None:  # noqa: ARG002  # as ministack calls it
        """DeleteCluster."""
        client("sagemaker", self._endpoint).delete_cluster(ClusterName=physical_id)
        world.INTERFACES.pop(physical_id, None)


def install(registry: Registry, moto: str) -> None:
    """Adds the handlers to ministack's; `moto` is where SageMaker and FSx listen.

    Raises:
        LookupError: if the registry lacks one of the types.
    """
    own = {**kubernetes.HANDLERS, **sharing.HANDLERS}
    for name in (*GENERIC, *RULES, LUSTRE, CLUSTER, *own):
        schema = registry.find(name)
        if schema is None:
            raise LookupError(f"the registry has no {name}")
        handler: Generic | Cluster = Generic(schema)
        if name in RULES:
            handler = SecurityGroupRule(schema)
        elif name in own:
            handler = own[name](schema)
        elif name == LUSTRE:
            handler = LustreFileSystem(schema, moto)
        elif name == CLUSTER:
            handler = Cluster(schema, moto)
        provisioners._REPLACING_PROPERTIES[name] = handler.replacing
        provisioners._RESOURCE_HANDLERS[name] = {
            "create": handler.create,
            "update": handler.update,
            "update_with_logical_id": True,
            "delete": handler.delete,
        }
    for name in ("AWS::EC2::SecurityGroup", "AWS::EC2::Subnet", "AWS::EC2::VPC"):
        native = provisioners._RESOURCE_HANDLERS[name]
        native["delete"] = _unless_in_use(native["delete"])


def _unless_in_use(delete: Callable[..., None]) -> Callable[..., None]:
    def guarded(physical_id: str, properties: dict[str, Any], *logical: str) -> None:
        if why := world.in_use(physical_id):
            raise ValueError(why)
        delete(physical_id, properties, *logical)

    return guarded


class Watched:
    """A type's handlers with both sides of the journal: faults strike before, what was done is written down after."""

    def __init__(self, type_name: str, handler: dict[str, Any], registry: Registry, journal: Journal) -> None:
        """Takes the functions that a handler had."""
        self._type, self._handler = type_name, dict(handler)
        self._registry, self._journal = registry, journal

    def _note(self, operation: str, stack: str, logical_id: str, physical_id: str) -> None:
        schema = self._registry.find(self._type)
        permissions = CALLS.get(self._type, {}).get(operation) or (schema.permissions(operation) if schema else [])
        of = {"stack": stack, "logical_id": logical_id, "physical_id": physical_id}
        self._journal.note(operation, self._type, permissions, **of)

    def create(self, logical_id: str, properties: dict[str, Any], stack: str) -> Created:
        """Makes a resource."""
        self._journal.strike(self._type, "create")
        made: Created = self._handler["create"](logical_id, properties, stack)
        self._note("create", stack, logical_id, made[0])
        return made

    def update(self, physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str, *logical: str) -> Created:
        """Changes a resource."""
        self._journal.strike(self._type, "update")
        changed: Created = self._handler["update"](physical_id, old, new, stack, *logical)
        self._note("update", stack, logical[0] if logical else "", changed[0])
        return changed

    def delete(self, physical_id: str, properties: dict[str, Any], *logical: str) -> None:
        """Deletes a resource."""
        self._journal.strike(self._type, "delete")
        self._handler["delete"](physical_id, properties, *logical)
        self._note("delete", "", logical[0] if logical else "", physical_id)


def watch(registry: Registry, journal: Journal) -> None:
    """Watches every handler, ministack's own too."""
    for name, handler in provisioners._RESOURCE_HANDLERS.items():
        watched = Watched(name, handler, registry, journal)
        handler.update({each: getattr(watched, each) for each in ("create", "update", "delete") if each in handler})
