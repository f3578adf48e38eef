import pytest
from botocore.session import Session

from hyperpod_constructs.catalog import lustre
from hyperpod_constructs.catalog.lustre import Capacities, Offer


def offer(deployment_type: str | None, storage_type: str | None = None) -> Offer:
    found = lustre.find(deployment_type, storage_type)
    assert found is not None
    return found


def capacities(
    deployment_type: str, storage_type: str = "SSD", *, throughput: int | None = None, efa: bool = False
) -> Capacities:
    found = offer(deployment_type, storage_type).capacities_for(throughput, efa=efa)
    assert found is not None
    return found


class TestCombinations:
    @pytest.mark.parametrize(
        ("deployment_type", "storage_type"),
        [
            ("SCRATCH_2", "HDD"),
            ("PERSISTENT_2", "HDD"),
            ("PERSISTENT_1", "INTELLIGENT_TIERING"),
            ("PERSISTENT_3", "SSD"),
        ],
    )
    def test_what_does_not_exist_is_not_found(self, deployment_type: str, storage_type: str) -> None:
        assert lustre.find(deployment_type, storage_type) is None

    def test_left_out_means_scratch_1_on_ssd(self) -> None:
        assert offer(None) is lustre.OFFERS["SCRATCH_1", "SSD"]

    @pytest.mark.parametrize(
        ("deployment_type", "storage_type", "throughputs"),
        [
            ("SCRATCH_2", "SSD", ()),
            ("PERSISTENT_1", "SSD", (50, 100, 200)),
            ("PERSISTENT_1", "HDD", (12, 40)),
            ("PERSISTENT_2", "SSD", (125, 250, 500, 1000)),
            ("PERSISTENT_2", "INTELLIGENT_TIERING", ()),
        ],
    )
    def test_throughputs(self, deployment_type: str, storage_type: str, throughputs: tuple[int, ...]) -> None:
        assert offer(deployment_type, storage_type).throughputs == throughputs

    def test_scratch_takes_no_key_and_only_persistent_2_takes_metadata_and_efa(self) -> None:
        assert {key[0] for key, each in lustre.OFFERS.items() if not each.customer_key} == {"SCRATCH_1", "SCRATCH_2"}
        assert {key[0] for key, each in lustre.OFFERS.items() if each.metadata or each.efa} == {"PERSISTENT_2"}

    def test_scratch_1_and_intelligent_tiering_take_no_repository(self) -> None:
        assert {key for key, each in lustre.OFFERS.items() if not each.repository} == {
            ("SCRATCH_1", "SSD"),
            ("PERSISTENT_2", "INTELLIGENT_TIERING"),
        }


