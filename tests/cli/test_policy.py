from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperpod_constructs.planning.permissions.documents import LIMIT
from tests.cli.conftest import CLUSTER, Run, assembly
from tests.cli.test_check import REFUSED, TEMPLATE

KEYED = """\
Resources:
  Topic:
    Type: AWS::SNS::Topic
    Properties: {KmsMasterKeyId: "arn:aws:kms:us-west-2:444455556666:key/0123"}
"""
UNKNOWN = "Resources: {W: {Type: 'AWS::Athena::WorkGroup', Properties: {Name: w}}}"


class TestExecution:
    def test_prints_each_policy_with_its_length_and_the_reason_of_each_statement(self, run: Run) -> None:
        result = run("policy", "train.yaml", "--region", "us-west-2", train_yaml=CLUSTER)
        lines = result.out.splitlines()
        assert result.code == 0
        assert lines[0] == "1 policy for the role that CloudFormation deploys with, in place of AdministratorAccess"
        assert lines[1].startswith("execution (")
        assert lines[1].endswith(f" of {LIMIT:,} characters)")
        assert "  Sagemaker: AWS::SageMaker::Cluster" in lines
        assert (
            "  aws iam create-policy --policy-name NAME --policy-document file://DIR/execution.json  for each file"
            in lines
        )

    def test_as_json_has_the_documents_as_iam_takes_them(self, run: Run) -> None:
        data = run("policy", "train.yaml", "--format", "json", train_yaml=CLUSTER).data
        assert set(data) == {"documents", "unknown", "notes"}
        (document,) = data["documents"]
        assert set(document) == {"name", "characters", "document", "why"}
        assert document["document"]["Version"] == "2012-10-17"
        assert set(document["why"]) == {each["Sid"] for each in document["document"]["Statement"]}

    def test_writes_a_file_for_each_policy(self, run: Run) -> None:
        result = run("policy", "train.yaml", "--output", "out/policies", train_yaml=CLUSTER)
        assert (result.code, result.out) == (0, "")
        assert result.err == "hyperpod: note: wrote 1 file to out/policies\n"
        written = json.loads(Path("out/policies/execution.json").read_text())
        assert written["Statement"]

    def test_parts_of_an_earlier_run_are_removed_and_other_files_are_not(self, run: Run) -> None:
        folder = Path("out")
        folder.mkdir()
        for name in ("execution-9.json", "execution-notes.json", "operator-9.json"):
            (folder / name).write_text("{}")
        result = run("policy", "train.yaml", "--output", "out", train_yaml=CLUSTER)
        assert sorted(each.name for each in folder.iterdir()) == [
            "execution-notes.json",
            "execution.json",
            "operator-9.json",
        ]
        assert "removed out/execution-9.json, of an earlier run" in result.err

    def test_a_type_without_known_permissions_is_exit_1_and_said(self, run: Run) -> None:
        result = run("policy", "w.yaml", w_yaml=UNKNOWN)
        assert result.code == 1
        assert "note: AWS::Athena::WorkGroup: its permissions are not in our data" in result.out


class TestOptions:
    def test_keys_prints_a_statement_for_each_grantee_and_why(self, run: Run) -> None:
        result = run("policy", "topic.yaml", "--keys", topic_yaml=KEYED)
        assert result.code == 0
        assert result.out.startswith("key arn:aws:kms:us-west-2:444455556666:key/0123: add to its policy\n")
        assert "budgets.amazonaws.com, for topic.yaml/Topic: a service that cannot use the key" in result.out

    def test_keys_as_json(self, run: Run) -> None:
        data = run("policy", "topic.yaml", "--keys", "--format", "json", topic_yaml=KEYED).data
        assert set(data["keys"][0]) == {"key", "grantee", "used_by", "why", "statement"}

    def test_keys_without_an_imported_key_says_that_there_is_nothing_to_do(self, run: Run) -> None:
        result = run("policy", "train.yaml", "--keys", train_yaml=CLUSTER)
        assert result.out == "no imported key encrypts anything: there is no statement to add\n"

    def test_preflight_needs_no_path(self, run: Run) -> None:
        data = run("policy", "--preflight", "--format", "json").data
        statements = [each for document in data["documents"] for each in document["document"]["Statement"]]
        assert {each["Effect"] for each in statements} == {"Allow"}
        assert any("ec2:DescribeSubnets" in each["Action"] for each in statements)

    def test_personas_says_what_each_may_and_may_not(self, run: Run) -> None:
        result = run("policy", "train.yaml", "--personas", train_yaml=CLUSTER)
        lines = result.out.splitlines()
        assert result.code == 0
        assert [line for line in lines if line in {"administrator", "operator", "researcher"}] == [
            "administrator",
            "operator",
            "researcher",
        ]
        assert "  may not add or remove nodes, update their software, or change the cluster" in lines
        assert any(line.startswith("note: UNVERIFIED: ") for line in lines)

    def test_personas_writes_two_files_for_each(self, run: Run) -> None:
        run("policy", "train.yaml", "--personas", "--output", "out", train_yaml=CLUSTER)
        assert len(list(Path("out").glob("*.json"))) == 6

    def test_personas_as_json(self, run: Run) -> None:
        data = run("policy", "train.yaml", "--personas", "--format", "json", train_yaml=CLUSTER).data
        assert set(data) == {"personas", "notes"}
        assert set(data["personas"][0]) == {"name", "may", "may_not", "documents"}

    def test_personas_without_a_cluster_is_exit_1(self, run: Run) -> None:
        result = run("policy", "topic.yaml", "--personas", topic_yaml=KEYED)
        assert result.code == 1
        assert "has no AWS::SageMaker::Cluster" in result.err


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("policy",), "hyperpod: name PATH: only --preflight does without\n"),
            (("policy", "x.yaml", "--keys", "--output", "o"), "so there is nothing for --output\n"),
            (("policy", "missing.yaml"), "hyperpod: missing.yaml: there is no such file\n"),
            (("policy", "x.yaml", "--keys", "--personas"), "not allowed with argument --keys\n"),
        ],
    )
    def test_is_one_clear_line_and_exit_2(self, run: Run, arguments: tuple[str, ...], said: str) -> None:
        result = run(*arguments)
        assert (result.code, result.out) == (2, "")
        assert result.err.endswith(said)

    def test_a_folder_that_cannot_be_written_is_named(self, run: Run) -> None:
        result = run("policy", "train.yaml", "--output", "train.yaml", train_yaml=CLUSTER)
        assert (result.code, result.err) == (2, "hyperpod: train.yaml: File exists\n")

    def test_a_refused_app_gets_no_policy(self, run: Run, tmp_path: Path) -> None:
        folder = assembly(tmp_path / "cdk.out", TEMPLATE, validation_report=REFUSED)
        result = run("policy", str(folder))
        assert (result.code, result.out) == (1, "")
