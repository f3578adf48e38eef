from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from hyperpod_constructs.model import template
from hyperpod_constructs.model.identity import Key, Role, Secret, Statement
from hyperpod_constructs.tokens import UNKNOWN
from tests.model.conftest import refused

UNDECIDABLE = {"Ref": "Given"}
SECTIONS = {
    "Parameters": {"Given": {"Type": "String"}},
    "Conditions": {"Maybe": {"Fn::Equals": [UNDECIDABLE, "x"]}},
}
DOCUMENT = {"Statement": [{"Effect": "Allow", "Action": "ec2:DescribeVpcs", "Resource": "*"}]}
DESCRIBE = Statement(allow=True, actions=("ec2:DescribeVpcs",))


def role(**properties: Any) -> dict[str, Any]:
    """A role of nodes."""
    trust = {"Statement": trusting("sagemaker.amazonaws.com")}
    return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust, **properties}}


def trusting(service: object, **more: Any) -> dict[str, Any]:
    """A statement of a trust policy."""
    return {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": service}, **more}


class TestTrust:
    @pytest.mark.parametrize(
        ("service", "trusts"),
        [
            ("sagemaker.amazonaws.com", ("sagemaker.amazonaws.com",)),
            (["a.amazonaws.com", "b.amazonaws.com"], ("a.amazonaws.com", "b.amazonaws.com")),
            ({"Fn::Sub": "sagemaker.${AWS::URLSuffix}"}, ("sagemaker.amazonaws.com",)),
            (UNDECIDABLE, (UNKNOWN,)),
        ],
    )
    def test_names_the_services(self, deployment_of: Any, service: object, trusts: object) -> None:
        document = {"Statement": [trusting(service)]}
        read = deployment_of({"R": role(AssumeRolePolicyDocument=document)}, **SECTIONS)
        assert read.roles[0].trusts == trusts
        assert read.invalid == ()

    def test_counts_only_what_lets_a_service_in(self, deployment_of: Any) -> None:
        statements = [
            trusting("denied.amazonaws.com", Effect="Deny"),
            trusting("tags.amazonaws.com", Action="sts:TagSession"),
            trusting("in.amazonaws.com", Action=["sts:TagSession", "STS:*"]),
            {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"AWS": "111122223333"}},
        ]
        read = deployment_of({"R": role(AssumeRolePolicyDocument={"Statement": statements})})
        assert read.roles[0].trusts == ("in.amazonaws.com",)

    @pytest.mark.parametrize(
        ("conditions", "checked"),
        [
            ([None], False),
            ([{"StringEquals": {"aws:SourceAccount": "111122223333"}}], True),
            ([{"ArnLike": {"AWS:SourceArn": "arn:aws:sagemaker:*:111122223333:*"}}], True),
            ([{"StringEquals": {"aws:PrincipalTag/x": "y"}}], False),
            ([{"StringEquals": {"aws:SourceAccount": "111122223333"}}, None], False),
            ([UNDECIDABLE], UNKNOWN),
        ],
    )
    def test_asks_for_the_caller_in_every_statement(self, deployment_of: Any, conditions: Any, checked: object) -> None:
        statements = [
            trusting("a.amazonaws.com", **({} if each is None else {"Condition": each})) for each in conditions
        ]
        read = deployment_of({"R": role(AssumeRolePolicyDocument={"Statement": statements})}, **SECTIONS)
        assert read.roles[0].source_account_checked is checked

    @pytest.mark.parametrize(
        ("conditions", "accounts"),
        [
            ([{"StringEquals": {"aws:SourceAccount": "999999999999"}}], ("999999999999",)),
            (
                [{"StringEquals": {"AWS:sourceaccount": [999999999999, "111122223333"]}}],
                ("999999999999", "111122223333"),
            ),
            ([{"ArnLike": {"aws:SourceArn": "arn:aws:sagemaker:*:999999999999:cluster/*"}}], ("999999999999",)),
            ([{"StringEquals": {"aws:SourceAccount": UNDECIDABLE}}], UNKNOWN),
            ([{"StringLike": {"aws:SourceAccount": ["999999999999", "1111*"]}}], UNKNOWN),
            ([{"ArnLike": {"aws:SourceArn": "arn:aws:sagemaker:*"}}], UNKNOWN),
            ([{"StringNotEquals": {"aws:SourceAccount": "999999999999"}}], None),
            ([{"StringEqualsIfExists": {"aws:SourceAccount": "999999999999"}}], None),
            ([{"StringEquals": {"aws:PrincipalTag/x": "999999999999"}}], None),
            ([{"StringEquals": {"aws:SourceAccount": "999999999999"}}, None], None),
            ([UNDECIDABLE], UNKNOWN),
            ([None], None),
        ],
    )
    def test_may_be_for_some_accounts_only(self, deployment_of: Any, conditions: Any, accounts: object) -> None:
        statements = [
            trusting("a.amazonaws.com", **({} if each is None else {"Condition": each})) for each in conditions
        ]
        read = deployment_of({"R": role(AssumeRolePolicyDocument={"Statement": statements})}, **SECTIONS)
        assert read.roles[0].source_accounts == accounts
        assert read.invalid == ()


