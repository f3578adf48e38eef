"""How many, how large, how named: limits of the services, and the quotas of an account.

A limit holds in every account and cannot be raised. A quota is a limit of one account in one Region; what it is there
is known only to Service Quotas, so this module has names to ask for and values that were once seen.

Sources: `API` is botocore 1.44.8, `CFN` the registry schemas in cfn-lint 1.58.0 (2026-10-20), `guide` the SageMaker
developer guide as of October 2026.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, time, timedelta
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A range of numbers, both ends included.

    Attributes:
        low: Smallest allowed value.
        high: Largest allowed value.
        source: Where the range is stated.
    """

    low: float
    high: float
    source: str

    def allows(self, value: float) -> bool:
        """Whether a value lies in the range."""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Which texts a field takes.

    Attributes:
        pattern: Regular expression for the whole text.
        low: Fewest characters.
        high: Most characters.
        says: The pattern in words, for messages.
        source: Where pattern and length are stated.
    """

    pattern: str
    low: int
    high: int
    says: str
    source: str

    def allows(self, text: str) -> bool:
        """Whether a text can be used."""
        return self.low <= len(text) <= self.high and re.fullmatch(self.pattern, text) is not None


_WORDS = "letters, digits and hyphens, beginning and ending with a letter or digit"
_PATTERN = r"[a-zA-Z0-9](-*[a-zA-Z0-9])*"

NAME: Final = Text(
    pattern=_PATTERN, low=1, high=63, says=_WORDS, source="API, ClusterName and ClusterInstanceGroupName"
)
PARTITION_NAME: Final = Text(
    pattern=_PATTERN, low=1, high=1024, says=_WORDS, source="CFN, ClusterSlurmConfig PartitionNames"
)

# Cluster and instance groups.
GROUPS: Final = Limit(low=1, high=100, source="API, CreateCluster InstanceGroups; CFN")
GROUPS_IN_GUIDES: Final = Limit(
    low=1, high=20, source="guide, CLI pages for EKS and for Slurm: up to 20 groups; the API page says 100 (conflict)"
)
INSTANCE_COUNT: Final = Limit(low=0, high=6758, source="API, ClusterInstanceCount")
FLEXIBLE_TYPES: Final = Limit(low=1, high=20, source="CFN, InstanceRequirements InstanceTypes")
SECURITY_GROUPS: Final = Limit(low=1, high=5, source="API, VpcConfig SecurityGroupIds")
SUBNETS: Final = Limit(low=1, high=16, source="API, VpcConfig Subnets")
THREADS_PER_CORE: Final = Limit(low=1, high=2, source="API, ClusterThreadsPerCore")
ROLLBACK_ALARMS: Final = Limit(low=1, high=10, source="API, DeploymentConfiguration AutoRollbackConfiguration")
ROLLING_WAIT_SECONDS: Final = Limit(low=0, high=3600, source="API, DeploymentConfiguration WaitIntervalInSeconds")

# Storage of a node.
MOUNT_PATH_LENGTH: Final = Limit(low=1, high=1024, source="CFN, ClusterFsxLustreConfig MountPath")
LUSTRE_CONFIGS: Final = Limit(low=0, high=1, source="guide, sagemaker-hyperpod-ref: one Lustre mount for each group")
OPENZFS_CONFIGS: Final = Limit(low=0, high=1, source="guide, sagemaker-hyperpod-ref: one OpenZFS mount for each group")
VOLUME_GB: Final = Limit(low=1, high=16_384, source="API, ClusterEbsVolumeSizeInGB")

# Budgets.
BUDGET_NOTIFICATIONS: Final = Limit(
    low=0, high=5, source="API, Budgets CreateBudget: 5; the text of Notification says 10 (conflict)"
)
BUDGET_EMAILS: Final = Limit(
    low=0, high=10, source="Cost Management guide, budgets-best-practices: for one notification"
)
BUDGET_TOPICS: Final = Limit(
    low=0, high=1, source="Cost Management guide, budgets-best-practices: for one notification"
)

# Training plans. Source of all: guide, reserve-capacity-with-training-plans.
PLAN_COUNTS: Final = (1, 2, 4, 8, 16, 32, 64)
PLAN_CHANGES_AT: Final = time(11, 30, tzinfo=UTC)
"""Plans start and end at this time of the day."""
PLAN_DRAIN: Final = timedelta(hours=1)
"""HyperPod begins to terminate nodes this long before the end of every reserved block."""
PLAN_TYPES: Final = (
    "ml.p4d.24xlarge",
    "ml.p5.4xlarge",
    "ml.p5.48xlarge",
    "ml.p5e.48xlarge",
    "ml.p5en.48xlarge",
    "ml.p6-b200.48xlarge",
    "ml.p6-b300.48xlarge",
    "ml.trn1.32xlarge",
    "ml.trn2.48xlarge",
)
"""Types sold to everybody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """A limit of one account in one Region.

    Select by `name`: public lists of codes contradict each other, and the code here is a cross-check.

    Attributes:
        name: Exact name in Service Quotas.
        service: Service code, for example `sagemaker`.
        code: Quota code; `None` where none was seen.
        seen: Values that were seen in accounts, lowest first; empty where none was.
        source: Where name, code and values were seen.
    """

    name: str
    service: str = "sagemaker"
    code: str | None = None
    seen: tuple[int, ...] = ()
    source: str


