from __future__ import annotations

import json
import re
from importlib import metadata
from pathlib import Path

import pytest

from hyperpod_constructs.findings import Severity
from tests.cli.conftest import BAD_LUSTRE, CLUSTER, Run, Says, assembly, finding


class TestExitCode:
    def test_is_0_without_errors(self, run: Run, rules_say: Says) -> None:
        rules_say(finding(Severity.WARNING), finding(Severity.INFO))
        assert run("check", "train.yaml", train_yaml=CLUSTER).code == 0

    @pytest.mark.parametrize("severity", [Severity.ERROR, Severity.FATAL])
    def test_is_1_with_one(self, run: Run, rules_say: Says, severity: Severity) -> None:
        rules_say(finding(Severity.WARNING), finding(severity))
        assert run("check", "train.yaml", train_yaml=CLUSTER).code == 1

    @pytest.mark.parametrize("form", ["text", "json", "sarif"])
    def test_is_the_same_in_every_format(self, run: Run, form: str) -> None:
        assert run("check", "fs.yaml", "--format", form, fs_yaml=BAD_LUSTRE).code == 1


class TestText:
    def test_has_rule_severity_message_fix_and_place(self, run: Run, rules_say: Says) -> None:
        rules_say(finding())
        lines = run("check", "train.yaml", train_yaml=CLUSTER).out.splitlines()
        assert lines[0] == "HP1001 error    train.yaml/Train/p5: 34 instances on a plan of 32"
        assert lines[1] == "                fix: use count=30".ljust(107) + "train.yaml:17"
        assert re.fullmatch(r"1 finding in \d+\.\d s: 1 error", lines[2])

    def test_ends_with_the_numbers_by_severity(self, run: Run, rules_say: Says) -> None:
        rules_say(finding(), finding(Severity.INFO), finding(Severity.WARNING), finding(Severity.FATAL), finding())
        last = run("check", "train.yaml", train_yaml=CLUSTER).out.splitlines()[-1]
        assert re.fullmatch(r"5 findings in \d+\.\d s: 1 fatal error, 2 errors, 1 warning, 1 info", last)

    def test_without_findings_is_one_line(self, run: Run, rules_say: Says) -> None:
        rules_say()
        assert re.fullmatch(r"0 findings in \d+\.\d s\n", run("check", "train.yaml", train_yaml=CLUSTER).out)

    def test_is_wrapped_at_120_columns_without_breaking_words(self, run: Run, rules_say: Says) -> None:
        name = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/" + "x" * 90
        rules_say(finding(message=f"{'many words ' * 30}{name}", fix="and words " * 30, file="f" * 110))
        lines = run("check", "train.yaml", train_yaml=CLUSTER).out.splitlines()
        assert any(name in line for line in lines)
        assert [line for line in lines if len(line) > 120 and name not in line and "fff" not in line] == []

    def test_gives_the_place_a_line_of_its_own_where_the_fix_leaves_no_room(self, run: Run, rules_say: Says) -> None:
        rules_say(finding(fix="x" * 90))
        lines = run("check", "train.yaml", train_yaml=CLUSTER).out.splitlines()
        assert lines[2] == "train.yaml:17".rjust(120)

    def test_writes_control_characters_out(self, run: Run, rules_say: Says) -> None:
        rules_say(finding(message="name \x1b[2J\x07 here\nand there", file="a\x1b.yaml"))
        out = run("check", "train.yaml", train_yaml=CLUSTER).out
        assert "\x1b" not in out
        assert r"name \x1b[2J\x07 here and there" in out
        assert r"a\x1b.yaml:17" in out

    def test_has_no_colour_outside_a_terminal(self, run: Run, rules_say: Says) -> None:
        rules_say(finding())
        assert "\x1b" not in run("check", "train.yaml", train_yaml=CLUSTER).out