class TestManagedPolicies:
    @pytest.mark.parametrize(
        ("arn", "name", "complete"),
        [
            ("arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore", "AmazonSSMManagedInstanceCore", True),
            ({"Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/service-role/A"}, "service-role/A", True),
            ("arn:aws:iam::111122223333:policy/AdministratorAccess", UNKNOWN, False),
            ({"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:policy/Ours"}, UNKNOWN, False),
            (UNDECIDABLE, UNKNOWN, False),
        ],
    )
    def test_are_known_by_name_if_they_are_of_aws(
        self, deployment_of: Any, arn: object, name: object, complete: object
    ) -> None:
        read = deployment_of({"R": role(ManagedPolicyArns=[arn])}, **SECTIONS)
        assert (read.roles[0].managed_policies, read.roles[0].complete) == ((name,), complete)

    @pytest.mark.parametrize(
        ("arn", "region", "findings"),
        [
            ("arn:aws-us-gov:iam::aws:policy/ReadOnlyAccess", "us-west-2", 1),
            ("arn:aws:iam::aws:policy/ReadOnlyAccess", "cn-north-1", 1),
            ("arn:aws:iam::aws:policy/ReadOnlyAccess", "us-west-2", 0),
            ("arn:aws-us-gov:iam::aws:policy/ReadOnlyAccess", None, 0),
            ({"Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/ReadOnlyAccess"}, "cn-north-1", 0),
        ],
    )
    def test_are_of_the_partition_of_the_stack(self, tmp_path: Any, arn: Any, region: Any, findings: int) -> None:
        (tmp_path / "t.json").write_text(json.dumps({"Resources": {"R": role(ManagedPolicyArns=[arn])}}))
        assert len(refused(template.read(tmp_path / "t.json", region))) == findings

    def test_of_another_partition_are_named_with_the_right_one(self, tmp_path: Any) -> None:
        of_china = role(ManagedPolicyArns=["arn:aws-cn:iam::aws:policy/ReadOnlyAccess"])
        (tmp_path / "t.json").write_text(json.dumps({"Resources": {"R": of_china}}))
        assert refused(template.read(tmp_path / "t.json", "us-west-2")) == [
            (
                "ManagedPolicyArns[0] is a policy of the partition aws-cn, and the stack is in us-west-2, which is in "
                "aws; use !Sub arn:${AWS::Partition}:iam::aws:policy/ReadOnlyAccess; in the CDK "
                "iam.ManagedPolicy.from_aws_managed_policy_name('ReadOnlyAccess')"
            )
        ]

    def test_of_the_template_are_known_by_their_statements(self, deployment_of: Any) -> None:
        policy = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": DOCUMENT}}
        read = deployment_of({"R": role(ManagedPolicyArns=[{"Ref": "P"}]), "P": policy})
        assert read.roles == (Role(path="app.json/R", trusts=("sagemaker.amazonaws.com",), statements=(DESCRIBE,)),)


