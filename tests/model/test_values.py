"""What can never be right in one value is refused where the user wrote it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.model.capacity import BatchSize
from hyperpod_constructs.tokens import UNKNOWN

TOKEN = "${Token[TOKEN.1]}"
ARN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan"


class TestInstanceGroup:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"name": "p5_nodes"}, "group name 'p5_nodes' is not allowed"),
            ({"name": "p5-"}, "beginning and ending"),
            ({"name": "x" * 64}, "1 to 63"),
            ({"count": -1}, "count is -1; use 0 to 6,758"),
            ({"count": 6759}, "count is 6,759"),
            ({"count": "3"}, "count is '3', a str; use a whole number"),
            ({"count": True}, "a bool; use a whole number"),
            ({"count": 2.5}, "a float; use a whole number"),
            ({"spares": -1}, "spares is -1"),
            ({"count": 6758, "spares": 1}, "count with spares is 6,759; use 0 to 6,758"),
            ({"threads_per_core": 3}, "threads per core is 3; use 1 to 2"),
            ({"node_type": "Worker"}, "use one of Controller, Login, Compute"),
            ({"network_interface": "ena"}, "use one of efa, efa-only"),
        ],
    )
    def test_refuses_what_can_never_be_right(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            hp.InstanceGroup(**{"name": "p5", "count": 1, "instance_type": "ml.p5.48xlarge", **wrong})

    @pytest.mark.parametrize(
        "legal", [{"name": "x" * 63}, {"count": 0}, {"count": 6758}, {"name": TOKEN}, {"count": -1.8e289}]
    )
    def test_takes_the_nearest_legal_value_and_tokens(self, legal: dict[str, Any]) -> None:
        assert hp.InstanceGroup(**{"name": "p5", "count": 1, "instance_type": "ml.p5.48xlarge", **legal})

    def test_instances_are_what_jobs_use_and_the_spares(self) -> None:
        assert hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=30, spares=2).instances == 32

    def test_lists_are_taken_like_tuples(self) -> None:
        volume = hp.NodeVolume(size_gib=500)
        group = hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=1, volumes=[volume])
        assert group.volumes == (volume,)

    def test_a_misspelt_option_is_named(self) -> None:
        with pytest.raises(TypeError, match="treads_per_core"):
            hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=1, treads_per_core=1)  # type: ignore[call-arg]  # the point

    def test_a_partition_is_called_like_its_group_unless_it_is_named(self) -> None:
        assert hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=1).partitions == ("p5",)
        assert hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=1, partition="train").partitions == ("train",)

    def test_a_type_newer_than_the_catalogue_can_be_described(self) -> None:
        new = hp.InstanceType("ml.p7.48xlarge", accelerators=8, efa=16, addresses=16)
        group = hp.InstanceGroup.compute("p7", new, count=1)
        assert group.instance_type == "ml.p7.48xlarge"
        assert group.facts is new


class TestPossibleFacts:
    @pytest.mark.parametrize(
        ("given", "names"),
        [
            ({"instance_type": "ml.p5.48xlarge"}, ("ml.p5.48xlarge",)),
            ({"flexible_types": ("ml.p5.48xlarge", "ml.p4d.24xlarge")}, ("ml.p5.48xlarge", "ml.p4d.24xlarge")),
            ({"flexible_types": ("ml.p5.48xlarge", "ml.p9.48xlarge")}, ()),
            ({"flexible_types": ("ml.p5.48xlarge", UNKNOWN)}, ()),
            ({"flexible_types": UNKNOWN}, ()),
            ({"instance_type": UNKNOWN, "flexible_types": ("ml.p5.48xlarge",)}, ()),
            ({}, ()),
        ],
    )
    def test_are_of_every_type_or_none(self, given: dict[str, Any], names: tuple[str, ...]) -> None:
        group = hp.InstanceGroup(name="g", count=1, **given)
        assert tuple(facts.name for facts in group.possible_facts) == names


class TestTrainingPlan:
    FACTS: ClassVar[dict[str, Any]] = {"count": 32, "zone": "usw2-az2", "starts": "2026-12-07", "ends": "2027-02-14"}

    def test_requires_its_facts(self) -> None:
        with pytest.raises(TypeError, match="count"):
            hp.TrainingPlan("frontier", zone="usw2-az2", starts="2026-12-07", ends="2027-02-14")  # type: ignore[call-arg]  # the point

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"starts": "7.12.2026"}, "starts is '7.12.2026'; use a day as YYYY-MM-DD"),
            ({"ends": "2026-12-07"}, "starts 2026-12-07 and ends 2026-12-07; use an end after the start"),
            ({"count": 0}, "count is 0"),
        ],
    )
    def test_refuses_facts_that_can_never_be_right(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            hp.TrainingPlan("frontier", **{**self.FACTS, **wrong})

    @pytest.mark.parametrize(
        "name", ["x y/z", "-x", "x-", "frontier_1", "f" * 65, "arn:aws:sagemaker:us-west-2:1:plan/x"]
    )
    def test_refuses_a_name_that_no_plan_has(self, name: str) -> None:
        with pytest.raises(hp.InvalidValue, match="1 to 64 letters, digits and hyphens"):
            hp.TrainingPlan(name, **self.FACTS)

    @pytest.mark.parametrize("name", ["f", "Frontier-2", "f" * 64, TOKEN, f"{ARN}/x y"])
    def test_takes_names_and_arns(self, name: str) -> None:
        assert hp.TrainingPlan(name, **self.FACTS).plan == name

    @pytest.mark.parametrize("wrong", ["", 3, None, ["frontier"], hp.Spot()])
    def test_refuses_a_name_that_is_no_text(self, wrong: Any) -> None:
        with pytest.raises(hp.InvalidValue, match="name of a training plan is"):
            hp.TrainingPlan(wrong, **self.FACTS)
        with pytest.raises(hp.InvalidValue, match="is not the ARN of a training plan"):
            hp.TrainingPlan.unchecked(wrong)

    def test_nodes_come_at_1130_utc_and_leave_an_hour_before_the_end(self) -> None:
        plan = hp.TrainingPlan("frontier", **self.FACTS)
        assert plan.arrives == datetime(2026, 12, 7, 11, 30, tzinfo=UTC)
        assert plan.leaves == datetime(2027, 2, 14, 10, 30, tzinfo=UTC)

    def test_unchecked_takes_an_arn_or_a_token_and_nothing_else(self) -> None:
        arn = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier"
        assert hp.TrainingPlan.unchecked(arn).name == "frontier"
        assert not hp.TrainingPlan.unchecked(TOKEN).has_facts
        with pytest.raises(hp.InvalidValue, match="not the ARN of a training plan"):
            hp.TrainingPlan.unchecked("frontier")


class TestStorage:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"capacity_gib": 0}, "capacity is 0"),
            ({"deployment_type": "PERSISTENT_3"}, "SCRATCH_1, SCRATCH_2, PERSISTENT_1, PERSISTENT_2"),
            ({"backup_days": 91}, "use 0 to 90 days"),
            ({"metadata_iops": "AUTO"}, "use 'AUTOMATIC' or a number"),
            ({"throughput_mbps_per_tib": 2000}, "use 125, 250, 500 or 1,000 MB/s/TiB"),
            ({"throughput_mbps_per_tib": 11, "deployment_type": TOKEN}, "12 or 40 for PERSISTENT_1 on HDD; 125, 250"),
            ({"throughput_mbps_per_tib": 2000, "deployment_type": "SCRATCH_2"}, "this type has no such setting"),
            ({"maintenance": "Sunday 3 am"}, "use d:HH:MM in UTC, Monday is 1: 7:03:00"),
        ],
    )
    def test_lustre_refuses_what_can_never_be_right(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            hp.Lustre(**{"capacity_gib": 1200, "throughput_mbps_per_tib": 125, **wrong})

    @pytest.mark.parametrize("legal", [{"maintenance": "7:03:00"}, {"maintenance": TOKEN}, {"metadata_iops": TOKEN}])
    def test_lustre_takes_what_is_legal_and_tokens(self, legal: dict[str, Any]) -> None:
        assert hp.Lustre(**{"capacity_gib": 1200, "throughput_mbps_per_tib": 125, **legal})

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"folder": "datasets"}, "use a path that begins with /"),
            ({"s3_uri": "datasets"}, "use s3://BUCKET/PREFIX/"),
            ({"imports": ("ADDED",)}, "use one of NEW, CHANGED, DELETED"),
        ],
    )
    def test_a_repository_refuses_what_can_never_be_right(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            hp.DataRepository(**{"folder": "/datasets", "s3_uri": "s3://datasets/", **wrong})

    def test_a_volume_has_a_size_that_ebs_has(self) -> None:
        with pytest.raises(hp.InvalidValue, match="16,384 GiB"):
            hp.NodeVolume(size_gib=16_385)
        assert hp.NodeVolume(size_gib=16_384).size_gib == 16_384


FS = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"


class TestMountsOfFileSystems:
    @pytest.mark.parametrize(
        "name", ["not-a-file-system", "fs-0123456789abcdef0", f"{FS}@tcp:/abcdefgh", f"{FS}/abcdefgh", "", FS.upper()]
    )
    def test_what_is_no_dns_name_is_refused(self, name: str) -> None:
        with pytest.raises(hp.InvalidValue, match="use the file system's DNS name alone"):
            hp.OpenZfs(dns_name=name)

    @pytest.mark.parametrize("name", [FS, TOKEN, "fs-01234567.fsx.cn-north-1.amazonaws.com.cn"])
    def test_dns_names_and_tokens_pass(self, name: str) -> None:
        assert hp.OpenZfs(dns_name=name).dns_name == name

    def test_a_mount_name_is_for_lustre(self) -> None:
        with pytest.raises(hp.InvalidValue, match="leave it out: only Lustre has one"):
            hp.Mount(kind="openzfs", file_system=FS, mount_name="abcdefgh")

    def test_other_kinds_are_refused(self) -> None:
        with pytest.raises(hp.InvalidValue, match="mount kind is 'efs'; use one of lustre, openzfs"):
            hp.Mount(kind="efs", file_system=FS)  # type: ignore[arg-type]  # the point

    def test_a_cache_is_not_there_and_of_a_size(self) -> None:
        with pytest.raises(hp.InvalidValue, match="leave out the one or the other"):
            hp.Lustre(storage_type="INTELLIGENT_TIERING", read_cache="NO_CACHE", read_cache_gib=64)


class TestUpdates:
    def test_a_batch_is_a_number_or_a_share(self) -> None:
        with pytest.raises(hp.InvalidValue, match="neither count nor percent; give one of them"):
            BatchSize()
        with pytest.raises(hp.InvalidValue, match="both count and percent; give one of them"):
            BatchSize(count=1, percent=10)
        with pytest.raises(hp.InvalidValue, match="use 1 to 100"):
            BatchSize(percent=101)

    def test_at_most_ten_alarms_roll_an_update_back(self) -> None:
        with pytest.raises(hp.InvalidValue, match="number of rollback alarms is 11; use 1 to 10"):
            hp.RollingUpdate(batch=BatchSize(count=1), alarms=tuple(map(str, range(11))))

    def test_an_alarm_is_named_once(self) -> None:
        with pytest.raises(hp.InvalidValue, match=r"rollback alarms are \['a', 'a'\]; name each alarm once"):
            hp.RollingUpdate(batch=BatchSize(count=1), alarms=("a", "a"))
        token = "${Token[Alarm.1]}"
        assert hp.RollingUpdate(batch=BatchSize(count=1), alarms=("a", "b", token, token)).alarms

    @pytest.mark.parametrize(("day", "month", "days"), [("31", "2", 29), ("30", "02", 29), ("31", "4", 30)])
    def test_a_schedule_has_a_day_that_its_month_has(self, day: str, month: str, days: int) -> None:
        schedule = f"cron(0 3 {day} {month} ? *)"
        with pytest.raises(hp.InvalidValue) as refused:
            hp.ScheduledUpdate(schedule=schedule)
        assert str(refused.value).startswith(f"schedule {schedule} never comes: month {int(month)} has {days} days at")

    @pytest.mark.parametrize(
        "schedule", ["cron(0 3 29 2 ? *)", "cron(0 3 31 1 ? *)", "cron(0 3 31 * ? *)", "cron(0 3 ? 2 SUN *)", TOKEN]
    )
    def test_a_schedule_that_comes_or_is_not_known_passes(self, schedule: str) -> None:
        assert hp.ScheduledUpdate(schedule=schedule).schedule == schedule


class TestTextWhereAListIsWanted:
    """It would count as a list of letters."""

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: hp.Budget(services="Amazon SageMaker"), "budget services is 'Amazon SageMaker'"),  # type: ignore[arg-type]  # the point
            (lambda: hp.RollingUpdate(batch=BatchSize(count=1), alarms=["#{Token[TOKEN.1]}"]), "are a list token"),  # type: ignore[arg-type]  # the point
            (lambda: hp.RollingUpdate(batch=BatchSize(count=1), alarms="broken"), "rollback alarms is 'broken'"),  # type: ignore[arg-type]  # the point
            (lambda: hp.DataRepository(folder="/d", s3_uri="s3://d/", imports="NEW"), "repository events is 'NEW'"),  # type: ignore[arg-type]  # the point
        ],
    )
    def test_is_refused(self, make: Callable[[], object], message: str) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            make()

    def test_words_are_no_flags(self) -> None:
        with pytest.raises(hp.InvalidValue, match="Lustre efa is 'yes'"):
            hp.Lustre(capacity_gib=1200, efa="yes")  # type: ignore[arg-type]  # the point


class TestExternalDatabase:
    @pytest.mark.parametrize(
        ("wrong", "message"), [({"port": 0}, "use 1 to 65,535"), ({"name": "slurm-db"}, "letters, digits, \\$ and _")]
    )
    def test_refuses_what_can_never_be_right(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(hp.InvalidValue, match=message):
            hp.ExternalDatabase(**{"endpoint": "db", "secret_arn": "arn", **wrong})


class TestBudget:
    def test_tells_somebody(self) -> None:
        with pytest.raises(hp.InvalidValue, match="a budget without notices tells nobody; give actual_percent or"):
            hp.Budget(actual_percent=(), forecast_percent=None)
        assert hp.Budget(actual_percent=()).forecast_percent == 100
        assert hp.Budget(actual_percent=(80,), forecast_percent=None).actual_percent == (80,)

    def test_tells_it_once(self) -> None:
        with pytest.raises(hp.InvalidValue, match=r"actual_percent is \(50, 50\); name each threshold once"):
            hp.Budget(actual_percent=(50, 50))


class TestKubernetesConfig:
    def test_refuses_what_can_never_be_right(self) -> None:
        with pytest.raises(hp.InvalidValue, match=r"labels are 'team'; use a map"):
            hp.KubernetesConfig(labels="team")  # type: ignore[arg-type]  # the point
        with pytest.raises(hp.InvalidValue, match=r"taints is 'gpu'; use a list"):
            hp.KubernetesConfig(taints="gpu")  # type: ignore[arg-type]  # the point
        with pytest.raises(hp.InvalidValue, match=r"taint effect is 'Never'; use one of NoSchedule"):
            hp.Taint(key="gpu", effect="Never")  # type: ignore[arg-type]  # the point

    def test_takes_labels_and_taints(self) -> None:
        taint = hp.Taint(key="gpu", effect="NoSchedule")
        assert hp.KubernetesConfig(labels={"team": "a"}, taints=(taint,)).taints == (taint,)


class TestLists:
    def test_count_as_tuples_wherever_a_value_is_made(self) -> None:
        group = hp.InstanceGroup(
            name="w",
            count=1,
            instance_type="ml.p5.48xlarge",
            volumes=[hp.NodeVolume(size_gib=500)],  # type: ignore[arg-type]  # users write lists
        )
        assert group.volumes == (hp.NodeVolume(size_gib=500),)
        with pytest.raises(hp.InvalidValue, match="repository event is 'SOMETIMES'"):
            hp.DataRepository(folder="/d", s3_uri="s3://b/", imports=["SOMETIMES"])  # type: ignore[arg-type]  # the point

    def test_repository_events_twice_are_refused_and_a_token_beside_one_is_not(self) -> None:
        with pytest.raises(hp.InvalidValue, match=r"repository events are \['NEW', 'NEW'\]"):
            hp.DataRepository(folder="/d", s3_uri="s3://d/", exports=("NEW", "NEW"))
        hp.DataRepository(folder="/d", s3_uri="s3://d/", exports=("NEW", "${Token[TOKEN.1]}"))

    def test_mount_paths_have_at_most_1024_characters(self) -> None:
        with pytest.raises(hp.InvalidValue, match="mount path is 1,025; use 1 to 1,024"):
            hp.Mount(kind="lustre", path="/" + 1024 * "a", file_system="Scratch")
        hp.Mount(kind="lustre", path="/" + 1023 * "a", file_system="Scratch")
        hp.Mount(kind="lustre", path="/${Token[TOKEN.1]}" + 1024 * "a", file_system="Scratch")