_ACCOUNT = "one account, public report of 2026-10-04"
_GUIDE = "guide, sagemaker-hyperpod-prerequisites"

INSTANCES_PER_CLUSTER: Final = Quota(
    name="Maximum number instances allowed per SageMaker HyperPod cluster",
    code="L-2CE978FC",
    seen=(20,),
    source=f"{_ACCOUNT}, and a public catalogue of codes",
)
INSTANCES_IN_ALL_CLUSTERS: Final = Quota(
    name="Total number of instances allowed across SageMaker HyperPod clusters",
    code="L-3308CCC7",
    seen=(30,),
    source=_ACCOUNT,
)
SPOT_INSTANCES_IN_ALL_CLUSTERS: Final = Quota(
    name="Total number of Spot instances allowed across SageMaker HyperPod clusters",
    code="L-97A2C724",
    seen=(0,),
    source=_ACCOUNT,
)
VOLUME_SIZE_GB: Final = Quota(
    name="Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance",
    code="L-E13DF72A",
    seen=(1024,),
    source=_ACCOUNT,
)
TRAINING_PLANS: Final = Quota(
    name="Number of training plans per Region",
    code="L-867702E6",
    seen=(25,),
    source=f"guide, training-plan-quotas; {_ACCOUNT}",
)
NETWORK_INTERFACES: Final = Quota(
    name="Network interfaces per Region",
    service="vpc",
    code="L-DF5E4CA3",
    source=f"{_GUIDE}; the default is not verified",
)
_CLUSTER_USAGE_CODES: Final = {
    "ml.p4d.24xlarge": "L-47E0BC8F",
    "ml.p4de.24xlarge": "L-BEF3120E",
    "ml.p5.48xlarge": "L-8762A75F",
    "ml.p5e.48xlarge": "L-FD431820",
    "ml.p5en.48xlarge": "L-6EF3AE05",
    "ml.p6-b200.48xlarge": "L-44097F05",
    "ml.p6-b300.48xlarge": "L-9883FE68",
    "ml.p6e-gb200.36xlarge": "L-5DB70460",
    "ml.g6e.12xlarge": "L-A15DF696",
    "ml.g6e.48xlarge": "L-177AF1AD",
}
_RESERVED_SEEN: Final = {
    "ml.p4d.24xlarge": (256,),
    "ml.p5.48xlarge": (0,),
    "ml.p5e.48xlarge": (256,),
    "ml.p5en.48xlarge": (256,),
    "ml.p6-b200.48xlarge": (8,),
    "ml.p6-b300.48xlarge": (0,),
    "ml.p6e-gb200.36xlarge": (18,),
}


def cluster_usage_quota(instance_type: str) -> Quota:
    """Instances of one type over all clusters of a Region; a training plan does not lift it.

    Args:
        instance_type: For example `ml.p5.48xlarge`.
    """
    code = _CLUSTER_USAGE_CODES.get(instance_type)
    return Quota(
        name=f"{instance_type} for cluster usage",
        code=code,
        seen=(0, 2) if code else (),
        source=f"{_GUIDE}; {_ACCOUNT}" if code else _GUIDE,
    )


def spot_usage_quota(instance_type: str) -> Quota:
    """Spot instances of one type over all clusters; a spot group needs `SPOT_INSTANCES_IN_ALL_CLUSTERS` too.

    Args:
        instance_type: For example `ml.p5.48xlarge`.
    """
    was_seen = instance_type == "ml.p5.48xlarge"
    return Quota(
        name=f"{instance_type} for cluster spot instance usage",
        code="L-F742E2D7" if was_seen else None,
        seen=(2,) if was_seen else (),
        source=f"{_ACCOUNT}, and code that reads it",
    )


def reserved_capacity_quota(instance_type: str) -> Quota:
    """Instances of one type over all training plans of a Region; the values that were seen differ by Region.

    Args:
        instance_type: For example `ml.p5.48xlarge`.
    """
    return Quota(
        name=f"Number of {instance_type} instances in reserved capacity across training plans per Region",
        code="L-9EF527CA" if instance_type == "ml.p5.48xlarge" else None,
        seen=_RESERVED_SEEN.get(instance_type, ()),
        source=f"guide, training-plan-quotas; {_ACCOUNT}, us-west-2",
    )
