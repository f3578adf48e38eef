from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.planning.permissions import keys
from hyperpod_constructs.planning.permissions.keys import KeyStatement
from tests.planning.permissions.read import ACCOUNT, cluster, group, resource, stack

KEY = "arn:aws:kms:us-west-2:444455556666:key/0123"
ENCRYPTED: dict[str, dict[str, Any]] = {
    "AWS::APS::Workspace": {"KmsKeyArn": KEY},
    "AWS::EKS::Cluster": {"EncryptionConfig": [{"Provider": {"KeyArn": KEY}, "Resources": ["secrets"]}]},
    "AWS::FSx::FileSystem": {"KmsKeyId": KEY},
    "AWS::Lambda::Function": {"KmsKeyArn": KEY},
    "AWS::Logs::LogGroup": {"LogGroupName": "/hyperpod/a", "KmsKeyId": KEY},
    "AWS::RDS::DBInstance": {"KmsKeyId": KEY},
    "AWS::S3::Bucket": {
        "BucketEncryption": {
            "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"KMSMasterKeyID": KEY}}]
        }
    },
    "AWS::SNS::Topic": {"KmsMasterKeyId": KEY},
    "AWS::SecretsManager::Secret": {"KmsKeyId": KEY},
}


def encrypted(**fields: Any) -> dict[str, Any]:
    """A cluster with an encrypted volume on each node."""
    volume = {"EbsVolumeConfig": {"VolumeSizeInGB": 100, "VolumeKmsKeyId": KEY}}
    return cluster(group(InstanceStorageConfigs=[volume]), **fields)


def found(read: Assembly) -> dict[str, KeyStatement]:
    return {each.grantee: each for each in keys.statements(read)}


class TestGrantees:
    @pytest.mark.parametrize("kind", ENCRYPTED)
    def test_every_service_that_uses_a_key_is_told_to_the_key(self, tmp_path: Path, kind: str) -> None:
        (one, *_) = keys.statements(stack(tmp_path, {"It": resource(kind, **ENCRYPTED[kind])}))
        assert (one.key, one.used_by) == (KEY, ("Frontier/It",))
        assert one.statement.why
        assert one.statement.as_data()["Principal"] in ({"AWS": ACCOUNT}, {"Service": one.statement.principal[1]})  # type: ignore[index]  # a key statement has one

    def test_nodes_are_admitted_by_their_roles_and_the_deploy_by_its_own(self, tmp_path: Path) -> None:
        both = found(stack(tmp_path, {"C": encrypted()}))
        assert both["roles of nodes"].statement.as_data() == {
            "Sid": "GrantsOfNodes",
            "Effect": "Allow",
            "Principal": {"AWS": ACCOUNT},
            "Action": ["kms:CreateGrant", "kms:DescribeKey"],
            "Resource": "*",
            "Condition": {"ArnLike": {"aws:PrincipalArn": f"arn:aws:iam::{ACCOUNT}:role/nodes"}},
        }
        assert both["role that CloudFormation deploys with"].statement.tests == (
            ("ArnLike", "aws:PrincipalArn", (f"arn:*:iam::{ACCOUNT}:role/cdk-*-cfn-exec-role-*",)),
        )

    def test_a_role_of_the_templates_is_admitted_before_it_exists(self, tmp_path: Path) -> None:
        made = {"Role": resource("AWS::IAM::Role"), "C": encrypted()}
        made["C"]["Properties"]["InstanceGroups"][0]["ExecutionRole"] = {"Fn::GetAtt": ["Role", "Arn"]}
        (tests,) = found(stack(tmp_path, made))["roles of nodes"].statement.tests
        assert tests[2] == (f"arn:aws:iam::{ACCOUNT}:role/Frontier-*",)

    def test_a_topic_admits_those_who_may_publish_to_it(self, tmp_path: Path) -> None:
        topic = resource("AWS::SNS::Topic", KmsMasterKeyId=KEY)
        document = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "budgets.amazonaws.com"}}]}
        policy = resource("AWS::SNS::TopicPolicy", Topics=[{"Ref": "Topic"}], PolicyDocument=document)
        assert set(found(stack(tmp_path, {"Topic": topic, "Policy": policy}))) == {"budgets.amazonaws.com"}

    def test_a_topic_without_a_policy_admits_every_service_of_alerts(self, tmp_path: Path) -> None:
        read = stack(tmp_path, {"Topic": resource("AWS::SNS::Topic", KmsMasterKeyId=KEY)})
        assert {each.partition(".")[0] for each in found(read)} == {"budgets", "cloudwatch", "costalerts", "events"}

    def test_a_log_group_admits_the_logs_of_its_region_for_itself(self, tmp_path: Path) -> None:
        group = resource("AWS::Logs::LogGroup", LogGroupName="/hyperpod/a", KmsKeyId=KEY)
        china = stack(tmp_path, {"Group": group}, environment=f"aws://{ACCOUNT}/cn-north-1")
        statement = found(china)["CloudWatch Logs"].statement
        assert statement.principal == ("Service", "logs.cn-north-1.amazonaws.com.cn")
        arn = f"arn:aws-cn:logs:cn-north-1:{ACCOUNT}:log-group:/hyperpod/a"
        assert statement.tests == (("ArnLike", "kms:EncryptionContext:aws:logs:arn", (arn,)),)

    def test_where_the_account_is_open_the_statement_says_what_to_put_in(self, tmp_path: Path) -> None:
        anywhere = "aws://unknown-account/unknown-region"
        read = stack(tmp_path, {"Fs": resource("AWS::FSx::FileSystem", KmsKeyId=KEY)}, environment=anywhere)
        data = found(read)["FSx"].statement.as_data()
        assert data["Principal"] == {"AWS": keys.ACCOUNT}
        assert data["Condition"]["StringEquals"]["kms:ViaService"] == f"fsx.{keys.REGION}.amazonaws.com"


class TestWhichKeys:
    @pytest.mark.parametrize(
        "key",
        ["alias/aws/fsx", f"arn:aws:kms:us-west-2:{ACCOUNT}:alias/aws/fsx", None, {"Fn::GetAtt": ["Key", "Arn"]}],
    )
    def test_keys_of_aws_and_of_the_stack_are_not_listed(self, tmp_path: Path, key: Any) -> None:
        made = {"Key": resource("AWS::KMS::Key"), "Fs": resource("AWS::FSx::FileSystem", KmsKeyId=key)}
        assert keys.statements(stack(tmp_path, made)) == ()

    def test_a_key_that_only_the_deploy_decides_is_listed_without_its_name(self, tmp_path: Path) -> None:
        parameters = {"Key": {"Type": "String"}}
        read = stack(tmp_path, {"Fs": resource("AWS::FSx::FileSystem", KmsKeyId={"Ref": "Key"})}, Parameters=parameters)
        assert [each.key for each in keys.statements(read)] == ["*"]

    def test_two_users_of_one_key_share_a_statement(self, tmp_path: Path) -> None:
        made = {name: resource("AWS::FSx::FileSystem", KmsKeyId=KEY) for name in ("A", "B")}
        (one,) = keys.statements(stack(tmp_path, made))
        assert one.used_by == ("Frontier/A", "Frontier/B")
