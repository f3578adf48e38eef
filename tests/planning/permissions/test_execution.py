"""The policy of CloudFormation's role: enough for every type, and no more than the template asks for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.catalog import handlers
from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.planning.permissions import execution
from hyperpod_constructs.planning.permissions.documents import LIMIT, Statement
from tests.planning.permissions.evaluator import allows
from tests.planning.permissions.read import ACCOUNT, cluster, group, resource, role, stack

ROOT = Path(__file__).parents[3]
SNAPSHOT = Path(__file__).with_name("slurm-example.json")
HERE = {"aws__RequestedRegion": "us-west-2"}
KEY = f"arn:aws:kms:us-west-2:{ACCOUNT}:key/0123"


def statements(read: Assembly) -> list[Statement]:
    return [statement for document in execution.of(read).documents for statement in document.statements]


def actions(read: Assembly) -> set[str]:
    return {action for statement in statements(read) for action in statement.actions}


def passing(read: Assembly) -> list[tuple[tuple[str, ...], object]]:
    """Resources and condition of every statement that passes roles."""
    return [(each.resources, each.tests) for each in statements(read) if "iam:PassRole" in each.actions]


def to(service: str) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    return (("StringEquals", "iam:PassedToService", (service,)),)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """What app.py synthesizes."""
    folder = tmp_path_factory.mktemp("example")
    environment = {**os.environ, "CDK_OUTDIR": str(folder), "CDK_VALIDATION": "false"}
    subprocess.run([sys.executable, "app.py"], cwd=ROOT, env=environment, check=True, capture_output=True)
    return assembly.read(folder)


class TestTheSlurmExample:
    def test_needs_what_it_needed_before(self, example: Assembly) -> None:
        """After a change that is meant, write `found` to the file and read the diff: it is a change of rights."""
        found = {each.name: each.as_data() for each in execution.of(example).documents}
        assert found == json.loads(SNAPSHOT.read_text(encoding="utf-8"))

    def test_has_no_type_without_known_permissions(self, example: Assembly) -> None:
        assert execution.of(example).unknown == ()
        assert [note.partition(":role/")[2].partition(":")[0] for note in execution.of(example).notes] == ["Frontier-*"]

    def test_attaches_the_policies_of_the_templates_to_its_roles_and_no_other(self, example: Assembly) -> None:
        documents, role_arn = execution.of(example).documents, f"arn:aws:iam::{ACCOUNT}:role/Frontier-Roles-X"
        policy = "arn:aws:iam::aws:policy/"
        attached = policy + "AmazonSageMakerClusterInstanceRolePolicy"
        assert allows(documents, "iam:AttachRolePolicy", role_arn, iam__PolicyARN=attached)
        assert not allows(documents, "iam:AttachRolePolicy", role_arn, iam__PolicyARN=policy + "AdministratorAccess")
        assert not allows(documents, "iam:AttachRolePolicy", role_arn)
        assert allows(documents, "iam:DetachRolePolicy", role_arn, iam__PolicyARN=policy + "AdministratorAccess")

    def test_allows_every_action_of_every_handler_but_those_of_properties_it_lacks(self, example: Assembly) -> None:
        named = {action for each in example.resources() for action in handlers.actions(each.type) or ()}
        left_out = named - actions(example)
        assert {action.partition(":")[0] for action in left_out} == {
            "ec2",  # a custom image
            "eks",
            "firehose",  # data protection of log groups
            "fsx",  # a backup to restore
            "iam",  # of groups and users
            "kms",
            "s3",
            "vpc-lattice",
            "vpce",
        }
        assert {each for each in left_out if each.startswith(("fsx", "iam"))} == {
            "fsx:CreateFileSystemFromBackup",
            "iam:DeleteGroupPolicy",
            "iam:DeleteUserPolicy",
            "iam:GetGroupPolicy",
            "iam:GetUserPolicy",
            "iam:PutGroupPolicy",
            "iam:PutUserPolicy",
        }

    def test_passes_roles_of_the_app_to_the_service_that_uses_them_and_to_no_other(self, example: Assembly) -> None:
        documents, role_arn = execution.of(example).documents, f"arn:aws:iam::{ACCOUNT}:role/Frontier-Roles-X"
        assert allows(documents, "iam:PassRole", role_arn, iam__PassedToService="sagemaker.amazonaws.com")
        assert not allows(documents, "iam:PassRole", role_arn, iam__PassedToService="ec2.amazonaws.com")
        admin = f"arn:aws:iam::{ACCOUNT}:role/Admin"
        assert not allows(documents, "iam:PassRole", admin, iam__PassedToService="sagemaker.amazonaws.com")

    def test_does_nothing_in_other_regions(self, example: Assembly) -> None:
        documents = execution.of(example).documents
        assert allows(documents, "ec2:CreateVpc", **HERE)
        assert not allows(documents, "ec2:CreateVpc", aws__RequestedRegion="eu-north-1")

    def test_cannot_touch_roles_and_topics_of_others(self, example: Assembly) -> None:
        documents = execution.of(example).documents
        assert not allows(documents, "iam:PutRolePolicy", f"arn:aws:iam::{ACCOUNT}:role/Admin")
        assert not allows(documents, "sns:DeleteTopic", f"arn:aws:sns:us-west-2:{ACCOUNT}:billing")
        assert not allows(documents, "iam:CreateUser", f"arn:aws:iam::{ACCOUNT}:user/me")

    def test_uses_its_training_plan_and_no_other(self, example: Assembly) -> None:
        documents, plan = execution.of(example).documents, f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:training-plan/"
        assert allows(documents, "sagemaker:CreateCluster", plan + "frontier")
        assert not allows(documents, "sagemaker:CreateCluster", plan + "of-others")

    def test_is_well_formed(self, example: Assembly) -> None:
        well_formed(example)


def well_formed(read: Assembly) -> None:
    """What IAM asks of every document, and what our own data can say of action names."""
    for document in execution.of(read).documents:
        sids = [each.sid for each in document.statements]
        assert len(sids) == len(set(sids))
        assert all(re.fullmatch("[A-Za-z0-9]+", sid) for sid in sids)
        assert document.characters <= LIMIT
        for each in document.statements:
            assert each.actions
            assert list(each.actions) == sorted(set(each.actions))
            assert all(re.fullmatch("[a-z0-9-]+:[A-Za-z0-9]+", action) for action in each.actions)
            assert all(re.fullmatch(r"\*|arn:[^:]+:[a-z0-9-]+:[^:]*:[^:]*:.+", arn) for arn in each.resources)
    assert actions(read) <= known()


def known() -> set[str]:
    """Every action that the registry names, and those of our own tables."""
    found = {action for types in handlers._data()["types"] for action in handlers.actions(types) or ()}
    found |= {action for types in handlers.WITHOUT_HANDLERS for action in handlers.actions(types) or ()}
    return found | {"ssm:GetParameters", "secretsmanager:GetSecretValue"}


EVERYTHING: dict[str, Any] = {
    "Bucket": resource("AWS::S3::Bucket", BucketName="sagemaker-scripts"),
    "Policy": resource("AWS::S3::BucketPolicy", Bucket={"Ref": "Bucket"}, PolicyDocument={}),
    "Function": resource(
        "AWS::Lambda::Function",
        Role={"Fn::GetAtt": ["Role", "Arn"]},
        Code={"S3Bucket": "cdk-hnb659fds-assets-111122223333-us-west-2", "S3Key": "a.zip"},
    ),
    "Role": role("lambda.amazonaws.com"),
    "Grafana": resource("Custom::Grafana", ServiceToken={"Fn::GetAtt": ["Function", "Arn"]}),
    "Alarm": resource("AWS::CloudWatch::Alarm"),
    "Queue": resource("AWS::SQS::Queue"),
    "Parameter": resource("AWS::SSM::Parameter", Name="/hyperpod/a", Type="String", Value="b"),
    "Rule": resource("AWS::Events::Rule", Name="nodes", EventBusName="central"),
    "Link": resource("AWS::FSx::DataRepositoryAssociation", DataRepositoryPath="s3://corpus/en", FileSystemId="fs-1"),
    "Instances": resource("AWS::IAM::InstanceProfile", Roles=[{"Ref": "Role"}]),
    "Eks": resource("AWS::EKS::Cluster", RoleArn=f"arn:aws:iam::{ACCOUNT}:role/eks"),
    "Nested": resource(
        "AWS::CloudFormation::Stack", TemplateURL="https://s3.us-west-2.amazonaws.com/cdk-assets/n.json"
    ),
}


class TestResources:
    def test_many_types_make_well_formed_documents(self, tmp_path: Path) -> None:
        well_formed(stack(tmp_path, EVERYTHING))

    def test_the_order_of_a_template_does_not_matter(self, tmp_path: Path) -> None:
        reverse = dict(reversed(EVERYTHING.items()))
        there, back = stack(tmp_path / "a", EVERYTHING), stack(tmp_path / "b", reverse)
        assert execution.of(there) == execution.of(back)

    @pytest.mark.parametrize(
        ("action", "arn"),
        [
            ("s3:PutBucketPolicy", "arn:aws:s3:::sagemaker-scripts"),
            ("s3:GetObject", "arn:aws:s3:::cdk-hnb659fds-assets-111122223333-us-west-2/a.zip"),
            ("s3:GetObject", "arn:aws:s3:::cdk-assets/n.json"),
            ("s3:ListBucket", "arn:aws:s3:::corpus"),
            ("lambda:InvokeFunction", f"arn:aws:lambda:us-west-2:{ACCOUNT}:function:Frontier-Function-X"),
            ("ssm:PutParameter", f"arn:aws:ssm:us-west-2:{ACCOUNT}:parameter/hyperpod/a"),
            ("events:PutRule", f"arn:aws:events:us-west-2:{ACCOUNT}:rule/central/nodes"),
            ("iam:CreateInstanceProfile", f"arn:aws:iam::{ACCOUNT}:instance-profile/Frontier-Instances-X"),
        ],
    )
    def test_what_a_template_names_is_allowed_by_name(self, tmp_path: Path, action: str, arn: str) -> None:
        documents = execution.of(stack(tmp_path, EVERYTHING)).documents
        assert allows(documents, action, arn)
        assert not allows(documents, action, arn.replace(ACCOUNT, "444455556666").replace("s3:::", "s3:::other-"))

    def test_a_bucket_that_is_only_linked_to_cannot_be_deleted(self, tmp_path: Path) -> None:
        documents = execution.of(stack(tmp_path, EVERYTHING)).documents
        assert not allows(documents, "s3:DeleteBucket", "arn:aws:s3:::corpus")
        assert allows(documents, "s3:DeleteBucket", "arn:aws:s3:::sagemaker-scripts")

    def test_a_type_that_is_not_known_is_said_with_the_command_that_shows_its_permissions(self, tmp_path: Path) -> None:
        found = execution.of(stack(tmp_path, {"W": resource("AWS::Athena::WorkGroup", Name="w")}))
        assert (found.documents, found.unknown) == ((), ("AWS::Athena::WorkGroup",))
        assert "aws cloudformation describe-type --type RESOURCE --type-name AWS::Athena::WorkGroup" in found.notes[0]

    def test_what_needs_nothing_needs_no_policy(self, tmp_path: Path) -> None:
        handle = resource("AWS::CloudFormation::WaitConditionHandle")
        assert execution.of(stack(tmp_path, {"Handle": handle})).documents == ()


class TestPartitionsAndNames:
    @pytest.mark.parametrize(
        ("environment", "arn"),
        [
            (f"aws://{ACCOUNT}/us-west-2", f"arn:aws:sns:us-west-2:{ACCOUNT}:Frontier-*"),
            (f"aws://{ACCOUNT}/cn-north-1", f"arn:aws-cn:sns:cn-north-1:{ACCOUNT}:Frontier-*"),
            (f"aws://{ACCOUNT}/us-gov-west-1", f"arn:aws-us-gov:sns:us-gov-west-1:{ACCOUNT}:Frontier-*"),
            ("aws://unknown-account/unknown-region", "arn:*:sns:*:*:Frontier-*"),
        ],
    )
    def test_arns_are_those_of_the_stack_s_partition(self, tmp_path: Path, environment: str, arn: str) -> None:
        read = stack(tmp_path, {"Topic": resource("AWS::SNS::Topic")}, environment=environment)
        assert next(each for each in statements(read) if each.sid == "Sns").resources == (arn,)

    def test_without_a_region_there_is_no_condition_on_it(self, tmp_path: Path) -> None:
        vpc = {"Vpc": resource("AWS::EC2::VPC")}
        read = stack(tmp_path, vpc, environment="aws://unknown-account/unknown-region")
        assert [each.tests for each in statements(read)] == [(), ()]

    def test_a_long_generated_name_is_narrowed_only_by_what_is_certain(self, tmp_path: Path) -> None:
        read = stack(tmp_path, {"A" * 60: role("sagemaker.amazonaws.com")})
        found = next(each for each in statements(read) if "iam:CreateRole" in each.actions)
        assert found.resources == (f"arn:aws:iam::{ACCOUNT}:role/Frontier*",)

    def test_a_generated_bucket_name_is_small(self, tmp_path: Path) -> None:
        read = stack(tmp_path, {"Data": resource("AWS::S3::Bucket")})
        assert allows(execution.of(read).documents, "s3:CreateBucket", "arn:aws:s3:::frontier-data-x")

    def test_a_path_of_a_role_is_part_of_its_arn(self, tmp_path: Path) -> None:
        read = stack(tmp_path, {"Role": role("sagemaker.amazonaws.com", Path="/team/", RoleName="nodes")})
        assert allows(execution.of(read).documents, "iam:CreateRole", f"arn:aws:iam::{ACCOUNT}:role/team/nodes")
        assert not allows(execution.of(read).documents, "iam:CreateRole", f"arn:aws:iam::{ACCOUNT}:role/nodes")


class TestProperties:
    @pytest.mark.parametrize(
        ("properties", "action", "needed"),
        [
            ({}, "kms:CreateGrant", False),
            ({"InstanceGroups": [group(ImageId="ami-0123456789abcdef0")]}, "ec2:ModifyImageAttribute", True),
            ({}, "ec2:ModifyImageAttribute", False),
            (
                {"Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:1:cluster/e"}}},
                "eks:CreateAccessEntry",
                True,
            ),
            ({}, "eks:CreateAccessEntry", False),
            ({"InstanceGroups": {"Ref": "Groups"}}, "ec2:ModifyImageAttribute", True),  # it may hold anything
        ],
    )
    def test_a_cluster_needs_what_its_properties_need(
        self, tmp_path: Path, properties: dict[str, Any], action: str, needed: bool
    ) -> None:
        read = stack(tmp_path, {"C": cluster(group(), **properties)}, Parameters={"Groups": {"Type": "String"}})
        assert (action in actions(read)) is needed

    def test_a_key_that_is_named_is_the_only_one_that_can_be_granted(self, tmp_path: Path) -> None:
        volume = {"EbsVolumeConfig": {"VolumeSizeInGB": 100, "VolumeKmsKeyId": KEY}}
        documents = execution.of(stack(tmp_path, {"C": cluster(group(InstanceStorageConfigs=[volume]))})).documents
        assert allows(documents, "kms:CreateGrant", KEY)
        assert not allows(documents, "kms:CreateGrant", KEY + "4")

    def test_access_entries_are_those_of_the_cluster_s_own_eks_cluster(self, tmp_path: Path) -> None:
        eks = f"arn:aws:eks:us-west-2:{ACCOUNT}:cluster/main"
        documents = execution.of(
            stack(tmp_path, {"C": cluster(group(), Orchestrator={"Eks": {"ClusterArn": eks}})})
        ).documents
        assert allows(documents, "eks:CreateAccessEntry", eks)
        assert not allows(documents, "eks:CreateAccessEntry", eks + "2")
        entry = f"arn:aws:eks:us-west-2:{ACCOUNT}:access-entry/main/role/{ACCOUNT}/nodes/0123"
        assert allows(documents, "eks:DeleteAccessEntry", entry)

    @pytest.mark.parametrize(("kind", "needed"), [("cloud-watch-logs", False), ("s3", True)])
    def test_flow_logs_change_bucket_policies_only_when_they_go_to_a_bucket(
        self, tmp_path: Path, kind: str, needed: bool
    ) -> None:
        read = stack(tmp_path, {"Log": resource("AWS::EC2::FlowLog", LogDestinationType=kind)})
        assert ("s3:PutBucketPolicy" in actions(read)) is needed

    def test_a_lustre_that_is_linked_to_s3_makes_the_role_of_the_link(self, tmp_path: Path) -> None:
        linked = resource("AWS::FSx::FileSystem", LustreConfiguration={"ImportPath": "s3://corpus"})
        documents = execution.of(stack(tmp_path, {"Fs": linked})).documents
        service = "s3.data-source.lustre.fsx.amazonaws.com"
        arn = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/{service}/AWSServiceRoleForFSxS3Access_fs-1"
        assert allows(documents, "iam:CreateServiceLinkedRole", arn, iam__AWSServiceName=service)
        assert allows(documents, "iam:PutRolePolicy", arn)
        assert allows(documents, "s3:ListBucket", "arn:aws:s3:::corpus")


class TestRoles:
    def test_an_imported_role_is_passed_by_its_arn(self, tmp_path: Path) -> None:
        assert passing(stack(tmp_path, {"C": cluster(group())})) == [
            ((f"arn:aws:iam::{ACCOUNT}:role/nodes",), to("sagemaker.amazonaws.com"))
        ]

    def test_the_role_of_autoscaling_goes_to_another_service(self, tmp_path: Path) -> None:
        scaling = f"arn:aws:iam::{ACCOUNT}:role/scaling"
        found = passing(stack(tmp_path, {"C": cluster(group(), ClusterRole=scaling)}))
        assert ((scaling,), to("hyperpod.sagemaker.amazonaws.com")) in found

    def test_a_role_that_is_not_known_can_be_any_of_the_account_but_only_for_its_service(self, tmp_path: Path) -> None:
        unknown = {"Ref": "RoleArn"}
        parameters = {"RoleArn": {"Type": "String"}}
        read = stack(tmp_path, {"C": cluster(group(ExecutionRole=unknown))}, Parameters=parameters)
        assert passing(read) == [((f"arn:aws:iam::{ACCOUNT}:role/*",), to("sagemaker.amazonaws.com"))]

    def test_a_resource_without_a_role_passes_none(self, tmp_path: Path) -> None:
        read = stack(tmp_path, {"R": resource("AWS::Events::Rule", EventPattern={}), "T": resource("AWS::SNS::Topic")})
        assert "iam:PassRole" not in actions(read)

    def test_what_the_role_trusts_is_what_it_may_be_passed_to(self, tmp_path: Path) -> None:
        task = resource("AWS::Scheduler::Schedule", Target={"RoleArn": {"Fn::GetAtt": ["Role", "Arn"]}})
        read = stack(tmp_path, {"Role": role("scheduler.amazonaws.com"), "Task": task})
        assert [tests for _, tests in passing(read)] == [to("scheduler.amazonaws.com")]

    def test_instances_get_the_role_of_their_profile(self, tmp_path: Path) -> None:
        profile = resource("AWS::IAM::InstanceProfile", Roles=["nodes"])
        assert passing(stack(tmp_path, {"P": profile})) == [
            ((f"arn:aws:iam::{ACCOUNT}:role/nodes",), to("ec2.amazonaws.com"))
        ]

    def test_a_role_for_nobody_knows_whom_is_said(self, tmp_path: Path) -> None:
        proxy = resource("AWS::RDS::DBProxy", RoleArn=f"arn:aws:iam::{ACCOUNT}:role/proxy")
        found = execution.of(stack(tmp_path, {"Proxy": proxy}))
        (note,) = found.notes
        assert note.startswith("AWS::RDS::DBProxy: to which service it passes a role is not known")

    @pytest.mark.parametrize(
        ("kind", "service"),
        [
            ("AWS::SageMaker::Cluster", "hyperpod.sagemaker.amazonaws.com"),
            ("AWS::FSx::FileSystem", "fsx.amazonaws.com"),
            ("AWS::EKS::Nodegroup", "eks-nodegroup.amazonaws.com"),
        ],
    )
    def test_service_linked_roles_are_those_of_the_service(self, tmp_path: Path, kind: str, service: str) -> None:
        documents = execution.of(stack(tmp_path, {"R": resource(kind)})).documents
        arn = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/{service}/AWSServiceRoleForIt"
        assert allows(documents, "iam:CreateServiceLinkedRole", arn, iam__AWSServiceName=service)
        assert not allows(documents, "iam:CreateServiceLinkedRole", arn, iam__AWSServiceName="ops.amazonaws.com")


class TestTheTemplateItself:
    def test_reads_the_bootstrap_version(self, tmp_path: Path) -> None:
        declared = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/cdk-bootstrap/acme/version"}
        read = stack(tmp_path, {}, Parameters={"BootstrapVersion": declared})
        assert [(each.actions, each.resources) for each in statements(read)] == [
            (("ssm:GetParameters",), (f"arn:aws:ssm:us-west-2:{ACCOUNT}:parameter/cdk-bootstrap/acme/version",))
        ]

    @pytest.mark.parametrize(
        ("text", "action", "arn"),
        [
            ("{{resolve:ssm:/a/b:3}}", "ssm:GetParameters", f"arn:aws:ssm:us-west-2:{ACCOUNT}:parameter/a/b"),
            (
                "x{{resolve:secretsmanager:db/main:SecretString:password}}",
                "secretsmanager:GetSecretValue",
                f"arn:aws:secretsmanager:us-west-2:{ACCOUNT}:secret:db/main-AbCdEf",
            ),
            (
                "{{resolve:secretsmanager:arn:aws:secretsmanager:us-west-2:1:secret:db-AbCdEf:SecretString}}",
                "secretsmanager:GetSecretValue",
                "arn:aws:secretsmanager:us-west-2:1:secret:db-AbCdEf",
            ),
        ],
    )
    def test_resolves_dynamic_references(self, tmp_path: Path, text: str, action: str, arn: str) -> None:
        read = stack(tmp_path, {"T": resource("AWS::SNS::Topic", DisplayName=text)})
        assert allows(execution.of(read).documents, action, arn)


class TestRolesOfTheTemplates:
    """Whoever may give a role rights has those rights."""

    ROLE_ARN = f"arn:aws:iam::{ACCOUNT}:role/Frontier-R-X"
    POLICY = f"arn:aws:iam::{ACCOUNT}:policy/"
    BOUNDARY = POLICY + "limits"

    def test_may_be_given_only_with_the_boundary_that_the_template_gives_them(self, tmp_path: Path) -> None:
        bound = role("ec2.amazonaws.com", PermissionsBoundary=self.BOUNDARY, ManagedPolicyArns=[self.POLICY + "reads"])
        inline = resource("AWS::IAM::Policy", PolicyName="p", PolicyDocument={}, Roles=[{"Ref": "R"}])
        read = stack(tmp_path, {"R": bound, "P": inline})
        documents = execution.of(read).documents
        with_it = {"iam__PermissionsBoundary": self.BOUNDARY, "iam__PolicyARN": self.POLICY + "reads"}
        without = {"iam__PolicyARN": self.POLICY + "reads"}
        for action in ("CreateRole", "PutRolePolicy", "AttachRolePolicy", "PutRolePermissionsBoundary"):
            assert allows(documents, f"iam:{action}", self.ROLE_ARN, **with_it)
            assert not allows(documents, f"iam:{action}", self.ROLE_ARN, **without)
        assert not allows(documents, "iam:DeleteRolePermissionsBoundary", self.ROLE_ARN, **with_it)
        assert execution.of(read).notes == ()
        well_formed(read)

    def test_without_a_boundary_may_get_any_inline_policy_and_it_is_said(self, tmp_path: Path) -> None:
        (note,) = execution.of(stack(tmp_path, {"R": role("ec2.amazonaws.com")})).notes
        assert "can give these roles any right by iam:PutRolePolicy" in note

    def test_without_a_managed_policy_get_none(self, tmp_path: Path) -> None:
        assert "iam:AttachRolePolicy" not in actions(stack(tmp_path, {"R": role("ec2.amazonaws.com")}))

    def test_get_a_managed_policy_of_the_templates_and_no_other(self, tmp_path: Path) -> None:
        own = resource("AWS::IAM::ManagedPolicy", PolicyDocument={}, Roles=[{"Ref": "R"}])
        documents = execution.of(stack(tmp_path, {"R": role("ec2.amazonaws.com"), "P": own})).documents
        attach = "iam:AttachRolePolicy"
        assert allows(documents, attach, self.ROLE_ARN, iam__PolicyARN=self.POLICY + "Frontier-P-X")
        assert not allows(
            documents, attach, self.ROLE_ARN, iam__PolicyARN="arn:aws:iam::aws:policy/AdministratorAccess"
        )

    def test_with_policies_that_are_not_known_may_get_any_and_it_is_said(self, tmp_path: Path) -> None:
        hidden = role("ec2.amazonaws.com", ManagedPolicyArns=[{"Fn::ImportValue": "P"}])
        found = execution.of(stack(tmp_path, {"R": hidden}))
        assert allows(found.documents, "iam:AttachRolePolicy", self.ROLE_ARN)
        assert any("iam:AttachRolePolicy has no condition for it" in note for note in found.notes)
