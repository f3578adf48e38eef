"""What is said of volumes of nodes."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.kubernetes import KubernetesConfig
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.model.storage import Mount, NodeVolume
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import compute, deployment, login, slurm_cluster, told

KEY = "arn:aws:kms:us-west-2:111122223333:key/k"


def of_group(rule: str, **fields: Any) -> list[str]:
    """What a rule says of a group with these fields."""
    return told(rule, deployment(slurm_cluster(compute(**fields))))


class TestVolumesAreComplete:
    def test_a_root_volume_has_a_key_and_no_size(self) -> None:
        assert of_group("HP3013", volumes=(NodeVolume(root=True, size_gib=500),)) == [
            (
                "HP3013 group 'p5': the root volume has a size of 500 GiB | "
                "leave VolumeSizeInGB (size_gib) out: the image decides it"
            ),
            (
                "HP3013 group 'p5': the root volume has no key | "
                "give VolumeKmsKeyId (kms_key), the ARN of a customer key, or leave the whole root volume out"
            ),
        ]

    def test_another_volume_has_a_size(self) -> None:
        assert of_group("HP3013", volumes=(NodeVolume(kms_key=KEY),)) == [
            "HP3013 group 'p5': a volume has no size | give VolumeSizeInGB (size_gib), 1 to 16,384 GiB"
        ]

    def test_one_mistake_of_several_groups_is_told_once(self) -> None:
        shared = (NodeVolume(kms_key=KEY),)
        judged = slurm_cluster(compute(volumes=shared), login(volumes=shared))
        (found,) = told("HP3013", deployment(judged))
        assert found.startswith("HP3013 groups 'p5' and 'login': a volume has no size |")

    def test_is_silent_on_one_of_each(self) -> None:
        assert of_group("HP3013", volumes=(NodeVolume(root=True, kms_key=KEY), NodeVolume(size_gib=500))) == []

    @pytest.mark.parametrize(
        "volumes",
        [
            UNKNOWN,
            (NodeVolume(root=UNKNOWN),),
            (NodeVolume(root=True, size_gib=UNKNOWN, kms_key=UNKNOWN),),
            (NodeVolume(size_gib=UNKNOWN),),
        ],
    )
    def test_is_silent_on_what_is_not_known(self, volumes: Any) -> None:
        assert of_group("HP3013", volumes=volumes) == []


class TestVolumesAndMountsAreFew:
    def test_one_of_each_at_most(self) -> None:
        volumes = (NodeVolume(root=True, kms_key=KEY), NodeVolume(size_gib=1)) * 2
        mounts = (Mount(kind="lustre", file_system="A"), Mount(kind="openzfs", file_system="B")) * 2
        assert of_group("HP3014", volumes=volumes, mounts=mounts) == [
            f"HP3014 group 'p5': 2 {what} | keep 1 and take the others out of InstanceStorageConfigs ({field})"
            for what, field in (
                ("root volumes", "volumes"),
                ("volumes beside the root", "volumes"),
                ("Lustre mounts", "mounts"),
                ("OpenZFS mounts", "mounts"),
            )
        ]

    def test_restricted_groups_have_volumes_too(self) -> None:
        nova = compute(name="nova", node_type=None, partitions=(), volumes=(NodeVolume(size_gib=1),) * 2)
        judged = slurm_cluster(restricted_groups=(RestrictedGroup(group=nova),))
        (found,) = told("HP3014", deployment(judged))
        assert found.startswith("HP3014 group 'nova': 2 volumes beside the root |")

    def test_is_silent_on_one_of_each(self) -> None:
        volumes = (NodeVolume(root=True, kms_key=KEY), NodeVolume(size_gib=1))
        mounts = (Mount(kind="lustre", file_system="A"), Mount(kind="openzfs", file_system="B"))
        assert of_group("HP3014", volumes=volumes, mounts=mounts) == []

    @pytest.mark.parametrize("volumes", [UNKNOWN, (NodeVolume(root=UNKNOWN), NodeVolume(root=UNKNOWN))])
    def test_is_silent_on_what_is_not_known(self, volumes: Any) -> None:
        assert of_group("HP3014", volumes=volumes, mounts=UNKNOWN) == []


class TestVolumesFitTheUsualQuota:
    def test_above_it_the_quota_must_be_raised(self) -> None:
        assert of_group("HP3015", volumes=(NodeVolume(size_gib=1025),)) == [
            (
                "HP3015 group 'p5': a volume of 1,025 GiB; the quota is 1,024 unless it was raised | "
                "raise quota L-E13DF72A of SageMaker to 1,025 before the deploy, "
                "or use VolumeSizeInGB (size_gib) of at most 1,024"
            )
        ]

    def test_of_a_group_with_labels_too(self) -> None:
        labelled = KubernetesConfig(labels={"team": "vision"})
        assert of_group("HP3015", volumes=(NodeVolume(size_gib=1025),), kubernetes=labelled)

    def test_one_quota_of_several_groups_is_told_once(self) -> None:
        large, larger = ((NodeVolume(size_gib=size),) for size in (2000, 3000))
        judged = slurm_cluster(compute(volumes=larger), login(volumes=large))
        (found,) = RULES["HP3015"].findings(deployment(judged))
        assert found.path == "Train"
        assert found.message.startswith("groups 'p5' and 'login': volumes of 2,000 and 3,000 GiB; the quota is")
        assert found.fix.startswith("raise quota L-E13DF72A of SageMaker to 3,000 ")

    @pytest.mark.parametrize("size", [1024, UNKNOWN])
    def test_is_silent_up_to_it(self, size: Any) -> None:
        assert of_group("HP3015", volumes=(NodeVolume(size_gib=size),)) == []
