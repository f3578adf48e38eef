"""What is said of Lustre file systems."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.network import Subnet, ZoneName
from hyperpod_constructs.model.storage import DataRepository, Logs, Lustre, Retention
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import ACCOUNT, REGION, told
from tests.rules.file_systems import KEY, TIERING, file_system, lustre, of, with_fields


def test_a_sound_file_system_has_no_finding() -> None:
    sound = Deployment(
        file_systems=(
            file_system(),
            file_system(lustre(deployment_type="SCRATCH_2", throughput_mbps_per_tib=None)),
            file_system(lustre(**TIERING)),
        )
    )
    rules = [each for each in RULES if each.startswith("HP3")]
    assert [found for each in rules for found in told(each, sound)] == []


@pytest.mark.parametrize("rule", [each for each in RULES if each.startswith("HP3")])
def test_no_rule_speaks_of_a_file_system_that_is_not_known(rule: str) -> None:
    unknown = Lustre(
        capacity_gib=UNKNOWN,
        throughput_mbps_per_tib=UNKNOWN,
        deployment_type=UNKNOWN,
        storage_type=UNKNOWN,
        version=UNKNOWN,
        efa=UNKNOWN,
        metadata_iops=UNKNOWN,
        backup_days=UNKNOWN,
        throughput_mbps=UNKNOWN,
        read_cache_gib=UNKNOWN,
        drive_cache=UNKNOWN,
        read_cache=UNKNOWN,
    )
    repository = DataRepository(folder=UNKNOWN, s3_uri=UNKNOWN)
    found = with_fields(
        rule,
        unknown,
        subnets=UNKNOWN,
        security_groups=UNKNOWN,
        retention=Retention(on_delete=UNKNOWN, on_replace=UNKNOWN),
        repositories=(repository, repository),
        old_link=UNKNOWN,
        logs=UNKNOWN,
        copies_tags=UNKNOWN,
        kms_key=UNKNOWN,
    )
    # Whatever they are: tags are frozen once there is an association.
    assert found == [] or rule == "HP3029"


@pytest.mark.parametrize("rule", [each for each in RULES if each.startswith("HP3")])
@pytest.mark.parametrize(
    "kind", [("SCRATCH_2", "SSD"), ("PERSISTENT_2", "SSD"), ("PERSISTENT_2", "INTELLIGENT_TIERING")]
)
def test_no_rule_speaks_of_unknown_fields_of_a_known_type(rule: str, kind: tuple[Any, Any]) -> None:
    unknown = Lustre(
        deployment_type=kind[0],
        storage_type=kind[1],
        capacity_gib=UNKNOWN,
        throughput_mbps_per_tib=UNKNOWN,
        version=UNKNOWN,
        efa=UNKNOWN,
        metadata_iops=UNKNOWN,
        backup_days=UNKNOWN,
        throughput_mbps=UNKNOWN,
        read_cache_gib=UNKNOWN,
        drive_cache=UNKNOWN,
        read_cache=UNKNOWN,
    )
    assert with_fields(rule, unknown, kms_key=UNKNOWN) == []


class TestLustreCapacityIsAStep:
    def test_names_the_capacities_on_both_sides(self) -> None:
        assert of("HP3001", capacity_gib=3000) == [
            "HP3001 3,000 GiB is not a capacity of PERSISTENT_2 | use StorageCapacity (capacity_gib) 2,400 or 4,800 GiB"
        ]

    def test_below_the_smallest_only_the_smallest_is_named(self) -> None:
        assert of("HP3001", deployment_type="SCRATCH_2", capacity_gib=500) == [
            "HP3001 500 GiB is not a capacity of SCRATCH_2 | use StorageCapacity (capacity_gib) 1,200 GiB"
        ]

    def test_steps_of_disks_depend_on_throughput(self) -> None:
        disks = {"deployment_type": "PERSISTENT_1", "storage_type": "HDD", "capacity_gib": 3600}
        assert of("HP3001", **disks, throughput_mbps_per_tib=40) == []
        assert of("HP3001", **disks, throughput_mbps_per_tib=12) == [
            (
                "HP3001 3,600 GiB is not a capacity of PERSISTENT_1 on HDD at 12 MB/s/TiB | "
                "use StorageCapacity (capacity_gib) 6,000 GiB"
            )
        ]

    @pytest.mark.parametrize(("throughput", "step"), [(125, 38_400), (250, 19_200), (500, 9_600), (1000, 4_800)])
    def test_steps_with_efa_are_larger(self, throughput: int, step: int) -> None:
        assert of("HP3001", efa=True, throughput_mbps_per_tib=throughput, capacity_gib=2 * step) == []
        assert of("HP3001", efa=True, throughput_mbps_per_tib=throughput, capacity_gib=step + 2400) == [
            (
                f"HP3001 {step + 2400:,} GiB is not a capacity of PERSISTENT_2 with EFA at {throughput} MB/s/TiB | "
                f"use StorageCapacity (capacity_gib) {step:,} or {2 * step:,} GiB"
            )
        ]

    def test_capacity_is_required(self) -> None:
        assert of("HP3001", capacity_gib=None) == [
            (
                "HP3001 a file system of PERSISTENT_2 has no capacity | "
                "give StorageCapacity (capacity_gib): 1,200 or multiples of 2,400 GiB"
            )
        ]

    def test_says_which_type_is_taken_where_none_is_given(self) -> None:
        as_left_out = lustre(deployment_type="SCRATCH_1", throughput_mbps_per_tib=None, capacity_gib=1300)
        assert with_fields("HP3001", as_left_out, type_left_out=True) == [
            (
                "HP3001 1,300 GiB is not a capacity of SCRATCH_1 (the type where no DeploymentType is given) | "
                "use StorageCapacity (capacity_gib) 1,200 or 2,400 GiB"
            )
        ]

    @pytest.mark.parametrize("capacity_gib", [1200, 2400, 4800, 48_000])
    def test_is_silent_on_every_step(self, capacity_gib: int) -> None:
        assert of("HP3001", capacity_gib=capacity_gib) == []

    @pytest.mark.parametrize(
        "unknown", [{"capacity_gib": UNKNOWN}, {"deployment_type": UNKNOWN}, {"storage_type": UNKNOWN}]
    )
    def test_is_silent_on_what_is_not_known(self, unknown: dict[str, Any]) -> None:
        assert of("HP3001", **{"capacity_gib": 3000, **unknown}) == []

    def test_is_silent_with_efa_at_an_unknown_throughput(self) -> None:
        assert of("HP3001", efa=True, throughput_mbps_per_tib=UNKNOWN, capacity_gib=2400) == []


class TestLustreThroughputIsOffered:
    def test_lists_what_the_type_offers(self) -> None:
        assert of("HP3002", throughput_mbps_per_tib=300) == [
            (
                "HP3002 300 MB/s/TiB is not a throughput of PERSISTENT_2 | "
                "use PerUnitStorageThroughput (throughput_mbps_per_tib) 125, 250, 500 or 1,000"
            )
        ]

    def test_persistent_types_must_name_one(self) -> None:
        assert of("HP3002", deployment_type="PERSISTENT_1", throughput_mbps_per_tib=None) == [
            (
                "HP3002 PERSISTENT_1 has no throughput | "
                "use PerUnitStorageThroughput (throughput_mbps_per_tib) 50, 100 or 200"
            )
        ]

    @pytest.mark.parametrize(
        ("deployment_type", "storage_type", "throughput"),
        [
            ("PERSISTENT_1", "SSD", 200),
            ("PERSISTENT_1", "HDD", 40),
            ("SCRATCH_1", "SSD", None),
            ("SCRATCH_2", "SSD", 50),
        ],
    )
    def test_is_silent_on_an_offered_one(self, deployment_type: str, storage_type: str, throughput: int | None) -> None:
        fields = {"deployment_type": deployment_type, "storage_type": storage_type}
        assert of("HP3002", **fields, throughput_mbps_per_tib=throughput) == []

    def test_is_silent_on_an_unknown_one(self) -> None:
        assert of("HP3002", throughput_mbps_per_tib=UNKNOWN) == []


class TestScratchHasNoChoiceOfThroughput:
    def test_names_what_is_given(self) -> None:
        assert of("HP3021", deployment_type="SCRATCH_2") == [
            (
                "HP3021 SCRATCH_2 has a throughput of 125 MB/s/TiB | "
                "leave PerUnitStorageThroughput (throughput_mbps_per_tib) out: scratch types have a fixed throughput"
            )
        ]

    def test_is_a_warning_because_it_is_inferred(self) -> None:
        assert RULES["HP3021"].severity is Severity.WARNING

    @pytest.mark.parametrize(
        "fields",
        [
            {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": None},
            {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": UNKNOWN},
            {"deployment_type": UNKNOWN},
            {},
        ],
    )
    def test_is_silent_on_none_on_what_is_not_known_and_on_other_types(self, fields: dict[str, Any]) -> None:
        assert of("HP3021", **fields) == []


class TestLustreTypesGoTogether:
    def test_disks_exist_on_persistent_1(self) -> None:
        assert of("HP3003", storage_type="HDD", drive_cache="NONE") == [
            (
                "HP3003 PERSISTENT_2 does not exist on HDD | "
                "use DeploymentType (deployment_type) PERSISTENT_1, or StorageType (storage_type) SSD"
            )
        ]

    def test_a_wrong_type_is_told_without_the_drive_cache_that_it_lacks_too(self) -> None:
        assert of("HP3003", storage_type="HDD") == [
            (
                "HP3003 PERSISTENT_2 does not exist on HDD | use DeploymentType (deployment_type) PERSISTENT_1 with "
                "DriveCacheType (drive_cache) NONE or READ, or StorageType (storage_type) SSD"
            )
        ]

    def test_tiering_exists_on_persistent_2(self) -> None:
        assert of("HP3003", storage_type="INTELLIGENT_TIERING", deployment_type="SCRATCH_2") == [
            (
                "HP3003 SCRATCH_2 does not exist on INTELLIGENT_TIERING | "
                "use DeploymentType (deployment_type) PERSISTENT_2, or StorageType (storage_type) SSD"
            )
        ]

    def test_disks_need_a_drive_cache_setting(self) -> None:
        assert of("HP3003", storage_type="HDD", deployment_type="PERSISTENT_1") == [
            "HP3003 HDD storage has no drive cache setting | give DriveCacheType (drive_cache) NONE or READ"
        ]

    def test_nothing_else_has_a_drive_cache(self) -> None:
        assert of("HP3003", drive_cache="READ") == [
            (
                "HP3003 drive cache is READ on SSD storage | "
                "leave DriveCacheType (drive_cache) out: only HDD has a drive cache"
            )
        ]

    def test_leaves_the_setting_that_asks_for_none_to_a_warning(self) -> None:
        assert of("HP3003", drive_cache="NONE") == []

    def test_is_silent_on_disks_of_the_right_type(self) -> None:
        assert of("HP3003", storage_type="HDD", deployment_type="PERSISTENT_1", drive_cache="READ") == []

    @pytest.mark.parametrize(
        "unknown",
        [
            {"storage_type": UNKNOWN, "drive_cache": "READ"},
            {"storage_type": "HDD", "deployment_type": UNKNOWN, "drive_cache": UNKNOWN},
        ],
    )
    def test_is_silent_on_what_is_not_known(self, unknown: dict[str, Any]) -> None:
        assert of("HP3003", **unknown) == []


class TestOnlyDisksSpeakOfADriveCache:
    @pytest.mark.parametrize("fields", [{}, TIERING])
    def test_none_is_a_setting_too(self, fields: dict[str, Any]) -> None:
        storage = fields.get("storage_type", "SSD")
        assert of("HP3054", **fields, drive_cache="NONE") == [
            (
                f"HP3054 drive cache is NONE on {storage} storage | "
                "leave DriveCacheType (drive_cache) out: only HDD has a drive cache"
            )
        ]

    def test_is_a_warning_because_no_text_says_that_it_is_refused(self) -> None:
        assert RULES["HP3054"].severity is Severity.WARNING

    @pytest.mark.parametrize(
        "fields",
        [
            {"drive_cache": "READ"},
            {"drive_cache": UNKNOWN},
            {"storage_type": UNKNOWN, "drive_cache": "NONE"},
            {"storage_type": "HDD", "deployment_type": "PERSISTENT_1", "drive_cache": "NONE"},
        ],
    )
    def test_is_silent_on_disks_on_errors_and_on_what_is_not_known(self, fields: dict[str, Any]) -> None:
        assert of("HP3054", **fields) == []


class TestLustreEfaHasWhatItNeeds:
    def test_needs_persistent_2(self) -> None:
        assert of("HP3005", efa=True, deployment_type="PERSISTENT_1") == [
            (
                "HP3005 PERSISTENT_1 has no EFA | "
                "use DeploymentType (deployment_type) PERSISTENT_2, or leave EfaEnabled (efa) out"
            )
        ]

    def test_needs_metadata_and_the_newest_version(self) -> None:
        assert of("HP3005", efa=True, version="2.12") == [
            (
                "HP3005 EFA needs a metadata configuration; there is none | "
                "give MetadataConfiguration {Mode: AUTOMATIC} (metadata_iops='AUTOMATIC')"
            ),
            "HP3005 EFA needs Lustre 2.15; the version is 2.12 | use FileSystemTypeVersion (version) '2.15'",
        ]

    def test_intelligent_tiering_needs_a_number(self) -> None:
        (found,) = of("HP3005", **{**TIERING, "efa": True, "metadata_iops": None})
        assert found.endswith("| give MetadataConfiguration {Mode: USER_PROVISIONED, Iops: 6000} (metadata_iops=6000)")

    @pytest.mark.parametrize("version", ["2.15", None])
    def test_is_silent_where_it_has_all(self, version: str | None) -> None:
        assert of("HP3005", efa=True, metadata_iops="AUTOMATIC", version=version) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert of("HP3005", efa=UNKNOWN) == of("HP3005", efa=True, metadata_iops=UNKNOWN, version=UNKNOWN) == []


class TestLustreMetadataIopsAreOffered:
    def test_only_persistent_2_has_them(self) -> None:
        assert of("HP3006", deployment_type="SCRATCH_2", metadata_iops="AUTOMATIC") == [
            (
                "HP3006 metadata IOPS is AUTOMATIC on SCRATCH_2 | leave MetadataConfiguration (metadata_iops) out, "
                "or use DeploymentType (deployment_type) PERSISTENT_2"
            )
        ]

    @pytest.mark.parametrize(("iops", "written"), [(2000, "2,000"), (18_000, "18,000"), (204_000, "204,000")])
    def test_lists_the_steps(self, iops: int, written: str) -> None:
        assert of("HP3006", metadata_iops=iops) == [
            (
                f"HP3006 metadata IOPS is {written} | use {{Mode: AUTOMATIC}} (metadata_iops='AUTOMATIC'), "
                "or Iops of 1,500, 3,000, 6,000 or a multiple of 12,000 up to 192,000"
            )
        ]

    def test_not_fewer_than_the_capacity_brings(self) -> None:
        assert of("HP3006", metadata_iops=1500, capacity_gib=2400) == [
            (
                "HP3006 metadata IOPS is 1,500, but 2,400 GiB brings 3,000 | "
                "use {Mode: AUTOMATIC} (metadata_iops='AUTOMATIC'), or Iops of 3,000 or more"
            )
        ]

    @pytest.mark.parametrize(("capacity_gib", "iops"), [(1200, 1500), (2400, 3000), (48_000, 24_000), (4800, None)])
    def test_is_silent_on_steps_that_suffice(self, capacity_gib: int, iops: int | None) -> None:
        assert of("HP3006", capacity_gib=capacity_gib, metadata_iops=iops) == []

    def test_is_silent_on_automatic(self) -> None:
        assert of("HP3006", metadata_iops="AUTOMATIC") == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert of("HP3006", metadata_iops=UNKNOWN) == of("HP3006", metadata_iops=1500, capacity_gib=UNKNOWN) == []


class TestLustreVersionGoesWithItsType:
    def test_persistent_2_is_newer_than_2_10(self) -> None:
        assert of("HP3007", version="2.10") == [
            ("HP3007 Lustre 2.10 does not go with PERSISTENT_2 | use FileSystemTypeVersion (version) '2.15' or '2.12'")
        ]

    def test_2_12_has_no_metadata_configuration(self) -> None:
        assert of("HP3007", version="2.12", metadata_iops=6000) == [
            (
                "HP3007 Lustre 2.12 does not go with PERSISTENT_2 with a metadata configuration | "
                "use FileSystemTypeVersion (version) '2.15'"
            )
        ]

    @pytest.mark.parametrize(
        ("deployment_type", "version"), [("PERSISTENT_2", "2.12"), ("PERSISTENT_2", None), ("SCRATCH_2", "2.10")]
    )
    def test_is_silent_on_versions_that_go_with_it(self, deployment_type: str, version: str | None) -> None:
        assert of("HP3007", deployment_type=deployment_type, version=version) == []

    @pytest.mark.parametrize("version", ["2.1", "2.13", "2", "latest", "1.8"])
    @pytest.mark.parametrize("efa", [False, True])
    def test_names_a_version_that_never_was_once(self, version: str, *, efa: bool) -> None:
        fields = {"version": version, "efa": efa, "metadata_iops": "AUTOMATIC"}
        assert of("HP3007", **fields) == [
            f"HP3007 there is no Lustre {version} | use FileSystemTypeVersion (version) '2.15' or '2.12'"
        ]
        assert of("HP3005", **fields) == []

    @pytest.mark.parametrize("version", [UNKNOWN, "2.17", "3.0"])
    def test_is_silent_on_unknown_and_newer_versions(self, version: Any) -> None:
        assert of("HP3007", version=version) == []

    def test_is_silent_on_2_12_where_the_metadata_is_not_known(self) -> None:
        assert of("HP3007", version="2.12", metadata_iops=UNKNOWN) == []


class TestScratchHasNoCustomerKey:
    def of(self, deployment_type: Any, kms_key: Any) -> list[str]:
        return with_fields("HP3009", lustre(deployment_type=deployment_type), kms_key=kms_key)

    def test_scratch_has_the_key_of_fsx(self) -> None:
        assert self.of("SCRATCH_2", KEY) == [
            (
                f"HP3009 SCRATCH_2 has the customer key {KEY} | "
                "leave KmsKeyId (key) out, or use DeploymentType (deployment_type) PERSISTENT_2"
            )
        ]

    @pytest.mark.parametrize(
        ("deployment_type", "key"), [("PERSISTENT_2", KEY), ("SCRATCH_2", None), ("SCRATCH_2", UNKNOWN)]
    )
    def test_is_silent_on_persistent_types_and_unknown_keys(self, deployment_type: str, key: Any) -> None:
        assert self.of(deployment_type, key) == []


class TestLustreHasOneSubnet:
    @pytest.mark.parametrize(("subnets", "count"), [((), 0), (("A", "B"), 2)])
    def test_counts_them(self, subnets: tuple[str, ...], count: int) -> None:
        assert with_fields("HP3010", subnets=subnets) == [
            f"HP3010 the file system has {count} subnets | give SubnetIds exactly one, that of its nodes"
        ]

    def test_counts_what_is_certainly_there(self) -> None:
        assert len(with_fields("HP3010", subnets=("A", "B", UNKNOWN))) == 1

    @pytest.mark.parametrize("subnets", [("A",), (UNKNOWN,), (UNKNOWN, UNKNOWN), ("A", UNKNOWN), UNKNOWN])
    def test_is_silent_on_one_and_on_unknown_lists(self, subnets: Any) -> None:
        assert with_fields("HP3010", subnets=subnets) == []


class TestLogsGoWhereFsxCanWrite:
    WANTED = (
        "set LogConfiguration.Destination to the ARN of a log group whose name begins with /aws/fsx, or leave it out: "
        "FSx then writes to /aws/fsx/lustre"
    )

    def of(self, destination: Any, level: Any = "WARN_ERROR") -> list[str]:
        logs = Logs(level=level, destination=destination)
        return with_fields("HP3024", logs=logs, account=ACCOUNT, region=REGION)

    @pytest.mark.parametrize(
        ("destination", "shown"),
        [
            (
                f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/hyperpod/fsx",
                "/hyperpod/fsx, which does not begin with /aws/fsx",
            ),
            (
                f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/hyperpod/*",
                "/hyperpod/*, which does not begin with /aws/fsx",
            ),
            ("arn:*:logs:*:*:log-group:Train-Logs-*", "Train-Logs-*, which does not begin with /aws/fsx"),
            (
                f"arn:aws:firehose:{REGION}:{ACCOUNT}:deliverystream/aws-fsx:x",
                f"arn:aws:firehose:{REGION}:{ACCOUNT}:deliverystream/aws-fsx:x, which is no log group",
            ),
        ],
    )
    def test_names_what_fsx_does_not_take(self, destination: str, shown: str) -> None:
        assert self.of(destination) == [f"HP3024 logs go to {shown} | {self.WANTED}"]

    def test_a_name_is_no_arn(self) -> None:
        assert self.of("/aws/fsx/lustre") == [f"HP3024 logs go to /aws/fsx/lustre, which is no ARN | {self.WANTED}"]

    def test_must_be_of_the_same_region_and_account(self) -> None:
        assert self.of("arn:aws:logs:us-east-1:222222222222:log-group:/aws/fsx/x") == [
            "HP3024 logs go to Region us-east-1, and the file system is in us-west-2 | use a log group in us-west-2",
            (
                "HP3024 logs go to account 222222222222, and the file system is in 111122223333 | "
                "use a log group in 111122223333"
            ),
        ]

    def test_disabled_logs_have_no_destination(self) -> None:
        assert self.of(f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/aws/fsx/x", "DISABLED") == [
            (
                "HP3024 logs have the level DISABLED and a destination | "
                "leave LogConfiguration.Destination out, or use Level WARN_ERROR"
            )
        ]

    @pytest.mark.parametrize(
        "destination",
        [
            None,
            UNKNOWN,
            f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/aws/fsx/x:*",
            "arn:*:logs:*:*:log-group:/aws/fsx/*",
            "arn:aws:logs:*:*:log-group:*",
            "arn:aws:logs:*:*:log-group:/aws/*",
            "arn:*",
        ],
    )
    def test_is_silent_on_what_fsx_takes_or_may_take(self, destination: Any) -> None:
        assert self.of(destination) == []

    def test_is_silent_on_unknown_logs(self) -> None:
        assert with_fields("HP3024", logs=UNKNOWN) == with_fields("HP3024") == []


class TestPropertiesAreOfLustre:
    def test_names_those_of_other_kinds(self) -> None:
        assert with_fields("HP3025", of_other_kinds=("NetworkType", "OpenZFSConfiguration")) == [
            (
                "HP3025 a file system of type LUSTRE has NetworkType and OpenZFSConfiguration | "
                "leave NetworkType and OpenZFSConfiguration out, or correct FileSystemType"
            )
        ]

    def test_is_silent_without(self) -> None:
        assert with_fields("HP3025") == []


class TestLocalZonesHaveTheType:
    def of(self, subnet: Subnet | None, subnets: Any = ("Net/Nodes",), **fields: Any) -> list[str]:
        judged = Deployment(
            file_systems=(file_system(lustre(**fields), subnets=subnets),), subnets=(subnet,) if subnet else ()
        )
        return told("HP3026", judged)

    @pytest.mark.parametrize(
        ("zone", "fields"),
        [
            ("usw2-lax1-az1", {"zone": "usw2-lax1-az1"}),
            ("us-west-2-lax-1a", {"zone": UNKNOWN, "zone_name": ZoneName(text="us-west-2-lax-1a", scope="account")}),
        ],
    )
    def test_names_the_zone(self, zone: str, fields: dict[str, Any]) -> None:
        assert self.of(Subnet(path="Net/Nodes", **fields)) == [
            (
                f"HP3026 PERSISTENT_2 stands in local zone {zone} | "
                "ask AWS whether that zone has it, or use DeploymentType (deployment_type) SCRATCH_2 or PERSISTENT_1"
            )
        ]

    @pytest.mark.parametrize("zone", ["usw2-phx2-az1", "usw2-az2", UNKNOWN, None])
    def test_is_silent_where_it_was_accepted_and_in_regions(self, zone: Any) -> None:
        assert self.of(Subnet(path="Net/Nodes", zone=zone)) == []

    def test_is_silent_on_other_types_and_unknown_subnets(self) -> None:
        local = Subnet(path="Net/Nodes", zone="usw2-lax1-az1")
        assert self.of(local, deployment_type="SCRATCH_2", throughput_mbps_per_tib=None) == []
        assert self.of(local, subnets=UNKNOWN) == self.of(local, subnets=(UNKNOWN,)) == self.of(None) == []
