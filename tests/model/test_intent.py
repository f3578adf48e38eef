from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from hyperpod_constructs.catalog.instances import Accelerator, InstanceType
from hyperpod_constructs.model import intent
from hyperpod_constructs.model._reading import Node, Reading
from hyperpod_constructs.model.capacity import InstanceGroup, TrainingPlan
from hyperpod_constructs.model.deployment import Cluster
from hyperpod_constructs.model.lifecycle import Lifecycle, ScriptFile
from hyperpod_constructs.model.network import Subnet
from hyperpod_constructs.model.orchestration import Slurm
from hyperpod_constructs.tokens import UNKNOWN

KEYS = """
    groups p5 spares steps has_teams chart_elsewhere zone plan name count starts ends described accelerator kind files
    carriage_returns
    subnets cidr public provisioning threads_per_core efa min_count vpc_cidr
"""
PLAN = TrainingPlan("frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14")


def cluster(*groups: InstanceGroup, **fields: Any) -> Cluster:
    """A Slurm cluster."""
    return Cluster(path="C", groups=groups, **{"orchestrator": Slurm(), **fields})


def group(name: str = "p5", **fields: Any) -> InstanceGroup:
    """A group of p5 nodes."""
    return InstanceGroup(name=name, **{"count": 30, "instance_type": "ml.p5.48xlarge", **fields})


def as_in_the_template(meant: Cluster) -> Cluster:
    """What the properties alone say of a cluster."""

    def properties(each: InstanceGroup) -> InstanceGroup:
        plan = each.capacity
        arn = (
            f"arn:aws:sagemaker:us-west-2:111122223333:training-plan/{plan.name}"
            if isinstance(plan, TrainingPlan)
            else ""
        )
        count = each.count + each.spares if isinstance(each.count, int) else each.count
        return replace(
            each,
            count=count,
            spares=0,
            zone=None,
            described=None,
            min_count=count if all_or_nothing else each.min_count,
            capacity=TrainingPlan.unchecked(arn) if arn else plan,
            lifecycle=replace(each.lifecycle, files=None, steps=None)
            if isinstance(each.lifecycle, Lifecycle)
            else each.lifecycle,
        )

    all_or_nothing = isinstance(meant.orchestrator, Slurm) and meant.orchestrator.provisioning == "all-or-nothing"
    orchestrator = Slurm() if isinstance(meant.orchestrator, Slurm) else meant.orchestrator
    return replace(meant, orchestrator=orchestrator, groups=tuple(properties(each) for each in meant.groups))


def applied(properties: Cluster, written: Any) -> tuple[Cluster, list[tuple[str, str]]]:
    """The cluster that was meant, and what was invalid."""
    node = as_node(written)
    meant = intent.apply(properties, node)
    return meant, [(invalid.path, f"{invalid.message}; {invalid.fix}") for invalid in node.reading.invalid]


def as_node(written: Any) -> Node:
    """An intent as it stands in the metadata of the cluster `C`."""
    return Node(written, "C", Reading(path_of=lambda _: None), (intent.KEY,))


