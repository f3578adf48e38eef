from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.model.capacity import InstanceGroup, Spot
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.model.storage import FileSystem, Lustre, Mount
from hyperpod_constructs.review.live import drift
from hyperpod_constructs.review.live.drift import Drift, FileSystemDrift, GroupDrift, PlanDrift, QuotaDrift
from hyperpod_constructs.tokens import UNKNOWN
from tests.review import snapshots
from tests.review.snapshots import ACCOUNT, DNS_NAME, IN_ALL, IN_ONE, P5, PLAN, SCRIPTS, group, snapshot
from tests.rules import builders
from tests.rules.builders import compute

ROLE = f"arn:aws:iam::{ACCOUNT}:role/nodes"
NOW = datetime(2026, 11, 30, 10, 10, tzinfo=UTC)


def cluster(*groups: InstanceGroup, **fields: Any) -> Cluster:
    """The cluster of the snapshot."""
    return builders.cluster(**{"name": "Frontier", "groups": groups, **fields})


def scratch(**fields: Any) -> FileSystem:
    return FileSystem(path="Scratch", lustre=Lustre(capacity_gib=48_000, throughput_mbps_per_tib=500, **fields))


def met(folder: Path, data: dict[str, Any], base: Any, head: Any = None, *, now: datetime | None = None) -> Drift:
    """How a change from one cluster or deployment to another meets a snapshot."""
    sides = (base, base if head is None else head)
    before, after = (Deployment(clusters=(side,)) if isinstance(side, Cluster) else side for side in sides)
    return drift.of(before, after, snapshots.read(folder, data), now=now)


