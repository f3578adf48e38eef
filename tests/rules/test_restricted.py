"""What is said of restricted groups."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.kubernetes import AutoScaling
from hyperpod_constructs.model.restricted import RestrictedGroup, RestrictedStorage, SharedRestrictedStorage
from hyperpod_constructs.model.storage import NodeVolume
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import deployment, eks_cluster, kubernetes, told


def rig(storage: Any = None, **fields: Any) -> RestrictedGroup:
    """The restricted group `rig`."""
    return RestrictedGroup(group=kubernetes(**{"name": "rig", **fields}), storage=storage)


def of(rule: str, *groups: Any, **fields: Any) -> list[str]:
    """What a rule says of a cluster of restricted groups."""
    its = eks_cluster(**{"restricted_groups": groups, "provisioning": None, **fields})
    return told(rule, deployment(its))


class TestRestrictedGroupsAreAmongThemselves:
    def test_a_readme_says_so(self) -> None:
        both = eks_cluster(kubernetes(), restricted_groups=(rig(),))
        assert told("HP2019", deployment(both)) == [
            (
                "HP2019 restricted group 'rig' beside group 'p5' | "
                "make two clusters, one of InstanceGroups and one of RestrictedInstanceGroups"
            )
        ]

    def test_is_silent_on_one_kind_and_unknown_ones(self) -> None:
        assert of("HP2019", rig()) == told("HP2019", deployment(eks_cluster(kubernetes()))) == []
        assert told("HP2019", deployment(eks_cluster(kubernetes(), restricted_groups=UNKNOWN))) == []
        assert told("HP2019", deployment(eks_cluster(kubernetes(), restricted_groups=(UNKNOWN,)))) == []


class TestRestrictedClustersAreNotContinuous:
    def test_nor_do_they_scale(self) -> None:
        fields = {"provisioning": "Continuous", "autoscaling": AutoScaling(mode="Enable")}
        assert of("HP2020", rig(), **fields) == [
            (
                "HP2020 NodeProvisioningMode: Continuous and AutoScaling in a cluster of restricted groups | "
                "leave NodeProvisioningMode: Continuous and AutoScaling out"
            )
        ]

    @pytest.mark.parametrize("provisioning", [None, UNKNOWN])
    def test_is_silent_where_neither_is_asked_for(self, provisioning: Any) -> None:
        assert of("HP2020", rig(), provisioning=provisioning) == []


class TestRestrictedStorageIsSold:
    def test_its_own_and_the_shared_one(self) -> None:
        shared = SharedRestrictedStorage(
            storage=RestrictedStorage(size_gib=3000, throughput_mbps_per_tib=200), when_unused="Keep"
        )
        own = RestrictedStorage(size_gib=1300, throughput_mbps_per_tib=250)
        told_values = (
            "use SizeInGiB 1200 or a multiple of 2400, and PerUnitStorageThroughput one of 125, 250, 500, 1000"
        )
        assert of("HP2021", rig(own), restricted_storage=shared) == [
            f"HP2021 the shared file system has 3,000 GiB and 200 MB/s/TiB | {told_values}",
            f"HP2021 the file system of group 'rig' has 1,300 GiB | {told_values}",
        ]

    @pytest.mark.parametrize("size", [1200, 2400, 48_000, UNKNOWN])
    @pytest.mark.parametrize("throughput", [125, 1000, UNKNOWN])
    def test_is_silent_on_what_is_sold_or_not_known(self, size: Any, throughput: Any) -> None:
        assert of("HP2021", rig(RestrictedStorage(size_gib=size, throughput_mbps_per_tib=throughput))) == []
        assert of("HP2021", rig(UNKNOWN), restricted_storage=UNKNOWN) == []


class TestRestrictedVolumesHaveNoKey:
    def test_customer_keys_are_not_supported(self) -> None:
        assert of("HP2022", rig(volumes=(NodeVolume(size_gib=500, kms_key="Key"),))) == [
            (
                "HP2022 restricted group 'rig' has a volume with a customer key | "
                "leave VolumeKmsKeyId out, and the root volume with it"
            )
        ]

    @pytest.mark.parametrize("volumes", [(NodeVolume(size_gib=500),), (), UNKNOWN])
    def test_is_silent_without_one(self, volumes: Any) -> None:
        assert of("HP2022", rig(volumes=volumes)) == []
