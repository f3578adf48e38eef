"""What a snapshot adds to the changes that the templates tell, and what it corrects of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.storage import FileSystem, Lustre, Mount
from hyperpod_constructs.review.impacts import Change, Effect, Impact
from hyperpod_constructs.review.live import drift, losses
from hyperpod_constructs.tokens import UNKNOWN
from tests.review import snapshots
from tests.review.snapshots import group, snapshot
from tests.rules import builders
from tests.rules.builders import compute

COUNT = "InstanceGroups.InstanceCount"
TAG = ("Train", "Tags.Value", Impact.IN_PLACE)
"""Updates the cluster and changes nothing of its groups."""


def change(path: str, name: str, impact: Impact, kind: str = "AWS::SageMaker::Cluster") -> Change:
    """What the templates tell."""
    return Change(path=path, property_name=name, effect=Effect(impact, "told", "do"), type=kind, stack="App")


def cluster(*groups: InstanceGroup, **fields: Any) -> Cluster:
    """The cluster of the snapshot."""
    return builders.cluster(**{"name": "Frontier", "groups": groups, **fields})


class Beside:
    """Base of the tests: changes beside a snapshot."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def beside(self, data: dict[str, Any], base: Any, head: Any, *told: Any) -> list[Change]:
        """The changes, from one cluster or deployment to another."""
        before, after = (Deployment(clusters=(side,)) if isinstance(side, Cluster) else side for side in (base, head))
        found = [each if isinstance(each, Change) else change(*each) for each in told]
        return list(losses.beside(found, drift.of(before, after, snapshots.read(self.folder, data))))

    def added(self, data: dict[str, Any], base: Any, head: Any, *told: Any) -> list[tuple[str, str, Impact]]:
        """Path, property and impact of those that the templates did not tell."""
        found = self.beside(data, base, head, *told)[len(told) :]
        return [(each.path, each.property_name, each.impact) for each in found]


class TestNodes(Beside):
    def of_count(self, live: dict[str, Any], base: Any, head: Any) -> Effect:
        """What becomes of a lower count."""
        told = ("Train/p5", COUNT, Impact.NODES_LOST)
        (found,) = self.beside(snapshot(live), cluster(compute(count=base)), cluster(compute(count=head)), told)
        return found.effect

    def test_that_go_stay_as_the_templates_tell_where_these_run(self) -> None:
        assert self.of_count(group(target=32), 32, 22).reason == "told"

    def test_that_are_fewer_than_proposed_run_and_stay(self) -> None:
        effect = self.of_count(group(target=8), 32, 22)
        assert effect.impact is Impact.IN_PLACE
        assert effect.reason == "8 of its nodes run and 22 are proposed: none goes"

    def test_of_which_one_runs_are_one(self) -> None:
        assert self.of_count(group(target=1), 32, 22).reason.startswith("1 of its nodes runs and 22")

    def test_of_which_none_runs_lose_none(self) -> None:
        effect = self.of_count(group(target=0), 32, 22)
        assert (effect.impact, effect.reason) == (Impact.IN_PLACE, "no node of it runs, so none goes")

    def test_that_are_leaving_already_are_not_called_few(self) -> None:
        effect = self.of_count(group(target=8, nodes={"Running": 32}), 32, 22)
        assert effect.impact is Impact.IN_PLACE
        assert effect.reason == "the group goes to 8 nodes already and 22 are proposed: no other goes"

    def test_that_are_more_than_declared_go_in_their_own_number(self) -> None:
        effect = self.of_count(group(target=60), 32, 22)
        assert effect.impact is Impact.NODES_LOST
        assert effect.reason.startswith("38 running nodes go, and the service picks which: 60 are live and 22")

    def test_of_a_number_that_nobody_knows_go_as_the_templates_tell(self) -> None:
        assert self.of_count(group(target=8), 32, UNKNOWN).reason == "told"

    def test_of_a_group_that_is_taken_out_and_has_none_are_none(self) -> None:
        told = ("Train/p5", "InstanceGroups", Impact.NODES_LOST)
        (found,) = self.beside(snapshot(group(target=0)), cluster(compute()), cluster(), told)
        assert (found.impact, found.effect.reason) == (Impact.REMOVED, "no node of it runs, so none goes")

    def test_that_a_step_up_takes_are_added(self) -> None:
        told = ("Train/p5", COUNT, Impact.IN_PLACE)
        live = snapshot(group(target=48))
        sides = cluster(compute(count=32)), cluster(compute(count=40))
        assert self.added(live, *sides, told) == [("Train/p5", COUNT, Impact.NODES_LOST)]

    @pytest.mark.parametrize(
        "told",
        [
            (),
            (("Train", "DeletionPolicy", Impact.UNPROTECTED),),
            (("Train/p5", "spares", Impact.IN_PLACE),),
            (("Train2", "Tags.Value", Impact.IN_PLACE),),
            (("Train", "Tags.Value", Impact.IN_PLACE, "AWS::S3::Bucket"),),
        ],
    )
    def test_stay_where_nothing_updates_the_cluster(self, told: Any) -> None:
        same = cluster(compute(count=32))
        assert self.added(snapshot(group(target=48), group("hand"), status="Updating"), same, same, *told) == []

    def test_may_be_set_back_by_any_update_of_the_cluster(self) -> None:
        same = cluster(compute(count=32))
        assert self.added(snapshot(group(target=48)), same, same, TAG) == [("Train/p5", COUNT, Impact.NODES_LOST)]


