from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import BAD_LUSTRE, CLUSTER, Run, assembly
from tests.cli.test_check import REFUSED, TEMPLATE

EVERYTHING = CLUSTER + BAD_LUSTRE.replace("Resources:\n", "")


class TestText:
    def test_begins_with_the_sum_and_says_when_it_is_an_estimate(self, run: Run) -> None:
        result = run("cost", "train.yaml", "--region", "us-east-1", train_yaml=CLUSTER)
        assert result.code == 0
        # 4 x 66.048 (HyperPod's price) + 0.768 x 1.20 (EC2's m5.4xlarge)
        assert result.out.splitlines()[0] == "265.11 USD/h (estimate); 730 h a month: 193,533 USD"

    def test_has_a_line_for_each_item_with_the_number_of_its_source(self, run: Run) -> None:
        lines = run("cost", "train.yaml", "--region", "us-east-1", train_yaml=EVERYTHING).out.splitlines()
        assert [line.split()[:3] for line in lines[1:4]] == [
            ["0.92", "1", "x"],
            ["264.19", "4", "x"],
            ["0.86", "3,000", "GiB"],
        ]
        assert lines[2].endswith("[2]")
        assert any(line.startswith("  [2] HyperPod price list") and line.endswith("as of 2026-10") for line in lines)

    def test_says_what_every_total_leaves_out(self, run: Run) -> None:
        out = run("cost", "train.yaml", "--region", "us-east-1", train_yaml=CLUSTER).out
        assert "left out of every total: NAT gateways, endpoints, data transfer, " in out

    def test_without_a_region_is_not_known_and_says_how_to_give_one(self, run: Run) -> None:
        result = run("cost", "train.yaml", train_yaml=CLUSTER)
        assert result.code == 0
        assert result.out.startswith("not known: 2 items not priced\n")
        assert "give the Region with --region, for example --region us-west-2" in result.out

    def test_nothing_found_is_not_called_free(self, run: Run) -> None:
        out = run("cost", "bucket.yaml", bucket_yaml="Resources: {B: {Type: 'AWS::S3::Bucket'}}").out
        assert out.startswith("nothing that is paid by the hour was found\n")
        assert "0.00" not in out

    def test_what_is_not_priced_is_part_of_the_sum_s_line(self, run: Run) -> None:
        out = run("cost", "train.yaml", "--region", "us-east-1", train_yaml=CLUSTER.replace("m5.4x", "m99.4x")).out
        assert out.startswith("264.19 USD/h (without 1 item not priced); ")


class TestJson:
    def test_has_the_sum_its_parts_and_what_is_missing(self, run: Run) -> None:
        data = run("cost", "train.yaml", "--region", "us-east-1", "--format", "json", train_yaml=CLUSTER).data
        assert (data["usd_per_hour"], data["estimate"], data["complete"]) == (265.1136, True, True)
        assert [item["usd_per_hour"] for item in data["metered"]] == [0.9216, 264.192]
        assert set(data["metered"][0]) == {
            "path", "item", "quantity", "unit", "usd_each", "usd_per_hour", "source", "as_of", "estimate",
        }  # fmt: skip
        assert (data["prepaid"], data["not_priced"]) == ([], [])

    def test_has_no_sum_where_nothing_has_a_price(self, run: Run) -> None:
        data = run("cost", "train.yaml", "--format", "json", train_yaml=CLUSTER).data
        assert (data["usd_per_hour"], data["complete"]) == (None, False)
        assert {item["why"] for item in data["not_priced"]} == {"the Region is not known"}


class TestWhatItCouldNotSee:
    NESTING = CLUSTER + "  Vpc: {Type: 'AWS::CloudFormation::Stack', Properties: {TemplateURL: 'https://b/vpc.yaml'}}\n"

    def test_makes_the_cost_incomplete_and_is_said(self, run: Run) -> None:
        result = run("cost", "a.yaml", "--region", "us-east-1", "--format", "json", a_yaml=self.NESTING)
        assert result.data["complete"] is False
        assert result.err == "hyperpod: note: a.yaml/Vpc: was not seen, so what it makes is in none of these numbers\n"

    def test_is_no_matter_where_it_is_no_template(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "package.json").write_text('{"name": "x"}')
        result = run("cost", ".", "--region", "us-east-1", "--format", "json", a_yaml=CLUSTER)
        assert (result.data["complete"], result.err) == (True, "")


NOVA = "[{InstanceGroupName: nova, InstanceType: ml.p5.48xlarge, InstanceCount: 2, ExecutionRole: r}]"
RESTRICTED = CLUSTER.replace("InstanceGroups:", f"RestrictedInstanceGroups: {NOVA}\n      InstanceGroups:")


