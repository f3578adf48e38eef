"""What each persona may and may not do, as IAM would decide it on the documents that are handed out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.planning.permissions import personas
from hyperpod_constructs.planning.permissions.documents import LIMIT
from hyperpod_constructs.planning.permissions.personas import Persona
from tests.planning.permissions.evaluator import allows
from tests.planning.permissions.read import ACCOUNT, cluster, group, resource, stack

NAMES = ("administrator", "operator", "researcher")
CLUSTER = f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:cluster/0123456789ab"
LOGS = f"arn:aws:logs:us-west-2:{ACCOUNT}:log-group:/aws/sagemaker/Clusters/frontier/0123:log-stream:p5"
DATA = "arn:aws:s3:::corpus/en/part-0"
DOCUMENT = f"arn:aws:ssm:us-west-2:{ACCOUNT}:document/SSM-SessionManagerRunShell"
OF_AWS = "arn:aws:ssm:us-west-2::document/AWS-Start"
BOOTSTRAP = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/cdk-bootstrap/acme/version"}


def read(folder: Path, **more: Any) -> Assembly:
    """A Slurm cluster with a login group, and Lustre that is linked to a part of a bucket."""
    made = {
        "C": cluster(group(), group("login", SlurmConfig={"NodeType": "Login"})),
        "Link": resource("AWS::FSx::DataRepositoryAssociation", DataRepositoryPath="s3://corpus/en/", FileSystemId="f"),
    }
    return stack(folder, {**made, **more}, Parameters={"BootstrapVersion": BOOTSTRAP})


@pytest.fixture
def people(tmp_path: Path) -> dict[str, Persona]:
    """Every persona by name."""
    return {each.name: each for each in personas.of(read(tmp_path)).personas}


MAY: list[tuple[str, str, str, dict[str, str]]] = [
    # who may: first letters of the personas
    ("aor", "ssm:StartSession", CLUSTER, {}),
    ("aor", "ssm:StartSession", DOCUMENT, {}),
    ("aor", "ssm:StartSession", OF_AWS + "SSHSession", {}),
    ("ao", "ssm:StartSession", OF_AWS + "PortForwardingSession", {}),
    ("ao", "ssm:StartSession", OF_AWS + "InteractiveCommand", {}),
    ("", "ssm:StartSession", f"arn:aws:ec2:us-west-2:{ACCOUNT}:instance/i-0123", {}),
    ("", "ssm:StartSession", CLUSTER.replace("us-west-2", "eu-north-1"), {}),
    ("", "ssm:SendCommand", CLUSTER, {}),
    ("aor", "ssm:TerminateSession", f"arn:aws:ssm:us-west-2:{ACCOUNT}:session/AROA:me-0a1b", {}),
    ("", "ssm:TerminateSession", f"arn:aws:ssm:us-west-2:{ACCOUNT}:session/AROA:you-0a1b", {}),
    ("aor", "sagemaker:DescribeCluster", CLUSTER, {}),
    ("aor", "sagemaker:ListClusterNodes", CLUSTER, {}),
    ("ao", "sagemaker:ListClusterEvents", CLUSTER, {}),
    ("ao", "sagemaker:BatchRebootClusterNodes", CLUSTER, {}),
    ("ao", "sagemaker:BatchReplaceClusterNodes", CLUSTER, {}),
    ("a", "sagemaker:BatchAddClusterNodes", CLUSTER, {}),
    ("a", "sagemaker:BatchDeleteClusterNodes", CLUSTER, {}),
    ("a", "sagemaker:UpdateClusterSoftware", CLUSTER, {}),
    ("", "sagemaker:UpdateCluster", CLUSTER, {}),
    ("", "sagemaker:DeleteCluster", CLUSTER, {}),
    ("", "sagemaker:CreateCluster", CLUSTER, {}),
    ("ao", "logs:GetLogEvents", LOGS, {}),
    ("", "logs:DeleteLogGroup", LOGS, {}),
    ("ar", "s3:GetObject", DATA, {}),
    ("ar", "s3:ListBucket", "arn:aws:s3:::corpus", {}),
    ("a", "s3:PutObject", DATA, {}),
    ("a", "s3:DeleteObject", DATA, {}),
    ("", "s3:GetObject", "arn:aws:s3:::corpus/fr/part-0", {}),
    ("", "s3:GetObject", "arn:aws:s3:::payroll/2026", {}),
    ("", "s3:DeleteBucket", "arn:aws:s3:::corpus", {}),
    ("ar", "kms:Decrypt", f"arn:aws:kms:us-west-2:{ACCOUNT}:key/1", {"kms__ViaService": "s3.us-west-2.amazonaws.com"}),
    ("", "kms:Decrypt", f"arn:aws:kms:us-west-2:{ACCOUNT}:key/1", {}),
    ("a", "sts:AssumeRole", f"arn:aws:iam::{ACCOUNT}:role/cdk-acme-deploy-role-{ACCOUNT}-us-west-2", {}),
    ("", "sts:AssumeRole", f"arn:aws:iam::{ACCOUNT}:role/Admin", {}),
    ("", "iam:PassRole", f"arn:aws:iam::{ACCOUNT}:role/nodes", {}),
    ("", "iam:PutRolePolicy", f"arn:aws:iam::{ACCOUNT}:role/nodes", {}),
]


@pytest.mark.parametrize(
    ("who", "action", "arn", "keys"), MAY, ids=[f"{action}-{arn[-24:]}" for _, action, arn, _ in MAY]
)
def test_each_may_do_this_and_nobody_else(
    people: dict[str, Persona], who: str, action: str, arn: str, keys: dict[str, str]
) -> None:
    context = {"aws__RequestedRegion": "us-west-2", "aws__userid": "AROA:me", **keys}
    able = [name for name in NAMES if allows(people[name].documents, action, arn, **context)]
    assert able == [name for name in NAMES if name[0] in who]


def test_a_session_without_a_named_document_is_checked_for_the_default_one(people: dict[str, Persona]) -> None:
    unchecked = {"ssm__SessionDocumentAccessCheck": "false"}
    assert not allows(people["researcher"].documents, "ssm:StartSession", CLUSTER, **unchecked)


def test_what_each_may_and_may_not_do_is_said(people: dict[str, Persona]) -> None:
    assert all(each.may and each.may_not for each in people.values())
    assert "read the data" in people["researcher"].may
    assert "read or write the data in S3" in people["operator"].may_not


def test_that_a_deploy_reaches_iam_is_said_of_whoever_may_deploy_and_of_nobody_else(people: dict[str, Persona]) -> None:
    deploys = [each for each in people.values() if personas.DEPLOY in each.may]
    assert [each.name for each in deploys] == ["administrator"]
    assert "pass roles or change IAM except by a deploy" in deploys[0].may_not
    assert "sts:AssumeRole" in {a for d in deploys[0].documents for s in d.statements for a in s.actions}


def test_each_has_a_document_for_sessions_and_one_for_the_rest(people: dict[str, Persona]) -> None:
    names = [document.name for each in people.values() for document in each.documents]
    assert names == [f"{name}-{part}" for name in NAMES for part in ("session", "access")]
    assert all(document.characters <= LIMIT for each in people.values() for document in each.documents)


def test_the_limits_of_iam_are_said_with_the_groups_that_they_are_about(tmp_path: Path) -> None:
    notes = personas.of(read(tmp_path)).notes
    assert notes[0].startswith("UNVERIFIED: ")
    assert "Who may log in to p5, login is decided on the nodes" in notes[1]
    assert notes[2].startswith("Sessions of researchers are meant for group login;")


def test_without_data_the_researcher_reads_none_and_it_is_said(tmp_path: Path) -> None:
    found = personas.of(stack(tmp_path, {"C": cluster(group())}))
    assert found.notes[-1] == personas.NO_DATA
    researcher = found.personas[-1]
    assert not allows(researcher.documents, "s3:GetObject", DATA)
    assert "read the data" not in researcher.may


def test_a_bucket_of_the_templates_is_data(tmp_path: Path) -> None:
    found = personas.of(read(tmp_path, Bucket=resource("AWS::S3::Bucket", BucketName="checkpoints")))
    assert allows(found.personas[-1].documents, "s3:GetObject", "arn:aws:s3:::checkpoints/step-1")


def test_on_eks_everybody_finds_the_kubernetes_cluster(tmp_path: Path) -> None:
    eks = {"Eks": {"ClusterArn": f"arn:aws:eks:us-west-2:{ACCOUNT}:cluster/main"}}
    found = personas.of(stack(tmp_path, {"C": cluster(group(), Orchestrator=eks)}))
    assert all(allows(each.documents, "eks:DescribeCluster", eks["Eks"]["ClusterArn"]) for each in found.personas)


def test_there_is_nobody_without_a_cluster(tmp_path: Path) -> None:
    assert personas.of(stack(tmp_path, {"T": resource("AWS::SNS::Topic")})) == personas.Personas(personas=(), notes=())
