"""What users import: exactly these names, typed, and nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import hyperpod_constructs as hp

SOURCE = Path(hp.__file__)


def test_the_names_are_those_that_type_checkers_see() -> None:
    """Lazy names and typed re-exports are two lists of the same thing."""
    tree = ast.parse(SOURCE.read_text())
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If) and "not" not in ast.unparse(node.test))
    typed = {
        (str(node.module).removeprefix("hyperpod_constructs."), alias.name)
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {(module, name) for name, module in hp._HOMES.items()}


def test_every_name_resolves_to_something_with_a_docstring() -> None:
    for name in hp.__all__:
        assert getattr(hp, name).__doc__, name


def test_a_misspelt_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="InstanceGrup"):
        hp.InstanceGrup  # type: ignore[attr-defined]  # noqa: B018  # the point of the test


def test_the_exported_names_are_pinned() -> None:
    """A name that goes breaks users: this list changes on purpose only."""
    assert hp.__all__ == [
        "AccountError",
        "AccountingDatabase",
        "Addon",
        "AlertTopic",
        "AutoPatch",
        "BatchSize",
        "Budget",
        "CheckpointBucket",
        "Cluster",
        "ClusterAddons",
        "ClusterBudget",
        "ClusterGovernance",
        "ClusterNetwork",
        "ClusterNotices",
        "ConfigurationError",
        "DataRepository",
        "EksControlPlane",
        "EksTraining",
        "Endpoint",
        "ExternalDatabase",
        "Finding",
        "Foundation",
        "Group",
        "HelmChart",
        "HyperPodError",
        "IControlPlane",
        "IFileSystem",
        "ImportedSubnet",
        "InstanceGroup",
        "InstanceType",
        "InvalidCluster",
        "InvalidValue",
        "KubernetesConfig",
        "LifecycleScripts",
        "Lustre",
        "LustreFileSystem",
        "Mount",
        "Network",
        "NodeVolume",
        "OnDemand",
        "OpenZfs",
        "People",
        "PodRole",
        "RollingUpdate",
        "ScheduledUpdate",
        "Severity",
        "Share",
        "Slurm",
        "SlurmTraining",
        "Spot",
        "Taint",
        "TaskGovernance",
        "Team",
        "TieredStorage",
        "TrainingPlan",
        "UnreadableTemplate",
        "User",
        "acknowledge",
        "steps",
    ]
