"""`--fail-on`: for each condition the change that holds it, the nearest one that does not, and what nobody knows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hyperpod_constructs.cli import inputs
from hyperpod_constructs.review import review as reviews
from hyperpod_constructs.review.policy import WORDS, FailOn
from hyperpod_constructs.review.review import Review, Side

Body: TypeAlias = dict[str, Any]
Reviewed: TypeAlias = Callable[..., Review]
Holding: TypeAlias = Callable[[Body, Body], tuple[str, ...]]

ROLE = "arn:aws:iam::111122223333:role/nodes"
GIVEN = {"Fn::If": ["Maybe", "subnet-1", "subnet-2"]}
TOP = {
    "Parameters": {"Given": {"Type": "String"}, "Count": {"Type": "Number"}},
    "Conditions": {"Maybe": {"Fn::Equals": [{"Ref": "Given"}, "x"]}},
}


@pytest.fixture
def reviewed(tmp_path: Path) -> Reviewed:
    """The review of two sets of resources in us-east-1."""

    def reviewed(base: Body, head: Body) -> Review:
        sides = []
        for name, resources in (("base", base), ("head", head)):
            file = tmp_path / name / "app.json"
            file.parent.mkdir()
            file.write_text(json.dumps({**TOP, "Resources": resources}), encoding="utf-8")
            source = inputs.read(str(file), "us-east-1")
            findings = inputs.judge(source).findings
            sides.append(Side(assembly=source.read, deployment=source.deployment, findings=findings))
        return reviews.of(*sides)

    return reviewed


@pytest.fixture
def holding(reviewed: Reviewed) -> Holding:
    """The conditions without a figure that hold."""

    def holding(base: Body, head: Body) -> tuple[str, ...]:
        found = reviewed(base, head)
        return tuple(word for word in WORDS if FailOn.parse(word).reasons(found))

    return holding


def lustre(size: Any = 4800, subnet: Any = "subnet-0123456789abcdef0", **body: Any) -> Body:
    throughput = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250}
    properties = {"FileSystemType": "LUSTRE", "StorageCapacity": size, "SubnetIds": [subnet]}
    return {
        "Scratch": {
            "Type": "AWS::FSx::FileSystem",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {**properties, "LustreConfiguration": throughput},
            **body,
        }
    }


def cluster(
    count: Any = 4,
    name: str = "p5",
    subnet: Any = "subnet-0123456789abcdef0",
    kind: str = "ml.p5.48xlarge",
    **more: Any,
) -> Body:
    group = {
        "InstanceGroupName": name,
        "InstanceType": kind,
        "InstanceCount": count,
        "ExecutionRole": ROLE,
        "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["train"]},
    }
    controller = {**group, "InstanceGroupName": "controller", "InstanceType": "ml.m5.4xlarge", "InstanceCount": 1}
    controller["SlurmConfig"] = {"NodeType": "Controller"}
    properties = {
        "NodeProvisioningMode": "Continuous",
        "Orchestrator": {"Slurm": {}},
        "VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": [subnet]},
        "InstanceGroups": [controller, group],
        **more,
    }
    return {"Train": {"Type": "AWS::SageMaker::Cluster", "Properties": properties}}


TOPIC: Body = {"Alarms": {"Type": "AWS::SNS::Topic"}}
RULE = {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": {"GroupId": "sg-1", "IpProtocol": "tcp"}}
OTHER_SUBNET = "subnet-0fedcba9876543210"


class TestReplacement:
    def test_is_a_new_resource_in_place_of_another(self, holding: Holding) -> None:
        other = {**RULE, "Properties": {**RULE["Properties"], "FromPort": 22}}  # type: ignore[dict-item]  # a map
        assert holding({"R": RULE}, {"R": other}) == ("replacement",)

    def test_is_one_of_data_too(self, holding: Holding) -> None:
        assert holding(lustre(), lustre(subnet=OTHER_SUBNET)) == ("replacement", "data-loss")

    def test_is_not_a_change_in_place(self, holding: Holding) -> None:
        assert holding(lustre(), lustre(9600)) == ()

    def test_is_not_what_is_refused(self, holding: Holding) -> None:
        """CloudFormation rolls back: nothing is replaced."""
        before, after = (cluster(ClusterName="train", subnet=each) for each in ("subnet-1", OTHER_SUBNET))
        assert holding(before, after) == ("error",)

    def test_may_be_what_the_deploy_decides(self, holding: Holding) -> None:
        assert "replacement" in holding(lustre(), lustre(subnet=GIVEN))

    def test_is_not_what_no_page_tells_of(self, holding: Holding) -> None:
        before, after = ({"R": {"Type": "Acme::Data::Thing", "Properties": {"P": each}}} for each in "ab")
        assert holding(before, after) == ("open",)


class TestDataLoss:
    def test_is_a_file_system_that_goes_although_it_is_retained(self, holding: Holding) -> None:
        assert holding({**lustre(), **TOPIC}, TOPIC) == ("data-loss",)

    def test_is_not_something_without_data_that_goes(self, holding: Holding) -> None:
        assert holding({**lustre(), **TOPIC}, lustre()) == ()

    def test_is_not_a_stack_that_no_deploy_deletes(self, tmp_path: Path) -> None:
        for side, names in (("base", "ab"), ("head", "a")):
            (tmp_path / side).mkdir()
            for name in names:
                (tmp_path / side / f"{name}.json").write_text(json.dumps({"Resources": lustre()}), encoding="utf-8")
        sides = []
        for side in ("base", "head"):
            source = inputs.read(str(tmp_path / side), None)
            sides.append(Side(assembly=source.read, deployment=source.deployment, findings=()))
        found = reviews.of(*sides)
        assert [word for word in WORDS if FailOn.parse(word).reasons(found)] == []

    def test_is_data_that_the_next_delete_would_take(self, holding: Holding) -> None:
        assert holding(lustre(), lustre(DeletionPolicy="Delete")) == ("data-loss",)

    def test_is_not_a_resource_without_data_that_the_next_delete_takes(self, holding: Holding) -> None:
        assert holding({"Alarms": {**TOPIC["Alarms"], "DeletionPolicy": "Retain"}}, TOPIC) == ()

    def test_may_be_what_a_condition_keeps(self, holding: Holding) -> None:
        kept = {"Fn::If": ["Maybe", "Retain", "Delete"]}
        assert holding({**lustre(DeletionPolicy=kept), **TOPIC}, TOPIC) == ("data-loss",)


class TestNodeLoss:
    @pytest.mark.parametrize(
        ("head", "expected"),
        [
            (cluster(5), ()),
            (cluster("4"), ()),
            (cluster(3), ("node-loss",)),
            (cluster({"Ref": "Count"}), ("node-loss", "open")),
            (cluster(name="b"), ("replacement", "node-loss", "error")),
            (cluster(subnet=OTHER_SUBNET), ("replacement", "node-loss")),
            ({**TOPIC}, ("node-loss",)),
            (cluster(kind="ml.p5en.48xlarge"), ("error",)),
        ],
    )
    def test_is_every_way_in_which_running_nodes_go(
        self, holding: Holding, head: Body, expected: tuple[str, ...]
    ) -> None:
        assert holding(cluster(), head) == expected


class TestError:
    def test_is_what_a_rule_refuses(self, holding: Holding) -> None:
        assert holding(lustre(), lustre(5000)) == ("error",)

    def test_is_not_what_a_rule_refused_before(self, holding: Holding) -> None:
        tagged = lustre(5000)
        tagged["Scratch"]["Properties"]["Tags"] = [{"Key": "k", "Value": "v"}]
        assert holding(lustre(5000), tagged) == ()

    def test_is_not_a_warning(self, reviewed: Reviewed) -> None:
        unkept = lustre(DeletionPolicy="Delete")
        found = reviewed(lustre(), unkept)
        assert [each.severity.value for each in found.new]
        assert FailOn.parse("error").reasons(found) == []

    def test_names_the_rule_and_the_place(self, reviewed: Reviewed) -> None:
        (reason,) = FailOn.parse("error").reasons(reviewed(lustre(), lustre(5000)))
        assert reason == "error: HP3001 app.json/Scratch"


class TestCost:
    @pytest.mark.parametrize(
        ("limit", "expected"),
        [
            (1000, []),
            (397.2, ["cost: 397.21 USD/h are more than 397.20"]),
            (0, ["cost: 397.21 USD/h are more than 0.00"]),
        ],
    )
    def test_is_more_than_the_limit_afterwards(self, reviewed: Reviewed, limit: float, expected: list[str]) -> None:
        # 6 x 66.048 (HyperPod's p5.48xlarge) + 0.768 x 1.20 (EC2's m5.4xlarge)
        assert FailOn(usd_per_hour=limit).reasons(reviewed(cluster(4), cluster(6))) == expected

    def test_holds_for_a_change_that_lowers_it_too_little(self, reviewed: Reviewed) -> None:
        assert FailOn(usd_per_hour=100).reasons(reviewed(cluster(6), cluster(4)))

    @pytest.mark.parametrize("count", [{"Ref": "Count"}, 4])
    def test_is_what_has_no_price_where_the_change_touches_it(self, reviewed: Reviewed, count: Any) -> None:
        kind = "ml.p5.48xlarge" if count != 4 else "ml.p99.48xlarge"  # nobody sells one
        reasons = FailOn(usd_per_hour=1e9).reasons(reviewed(cluster(2), cluster(count, kind=kind)))
        assert reasons == ["cost: the change touches something that has no price"]

    def test_is_not_what_has_no_price_and_stays(self, reviewed: Reviewed) -> None:
        before, after = ({**cluster(kind="ml.p99.48xlarge"), **each} for each in ({}, TOPIC))
        assert FailOn(usd_per_hour=1e9).reasons(reviewed(before, after)) == []


class TestParsing:
    def test_takes_several_with_spaces_between(self) -> None:
        found = FailOn.parse(" replacement, data-loss,,cost=4000.5 ")
        assert found == FailOn(words=frozenset({"replacement", "data-loss"}), usd_per_hour=4000.5)

    def test_of_nothing_is_nothing(self) -> None:
        assert FailOn.parse("") == FailOn()

    @pytest.mark.parametrize(
        "text", ["replacements", "Error", "cost", "cost=", "cost=-1", "cost=nan", "cost=inf", "cost=4,000 USD", "=1"]
    )
    def test_refuses_what_is_none(self, text: str) -> None:
        with pytest.raises(ValueError, match=r"is no (condition|limit); "):
            FailOn.parse(text)

    def test_finds_nothing_in_a_review_of_the_same(self, reviewed: Reviewed) -> None:
        everything = FailOn.parse(",".join([*WORDS, "cost=100000"]))
        assert everything.reasons(reviewed({**cluster(), **lustre()}, {**lustre(), **cluster()})) == []
