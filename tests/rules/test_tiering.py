"""What is said of intelligent tiering."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.file_systems import TIERING, of


class TestTieringSaysHowItCaches:
    def test_needs_a_setting(self) -> None:
        assert of("HP3023", **{**TIERING, "read_cache": None}) == [
            (
                "HP3023 intelligent tiering has no read cache setting (DataReadCacheConfiguration) | "
                "give it SizingMode (read_cache) PROPORTIONAL_TO_THROUGHPUT_CAPACITY, NO_CACHE, or USER_PROVISIONED "
                "with SizeGiB (read_cache_gib)"
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [
            {"read_cache": "NO_CACHE"},
            {"read_cache": UNKNOWN},
            {"read_cache": "USER_PROVISIONED", "read_cache_gib": 64},
            {},
        ],
    )
    def test_is_silent_on_every_setting(self, fields: dict[str, Any]) -> None:
        assert of("HP3023", **{**TIERING, **fields}) == []

    def test_is_silent_on_other_storage(self) -> None:
        assert of("HP3023") == []


class TestTieringIsBoughtAsThroughput:
    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (
                {"throughput_mbps": 2000},
                (
                    "intelligent tiering has a throughput of 2,000 MB/s | "
                    "use ThroughputCapacity (throughput_mbps), a multiple of 4,000 up to 2,000,000 MB/s"
                ),
            ),
            (
                {"throughput_mbps": 2_004_000},
                (
                    "intelligent tiering has a throughput of 2,004,000 MB/s | "
                    "use ThroughputCapacity (throughput_mbps), a multiple of 4,000 up to 2,000,000 MB/s"
                ),
            ),
            (
                {"read_cache_gib": 16},
                (
                    "the read cache is 16 GiB at 4,000 MB/s | use SizeGiB (read_cache_gib) from 32 to 131,072, "
                    "or SizingMode PROPORTIONAL_TO_THROUGHPUT_CAPACITY (no read_cache_gib)"
                ),
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


class TestTieringMetadataIsUndisputed:
    @pytest.mark.parametrize(
        ("iops", "got"), [("AUTOMATIC", "is AUTOMATIC"), (24_000, "is 24,000"), (None, "is not set")]
    )
    def test_names_what_both_texts_allow(self, iops: Any, got: str) -> None:
        assert of("HP3019", **{**TIERING, "metadata_iops": iops}) == [
            (
                f"HP3019 metadata IOPS of intelligent tiering {got} | "
                "give MetadataConfiguration Mode USER_PROVISIONED and Iops (metadata_iops) 6,000 or 12,000"
            )
        ]

    @pytest.mark.parametrize("iops", [6000, 12_000, UNKNOWN])
    def test_is_silent_on_those(self, iops: Any) -> None:
        assert of("HP3019", **{**TIERING, "metadata_iops": iops}) == []

    def test_is_silent_on_other_storage(self) -> None:
        assert of("HP3019", metadata_iops=24_000) == []


class TestTieringHasThroughputAndNoCapacity:
    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (
                {"capacity_gib": 4800},
                "intelligent tiering has a capacity of 4,800 GiB | leave StorageCapacity (capacity_gib) out",
            ),
            (
                {"throughput_mbps_per_tib": 125},
                (
                    "intelligent tiering has a throughput of 125 MB/s/TiB | "
                    "leave PerUnitStorageThroughput (throughput_mbps_per_tib) out"
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

    def test_all_of_the_way_of_ssd_is_one_mistake(self) -> None:
        as_ssd = {"capacity_gib": 4800, "throughput_mbps_per_tib": 125, "throughput_mbps": None}
        assert of("HP3020", **{**TIERING, **as_ssd}) == [
            (
                "HP3020 intelligent tiering has a capacity of 4,800 GiB, a throughput of 125 MB/s/TiB and no "
                "throughput of the whole file system | leave StorageCapacity (capacity_gib) and "
                "PerUnitStorageThroughput (throughput_mbps_per_tib) out and give ThroughputCapacity (throughput_mbps), "
                "a multiple of 4,000 up to 2,000,000 MB/s"
            )
        ]

    def test_is_a_warning_because_it_is_inferred(self) -> None:
        assert RULES["HP3020"].severity is Severity.WARNING

    @pytest.mark.parametrize("field", ["capacity_gib", "throughput_mbps_per_tib", "throughput_mbps"])
    def test_is_silent_on_what_is_not_known(self, field: str) -> None:
        assert of("HP3020", **{**TIERING, field: UNKNOWN}) == []

    def test_is_silent_on_what_is_sold_and_on_other_storage(self) -> None:
        assert of("HP3020", **TIERING) == of("HP3020") == []


class TestOnlyTieringHasItsFields:
    def test_names_them(self) -> None:
        assert of("HP3027", throughput_mbps=4000, read_cache="NO_CACHE") == [
            (
                "HP3027 SSD storage has ThroughputCapacity (throughput_mbps) and DataReadCacheConfiguration "
                "(read_cache) | leave them out, or use StorageType (storage_type) INTELLIGENT_TIERING"
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [{}, TIERING, {"throughput_mbps": UNKNOWN, "read_cache": UNKNOWN}, {**TIERING, "storage_type": UNKNOWN}],
    )
    def test_is_silent_on_tiering_and_on_what_is_not_known(self, fields: dict[str, Any]) -> None:
        assert of("HP3027", **fields) == []