class TestWhatIsEncoded:
    @pytest.mark.parametrize(
        "meant",
        [
            cluster(),
            cluster(group()),
            cluster(group(spares=2, zone="usw2-az2")),
            cluster(group(capacity=PLAN, spares=2)),
            cluster(group(capacity=replace(PLAN, instance_type="ml.p5.48xlarge"))),
            cluster(group(lifecycle=Lifecycle(source_uri="s3://b/p", on_create="a.sh", files=()))),
            cluster(
                group(
                    lifecycle=Lifecycle(
                        source_uri="s3://b/p",
                        on_create="a.sh",
                        files=(
                            ScriptFile(name="a.sh", carriage_returns=True, fetches=("1: pip install",)),
                            ScriptFile(name="lib/b.py"),
                            ScriptFile(name="c.sh", byte_order_mark="UTF-8"),
                        ),
                    )
                )
            ),
            cluster(group(), group("b"), orchestrator=Slurm(provisioning="all-or-nothing")),
            cluster(group(min_count=1, spares=2), orchestrator=Slurm(provisioning="all-or-nothing")),
            cluster(group(min_count=1, spares=2)),
            cluster(
                group(
                    instance_type="ml.p7.48xlarge",
                    described=InstanceType(
                        "ml.p7.48xlarge",
                        vcpus=192,
                        memory_gib=2048.0,
                        accelerator=Accelerator(kind="gpu", name="R100", count=8, memory_gib_each=288.0),
                        threads_per_core=(1, 2),
                        efa=16,
                        network_cards=16,
                        architecture="x86_64",
                        ultraserver=False,
                        regions=("us-west-2",),
                    ),
                )
            ),
            cluster(group(count=UNKNOWN, spares=1)),
        ],
    )
    def test_comes_back(self, meant: Cluster) -> None:
        written = json.loads(json.dumps(intent.encode(meant)))
        assert applied(as_in_the_template(meant), written) == (meant, [])

    @given(
        st.lists(
            st.builds(
                group,
                st.sampled_from("abcd"),
                count=st.integers(0, 3000),
                spares=st.integers(0, 3000),
                zone=st.none() | st.sampled_from(["usw2-az1", "usw2-az2"]),
                capacity=st.none() | st.just(PLAN),
            ),
            unique_by=lambda each: each.name,
        ),
        st.sampled_from(["continuous", "all-or-nothing"]),
    )
    def test_comes_back_whatever_the_numbers(self, groups: list[InstanceGroup], provisioning: Any) -> None:
        meant = cluster(*groups, orchestrator=Slurm(provisioning=provisioning))
        written = json.loads(json.dumps(intent.encode(meant)))
        assert applied(as_in_the_template(meant), written) == (meant, [])

    def test_of_a_plan_whose_name_is_decided_at_deploy_keeps_its_facts(self) -> None:
        written = json.loads(json.dumps(intent.encode(cluster(group(capacity=PLAN)))))
        written["groups"]["p5"]["plan"]["name"] = UNKNOWN
        meant, wrong = applied(cluster(group(capacity=UNKNOWN)), written)
        plan: Any = meant.groups[0].capacity
        assert (plan.plan, plan.count, plan.zone, wrong) == (UNKNOWN, 32, "usw2-az2", [])

    def test_is_nothing_if_properties_say_everything(self) -> None:
        assert intent.encode(cluster(group())) == {}

    def test_does_not_depend_on_the_order_of_groups(self) -> None:
        first, second = group("a", spares=1), group("b", spares=2)
        assert json.dumps(intent.encode(cluster(first, second))) == json.dumps(intent.encode(cluster(second, first)))

    def test_leaves_tokens_to_the_cdk_except_in_names(self) -> None:
        marker = "${Token[TOKEN.1]}"
        meant = cluster(group(marker, spares=1), group("a", zone=marker))
        assert intent.encode(meant) == {"groups": {"a": {"zone": marker}}}

    def test_of_an_imported_subnet_comes_back(self) -> None:
        subnets = (
            Subnet(path="subnet-1", zone="usw2-az2", cidr="10.0.0.0/20"),
            Subnet(path="subnet-2", zone="usw2-az3", public=True),
            Subnet(path="subnet-3", cidr="10.0.0.0/20", vpc_cidr="10.0.0.0/16"),
        )
        written = json.loads(json.dumps(intent.encode(cluster(), subnets=subnets)))
        assert intent.subnets(as_node(written)) == subnets


