"""What outlives a cluster, and what it offers to clusters whether or not one takes it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

import hyperpod_constructs as hp
from tests.templates import of_type, synthesized

ENV = cdk.Environment(account="111122223333", region="us-west-2")
SCRATCH = hp.Lustre(capacity_gib=4_800, throughput_mbps_per_tib=250)


def blueprint(context: dict[str, Any], outdir: Path, *mounts: hp.Mount, **options: Any) -> hp.SlurmTraining:
    """A cluster of two groups with scratch and alerts, unless told otherwise."""
    groups = [
        hp.InstanceGroup.controller("ml.m5.xlarge", mounts=mounts),
        hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1, mounts=mounts),
    ]
    return hp.SlurmTraining(
        cdk.App(context=context, outdir=str(outdir)),
        "Train",
        env=ENV,
        zone="usw2-az2",
        groups=groups,
        **{"storage": SCRATCH, "alerts": ["ml-platform@example.com"], **options},
    )


def exported(made: hp.SlurmTraining) -> set[str]:
    """Names of what the foundation exports."""
    assert made.foundation is not None
    return {each["Export"]["Name"] for each in synthesized(made.foundation)["Outputs"].values() if "Export" in each}


def imported(made: hp.SlurmTraining) -> set[str]:
    """Names of what the cluster's stack imports."""
    return set(re.findall(r'"Fn::ImportValue": "([^"]+)"', json.dumps(synthesized(made))))


class TestExports:
    @pytest.fixture
    def before(self, context: dict[str, Any], tmp_path: Path) -> hp.SlurmTraining:
        return blueprint(context, tmp_path / "before")

    def test_are_all_that_a_cluster_imports(self, before: hp.SlurmTraining) -> None:
        assert imported(before)
        assert imported(before) <= exported(before)

    def test_stay_when_nobody_is_told_any_more(
        self, before: hp.SlurmTraining, context: dict[str, Any], tmp_path: Path
    ) -> None:
        after = blueprint(context, tmp_path / "after", alerts=[])
        assert imported(after) < imported(before)
        assert imported(before) <= exported(after)

    def test_stay_when_every_group_mounts_something_else(
        self, before: hp.SlurmTraining, context: dict[str, Any], tmp_path: Path
    ) -> None:
        home = hp.Mount(kind="openzfs", path="/home", file_system="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com")
        after = blueprint(context, tmp_path / "after", home)
        assert imported(after) < imported(before)
        assert imported(before) <= exported(after)

    def test_are_there_without_any_cluster(
        self, before: hp.SlurmTraining, context: dict[str, Any], tmp_path: Path
    ) -> None:
        alone = hp.Foundation(
            cdk.App(context=context, outdir=str(tmp_path / "alone")),
            "Train-Foundation",
            env=ENV,
            zones=["usw2-az2"],
            network=None,
            cidr="10.0.0.0/16",
            egress="nat",
            endpoints=None,
            storage=SCRATCH,
            repositories=[],
            emails=["ml-platform@example.com"],
            permissions_boundary=None,
            termination_protection=True,
            acknowledge=None,
        )
        outputs = synthesized(alone)["Outputs"].values()
        assert imported(before) <= {each["Export"]["Name"] for each in outputs}


def test_there_is_a_topic_without_subscribers_while_nobody_is_told(context: dict[str, Any], tmp_path: Path) -> None:
    made = blueprint(context, tmp_path, alerts=[])
    assert made.foundation is not None
    assert made.foundation.alerts is None
    (topic,) = of_type(synthesized(made.foundation), "AWS::SNS::Topic").values()
    assert "Subscription" not in topic
    assert not of_type(synthesized(made), "AWS::Events::Rule")
