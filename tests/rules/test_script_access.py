"""What is said of whether nodes find and can read their scripts."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.catalog.permissions import NODE_POLICY
from hyperpod_constructs.model.deployment import Location
from hyperpod_constructs.model.identity import Key, Role, Statement
from hyperpod_constructs.model.lifecycle import Bucket, Upload
from hyperpod_constructs.model.storage import Retention
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import cluster, compute, deployment, login, slurm_cluster, told
from tests.rules.scripts import LISTING, OBJECTS, SOURCE, Reading, lifecycle, statement


class TestNodesCanReadTheirScripts(Reading):
    rule = "HP5009"

    def test_the_managed_policy_does_not_open_the_bucket(self) -> None:
        assert self.of() == [
            (
                "HP5009 role of group 'p5', whose scripts are at s3://acme-scripts/lcs, lacks s3:GetObject on "
                "acme-scripts/lcs/* and s3:ListBucket on acme-scripts | allow s3:GetObject on "
                "arn:aws:s3:::acme-scripts/lcs/* and s3:ListBucket on arn:aws:s3:::acme-scripts "
                "(bucket.grant_read(role) in the CDK)"
            )
        ]

    def test_get_object_on_the_bucket_opens_no_object(self) -> None:
        assert self.of(statement(("s3:GetObject", "s3:ListBucket"), ("arn:aws:s3:::acme-scripts",))) == [
            (
                "HP5009 role of group 'p5', whose scripts are at s3://acme-scripts/lcs, lacks s3:GetObject on "
                "acme-scripts/lcs/*; it has s3:GetObject on the bucket itself, which opens no object | allow "
                "s3:GetObject on arn:aws:s3:::acme-scripts/lcs/* (bucket.grant_read(role) in the CDK)"
            )
        ]

    @pytest.mark.parametrize(("buckets", "findings"), [(("acme-scripts",), 0), ((UNKNOWN,), 0), (("other",), 1)])
    def test_a_bucket_policy_may_grant_it(self, buckets: tuple[Any, ...], findings: int) -> None:
        its = Role(path="Role", trusts=("sagemaker.amazonaws.com",), managed_policies=(NODE_POLICY,))
        group = compute(lifecycle=lifecycle(source_uri="s3://acme-scripts/lcs"), execution_role="Role")
        judged = deployment(slurm_cluster(group), roles=(its,), granting_buckets=buckets)
        assert len(told("HP5009", judged)) == findings

    def test_another_bucket_does_not_count(self) -> None:
        assert len(self.of(LISTING, statement(("s3:GetObject",), ("arn:aws:s3:::acme-scripts-old/*",)))) == 1

    @pytest.mark.parametrize(
        "statements",
        [
            (OBJECTS, LISTING),
            (statement(("s3:*",)),),
            (statement(("S3:getobject", "s3:List*"), ("arn:aws:s3:::acme-*",), conditional=True),),
        ],
    )
    def test_is_silent_where_it_is_granted(self, statements: tuple[Statement, ...]) -> None:
        assert self.of(*statements) == []

    @pytest.mark.parametrize(
        "uri", [SOURCE, "s3://sagemaker-*", "s3://sage*", "s3://*", UNKNOWN, "nonsense", "s3://A_B"]
    )
    def test_is_silent_on_buckets_that_are_open_or_unknown(self, uri: Any) -> None:
        assert self.of(uri=uri) == []

    @pytest.mark.parametrize("uri", [SOURCE, "s3://sagemaker-*"])
    def test_without_the_managed_policy_no_name_opens_a_bucket(self, uri: str) -> None:
        (said,) = self.of(uri=uri, managed_policies=())
        assert said.endswith(
            "| attach the managed policy AmazonSageMakerClusterInstanceRolePolicy, which allows it for buckets of such "
            "a name"
        )

    def test_nor_does_a_name_that_only_the_deploy_knows(self) -> None:
        assert self.of(uri="s3://*", managed_policies=()) == [
            (
                "HP5009 role of group 'p5', whose scripts are at s3://* (* is decided at deploy), lacks s3:GetObject "
                "on the scripts and s3:ListBucket on their bucket | allow s3:GetObject on the scripts and "
                "s3:ListBucket on their bucket (bucket.grant_read(role) in the CDK)"
            )
        ]

    def test_a_grant_on_another_folder_does_not_count(self) -> None:
        (said,) = self.of(LISTING, statement(("s3:GetObject",), ("arn:aws:s3:::acme-scripts/other/*",)))
        assert (
            "lacks s3:GetObject on acme-scripts/lcs/* | allow s3:GetObject on arn:aws:s3:::acme-scripts/lcs/* " in said
        )

    @pytest.mark.parametrize("resource", ["*", "arn:aws:s3:::acme-scripts/*", "arn:aws:s3:::acme-*"])
    def test_a_denial_takes_it_away(self, resource: str) -> None:
        denial = statement(("s3:Get*",), (resource,), allow=False)
        (said,) = self.of(OBJECTS, LISTING, denial)
        assert said.endswith(
            "lacks s3:GetObject on acme-scripts/lcs/* | take s3:GetObject out of the role's statement with Effect: Deny"
        )

    @pytest.mark.parametrize(
        "fields",
        [
            {"conditional": True},
            {"inverted": True},
            {"resources": ("arn:aws:s3:::acme-scripts/lcs/secret/*",)},
            {"resources": ("arn:aws:s3:::acme-*",), "undecided": ("arn:aws:s3:::acme-*",)},
            {"resources": UNKNOWN},
        ],
    )
    def test_a_denial_that_may_spare_the_scripts_does_not(self, fields: dict[str, Any]) -> None:
        denial = statement(("s3:Get*",), **{"allow": False, **fields})
        assert self.of(OBJECTS, LISTING, denial) == []

    def test_what_the_role_denies_no_bucket_policy_gives_back(self) -> None:
        denial = statement(("s3:*",), allow=False)
        its = Role(path="Role", trusts=(), managed_policies=(NODE_POLICY,), statements=(denial,))
        group = compute(lifecycle=lifecycle(source_uri="s3://acme-scripts/lcs"), execution_role="Role")
        judged = deployment(slurm_cluster(group), roles=(its,), granting_buckets=("acme-scripts",))
        assert len(told("HP5009", judged)) == 1

    def test_is_told_once_of_all_groups_with_the_role(self) -> None:
        its = Role(path="Role", trusts=(), managed_policies=(NODE_POLICY,))
        scripts = {"lifecycle": lifecycle(source_uri="s3://acme-scripts/lcs"), "execution_role": "Role"}
        groups = [compute(**scripts), login(**scripts)]
        other = slurm_cluster(compute(name="gpu", **scripts), path="Other")
        (said,) = told("HP5009", deployment(slurm_cluster(*groups), other, roles=(its,)))
        assert said.startswith("HP5009 role of groups 'p5', 'login' and 'gpu', whose scripts are at")

    def test_the_beginning_of_a_name_is_enough(self) -> None:
        granting = (statement(("s3:*",), ("arn:aws:s3:::acme-*",)),)
        assert len(self.of(uri="s3://acme-*")) == 1
        assert self.of(*granting, uri="s3://acme-*") == []

    def test_a_name_that_cloudformation_makes_begins_with_that_of_the_stack(self) -> None:
        assert self.of(uri="s3://train-<name of Train.Scripts>/lcs") == [
            (
                "HP5009 role of group 'p5', whose scripts are at s3://train-<name of Train.Scripts>/lcs, lacks "
                "s3:GetObject on train-<name of Train.Scripts>/lcs/* and s3:ListBucket on "
                "train-<name of Train.Scripts> | allow s3:GetObject on "
                "arn:aws:s3:::train-<name of Train.Scripts>/lcs/* and s3:ListBucket on "
                "arn:aws:s3:::train-<name of Train.Scripts> (bucket.grant_read(role) in the CDK)"
            )
        ]
        assert self.of(uri="s3://sagemaker-stack-<name of Train.Scripts>/lcs") == []

    def test_is_silent_where_the_stack_may_have_any_name(self) -> None:
        assert self.of(uri="s3://<name of Train.Scripts>/lcs") == []

    def test_says_which_half_is_on_the_wrong_resource(self) -> None:
        wrong = (
            statement(("s3:GetObject",), ("arn:aws:s3:::acme-scripts",)),
            statement(("s3:ListBucket",), ("arn:aws:s3:::acme-scripts/*",)),
        )
        (said,) = self.of(*wrong)
        assert "; it has s3:GetObject on the bucket itself, which opens no object; it has s3:ListBucket on the " in said

    @pytest.mark.parametrize("unknown", [UNKNOWN, (UNKNOWN,)])
    def test_is_silent_where_a_statement_is_not_known(self, unknown: Any) -> None:
        assert self.of(statement(unknown)) == self.of(statement(("s3:*",), unknown)) == []

    @pytest.mark.parametrize(
        "fields",
        [{"complete": False}, {"managed_policies": UNKNOWN}, {"managed_policies": ("AmazonS3ReadOnlyAccess",)}],
    )
    def test_is_silent_where_not_all_policies_are_known(self, fields: dict[str, Any]) -> None:
        assert self.of(**fields) == []

    @pytest.mark.parametrize("role", ["arn:aws:iam::111122223333:role/nodes", UNKNOWN, None])
    def test_is_silent_on_other_roles(self, role: Any) -> None:
        assert self.of(role=role) == []


class TestNodesMayReadTheirScripts(Reading):
    rule = "HP5010"

    def test_an_imported_role_must_be_looked_at(self) -> None:
        assert self.of(role="arn:aws:iam::111122223333:role/nodes") == [
            (
                "HP5010 the scripts of group 'p5' are at s3://acme-scripts/lcs, and not all policies of the role "
                "arn:aws:iam::111122223333:role/nodes are known here | see that it has s3:GetObject on "
                "acme-scripts/lcs/* and s3:ListBucket on acme-scripts, or use a bucket that begins with sagemaker-"
            )
        ]

    def test_so_must_one_of_which_not_all_is_known(self) -> None:
        assert len(self.of(complete=False)) == 1

    def test_is_silent_where_the_grant_is_seen(self) -> None:
        assert self.of(OBJECTS, LISTING, complete=False) == []

    @pytest.mark.parametrize("role", ["Role", UNKNOWN, None])
    def test_is_silent_on_known_roles_and_on_those_decided_at_deploy(self, role: Any) -> None:
        assert self.of(role=role) == []

    @pytest.mark.parametrize("uri", [SOURCE, "s3://sagemaker-*", "s3://A_B/lcs", UNKNOWN])
    def test_is_silent_on_buckets_that_are_open_none_or_unknown(self, uri: Any) -> None:
        assert self.of(uri=uri, role="arn:role") == []

    @pytest.mark.parametrize("uri", ["s3://*", "s3://sage*"])
    def test_a_bucket_of_a_parameter_may_have_any_name(self, uri: str) -> None:
        assert self.of(uri=uri) == [
            (
                f"HP5010 the scripts of group 'p5' are at {uri} (* is decided at deploy); the role Role can read that "
                "bucket only if its name, which is made at deploy, begins with sagemaker- "
                "(AmazonSageMakerClusterInstanceRolePolicy) | allow s3:GetObject and s3:ListBucket on it "
                "(bucket.grant_read(role) in the CDK), or see that its name begins with sagemaker-"
            )
        ]
        assert len(self.of(uri=uri, role="arn:role")) == 1

    def test_is_silent_where_the_grant_is_for_a_parameter_too(self) -> None:
        granting = (statement(("s3:Get*",), ("arn:aws:s3:::*/*",)), statement(("s3:List*",), ("arn:aws:s3:::*",)))
        assert self.of(*granting, uri="s3://*") == []

    def test_is_silent_where_the_other_rule_says_that_they_cannot(self) -> None:
        assert self.of(uri="s3://*", managed_policies=()) == []

    def test_is_told_once_of_groups_with_one_role_and_one_folder(self) -> None:
        scripts = {"lifecycle": lifecycle(source_uri="s3://acme-scripts/lcs"), "execution_role": "arn:role"}
        groups = [compute(**scripts), login(**scripts)]
        (found,) = RULES["HP5010"].findings(deployment(slurm_cluster(*groups)))
        assert (found.path, "groups 'p5' and 'login'" in found.message) == ("Train", True)

    def test_a_bucket_named_by_cloudformation_may_begin_with_anything(self) -> None:
        (said,) = self.of(uri="s3://<name of Train.Scripts>/lcs")
        assert "the role Role can read that bucket only if its name, which is made at deploy, begins with" in said
        granting = (
            statement(("s3:GetObject",), ("arn:*:s3:::<name of Train.Scripts>/*",)),
            statement(("s3:ListBucket",), ("arn:*:s3:::<name of Train.Scripts>",)),
        )
        assert self.of(*granting, uri="s3://<name of Train.Scripts>/lcs") == []


NAME = "<name of Train.Scripts>"
SCRIPTS = lifecycle(source_uri=f"s3://{NAME}/lcs")


def uploading(*uploads: Upload, rule: str, bucket: dict[str, Any] | None = None, **fields: Any) -> list[str]:
    """What a rule says of a cluster with scripts in a bucket of the template, and of what is copied there."""
    its = cluster(groups=(compute(lifecycle=SCRIPTS, execution_role="Role"),), **{"depends_on": frozenset(), **fields})
    there = Bucket(**{"path": "Scripts", "name": NAME, **(bucket or {})})
    here = dict.fromkeys(("Train", "Scripts", "Upload", "Other"), Location("t.yaml", 1))
    return told(rule, deployment(its, buckets=(there,), uploads=uploads, locations=here))


def upload(**fields: Any) -> Upload:
    return Upload(**{"path": "Upload", "bucket": NAME, "prefix": "lcs", **fields})


class TestClustersWaitForUploads:
    @pytest.mark.parametrize("prefix", ["lcs", "", "lcs/v1", UNKNOWN])
    def test_an_upload_may_come_after_the_cluster(self, prefix: Any) -> None:
        assert uploading(upload(prefix=prefix), rule="HP5017") == [
            (
                "HP5017 the cluster does not wait for Upload, which uploads the scripts at s3://<name of "
                "Train.Scripts>/lcs | let the cluster depend on Upload: DependsOn in a template, "
                "cluster.node.add_dependency(deployment) in the CDK"
            )
        ]

    def test_is_silent_where_it_waits(self) -> None:
        assert uploading(upload(), rule="HP5017", depends_on=frozenset({"Upload"})) == []

    @pytest.mark.parametrize("fields", [{"prefix": "lcs2"}, {"bucket": "other"}, {"bucket": UNKNOWN}])
    def test_is_silent_on_what_lands_elsewhere_or_nobody_knows_where(self, fields: dict[str, Any]) -> None:
        assert uploading(upload(**fields), rule="HP5017") == []

    def test_is_silent_where_the_order_is_not_known(self) -> None:
        assert uploading(upload(), rule="HP5017", depends_on=None) == []


class TestUploadsLeaveEachOtherAlone:
    def test_one_place_for_two_is_a_mistake(self) -> None:
        assert uploading(upload(), upload(path="Other"), rule="HP5018") == [
            (
                "HP5018 Upload and Other both copy to s3://<name of Train.Scripts>/lcs, and Upload deletes what is "
                "not its own there | give each a prefix of its own, outside the other's, or prune=False"
            )
        ]

    def test_so_is_a_place_inside_that_of_another(self) -> None:
        (said,) = uploading(upload(prefix="lcs/v1"), upload(path="Other", prefix=""), rule="HP5018")
        assert "and Other deletes" in said

    @pytest.mark.parametrize(
        "fields", [{"prune": False}, {"prune": UNKNOWN}, {"filtered": True}, {"prefix": "lcs2"}, {"bucket": "other"}]
    )
    def test_is_silent_where_they_leave_each_other_alone(self, fields: dict[str, Any]) -> None:
        assert uploading(upload(**fields), upload(path="Other", prune=False), rule="HP5018") == []


class TestBucketsOfScriptsAreFilled:
    def test_an_empty_bucket_has_no_script(self) -> None:
        (said,) = uploading(rule="HP5019")
        assert "nothing here puts them there: the bucket Scripts is empty" in said

    def test_is_silent_where_something_does_or_may_put_them_there(self) -> None:
        assert uploading(upload(), rule="HP5019") == []
        assert uploading(rule="HP5019", bucket={"handed_out": True}) == []

    def test_is_silent_on_a_bucket_of_another_template(self) -> None:
        assert uploading(rule="HP5019", bucket={"path": "Elsewhere"}) == []


class TestBucketsOfScriptsAreKeptOrEmptied:
    def test_a_bucket_with_objects_cannot_be_deleted(self) -> None:
        (said,) = uploading(rule="HP5020")
        assert said.startswith("HP5020 the bucket holds the scripts of a cluster and is deleted with the stack")

    @pytest.mark.parametrize(
        "bucket",
        [
            {"retention": Retention(on_delete="Retain")},
            {"retention": Retention(on_delete="RetainExceptOnCreate")},
            {"retention": Retention(on_delete=UNKNOWN)},
            {"emptied": True},
            {"name": "other"},
            {"name": UNKNOWN},
        ],
    )
    def test_is_silent_where_it_is_kept_emptied_or_another(self, bucket: dict[str, Any]) -> None:
        assert uploading(rule="HP5020", bucket=bucket) == []


class TestNodesCanDecryptTheirScripts:
    def of(self, *statements: Statement, key: Any = "Key", keys: tuple[Key, ...] = (), **fields: Any) -> list[str]:
        its = Role(path="Role", trusts=(), managed_policies=(NODE_POLICY,), statements=statements, **fields)
        group = compute(lifecycle=SCRIPTS, execution_role="Role")
        there = Bucket(path="Scripts", name=NAME, key=key)
        return told("HP5021", deployment(slurm_cluster(group), roles=(its,), buckets=(there,), keys=keys))

    def test_a_customer_key_takes_a_permission_of_its_own(self) -> None:
        assert self.of() == [
            (
                "HP5021 role of group 'p5' lacks kms:Decrypt on Key, the key that encrypts the scripts in Scripts "
                "| allow kms:Decrypt on the key (bucket.grant_read(role) in the CDK), unless the key's policy "
                "admits the role"
            )
        ]

    @pytest.mark.parametrize("key", [None, UNKNOWN, "alias/aws/s3"])
    def test_is_silent_without_a_customer_key(self, key: Any) -> None:
        assert self.of(key=key) == []

    def test_is_silent_where_role_or_key_allow_it(self) -> None:
        assert self.of(statement(("kms:Decrypt",), ("arn:aws:kms:*:*:key/k",))) == []
        assert self.of(keys=(Key(path="Key", readers=("Role",)),)) == []
        assert self.of(complete=False) == []
