from __future__ import annotations

from datetime import UTC, datetime

from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.model.capacity import InstanceGroup, TrainingPlan
from hyperpod_constructs.model.control_plane import ControlPlane, Kubernetes
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.planning import totals
from hyperpod_constructs.planning.totals import Accelerators, KubernetesApi
from hyperpod_constructs.tokens import UNKNOWN

FRONTIER = TrainingPlan("frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14")
PLACEMENT = VpcPlacement(subnets=("Net/usw2-az2",), security_groups=("Sg",))


def cluster(*groups: InstanceGroup, **fields: object) -> Cluster:
    return Cluster(path="Frontier/Cluster", groups=groups, **fields)  # type: ignore[arg-type]  # test data


def slurm(**fields: object) -> Cluster:
    return cluster(
        InstanceGroup.controller("ml.m5.4xlarge"),
        InstanceGroup.login("ml.m5.2xlarge", count=2),
        InstanceGroup.compute("p5", "ml.p5.48xlarge", count=30, spares=2, capacity=FRONTIER),
        **fields,
    )


class TestNodes:
    def test_spares_and_service_nodes_are_not_usable(self) -> None:
        found = totals.of(Deployment(clusters=(slurm(),))).clusters[0]
        assert (found.usable, found.spare, found.service, found.nodes) == (30, 2, 3, 35)

    def test_a_group_without_a_role_counts_as_usable(self) -> None:
        found = totals.of(Deployment(clusters=(cluster(InstanceGroup(name="workers", count=4)),))).clusters[0]
        assert (found.usable, found.service) == (4, 0)

    def test_a_count_known_only_at_deploy_is_named_and_not_counted(self) -> None:
        group = InstanceGroup(name="p5", count=UNKNOWN, spares=2, instance_type="ml.p5.48xlarge")
        found = totals.of(Deployment(clusters=(cluster(group),))).clusters[0]
        assert (found.nodes, found.uncounted, found.accelerators) == (0, ("Frontier/Cluster/p5",), ())


class TestAccelerators:
    def test_are_summed_by_name_with_spares_apart(self) -> None:
        groups = [InstanceGroup.compute(name, "ml.p5.48xlarge", count=2, spares=1) for name in ("a", "b")]
        found = totals.of(Deployment(clusters=(cluster(*groups),))).clusters[0]
        assert found.accelerators == (Accelerators(name="H100", usable=32, spare=16),)

    def test_a_type_described_by_its_user_counts(self) -> None:
        new = InstanceType("ml.p9.48xlarge", accelerators=4)
        found = totals.of(Deployment(clusters=(cluster(InstanceGroup.compute("n", new, count=2)),))).clusters[0]
        assert found.accelerators == (Accelerators(name="accelerators", usable=8, spare=0),)

    def test_an_unknown_type_is_named_and_its_nodes_are_counted(self) -> None:
        group = InstanceGroup.compute("new", "ml.p9.48xlarge", count=2)
        found = totals.of(Deployment(clusters=(cluster(group),))).clusters[0]
        assert (found.usable, found.unknown_types) == (2, ("Frontier/Cluster/new",))


class TestSubnets:
    def test_hold_every_node_spares_included(self) -> None:
        subnet = Subnet(path="Net/usw2-az2", zone="usw2-az2", cidr="10.1.0.0/20")
        found = totals.of(Deployment(clusters=(slurm(placement=PLACEMENT),), subnets=(subnet,))).subnets
        assert [(use.path, use.used, use.available, use.complete) for use in found] == [
            ("Net/usw2-az2", 32 * 32 + 3, 4091, True)
        ]

    def test_each_of_several_has_to_hold_all_because_hyperpod_picks_one(self) -> None:
        both = VpcPlacement(subnets=("a", "b"), security_groups=())
        group = InstanceGroup.compute("p5", "ml.p5.48xlarge", count=2)
        found = totals.of(Deployment(clusters=(cluster(group, placement=both),))).subnets
        assert [(use.path, use.used, use.available) for use in found] == [("a", 64, None), ("b", 64, None)]

    def test_say_when_a_group_could_not_be_counted(self) -> None:
        group = InstanceGroup(name="p5", count=UNKNOWN, instance_type="ml.p5.48xlarge")
        found = totals.of(Deployment(clusters=(cluster(group, placement=PLACEMENT),))).subnets
        assert [(use.used, use.complete) for use in found] == [(0, False)]

    def test_known_only_at_deploy_are_left_out(self) -> None:
        unknown = VpcPlacement(subnets=(UNKNOWN,), security_groups=())
        assert totals.of(Deployment(clusters=(slurm(placement=unknown), slurm(placement=UNKNOWN)))).subnets == ()


class TestPlans:
    def test_say_when_nodes_come_and_go(self) -> None:
        (plan,) = totals.of(Deployment(clusters=(slurm(),))).plans
        assert (plan.plan, plan.groups, plan.instances) == ("frontier", ("Frontier/Cluster/p5",), 32)
        assert plan.arrives == datetime(2026, 12, 7, 11, 30, tzinfo=UTC)
        assert plan.leaves == datetime(2027, 2, 14, 10, 30, tzinfo=UTC)

    def test_groups_on_one_plan_are_one_entry(self) -> None:
        groups = [InstanceGroup.compute(name, "ml.p5.48xlarge", count=4, capacity=FRONTIER) for name in ("a", "b")]
        (plan,) = totals.of(Deployment(clusters=(cluster(*groups),))).plans
        assert (plan.groups, plan.instances) == (("Frontier/Cluster/a", "Frontier/Cluster/b"), 8)

    def test_come_by_date_with_unknown_dates_last(self) -> None:
        arn = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/"
        plans = [
            TrainingPlan.unchecked(arn + "b"),
            TrainingPlan.unchecked(arn + "a"),
            TrainingPlan("late", count=1, zone=None, starts="2027-01-01", ends="2027-01-02"),
            FRONTIER,
        ]
        groups = [InstanceGroup.compute(f"g{i}", "ml.p5.48xlarge", count=1, capacity=p) for i, p in enumerate(plans)]
        found = totals.of(Deployment(clusters=(cluster(*groups),))).plans
        assert [plan.plan for plan in found] == ["frontier", "late", "a", "b"]


class TestKubernetesApi:
    def test_says_how_each_eks_cluster_that_is_made_is_reached(self) -> None:
        plane = ControlPlane(
            path="F/Kubernetes",
            name="research",
            version="1.34",
            public_cidrs=("198.51.100.0/24", UNKNOWN),
            private=True,
        )
        (found,) = totals.of(Deployment(kubernetes=Kubernetes(control_planes=(plane,)))).kubernetes
        assert found == KubernetesApi(
            path="F/Kubernetes",
            name="research",
            version="1.34",
            private=True,
            public=True,
            public_cidrs=("198.51.100.0/24",),
        )

    def test_knows_nothing_of_what_the_deploy_decides(self) -> None:
        plane = ControlPlane(path="F", name=UNKNOWN, version=UNKNOWN, public=UNKNOWN, public_cidrs=UNKNOWN)
        (found,) = totals.of(Deployment(kubernetes=Kubernetes(control_planes=(plane,)))).kubernetes
        assert (found.name, found.version, found.public, found.public_cidrs) == (None, None, None, ())