class TestAttachedPolicies:
    @pytest.mark.parametrize(
        ("kind", "target"),
        [
            ("AWS::IAM::Policy", {"Roles": [{"Ref": "R"}]}),
            ("AWS::IAM::ManagedPolicy", {"Roles": [{"Ref": "R"}]}),
            ("AWS::IAM::RolePolicy", {"RoleName": {"Ref": "R"}}),
            ("AWS::IAM::Policy", {"Roles": ["node-role"]}),
        ],
    )
    def test_belong_to_the_role_they_name(self, deployment_of: Any, kind: str, target: dict[str, Any]) -> None:
        policy = {"Type": kind, "Properties": {"PolicyDocument": DOCUMENT, **target}}
        read = deployment_of({"R": role(RoleName="node-role"), "Other": role(), "P": policy})
        assert [each.statements for each in read.roles] == [(replace(DESCRIBE, policy="app.json/P"),), ()]
        assert all(each.complete for each in read.roles)

    def test_that_may_not_be_there_make_their_role_incomplete(self, deployment_of: Any) -> None:
        properties = {"PolicyDocument": DOCUMENT, "Roles": [{"Ref": "R"}]}
        policy = {"Type": "AWS::IAM::Policy", "Condition": "Maybe", "Properties": properties}
        read = deployment_of({"R": role(), "Other": role(), "P": policy}, **SECTIONS)
        assert [(each.statements, each.complete) for each in read.roles] == [((), False), ((), True)]

    def test_belong_to_the_role_of_their_own_template_where_two_have_the_name(self, tmp_path: Any) -> None:
        policy = {"Type": "AWS::IAM::Policy", "Properties": {"PolicyDocument": DOCUMENT, "Roles": ["node"]}}
        for name in ("a", "b"):
            resources = {"R": role(RoleName="node"), "P": policy}
            (tmp_path / f"{name}.json").write_text(json.dumps({"Resources": resources}))
        read = template.read(tmp_path)
        assert [(each.statements, each.complete) for each in read.roles] == [
            ((replace(DESCRIBE, policy=f"{name}.json/P"),), True) for name in ("a", "b")
        ]

    def test_of_a_name_that_several_have_make_all_of_them_incomplete(self, tmp_path: Any) -> None:
        policy = {"Type": "AWS::IAM::Policy", "Properties": {"PolicyDocument": DOCUMENT, "Roles": ["node"]}}
        for name, resources in {"a": {"R": role(RoleName="node")}, "b": {"R": role(RoleName="node")}}.items():
            (tmp_path / f"{name}.json").write_text(json.dumps({"Resources": resources}))
        (tmp_path / "c.json").write_text(json.dumps({"Resources": {"P": policy}}))
        assert [(each.statements, each.complete) for each in template.read(tmp_path).roles] == [((), False)] * 2

    def test_of_a_role_nobody_knows_make_every_role_incomplete(self, deployment_of: Any) -> None:
        policy = {"Type": "AWS::IAM::Policy", "Properties": {"PolicyDocument": DOCUMENT, "Roles": [UNDECIDABLE]}}
        read = deployment_of({"R": role(), "Other": role(), "P": policy}, **SECTIONS)
        assert [each.complete for each in read.roles] == [False, False]