class TestCounts:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def row(self, live: dict[str, Any], base: Any, head: Any, **fields: Any) -> GroupDrift:
        """The row of the group p5."""
        sides = [cluster(*([compute(**its)] if its else []), **fields) for its in (base, head)]
        found = met(self.folder, snapshot(live), *sides)
        return next(each for each in found.groups if each.name == "p5")

    def test_stand_side_by_side(self) -> None:
        row = self.row(group(target=32, current=30), {"count": 30, "spares": 2}, {"count": 46, "spares": 2})
        assert row.declared == drift.Size(instances=32, spares=2)
        assert row.live is not None
        assert (row.live.target, row.live.current) == (32, 30)
        assert row.proposed == drift.Size(instances=48, spares=2)
        assert (row.state, row.drifted, row.takes_running, row.takes_at_most) == ("kept", False, 0, 0)

    def test_below_what_runs_say_how_many_nodes_go(self) -> None:
        row = self.row(group(target=32), {"count": 32}, {"count": 28})
        assert (row.takes_running, row.takes_at_most) == (4, 4)

    def test_that_look_like_a_step_up_may_be_a_step_down(self) -> None:
        row = self.row(group(target=48), {"count": 32}, {"count": 40})
        assert (row.drifted, row.only_drift, row.takes_running) == (True, False, 8)

    def test_of_nodes_that_are_not_all_there_are_a_range(self) -> None:
        live = group(target=32, current=32, nodes={"Pending": 2, "Running": 30})
        row = self.row(live, {"count": 32}, {"count": 28})
        assert (row.takes_running, row.takes_at_most) == (2, 4)

    @pytest.mark.parametrize(
        ("target", "running", "proposed", "takes"),
        [
            (32, 20, 28, (0, 4)),  # the service may leave those that are not there yet, or not
            (32, 2, 20, (0, 2)),  # no more than run
            (28, 32, 26, (6, 6)),  # four were going anyway
        ],
    )
    def test_while_nodes_come_or_go_take_what_they_may(
        self, target: int, running: int, proposed: int, takes: tuple[int, int]
    ) -> None:
        row = self.row(group(target=target, nodes={"Running": running}), {"count": target}, {"count": proposed})
        assert (row.takes_running, row.takes_at_most) == takes

    def test_above_what_runs_take_none_even_while_nodes_leave(self) -> None:
        live = group(target=28, current=32, nodes={"Running": 32})
        assert self.row(live, {"count": 28}, {"count": 28}).takes_running == 0

    def test_that_nobody_changes_may_be_set_back(self) -> None:
        row = self.row(group(target=48), {"count": 32}, {"count": 32})
        assert (row.drifted, row.only_drift, row.takes_running) == (True, True, 16)

    def test_known_only_at_deploy_say_nothing(self) -> None:
        row = self.row(group(), {"count": UNKNOWN}, {"count": UNKNOWN})
        assert row.declared == drift.Size(instances=None, spares=0)
        assert (row.drifted, row.only_drift, row.takes_running, row.takes_at_most) == (None, False, None, None)

    def test_of_a_group_that_leaves_the_template_are_all_its_nodes(self) -> None:
        row = self.row(group(target=32, nodes={"Failure": 1, "Running": 31}), {"count": 32}, None)
        assert (row.state, row.proposed, row.takes_running) == ("removed", None, 31)

    def test_of_a_group_that_neither_template_has_are_open(self) -> None:
        row = self.row(group(), None, None)
        assert (row.state, row.drifted, row.takes_running) == ("undeclared", True, None)

    @pytest.mark.parametrize(
        ("base", "head", "state", "drifted"),
        [
            (True, True, "lacking", True),
            (True, False, "gone", True),
            (False, True, "added", False),
        ],
    )
    def test_of_a_group_that_the_cluster_lacks(self, base: Any, head: Any, state: str, drifted: Any) -> None:
        row = self.row(group("other"), base and {"count": 2}, head and {"count": 2})
        assert (row.state, row.live, row.drifted, row.takes_running) == (state, None, drifted, 0)

    def test_of_a_new_group_that_the_cluster_has_already(self) -> None:
        row = self.row(group(target=4), None, {"count": 2})
        assert (row.state, row.drifted, row.takes_running) == ("exists", True, 2)

    @pytest.mark.parametrize("hidden", [{"restricted_groups": UNKNOWN}, {"restricted_groups": (UNKNOWN,)}])
    def test_where_a_template_hides_groups_say_nothing_of_those_it_may_have(self, hidden: dict[str, Any]) -> None:
        found = met(self.folder, snapshot(group()), cluster(**hidden))
        assert [(row.name, row.state, row.drifted) for row in found.groups] == [("p5", None, None)]

    def test_where_a_name_is_decided_at_deploy_say_nothing_either(self) -> None:
        found = met(self.folder, snapshot(group()), cluster(compute(name=UNKNOWN, count=32)))
        assert [(row.name, row.state, row.drifted) for row in found.groups] == [("p5", None, None)]

    def test_hold_for_restricted_groups_too(self) -> None:
        before, after = (
            cluster(restricted_groups=(RestrictedGroup(group=compute(name="rig", count=count)),)) for count in (4, 2)
        )
        (row,) = met(self.folder, snapshot(group("rig", 4)), before, after).groups
        assert (row.state, row.takes_running) == ("kept", 2)


