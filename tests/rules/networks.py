"""A sound network with a cluster in it, as a template, so that a test of a rule shows only the mistake it is about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, TypeAlias

from hyperpod_constructs.findings import Finding
from tests.field_reports.settled import checked

Change: TypeAlias = Mapping[str, Any] | None
ROLE = "arn:aws:iam::111122223333:role/HyperPodNodes"
UNDECIDED = {"Ref": "Given"}
"""What only the deploy knows."""
INTERNET = "0.0.0.0/0"


def ref(name: str) -> dict[str, str]:
    """A reference to a resource."""
    return {"Ref": name}


def resource(kind: str, *after: str, **properties: Any) -> dict[str, Any]:
    """A resource of EC2, or of another service if its kind has colons."""
    found: dict[str, Any] = {"Type": kind if "::" in kind else f"AWS::EC2::{kind}", "Properties": properties}
    return {**found, "DependsOn": list(after)} if after else found


def endpoint(service: str, **properties: Any) -> dict[str, Any]:
    """An interface endpoint that nodes can use."""
    return resource(
        "VPCEndpoint",
        **{
            "VpcId": ref("Vpc"),
            "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}." + service},
            "VpcEndpointType": "Interface",
            "PrivateDnsEnabled": True,
            "SubnetIds": [ref("Nodes")],
            "SecurityGroupIds": [ref("Fabric")],
            **properties,
        },
    )


SLURM: dict[str, Any] = {"Slurm": {}}
NETWORK: dict[str, Any] = {
    "Vpc": resource("VPC", CidrBlock="10.0.0.0/16", EnableDnsHostnames=True),
    "Internet": resource("InternetGateway"),
    "Attachment": resource("VPCGatewayAttachment", VpcId=ref("Vpc"), InternetGatewayId=ref("Internet")),
    "Public": resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.0.0/24", AvailabilityZoneId="usw2-az2"),
    "PublicTable": resource("RouteTable", VpcId=ref("Vpc")),
    "PublicRoute": resource(
        "Route",
        "Attachment",
        RouteTableId=ref("PublicTable"),
        DestinationCidrBlock=INTERNET,
        GatewayId=ref("Internet"),
    ),
    "PublicAssociation": resource(
        "SubnetRouteTableAssociation", SubnetId=ref("Public"), RouteTableId=ref("PublicTable")
    ),
    "Address": resource("EIP", "Attachment", Domain="vpc"),
    "Nat": resource("NatGateway", SubnetId=ref("Public"), AllocationId={"Fn::GetAtt": ["Address", "AllocationId"]}),
    "Nodes": resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.64.0/19", AvailabilityZoneId="usw2-az2"),
    "Table": resource("RouteTable", VpcId=ref("Vpc")),
    "DefaultRoute": resource(
        "Route", RouteTableId=ref("Table"), DestinationCidrBlock=INTERNET, NatGatewayId=ref("Nat")
    ),
    "Association": resource("SubnetRouteTableAssociation", SubnetId=ref("Nodes"), RouteTableId=ref("Table")),
    "Fabric": resource(
        "SecurityGroup",
        GroupDescription="nodes",
        VpcId=ref("Vpc"),
        SecurityGroupEgress=[{"IpProtocol": "-1", "CidrIp": INTERNET}],
    ),
    "In": resource("SecurityGroupIngress", GroupId=ref("Fabric"), SourceSecurityGroupId=ref("Fabric"), IpProtocol="-1"),
    "Out": resource(
        "SecurityGroupEgress", GroupId=ref("Fabric"), DestinationSecurityGroupId=ref("Fabric"), IpProtocol="-1"
    ),
    "Cluster": resource(
        "AWS::SageMaker::Cluster",
        "In",
        "Out",
        "DefaultRoute",
        "Association",
        ClusterName="train",
        NodeProvisioningMode="Continuous",
        Orchestrator=SLURM,
        VpcConfig={"Subnets": [ref("Nodes")], "SecurityGroupIds": [ref("Fabric")]},
        InstanceGroups=[
            {
                "InstanceGroupName": "controller",
                "InstanceType": "ml.m5.4xlarge",
                "InstanceCount": 1,
                "ExecutionRole": ROLE,
                "SlurmConfig": {"NodeType": "Controller"},
            },
            {
                "InstanceGroupName": "p5",
                "InstanceType": "ml.p5.48xlarge",
                "InstanceCount": 2,
                "ExecutionRole": ROLE,
                "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["train"]},
            },
        ],
    ),
}
CLOSED: dict[str, Any] = {
    # Changes that take the way out of the network.
    "Internet": None,
    "Attachment": None,
    "PublicRoute": None,
    "Address": None,
    "Nat": None,
    "DefaultRoute": None,
}
ENDPOINTS: dict[str, Any] = {
    # What nodes on Slurm need in a closed network.
    "S3": resource(
        "VPCEndpoint",
        VpcId=ref("Vpc"),
        ServiceName={"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
        VpcEndpointType="Gateway",
        RouteTableIds=[ref("Table")],
    ),
    **{
        service.capitalize(): endpoint(service)
        for service in ("ec2", "ec2messages", "logs", "monitoring", "ssm", "ssmmessages", "sts")
    },
}
LUSTRE = resource(
    "AWS::FSx::FileSystem",
    "In",
    "Out",
    FileSystemType="LUSTRE",
    FileSystemTypeVersion="2.15",
    StorageCapacity=4800,
    SubnetIds=[ref("Nodes")],
    SecurityGroupIds=[ref("Fabric")],
    LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
)
EKS = resource(
    "AWS::EKS::Cluster",
    Version="1.34",
    RoleArn="arn:aws:iam::111122223333:role/ControlPlane",
    AccessConfig={"AuthenticationMode": "API"},
    ResourcesVpcConfig={"SubnetIds": [ref("ControlA"), ref("ControlB")]},
)
KUBERNETES: dict[str, Any] = {
    # The same cluster on EKS, with a control plane in two zones.
    "ControlA": resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.1.0/28", AvailabilityZoneId="usw2-az1"),
    "ControlB": resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.2.0/28", AvailabilityZoneId="usw2-az2"),
    "Eks": EKS,
    "Cluster": {
        "Orchestrator": {"Eks": {"ClusterArn": {"Fn::GetAtt": ["Eks", "Arn"]}}},
        "VpcConfig": {
            "Subnets": [ref("Nodes")],
            "SecurityGroupIds": [ref("Fabric"), {"Fn::GetAtt": ["Eks", "ClusterSecurityGroupId"]}],
        },
        "InstanceGroups": [
            {
                "InstanceGroupName": "p5",
                "InstanceType": "ml.p5.48xlarge",
                "InstanceCount": 2,
                "MinInstanceCount": 1,
                "ExecutionRole": ROLE,
                "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/x", "OnCreate": "on_create.sh"},
            }
        ],
    },
}


def changed(*changes: Mapping[str, Change]) -> dict[str, Any]:
    """The sound network with changes.

    Args:
        *changes: By logical id: `None` takes the resource out, something with a `Type` stands in its place, anything
            else is properties to set (`None` takes one out), with `DependsOn` among them.
    """
    resources = deepcopy(NETWORK)
    for name, change in (item for each in changes for item in each.items()):
        if change is None:
            resources.pop(name, None)
        elif "Type" in change:
            resources[name] = deepcopy(dict(change))
        else:
            for key, value in change.items():
                section = resources[name] if key == "DependsOn" else resources[name]["Properties"]
                section[key] = value
                if value is None:
                    del section[key]
    for body in resources.values():
        if "DependsOn" in body:
            body["DependsOn"] = [each for each in body["DependsOn"] if each in resources]
    return {
        "Parameters": {"Given": {"Type": "String"}},
        "Conditions": {"Maybe": {"Fn::Equals": [UNDECIDED, "x"]}},
        "Resources": resources,
    }


def findings(*changes: Mapping[str, Change], region: str | None = "us-west-2") -> list[Finding]:
    """What is found in the sound network with changes."""
    return checked(json.dumps(changed(*changes)), region=region, file="net.json")


def of(rule: str, *changes: Mapping[str, Change], region: str | None = "us-west-2") -> list[str]:
    """`path: message | fix` of each finding of one rule there, paths without the name of the file."""
    found = [each for each in findings(*changes, region=region) if each.rule == rule]
    return [f"{each.path}: {each.message} | {each.fix}".replace("net.json/", "") for each in found]