class TestRestrictedGroups:
    def test_cost_what_their_type_costs(self, run: Run) -> None:
        data = run("cost", "a.yaml", "--region", "us-east-1", "--format", "json", a_yaml=RESTRICTED).data
        assert (data["usd_per_hour"], data["complete"]) == (265.1136 + 2 * 66.048, True)

    def test_of_unknown_size_make_the_cost_incomplete(self, run: Run) -> None:
        text = RESTRICTED.replace("InstanceCount: 2", "InstanceCount: !Ref AWS::StackName")
        data = run("cost", "a.yaml", "--region", "us-east-1", "--format", "json", a_yaml=text).data
        assert (data["usd_per_hour"], data["complete"]) == (265.1136, False)
        assert [each["path"] for each in data["not_priced"]] == ["a.yaml/Train/nova"]

    def test_that_are_known_only_at_deploy_may_be_there(self, run: Run) -> None:
        text = RESTRICTED.replace(NOVA, "{'Fn::Transform': {Name: M}}")
        assert run("cost", "a.yaml", "--region", "us-east-1", "--format", "json", a_yaml=text).data["complete"] is False

    @pytest.mark.parametrize("groups", ["[]", "null", "!Ref AWS::NoValue"])
    def test_that_are_none_change_nothing(self, run: Run, groups: str) -> None:
        text = RESTRICTED.replace(NOVA, groups)
        assert run("cost", "a.yaml", "--region", "us-east-1", "--format", "json", a_yaml=text).data["complete"] is True

    def test_of_a_request_count_too(self, run: Run) -> None:
        request = '{"ClusterName": "nova", "RestrictedInstanceGroups": [{"InstanceGroupName": "r"}]}'
        result = run("cost", "a.json", "--region", "us-east-1", a_json=request)
        assert result.out.startswith("not known: 1 item not priced\n")
        assert "a.json/nova/r" in result.out


class TestConditions:
    EITHER = (
        "Parameters: {E: {Type: String}}\n"
        "Conditions: {A: !Equals [!Ref E, a], Never: !Equals [a, b]}\n"
        + EVERYTHING.replace("AWS::SageMaker::Cluster", "AWS::SageMaker::Cluster\n    Condition: A")
        + "  Other: {Type: 'AWS::S3::Bucket', Condition: A}\n"
        + "  Gone: {Type: 'AWS::FSx::FileSystem', Condition: Never}\n"
    )

    def test_that_nobody_can_decide_are_counted_and_it_is_said(self, run: Run) -> None:
        result = run("cost", "a.yaml", "--region", "us-east-1", a_yaml=self.EITHER)
        assert result.out.startswith("265.98 USD/h")
        assert (
            "counted in every total, though a condition decides at deploy whether it is made: a.yaml/Train\n"
            in result.out
        )
        data = run("cost", "a.yaml", "--format", "json").data
        assert data["conditional"] == ["a.yaml/Train"]

    def test_that_are_absent_are_not_mentioned(self, run: Run) -> None:
        assert "condition" not in run("cost", "a.yaml", "--region", "us-east-1", a_yaml=EVERYTHING).out


def test_what_a_template_maps_by_region_is_known_where_the_region_is_given(run: Run) -> None:
    mapped = "Mappings: {Types: {us-east-1: {gpu: ml.p5.48xlarge}}}\n" + CLUSTER.replace(
        "InstanceType: ml.p5.48xlarge", "InstanceType: !FindInMap [Types, !Ref AWS::Region, gpu]"
    )
    assert run("cost", "a.yaml", "--region", "us-east-1", a_yaml=mapped).out.startswith("265.11 USD/h (estimate);")


def test_a_file_system_without_a_cluster_stands_in_the_region_given(run: Run) -> None:
    out = run("cost", "fs.yaml", "--region", "us-west-2", fs_yaml=BAD_LUSTRE).out
    assert out.startswith("0.86 USD/h (estimate); ")
    assert "Region is not known" not in out


class TestARefusedAssembly:
    @pytest.mark.parametrize("verb", ["cost", "summary"])
    def test_is_not_priced_or_summed_up(self, run: Run, tmp_path: Path, verb: str) -> None:
        assembly(tmp_path / "cdk.out", TEMPLATE, validation_report=REFUSED)
        result = run(verb, "cdk.out")
        assert (result.code, result.out) == (1, "")
        assert result.err.splitlines()[-1] == (
            "hyperpod: cdk.out: the app that wrote this folder was refused by its own checks (HyperPod: HP1107): "
            "it must not be deployed; correct what the checks name, then synthesize again"
        )


class TestWhatADestroyLeaves:
    def test_is_named_with_its_price_because_nobody_else_will_delete_it(self, run: Run) -> None:
        result = run("cost", "train.yaml", "--region", "us-east-1", train_yaml=EVERYTHING)
        (line,) = [line for line in result.out.splitlines() if line.startswith("kept and paid for after a destroy: ")]
        assert line.endswith(" USD a month")
        assert "train.yaml/Scratch" in line

    def test_is_nothing_where_all_goes_with_the_stack(self, run: Run) -> None:
        gone = EVERYTHING.replace("RetainExceptOnCreate", "Delete")
        result = run("cost", "train.yaml", "--region", "us-east-1", "--format", "json", train_yaml=gone)
        assert result.data["kept"] == []
