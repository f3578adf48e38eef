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
