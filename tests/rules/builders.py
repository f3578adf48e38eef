"""Small deployments for tests of rules: sound by default, so that a test shows only the mistake it is about."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.model.capacity import InstanceGroup, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.model.orchestration import Eks, Slurm
from hyperpod_constructs.rules import RULES

REGION, ACCOUNT, ZONE = "us-west-2", "111122223333", "usw2-az2"
PLACEMENT = VpcPlacement(subnets=("Net/Nodes",), security_groups=("Net/Group",))
SUBNET = Subnet(path="Net/Nodes", zone=ZONE, cidr="10.1.32.0/19")


def compute(**fields: Any) -> InstanceGroup:
    """A group `p5` of two `ml.p5.48xlarge` in the partition `train`."""
    defaults = {
        "name": "p5",
        "instance_type": "ml.p5.48xlarge",
        "count": 2,
        "node_type": "Compute",
        "partitions": ("train",),
    }
    return InstanceGroup(**{**defaults, **fields})


def controller(**fields: Any) -> InstanceGroup:
    """The group `controller` of one `ml.m5.4xlarge`."""
    defaults = {"name": "controller", "instance_type": "ml.m5.4xlarge", "count": 1, "node_type": "Controller"}
    return InstanceGroup(**{**defaults, **fields})


def login(**fields: Any) -> InstanceGroup:
    """The group `login` of one `ml.m5.2xlarge`."""
    defaults = {"name": "login", "instance_type": "ml.m5.2xlarge", "count": 1, "node_type": "Login"}
    return InstanceGroup(**{**defaults, **fields})


def plan(**fields: Any) -> TrainingPlan:
    """The plan `frontier`: 32 instances in the zone of the cluster."""
    defaults = {"plan": "frontier", "count": 32, "zone": ZONE, "starts": "2026-12-07", "ends": "2027-02-14"}
    return TrainingPlan(**{**defaults, **fields})


def cluster(**fields: Any) -> Cluster:
    """A Slurm cluster `Train` with one controller and `compute()`; every field can be replaced."""
    defaults = {
        "path": "Train",
        "name": "train",
        "groups": (controller(), compute()),
        "orchestrator": Slurm(),
        "provisioning": "Continuous",
        "placement": PLACEMENT,
        "account": ACCOUNT,
        "region": REGION,
    }
    return Cluster(**{**defaults, **fields})


def slurm_cluster(*groups: InstanceGroup, **fields: Any) -> Cluster:
    """A Slurm cluster of one controller and these groups."""
    return cluster(groups=(controller(), *groups), **fields)


def eks_cluster(*groups: InstanceGroup, **fields: Any) -> Cluster:
    """An EKS cluster of these groups, which must have neither role nor partition."""
    return cluster(groups=groups, **{"orchestrator": Eks(cluster="Kubernetes"), **fields})


def kubernetes(**fields: Any) -> InstanceGroup:
    """`compute()` as an EKS cluster has it: without role and partition."""
    return compute(**{"node_type": None, "partitions": (), **fields})


def deployment(*clusters: Cluster, **fields: Any) -> Deployment:
    """A deployment of these clusters and the subnet in which they stand."""
    return Deployment(clusters=clusters, **{"subnets": (SUBNET,), **fields})


def told(rule: str, judged: Deployment) -> list[str]:
    """`RULE message | fix` of each finding of one rule, so that other rules do not disturb its tests."""
    return [f"{found.rule} {found.message} | {found.fix}" for found in RULES[rule].findings(judged)]


def of_slurm(rule: str, *groups: InstanceGroup, **fields: Any) -> list[str]:
    """What a rule says of a Slurm cluster with a controller and these groups."""
    return told(rule, deployment(slurm_cluster(*groups, **fields)))