class TestJson:
    def test_has_exactly_the_documented_keys(self, run: Run, rules_say: Says) -> None:
        rules_say(finding())
        assert run("check", "train.yaml", "--format", "json", train_yaml=CLUSTER).data == {
            "findings": [
                {
                    "rule": "HP1001",
                    "severity": "error",
                    "path": "train.yaml/Train/p5",
                    "file": "train.yaml",
                    "line": 17,
                    "message": "34 instances on a plan of 32",
                    "fix": "use count=30",
                    "source": "SageMaker developer guide",
                }
            ]
        }

    def test_knows_three_severities(self, run: Run, rules_say: Says) -> None:
        rules_say(*(finding(severity) for severity in Severity))
        found = run("check", "train.yaml", "--format", "json", train_yaml=CLUSTER).data["findings"]
        assert [item["severity"] for item in found] == ["error", "error", "warning", "info"]

    def test_is_the_same_every_time(self, run: Run) -> None:
        first = run("check", "fs.yaml", "--format", "json", fs_yaml=BAD_LUSTRE)
        assert first.out == run("check", "fs.yaml", "--format", "json").out

    def test_keeps_the_order_of_file_and_line(self, run: Run) -> None:
        both = BAD_LUSTRE + BAD_LUSTRE.replace("Scratch", "Earlier").replace("Resources:\n", "")
        found = run("check", "fs.yaml", "--format", "json", fs_yaml=both).data["findings"]
        lines = [item["line"] for item in found]
        assert len({item["path"].partition("/")[2] for item in found}) == 2
        assert lines == sorted(lines)


class TestWhatItFinds:
    def test_a_mistake_in_a_template_with_its_line(self, run: Run) -> None:
        found = run("check", "fs.yaml", "--format", "json", fs_yaml=BAD_LUSTRE).data["findings"]
        (lustre,) = [item for item in found if item["rule"] == "HP3001"]
        assert (lustre["severity"], lustre["file"], lustre["line"]) == ("error", "fs.yaml", 2)

    def test_a_mistake_in_a_create_cluster_request(self, run: Run) -> None:
        group = {"InstanceGroupName": "p5", "InstanceType": "p5.48xlarge", "InstanceCount": 1, "ExecutionRole": "arn"}
        request = json.dumps({"ClusterName": "train", "InstanceGroups": [group]})
        result = run("check", "create.json", "--format", "json", create_json=request)
        assert result.code == 1
        assert "use ml.p5.48xlarge" in [item["fix"] for item in result.data["findings"]]

    def test_says_when_there_is_no_cluster_to_check(self, run: Run) -> None:
        result = run("check", "bucket.yaml", bucket_yaml="Resources: {B: {Type: 'AWS::S3::Bucket'}}")
        assert "bucket.yaml: has no AWS::SageMaker::Cluster, so there is no cluster to check" in result.err


NESTING = (
    CLUSTER
    + """\
  Vpc:
    Type: AWS::CloudFormation::Stack
    Properties: {TemplateURL: https://bucket.s3.amazonaws.com/vpc.yaml}
"""
)


class TestWhatItCouldNotSee:
    @pytest.mark.parametrize("form", ["text", "json", "sarif"])
    def test_is_in_every_format_and_not_on_standard_error(self, run: Run, form: str) -> None:
        result = run("check", "main.yaml", "--format", form, main_yaml=NESTING)
        assert (result.code, result.err) == (0, "")
        assert "HP0101" in result.out
        assert "not checked: the template of this nested stack, vpc.yaml, was not found" in result.out

    def test_a_nested_stack_whose_template_is_elsewhere_has_its_line(self, run: Run) -> None:
        found = run("check", "main.yaml", "--format", "json", main_yaml=NESTING).data["findings"]
        (nested,) = [item for item in found if item["rule"] == "HP0101"]
        assert (nested["severity"], nested["path"]) == ("warning", "main.yaml/Vpc")
        assert (nested["file"], nested["line"]) == ("main.yaml", NESTING.splitlines().index("  Vpc:") + 1)

    def test_what_only_cloudformation_can_expand_has_its_line(self, run: Run) -> None:
        loop = CLUSTER + "  Fn::ForEach::More: [X, [a], {'G${X}': {Type: 'AWS::S3::Bucket'}}]\n"
        found = run("check", "train.yaml", "--format", "json", train_yaml=loop).data["findings"]
        (macro,) = [item for item in found if item["rule"] == "HP0102"]
        assert (macro["severity"], macro["path"]) == ("warning", "train.yaml/Fn::ForEach::More")
        assert (macro["file"], macro["line"]) == ("train.yaml", len(loop.splitlines()))

    def test_a_file_of_a_folder_that_is_no_template_is_named(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "package.json").write_text('{"name": "x"}')  # no word of clusters: nobody takes it for one
        (tmp_path / "describe.json").write_text('{"ClusterArn": "x", "ClusterStatus": "InService"}')
        found = run("check", ".", "--format", "json", train_yaml=CLUSTER).data["findings"]
        (skipped,) = [item for item in found if item["rule"] == "HP0103"]
        assert (skipped["severity"], skipped["path"], skipped["file"]) == ("warning", "describe.json", "describe.json")
        assert skipped["message"].startswith("not checked: this file is what `describe-cluster` prints")

    def test_a_template_in_a_sub_folder_is_named_unless_it_is_nobodys(self, run: Run, tmp_path: Path) -> None:
        for folder in ("deep/er", "node_modules/x", ".hidden"):
            (tmp_path / folder).mkdir(parents=True)
            (tmp_path / folder / "net.yaml").write_text("Resources: {}\n")
        found = run("check", ".", "--format", "json", train_yaml=CLUSTER).data["findings"]
        said = [(item["path"], item["message"]) for item in found if item["rule"] == "HP0103"]
        assert said == [("deep/er", "not checked: this sub-folder has 1 template (net.yaml)")]