class TestAnIntentThatSomebodyEdited:
    @pytest.mark.parametrize(
        ("written", "path", "message"),
        [
            ([], "C", "hyperpod:intent is []; use a map"),
            (
                {"group": {}},
                "C",
                (
                    "hyperpod:intent.group means nothing; "
                    "use one of provisioning, has_teams, chart_elsewhere, groups, subnets"
                ),
            ),
            ({"groups": {"p6": {}}}, "C", "hyperpod:intent.groups.p6 means nothing; use one of p5"),
            ({"provisioning": "no"}, "C", "hyperpod:intent.provisioning is 'no'; use continuous or all-or-nothing"),
            (
                {"groups": {"p5": {"spares": 31}}},
                "C/p5",
                "hyperpod:intent.groups.p5.spares is 31; use 0 to 30, the InstanceCount of the group",
            ),
            (
                {"groups": {"p5": {"spares": "x"}}},
                "C/p5",
                "hyperpod:intent.groups.p5.spares is 'x'; use a whole number",
            ),
            (
                {"groups": {"p5": {"plan": {"name": "frontier"}}}},
                "C/p5",
                (
                    "hyperpod:intent.groups.p5.plan is there, but the group has no TrainingPlanArn; "
                    "leave it out, or give the TrainingPlanArn"
                ),
            ),
            (
                {"groups": {"p5": {"described": {"name": "ml.p6.48xlarge"}}}},
                "C/p5",
                (
                    "hyperpod:intent.groups.p5.described.name is 'ml.p6.48xlarge', "
                    "but the InstanceType of the group is 'ml.p5.48xlarge'; "
                    "describe ml.p5.48xlarge, or leave the description out"
                ),
            ),
            (
                {"groups": {"p5": {"described": {"name": "ml.p5.48xlarge", "efa": -1}}}},
                "C/p5",
                (
                    "hyperpod:intent.groups.p5.described: ml.p5.48xlarge: efa is -1; "
                    "use 0 or more, or leave it out if not known"
                ),
            ),
        ],
    )
    def test_is_reported_and_left_out(self, written: Any, path: str, message: str) -> None:
        properties = cluster(group())
        found, invalid = applied(properties, written)
        assert invalid == [(path, message)]
        assert [(each.count, each.spares, each.capacity, each.described) for each in found.groups] == [
            (30, 0, None, None)
        ]

    def test_does_not_lend_facts_to_another_plan(self) -> None:
        bought = TrainingPlan.unchecked("arn:aws:sagemaker:us-west-2:111122223333:training-plan/other")
        properties = cluster(group(capacity=bought))
        found, invalid = applied(properties, intent.encode(cluster(group(capacity=PLAN))))
        assert found.groups[0].capacity == bought
        assert invalid == [
            (
                "C/p5",
                (
                    "hyperpod:intent.groups.p5.plan.name is 'frontier', "
                    "but the TrainingPlanArn of the group is of plan 'other'; use 'other', or another TrainingPlanArn"
                ),
            )
        ]

    def test_of_a_plan_without_a_name_that_plans_have_is_left_out(self) -> None:
        found, invalid = applied(cluster(group(capacity=UNKNOWN)), {"groups": {"p5": {"plan": {"name": "x y"}}}})
        assert found.groups[0].capacity is UNKNOWN
        assert invalid == [
            ("C/p5", "hyperpod:intent.groups.p5.plan.name is 'x y'; use the name of a training plan, or its ARN")
        ]

    def test_keeps_the_facts_of_a_plan_that_can_be(self) -> None:
        written = {"groups": {"p5": {"plan": {"name": "frontier", "count": 0, "zone": "usw2-az2"}}}}
        found, invalid = applied(cluster(group(capacity=UNKNOWN)), written)
        assert found.groups[0].capacity == TrainingPlan(
            "frontier", count=UNKNOWN, zone="usw2-az2", starts=None, ends=None
        )
        assert invalid == [("C/p5", "hyperpod:intent.groups.p5.plan.count: training plan count is 0; use 1 to 256")]

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(KEYS.split()),
                    inner,
                    max_size=5,
                )
            ),
            max_leaves=20,
        )
    )
    def test_never_raises(self, written: Any) -> None:
        found, _ = applied(cluster(group(lifecycle=Lifecycle(source_uri="s3://b"))), written)
        intent.subnets(as_node(written))
        assert len(found.groups) == 1


class TestAllOrNothing:
    def test_names_the_minimum_that_it_overrides_and_no_other(self) -> None:
        whole = cluster(group(min_count=1), orchestrator=Slurm(provisioning="all-or-nothing"))
        assert intent.encode(whole)["groups"] == {"p5": {"min_count": 1}}
        assert intent.encode(cluster(group(min_count=1))) == {}

    def test_has_no_minimum_that_no_group_can_have(self) -> None:
        written = {"provisioning": "all-or-nothing", "groups": {"p5": {"min_count": 7000}}}
        found, invalid = applied(cluster(group(min_count=30)), written)
        assert found.groups[0].min_count is UNKNOWN
        assert invalid == [("C/p5", "hyperpod:intent.groups.p5.min_count is 7,000; use 0 to 6,758")]

    def test_keeps_a_minimum_that_somebody_set_otherwise(self) -> None:
        found, _ = applied(cluster(group(min_count=10)), {"provisioning": "all-or-nothing"})
        assert found.groups[0].min_count == 10


class TestSteps:
    def test_steps_and_teams_are_read_as_they_were_written(self) -> None:
        scripts = Lifecycle(
            source_uri="s3://sagemaker-x/a", on_init_complete="start-p5.sh", files=(), steps=("spares",)
        )
        meant = cluster(group(lifecycle=scripts), has_teams=True, chart_elsewhere=True)
        seen = replace(as_in_the_template(meant), has_teams=False, chart_elsewhere=False)
        found, invalid = applied(seen, intent.encode(meant))
        assert (found, invalid) == (meant, [])