class TestTheCluster:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def paths(self, base: Any, head: Any = None, **changed: Any) -> tuple[str | None, str | None]:
        found = met(self.folder, snapshot(**changed), base, head)
        return found.before, found.after

    def test_is_the_one_of_its_name(self) -> None:
        both = Deployment(clusters=(cluster(path="A", name="other"), cluster(path="B")))
        assert self.paths(both) == ("B", "B")

    def test_may_be_the_only_one_where_its_name_is_decided_at_deploy(self) -> None:
        assert self.paths(cluster(name=None)) == self.paths(cluster(name=UNKNOWN)) == ("Train", "Train")

    def test_is_none_of_two_whose_names_are_decided_at_deploy(self) -> None:
        both = Deployment(clusters=(cluster(path="A", name=None), cluster(path="B", name=None)))
        assert self.paths(both) == (None, None)

    def test_is_none_without_a_name_beside_another_one(self) -> None:
        both = Deployment(clusters=(cluster(path="A", name=None), cluster(path="B", name="other")))
        assert self.paths(both) == (None, None)

    def test_keeps_its_path_where_only_one_side_names_it(self) -> None:
        other = cluster(path="Other", name="other")
        before = Deployment(clusters=(cluster(), other))
        after = Deployment(clusters=(cluster(name=UNKNOWN), other))
        assert self.paths(before, after) == self.paths(after, before) == ("Train", "Train")

    def test_of_another_region_or_account_is_another_one(self) -> None:
        assert self.paths(cluster(region="us-east-1"), cluster(account="999999999999")) == (None, None)
        assert self.paths(cluster(region=None, account=None)) == ("Train", "Train")

    def test_of_a_redacted_snapshot_has_no_account_to_compare(self) -> None:
        assert self.paths(cluster(), redacted=True, account="000000000001") == ("Train", "Train")

    def test_that_is_renamed_is_said(self) -> None:
        found = met(self.folder, snapshot(), cluster(), cluster(name="Next"))
        assert found.notes == (
            "cluster Frontier of us-west-2 was not found in the head, which calls the one at its path Next",
        )
        assert [row.state for row in found.groups] == [None]

    def test_that_neither_side_has_is_said(self) -> None:
        found = met(self.folder, snapshot(redacted=True), cluster(name="other"))
        said = "cluster Frontier of us-west-2 was not found in the base or the head: nothing that runs was compared; "
        assert found.notes == (said + "a redacted snapshot can have stand-ins for names",)
        assert found.drifted is None
        assert [(row.drifted, row.takes_running) for row in found.groups] == [(None, None)]

    def test_that_neither_side_has_is_all_that_is_said(self) -> None:
        found = met(self.folder, snapshot(status="Updating", taken="2026-01-01T00:00:00+00:00"), Deployment(), now=NOW)
        assert found.notes == (
            "cluster Frontier of us-west-2 was not found in the base or the head: nothing that runs was compared",
        )


class TestPlans:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def row(self, *groups: InstanceGroup, now: datetime | None = None, **changed: Any) -> PlanDrift:
        data = snapshot(plans=[snapshots.plan(**changed)])
        (found,) = met(self.folder, data, cluster(*groups), now=now).plans
        return found

    def test_have_the_hours_from_the_snapshot_to_their_end(self) -> None:
        found = self.row(now=NOW)
        assert (found.hours_left, found.expired) == (240.0, False)

    @pytest.mark.parametrize(
        ("changed", "hours"),
        [({"status": "Expired"}, 240.0), ({"ends": "2026-11-29T09:10:00+00:00"}, 0.0)],
    )
    def test_that_have_ended_are_expired(self, changed: dict[str, Any], hours: float) -> None:
        found = self.row(**changed)
        assert (found.expired, found.hours_left) == (True, hours)

    def test_that_ended_since_the_snapshot_are_expired(self) -> None:
        assert self.row(ends="2026-11-30T10:00:00+00:00", now=NOW).expired is True
        assert self.row(ends="2026-11-30T10:00:00+00:00").expired is False

    def test_hold_what_is_asked_spares_included(self) -> None:
        found = self.row(compute(count=30, spares=2, capacity=builders.plan(plan=PLAN)))
        assert (found.groups, found.proposed, found.over) == (("Train/p5",), 32, False)

    def test_that_are_asked_for_more_are_over(self) -> None:
        on = builders.plan()
        found = self.row(compute(count=30, capacity=on), compute(name="more", count=3, capacity=on))
        assert (found.proposed, found.over) == (33, True)

    def test_of_which_nobody_knows_what_is_on_them_are_not_called_large_enough(self) -> None:
        on = builders.plan()
        assert self.row(compute(count=UNKNOWN, capacity=on)).over is None
        assert self.row(compute(capacity=on), compute(name="x", capacity=UNKNOWN)).over is None
        assert self.row(compute(count=33, capacity=on), compute(name="x", capacity=UNKNOWN)).over is True

    def test_that_could_not_be_read_say_nothing(self) -> None:
        unread = dict.fromkeys(("status", "count", "available", "in_use", "unhealthy", "starts", "ends"))
        found = self.row(compute(capacity=builders.plan()), **unread)
        assert (found.hours_left, found.expired, found.over, found.proposed) == (None, None, None, 2)

    def test_that_no_group_was_on_are_not_in_the_snapshot(self) -> None:
        (found,) = met(self.folder, snapshot(), cluster(compute()), cluster(compute(capacity=builders.plan()))).plans
        assert (found.name, found.live, found.over) == ("frontier", None, None)


