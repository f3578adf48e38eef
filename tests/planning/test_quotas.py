from __future__ import annotations

import shlex

import jmespath  # type: ignore[import-untyped]  # published without types
import pytest

from hyperpod_constructs.model.capacity import InstanceGroup, Spot, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.storage import NodeVolume
from hyperpod_constructs.planning import quotas
from hyperpod_constructs.planning.quotas import NeededQuota
from hyperpod_constructs.tokens import UNKNOWN

PER_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"
IN_ALL = "Total number of instances allowed across SageMaker HyperPod clusters"
SPOT_IN_ALL = "Total number of Spot instances allowed across SageMaker HyperPod clusters"
INTERFACES = "Network interfaces per Region"
VOLUME = "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance"
PLANS = "Number of training plans per Region"
P5 = "ml.p5.48xlarge for cluster usage"
P5_RESERVED = "Number of ml.p5.48xlarge instances in reserved capacity across training plans per Region"


def cluster(*groups: InstanceGroup, name: str = "Cluster", region: str | None = "us-west-2") -> Cluster:
    return Cluster(path=name, groups=groups, region=region)


def needed(*clusters: Cluster) -> dict[str, NeededQuota]:
    return {quota.quota.name: quota for quota in quotas.needed(Deployment(clusters=clusters))}


def numbers(*clusters: Cluster) -> dict[str, int]:
    return {name: quota.needed for name, quota in needed(*clusters).items()}


def p5(name: str = "p5", *, count: int = 2, **options: object) -> InstanceGroup:
    return InstanceGroup.compute(name, "ml.p5.48xlarge", count=count, **options)  # type: ignore[arg-type]  # test data


class TestInstances:
    def test_spares_count(self) -> None:
        found = numbers(cluster(p5(count=30, spares=2), InstanceGroup.controller("ml.m5.4xlarge")))
        assert found == {
            "ml.m5.4xlarge for cluster usage": 1,
            P5: 32,
            PER_CLUSTER: 33,
            IN_ALL: 33,
            INTERFACES: 32 * 32 + 1,
        }

    def test_clusters_of_one_region_add_up_but_only_the_largest_counts_per_cluster(self) -> None:
        found = numbers(cluster(p5(count=4), name="A"), cluster(p5(count=6), name="B"))
        assert (found[P5], found[IN_ALL], found[PER_CLUSTER]) == (10, 10, 6)

    def test_regions_are_apart_and_sorted(self) -> None:
        clusters = (cluster(p5(), region="us-west-2"), cluster(p5(), region="us-east-1"))
        found = [q.region for q in quotas.needed(Deployment(clusters=clusters)) if q.quota.name == P5]
        assert found == ["us-east-1", "us-west-2"]

    def test_every_type_of_a_flexible_group_may_be_the_one(self) -> None:
        types = ("ml.p5.48xlarge", "ml.p5en.48xlarge")
        found = numbers(cluster(InstanceGroup(name="flex", count=3, flexible_types=types)))
        assert (found[P5], found["ml.p5en.48xlarge for cluster usage"], found[IN_ALL]) == (3, 3, 3)

    def test_a_count_known_only_at_deploy_makes_the_number_a_lower_bound(self) -> None:
        found = needed(
            cluster(p5("a", count=3), InstanceGroup(name="b", count=UNKNOWN, instance_type="ml.p5.48xlarge"))
        )
        assert (found[P5].needed, found[P5].complete) == (3, False)

    def test_nothing_is_needed_for_no_instances(self) -> None:
        assert numbers(cluster(p5(count=0))) == {}


class TestSpot:
    def test_has_quotas_of_its_own(self) -> None:
        found = numbers(cluster(p5(count=3, capacity=Spot())))
        assert found["ml.p5.48xlarge for cluster spot instance usage"] == 3
        assert found[SPOT_IN_ALL] == 3
        assert P5 not in found

    def test_is_not_asked_for_without_a_spot_group(self) -> None:
        assert SPOT_IN_ALL not in numbers(cluster(p5()))


class TestPlans:
    def test_a_plan_does_not_lift_the_quota_of_its_type(self) -> None:
        plan = TrainingPlan("frontier", count=4, zone="usw2-az2", starts=None, ends=None)
        found = numbers(cluster(p5(count=3, capacity=plan)))
        assert (found[P5], found[PLANS], found[P5_RESERVED]) == (3, 1, 4)

    def test_two_groups_on_one_plan_are_one_plan(self) -> None:
        plan = TrainingPlan.unchecked("arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier")
        found = numbers(cluster(p5("a", count=3, capacity=plan), p5("b", count=5, capacity=plan)))
        assert (found[PLANS], found[P5_RESERVED]) == (1, 8)


class TestVolumes:
    def test_above_1024_gb_need_a_raise(self) -> None:
        volumes = (NodeVolume(size_gib=500), NodeVolume(size_gib=1025))
        found = needed(cluster(p5(volumes=volumes)))[VOLUME]
        assert (found.needed, found.groups) == (1025, ("Cluster/p5",))

    def test_of_1024_gb_need_none(self) -> None:
        assert VOLUME not in numbers(cluster(p5(volumes=(NodeVolume(size_gib=1024),))))

    def test_known_only_at_deploy_are_silent(self) -> None:
        assert VOLUME not in numbers(cluster(p5(volumes=UNKNOWN), p5("b", volumes=(NodeVolume(size_gib=UNKNOWN),))))


class TestCommand:
    def test_asks_for_the_number_with_a_place_for_the_code(self) -> None:
        """Never with a code of ours: public lists of codes contradict each other."""
        found = needed(cluster(p5(count=32)))[P5]
        assert found.quota.code is not None
        assert found.command == (
            "aws service-quotas request-service-quota-increase --region us-west-2 --service-code sagemaker "
            "--quota-code QUOTA_CODE --desired-value 32"
        )

    def test_comes_after_a_look_up_of_the_code_by_exact_name(self) -> None:
        assert shlex.split(needed(cluster(p5()))[P5].look_up) == [
            *("aws", "service-quotas", "list-aws-default-service-quotas", "--region", "us-west-2"),
            *("--service-code", "sagemaker", "--output", "text", "--query"),
            'Quotas[?QuotaName==`"ml.p5.48xlarge for cluster usage"`].[QuotaCode,Value]',
        ]

    @pytest.mark.parametrize("name", ["'; rm -rf ~ #", '\\" || `"a"', "`true`]"])
    def test_cannot_be_made_to_run_or_select_what_a_template_says(self, name: str) -> None:
        group = InstanceGroup(name="g", count=1, instance_type=name)
        (found,) = [q for q in quotas.needed(Deployment(clusters=(cluster(group),))) if q.quota.name.startswith(name)]
        query = shlex.split(found.look_up)[-1]
        other, same = ({"QuotaName": it, "QuotaCode": "L-1", "Value": 0} for it in ("other", found.quota.name))
        assert jmespath.search(query, {"Quotas": [other, same]}) == [["L-1", 0]]

    def test_has_a_place_for_a_region_that_is_not_known(self) -> None:
        found = needed(cluster(p5(), region=None))[P5]
        assert "--region REGION " in found.command
        assert "--region REGION " in found.look_up