CONDITIONAL = (
    "Parameters: {Env: {Type: String, AllowedValues: [dev, prod], Default: dev}}\n"
    "Conditions: {Prod: !Equals [!Ref Env, prod]}\n"
    + CLUSTER.replace("SageMaker::Cluster", "SageMaker::Cluster\n    Condition: Prod")
)


class TestParameters:
    def test_a_cluster_that_the_defaults_leave_out_is_not_taken_for_checked(self, run: Run) -> None:
        result = run("check", "t.yaml", "--format", "json", t_yaml=CONDITIONAL)
        (found,) = [item for item in result.data["findings"] if item["rule"] == "HP0102"]
        assert found["message"] == "not checked: the condition Prod (Env = 'dev') leaves this cluster out"
        assert "no AWS::SageMaker::Cluster" not in result.err

    @pytest.mark.parametrize(
        "form", ['[{"ParameterKey": "Env", "ParameterValue": "prod"}]', '{"Parameters": {"Env": "prod"}}']
    )
    def test_given_ones_decide_conditions(self, run: Run, tmp_path: Path, form: str) -> None:
        (tmp_path / "given.txt").write_text(form)
        for option in (("--parameter", "Env=prod"), ("--parameters", "given.txt")):
            result = run("check", "t.yaml", *option, "--format", "json", t_yaml=CONDITIONAL)
            assert "HP0102" not in result.out
            assert result.err == ""

    @pytest.mark.parametrize(
        ("given", "said"), [("Env=test", "the template allows dev, prod"), ("Evn=prod", "there are: Env")]
    )
    def test_that_no_template_takes_are_refused(self, run: Run, given: str, said: str) -> None:
        result = run("check", "t.yaml", "--parameter", given, t_yaml=CONDITIONAL)
        assert result.code == 2
        assert said in result.err


class TestTheTemplateOfAws:
    """AWS's own stack template for EKS clusters: all of its parts are nested stacks that lie in a bucket of AWS."""

    @pytest.fixture
    def template(self) -> Path:
        files = metadata.files("hyperpod-cluster-stack-template") or []
        (file,) = [file for file in files if file.name == "creation_template.yaml"]
        return Path(str(file.locate()))

    def test_is_read_and_its_nested_stacks_are_named_as_not_checked(self, run: Run, template: Path) -> None:
        result = run("check", str(template), "--region", "us-west-2", "--format", "json")
        assert result.code == 0
        assert [(item["rule"], item["path"].partition("/")[2]) for item in result.data["findings"]] == [
            ("HP0101", name)
            for name in (
                "VPCStack",
                "PrivateSubnetStack",
                "SecurityGroupStack",
                "EKSClusterStack",
                "S3BucketStack",
                "S3EndpointStack",
                "LifeCycleScriptStack",
                "SageMakerIAMRoleStack",
                "HelmChartStack",
                "HyperPodClusterStack",
                "FsxStack",
            )
        ]
        assert "hyperpod-cluster-template.yaml, was not found" in result.out
        assert result.err.endswith("has no AWS::SageMaker::Cluster, so there is no cluster to check\n")


TEMPLATE = {
    "Resources": {
        "Scratch": {
            "Type": "AWS::FSx::FileSystem",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {"FileSystemType": "LUSTRE", "StorageCapacity": 3000},
            "Metadata": {"aws:cdk:path": "Train/Scratch"},
        }
    }
}


def accepts(rule: str, at: str = "/Train") -> dict[str, object]:
    return {at: [{"type": "aws:cdk:acknowledged-rules", "data": {rule: "bought before the rule"}}]}