class TestQuotas:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def rows(self, quotas: list[dict[str, Any]], base: Any, head: Any = None) -> dict[str, QuotaDrift]:
        found = met(self.folder, snapshot(quotas=quotas), base, head)
        return {each.name: each for each in found.quotas}

    def test_count_what_other_clusters_of_the_region_use(self) -> None:
        # 32 nodes of this cluster, 8 of one that is not in the templates.
        found = self.rows([snapshots.quota(used=40, applied=60.0)], cluster(compute(count=48)))[P5]
        assert (found.applied, found.used, found.needed, found.after, found.short) == (60.0, 40, 48, 56, False)

    def test_that_are_too_small_have_the_command_with_the_code_of_the_account(self) -> None:
        found = self.rows([snapshots.quota(used=40, applied=55.0)], cluster(compute(count=48)))[P5]
        assert found.short is True
        assert found.command.endswith("--quota-code L-0123ABCD --desired-value 56")

    def test_count_other_clusters_of_the_templates_once(self) -> None:
        other = cluster(compute(count=8), path="B", name="second")
        before = Deployment(clusters=(cluster(compute(count=32)), other))
        after = Deployment(clusters=(cluster(compute(count=32)), replace(other, groups=(compute(count=10),))))
        found = self.rows([snapshots.quota(used=45), snapshots.quota(IN_ALL, used=45)], before, after)
        assert (found[P5].after, found[IN_ALL].after) == (47, 47)

    def test_count_other_clusters_of_the_templates_that_do_not_run_as_what_they_will_be(self) -> None:
        other = cluster(compute(count=8), path="B", name="second")
        both = Deployment(clusters=(cluster(compute(count=32)), other))
        assert self.rows([snapshots.quota(used=32)], both)[P5].after == 40

    def test_say_nothing_of_the_rest_where_another_cluster_hides_its_part(self) -> None:
        other = cluster(compute(count=8), compute(name="x", count=UNKNOWN), path="B", name="second")
        both = Deployment(clusters=(cluster(compute(count=32)), other))
        assert self.rows([snapshots.quota(used=45)], both)[P5].after is None

    def test_add_up_clusters_whose_region_is_not_said(self) -> None:
        anywhere = cluster(compute(count=8), path="B", name="second", region=None)
        both = Deployment(clusters=(cluster(compute(count=32)), anywhere))
        assert self.rows([snapshots.quota(used=40)], both)[P5].needed == 40

    def test_of_spot_instances_are_others(self) -> None:
        name, in_all = (
            "ml.p5.48xlarge for cluster spot instance usage",
            "Total number of Spot instances allowed across SageMaker HyperPod clusters",
        )
        used = [snapshots.quota(name, used=6), snapshots.quota(in_all, used=6), snapshots.quota(used=32)]
        data = snapshot(group(), group("spot", 4, spot=True), quotas=used)
        base = cluster(compute(count=32), compute(name="spot", count=8, capacity=Spot()))
        found = {each.name: each.after for each in met(self.folder, data, base).quotas}
        assert (found[name], found[in_all], found[P5]) == (10, 10, 32)

    def test_of_one_cluster_count_that_one(self) -> None:
        large = cluster(compute(count=100), path="B", name="large")
        both = Deployment(clusters=(cluster(compute(count=32)), large))
        found = self.rows([snapshots.quota(IN_ONE, applied=50.0, used=32)], both)[IN_ONE]
        assert (found.needed, found.after, found.short) == (32, 32, False)

    def test_leave_out_clusters_of_other_regions(self) -> None:
        abroad = cluster(compute(count=100), path="B", name="abroad", region="us-east-1")
        both = Deployment(clusters=(cluster(compute(count=32)), abroad))
        assert self.rows([snapshots.quota()], both)[P5].after == 32

    def test_that_were_not_read_are_not_called_large_enough(self) -> None:
        found = self.rows([snapshots.quota(used=None)], cluster(compute(count=32)))[P5]
        assert (found.after, found.short) == (None, None)
        found = self.rows([snapshots.quota(applied=None, code=None)], cluster(compute(count=32)))[P5]
        assert (found.after, found.short) == (32, None)
        assert "QUOTA_CODE" in found.command

    def test_that_are_too_small_for_the_templates_alone_are_short_whatever_is_used(self) -> None:
        assert self.rows([snapshots.quota(used=None)], cluster(compute(count=48)))[P5].short is True

    def test_that_the_cluster_did_not_draw_on_are_needed_and_not_more_is_known(self) -> None:
        found = self.rows([], cluster(compute(instance_type="ml.p5en.48xlarge")))["ml.p5en.48xlarge for cluster usage"]
        assert (found.applied, found.used, found.needed, found.after, found.short) == (None, None, 2, None, None)

    def test_of_a_number_known_only_at_deploy_are_not_called_large_enough(self) -> None:
        groups = (compute(count=2), compute(name="x", count=UNKNOWN))
        assert self.rows([snapshots.quota()], cluster(*groups))[P5].short is None