class TestGroupsThatNoTemplateHas(Beside):
    def test_are_open_where_the_cluster_is_updated(self) -> None:
        same = cluster(compute(count=32))
        live = snapshot(group(), group("hand", 4))
        found = self.beside(live, same, same, TAG)[-1]
        assert (found.path, found.property_name, found.impact) == ("Train/hand", "InstanceGroups", Impact.OPEN)
        assert found.effect.reason == (
            "the cluster has this group, with 4 running nodes, and neither template has it; no page says whether a "
            "deploy deletes it"
        )
        assert found.effect.action

    def test_without_nodes_are_not_worth_a_word(self) -> None:
        same = cluster(compute(count=32))
        assert self.added(snapshot(group(), group("hand", 0)), same, same, TAG) == []

    def test_may_be_those_that_a_template_hides(self) -> None:
        hidden = cluster(compute(count=32), restricted_groups=UNKNOWN)
        assert self.added(snapshot(group(), group("hand", 4)), hidden, hidden, TAG) == []

    def test_go_with_a_cluster_that_is_replaced(self) -> None:
        same = cluster(compute(count=32))
        live = snapshot(group(), group("hand", 4), status="Updating")
        assert self.added(live, same, same, ("Train", "ClusterName", Impact.REPLACED)) == []


class TestTheStatus(Beside):
    @pytest.mark.parametrize("status", ["Updating", "Failed", "Deleting", "SystemUpdating"])
    def test_may_refuse_an_update(self, status: str) -> None:
        same = cluster(compute(count=32))
        found = self.beside(snapshot(status=status), same, same, TAG)[-1]
        assert (found.path, found.property_name, found.impact) == ("Train", "", Impact.OPEN)
        assert found.effect.reason == (f"cluster Frontier was {status}: an update may be refused until it is InService")

    def test_in_service_refuses_none(self) -> None:
        same = cluster(compute(count=32))
        assert self.added(snapshot(), same, same, TAG) == []

    def test_of_another_cluster_says_nothing(self) -> None:
        other = cluster(compute(count=32), name="other")
        assert self.added(snapshot(status="Updating"), other, other, TAG) == []


class TestFileSystems(Beside):
    def grown(self, live: Any, head: Any, told: Impact = Impact.IN_PLACE, name: str = "StorageCapacity") -> Change:
        mount = Mount(kind="lustre", path="/fsx", file_system="Scratch")
        sides = [
            Deployment(
                clusters=(cluster(compute(count=32, mounts=(mount,))),),
                file_systems=(
                    FileSystem(path="Scratch", lustre=Lustre(capacity_gib=gib, throughput_mbps_per_tib=500)),
                ),
            )
            for gib in (48_000, head)
        ]
        data = snapshot(file_systems=[snapshots.file_system(capacity_gib=live)])
        (found,) = self.beside(data, *sides, change("Scratch", name, told, "AWS::FSx::FileSystem"))
        return found

    def test_that_are_larger_already_refuse_a_step_up(self) -> None:
        found = self.grown(96_000, 50_400)
        assert found.impact is Impact.REFUSED
        assert found.effect.reason == (
            "fs-0123456789abcdef0 has 96,000 GiB already and 50,400 are proposed: it can only grow"
        )

    @pytest.mark.parametrize(("live", "head"), [(48_000, 50_400), (50_400, 50_400), (None, 50_400), (96_000, UNKNOWN)])
    def test_that_are_not_larger_or_not_known_grow(self, live: Any, head: Any) -> None:
        assert self.grown(live, head).effect.reason == "told"

    def test_are_refused_once(self) -> None:
        assert self.grown(96_000, 24_000, Impact.REFUSED).effect.reason == "told"

    def test_may_change_in_other_ways(self) -> None:
        assert self.grown(96_000, 48_000, name="Tags.Value").effect.reason == "told"


class TestPlans(Beside):
    def plan(self, count: Any, **changed: Any) -> list[tuple[str, str, Impact]]:
        base, head = (cluster(compute(count=each, capacity=builders.plan())) for each in (32, count))
        data = snapshot(group(plan=snapshots.PLAN), plans=[snapshots.plan(**changed)])
        return self.added(data, base, head, ("Train/p5", COUNT, Impact.IN_PLACE))

    def test_that_hold_less_refuse(self) -> None:
        assert self.plan(40) == [("Train/p5", "InstanceGroups.TrainingPlanArn", Impact.REFUSED)]

    def test_that_have_ended_are_open(self) -> None:
        assert self.plan(32, status="Expired") == [("Train/p5", "InstanceGroups.TrainingPlanArn", Impact.OPEN)]

    @pytest.mark.parametrize("count", [32, UNKNOWN])
    def test_that_suffice_or_are_not_known_say_nothing(self, count: Any) -> None:
        assert self.plan(count) == []


def test_everything_that_was_told_stays_in_its_order(tmp_path: Path) -> None:
    told = [change("Bucket", "", Impact.DATA_LOST, "AWS::S3::Bucket"), change(*TAG)]
    before = Deployment(clusters=(cluster(compute(count=32)),))
    found = losses.beside(told, drift.of(before, replace(before), snapshots.read(tmp_path, snapshot())))
    assert list(found) == told