class TestAcknowledged:
    def test_does_not_count_and_is_listed_with_its_reason(self, run: Run, rules_say: Says, tmp_path: Path) -> None:
        rules_say(finding(path="Train/Scratch", rule="HP3001"))
        assembly(tmp_path / "cdk.out", TEMPLATE, **{"Train.metadata": accepts("HyperPod::HP3001")})
        result = run("check", "cdk.out")
        lines = result.out.splitlines()
        assert result.code == 0
        assert lines[:2] == [
            "acknowledged by the app:",
            "HP3001 error    Train/Scratch: 34 instances on a plan of 32",
        ]
        assert lines[2].startswith("                reason: bought before the rule")
        assert re.fullmatch(r"0 findings in \d+\.\d s: 1 acknowledged", lines[-1])

    def test_stands_apart_in_json(self, run: Run, rules_say: Says, tmp_path: Path) -> None:
        rules_say(finding(path="Train/Scratch", rule="HP3001"))
        assembly(tmp_path / "cdk.out", TEMPLATE, **{"Train.metadata": accepts("HyperPod::HP3001")})
        data = run("check", "cdk.out", "--format", "json").data
        assert data["findings"] == []
        assert [(a["rule"], a["reason"]) for a in data["acknowledged"]] == [("HP3001", "bought before the rule")]

    def test_fatal_ones_always_count(self, run: Run, rules_say: Says, tmp_path: Path) -> None:
        rules_say(finding(Severity.FATAL, path="Train/Scratch", rule="HP3001"))
        assembly(tmp_path / "cdk.out", TEMPLATE, **{"Train.metadata": accepts("HyperPod::HP3001")})
        assert run("check", "cdk.out").code == 1

    @pytest.mark.parametrize(
        ("rule", "at"),
        [("HP3001", "/Train"), ("HyperPod::HP3001[detail]", "/Train"), ("HyperPod::HP3001", "/Train/Other")],
    )
    def test_needs_the_plugin_s_prefix_the_whole_id_and_the_place(
        self, run: Run, rules_say: Says, tmp_path: Path, rule: str, at: str
    ) -> None:
        rules_say(finding(path="Train/Scratch", rule="HP3001"))
        assembly(tmp_path / "cdk.out", TEMPLATE, **{"Train.metadata": accepts(rule, at)})
        assert run("check", "cdk.out").code == 1


def report(conclusion: str, *violations: dict[str, object]) -> dict[str, object]:
    return {"pluginReports": [{"pluginName": "HyperPod", "conclusion": conclusion, "violations": list(violations)}]}


REFUSED = report("failure", {"ruleName": "HP1107", "description": "too many", "severity": "error"})


class TestARefusedAssembly:
    def test_is_said_first_and_fails_though_nothing_else_is_wrong(
        self, run: Run, rules_say: Says, tmp_path: Path
    ) -> None:
        rules_say()
        assembly(tmp_path / "cdk.out", TEMPLATE, validation_report=REFUSED)
        result = run("check", "cdk.out", "--format", "json")
        (found,) = result.data["findings"]
        assert result.code == 1
        assert (found["rule"], found["severity"], found["path"]) == ("HP0000", "error", "cdk.out")
        assert found["message"] == (
            "the app that wrote this folder was refused by its own checks (HyperPod: HP1107): it must not be deployed"
        )

    def test_comes_before_every_other_finding(self, run: Run, rules_say: Says, tmp_path: Path) -> None:
        rules_say(finding(file="a"))
        assembly(tmp_path / "cdk.out", TEMPLATE, validation_report=REFUSED)
        assert run("check", "cdk.out").out.startswith("HP0000 fatal    cdk.out: the app that wrote this folder")

    def test_says_when_a_plugin_crashed(self, run: Run, rules_say: Says, tmp_path: Path) -> None:
        rules_say()
        assembly(tmp_path / "cdk.out", TEMPLATE, validation_report=report("failure"))
        assert "(HyperPod: it did not run to its end)" in run("check", "cdk.out", "--format", "json").out

    def test_says_what_a_plugin_that_crashed_had_to_say(self, run: Run, rules_say: Says, tmp_path: Path) -> None:
        rules_say()
        crashed = {
            "pluginName": "Other",
            "conclusion": "failure",
            "violations": [],
            "metadata": {"error": "Validation plugin 'Other' failed: boom"},
        }
        assembly(tmp_path / "cdk.out", TEMPLATE, validation_report={"pluginReports": [crashed]})
        assert "(Other: Validation plugin 'Other' failed: boom)" in run("check", "cdk.out", "--format", "json").out

    def test_with_warnings_alone_is_not_refused(self, run: Run, rules_say: Says, tmp_path: Path) -> None:
        rules_say()
        warned = report("success", {"ruleName": "HP3012", "description": "x", "severity": "warning"})
        assembly(tmp_path / "cdk.out", TEMPLATE, validation_report=warned)
        assert run("check", "cdk.out").code == 0