class TestFileSystems:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def row(self, base: Deployment, live: dict[str, Any] | None = None, **changed: Any) -> FileSystemDrift:
        data = snapshot(live or group(), file_systems=[snapshots.file_system(**changed)])
        (found,) = met(self.folder, data, base).file_systems
        return found

    def test_are_those_that_the_same_group_mounts(self) -> None:
        mount = Mount(kind="lustre", path="/fsx", file_system="Scratch")
        other = FileSystem(path="Other", lustre=Lustre(capacity_gib=48_000, throughput_mbps_per_tib=500))
        base = Deployment(clusters=(cluster(compute(mounts=(mount,))),), file_systems=(scratch(), other))
        found = self.row(base)
        assert (found.path, found.matched_by, found.live.used_bytes) == ("Scratch", "mount", 31_000_000_000_000)

    def test_that_a_template_imports_are_none_of_its_own(self) -> None:
        mount = Mount(kind="lustre", path="/fsx", file_system=DNS_NAME, mount_name="abcdefgh")
        base = Deployment(clusters=(cluster(compute(mounts=(mount,))),), file_systems=(scratch(),))
        found = self.row(base)
        assert (found.path, found.matched_by) == (None, "id")

    def test_that_stand_alone_on_both_sides_are_the_same(self) -> None:
        base = Deployment(clusters=(cluster(compute()),), file_systems=(scratch(),))
        found = self.row(base)
        assert (found.path, found.matched_by) == ("Scratch", "only one")

    @pytest.mark.parametrize("changed", [{"kind": "OPENZFS"}, {"kind": None}, {"capacity_gib": 1200}])
    def test_that_differ_are_not(self, changed: dict[str, Any]) -> None:
        base = Deployment(clusters=(cluster(compute()),), file_systems=(scratch(),))
        found = self.row(base, **changed)
        assert (found.path, found.matched_by) == (None, None)

    def test_of_which_there_are_two_are_not_guessed(self) -> None:
        other = FileSystem(path="Other", lustre=Lustre(capacity_gib=48_000, throughput_mbps_per_tib=500))
        base = Deployment(clusters=(cluster(compute()),), file_systems=(scratch(), other))
        assert self.row(base).matched_by is None

    def test_that_another_mount_leaves_over_are_the_same(self) -> None:
        mount = Mount(kind="lustre", path="/fsx", file_system="Scratch")
        other = FileSystem(path="Other", lustre=Lustre(capacity_gib=1200, throughput_mbps_per_tib=125))
        base = Deployment(clusters=(cluster(compute(mounts=(mount,))),), file_systems=(scratch(), other))
        second = snapshots.file_system(id="fs-0fedcba9876543210", capacity_gib=1200)
        data = snapshot(file_systems=[snapshots.file_system(), second])
        found = met(self.folder, data, base).file_systems
        assert [(each.path, each.matched_by) for each in found] == [("Scratch", "mount"), ("Other", "only one")]

    def test_that_were_mounted_by_hand_are_not_guessed(self) -> None:
        elsewhere = DNS_NAME.replace("fs-0123456789abcdef0", "fs-0fedcba9876543210")
        mount = Mount(kind="lustre", path="/fsx", file_system=elsewhere, mount_name="abcdefgh")
        base = Deployment(clusters=(cluster(compute(mounts=(mount,))),))
        assert self.row(base).matched_by is None

    def test_of_which_a_group_mounts_two_are_not_guessed(self) -> None:
        second = snapshots.file_system(id="fs-0fedcba9876543210")
        names = [DNS_NAME, DNS_NAME.replace(snapshots.FILE_SYSTEM, second["id"])]
        data = snapshot(group(file_systems=names), file_systems=[snapshots.file_system(), second])
        mount = Mount(kind="lustre", path="/fsx", file_system="Scratch")
        base = Deployment(clusters=(cluster(compute(mounts=(mount,))),), file_systems=(scratch(),))
        assert [each.matched_by for each in met(self.folder, data, base).file_systems] == [None, None]

    def test_of_a_mount_that_is_decided_at_deploy_are_not_guessed(self) -> None:
        mount = Mount(kind="lustre", path="/fsx", file_system=UNKNOWN)
        base = Deployment(clusters=(cluster(compute(mounts=(mount,))),))
        assert self.row(base).matched_by is None

    @pytest.mark.parametrize(
        ("capacity", "head", "outgrows"),
        [
            (96_000, 50_400, True),
            (48_000, 50_400, False),
            (50_400, 50_400, False),
            (96_000, UNKNOWN, False),
            (None, 50_400, False),
        ],
    )
    def test_that_were_grown_by_hand_outgrow_the_head(self, capacity: Any, head: Any, outgrows: bool) -> None:
        mount = Mount(kind="lustre", path="/fsx", file_system="Scratch")
        base = Deployment(clusters=(cluster(compute(mounts=(mount,))),), file_systems=(scratch(),))
        larger = FileSystem(path="Scratch", lustre=Lustre(capacity_gib=head, throughput_mbps_per_tib=500))
        data = snapshot(file_systems=[snapshots.file_system(capacity_gib=capacity)])
        (found,) = met(self.folder, data, base, replace(base, file_systems=(larger,))).file_systems
        assert (found.declared_gib, found.outgrows) == (48_000, outgrows)

    def test_that_the_head_does_not_have_are_not_outgrown(self) -> None:
        base = Deployment(clusters=(cluster(compute()),), file_systems=(scratch(),))
        data = snapshot(file_systems=[snapshots.file_system()])
        (found,) = met(self.folder, data, base, replace(base, file_systems=())).file_systems
        assert (found.path, found.proposed_gib, found.outgrows) == ("Scratch", None, False)