class TestStatements:
    def inline(self, statement: object) -> dict[str, Any]:
        return role(Policies=[{"PolicyName": "p", "PolicyDocument": {"Statement": statement}}])

    @pytest.mark.parametrize(
        ("statement", "read_as"),
        [
            (
                {"Effect": "Deny", "NotAction": ["s3:*"], "Resource": ["*"]},
                Statement(allow=False, actions=("s3:*",), inverted=True),
            ),
            (
                {"Effect": "Allow", "Action": "s3:*", "NotResource": "a", "Condition": {}},
                Statement(allow=True, actions=("s3:*",), resources=("a",), conditional=True, inverted=True),
            ),
            (
                {
                    "Effect": "Allow",
                    "Action": ["a:b", UNDECIDABLE],
                    "Resource": {"Fn::Sub": "arn:${Given}:s3:::x-${Given}/*"},
                },
                Statement(
                    allow=True,
                    actions=("a:b", UNKNOWN),
                    resources=("arn:*:s3:::x-*/*",),
                    undecided=("arn:*:s3:::x-*/*",),
                ),
            ),
            (
                {"Effect": "Allow", "Action": "a:b", "Resource": {"Fn::Sub": "${Given}/*"}},
                Statement(allow=True, actions=("a:b",), resources=(UNKNOWN,)),
            ),
        ],
    )
    def test_are_read(self, deployment_of: Any, statement: object, read_as: Statement) -> None:
        (found,) = deployment_of({"R": self.inline(statement)}, **SECTIONS).roles
        assert (found.statements, found.complete) == ((read_as,), True)

    @pytest.mark.parametrize(
        "resource",
        [
            "arn:aws:s3:::x-*/*",
            {"Fn::Sub": "arn:${AWS::Partition}:s3:::x-*/*"},
            {"Fn::Sub": "${Named.Arn}/*"},
            {"Fn::GetAtt": ["Named", "Arn"]},
        ],
    )
    def test_tell_wildcards_that_were_written_from_those_of_the_deploy(self, deployment_of: Any, resource: Any) -> None:
        named = {"Named": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "acme"}}}
        written = {"Effect": "Allow", "Action": "a:b", "Resource": resource}
        (found,) = deployment_of({"R": self.inline(written), **named}, **SECTIONS).roles
        assert found.statements[0].undecided == ()

    @pytest.mark.parametrize("statement", [UNDECIDABLE, [UNDECIDABLE], {"Effect": UNDECIDABLE, "Action": "a:b"}])
    def test_that_nobody_can_read_make_the_role_incomplete(self, deployment_of: Any, statement: object) -> None:
        (found,) = deployment_of({"R": self.inline(statement)}, **SECTIONS).roles
        assert (found.statements, found.complete) == ((), False)

    def test_may_be_in_a_document_written_as_text(self, deployment_of: Any) -> None:
        text = '{"Statement": {"Effect": "Allow", "Action": "ec2:DescribeVpcs", "Resource": "*"}}'
        read = deployment_of({"R": role(Policies=[{"PolicyName": "p", "PolicyDocument": text}])})
        assert read.roles[0].statements == (DESCRIBE,)

    def test_in_text_that_is_no_document_are_reported(self, deployment_of: Any) -> None:
        read = deployment_of({"R": role(Policies=[{"PolicyName": "p", "PolicyDocument": "{"}])})
        assert read.roles[0].complete is False
        assert refused(read) == ["Policies[0].PolicyDocument is '{'; use a map"]


class TestBucketPolicies:
    def policy(self, bucket: object, **statement: Any) -> dict[str, Any]:
        basics = {"Effect": "Allow", "Action": "s3:GetObject", "Principal": "*", "Resource": "*"}
        properties = {"Bucket": bucket, "PolicyDocument": {"Statement": {**basics, **statement}}}
        return {"Type": "AWS::S3::BucketPolicy", "Properties": properties}

    @pytest.mark.parametrize(
        ("bucket", "names"),
        [
            ("scripts", ("scripts",)),
            ({"Ref": "Named"}, ("acme",)),
            ({"Ref": "Made"}, ("<name of app.json.Made>",)),
            (UNDECIDABLE, (UNKNOWN,)),
        ],
    )
    def test_that_let_somebody_read_are_known_by_bucket(
        self, deployment_of: Any, bucket: object, names: object
    ) -> None:
        buckets = {
            "Named": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "acme"}},
            "Made": {"Type": "AWS::S3::Bucket"},
        }
        assert deployment_of({**buckets, "P": self.policy(bucket)}, **SECTIONS).granting_buckets == names

    @pytest.mark.parametrize("statement", [{"Effect": "Deny"}, {"Action": "s3:PutObject"}])
    def test_that_let_nobody_read_do_not_count(self, deployment_of: Any, statement: dict[str, Any]) -> None:
        assert deployment_of({"P": self.policy("scripts", **statement)}).granting_buckets == ()


