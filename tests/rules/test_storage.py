"""What is said of file systems and of the way to them."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.network import Rule, SecurityGroup, VpcPlacement
from hyperpod_constructs.model.storage import DataRepository, FileSystem, Lustre, Mount, Retention
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import compute, deployment, login, slurm_cluster, told

TIERING = {
    "deployment_type": "PERSISTENT_2",
    "storage_type": "INTELLIGENT_TIERING",
    "capacity_gib": None,
    "throughput_mbps_per_tib": None,
    "throughput_mbps": 4000,
    "metadata_iops": 6000,
}
KEY = "arn:aws:kms:us-west-2:111122223333:key/k"


def lustre(**fields: Any) -> Lustre:
    """A PERSISTENT_2 file system of 4,800 GiB."""
    return Lustre(**{"capacity_gib": 4800, "throughput_mbps_per_tib": 125, **fields})


def file_system(bought: Lustre | None = None, **fields: Any) -> FileSystem:
    """A sound file system `Scratch`."""
    kept = Retention(on_delete="RetainExceptOnCreate", on_replace="Retain")
    defaults = {"subnets": ("Net/Nodes",), "security_groups": ("Net/Group",), "retention": kept}
    return FileSystem(path="Scratch", lustre=bought or lustre(), **{**defaults, **fields})


def of(rule: str, **fields: Any) -> list[str]:
    """What a rule says of a file system bought like this."""
    return told(rule, Deployment(file_systems=(file_system(lustre(**fields)),)))


def with_fields(rule: str, bought: Lustre | None = None, **fields: Any) -> list[str]:
    """What a rule says of a file system with these fields."""
    return told(rule, Deployment(file_systems=(file_system(bought, **fields),)))


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
    )
    repository = DataRepository(folder=UNKNOWN, s3_uri=UNKNOWN)
    found = with_fields(
        rule,
        unknown,
        subnets=UNKNOWN,
        security_groups=UNKNOWN,
        retention=Retention(on_delete=UNKNOWN, on_replace=UNKNOWN),
        repositories=(repository, repository),
        kms_key=UNKNOWN,
    )
    assert found == []


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
    )
    assert with_fields(rule, unknown, kms_key=UNKNOWN) == []


class TestLustreCapacityIsAStep:
    def test_names_the_capacities_on_both_sides(self) -> None:
        assert of("HP3001", capacity_gib=3000) == [
            "HP3001 3,000 GiB is not a capacity of PERSISTENT_2 | use 2,400 or 4,800 GiB"
        ]

    def test_below_the_smallest_only_the_smallest_is_named(self) -> None:
        assert of("HP3001", deployment_type="SCRATCH_2", capacity_gib=500) == [
            "HP3001 500 GiB is not a capacity of SCRATCH_2 | use 1,200 GiB"
        ]

    def test_steps_of_disks_depend_on_throughput(self) -> None:
        disks = {"deployment_type": "PERSISTENT_1", "storage_type": "HDD", "capacity_gib": 3600}
        assert of("HP3001", **disks, throughput_mbps_per_tib=40) == []
        assert of("HP3001", **disks, throughput_mbps_per_tib=12) == [
            "HP3001 3,600 GiB is not a capacity of PERSISTENT_1 on HDD at 12 MB/s/TiB | use 6,000 GiB"
        ]

    @pytest.mark.parametrize(("throughput", "step"), [(125, 38_400), (250, 19_200), (500, 9_600), (1000, 4_800)])
    def test_steps_with_efa_are_larger(self, throughput: int, step: int) -> None:
        assert of("HP3001", efa=True, throughput_mbps_per_tib=throughput, capacity_gib=2 * step) == []
        assert of("HP3001", efa=True, throughput_mbps_per_tib=throughput, capacity_gib=step + 2400) == [
            (
                f"HP3001 {step + 2400:,} GiB is not a capacity of PERSISTENT_2 with EFA at {throughput} MB/s/TiB | "
                f"use {step:,} or {2 * step:,} GiB"
            )
        ]

    def test_capacity_is_required(self) -> None:
        assert of("HP3001", capacity_gib=None) == [
            "HP3001 a file system of PERSISTENT_2 has no capacity | give it 1,200 GiB or more: multiples of 2,400 GiB"
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
            "HP3002 300 MB/s/TiB is not a throughput of PERSISTENT_2 | use one of 125, 250, 500, 1,000 MB/s/TiB"
        ]

    def test_persistent_types_must_name_one(self) -> None:
        assert of("HP3002", deployment_type="PERSISTENT_1", throughput_mbps_per_tib=None) == [
            "HP3002 PERSISTENT_1 has no throughput | use one of 50, 100, 200 MB/s/TiB"
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
            "HP3021 SCRATCH_2 has a throughput of 125 MB/s/TiB | leave it out: SCRATCH_2 has a fixed throughput"
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
            "HP3003 PERSISTENT_2 does not exist on HDD | use HDD with PERSISTENT_1, or SSD"
        ]

    def test_tiering_exists_on_persistent_2(self) -> None:
        assert of("HP3003", storage_type="INTELLIGENT_TIERING", deployment_type="SCRATCH_2") == [
            "HP3003 SCRATCH_2 does not exist on INTELLIGENT_TIERING | use INTELLIGENT_TIERING with PERSISTENT_2, or SSD"
        ]

    def test_disks_need_a_drive_cache_setting(self) -> None:
        assert of("HP3003", storage_type="HDD", deployment_type="PERSISTENT_1") == [
            "HP3003 HDD storage has no drive cache setting | set it to NONE or READ"
        ]

    def test_nothing_else_has_a_drive_cache(self) -> None:
        assert of("HP3003", drive_cache="READ") == [
            "HP3003 drive cache is READ on SSD storage | leave it out: only HDD has a drive cache"
        ]

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


class TestTieringIsBoughtAsThroughput:
    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (
                {"throughput_mbps": 2000},
                "intelligent tiering has a throughput of 2,000 MB/s | use a multiple of 4,000 up to 2,000,000 MB/s",
            ),
            (
                {"throughput_mbps": 2_004_000},
                "intelligent tiering has a throughput of 2,004,000 MB/s | use a multiple of 4,000 up to 2,000,000 MB/s",
            ),
            (
                {"read_cache_gib": 16},
                "the read cache is 16 GiB at 4,000 MB/s | use 32 to 131,072 GiB, or leave it out",
            ),
        ],
    )
    def test_names_the_field(self, change: dict[str, Any], said: str) -> None:
        assert of("HP3004", **{**TIERING, **change}) == [f"HP3004 {said}"]

    @pytest.mark.parametrize("change", [{}, {"throughput_mbps": 2_000_000}, {"read_cache_gib": 32}])
    def test_is_silent_on_what_is_sold(self, change: dict[str, Any]) -> None:
        assert of("HP3004", **{**TIERING, **change}) == []

    @pytest.mark.parametrize("field", ["capacity_gib", "throughput_mbps_per_tib", "throughput_mbps", "read_cache_gib"])
    def test_is_silent_on_what_is_not_known(self, field: str) -> None:
        assert of("HP3004", **{**TIERING, field: UNKNOWN}) == []

    def test_is_silent_on_other_storage(self) -> None:
        assert of("HP3004") == []

    def test_leaves_what_is_inferred_to_a_warning(self) -> None:
        assert of("HP3004", **{**TIERING, "throughput_mbps": None, "capacity_gib": 4800}) == []


class TestTieringHasThroughputAndNoCapacity:
    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (
                {"capacity_gib": 4800},
                "intelligent tiering has a capacity of 4,800 GiB | leave it out: storage grows by itself",
            ),
            (
                {"throughput_mbps_per_tib": 125},
                (
                    "intelligent tiering has a throughput of 125 MB/s/TiB | "
                    "leave it out and give ThroughputCapacity (throughput_mbps), "
                    "a multiple of 4,000 up to 2,000,000 MB/s"
                ),
            ),
            (
                {"throughput_mbps": None},
                (
                    "intelligent tiering has no throughput | give ThroughputCapacity (throughput_mbps), "
                    "a multiple of 4,000 up to 2,000,000 MB/s"
                ),
            ),
        ],
    )
    def test_names_the_field(self, change: dict[str, Any], said: str) -> None:
        assert of("HP3020", **{**TIERING, **change}) == [f"HP3020 {said}"]

    def test_is_a_warning_because_it_is_inferred(self) -> None:
        assert RULES["HP3020"].severity is Severity.WARNING

    @pytest.mark.parametrize("field", ["capacity_gib", "throughput_mbps_per_tib", "throughput_mbps"])
    def test_is_silent_on_what_is_not_known(self, field: str) -> None:
        assert of("HP3020", **{**TIERING, field: UNKNOWN}) == []

    def test_is_silent_on_what_is_sold_and_on_other_storage(self) -> None:
        assert of("HP3020", **TIERING) == of("HP3020") == []


class TestLustreEfaHasWhatItNeeds:
    def test_needs_persistent_2(self) -> None:
        assert of("HP3005", efa=True, deployment_type="PERSISTENT_1") == [
            "HP3005 PERSISTENT_1 has no EFA | use PERSISTENT_2, or leave EFA out"
        ]

    def test_needs_metadata_and_the_newest_version(self) -> None:
        assert of("HP3005", efa=True, version="2.12") == [
            (
                "HP3005 EFA needs a metadata configuration; there is none | "
                "set the metadata IOPS to AUTOMATIC or a number (intelligent tiering: 6000 or 12000)"
            ),
            "HP3005 EFA needs Lustre 2.15; the version is 2.12 | use 2.15",
        ]

    @pytest.mark.parametrize("version", ["2.15", None])
    def test_is_silent_where_it_has_all(self, version: str | None) -> None:
        assert of("HP3005", efa=True, metadata_iops="AUTOMATIC", version=version) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert of("HP3005", efa=UNKNOWN) == of("HP3005", efa=True, metadata_iops=UNKNOWN, version=UNKNOWN) == []


class TestLustreMetadataIopsAreOffered:
    def test_only_persistent_2_has_them(self) -> None:
        assert of("HP3006", deployment_type="SCRATCH_2", metadata_iops="AUTOMATIC") == [
            "HP3006 metadata IOPS is AUTOMATIC on SCRATCH_2 | leave it out, or use PERSISTENT_2"
        ]

    @pytest.mark.parametrize(("iops", "written"), [(2000, "2,000"), (18_000, "18,000"), (204_000, "204,000")])
    def test_lists_the_steps(self, iops: int, written: str) -> None:
        assert of("HP3006", metadata_iops=iops) == [
            f"HP3006 metadata IOPS is {written} | use AUTOMATIC, 1,500, 3,000, 6,000 or 12,000 to 192,000 by 12,000"
        ]

    def test_not_fewer_than_the_capacity_brings(self) -> None:
        assert of("HP3006", metadata_iops=1500, capacity_gib=2400) == [
            "HP3006 metadata IOPS is 1,500, but 2,400 GiB brings 3,000 | use AUTOMATIC, or 3,000 or more"
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
        assert of("HP3007", version="2.10") == ["HP3007 Lustre 2.10 does not go with PERSISTENT_2 | use 2.15 or 2.12"]

    def test_2_12_has_no_metadata_configuration(self) -> None:
        assert of("HP3007", version="2.12", metadata_iops=6000) == [
            "HP3007 Lustre 2.12 does not go with PERSISTENT_2 with a metadata configuration | use 2.15"
        ]

    @pytest.mark.parametrize(
        ("deployment_type", "version"), [("PERSISTENT_2", "2.12"), ("PERSISTENT_2", None), ("SCRATCH_2", "2.10")]
    )
    def test_is_silent_on_versions_that_go_with_it(self, deployment_type: str, version: str | None) -> None:
        assert of("HP3007", deployment_type=deployment_type, version=version) == []

    @pytest.mark.parametrize("version", [UNKNOWN, "2.17"])
    def test_is_silent_on_unknown_and_newer_versions(self, version: Any) -> None:
        assert of("HP3007", version=version) == []

    def test_is_silent_on_2_12_where_the_metadata_is_not_known(self) -> None:
        assert of("HP3007", version="2.12", metadata_iops=UNKNOWN) == []


class TestBackupsArePossible:
    def test_not_on_scratch(self) -> None:
        assert of("HP3008", deployment_type="SCRATCH_2", backup_days=1) == [
            (
                "HP3008 automatic backups are kept 1 day but SCRATCH_2 is a scratch type | "
                "set the backup retention to 0, or use a persistent type"
            )
        ]

    def test_not_with_a_link_to_s3(self) -> None:
        linked = (DataRepository(folder="/data", s3_uri="s3://b/data/"),)
        assert with_fields("HP3008", lustre(backup_days=7), repositories=linked) == [
            (
                "HP3008 automatic backups are kept 7 days but the file system is linked to S3 | "
                "set the backup retention to 0: export to S3 keeps the data"
            )
        ]

    @pytest.mark.parametrize(
        "fields", [{"backup_days": 7}, {"backup_days": 0, "deployment_type": "SCRATCH_2"}, {"backup_days": UNKNOWN}]
    )
    def test_is_silent_without_backups_and_where_they_are_possible(self, fields: dict[str, Any]) -> None:
        assert of("HP3008", **fields) == []


class TestScratchHasNoCustomerKey:
    def of(self, deployment_type: Any, kms_key: Any) -> list[str]:
        return with_fields("HP3009", lustre(deployment_type=deployment_type), kms_key=kms_key)

    def test_scratch_has_the_key_of_fsx(self) -> None:
        assert self.of("SCRATCH_2", KEY) == [
            f"HP3009 SCRATCH_2 has the customer key {KEY} | leave the key out, or use a persistent type"
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
            f"HP3010 the file system has {count} subnets | give it one, in the zone of its nodes"
        ]

    def test_counts_what_is_certainly_there(self) -> None:
        assert len(with_fields("HP3010", subnets=("A", "B", UNKNOWN))) == 1

    @pytest.mark.parametrize("subnets", [("A",), (UNKNOWN,), (UNKNOWN, UNKNOWN), ("A", UNKNOWN), UNKNOWN])
    def test_is_silent_on_one_and_on_unknown_lists(self, subnets: Any) -> None:
        assert with_fields("HP3010", subnets=subnets) == []


class TestDataOutlivesTheStack:
    def of(self, on_delete: Any, on_replace: Any, **fields: Any) -> list[str]:
        return with_fields("HP3011", lustre(**fields), retention=Retention(on_delete=on_delete, on_replace=on_replace))

    def test_names_what_is_lost_and_when(self) -> None:
        assert self.of("Delete", "Delete", capacity_gib=48_000) == [
            (
                "HP3011 DeletionPolicy is Delete and UpdateReplacePolicy is Delete: "
                "deleting the stack or replacing the file system deletes 48,000 GiB | "
                "set DeletionPolicy to RetainExceptOnCreate and UpdateReplacePolicy to Retain"
            )
        ]

    def test_a_replacement_alone_is_enough(self) -> None:
        (found,) = self.of("Retain", "Delete", capacity_gib=UNKNOWN)
        assert found.startswith(
            "HP3011 UpdateReplacePolicy is Delete: replacing the file system deletes all its data |"
        )

    @pytest.mark.parametrize("on_delete", ["Retain", "RetainExceptOnCreate", UNKNOWN])
    def test_is_silent_where_data_is_kept(self, on_delete: Any) -> None:
        assert self.of(on_delete, "Retain") == self.of(on_delete, UNKNOWN) == []


class TestFailedCreatesLeaveNothing:
    def of(self, on_delete: Any) -> list[str]:
        return with_fields("HP3012", retention=Retention(on_delete=on_delete))

    def test_plain_retain_leaves_an_empty_one(self) -> None:
        assert self.of("Retain") == [
            (
                "HP3012 DeletionPolicy is Retain: a first deploy that fails leaves an empty file system that is paid | "
                "set DeletionPolicy to RetainExceptOnCreate"
            )
        ]

    @pytest.mark.parametrize("on_delete", ["RetainExceptOnCreate", "Delete", UNKNOWN])
    def test_is_silent_on_everything_else(self, on_delete: Any) -> None:
        assert self.of(on_delete) == []


class TestRepositoriesCanBeLinked:
    def of(self, *places: tuple[Any, Any], **fields: Any) -> list[str]:
        repositories = tuple(DataRepository(folder=folder, s3_uri=uri) for folder, uri in places)
        return with_fields("HP3017", lustre(**fields), repositories=repositories)

    @pytest.mark.parametrize(("outer", "inner"), [("/ns1", "/ns1/ns2"), ("/ns1/", "/ns1"), ("/", "/data")])
    def test_folders_do_not_overlap(self, outer: str, inner: str) -> None:
        assert self.of((outer, "s3://a/"), (inner, "s3://b/")) == [
            f"HP3017 folders {outer} and {inner} overlap | link folders of which none is or holds another"
        ]

    @pytest.mark.parametrize(("outer", "inner"), [("s3://a", "s3://a/x/"), ("s3://a/x", "s3://a/x/")])
    def test_prefixes_do_not_overlap(self, outer: str, inner: str) -> None:
        assert self.of(("/a", outer), ("/b", inner)) == [
            f"HP3017 {outer} and {inner} overlap | link prefixes of which none is or holds another"
        ]

    def test_eight_at_most(self) -> None:
        places = [(f"/{n}", f"s3://b/{n}/") for n in range(9)]
        assert self.of(*places) == ["HP3017 the file system has 9 links to S3 | use at most 8"]
        assert self.of(*places[:8]) == []

    @pytest.mark.parametrize(
        ("fields", "kind"),
        [({"deployment_type": "SCRATCH_1"}, "SCRATCH_1"), (TIERING, "PERSISTENT_2 on INTELLIGENT_TIERING")],
    )
    def test_some_types_cannot(self, fields: dict[str, Any], kind: str) -> None:
        assert self.of(("/a", "s3://a/"), **fields) == [
            f"HP3017 {kind} cannot be linked to S3 | use PERSISTENT_2 on SSD, or leave the links out"
        ]

    def test_lustre_2_10_cannot(self) -> None:
        scratch = {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": None}
        assert self.of(("/a", "s3://a/"), **scratch, version="2.10") == [
            "HP3017 Lustre 2.10 cannot be linked to S3 | use 2.15"
        ]
        assert self.of(("/a", "s3://a/"), **scratch, version=None) == [
            "HP3017 Lustre 2.10, the version that is taken where none is given, cannot be linked to S3 | use 2.15"
        ]

    def test_is_silent_on_places_side_by_side(self) -> None:
        assert self.of(("/ns1", "s3://a/x/"), ("/ns10", "s3://a/xy/")) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert self.of((UNKNOWN, UNKNOWN), (UNKNOWN, UNKNOWN)) == []
        assert self.of(("/a", "s3://a/"), deployment_type="SCRATCH_2", version=UNKNOWN) == []


def tcp(direction: Any, group: str, low: int, high: int, **fields: Any) -> Rule:
    return Rule(direction=direction, **{"protocol": "tcp", "from_port": low, "to_port": high, "group": group, **fields})


def both(group: str, low: int, high: int) -> tuple[Rule, Rule]:
    return tcp("ingress", group, low, high), tcp("egress", group, low, high)


class TestLustreCanBeReachedAndPortsAreOpen:
    """Two security groups: `Nodes` and `Data`."""

    MOUNTS = (Mount(kind="lustre", file_system="Scratch"),)
    NODES = both("Data", 988, 1023)
    DATA = (*both("Data", 988, 1023), *both("Nodes", 988, 1023))

    def of(
        self,
        nodes: tuple[Rule, ...] = NODES,
        data: tuple[Rule, ...] = DATA,
        *,
        complete: bool = True,
        groups: tuple[InstanceGroup, ...] | None = None,
        rules: tuple[str, ...] = ("HP3018", "HP3022"),
    ) -> list[str]:
        judged = slurm_cluster(
            *(groups or (compute(mounts=self.MOUNTS),)),
            placement=VpcPlacement(subnets=("Net/Nodes",), security_groups=("Nodes",)),
        )
        security_groups = (
            SecurityGroup(path="Nodes", rules=nodes),
            SecurityGroup(path="Data", rules=data, complete=complete),
        )
        shared = (file_system(security_groups=("Data",)),)
        found = deployment(judged, file_systems=shared, security_groups=security_groups)
        return [line for rule in rules for line in told(rule, found)]

    def test_988_alone_is_not_enough(self) -> None:
        data = (*both("Data", 988, 1023), tcp("ingress", "Nodes", 988, 988), tcp("egress", "Nodes", 988, 1023))
        assert self.of(data=data) == [
            (
                "HP3022 security groups of the file system do not let tcp 1018-1023 in from the nodes of group 'p5' | "
                "add to Data an ingress rule for tcp 1018-1023 from Nodes"
            )
        ]

    def test_nodes_must_let_it_out_and_in(self) -> None:
        elsewhere = both("Other", 0, 65535)
        groups = (compute(mounts=self.MOUNTS), login(mounts=self.MOUNTS))
        assert self.of(nodes=elsewhere, groups=groups) == [
            (
                "HP3018 security groups of the nodes of groups 'p5' and 'login' do not let tcp 988 and 1018-1023 out "
                "to the file system | add to Nodes an egress rule for tcp 988 and 1018-1023 to Data"
            ),
            (
                "HP3022 security groups of the nodes of groups 'p5' and 'login' do not let tcp 988 and 1018-1023 in "
                "from the file system | add to Nodes an ingress rule for tcp 988 and 1018-1023 from Data"
            ),
        ]

    def test_rules_on_the_file_system_alone_are_a_warning(self) -> None:
        """What the CDK's `connections.allow_default_port_from` writes."""
        data = (*both("Data", 988, 1023), tcp("ingress", "Nodes", 988, 1023))
        nodes = (Rule(direction="ingress", protocol="-1", group="Nodes"),)
        assert [line[:6] for line in self.of(nodes=nodes, data=data)] == ["HP3022", "HP3022"]
        assert RULES["HP3022"].severity is Severity.WARNING

    def test_nothing_in_from_the_nodes_is_an_error(self) -> None:
        data = (*both("Data", 988, 1023), tcp("egress", "Nodes", 988, 1023))
        assert [line[:6] for line in self.of(data=data)] == ["HP3018"]

    def test_the_servers_talk_to_each_other(self) -> None:
        assert self.of(data=both("Nodes", 988, 1023)) == [
            (
                "HP3018 security groups of the file system do not let tcp 988 and 1018-1023 out to itself | "
                "add to Data an egress rule for tcp 988 and 1018-1023 to Data"
            ),
            (
                "HP3018 security groups of the file system do not let tcp 988 and 1018-1023 in from itself | "
                "add to Data an ingress rule for tcp 988 and 1018-1023 from Data"
            ),
        ]

    def test_is_silent_where_both_ways_are_open(self) -> None:
        assert self.of() == []

    @pytest.mark.parametrize(
        "open_rules",
        [
            tuple(Rule(direction=way, protocol="-1", cidr="10.0.0.0/8") for way in ("ingress", "egress")),
            tuple(Rule(direction=way, protocol=UNKNOWN, group=UNKNOWN) for way in ("ingress", "egress")),
            tuple(tcp(way, "Data", 988, 1023, protocol="6") for way in ("ingress", "egress")),
            (
                tcp("ingress", "Data", 0, 65535),
                *both("Data", 988, 988),
                *both("Data", 1018, 1020),
                *both("Data", 1021, 1023),
            ),
            (tcp("ingress", "Data", 988, 1023),),
            (tcp("ingress", "Data", 988, 1023), tcp("egress", "Other", 1, 1, path="Separate")),
        ],
    )
    def test_is_silent_on_every_form_of_open(self, open_rules: tuple[Rule, ...]) -> None:
        assert self.of(nodes=open_rules) == []

    def test_is_silent_where_nodes_and_file_system_share_a_group(self) -> None:
        fabric = SecurityGroup(
            path="Net/Group",
            rules=tuple(Rule(direction=way, protocol="-1", group="Net/Group") for way in ("ingress", "egress")),
        )
        judged = slurm_cluster(compute(mounts=self.MOUNTS))
        assert told("HP3018", deployment(judged, file_systems=(file_system(),), security_groups=(fabric,))) == []

    def test_is_silent_on_a_group_of_which_not_all_is_known(self) -> None:
        assert self.of(data=(), complete=False) == []

    def test_is_silent_on_imported_groups(self) -> None:
        judged = slurm_cluster(compute(mounts=self.MOUNTS))
        assert told("HP3018", deployment(judged, file_systems=(file_system(),))) == []

    def test_is_silent_on_nodes_that_do_not_mount_it(self) -> None:
        other = (Mount(kind="lustre", file_system="fs-0123.fsx"),)
        assert self.of(nodes=both("Other", 1, 1), groups=(compute(mounts=other), login(mounts=UNKNOWN))) == []


class TestTieringMetadataIsUndisputed:
    @pytest.mark.parametrize(
        ("iops", "got"), [("AUTOMATIC", "is AUTOMATIC"), (24_000, "is 24,000"), (None, "is not set")]
    )
    def test_names_what_both_texts_allow(self, iops: Any, got: str) -> None:
        assert of("HP3019", **{**TIERING, "metadata_iops": iops}) == [
            f"HP3019 metadata IOPS of intelligent tiering {got} | use 6,000 or 12,000"
        ]

    @pytest.mark.parametrize("iops", [6000, 12_000, UNKNOWN])
    def test_is_silent_on_those(self, iops: Any) -> None:
        assert of("HP3019", **{**TIERING, "metadata_iops": iops}) == []

    def test_is_silent_on_other_storage(self) -> None:
        assert of("HP3019", metadata_iops=24_000) == []
