from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import pytest

from hyperpod_constructs.review.access import permissions
from tests.review.two_templates import PARAMETERS, Resources, compared

Said: TypeAlias = Callable[..., list[str]]

TRUST = {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}]}
DATA = "arn:aws:s3:::data/*"
AT_DEPLOY = "changes in a way that is known only at deploy"


@pytest.fixture
def said(tmp_path: Path) -> Said:
    """`path: what` of everything that is wider in the second of two sets of resources."""

    def compare(*sides: Resources) -> list[str]:
        found = permissions.of(compared(tmp_path, *sides))
        return [f"{each.path.removeprefix('app.json/')}: {each.what}" for each in found]

    return compare


def allow(action: Any, resource: Any = "*", **more: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def deny(action: Any, resource: Any = "*", **more: Any) -> dict[str, Any]:
    return {**allow(action, resource, **more), "Effect": "Deny"}


def inline(*statements: Any) -> dict[str, Any]:
    return {"PolicyName": "P", "PolicyDocument": {"Statement": [*statements]}}


def role(*statements: Any, **properties: Any) -> Resources:
    given = {"AssumeRolePolicyDocument": TRUST, "Policies": [inline(*statements)], **properties}
    return {"Type": "AWS::IAM::Role", "Properties": given}


def policy(*statements: Any, roles: Any = ({"Ref": "R"},), **body: Any) -> Resources:
    return {"Type": "AWS::IAM::Policy", "Properties": {**inline(*statements), "Roles": [*roles]}, **body}


def managed(*statements: Any, **properties: Any) -> Resources:
    document = inline(*statements)["PolicyDocument"]
    return {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": document, **properties}}


class TestAllowed:
    def test_more_actions(self, said: Said) -> None:
        before, after = role(allow("s3:GetObject", DATA)), role(allow(["s3:GetObject", "s3:PutObject"], DATA))
        assert said({"R": before}, {"R": after}) == [f"R: may now: s3:PutObject on {DATA}"]

    def test_more_resources_are_named_as_they_are_written(self, said: Said) -> None:
        bucket = {"Scratch": {"Type": "AWS::S3::Bucket"}}
        objects = {"Fn::Join": ["", [{"Fn::GetAtt": ["Scratch", "Arn"]}, "/*"]]}
        before, after = role(allow("s3:GetObject", DATA)), role(allow("s3:GetObject", [DATA, objects]))
        assert said({"R": before, **bucket}, {"R": after, **bucket}) == ["R: may now: s3:GetObject on <Scratch.Arn>/*"]

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ([allow("s3:GetObject", DATA)], [allow(["S3:getobject"], [DATA])]),
            ([allow("s3:Get*", DATA)], [allow("s3:GetObject", DATA)]),
            ([allow("s3:?etObject", "arn:aws:s3:::data*")], [allow("s3:GetObject", DATA)]),
            ([allow(["a:B", "a:C"], "*")], [allow("a:C"), allow("a:B")]),
            ([allow("a:B", "x"), allow("a:B", "y")], [allow("a:B", ["y", "x"])]),
            ([allow("*")], [allow("a:B", "x")]),
            ([{"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}], [allow("s3:*")]),
            (
                [{"Effect": "Allow", "NotAction": "a:*", "Resource": "*"}],
                [{"Effect": "Allow", "NotAction": ["a:*", "b:*"], "Resource": "*"}],
            ),
            ([allow("a:B"), allow("a:C")], [allow("a:B")]),
            ([allow("a:B")], [allow(["a:B", "a:C"]), {"Effect": "Deny", "NotAction": "a:B", "Resource": "*"}]),
        ],
    )
    def test_what_was_allowed_before_says_nothing(self, said: Said, before: list[Any], after: list[Any]) -> None:
        assert said({"R": role(*before)}, {"R": role(*after)}) == []

    @pytest.mark.parametrize(
        ("before", "after", "what"),
        [
            (allow("s3:GetObject", DATA), allow("s3:Get*", DATA), f"s3:Get* on {DATA}"),
            (allow("s3:Get?bject", "x"), allow("s3:Get*", "x"), "s3:Get* on x"),
            (allow("a:B", "arn:aws:s3:::data/a*"), allow("a:B", DATA), f"a:B on {DATA}"),
            (
                {"Effect": "Allow", "NotAction": ["a:*", "b:*"], "Resource": "*"},
                {"Effect": "Allow", "NotAction": "a:*", "Resource": "*"},
                "everything but a:* on *",
            ),
            ({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}, allow("iam:PassRole"), "iam:PassRole on *"),
            (
                allow("a:B", DATA),
                {"Effect": "Allow", "Action": "a:B", "NotResource": DATA},
                f"a:B on everything but {DATA}",
            ),
        ],
    )
    def test_a_wider_pattern(self, said: Said, before: Any, after: Any, what: str) -> None:
        assert said({"R": role(before)}, {"R": role(after)}) == [f"R: may now: {what}"]

    def test_actions_share_a_line_only_where_their_resources_are_the_same(self, said: Said) -> None:
        after = role(allow(["a:B", "a:C"], ["x", "y"]), allow("a:D", "x"))
        assert said({"R": role(allow("a:B", "x"))}, {"R": after}) == [
            "R: may now: a:B on y",
            "R: may now: a:C on x, y",
            "R: may now: a:D on x",
        ]

    def test_a_long_list_is_cut(self, said: Said) -> None:
        after = role(allow([f"a:A{number}" for number in range(7)], "x"))
        assert said({"R": role()}, {"R": after}) == ["R: may now: a:A0, a:A1, a:A2, a:A3, a:A4 and 2 more on x"]

    def test_a_bucket_is_the_same_by_arn_and_by_name(self, said: Said) -> None:
        bucket = {"Type": "AWS::S3::Bucket"}
        named = {**bucket, "Properties": {"BucketName": "named"}}
        before = [{"Fn::Sub": "${B.Arn}/*"}, "arn:aws:s3:::named"]
        after = [{"Fn::Sub": "arn:${AWS::Partition}:s3:::${B}/*"}, {"Fn::GetAtt": ["N", "Arn"]}]
        sides = ({"R": role(allow("a:B", given)), "B": bucket, "N": named} for given in (before, after))
        assert said(*sides) == []

    def test_an_arn_is_the_same_however_it_is_reached(self, said: Said) -> None:
        there = {"T": {"Type": "AWS::SNS::Topic"}, "K": {"Type": "AWS::KMS::Key"}}
        before = role(allow("a:B", [{"Ref": "T"}, {"Fn::GetAtt": ["K", "Arn"]}]))
        key = {"Fn::Sub": "arn:${AWS::Partition}:kms:${AWS::Region}:${AWS::AccountId}:key/${K}"}
        after = role(allow("a:B", [{"Fn::GetAtt": ["T", "TopicArn"]}, key]))
        assert said({"R": before, **there}, {"R": after, **there}) == []

    def test_a_topic_of_the_assembly_is_one_of_all_topics(self, said: Said) -> None:
        topic = {"Type": "AWS::SNS::Topic"}
        before, after = (
            role(allow("sns:Publish", "arn:aws:sns:*")),
            role(allow("sns:Publish", {"Fn::GetAtt": "T.TopicArn"})),
        )
        assert said({"R": before, "T": topic}, {"R": after, "T": topic}) == []


class TestConditions:
    TAG: ClassVar = {"StringEquals": {"aws:ResourceTag/team": "a"}}

    def test_a_removed_condition(self, said: Said) -> None:
        before, after = role(allow("a:B", Condition=self.TAG)), role(allow("a:B"))
        assert said({"R": before}, {"R": after}) == [
            "R: may now without the condition aws:ResourceTag/team StringEquals a: a:B on *"
        ]

    def test_another_value(self, said: Said) -> None:
        more = {"StringEquals": {"aws:ResourceTag/team": ["a", "b"]}}
        before, after = role(allow("a:B", Condition=self.TAG)), role(allow("a:B", Condition=more))
        assert said({"R": before}, {"R": after}) == [
            "R: may now under other conditions: a:B on *, if aws:ResourceTag/team StringEquals a, b"
        ]
        assert said({"R": after}, {"R": before}) == []

    def test_an_added_condition_narrows(self, said: Said) -> None:
        assert said({"R": role(allow("a:B"))}, {"R": role(allow("a:B", Condition=self.TAG))}) == []

    def test_fewer_exceptions_narrow_less(self, said: Said) -> None:
        but = {"StringNotEquals": {"k": ["a", "b"]}}, {"StringNotEquals": {"k": "a"}}
        before, after = (role(allow("a:B", Condition=each)) for each in but)
        assert said({"R": before}, {"R": after}) == [
            "R: may now under other conditions: a:B on *, if k StringNotEquals a"
        ]
        assert said({"R": after}, {"R": before}) == []

    def test_a_key_that_may_be_missing_becomes_one_that_must_be_there(self, said: Said) -> None:
        loose, strict = {"StringEqualsIfExists": {"K": "a"}}, {"stringEquals": {"k": ["a"]}}
        assert said({"R": role(allow("a:B", Condition=loose))}, {"R": role(allow("a:B", Condition=strict))}) == []

    def test_a_value_that_only_the_deploy_decides(self, said: Said) -> None:
        known, given = ({"StringEquals": {"k": each}} for each in ("a", {"Ref": "Given"}))
        before, after = role(allow("a:B", Condition=known)), role(allow("a:B", Condition=given))
        assert said({"R": before}, {"R": after}) == [f"R: {AT_DEPLOY}"]


class TestDenied:
    def test_a_removed_denial(self, said: Said) -> None:
        before, after = role(allow("a:*"), deny(["a:B", "a:C"])), role(allow("a:*"), deny("a:B"))
        assert said({"R": before}, {"R": after}) == ["R: no longer denied: a:C on *"]

    def test_a_denial_under_conditions(self, said: Said) -> None:
        when = {"Bool": {"aws:SecureTransport": "false"}}
        before, after = role(deny("a:B")), role(deny("a:B", Condition=when))
        assert said({"R": before}, {"R": after}) == ["R: denied under other conditions: a:B on *"]
        assert said({"R": after}, {"R": before}) == []

    def test_more_denied_or_split(self, said: Said) -> None:
        assert said({"R": role(deny(["a:B", "a:C"]))}, {"R": role(deny("a:B"), deny("a:?"), deny("x:*"))}) == []


class TestHolders:
    def test_a_statement_may_move_between_policies_of_one_role(self, said: Said) -> None:
        statement = allow("a:B", "x")
        sides = [
            {"R": role(statement)},
            {"R": role(), "P": policy(statement)},
            {"R": role(), "M": managed(statement, Roles=[{"Ref": "R"}])},
            {"R": role(ManagedPolicyArns=[{"Ref": "M"}]), "M": managed(statement)},
        ]
        assert [said(before, after) for before in sides for after in sides] == [[]] * 16

    def test_a_policy_for_one_more_role(self, said: Said) -> None:
        roles = {"R": role(), "S": role()}
        before, after = policy(allow("a:B", "x")), policy(allow("a:B", "x"), roles=[{"Ref": "R"}, {"Ref": "S"}])
        assert said({**roles, "P": before}, {**roles, "P": after}) == ["S: may now: a:B on x"]

    def test_a_role_by_its_name(self, said: Said) -> None:
        named = role(allow("a:B", "x"), RoleName="nodes")
        moved = {"R": role(RoleName="nodes"), "P": policy(allow("a:B", "x"), roles=["nodes"])}
        assert said({"R": named}, moved) == []

    def test_a_role_of_elsewhere(self, said: Said) -> None:
        before, after = policy(allow("a:B", "x"), roles=["far"]), policy(allow(["a:B", "a:C"], "x"), roles=["far"])
        assert said({"P": before}, {"P": after}) == ["P: may now: a:C on x"]

    def test_a_role_that_only_the_deploy_names(self, said: Said) -> None:
        before, after = ({"P": policy(allow("a:B", "x"), roles=[{"Ref": name}])} for name in PARAMETERS)
        assert said(before, before) == []
        assert said(before, after) == [f"P: {AT_DEPLOY}"]

    def test_a_policy_that_nobody_has(self, said: Said) -> None:
        before, after = managed(allow("a:B", "x")), managed(allow("a:C", "x"))
        assert said({"M": before}, {"M": after}) == ["M: may now: a:C on x"]

    def test_a_removed_role_or_policy(self, said: Said) -> None:
        assert said({"R": role(allow("a:B"), deny("a:C"))}, {"Q": {"Type": "AWS::SQS::Queue"}}) == []
        assert said({"R": role(), "P": policy(deny("a:C"))}, {"R": role()}) == ["R: no longer denied: a:C on *"]

    def test_managed_policies_of_others(self, said: Said) -> None:
        admin, read = (f"arn:aws:iam::aws:policy/{name}" for name in ("AdministratorAccess", "ReadOnlyAccess"))
        assert said({"R": role()}, {"R": role(ManagedPolicyArns=[read])}) == [
            "R: has the managed policy ReadOnlyAccess now"
        ]
        assert said({"R": role(ManagedPolicyArns=[admin])}, {"R": role(allow("a:*"))}) == []

    def test_a_managed_policy_that_may_be_the_same(self, said: Said) -> None:
        given = role(ManagedPolicyArns=[{"Ref": "Given"}])
        known = role(ManagedPolicyArns=["arn:aws:iam::aws:policy/ReadOnlyAccess"])
        assert said({"R": given}, {"R": known}) == [f"R: {AT_DEPLOY}"]

    def test_the_permissions_boundary(self, said: Said) -> None:
        one, two = (role(PermissionsBoundary=f"arn:aws:iam::111122223333:policy/{name}") for name in ("one", "two"))
        assert said({"R": one}, {"R": role()}) == ["R: has no permissions boundary instead of one"]
        assert said({"R": one}, {"R": two}) == ["R: has the permissions boundary two instead of one"]
        assert said({"R": role()}, {"R": one}) == []
        maybe = role(PermissionsBoundary={"Fn::If": ["Maybe", "x", {"Ref": "AWS::NoValue"}]})
        assert said({"R": maybe}, {"R": role()}) == [f"R: {AT_DEPLOY}"]


class TestUnknown:
    GIVEN: ClassVar = {"Fn::Sub": "arn:aws:s3:::${Given}/*"}
    OTHER: ClassVar = {"Fn::Sub": "arn:aws:s3:::${Other}/*"}

    def test_the_same_on_both_sides_says_nothing(self, said: Said) -> None:
        given = {"R": role(allow("a:B", self.GIVEN), {"Fn::If": ["Maybe", allow("a:C"), allow("a:D")]})}
        assert said(given, given) == []

    def test_another_name_for_what_may_be_the_same(self, said: Said) -> None:
        before, after = role(allow("a:B", self.GIVEN)), role(allow("a:B", self.OTHER))
        assert said({"R": before}, {"R": after}) == [f"R: {AT_DEPLOY}"]
        assert said({"R": role(allow("a:B", DATA))}, {"R": after}) == [f"R: {AT_DEPLOY}"]

    def test_an_action_that_was_not_allowed_at_all_is_certain(self, said: Said) -> None:
        before, after = role(allow("a:B", self.GIVEN)), role(allow(["a:B", "a:C"], self.GIVEN))
        assert said({"R": before}, {"R": after}) == ["R: may now: a:C on arn:aws:s3:::<Given>/*"]

    def test_a_pattern_around_the_same_unknown_is_certain(self, said: Said) -> None:
        arn = "arn:${AWS::Partition}:a:${AWS::Region}:${AWS::AccountId}:thing/"
        before, after = (role(allow("a:B", {"Fn::Sub": arn + end})) for end in ("x*", "*"))
        assert said({"R": before}, {"R": after}) == ["R: may now: a:B on arn:aws:a:<Region>:<AccountId>:thing/*"]
        assert said({"R": after}, {"R": before}) == []

    def test_another_one_beside_it_is_another_one(self, said: Said) -> None:
        before, after = role(allow("a:B", self.GIVEN)), role(allow("a:B", [self.GIVEN, self.OTHER]))
        assert said({"R": before}, {"R": after}) == ["R: may now: a:B on arn:aws:s3:::<Other>/*"]

    def test_join_and_sub_are_the_same(self, said: Said) -> None:
        join = {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":s3:::", {"Ref": "Given"}, "/*"]]}
        assert said({"R": role(allow("a:B", self.GIVEN))}, {"R": role(allow("a:B", join))}) == []

    def test_a_statement_that_the_deploy_chooses(self, said: Said) -> None:
        chosen = {"Fn::If": ["Maybe", allow("a:B"), allow("a:C")]}
        assert said({"R": role(chosen)}, {"R": role(allow("a:B"))}) == [f"R: {AT_DEPLOY}"]
        assert said({"R": role(allow("a:B"))}, {"R": role(allow("a:B"), chosen)}) == [f"R: {AT_DEPLOY}"]

    @pytest.mark.parametrize(
        "odd", ["text", "", [""], 7, None, [], {}, {"Statement": 5}, {"Statement": [{"Effect": "Maybe"}]}]
    )
    def test_what_is_no_policy_raises_nothing(self, said: Said, odd: Any) -> None:
        given = role(Policies=[{"PolicyDocument": odd}], AssumeRolePolicyDocument=odd, PermissionsBoundary=odd)
        assert said({"R": given}, {"R": given}) == []
        said({"R": role()}, {"R": given})
        said({"R": given}, {"R": role(Policies=odd, ManagedPolicyArns=odd)})

    def test_a_document_written_as_text(self, said: Said) -> None:
        text = json.dumps(inline(allow("a:B", "x"))["PolicyDocument"])
        assert said({"R": role(allow("a:B", "x"))}, {"R": role(Policies=[{"PolicyDocument": text}])}) == []


class TestTrust:
    def trusting(self, principal: Any, **more: Any) -> Resources:
        document = {"Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal, **more}]}
        return {"R": role(AssumeRolePolicyDocument=document)}

    def test_one_more(self, said: Said) -> None:
        before = self.trusting({"Service": "ec2.amazonaws.com"})
        after = self.trusting({"Service": ["ec2.amazonaws.com", "ssm.amazonaws.com"], "AWS": "111122223333"})
        assert said(before, after) == ["R: now open to account 111122223333, ssm.amazonaws.com: sts:AssumeRole"]
        assert said(after, before) == []

    def test_without_the_confused_deputy_check(self, said: Said) -> None:
        service = {"Service": "ec2.amazonaws.com"}
        before = self.trusting(service, Condition={"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}})
        lead = "now open without the condition aws:SourceAccount StringEquals <AccountId>"
        assert said(before, self.trusting(service)) == [f"R: {lead} to ec2.amazonaws.com: sts:AssumeRole"]

    def test_an_account_by_its_id_or_root(self, said: Said) -> None:
        root = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
        assert said(self.trusting({"AWS": {"Ref": "AWS::AccountId"}}), self.trusting({"AWS": root})) == []

    def test_a_service_by_its_suffix(self, said: Said) -> None:
        service = {"Service": {"Fn::Sub": "ec2.${AWS::URLSuffix}"}}
        assert said(self.trusting({"Service": "ec2.amazonaws.com"}), self.trusting(service)) == []


class TestOfResources:
    def bucket(self, *statements: Any) -> Resources:
        body = {"Bucket": {"Ref": "B"}, "PolicyDocument": {"Statement": [*statements]}}
        return {"B": {"Type": "AWS::S3::Bucket"}, "P": {"Type": "AWS::S3::BucketPolicy", "Properties": body}}

    READ: ClassVar = allow("s3:GetObject", {"Fn::Sub": "${B.Arn}/*"}, Principal="*")
    TLS: ClassVar = deny("s3:*", "*", Principal={"AWS": "*"}, Condition={"Bool": {"aws:SecureTransport": "false"}})

    def test_a_bucket_opened(self, said: Said) -> None:
        opened = ["B: now open to anyone: s3:GetObject on <B.Arn>/*"]
        assert said(self.bucket(), self.bucket(self.READ)) == opened
        assert said({"B": {"Type": "AWS::S3::Bucket"}}, self.bucket(self.READ)) == opened
        assert said({"Q": {"Type": "AWS::SQS::Queue"}}, self.bucket(self.READ)) == opened

    def test_tls_no_longer_asked_for(self, said: Said) -> None:
        lines = [
            "B: no longer denied to anyone: s3:*, if aws:SecureTransport Bool false",
        ]
        assert said(self.bucket(self.TLS), self.bucket()) == lines
        assert said(self.bucket(self.TLS), {"B": {"Type": "AWS::S3::Bucket"}}) == lines

    def test_a_key(self, said: Said) -> None:
        def key(*principals: Any) -> Resources:
            statements = [allow("kms:*", Principal={"AWS": each}) for each in principals]
            return {"K": {"Type": "AWS::KMS::Key", "Properties": {"KeyPolicy": {"Statement": statements}}}}

        own, other = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}, "444455556666"
        assert said(key(own), key(own, other)) == ["K: now open to account 444455556666: kms:*"]
        assert said({"Q": {"Type": "AWS::SQS::Queue"}}, key(own)) == []
        assert said({"K": {"Type": "AWS::KMS::Key"}}, key(own)) == []

    @pytest.mark.parametrize(
        ("kind", "target", "holder"),
        [
            ("AWS::SNS::TopicPolicy", {"Topics": [{"Ref": "X"}]}, "AWS::SNS::Topic"),
            ("AWS::SQS::QueuePolicy", {"Queues": [{"Ref": "X"}]}, "AWS::SQS::Queue"),
            ("AWS::SecretsManager::ResourcePolicy", {"SecretId": {"Ref": "X"}}, "AWS::SecretsManager::Secret"),
        ],
    )
    def test_others(self, said: Said, kind: str, target: Any, holder: str) -> None:
        name = "ResourcePolicy" if "Secrets" in kind else "PolicyDocument"
        sides = [
            {"X": {"Type": holder}, "P": {"Type": kind, "Properties": {**target, name: {"Statement": statements}}}}
            for statements in ([], [allow("a:B", Principal={"AWS": "444455556666"})])
        ]
        assert said(*sides) == ["X: now open to account 444455556666: a:B"]

    def test_what_guards_a_topic_speaks_of_all_of_it(self, said: Said) -> None:
        def topic(resource: Any) -> Resources:
            statement = allow("sns:Publish", resource, Principal={"Service": "events.amazonaws.com"})
            body = {"Topics": [{"Ref": "T"}], "PolicyDocument": {"Statement": statement}}
            return {"T": {"Type": "AWS::SNS::Topic"}, "P": {"Type": "AWS::SNS::TopicPolicy", "Properties": body}}

        assert said(topic({"Ref": "T"}), topic("*")) == []

    def test_a_bucket_of_elsewhere(self, said: Said) -> None:
        given = self.bucket(self.READ)
        given["P"]["Properties"]["Bucket"] = "far"
        assert said({"B": given["B"]}, given) == ["P: now open to anyone: s3:GetObject on <B.Arn>/*"]


class TestNew:
    def test_a_role_of_least_privilege_says_nothing(self, said: Said) -> None:
        nodes = role(
            allow(["s3:GetObject", "s3:PutObject"], DATA),
            allow(["ec2:DescribeVpcs", "ecr:GetAuthorizationToken", "ecr:BatchGetImage"]),
            allow(["kms:Decrypt", "kms:GenerateDataKey*"], "arn:aws:kms:us-west-2:111122223333:key/x"),
            deny("iam:*"),
        )
        assert said({"Q": {"Type": "AWS::SQS::Queue"}}, {"R": nodes}) == []

    @pytest.mark.parametrize(
        ("statement", "what"),
        [
            (allow("*", DATA), f"* on {DATA}"),
            (allow("s3:*", DATA), f"s3:* on {DATA}"),
            (allow(["iam:PassRole", "iam:GetRole"], "arn:x"), "iam:PassRole on arn:x"),
            (allow("kms:PutKeyPolicy", "arn:x"), "kms:PutKeyPolicy on arn:x"),
            (allow(["ec2:CreateTags", "ec2:DescribeTags"]), "ec2:CreateTags on *"),
            ({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}, "everything but iam:* on *"),
            (allow("a:B", Condition={"Bool": {"k": True}}), "a:B on *, if k Bool true"),
        ],
    )
    def test_what_is_notable(self, said: Said, statement: Any, what: str) -> None:
        assert said({"Q": {"Type": "AWS::SQS::Queue"}}, {"R": role(statement)}) == [f"R: may now: {what}"]

    def test_managed_policies(self, said: Said) -> None:
        arns = [f"arn:aws:iam::aws:policy/{name}" for name in ("AmazonSSMManagedInstanceCore", "AmazonS3FullAccess")]
        assert said({"Q": {"Type": "AWS::SQS::Queue"}}, {"R": role(ManagedPolicyArns=arns)}) == [
            "R: has the managed policy AmazonS3FullAccess now"
        ]

    def test_another_account(self, said: Said) -> None:
        new = TestTrust().trusting({"AWS": ["444455556666", {"Ref": "AWS::AccountId"}, {"Ref": "Given"}]})
        assert said({"Q": {"Type": "AWS::SQS::Queue"}}, new) == ["R: now open to account 444455556666: sts:AssumeRole"]


def test_order_means_nothing(said: Said) -> None:
    given = role(
        allow(["a:B", "a:C"], ["x", DATA], Condition={"Bool": {"k": "true"}}), deny("a:D"), {"Effect": "Maybe"}
    )
    turned = role({"Effect": "Maybe"}, deny("a:D"), allow(["a:C", "a:B"], [DATA, "x"], Condition={"Bool": {"k": True}}))
    assert said({"R": given, "Q": {"Type": "AWS::SQS::Queue"}}, {"Q": {"Type": "AWS::SQS::Queue"}, "R": turned}) == []


def test_many_statements_of_which_nobody_knows_which_is_which(said: Said) -> None:
    before, after = (
        role(*(allow(f"a:{letter}*{number}", {"Fn::Sub": f"{letter}${{{name}}}"}) for number in range(201)))
        for letter, name in (("x", "Given"), ("x*", "Other"))
    )
    assert said({"R": before}, {"R": after}) == [f"R: {AT_DEPLOY}"]
