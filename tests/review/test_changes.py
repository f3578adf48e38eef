"""What each change does: one rule at a time, the nearest harmless change, and what nobody knows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import pytest

from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.review import changes
from hyperpod_constructs.review.comparison import Comparison
from hyperpod_constructs.review.impacts import VERDICTS, Change, Impact, Verdict
from tests.cli.conftest import assembly as written

Body: TypeAlias = dict[str, Any]
Review: TypeAlias = Callable[..., list[Change]]
Impacts: TypeAlias = Callable[..., dict[str, str]]
OfTemplates: TypeAlias = Callable[[Body, Body], dict[str, str]]

PARAMETERS = {"Given": {"Type": "String"}, "Count": {"Type": "Number"}}
ROLE = "arn:aws:iam::111122223333:role/nodes"
UNKNOWN_COUNT = {"Ref": "Count"}


@pytest.fixture
def review(tmp_path: Path) -> Review:
    """Changes between two sets of resources."""

    def review(base: Body, head: Body, **top: Body) -> list[Change]:
        read = []
        for name, resources in (("base", base), ("head", head)):
            file = tmp_path / name / "app.json"
            file.parent.mkdir()
            file.write_text(json.dumps({"Parameters": PARAMETERS, "Resources": resources, **top}), encoding="utf-8")
            read.append(assembly.read(file))
        return [*changes.of(Comparison(base=read[0], head=read[1]))]

    return review


@pytest.fixture
def impacts(review: Review) -> Impacts:
    """Impacts between two sets of resources, by what is changed."""

    def impacts(base: Body, head: Body, **top: Body) -> dict[str, str]:
        found = review(base, head, **top)
        names = [".".join(filter(None, (each.path.partition("/")[2], each.property_name))) for each in found]
        return {name: each.impact.value for name, each in zip(names, found, strict=True)}

    return impacts


@pytest.fixture
def of_templates(tmp_path_factory: pytest.TempPathFactory) -> OfTemplates:
    """Impacts between two templates, by what is changed."""

    def of_templates(*sides: Body) -> dict[str, str]:
        read = []
        for side in sides:
            file = tmp_path_factory.mktemp("side") / "app.json"
            file.write_text(json.dumps({"Parameters": PARAMETERS, **side}), encoding="utf-8")
            read.append(assembly.read(file))
        found = changes.of(Comparison(base=read[0], head=read[1]))
        return {f"{each.path.partition('/')[2]}.{each.property_name}": each.impact.value for each in found}

    return of_templates


def resource(kind: str, body: Body | None = None, **properties: Any) -> Body:
    return {"R": {"Type": kind, "Properties": properties, **(body or {})}}


def group(name: str = "p5", count: Any = 4, **properties: Any) -> Body:
    return {
        "InstanceGroupName": name,
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": count,
        "ExecutionRole": ROLE,
        **properties,
    }


def cluster(*groups: Body, **properties: Any) -> Body:
    return resource("AWS::SageMaker::Cluster", ClusterName="train", InstanceGroups=[*groups], **properties)


GROUPS = "R/p5.InstanceGroups"


class TestGroups:
    @pytest.mark.parametrize(
        ("before", "after", "expected"),
        [
            ([group(count=4)], [group(count=5)], {f"{GROUPS}.InstanceCount": "in-place"}),
            ([group(count=4)], [group(count="5")], {f"{GROUPS}.InstanceCount": "in-place"}),
            ([group(count=4)], [group(count=3)], {f"{GROUPS}.InstanceCount": "nodes-lost"}),
            ([group(count=4)], [group(count=0)], {f"{GROUPS}.InstanceCount": "nodes-lost"}),
            ([group(count=4)], [group(count=UNKNOWN_COUNT)], {f"{GROUPS}.InstanceCount": "open"}),
            ([group(count=UNKNOWN_COUNT)], [group(count=4)], {f"{GROUPS}.InstanceCount": "open"}),
            ([group(count=UNKNOWN_COUNT)], [group(count=UNKNOWN_COUNT)], {}),
            ([group(), group("b")], [group("b"), group()], {}),
            ([group(), group("b")], [group("b")], {GROUPS: "nodes-lost"}),
            ([group(count=0), group("b")], [group("b")], {GROUPS: "removed"}),
            ([group()], [group(), group("b")], {"R/b.InstanceGroups": "created"}),
            ([group()], [group("b")], {GROUPS: "group-replaced", "R/b.InstanceGroups": "created"}),
            ([group(count=0)], [group("b")], {GROUPS: "removed", "R/b.InstanceGroups": "created"}),
            ([group()], [group(InstanceType="ml.p5en.48xlarge")], {f"{GROUPS}.InstanceType": "refused"}),
            ([group()], [group(ExecutionRole=f"{ROLE}-2")], {f"{GROUPS}.ExecutionRole": "refused"}),
            ([group(ThreadsPerCore=1)], [group(ThreadsPerCore=2)], {f"{GROUPS}.ThreadsPerCore": "refused"}),
            ([group()], [group(MinInstanceCount=4)], {f"{GROUPS}.MinInstanceCount": "in-place"}),
        ],
    )
    def test_are_judged_by_name_and_number(
        self, impacts: Impacts, before: list[Body], after: list[Body], expected: dict[str, str]
    ) -> None:
        assert impacts(cluster(*before), cluster(*after)) == expected

    def test_that_give_way_to_another_type_name_the_way_without_loss(self, review: Review) -> None:
        found = review(cluster(group()), cluster(group("p5en", InstanceType="ml.p5en.48xlarge")))
        assert (found[0].impact, found[0].effect.recipe) == (Impact.GROUP_REPLACED, "replace-a-type")

    def test_that_are_renamed_name_another_way(self, review: Review) -> None:
        found = review(cluster(group()), cluster(group("train")))
        assert (found[0].impact, found[0].effect.recipe) == (Impact.GROUP_REPLACED, "rename-a-group")

    def test_of_a_cluster_whose_list_is_decided_at_deploy_are_open(self, impacts: Impacts) -> None:
        given = resource("AWS::SageMaker::Cluster", InstanceGroups={"Ref": "Given"})
        assert impacts(cluster(group()), given)["R.InstanceGroups"] == "open"


class TestDirection:
    @pytest.mark.parametrize(
        ("before", "after", "expected"),
        [
            ("1.33", "1.34", "rolling"),
            ("1.33", "1.35", "refused"),
            ("1.33", "1.32", "refused"),
            ("1.9", "1.10", "rolling"),
            ("1.33", {"Ref": "Given"}, "in-place"),
        ],
    )
    def test_of_kubernetes(self, impacts: Impacts, before: Any, after: Any, expected: str) -> None:
        sides = (resource("AWS::EKS::Cluster", Version=version) for version in (before, after))
        assert impacts(*sides) == {"R.Version": expected}

    @pytest.mark.parametrize(
        ("before", "after", "expected"),
        [
            (4800, 9600, "in-place"),
            (4800, "9600", "in-place"),
            (9600, 4800, "refused"),
            (9600, {"Ref": "Count"}, "in-place"),
        ],
    )
    def test_of_a_file_system(self, impacts: Impacts, before: Any, after: Any, expected: str) -> None:
        sides = (resource("AWS::FSx::FileSystem", StorageCapacity=size) for size in (before, after))
        assert impacts(*sides) == {"R.StorageCapacity": expected}

    @pytest.mark.parametrize(
        ("effects", "expected"),
        [
            (("NoSchedule", "NoExecute"), "rolling"),
            (("NoExecute", "NoSchedule"), "in-place"),
            (("NoSchedule", "PreferNoSchedule"), "in-place"),
            (("NoSchedule", {"Ref": "Given"}), "in-place"),
        ],
    )
    def test_of_taints(self, impacts: Impacts, effects: tuple[Any, Any], expected: str) -> None:
        sides = (cluster(group(KubernetesConfig={"Taints": [{"Key": "k", "Effect": each}]})) for each in effects)
        assert impacts(*sides) == {f"{GROUPS}.KubernetesConfig.Taints.Effect": expected}

    @pytest.mark.parametrize(("effect", "expected"), [("NoExecute", "rolling"), ("NoSchedule", "in-place")])
    def test_of_the_first_taint(self, impacts: Impacts, effect: str, expected: str) -> None:
        tainted = group(KubernetesConfig={"Taints": [{"Key": "k", "Effect": effect}]})
        assert impacts(cluster(group()), cluster(tainted)) == {f"{GROUPS}.KubernetesConfig": expected}

    @pytest.mark.parametrize(
        ("counts", "says"),
        [
            ((4, 6), "the team is guaranteed more; what others run there on borrowed quota may be preempted"),
            ((6, 4), "what a team runs above a lower quota counts as borrowed, which tasks of other teams may preempt"),
        ],
    )
    def test_of_a_quota_says_who_may_lose(self, review: Review, counts: tuple[int, int], says: str) -> None:
        def quota(count: int) -> Body:
            config = {"ComputeQuotaResources": [{"InstanceType": "ml.p5.48xlarge", "Count": count}]}
            return resource("AWS::SageMaker::ComputeQuota", ComputeQuotaConfig=config)

        (change,) = review(*map(quota, counts))
        assert says in change.effect.reason
        assert change.impact is Impact.IN_PLACE


class TestData:
    @pytest.mark.parametrize(
        ("policy", "expected"),
        [
            ({}, "data-lost"),
            ({"DeletionPolicy": "Delete"}, "data-lost"),
            ({"DeletionPolicy": "Retain"}, "left-behind"),
            ({"DeletionPolicy": "RetainExceptOnCreate"}, "left-behind"),
            ({"DeletionPolicy": "Snapshot"}, "left-behind"),
            ({"UpdateReplacePolicy": "Retain"}, "data-lost"),
        ],
    )
    def test_of_a_removed_resource_goes_by_its_deletion_policy(
        self, impacts: Impacts, policy: Body, expected: str
    ) -> None:
        other = {"Other": {"Type": "AWS::SNS::Topic"}}
        assert impacts({**resource("AWS::FSx::FileSystem", policy), **other}, other) == {"R": expected}

    @pytest.mark.parametrize(
        ("kind", "properties", "expected"),
        [
            ("AWS::RDS::DBInstance", {}, "left-behind"),
            ("AWS::RDS::DBCluster", {}, "left-behind"),
            ("AWS::RDS::DBInstance", {"DBClusterIdentifier": "c"}, "data-lost"),
        ],
    )
    def test_of_a_database_is_kept_in_a_snapshot_by_default(
        self, impacts: Impacts, kind: str, properties: Body, expected: str
    ) -> None:
        other = {"Other": {"Type": "AWS::SNS::Topic"}}
        assert impacts({**resource(kind, **properties), **other}, other) == {"R": expected}

    @pytest.mark.parametrize(
        ("policy", "expected"),
        [
            ({}, "data-lost"),
            ({"UpdateReplacePolicy": "Retain"}, "left-behind"),
            ({"UpdateReplacePolicy": "Snapshot"}, "left-behind"),
            ({"DeletionPolicy": "Retain"}, "data-lost"),
            ({"UpdateReplacePolicy": {"Fn::If": ["Maybe", "Retain", "Delete"]}}, "data-lost"),
        ],
    )
    def test_of_a_replaced_resource_goes_by_its_other_policy(
        self, impacts: Impacts, policy: Body, expected: str
    ) -> None:
        maybe = {"Maybe": {"Fn::Equals": [{"Ref": "Given"}, "x"]}}
        sides = (resource("AWS::FSx::FileSystem", policy, SubnetIds=[subnet]) for subnet in ("subnet-1", "subnet-2"))
        assert impacts(*sides, Conditions=maybe) == {"R.SubnetIds": expected}

    def test_of_a_moved_logical_id_says_that_an_empty_one_is_made(self, review: Review) -> None:
        kept = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Retain", "Properties": {"Tags": []}}
        found = review({"Old": kept}, {"New": kept})
        assert (found[0].impact, found[1].impact) == (Impact.LEFT_BEHIND, Impact.CREATED)
        assert "made as New" in found[0].effect.reason

    @pytest.mark.parametrize(
        ("before", "after", "expected"),
        [
            ("Retain", "Delete", "unprotected"),
            ("Retain", None, "unprotected"),
            ("Retain", {"Fn::If": ["Maybe", "Retain", "Delete"]}, "unprotected"),
            ("Delete", "Retain", "in-place"),
            ("Snapshot", "Retain", "in-place"),
            (None, "Delete", ""),
        ],
    )
    def test_that_is_kept_no_more_is_said_before_it_is_lost(
        self, impacts: Impacts, before: Any, after: Any, expected: str
    ) -> None:
        maybe = {"Maybe": {"Fn::Equals": [{"Ref": "Given"}, "x"]}}
        sides = [resource("AWS::S3::Bucket", {"DeletionPolicy": each} if each else {}) for each in (before, after)]
        assert impacts(*sides, Conditions=maybe) == ({"R.DeletionPolicy": expected} if expected else {})

    @pytest.mark.parametrize(
        ("kind", "expected"),
        [
            ("AWS::SageMaker::Cluster", "unprotected"),
            ("AWS::KMS::Key", "unprotected"),
            ("AWS::SNS::Topic", "in-place"),
        ],
    )
    def test_is_not_all_that_may_be_kept_no_more(self, impacts: Impacts, kind: str, expected: str) -> None:
        assert impacts(resource(kind, {"DeletionPolicy": "Retain"}), resource(kind)) == {"R.DeletionPolicy": expected}

    @pytest.mark.parametrize(
        ("kind", "expected"),
        [
            ("AWS::EC2::Subnet", "destroyed"),
            ("AWS::SageMaker::Cluster", "destroyed"),
            ("AWS::SNS::Topic", "removed"),
            ("AWS::EC2::SubnetRouteTableAssociation", "removed"),
        ],
    )
    def test_is_one_thing_and_what_runs_another(self, impacts: Impacts, kind: str, expected: str) -> None:
        other = {"Other": {"Type": "AWS::SQS::Queue"}}
        assert impacts({**resource(kind), **other}, other) == {"R": expected}


class TestNames:
    def test_that_are_fixed_make_a_replacement_collide(self, impacts: Impacts) -> None:
        sides = (cluster(group(), VpcConfig={"Subnets": [subnet]}) for subnet in ("subnet-1", "subnet-2"))
        assert impacts(*sides) == {"R.VpcConfig.Subnets": "refused"}

    @pytest.mark.parametrize("name", [{}, {"ClusterName": {"Fn::If": ["Maybe", "x", {"Ref": "AWS::NoValue"}]}}])
    def test_that_are_not_certain_do_not(self, impacts: Impacts, name: Body) -> None:
        maybe = {"Maybe": {"Fn::Equals": [{"Ref": "Given"}, "x"]}}
        sides = (resource("AWS::SageMaker::Cluster", **name, VpcConfig={"Subnets": [each]}) for each in ("a", "b"))
        assert impacts(*sides, Conditions=maybe) == {"R.VpcConfig.Subnets": "replaced"}

    def test_that_change_too_do_not(self, impacts: Impacts) -> None:
        sides = (
            resource("AWS::SageMaker::Cluster", ClusterName=each, VpcConfig={"Subnets": [each]}) for each in ("a", "b")
        )
        assert set(impacts(*sides).values()) == {"replaced"}

    def test_of_what_is_deleted_first_do_not(self, impacts: Impacts) -> None:
        sides = (resource("AWS::SageMaker::ComputeQuota", Name="q", ClusterArn=each) for each in ("a", "b"))
        assert impacts(*sides) == {"R.ClusterArn": "replaced"}

    def test_inside_of_a_property_count_too(self, impacts: Impacts) -> None:
        def budget(threshold: int, **name: str) -> Body:
            notice = {"Notification": {"Threshold": threshold}, "Subscribers": []}
            return resource("AWS::Budgets::Budget", Budget=name, NotificationsWithSubscribers=[notice])

        found = impacts(budget(80, BudgetName="b"), budget(90, BudgetName="b"))
        assert found == {"R.NotificationsWithSubscribers.Notification.Threshold": "refused"}

    def test_that_are_one_of_two_keys_do_not_collide_where_the_other_changes(self, impacts: Impacts) -> None:
        sides = (resource("AWS::EKS::Addon", AddonName="vpc-cni", ClusterName=each) for each in ("a", "b"))
        assert impacts(*sides) == {"R.ClusterName": "replaced"}

    def test_that_are_two_keys_collide_where_both_stay(self, impacts: Impacts) -> None:
        sides = (
            resource("AWS::EKS::Addon", AddonName="vpc-cni", ClusterName="a", NamespaceConfig={"Namespace": each})
            for each in ("a", "b")
        )
        assert impacts(*sides) == {"R.NamespaceConfig.Namespace": "refused"}


class TestWhatNobodyKnows:
    @pytest.mark.parametrize("kind", ["Acme::Data::Device", "Custom::Lookup", "AWS::Future::Thing"])
    def test_is_what_a_type_without_schema_does(self, impacts: Impacts, kind: str) -> None:
        assert impacts(resource(kind, P=1), resource(kind, P=2)) == {"R.P": "open"}

    def test_is_another_type_for_one_logical_id_no_more(self, review: Review) -> None:
        (found,) = review(resource("AWS::SNS::Topic"), resource("AWS::SQS::Queue"))
        assert (found.impact, found.before, found.after) == (Impact.REFUSED, "AWS::SNS::Topic", "AWS::SQS::Queue")

    def test_is_what_a_nested_stack_does_whose_template_is_missing(self, impacts: Impacts) -> None:
        sides = (resource("AWS::CloudFormation::Stack", TemplateURL="u", Parameters={"P": each}) for each in "ab")
        assert impacts(*sides) == {"R.Parameters.P": "open"}

    def test_are_tags_of_it_not(self, impacts: Impacts) -> None:
        sides = (
            resource("AWS::CloudFormation::Stack", TemplateURL="u", Tags=[{"Key": "k", "Value": each}]) for each in "ab"
        )
        assert set(impacts(*sides).values()) == {"in-place"}

    def test_is_what_a_loop_makes_that_is_written_otherwise(self, review: Review) -> None:
        def loop(*names: str) -> Body:
            return {**resource("AWS::SNS::Topic"), "Fn::ForEach::T": ["N", [*names], {"T${N}": {"Type": "x"}}]}

        top = {"Transform": "AWS::LanguageExtensions"}
        (found,) = review(loop("a"), loop("a", "b"), **top)
        assert (found.impact, found.effect.action) == (
            Impact.OPEN,
            "make a change set without executing it, and read what it says",
        )

    def test_leaves_properties_of_a_macro_to_their_text(self, impacts: Impacts) -> None:
        def given(name: str) -> Body:
            return {"R": {"Type": "AWS::SNS::Topic", "Properties": {"Fn::Transform": {"Name": name}}}}

        assert impacts(given("a"), given("b")) == {"R": "open"}

    def test_is_nothing_where_a_macro_is_written_alike(self, impacts: Impacts) -> None:
        given = {"R": {"Type": "AWS::SNS::Topic", "Properties": {"Fn::Transform": {"Name": "a"}}}}
        assert impacts(given, dict(given)) == {}


class TestWhatTheDeployDecides:
    """Values that wait for the deploy on both sides: alike where they are written alike, with all that they name."""

    MAPS: ClassVar[Body] = {"Sizes": {"prod": {"Count": 4}, "test": {"Count": 2}}}
    FOUND: ClassVar[Body] = {"Fn::FindInMap": ["Sizes", {"Ref": "Given"}, "Count"]}
    IF: ClassVar[Body] = {"Fn::If": ["Maybe", "a", "b"]}
    MAYBE: ClassVar[Body] = {"Maybe": {"Fn::Equals": [{"Ref": "Given"}, "x"]}}
    OTHER: ClassVar[Body] = {"Maybe": {"Fn::Equals": [{"Ref": "Given"}, "y"]}}

    def test_changes_with_the_map_that_it_names(self, of_templates: OfTemplates) -> None:
        base = {"Mappings": self.MAPS, "Resources": cluster(group(count=self.FOUND))}
        head = {**base, "Mappings": {**self.MAPS, "Sizes": {"prod": {"Count": 1}, "test": {"Count": 2}}}}
        assert of_templates(base, head) == {f"{GROUPS}.InstanceCount": "open"}
        assert of_templates(base, {**base, "Mappings": {**self.MAPS, "More": {"a": {"b": 1}}}}) == {}

    def test_changes_with_the_condition_that_it_names(self, of_templates: OfTemplates) -> None:
        base = {"Conditions": self.MAYBE, "Resources": resource("AWS::SNS::Topic", DisplayName=self.IF)}
        assert of_templates(base, {**base, "Conditions": self.OTHER}) == {"R.DisplayName": "in-place"}

    def test_changes_with_a_condition_behind_that(self, of_templates: OfTemplates) -> None:
        behind = {"Fn::Not": [{"Condition": "Other"}]}
        base = {
            "Conditions": {"Maybe": behind, "Other": self.MAYBE["Maybe"]},
            "Resources": resource("AWS::SNS::Topic", DisplayName=self.IF),
        }
        head = {**base, "Conditions": {"Maybe": behind, "Other": self.OTHER["Maybe"]}}
        assert of_templates(base, head) == {"R.DisplayName": "in-place"}

    def test_is_told_of_the_group_in_which_it_is(self, of_templates: OfTemplates) -> None:
        given = ({"Ref": "Given"}, {"Fn::Sub": "${Given}-2"})
        base, head = ({"Resources": cluster(group("a"), group(ExecutionRole=each, InstanceCount=4))} for each in given)
        assert of_templates(base, head) == {f"{GROUPS}.ExecutionRole": "open"}

    def test_is_told_beside_what_is_known(self, of_templates: OfTemplates) -> None:
        given = ({"Ref": "Given"}, {"Ref": "Count"})
        base, head = (
            {"Resources": cluster(group("a", count), group(ThreadsPerCore=each))}
            for count, each in zip((1, 2), given, strict=True)
        )
        assert of_templates(base, head) == {
            "R/a.InstanceGroups.InstanceCount": "in-place",
            f"{GROUPS}.ThreadsPerCore": "open",
        }

    def test_may_be_whether_a_resource_is_there(self, of_templates: OfTemplates) -> None:
        base = {"Conditions": self.MAYBE, "Resources": resource("AWS::S3::Bucket")}
        head = {**base, "Resources": resource("AWS::S3::Bucket", {"Condition": "Maybe"})}
        assert of_templates(base, head) == {"R.Condition": "open"}
        assert of_templates(head, base) == {"R.Condition": "open"}
        assert of_templates(head, {**head, "Conditions": self.OTHER}) == {"R.Condition": "open"}
        assert of_templates(head, head) == {}

    def test_is_nothing_where_a_condition_is_known_to_hold(self, of_templates: OfTemplates) -> None:
        always = {"Maybe": {"Fn::Equals": ["x", "x"]}}
        base = {"Conditions": always, "Resources": resource("AWS::S3::Bucket")}
        assert of_templates(base, {**base, "Resources": resource("AWS::S3::Bucket", {"Condition": "Maybe"})}) == {}


class TestSaying:
    def test_begins_with_capitals_only_where_a_name_does(self, review: Review) -> None:
        rule: Body = {"GroupId": "sg-1", "IpProtocol": "tcp"}
        (found,) = review(*(resource("AWS::EC2::SecurityGroupIngress", **rule, FromPort=each) for each in (1, 2)))
        assert found.effect.reason.startswith("CloudFormation makes a new resource")

    def test_puts_the_worst_first_and_otherwise_keeps_the_order(self, review: Review) -> None:
        def both(number: int) -> Body:
            return {
                "A": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": str(number)}},
                "B": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": str(number)}},
                "C": {"Type": "AWS::EKS::Cluster", "Properties": {"Version": f"1.{number}"}},
            }

        paths = [each.path for each in review(both(33), both(35))]
        assert paths == ["app.json/C", "app.json/A", "app.json/B"]

    def test_gives_the_command_only_with_a_name_that_a_stack_has(self, tmp_path: Path) -> None:
        one = {"Resources": resource("AWS::SNS::Topic")}
        for folder, names in (("base", "ab"), ("head", "a")):
            (tmp_path / folder).mkdir()
            for name in names:
                (tmp_path / folder / f"{name}.json").write_text(json.dumps(one), encoding="utf-8")
        base, head = (assembly.read(tmp_path / folder) for folder in ("base", "head"))
        (found,) = changes.of(Comparison(base=base, head=head))
        assert found.effect.action.endswith("`aws cloudformation delete-stack --stack-name STACK`")

    def test_passes_over_what_the_cdk_says_of_itself(self, tmp_path: Path) -> None:
        sides = []
        for name in ("base", "head"):
            metadata = {"Type": "AWS::CDK::Metadata", "Properties": {"Analytics": name}}
            sides.append(assembly.read(written(tmp_path / name, {"Resources": {"M": metadata}})))
        assert changes.of(Comparison(base=sides[0], head=sides[1])) == ()

    def test_has_a_verdict_for_every_impact(self) -> None:
        assert VERDICTS.keys() == set(Impact)
        assert set(VERDICTS.values()) == set(Verdict) - {Verdict.UNCHANGED}
