"""Pairs of clusters on Slurm and of the stacks around them: what is deployed, what is proposed, what is said of it.

Frontier is the cluster of app.py: the blueprint, with a foundation that exports and a budget. Research is one stack of
the constructs themselves, in which nothing is exported.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2, aws_kms as kms, aws_s3 as s3

import hyperpod_constructs as hp
from hyperpod_constructs.review.impacts import Verdict
from tests.review import snapshots
from tests.review.comparing import Edited, Make, Pair, Template

ENV: Final = cdk.Environment(account="111122223333", region="us-west-2")
KEY: Final = "arn:aws:kms:us-west-2:111122223333:key/01234567-89ab-cdef-0123-456789abcdef"
SCRIPTS: Final = Path(__file__).parents[2] / "examples" / "lifecycle"


def p5(**options: Any) -> hp.InstanceGroup:
    return hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", **{"count": 30, "spares": 2, **options})


def p5en(name: str = "p5en") -> hp.InstanceGroup:
    return hp.InstanceGroup.compute(name, "ml.p5en.48xlarge", count=30, spares=2)


def lustre(**options: Any) -> hp.Lustre:
    return hp.Lustre(**{"capacity_gib": 48_000, "throughput_mbps_per_tib": 500, **options})


def on_plan(name: str, **options: Any) -> hp.InstanceGroup:
    """A group on a plan of 32 that ends in ten weeks."""
    plan = hp.TrainingPlan(name, count=32, zone="usw2-az2", starts="2026-11-01", ends="2027-02-14")
    return p5(capacity=plan, **options)


def frontier(*workers: hp.InstanceGroup, name: str = "Frontier", **options: Any) -> Make:
    """An app with the cluster of app.py, on demand where the workers are left out, and without steps on its nodes."""
    heads = (hp.InstanceGroup.controller("ml.m5.4xlarge"), hp.InstanceGroup.login("ml.m5.2xlarge"))
    given = {
        "zone": "usw2-az2",
        "groups": (*heads, *(workers or (p5(),))),
        "storage": lustre(),
        "alerts": ["ml-platform@example.com"],
        "lifecycle": hp.LifecycleScripts.ami_only(),
        **options,
    }
    return lambda app: hp.SlurmTraining(app, name, env=ENV, **given)


def research(
    *,
    scratch: str = "Scratch",
    checkpoints: str | None = "Checkpoints",
    results: bool = True,
    storage: Callable[[cdk.Stack, hp.ClusterNetwork], dict[str, Any]] | None = None,
    edit: Callable[[hp.Cluster, hp.LustreFileSystem], None] | None = None,
    **options: Any,
) -> Make:
    """An app with network, file system, cluster and two buckets in one stack.

    Args:
        scratch: Id of the file system.
        checkpoints: Id of a bucket that is kept.
        results: Whether there is a bucket that is not.
        storage: More options of the file system.
        edit: Changes what was made.
        options: More options of the cluster.
    """

    def make(app: cdk.App) -> None:
        stack = cdk.Stack(app, "Research", env=ENV)
        network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2", "usw2-az4"], flow_logs=False)
        size = lustre(capacity_gib=4_800)
        more = storage(stack, network) if storage else {}
        made = hp.LustreFileSystem(stack, scratch, network=network, lustre=size, **more)
        groups = (
            hp.InstanceGroup.controller("ml.m5.2xlarge"),
            hp.InstanceGroup.compute("g6e", "ml.g6e.12xlarge", count=4, spares=1),
        )
        given = {"network": network, "groups": groups, "mounts": {"/fsx": made}, **options}
        cluster = hp.Cluster(stack, "Cluster", name="research", **given)
        if checkpoints:
            hp.CheckpointBucket(stack, checkpoints)
        if results:
            s3.Bucket(stack, "Results", removal_policy=cdk.RemovalPolicy.DESTROY)
        if edit:
            edit(cluster, made)

    return make


def reads(cluster: hp.Cluster, _: hp.LustreFileSystem) -> None:
    s3.Bucket.from_bucket_name(cluster, "Datasets", "example-datasets").grant_read(cluster.role("g6e"))


def writes(cluster: hp.Cluster, _: hp.LustreFileSystem) -> None:
    s3.Bucket.from_bucket_name(cluster, "Datasets", "example-datasets").grant_read_write(cluster.role("g6e"))


def opens(cluster: hp.Cluster, _: hp.LustreFileSystem) -> None:
    cluster.connections.allow_from_any_ipv4(ec2.Port.tcp(22), "for a while")


def too_small(_: hp.Cluster, scratch: hp.LustreFileSystem) -> None:
    """Asks FSx for a size that it does not sell, behind the back of the constructor."""
    resource = scratch.node.default_child
    assert isinstance(resource, cdk.CfnResource)
    resource.add_property_override("StorageCapacity", 3_000)


def with_scripts(line: str) -> Make:
    """Research with the scripts of the examples, of which one has a line more."""

    def make(app: cdk.App) -> None:
        folder = Path(app.outdir).with_suffix(".scripts")
        shutil.copytree(SCRIPTS, folder)
        with (folder / "on_init_complete.sh").open("a", encoding="utf-8") as file:
            file.write(line)
        research(lifecycle=hp.LifecycleScripts.extended(folder))(app)

    return make


def with_smoke(app: cdk.App) -> None:
    """Frontier, and a second cluster in stacks of its own."""
    ON_DEMAND(app)
    groups = (hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1))
    hp.SlurmTraining(app, "Smoke", env=ENV, zone="usw2-az2", groups=groups)


def resource_of(template: Template, kind: str, name: str = "") -> dict[str, Any]:
    """The only resource of a type whose logical id begins with a text."""
    found = [(key, each) for key, each in template["Resources"].items() if each["Type"] == kind]
    (only,) = (each for key, each in found if key.startswith(name))
    return only  # type: ignore[no-any-return]


def four_more(template: Template) -> None:
    groups = resource_of(template, "AWS::SageMaker::Cluster")["Properties"]["InstanceGroups"]
    next(each for each in groups if each["InstanceGroupName"] == "p5")["InstanceCount"] += 4


def deleted_with_its_stack(template: Template) -> None:
    policies = {"DeletionPolicy": "Delete", "UpdateReplacePolicy": "Delete"}
    resource_of(template, "AWS::FSx::FileSystem").update(policies)


def another_security_group(template: Template) -> None:
    resource_of(template, "AWS::FSx::FileSystem")["Properties"]["SecurityGroupIds"] = ["sg-0123456789abcdef0"]


def another_block(template: Template) -> None:
    """Moves the subnet in which the cluster stands."""
    resource_of(template, "AWS::EC2::Subnet", "NetworkNodesusw2az2")["Properties"]["CidrBlock"] = "10.0.192.0/19"


def running(nodes: int, *others: dict[str, Any], group: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A snapshot of Frontier with so many nodes of p5."""
    bare: dict[str, Any] = {"scripts": None, "file_systems": []}
    return snapshots.snapshot(
        snapshots.group("controller", 1, instance_type="ml.m5.4xlarge", **bare),
        snapshots.group("login", 1, instance_type="ml.m5.2xlarge", **bare),
        snapshots.group("p5", nodes, **bare, **(group or {})),
        *others,
        **fields,
    )


