"""AWS CDK constructs for SageMaker HyperPod: describe a cluster, check it, plan it, build it, review changes to it.

Names are resolved when they are used, so that importing the package starts nothing: no Node, no CDK, no boto3.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperpod_constructs.blueprints.eks import EksTraining as EksTraining
    from hyperpod_constructs.blueprints.foundation import Foundation as Foundation
    from hyperpod_constructs.blueprints.slurm import SlurmTraining as SlurmTraining
    from hyperpod_constructs.catalog.instances import InstanceType as InstanceType
    from hyperpod_constructs.cdk.accounting import AccountingDatabase as AccountingDatabase
    from hyperpod_constructs.cdk.addons import ClusterAddons as ClusterAddons
    from hyperpod_constructs.cdk.budget import ClusterBudget as ClusterBudget
    from hyperpod_constructs.cdk.cluster import Cluster as Cluster
    from hyperpod_constructs.cdk.cluster_network import ClusterNetwork as ClusterNetwork
    from hyperpod_constructs.cdk.control_plane import EksControlPlane as EksControlPlane, IControlPlane as IControlPlane
    from hyperpod_constructs.cdk.governance import ClusterGovernance as ClusterGovernance
    from hyperpod_constructs.cdk.lifecycle import LifecycleScripts as LifecycleScripts
    from hyperpod_constructs.cdk.network import (
        ImportedSubnet as ImportedSubnet,
        Network as Network,
    )
    from hyperpod_constructs.cdk.observability import AlertTopic as AlertTopic, ClusterNotices as ClusterNotices
    from hyperpod_constructs.cdk.storage import (
        CheckpointBucket as CheckpointBucket,
        IFileSystem as IFileSystem,
        LustreFileSystem as LustreFileSystem,
    )
    from hyperpod_constructs.cdk.validation import acknowledge as acknowledge
    from hyperpod_constructs.errors import (
        AccountError as AccountError,
        ConfigurationError as ConfigurationError,
        HyperPodError as HyperPodError,
        InvalidCluster as InvalidCluster,
        InvalidValue as InvalidValue,
        UnreadableTemplate as UnreadableTemplate,
    )
    from hyperpod_constructs.findings import Finding as Finding, Severity as Severity
    from hyperpod_constructs.model import steps as steps
    from hyperpod_constructs.model.addons import Addon as Addon, PodRole as PodRole
    from hyperpod_constructs.model.budget import Budget as Budget
    from hyperpod_constructs.model.capacity import (
        AutoPatch as AutoPatch,
        BatchSize as BatchSize,
        InstanceGroup as InstanceGroup,
        OnDemand as OnDemand,
        RollingUpdate as RollingUpdate,
        ScheduledUpdate as ScheduledUpdate,
        Spot as Spot,
        TrainingPlan as TrainingPlan,
    )
    from hyperpod_constructs.model.chart import HelmChart as HelmChart
    from hyperpod_constructs.model.governance import (
        Share as Share,
        TaskGovernance as TaskGovernance,
        Team as Team,
    )
    from hyperpod_constructs.model.kubernetes import (
        Endpoint as Endpoint,
        KubernetesConfig as KubernetesConfig,
        Taint as Taint,
        TieredStorage as TieredStorage,
    )
    from hyperpod_constructs.model.orchestration import ExternalDatabase as ExternalDatabase, Slurm as Slurm
    from hyperpod_constructs.model.people import Group as Group, People as People, User as User
    from hyperpod_constructs.model.storage import (
        DataRepository as DataRepository,
        Lustre as Lustre,
        Mount as Mount,
        NodeVolume as NodeVolume,
        OpenZfs as OpenZfs,
    )

_MODULES = {
    "blueprints.eks": ("EksTraining",),
    "blueprints.foundation": ("Foundation",),
    "blueprints.slurm": ("SlurmTraining",),
    "catalog.instances": ("InstanceType",),
    "cdk.accounting": ("AccountingDatabase",),
    "cdk.addons": ("ClusterAddons",),
    "cdk.budget": ("ClusterBudget",),
    "cdk.cluster": ("Cluster",),
    "cdk.control_plane": ("EksControlPlane", "IControlPlane"),
    "cdk.governance": ("ClusterGovernance",),
    "cdk.lifecycle": ("LifecycleScripts",),
    "cdk.cluster_network": ("ClusterNetwork",),
    "cdk.network": ("ImportedSubnet", "Network"),
    "cdk.observability": ("AlertTopic", "ClusterNotices"),
    "cdk.storage": ("CheckpointBucket", "IFileSystem", "LustreFileSystem"),
    "cdk.validation": ("acknowledge",),
    "errors": (
        "AccountError",
        "ConfigurationError",
        "HyperPodError",
        "InvalidCluster",
        "InvalidValue",
        "UnreadableTemplate",
    ),
    "findings": ("Finding", "Severity"),
    "model": ("steps",),
    "model.addons": ("Addon", "PodRole"),
    "model.budget": ("Budget",),
    "model.capacity": (
        "AutoPatch",
        "BatchSize",
        "InstanceGroup",
        "OnDemand",
        "RollingUpdate",
        "ScheduledUpdate",
        "Spot",
        "TrainingPlan",
    ),
    "model.chart": ("HelmChart",),
    "model.governance": ("Share", "TaskGovernance", "Team"),
    "model.kubernetes": ("Endpoint", "KubernetesConfig", "Taint", "TieredStorage"),
    "model.orchestration": ("ExternalDatabase", "Slurm"),
    "model.people": ("Group", "People", "User"),
    "model.storage": ("DataRepository", "Lustre", "Mount", "NodeVolume", "OpenZfs"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = sorted(_HOMES)  # noqa: PLE0605  # made from the table, which a test compares with the imports above

# A visible module `__getattr__` would make every misspelt name type-check as Any.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """The public name, imported from its home on first use."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
        value = getattr(home, name, None) or importlib.import_module(f"{home.__name__}.{name}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """Every public name."""
        return __all__
