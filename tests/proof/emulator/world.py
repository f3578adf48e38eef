"""What stands around a cluster or a file system: the reasons for which AWS would end a create or refuse a delete.

Reads the emulator's own stores. Nothing here is taken from this library: each check is one line of the table of
failures (facts 11) with AWS's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ministack.services import ec2, iam, s3

_SCRIPTS: Final = (
    'failed to provision with the following error: "Lifecycle scripts did not run successfully. Ensure the scripts '
    'exist in provided S3 path, are accessible, and run without errors."'
)
_EFA: Final = (
    "EFA health checks did not run successfully. Ensure that your VPC and security groups are properly configured "
    "before attempting to create a new cluster."
)
_NO_LUSTRE: Final = "The security groups do not permit Lustre LNET network traffic on port 988"
_NODE_POLICY: Final = "AmazonSageMakerClusterInstanceRolePolicy"
_WITH_EFA: Final = ("ml.p", "ml.trn")


INTERFACES: Final[dict[str, frozenset[str]]] = {}
"""Subnets and security groups by what has network interfaces in them: clusters by ARN, file systems by id."""


def attach(owner: str, places: Iterable[str]) -> None:
    """Notes that something has network interfaces in subnets, with security groups."""
    INTERFACES[owner] = frozenset(places)


def in_use(place: str) -> str | None:
    """Why EC2 does not delete a subnet, security group or VPC; `None` where it does."""
    held = frozenset[str]().union(*INTERFACES.values())
    vpcs = {ec2._subnets[each]["VpcId"] for each in held if each in ec2._subnets}
    return f"The resource '{place}' has dependencies and cannot be deleted." if place in held | vpcs else None


def lustre_refusal(properties: dict[str, Any]) -> str | None:
    """Why FSx does not make a file system now; `None` where it does."""
    for subnet in properties["SubnetIds"]:
        if subnet not in ec2._subnets:
            return f"The subnet ID '{subnet}' does not exist"
    groups = [ec2._security_groups.get(each) for each in properties.get("SecurityGroupIds", ())]
    if not all(group and _lets_in(group, 988) for group in groups):
        return _NO_LUSTRE
    return None


def _lets_in(group: dict[str, Any], port: int) -> bool:
    return any(
        rule["IpProtocol"] == "-1" or rule.get("FromPort", 0) <= port <= rule.get("ToPort", 65535)
        for rule in group["IpPermissions"]
    )


def refusal(properties: dict[str, Any]) -> str | None:
    """Why the nodes of a cluster cannot start now; `None` where they can."""
    return next(_refusals(properties), None)


def _refusals(properties: dict[str, Any]) -> Iterator[str]:
    for group in properties.get("InstanceGroups", ()):
        if not group["InstanceCount"]:
            continue
        placement = group.get("OverrideVpcConfig") or properties.get("VpcConfig")
        yield from _of_network(group, placement)
        yield from _of_role(group, placement)
        yield from _of_scripts(group)


def _of_network(group: dict[str, Any], placement: dict[str, Any] | None) -> Iterator[str]:
    if placement is None:
        return
    for subnet in placement["Subnets"]:
        if subnet not in ec2._subnets:
            yield f"The subnet ID '{subnet}' does not exist"
        elif not _has_way_out(subnet):
            yield f"Instance in {subnet} {_SCRIPTS}"
    for security_group in placement["SecurityGroupIds"]:
        found = ec2._security_groups.get(security_group)
        if found is None:
            yield f"The security group '{security_group}' does not exist"
        elif str(group.get("InstanceType", "")).startswith(_WITH_EFA) and not _open_to_itself(found):
            yield _EFA


def _has_way_out(subnet: str) -> bool:
    """Whether a subnet's route table leads to a NAT gateway, or to S3 through a gateway endpoint."""
    tables = [
        table
        for table in ec2._route_tables.values()
        if any(each["SubnetId"] == subnet for each in table["Associations"] if "SubnetId" in each)
    ]
    ids = {table["RouteTableId"] for table in tables}
    nat = any(route.get("NatGatewayId") for table in tables for route in table["Routes"])
    return nat or any(ids & set(endpoint.get("RouteTableIds", ())) for endpoint in ec2._vpc_endpoints.values())


def _open_to_itself(group: dict[str, Any]) -> bool:
    """Whether a security group lets all traffic in from itself and out to itself, by its id."""
    return all(
        any(
            rule["IpProtocol"] == "-1"
            and any(pair.get("GroupId") == group["GroupId"] for pair in rule["UserIdGroupPairs"])
            for rule in group[direction]
        )
        for direction in ("IpPermissions", "IpPermissionsEgress")
    )


def _of_role(group: dict[str, Any], placement: dict[str, Any] | None) -> Iterator[str]:
    name = group["ExecutionRole"].rpartition("/")[2]
    role = iam._roles.get(name)
    if role is None:
        yield f"The role {group['ExecutionRole']} cannot be assumed"
        return
    attached = [str(arn) for arn in role.get("AttachedPolicies", ())]
    if not any(arn.endswith(_NODE_POLICY) for arn in attached):
        yield f"The role {name} lacks {_NODE_POLICY}"
    documents = [str(document) for document in role.get("InlinePolicies", {}).values()]
    documents += [str(iam._policies[arn]) for arn in attached if arn in iam._policies]
    if placement is not None and not any("ec2:CreateNetworkInterface" in text for text in documents):
        yield "Failed to create Customer ENI"


def _of_scripts(group: dict[str, Any]) -> Iterator[str]:
    config = group.get("LifeCycleConfig", {})
    source, script = config.get("SourceS3Uri"), config.get("OnCreate") or config.get("OnInitComplete")
    if not source or not script:
        return
    bucket, _, prefix = source.removeprefix("s3://").partition("/")
    key = "/".join(part for part in (prefix.strip("/"), script) if part)
    found = s3._buckets.get(bucket)
    if found is None or key not in found["objects"]:
        yield f"Instance of {group['InstanceGroupName']} {_SCRIPTS}"