PREPARE: Final = hp.InstanceGroup.compute("prepare", "ml.m5.4xlarge", count=4)
ON_DEMAND: Final = frontier()
ON_PLAN: Final = frontier(on_plan("frontier"))
BOTH: Final = frontier(p5(), p5en())
MIXED: Final = frontier(p5(), PREPARE)
RESEARCH: Final = research()
READS: Final = research(edit=reads)
REFUSED: Final = research(edit=too_small)
"""An app of which the synthesis fails."""

RENAMED: Final = hp.InstanceGroup.compute("train", "ml.p5.48xlarge", count=30, spares=2, partition="p5")

OLD_NODES: Final = (
    "its nodes are there: `aws sagemaker list-cluster-nodes --cluster-name Frontier --instance-group-name-contains p5`"
)
"""A step that would look at the old group for the nodes of the new one."""

PAIRS: Final = (
    Pair(name="slurm-unchanged", base=ON_DEMAND, head=ON_DEMAND, verdict=Verdict.UNCHANGED),
    Pair(name="slurm-groups-reordered", base=MIXED, head=frontier(PREPARE, p5()), verdict=Verdict.UNCHANGED),
    Pair(
        name="slurm-scale-up",
        base=ON_DEMAND,
        head=frontier(p5(count=46)),
        verdict=Verdict.SAFE,
        quiet=("Frontier/Cluster/p5 InstanceGroups.InstanceCount in-place",),
    ),
    Pair(
        name="slurm-scale-up-on-plan",
        base=frontier(on_plan("frontier", count=16)),
        head=ON_PLAN,
        verdict=Verdict.SAFE,
        quiet=("Frontier/Cluster/p5 InstanceGroups.InstanceCount in-place",),
    ),
    Pair(
        name="slurm-scale-down",
        base=ON_DEMAND,
        head=frontier(p5(count=26)),
        verdict=Verdict.DESTROYS,
        loud=("Frontier/Cluster/p5 InstanceGroups.InstanceCount nodes-lost",),
        holds=("node-loss",),
    ),
    Pair(
        name="slurm-scale-up-below-live",
        base=ON_DEMAND,
        head=frontier(p5(count=34)),
        verdict=Verdict.DESTROYS,
        never=("nothing restarts",),
        loud=("Frontier/Cluster/p5 InstanceGroups.InstanceCount nodes-lost",),
        holds=("node-loss",),
        live=running(40),
    ),
    Pair(name="slurm-drift-only", base=ON_DEMAND, head=ON_DEMAND, verdict=Verdict.UNCHANGED, live=running(40)),
    Pair(
        name="slurm-drift-and-tags",
        base=ON_DEMAND,
        head=frontier(tags={"cost-center": "4711"}),
        verdict=Verdict.DESTROYS,
        never=("8 running nodes go",),
        loud=("Frontier/Cluster/p5 InstanceGroups.InstanceCount nodes-lost",),
        holds=("node-loss",),
        live=running(40),
    ),
    Pair(
        name="slurm-count-above-plan",
        base=ON_PLAN,
        head=Edited(app=ON_PLAN, stack="Frontier", edit=four_more),
        verdict=Verdict.BLOCKED,
        quiet=("Frontier/Cluster/p5 InstanceGroups.InstanceCount in-place",),
        holds=("error",),
    ),
    Pair(
        name="slurm-plan-expired",
        base=ON_PLAN,
        head=frontier(on_plan("frontier"), tags={"cost-center": "4711"}),
        verdict=Verdict.RESTARTS,
        holds=("open",),
        loud=("Frontier/Cluster/p5 InstanceGroups.TrainingPlanArn open",),
        live=running(
            32,
            group={"plan": snapshots.PLAN, "plan_status": "Expired"},
            plans=[snapshots.plan(status="Expired", ends="2026-11-29T09:10:00+00:00")],
        ),
    ),
    Pair(
        name="slurm-plan-swap",
        base=ON_PLAN,
        head=frontier(on_plan("frontier-2")),
        verdict=Verdict.RESTARTS,
        holds=("open",),
        loud=("Frontier/Cluster/p5 InstanceGroups.TrainingPlanArn open",),
    ),
    Pair(
        name="slurm-type-of-a-group",
        base=ON_DEMAND,
        head=frontier(p5en("p5")),
        verdict=Verdict.BLOCKED,
        never=(OLD_NODES,),
        loud=("Frontier/Cluster/p5 InstanceGroups.InstanceType refused",),
        holds=("error",),
    ),
    Pair(
        name="slurm-type-in-one-deploy",
        base=ON_DEMAND,
        head=frontier(p5en()),
        verdict=Verdict.BLOCKED,
        never=(OLD_NODES,),
        loud=("Frontier/Cluster/p5 InstanceGroups group-replaced",),
        quiet=("Frontier/Cluster/p5en InstanceGroups created",),
        holds=("replacement", "node-loss", "error"),
    ),
    Pair(
        name="slurm-type-first-step",
        base=ON_DEMAND,
        head=BOTH,
        verdict=Verdict.SAFE,
        quiet=("Frontier/Cluster/p5en InstanceGroups created",),
    ),
    Pair(
        name="slurm-type-second-step",
        base=BOTH,
        head=frontier(p5en()),
        verdict=Verdict.DESTROYS,
        loud=("Frontier/Cluster/p5 InstanceGroups nodes-lost",),
        holds=("node-loss",),
    ),
    Pair(
        name="slurm-type-second-step-drained",
        base=BOTH,
        head=frontier(p5en()),
        verdict=Verdict.DESTROYS,
        loud=("Frontier/Cluster/p5 InstanceGroups nodes-lost",),
        holds=("node-loss",),
        live=running(32, snapshots.group("p5en", 32, instance_type="ml.p5en.48xlarge", scripts=None, file_systems=[])),
    ),
    Pair(
        name="slurm-type-second-step-emptied",
        base=BOTH,
        head=frontier(p5en()),
        verdict=Verdict.SAFE,
        live=running(
            0,
            snapshots.group("p5en", 32, instance_type="ml.p5en.48xlarge", scripts=None, file_systems=[]),
            group={"nodes": {}},
        ),
    ),
    Pair(
        name="slurm-group-renamed",
        base=ON_DEMAND,
        head=frontier(RENAMED),
        verdict=Verdict.BLOCKED,
        never=(OLD_NODES,),
        loud=("Frontier/Cluster/p5 InstanceGroups group-replaced",),
        quiet=("Frontier/Cluster/train InstanceGroups created",),
        holds=("replacement", "node-loss", "error"),
    ),
    Pair(
        name="slurm-group-removed",
        base=MIXED,
        head=ON_DEMAND,
        verdict=Verdict.DESTROYS,
        loud=("Frontier/Cluster/prepare InstanceGroups nodes-lost",),
        holds=("node-loss",),
    ),
    Pair(
        name="slurm-group-added",
        base=ON_DEMAND,
        head=MIXED,
        verdict=Verdict.SAFE,
        quiet=("Frontier/Cluster/prepare InstanceGroups created",),
    ),
    Pair(
        name="slurm-spare-to-work",
        base=ON_DEMAND,
        head=frontier(p5(count=31, spares=1)),
        verdict=Verdict.SAFE,
        quiet=("Frontier/Cluster/p5 spares in-place",),
    ),
    Pair(
        name="slurm-zone-exported",
        base=ON_DEMAND,
        head=frontier(zone="usw2-az4"),
        verdict=Verdict.BLOCKED,
        loud=(
            "Frontier-Foundation Outputs.Export refused",
            "Frontier-Foundation/Network/DefaultRoute NatGatewayId rolling",
            "Frontier-Foundation/Network/Nat-usw2-az2 destroyed",
            "Frontier-Foundation/Network/NatAddress-usw2-az2 destroyed",
            "Frontier-Foundation/Network/Nodes-usw2-az2 stays",
            "Frontier-Foundation/Network/Public-usw2-az2 destroyed",
            "Frontier-Foundation/Network/PublicAssociation SubnetId replaced",
            "Frontier-Foundation/Storage Outputs.Export refused",
            "Frontier-Foundation/Storage SubnetIds left-behind",
            "Frontier/Cluster VpcConfig.Subnets refused",
            "Frontier/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Frontier/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Frontier/Cluster/login InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Frontier/Cluster/login InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Frontier/Cluster/p5 InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Frontier/Cluster/p5 InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
        ),
        holds=("replacement", "data-loss", "error"),
    ),
    Pair(
        name="slurm-fsx-subnet",
        base=RESEARCH,
        head=research(storage=lambda *_: {"zone": "usw2-az4"}),
        verdict=Verdict.DESTROYS,
        loud=(
            "Research/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Research/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Research/Cluster/g6e InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Research/Cluster/g6e InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Research/Scratch SubnetIds left-behind",
        ),
        holds=("replacement", "data-loss"),
    ),
    Pair(
        name="slurm-fsx-security-group",
        base=RESEARCH,
        head=Edited(app=RESEARCH, stack="Research", edit=another_security_group),
        verdict=Verdict.DESTROYS,
        loud=(
            "Research/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Research/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Research/Cluster/g6e InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Research/Cluster/g6e InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Research/Scratch SecurityGroupIds left-behind",
        ),
        holds=("replacement", "data-loss"),
    ),
    Pair(
        name="slurm-fsx-key",
        base=RESEARCH,
        head=research(storage=lambda stack, _: {"key": kms.Key.from_key_arn(stack, "Key", KEY)}),
        verdict=Verdict.DESTROYS,
        loud=(
            "Research/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Research/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Research/Cluster/g6e InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Research/Cluster/g6e InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Research/Scratch KmsKeyId left-behind",
        ),
        holds=("replacement", "data-loss"),
    ),
    Pair(
        name="slurm-fsx-larger",
        base=ON_DEMAND,
        head=frontier(storage=lustre(capacity_gib=57_600)),
        verdict=Verdict.SAFE,
        quiet=("Frontier-Foundation/Storage StorageCapacity in-place",),
    ),
    Pair(
        name="slurm-fsx-smaller",
        base=ON_DEMAND,
        head=frontier(storage=lustre(capacity_gib=38_400)),
        verdict=Verdict.BLOCKED,
        loud=("Frontier-Foundation/Storage StorageCapacity refused",),
        holds=("error",),
    ),
    Pair(
        name="slurm-fsx-throughput",
        base=ON_DEMAND,
        head=frontier(storage=lustre(throughput_mbps_per_tib=1000)),
        verdict=Verdict.SAFE,
        quiet=("Frontier-Foundation/Storage LustreConfiguration.PerUnitStorageThroughput in-place",),
    ),
    Pair(
        name="slurm-fsx-deletion-policy",
        base=RESEARCH,
        head=Edited(app=RESEARCH, stack="Research", edit=deleted_with_its_stack),
        verdict=Verdict.SAFE,
        loud=(
            "Research/Scratch DeletionPolicy unprotected",
            "Research/Scratch UpdateReplacePolicy unprotected",
        ),
        holds=("data-loss",),
    ),
    Pair(
        name="slurm-fsx-moved",
        base=RESEARCH,
        head=research(scratch="Storage"),
        verdict=Verdict.DESTROYS,
        loud=(
            "Research/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Research/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Research/Cluster/g6e InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Research/Cluster/g6e InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Research/Scratch left-behind",
        ),
        quiet=("Research/Storage created",),
        holds=("data-loss",),
    ),
    Pair(
        name="slurm-fsx-taken-out",
        base=ON_DEMAND,
        head=frontier(storage=None),
        verdict=Verdict.BLOCKED,
        loud=(
            "Frontier-Foundation Outputs.Export refused",
            "Frontier-Foundation/Storage left-behind",
            "Frontier/Cluster/controller InstanceGroups.InstanceStorageConfigs new-nodes",
            "Frontier/Cluster/login InstanceGroups.InstanceStorageConfigs new-nodes",
            "Frontier/Cluster/p5 InstanceGroups.InstanceStorageConfigs new-nodes",
        ),
        holds=("data-loss", "error"),
    ),
    Pair(
        name="slurm-cluster-name",
        base=ON_DEMAND,
        head=frontier(generation=2),
        verdict=Verdict.REPLACES,
        loud=("Frontier/Cluster ClusterName replaced",),
        holds=("replacement", "node-loss"),
    ),
    Pair(
        name="slurm-vpc-config",
        base=RESEARCH,
        head=research(zone="usw2-az4"),
        verdict=Verdict.BLOCKED,
        loud=("Research/Cluster VpcConfig.Subnets refused",),
        holds=("error",),
    ),
    Pair(
        name="slurm-subnet-block-exported",
        base=ON_DEMAND,
        head=Edited(app=ON_DEMAND, stack="Frontier-Foundation", edit=another_block),
        verdict=Verdict.BLOCKED,
        loud=(
            "Frontier-Foundation/Network/Nodes-usw2-az2 CidrBlock replaced",
            "Frontier-Foundation/Network/Nodes-usw2-az2 Outputs.Export refused",
            "Frontier-Foundation/Network/Routes-usw2-az2 SubnetId replaced",
            "Frontier-Foundation/Storage Outputs.Export refused",
            "Frontier-Foundation/Storage SubnetIds left-behind",
            "Frontier/Cluster VpcConfig.Subnets refused",
            "Frontier/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Frontier/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Frontier/Cluster/login InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Frontier/Cluster/login InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Frontier/Cluster/p5 InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Frontier/Cluster/p5 InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
        ),
        holds=("replacement", "data-loss", "error"),
    ),
    Pair(
        name="slurm-subnet-block",
        base=RESEARCH,
        head=Edited(app=RESEARCH, stack="Research", edit=another_block),
        verdict=Verdict.BLOCKED,
        loud=(
            "Research/Cluster VpcConfig.Subnets refused",
            "Research/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Research/Cluster/controller InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Research/Cluster/g6e InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Research/Cluster/g6e InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Research/Network/Nodes-usw2-az2 CidrBlock replaced",
            "Research/Network/Routes-usw2-az2 SubnetId replaced",
            "Research/Scratch SubnetIds left-behind",
        ),
        holds=("replacement", "data-loss", "error"),
    ),
    Pair(
        name="slurm-script",
        base=with_scripts(""),
        head=with_scripts("sysctl -w vm.swappiness=1\n"),
        verdict=Verdict.SAFE,
        loud=(
            "Research/Cluster/controller InstanceGroups.LifeCycleConfig.SourceS3Uri new-nodes",
            "Research/Cluster/g6e InstanceGroups.LifeCycleConfig.SourceS3Uri new-nodes",
        ),
    ),
    Pair(
        name="slurm-role-widened",
        base=READS,
        head=research(edit=writes),
        verdict=Verdict.SAFE,
        quiet=("Research/Cluster/Roles/Group-g6e/DefaultPolicy PolicyDocument.Statement.Action in-place",),
    ),
    Pair(
        name="slurm-port-opened",
        base=RESEARCH,
        head=research(edit=opens),
        verdict=Verdict.SAFE,
        quiet=("Research/Network/FabricGroup/from 0.0.0.0_0:22 created",),
    ),
    Pair(
        name="slurm-bucket-moved",
        base=RESEARCH,
        head=research(checkpoints="Archive"),
        verdict=Verdict.DESTROYS,
        loud=("Research/Checkpoints left-behind",),
        quiet=("Research/Archive created",),
        holds=("data-loss",),
    ),
    Pair(
        name="slurm-kept-bucket-removed",
        base=RESEARCH,
        head=research(checkpoints=None),
        verdict=Verdict.DESTROYS,
        loud=("Research/Checkpoints left-behind",),
        holds=("data-loss",),
    ),
    Pair(
        name="slurm-bucket-removed",
        base=RESEARCH,
        head=research(results=False),
        verdict=Verdict.DESTROYS,
        loud=("Research/Results data-lost",),
        holds=("data-loss",),
    ),
    Pair(
        name="slurm-stack-taken-out",
        base=with_smoke,
        head=ON_DEMAND,
        verdict=Verdict.DESTROYS,
        never=("-0.43",),
        loud=(
            "Smoke left-behind",
            "Smoke-Foundation left-behind",
        ),
    ),
    Pair(
        name="slurm-alerts-taken-out",
        base=ON_DEMAND,
        head=frontier(alerts=()),
        verdict=Verdict.SAFE,
        loud=("Frontier-Budget stays",),
        quiet=("Frontier/Notices removed",),
    ),
    Pair(
        name="slurm-tags",
        base=ON_DEMAND,
        head=frontier(tags={"cost-center": "4711"}),
        verdict=Verdict.SAFE,
        quiet=("Frontier/Cluster Tags in-place",),
    ),
    Pair(
        name="slurm-budget-notice",
        base=ON_DEMAND,
        head=frontier(budget=hp.Budget(actual_percent=(50, 90))),
        verdict=Verdict.REPLACES,
        never=("the update is refused",),
        loud=("Frontier-Budget/Budget NotificationsWithSubscribers replaced",),
        holds=("replacement",),
    ),
)