class TestCapacities:
    @pytest.mark.parametrize("capacity_gib", [1200, 2400, 4800, 7200, 48_000])
    def test_ssd_comes_in_steps_of_2400_after_1200(self, capacity_gib: int) -> None:
        assert capacities("PERSISTENT_2", throughput=250).allows(capacity_gib)

    @pytest.mark.parametrize("capacity_gib", [-2400, 0, 600, 1201, 3600, 6000])
    def test_ssd_has_nothing_in_between(self, capacity_gib: int) -> None:
        assert not capacities("SCRATCH_2").allows(capacity_gib)

    def test_scratch_1_steps_are_3600(self) -> None:
        allowed = [c for c in range(0, 11_000, 1200) if capacities("SCRATCH_1").allows(c)]
        assert allowed == [1200, 2400, 3600, 7200, 10_800]

    def test_hdd_steps_depend_on_throughput(self) -> None:
        slow, fast = (capacities("PERSISTENT_1", "HDD", throughput=t) for t in (12, 40))
        assert [slow.allows(6000), slow.allows(1800), fast.allows(1800), fast.allows(6000)] == [
            True,
            False,
            True,
            False,
        ]
        assert offer("PERSISTENT_1", "HDD").capacities_for(None) is None

    @pytest.mark.parametrize(("throughput", "step"), [(1000, 4800), (500, 9600), (250, 19_200), (125, 38_400)])
    def test_efa_steps_depend_on_throughput(self, throughput: int, step: int) -> None:
        steps = capacities("PERSISTENT_2", throughput=throughput, efa=True)
        assert [steps.allows(step // 2), steps.allows(step), steps.allows(3 * step)] == [False, True, True]

    def test_efa_has_no_capacity_where_it_is_not_offered_or_throughput_is_unknown(self) -> None:
        assert offer("PERSISTENT_1").capacities_for(200, efa=True) is None
        assert offer("PERSISTENT_2").capacities_for(None, efa=True) is None

    def test_intelligent_tiering_has_no_capacity(self) -> None:
        assert offer("PERSISTENT_2", "INTELLIGENT_TIERING").capacities_for(None) is None

    def test_around_names_both_sides_and_only_the_smallest_for_less(self) -> None:
        ssd = capacities("PERSISTENT_2", throughput=125)
        assert [ssd.around(c) for c in (-5, 500, 1300, 3000)] == [(1200,), (1200,), (1200, 2400), (2400, 4800)]


class TestVersions:
    @pytest.mark.parametrize(
        ("deployment_type", "metadata", "versions", "default"),
        [
            ("SCRATCH_2", False, ("2.10", "2.12", "2.15"), "2.10"),
            ("PERSISTENT_1", False, ("2.10", "2.12", "2.15"), "2.10"),
            ("PERSISTENT_2", False, ("2.12", "2.15"), "2.12"),
            ("PERSISTENT_2", True, ("2.15",), "2.15"),
        ],
    )
    def test_follow_type_and_metadata(
        self, deployment_type: str, metadata: bool, versions: tuple[str, ...], default: str
    ) -> None:
        found = offer(deployment_type)
        assert found.versions_for(metadata=metadata) == versions
        assert found.version_without_choice(metadata=metadata) == default


class TestMetadata:
    @pytest.mark.parametrize(
        ("capacity_gib", "iops"),
        [
            (1200, 1500),
            (2400, 3000),
            (4800, 6000),
            (9600, 6000),
            (12_000, 12_000),
            (45_600, 12_000),
            (48_000, 24_000),
            (50_400, 24_000),
            (72_000, 36_000),
            (1_200_000, 192_000),
        ],
    )
    def test_automatic_iops_follow_capacity(self, capacity_gib: int, iops: int) -> None:
        assert lustre.automatic_metadata_iops(capacity_gib) == iops

    def test_iops_that_can_be_set(self) -> None:
        assert lustre.METADATA_IOPS[:6] == (1500, 3000, 6000, 12_000, 24_000, 36_000)
        assert lustre.METADATA_IOPS[-1] == 192_000
        assert set(lustre.TIERING_METADATA_IOPS) <= set(lustre.METADATA_IOPS)


def test_read_cache_follows_the_throughput_of_intelligent_tiering() -> None:
    assert lustre.read_cache_gib(4000) == (32, 131_072)


class TestAgainstTheApi:
    @pytest.mark.parametrize(
        ("shape", "member", "ours"),
        [
            ("CreateFileSystemLustreConfiguration", "DeploymentType", {key[0] for key in lustre.OFFERS}),
            ("CreateFileSystemRequest", "StorageType", {key[1] for key in lustre.OFFERS}),
            ("CreateFileSystemLustreConfiguration", "DataCompressionType", lustre.COMPRESSIONS),
            ("CreateFileSystemLustreConfiguration", "DriveCacheType", lustre.DRIVE_CACHES),
            ("CreateFileSystemLustreMetadataConfiguration", "Mode", lustre.METADATA_MODES),
            ("LustreReadCacheConfiguration", "SizingMode", lustre.READ_CACHE_MODES),
        ],
    )
    def test_choices_are_those_of_the_installed_model(self, shape: str, member: str, ours: tuple[str, ...]) -> None:
        model = Session().get_service_model("fsx").shape_for(shape).members[member]
        assert set(model.enum) == set(ours), "the FSx API has changed: read it and update catalog/lustre.py"


class TestNeverExisted:
    @pytest.mark.parametrize("version", ["2.1", "2.11", "2.14", "1.8", "2", "", "latest", "2.x"])
    def test_some_never_existed(self, version: str) -> None:
        assert lustre.never_existed(version)

    @pytest.mark.parametrize("version", [*lustre.VERSIONS, "2.16", "3.0", "2.15.1"])
    def test_others_do_or_may_one_day(self, version: str) -> None:
        assert not lustre.never_existed(version)
