"""What is said of images and updates of nodes."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.capacity import (
    AutoPatch,
    BatchSize,
    RollingUpdate,
    ScheduledUpdate,
)
from hyperpod_constructs.model.storage import NodeVolume
from hyperpod_constructs.tokens import UNKNOWN, without_tokens
from tests.rules.builders import (
    compute,
    deployment,
    eks_cluster,
    kubernetes,
    of_slurm,
    told,
)

KNOWN = ("described", "spares", "asked", "eks_fields")
"""Fields that readers always know."""


class TestImagesAreAmiIds:
    def test_shows_what_an_id_looks_like(self) -> None:
        assert of_slurm("HP1015", compute(image_id="ubuntu-22.04")) == [
            (
                "HP1015 group 'p5' has ImageId 'ubuntu-22.04' | use an id such as ami-0123456789abcdef0 (8 to 17 "
                "hexadecimal digits), or leave it out"
            )
        ]

    @pytest.mark.parametrize(
        "image", ["ami-12345678", "ami-0123456789abcdef0", "default", "{{resolve:ssm:/images/slurm}}", UNKNOWN, None]
    )
    def test_is_silent_on_ids_defaults_and_what_is_decided_at_deploy(self, image: object) -> None:
        assert of_slurm("HP1015", compute(image_id=image)) == []


class TestSchedulesArePlainCron:
    @pytest.mark.parametrize("schedule", ["cron(0 3 * * ? *)", "cron(*/5 3 ? * SUN *)", "rate(7 days)"])
    def test_shows_one_that_is_taken(self, schedule: str) -> None:
        assert of_slurm("HP1016", compute(scheduled_update=ScheduledUpdate(schedule=schedule))) == [
            (
                f"HP1016 group 'p5' is updated on the schedule {schedule!r} | "
                "use cron(MINUTE HOUR DAY MONTH WEEKDAY YEAR) with one number for minute and hour, a number "
                "or ? for the "
                "day and one day or ? for the weekday, such as cron(0 3 ? * SUN *)"
            )
        ]

    @pytest.mark.parametrize("schedule", ["cron(0 3 ? * SUN *)", "cron(30 23 31 */3 ? 2027)", "cron(0 3 ? * 7#1 *)"])
    def test_is_silent_on_what_the_schema_takes(self, schedule: str) -> None:
        assert of_slurm("HP1016", compute(scheduled_update=ScheduledUpdate(schedule=schedule))) == []

    def test_is_silent_on_a_request_for_which_no_pattern_is_written(self) -> None:
        group = compute(scheduled_update=ScheduledUpdate(schedule="cron(0 3 * * ? *)"))
        assert of_slurm("HP1016", group, requested=True) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        token = without_tokens(ScheduledUpdate(schedule="${Token[TOKEN.7]}"))
        assert of_slurm("HP1016", compute(scheduled_update=UNKNOWN), compute(name="b", scheduled_update=token)) == []


class TestDrainingPatchesHaveWhatTheyNeed:
    BATCH = RollingUpdate(batch=BatchSize(count=1))

    def test_needs_a_batch_size(self) -> None:
        group = kubernetes(patching=AutoPatch(when="DrainFirst"))
        assert told("HP1018", deployment(eks_cluster(group))) == [
            (
                "HP1018 group 'p5' is patched with DrainFirst, but has no MaximumBatchSize | give "
                "DeploymentConfig.RollingUpdatePolicy.MaximumBatchSize (rolling=hp.RollingUpdate(...))"
            )
        ]

    def test_is_for_eks(self) -> None:
        assert of_slurm("HP1018", compute(patching=AutoPatch(when="DrainFirst", rolling=self.BATCH))) == [
            "HP1018 group 'p5' of a Slurm cluster is patched with DrainFirst | use WhenIdle or WhenAllIdle"
        ]

    def test_is_silent_where_all_is_there_and_on_other_strategies(self) -> None:
        group = kubernetes(patching=AutoPatch(when="DrainFirst", rolling=self.BATCH))
        assert told("HP1018", deployment(eks_cluster(group))) == []
        assert of_slurm("HP1018", compute(patching=AutoPatch(when="WhenIdle")), compute(patching=UNKNOWN)) == []

    def test_is_silent_where_the_orchestrator_is_not_known(self) -> None:
        group = kubernetes(patching=AutoPatch(when="DrainFirst", rolling=self.BATCH))
        assert told("HP1018", deployment(eks_cluster(group, orchestrator=UNKNOWN))) == []


class TestEncryptedImagesHaveAnEncryptedRoot:
    def of(self, *volumes: NodeVolume, image: Any = "ami-0123456789abcdef0") -> list[str]:
        return of_slurm("HP1024", compute(image_id=image, volumes=volumes))

    def test_a_key_for_the_second_volume_only_is_suspect(self) -> None:
        (said,) = self.of(NodeVolume(size_gib=500, kms_key="Key"))
        assert said.startswith(
            "HP1024 group 'p5' has the custom AMI ami-0123456789abcdef0 and a key for its second volume only | "
            "if the AMI is encrypted with a customer key, add EbsVolumeConfig: {RootVolume: true, VolumeKmsKeyId: KEY}"
        )

    @pytest.mark.parametrize(
        "volumes",
        [
            (NodeVolume(size_gib=500),),
            (NodeVolume(size_gib=500, kms_key="Key"), NodeVolume(root=True, kms_key="Key")),
            (NodeVolume(size_gib=500, kms_key="Key"), NodeVolume(root=UNKNOWN)),
        ],
    )
    def test_is_silent_with_a_root_volume_and_without_a_key(self, volumes: Any) -> None:
        assert self.of(*volumes) == []

    @pytest.mark.parametrize("image", [None, "default", UNKNOWN])
    def test_is_silent_on_images_of_aws(self, image: Any) -> None:
        assert self.of(NodeVolume(size_gib=500, kms_key="Key"), image=image) == []


class TestReleasesAreOfAwsImages:
    def test_an_ami_of_your_own_has_none(self) -> None:
        group = kubernetes(image_id="ami-0123456789abcdef0", image_release_version="1.0.742")
        assert told("HP1025", deployment(eks_cluster(group))) == [
            (
                "HP1025 group 'p5' has image ami-0123456789abcdef0 and release 1.0.742 | "
                "keep one of ImageId and ImageReleaseVersion"
            )
        ]

    @pytest.mark.parametrize(
        "fields", [{"image_id": "default"}, {"image_id": UNKNOWN}, {"image_release_version": None}]
    )
    def test_is_silent_on_one_of_them(self, fields: dict[str, Any]) -> None:
        both = {"image_id": "ami-0123456789abcdef0", "image_release_version": "1.0.742"}
        assert told("HP1025", deployment(eks_cluster(kubernetes(**{**both, **fields})))) == []