# ---- Replacement that goes on into stacks of which nobody touched the text

SUBNET: Final = "AWS::EC2::Subnet"
STACK: Final = "AWS::CloudFormation::Stack"


def subnet(block: int) -> dict[str, Any]:
    return {"Type": SUBNET, "Properties": {"VpcId": "vpc-0123456789abcdef0", "CidrBlock": f"10.0.{block}.0/24"}}


def scratch_in(subnet_id: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::FSx::FileSystem",
        "DeletionPolicy": "RetainExceptOnCreate",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "FileSystemType": "LUSTRE",
            "StorageCapacity": 1_200,
            "SubnetIds": [subnet_id],
            "LustreConfiguration": {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
        },
    }


def cluster_in(subnet_id: Any, mount: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A cluster without a name of its own, so that a replacement is not refused."""
    storage = {"InstanceStorageConfigs": [{"FsxLustreConfig": mount}]} if mount else {}
    group = {"InstanceGroupName": "cpu", "InstanceType": "ml.c5.xlarge", "InstanceCount": 1, **storage}
    group |= {"ExecutionRole": "arn:aws:iam::111122223333:role/nodes", "SlurmConfig": {"NodeType": "Controller"}}
    network = {"Subnets": [subnet_id], "SecurityGroupIds": ["sg-0123456789abcdef0"]}
    properties = {"InstanceGroups": [group], "VpcConfig": network, "NodeProvisioningMode": "Continuous"}
    return {"Type": "AWS::SageMaker::Cluster", "Properties": {**properties, "Orchestrator": {"Slurm": {}}}}


def template(outputs: Mapping[str, Any] | None = None, **resources: Any) -> Template:
    return {"Resources": resources, **({"Outputs": outputs} if outputs else {})}


def app_of(**templates: Template) -> dict[str, Template]:
    """Stacks that an app deploys to one account and Region."""
    artifacts = {
        name: {
            "type": "aws:cloudformation:stack",
            "environment": "aws://111122223333/us-west-2",
            "properties": {"templateFile": f"{name}.json"},
        }
        for name in templates
    }
    return {**templates, "manifest": {"version": "55.0.0", "artifacts": artifacts}}


def by_ref(block: int) -> dict[str, Template]:
    """One stack: the file system refers to the subnet, the cluster to an attribute of the file system."""
    mount = {"DnsName": {"Fn::GetAtt": ["Scratch", "DNSName"]}, "MountName": {"Fn::GetAtt": "Scratch.LustreMountName"}}
    cluster = cluster_in("subnet-0123456789abcdef0", mount)
    return app_of(Train=template(Subnet=subnet(block), Scratch=scratch_in({"Ref": "Subnet"}), Cluster=cluster))


def by_export(block: int) -> dict[str, Template]:
    exported = {"Id": {"Value": {"Ref": "Subnet"}, "Export": {"Name": "net-subnet"}}}
    scratch = scratch_in({"Fn::ImportValue": "net-subnet"})
    return app_of(Net=template(exported, Subnet=subnet(block)), Train=template(Scratch=scratch))


def by_stack_output(block: int) -> dict[str, Template]:
    output = {"Fn::GetStackOutput": {"StackName": "Net", "OutputName": "Id"}}
    net = template({"Id": {"Value": {"Ref": "Subnet"}}}, Subnet=subnet(block))
    return app_of(Net=net, Train=template(Scratch=scratch_in(output), Cluster=cluster_in(output)))


def by_parameter(block: int) -> dict[str, Template]:
    """Two nested stacks: what one of them makes is a parameter of the other."""
    url = "https://templates.s3.amazonaws.com/{}.json"
    given = {"SubnetId": {"Fn::GetAtt": ["Network", "Outputs.Id"]}}
    root = template(
        Network={"Type": STACK, "Properties": {"TemplateURL": url.format("network")}},
        Storage={"Type": STACK, "Properties": {"TemplateURL": url.format("storage"), "Parameters": given}},
    )
    storage = template(Scratch=scratch_in({"Ref": "SubnetId"})) | {"Parameters": {"SubnetId": {"Type": "String"}}}
    network = template({"Id": {"Value": {"Ref": "Subnet"}}}, Subnet=subnet(block))
    return {"root": root, "network": network, "storage": storage}


SPREAD: Final = (
    Pair(
        name="spread-ref",
        base=by_ref(1),
        head=by_ref(2),
        verdict=Verdict.DESTROYS,
        loud=(
            "Train/Cluster/cpu InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName new-nodes",
            "Train/Cluster/cpu InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.MountName new-nodes",
            "Train/Scratch SubnetIds left-behind",
            "Train/Subnet CidrBlock replaced",
        ),
        holds=("replacement", "data-loss"),
    ),
    Pair(
        name="spread-export",
        base=by_export(1),
        head=by_export(2),
        verdict=Verdict.BLOCKED,
        loud=(
            "Net/Subnet CidrBlock replaced",
            "Net/Subnet Outputs.Export refused",
            "Train/Scratch SubnetIds left-behind",
        ),
        holds=("replacement", "data-loss", "error"),
    ),
    Pair(
        name="spread-stack-output",
        base=by_stack_output(1),
        head=by_stack_output(2),
        verdict=Verdict.DESTROYS,
        never=("the running cluster stays",),
        loud=(
            "Net/Subnet CidrBlock replaced",
            "Train/Cluster VpcConfig.Subnets replaced",
            "Train/Scratch SubnetIds left-behind",
        ),
        holds=("replacement", "data-loss", "node-loss"),
    ),
    Pair(
        name="spread-parameter",
        base=by_parameter(1),
        head=by_parameter(2),
        verdict=Verdict.DESTROYS,
        loud=(
            "root.json/Network/Subnet CidrBlock replaced",
            "root.json/Storage/Scratch SubnetIds left-behind",
        ),
        holds=("replacement", "data-loss"),
    ),
)