class TestContradictions:
    """A snapshot shows something else than the base asks for, whatever the numbers of nodes are."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def said(
        self, declared: dict[str, Any], running: dict[str, Any] | None = None, *, eks: bool = False, **changed: Any
    ) -> list[str]:
        data = snapshot(group(**{"scripts": None, **(running or {})}), **changed)
        data["cluster"]["orchestrator"] = "eks" if eks else "slurm"
        found = met(self.folder, data, cluster(compute(**{"count": 32, **declared})))
        assert found.drifted is bool(found.contradictions)
        return list(found.contradictions)

    def test_are_none_where_all_is_alike(self) -> None:
        role = f"arn:aws:iam::{ACCOUNT}:role/nodes"
        alike = {"capacity": builders.plan(), "execution_role": role, "lifecycle": Lifecycle(source_uri=SCRIPTS)}
        assert self.said({}) == []
        assert self.said(alike, {"plan": PLAN, "scripts": SCRIPTS}) == []

    @pytest.mark.parametrize(
        ("declared", "running", "said"),
        [
            ({}, {"instance_type": "ml.p4d.24xlarge"}, "ml.p4d.24xlarge in the snapshot, ml.p5.48xlarge in the base"),
            ({}, {"instance_type": None}, "several instance types in the snapshot, ml.p5.48xlarge in the base"),
            ({}, {"spot": True}, "spot in the snapshot, on demand in the base"),
            ({"capacity": Spot()}, {}, "on demand in the snapshot, spot in the base"),
            ({}, {"plan": PLAN}, "training plan frontier in the snapshot, on demand in the base"),
            (
                {"capacity": builders.plan(plan="other")},
                {"plan": PLAN},
                "training plan frontier in the snapshot, training plan other in the base",
            ),
            (
                {"capacity": builders.plan()},
                {"plan": PLAN, "spot": True},
                "training plan frontier and spot in the snapshot, training plan frontier in the base",
            ),
            (
                {"execution_role": f"{ROLE}-2"},
                {},
                f"{ROLE} in the snapshot, {ROLE}-2 in the base",
            ),
            (
                {"lifecycle": Lifecycle(source_uri=SCRIPTS)},
                {"scripts": "s3://b/x"},
                f"lifecycle scripts of s3://b/x in the snapshot, lifecycle scripts of {SCRIPTS} in the base",
            ),
            (
                {"lifecycle": Lifecycle(source_uri=SCRIPTS)},
                {},
                f"no lifecycle scripts in the snapshot, lifecycle scripts of {SCRIPTS} in the base",
            ),
        ],
    )
    def test_are_said_each(self, declared: dict[str, Any], running: dict[str, Any], said: str) -> None:
        assert self.said(declared, running) == [f"group p5: {said}"]

    def test_of_the_orchestrator_too(self) -> None:
        assert self.said({}, eks=True) == ["cluster Frontier: eks in the snapshot, slurm in the base"]

    @pytest.mark.parametrize(
        ("declared", "running"),
        [
            ({"instance_type": UNKNOWN}, {"instance_type": "ml.p4d.24xlarge"}),
            ({"instance_type": None, "flexible_types": UNKNOWN}, {}),
            ({"instance_type": None, "flexible_types": ("ml.p5.48xlarge", "ml.p4d.24xlarge")}, {"instance_type": None}),
            ({"capacity": UNKNOWN}, {"plan": PLAN}),
            ({"capacity": UNKNOWN}, {"spot": True}),
            ({"capacity": Spot(), "asked": ("OnDemand", "Spot")}, {}),
            ({"execution_role": UNKNOWN}, {}),
            ({"execution_role": "Train/Role"}, {}),  # CloudFormation chose its name
            ({"execution_role": "arn:aws:iam::111122223333:role/other"}, {"role": None}),
            ({"lifecycle": UNKNOWN}, {"scripts": SCRIPTS}),
            ({"lifecycle": Lifecycle(source_uri=UNKNOWN)}, {"scripts": SCRIPTS}),
        ],
    )
    def test_are_none_where_nobody_knows(self, declared: dict[str, Any], running: dict[str, Any]) -> None:
        assert self.said(declared, running) == []

    def test_of_stand_ins_are_none(self) -> None:
        role = {"execution_role": f"arn:aws:iam::{ACCOUNT}:role/nodes"}
        assert self.said(role, {"role": "arn:aws:iam::000000000001:role/nodes"}, redacted=True) == []
        assert self.said(role, {"role": "arn:aws:iam::000000000001:role/person-1"}, redacted=True) == []
        assert len(self.said(role, {"role": "arn:aws:iam::000000000001:role/other"}, redacted=True)) == 1

    def test_of_several_groups_are_one_line(self) -> None:
        data = snapshot(*(group(name, 2, spot=True, scripts=None) for name in ("a", "b")))
        found = met(self.folder, data, cluster(compute(name="a"), compute(name="b")))
        assert found.contradictions == ("groups a, b: spot in the snapshot, on demand in the base",)

    def test_are_no_matter_of_groups_that_one_side_lacks(self) -> None:
        found = met(self.folder, snapshot(group("hand", spot=True)), cluster(compute()))
        assert (found.contradictions, found.drifted) == ((), True)

    def test_of_a_file_system_that_was_grown_are_said(self) -> None:
        mount = Mount(kind="lustre", path="/fsx", file_system="Scratch")
        base = Deployment(clusters=(cluster(compute(count=32, mounts=(mount,))),), file_systems=(scratch(),))
        data = snapshot(group(scripts=None), file_systems=[snapshots.file_system(capacity_gib=96_000)])
        found = met(self.folder, data, base)
        said = "file system fs-0123456789abcdef0: 96,000 GiB in the snapshot, 48,000 GiB in the base (Scratch)"
        assert (found.contradictions, found.drifted) == ((said,), True)


class TestWhatNodesAreMadeOf:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def row(self, head: dict[str, Any], live: dict[str, Any] | None = None, **changed: Any) -> GroupDrift:
        data = snapshot(group(**(live or {})), **changed)
        (found,) = met(self.folder, data, cluster(compute()), cluster(compute(**head))).groups
        return found

    @pytest.mark.parametrize(
        ("given", "moved"),
        [
            (Lifecycle(source_uri=SCRIPTS), False),
            (Lifecycle(source_uri=SCRIPTS + "/"), False),
            (Lifecycle(source_uri=SCRIPTS[:-1] + "0"), True),
            (Lifecycle(source_uri="s3://assets-*"), None),
            (Lifecycle(source_uri="s3://other-*"), True),
            (Lifecycle(source_uri=UNKNOWN), None),
            (UNKNOWN, None),
            (None, True),
        ],
    )
    def test_scripts_lie_where_they_lay_or_not(self, given: Any, moved: Any) -> None:
        assert self.row({"lifecycle": given}).scripts_moved is moved

    def test_no_scripts_stay_none(self) -> None:
        assert self.row({"lifecycle": None}, {"scripts": None}).scripts_moved is False
        assert self.row({"lifecycle": Lifecycle(source_uri=SCRIPTS)}, {"scripts": None}).scripts_moved is True

    def test_scripts_of_a_redacted_snapshot_are_compared_without_accounts(self) -> None:
        live = {"scripts": SCRIPTS.replace(ACCOUNT, "000000000001")}
        same = {"lifecycle": Lifecycle(source_uri=SCRIPTS)}
        assert self.row(same, live, redacted=True).scripts_moved is False
        other = {"lifecycle": Lifecycle(source_uri=SCRIPTS[:-1] + "0")}
        assert self.row(other, live, redacted=True).scripts_moved is True
        assert self.row(same, {"scripts": "s3://person-1-assets/scripts"}, redacted=True).scripts_moved is None

    def test_the_image_stands_beside_the_one_that_the_head_names(self) -> None:
        found = self.row({"image_release_version": "1.3.0"})
        assert found.live is not None
        assert (found.live.image.release, found.image_after) == ("1.2.3", "1.3.0")
        assert self.row({"image_id": "ami-0123456789abcdef0"}).image_after == "ami-0123456789abcdef0"
        assert self.row({"image_release_version": UNKNOWN}).image_after is None


class TestNotes:
    def notes(self, folder: Path, data: dict[str, Any], now: datetime | None = None) -> tuple[str, ...]:
        return met(folder, data, cluster(compute(count=32)), now=now).notes

    def test_are_none_for_a_fresh_whole_snapshot_of_a_sound_cluster(self, tmp_path: Path) -> None:
        assert self.notes(tmp_path, snapshot(), NOW) == ()

    def test_say_that_it_is_old(self, tmp_path: Path) -> None:
        old = snapshot(taken="2026-11-29T10:09:00+00:00")
        assert self.notes(tmp_path, old, NOW) == (
            "the snapshot is 24 hours old: take it again with `hyperpod snapshot`",
        )
        assert self.notes(tmp_path, snapshot(taken="2026-11-29T10:10:00+00:00"), NOW) == ()
        assert self.notes(tmp_path, old) == ()

    def test_say_why_an_update_may_be_refused(self, tmp_path: Path) -> None:
        checked = group(nodes={"DeepHealthCheckInProgress": 2, "Running": 30})
        assert self.notes(tmp_path, snapshot(checked, status="Updating")) == (
            "cluster Frontier was Updating: an update may be refused until it is InService",
            "2 nodes were in deep health checks: an update may fail until they end",
        )

    def test_say_what_could_not_be_read(self, tmp_path: Path) -> None:
        missing = [
            {"what": "plans", "permission": "sagemaker:DescribeTrainingPlan", "why": "denied"},
            {"what": "quotas", "permission": None, "why": "throttled"},
        ]
        assert self.notes(tmp_path, snapshot(missing=missing)) == (
            "plans could not be read (needs sagemaker:DescribeTrainingPlan)",
            "quotas could not be read",
        )


def test_a_cluster_as_it_is_declared_has_not_drifted(tmp_path: Path) -> None:
    data = snapshot(group(scripts=None))
    assert met(tmp_path, data, cluster(compute(count=32))).drifted is False
    assert met(tmp_path, data, cluster(compute(count=31))).drifted is True
    assert met(tmp_path, data, cluster(compute(count=UNKNOWN))).drifted is None