ROOT: dict[str, Any] = {"AWS": {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}}
NODES: dict[str, Any] = {"AWS": {"Fn::GetAtt": ["R", "Arn"]}}


class TestKeys:
    def read(self, deployment_of: Any, *statements: dict[str, Any]) -> Key:
        basics = {"Effect": "Allow", "Action": "kms:*", "Resource": "*"}
        policy = {"Statement": [{**basics, **each} for each in statements]}
        properties = {"KeyPolicy": policy} if statements else {}
        (key,) = deployment_of({"R": role(), "K": {"Type": "AWS::KMS::Key", "Properties": properties}}).keys
        assert isinstance(key, Key)
        return key

    def test_leave_it_to_the_account_by_default(self, deployment_of: Any) -> None:
        assert self.read(deployment_of) == Key(path="app.json/K")

    @pytest.mark.parametrize("principal", [ROOT, {"AWS": "111122223333"}, {"AWS": ["*"]}, "*"])
    def test_leave_it_to_the_account_where_their_policy_says_so(self, deployment_of: Any, principal: Any) -> None:
        assert self.read(deployment_of, {"Principal": principal}).delegates is True

    def test_admit_whom_their_policy_names(self, deployment_of: Any) -> None:
        key = self.read(deployment_of, {"Principal": NODES, "Action": ["kms:CreateGrant", "kms:DescribeKey"]})
        assert (key.delegates, key.grantees, key.readers) == (False, ("app.json/R",), ())

    def test_admit_nobody_who_may_only_encrypt(self, deployment_of: Any) -> None:
        key = self.read(deployment_of, {"Principal": ROOT, "Action": "kms:Encrypt"})
        assert (key.delegates, key.grantees) == (False, ())

    def test_may_ask_for_a_context(self, deployment_of: Any) -> None:
        bound = {"Condition": {"StringEquals": {"kms:EncryptionContext:team": "a"}}}
        assert self.read(deployment_of, {"Principal": ROOT, **bound}).bound == ("kms:EncryptionContext:team",)
        free = {"Principal": NODES}
        assert self.read(deployment_of, {"Principal": ROOT, **bound}, free).bound == ()


class TestSecrets:
    def test_have_their_key(self, deployment_of: Any) -> None:
        secret = {"Type": "AWS::SecretsManager::Secret", "Properties": {"KmsKeyId": {"Fn::GetAtt": ["K", "Arn"]}}}
        read = deployment_of({"S": secret, "K": {"Type": "AWS::KMS::Key"}})
        assert read.secrets == (Secret(path="app.json/S", key="app.json/K"),)

    @pytest.mark.parametrize(("named", "key"), [({"Ref": "S"}, None), (UNDECIDABLE, UNKNOWN), ("arn:x", UNKNOWN)])
    def test_an_attachment_to_a_database_stands_for_its_secret(self, deployment_of: Any, named: Any, key: Any) -> None:
        attachment = {"Type": "AWS::SecretsManager::SecretTargetAttachment", "Properties": {"SecretId": named}}
        read = deployment_of({"S": {"Type": "AWS::SecretsManager::Secret"}, "A": attachment}, **SECTIONS)
        assert read.secret("app.json/A") == Secret(path="app.json/A", key=key)


class TestRetentionOfKeys:
    @pytest.mark.parametrize("properties", [{}, {"KeyPolicy": {"Statement": []}}])
    def test_is_what_the_policies_say(self, deployment_of: Any, properties: Any) -> None:
        body = {"Type": "AWS::KMS::Key", "Properties": properties}
        read = deployment_of({"K": body, "Kept": {**body, "DeletionPolicy": "Retain"}})
        assert [key.retention.on_delete for key in read.keys] == ["Delete", "Retain"]
