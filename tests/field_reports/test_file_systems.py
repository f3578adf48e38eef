"""Field reports on FSx for Lustre (section C): each in its smallest form, in Python and in a template."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.findings import Finding, Severity
from tests.field_reports.settled import checked, ids, settled
from tests.templates import of_type, synthesized

if TYPE_CHECKING:
    import aws_cdk as cdk

KEPT = {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
ROLE = "arn:aws:iam::111122223333:role/HyperPodNodes"
DNS_NAME, MOUNT_NAME = ({"Fn::GetAtt": ["Scratch", attribute]} for attribute in ("DNSName", "LustreMountName"))
PERSISTENT_2 = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125}
NOTHING: list[str] = []


def resource(kind: str, properties: dict[str, Any], **others: Any) -> dict[str, Any]:
    return {"Type": kind, "Properties": properties, **others}


def scratch(configuration: dict[str, Any], policies: dict[str, str] | None = None, **properties: Any) -> dict[str, Any]:
    """A Lustre file system, kept unless other policies are given."""
    basics = {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": "2.15",
        "StorageCapacity": 4800,
        "SubnetIds": ["subnet-0123456789abcdef0"],
    }
    found = {**basics, "LustreConfiguration": configuration, **properties}
    return resource("AWS::FSx::FileSystem", found, **(KEPT if policies is None else policies))


def link(folder: str = "/data", **others: Any) -> dict[str, Any]:
    """A data repository association of `Scratch`."""
    properties = {
        "FileSystemId": {"Ref": "Scratch"},
        "FileSystemPath": folder,
        "DataRepositoryPath": f"s3://sagemaker-data{folder}/",
    }
    return resource("AWS::FSx::DataRepositoryAssociation", properties, **others)


def cluster(*storage: dict[str, Any], role: Any = ROLE, **others: Any) -> dict[str, Any]:
    """A Slurm cluster whose group `p5` has this storage."""
    worker = {
        "InstanceGroupName": "p5",
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 2,
        "ExecutionRole": role,
        "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["train"]},
    }
    controller = {
        "InstanceGroupName": "controller",
        "InstanceType": "ml.m5.xlarge",
        "InstanceCount": 1,
        "ExecutionRole": role,
        "SlurmConfig": {"NodeType": "Controller"},
    }
    properties = {
        "ClusterName": "train",
        "NodeProvisioningMode": "Continuous",
        "Orchestrator": {"Slurm": {}},
        "VpcConfig": {"Subnets": ["subnet-0123456789abcdef0"], "SecurityGroupIds": ["sg-0123456789abcdef0"]},
        "InstanceGroups": [controller, {**worker, "InstanceStorageConfigs": list(storage)} if storage else worker],
    }
    return resource("AWS::SageMaker::Cluster", properties, **others)


def mount(dns_name: Any = DNS_NAME, mount_name: Any = MOUNT_NAME) -> dict[str, Any]:
    return {"FsxLustreConfig": {"DnsName": dns_name, "MountName": mount_name}}


def found_in(resources: dict[str, Any]) -> list[Finding]:
    """What `hyperpod check` finds in a template of these resources."""
    return checked(json.dumps({"Resources": resources}), region="us-west-2")


def storage_rules(resources: dict[str, Any]) -> list[str]:
    """Rules on storage that are broken, infos left out."""
    listed = [each for each in found_in(resources) if each.severity is not Severity.INFO]
    return [each for each in ids(listed) if each.startswith("HP3")]


@pytest.fixture
def network(stack: cdk.Stack) -> hp.Network:
    return hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)


def make(stack: cdk.Stack, network: hp.Network, *links: str, **lustre: Any) -> hp.LustreFileSystem:
    """A file system of ours, linked to S3 at these folders."""
    return hp.LustreFileSystem(
        stack,
        "Scratch",
        network=network,
        lustre=hp.Lustre(**{"capacity_gib": 4800, "throughput_mbps_per_tib": 125, **lustre}),
        repositories=[hp.DataRepository(folder=folder, s3_uri=f"s3://data{folder}/") for folder in links],
    )


def refused(stack: cdk.Stack, network: hp.Network, *links: str, **lustre: Any) -> list[str]:
    """Rules by which the constructor refuses a file system."""
    with pytest.raises(hp.InvalidCluster) as raised:
        make(stack, network, *links, **lustre)
    return ids(list(raised.value.findings))


def found_at_synth(stack: cdk.Stack) -> list[str]:
    """Rules that the synthesized template of a stack breaks."""
    return ids(found_in(synthesized(stack)["Resources"]))


@settled("synth")
def test_field_report_C_01_throughput_is_one_of_the_deployment_type(stack: cdk.Stack, network: hp.Network) -> None:
    assert refused(stack, network, throughput_mbps_per_tib=200) == ["HP3002"]
    assert refused(stack, network, deployment_type="PERSISTENT_1", throughput_mbps_per_tib=125) == ["HP3002"]
    make(stack, network, throughput_mbps_per_tib=250)

    def judged(kind: str, throughput: int, **others: Any) -> list[str]:
        return storage_rules(
            {"Scratch": scratch({"DeploymentType": kind, "PerUnitStorageThroughput": throughput, **others})}
        )

    assert judged("PERSISTENT_2", 200) == judged("PERSISTENT_1", 125) == ["HP3002"]
    assert judged("PERSISTENT_2", 250) == judged("PERSISTENT_1", 200) == NOTHING


@settled("synth")
def test_field_report_C_02_throughput_and_key_are_for_persistent_types(stack: cdk.Stack, network: hp.Network) -> None:
    assert refused(stack, network, throughput_mbps_per_tib=None) == ["HP3002"]
    make(stack, network, deployment_type="SCRATCH_2")
    assert "HP3021" in found_at_synth(stack)
    assert storage_rules({"Scratch": scratch({"DeploymentType": "PERSISTENT_2"})}) == ["HP3002"]
    given = {"DeploymentType": "SCRATCH_2", "PerUnitStorageThroughput": 125}
    assert storage_rules({"Scratch": scratch(given)}) == ["HP3021"]
    key = "arn:aws:kms:us-west-2:111122223333:key/11111111-2222-3333-4444-555555555555"
    assert storage_rules({"Scratch": scratch({"DeploymentType": "SCRATCH_2"}, KmsKeyId=key)}) == ["HP3009"]
    assert storage_rules({"Scratch": scratch({"DeploymentType": "SCRATCH_2"})}) == NOTHING


@settled("synth")
def test_field_report_C_04_metadata_is_not_less_than_the_capacity_brings(stack: cdk.Stack, network: hp.Network) -> None:
    assert refused(stack, network, capacity_gib=2400, metadata_iops=1500) == ["HP3006"]
    assert refused(stack, network, capacity_gib=2400, metadata_iops=5000) == ["HP3006"]
    make(stack, network, capacity_gib=2400, metadata_iops=3000)

    def judged(**metadata: Any) -> list[str]:
        configuration = {**PERSISTENT_2, "MetadataConfiguration": metadata}
        return ids(found_in({"Scratch": scratch(configuration, StorageCapacity=2400)}))

    assert judged(Mode="USER_PROVISIONED", Iops=1500) == judged(Mode="USER_PROVISIONED", Iops=5000) == ["HP3006"]
    assert judged(Mode="AUTOMATIC", Iops=3000) == judged(Mode="USER_PROVISIONED") == ["HP1001"]
    assert judged(Mode="USER_PROVISIONED", Iops=3000) == judged(Mode="AUTOMATIC") == NOTHING


@settled("template")
def test_field_report_C_05_data_outlives_the_file_system(stack: cdk.Stack, network: hp.Network) -> None:
    make(stack, network)
    made = [each for each in synthesized(stack)["Resources"].values() if each["Type"] == "AWS::FSx::FileSystem"]
    assert [(each["DeletionPolicy"], each["UpdateReplacePolicy"]) for each in made] == [
        ("RetainExceptOnCreate", "Retain")
    ]
    # The group is the network's and known before the file system: its rules may change, its membership does not.
    assert made[0]["Properties"]["SecurityGroupIds"] == stack.resolve(list(network.ids().security_groups))

    def judged(**policies: str) -> list[str]:
        return storage_rules({"Scratch": scratch(PERSISTENT_2, policies)})

    assert judged() == judged(DeletionPolicy="Retain") == judged(UpdateReplacePolicy="Retain") == ["HP3011"]
    assert judged(DeletionPolicy="Snapshot", UpdateReplacePolicy="Retain") == ["HP3031"]
    home = {"FileSystemType": "OPENZFS", "StorageCapacity": 64, "SubnetIds": ["subnet-0123456789abcdef0"]}
    assert storage_rules({"Home": resource("AWS::FSx::FileSystem", home)}) == ["HP3011"]
    assert judged(**KEPT) == NOTHING


@settled("synth")
def test_field_report_C_06_links_to_s3_freeze_tags_and_exclude_backups(stack: cdk.Stack, network: hp.Network) -> None:
    backed_up_scratch = {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": None, "backup_days": 7}
    assert refused(stack, network, "/data", **backed_up_scratch) == ["HP3030"]
    make(stack, network, "/data", backup_days=7)
    assert {"HP3008", "HP3029"} <= set(found_at_synth(stack))

    def judged(configuration: dict[str, Any], *folders: str) -> list[str]:
        links = {f"Link{index}": link(folder) for index, folder in enumerate(folders)}
        return ids(found_in({"Scratch": scratch(configuration), **links}))

    with_backups = {"DeploymentType": "SCRATCH_2", "AutomaticBackupRetentionDays": 7}
    assert judged(with_backups, "/data") == ["HP3029", "HP3030"]
    assert judged({**with_backups, "ImportPath": "s3://sagemaker-data"}) == ["HP3030"]
    assert judged({**PERSISTENT_2, "AutomaticBackupRetentionDays": 7}, "/data") == ["HP3008", "HP3029"]
    assert judged({**PERSISTENT_2, "CopyTagsToBackups": True}, "/data") == ["HP3028", "HP3029"]
    assert judged(PERSISTENT_2, "/data") == ["HP3029"]
    assert judged({**PERSISTENT_2, "AutomaticBackupRetentionDays": 7, "CopyTagsToBackups": True}) == NOTHING


@settled("synth")
@pytest.mark.parametrize(("zone", "told"), [("usw2-lax1-az1", True), ("usw2-phx2-az1", False), ("usw2-az2", False)])
def test_field_report_C_08_not_every_local_zone_has_persistent_2(stack: cdk.Stack, zone: str, *, told: bool) -> None:
    nodes = hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone=zone)
    network = hp.Network.from_attributes(stack, "Network", vpc_id="vpc-0123456789abcdef0", subnets=[nodes])
    make(stack, network)
    assert ("HP3026" in found_at_synth(stack)) is told
    subnet = resource(
        "AWS::EC2::Subnet",
        {"VpcId": "vpc-0123456789abcdef0", "CidrBlock": "10.1.0.0/24", "AvailabilityZoneId": zone},
    )
    raw = {"Nodes": subnet, "Scratch": scratch(PERSISTENT_2, SubnetIds=[{"Ref": "Nodes"}])}
    assert storage_rules(raw) == (["HP3026"] if told else NOTHING)


@settled("template")
def test_field_report_C_09_nodes_can_look_up_a_file_system_with_efa(stack: cdk.Stack, network: hp.Network) -> None:
    data = make(stack, network, efa=True, metadata_iops="AUTOMATIC", throughput_mbps_per_tib=1000)
    groups = [
        hp.InstanceGroup.controller("ml.m5.xlarge"),
        hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=2),
    ]
    hp.Cluster(stack, "Cluster", name="train", network=network, groups=groups, mounts={"/fsx": data})
    policies = of_type(synthesized(stack), "AWS::IAM::Policy").values()
    statements = [each for policy in policies for each in policy["PolicyDocument"]["Statement"]]
    assert [each["Resource"] for each in statements if each["Action"] == "fsx:DescribeFileSystems"] == ["*"]
    assert "HP3050" not in found_at_synth(stack)

    def judged(*actions: str) -> list[str]:
        allowed = {"Statement": [{"Effect": "Allow", "Action": list(actions), "Resource": "*"}]}
        trust = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
        role = resource(
            "AWS::IAM::Role",
            {
                "AssumeRolePolicyDocument": {"Statement": [trust]},
                "Policies": [{"PolicyName": "nodes", "PolicyDocument": allowed}],
            },
        )
        efa = {"EfaEnabled": True, "MetadataConfiguration": {"Mode": "AUTOMATIC"}}
        bought = {**PERSISTENT_2, "PerUnitStorageThroughput": 1000, **efa}
        nodes = cluster(mount(), role={"Fn::GetAtt": ["Role", "Arn"]})
        return storage_rules({"Scratch": scratch(bought), "Role": role, "Cluster": nodes})

    assert judged("ec2:*") == judged("fsx:DescribeBackups") == ["HP3050"]
    assert judged("ec2:*", "fsx:DescribeFileSystems") == judged("fsx:Describe*") == NOTHING


@settled("template")
def test_field_report_C_10_the_cluster_waits_for_file_system_and_links(stack: cdk.Stack, network: hp.Network) -> None:
    data = make(stack, network, "/data", "/results")
    groups = [hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("c", "ml.c5.xlarge", count=1)]
    hp.Cluster(stack, "Cluster", name="train", network=network, groups=groups, mounts={"/fsx": data})
    resources = synthesized(stack)["Resources"]
    links = [name for name, each in resources.items() if each["Type"] == "AWS::FSx::DataRepositoryAssociation"]
    (made,) = (each for each in resources.values() if each["Type"] == "AWS::SageMaker::Cluster")
    assert set(links) <= set(made["DependsOn"])
    assert len(links) == 2

    def judged(nodes: dict[str, Any], **links: dict[str, Any]) -> list[str]:
        return storage_rules({"Scratch": scratch(PERSISTENT_2), "Cluster": nodes, **links})

    assert judged(cluster(mount()), Link=link()) == ["HP3047"]
    assert judged(cluster(mount(), DependsOn="Link"), Link=link()) == NOTHING
    assert judged(cluster(mount())) == NOTHING
    by_script = cluster()
    by_script["Properties"]["InstanceGroups"][1]["LifeCycleConfig"] = {
        "SourceS3Uri": "s3://sagemaker-scripts/train",
        "OnCreate": "on_create.sh",
    }
    assert judged(by_script) == ["HP3047"]
    assert judged({**by_script, "DependsOn": "Scratch"}) == NOTHING
    in_turn = {"First": link("/a"), "Second": link("/b")}
    assert judged(cluster(mount(), DependsOn=["First", "Second"]), **in_turn) == ["HP3034"]
    in_turn["Second"]["DependsOn"] = "First"
    assert judged(cluster(mount(), DependsOn="Second"), **in_turn) == NOTHING


@settled("template")
def test_field_report_C_12_the_mount_name_is_read_and_never_guessed(stack: cdk.Stack, network: hp.Network) -> None:
    data = make(stack, network)
    (name,) = of_type(synthesized(stack), "AWS::FSx::FileSystem")
    assert stack.resolve(data.target.mount_name) == {"Fn::GetAtt": [name, "LustreMountName"]}
    with pytest.raises(hp.InvalidValue, match="mount_name is 'muchtoolongname'"):
        hp.LustreFileSystem.from_attributes(
            dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", mount_name="muchtoolongname"
        )

    def judged(mounted: dict[str, Any], kind: str = "PERSISTENT_2") -> list[str]:
        bought = PERSISTENT_2 if kind == "PERSISTENT_2" else {"DeploymentType": kind}
        second = scratch(PERSISTENT_2)
        found = found_in(
            {"Scratch": scratch(bought, StorageCapacity=2400), "Second": second, "Cluster": cluster(mounted)}
        )
        return [each for each in ids(found) if each.startswith(("HP3", "HP1001"))]

    assert judged(mount(mount_name="fsx")) == ["HP3041"]
    assert judged(mount(mount_name="abcdefgh")) == ["HP3042"]
    assert judged(mount(mount_name="muchtoolongname")) == ["HP1001"]
    assert judged(mount(mount_name={"Ref": "Scratch"})) == ["HP3040"]
    assert judged(mount(mount_name={"Fn::GetAtt": ["Second", "LustreMountName"]})) == ["HP3040"]
    assert judged(mount(mount_name="fsx"), "SCRATCH_1") == NOTHING
    assert judged(mount()) == NOTHING
    elsewhere = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
    assert judged(mount(elsewhere, "abcdefgh")) == judged(mount(elsewhere, "fsx")) == NOTHING
