"""What is said of nodes that can write the scripts that root runs."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.catalog.permissions import NODE_POLICY
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import compute, deployment, login, slurm_cluster, told
from tests.rules.roles import IN_VPC, SOURCE, judged, role, statement


class Writing:
    """A role with one more statement, and where the scripts lie."""

    rule: str

    def of(self, actions: Any, *resources: Any, uri: Any = SOURCE, managed: Any = (), **fields: Any) -> list[str]:
        its = role(
            statements=(*IN_VPC, statement(actions, resources, **fields)), managed_policies=(NODE_POLICY, *managed)
        )
        return told(self.rule, judged(its, uri=uri))


NOTHING = ("s3:GetObject",)
BUCKET = "arn:aws:s3:::sagemaker-scripts"


class TestNodesDoNotWriteScripts(Writing):
    rule = "HP7006"

    def test_is_a_warning_because_the_deploy_does_not_fail(self) -> None:
        assert RULES["HP7006"].severity is Severity.WARNING

    def test_names_the_action_and_the_resource(self) -> None:
        assert self.of(("s3:Put*", "s3:GetObject"), f"{BUCKET}/*") == [
            (
                f"HP7006 nodes of group 'p5' can write the scripts at {SOURCE}, which run as root: "
                f"their role has s3:Put*, which takes in s3:PutObject, on {BUCKET}/* | "
                "let nodes write to other buckets only, and give them s3:GetObject and s3:ListBucket on this one"
            )
        ]

    def test_names_an_action_that_is_written_out_as_such(self) -> None:
        (said,) = self.of(("s3:PutObject", "s3:GetObject"), f"{BUCKET}/*")
        assert f"their role has s3:PutObject on {BUCKET}/* |" in said

    @pytest.mark.parametrize(
        ("action", "resource"),
        [
            ("s3:*", "*"),
            ("s3:*", f"{BUCKET}*"),
            ("s3:PutObject", "arn:aws:s3:::sagemaker-*/*"),
            ("s3:PutObject", "arn:aws:s3:::sagemaker-*"),
            ("s3:PutObject", "arn:aws:s3:::*/*"),
            ("s3:DeleteObject", f"{BUCKET}/lcs/*"),
            ("S3:PUTOBJECT", f"{BUCKET}/lcs/on_create.sh"),
            ("s3:PutObject", "arn:*:s3:::sagemaker-scripts/l*"),
            ("s3:PutBucketPolicy", BUCKET),
        ],
    )
    def test_every_way_to_write_counts(self, action: str, resource: str) -> None:
        assert len(self.of((action,), resource)) == 1

    def test_so_does_a_managed_policy(self) -> None:
        (found,) = self.of(NOTHING, managed=("AmazonS3FullAccess",))
        assert "their role has s3:PutObject on * (AmazonS3FullAccess)" in found

    @pytest.mark.parametrize("policy", ["AdministratorAccess", "PowerUserAccess"])
    def test_administrators_are_told_that_alone(self, policy: str) -> None:
        assert self.of(NOTHING, managed=(policy,)) == self.of(("*",), "*") == []
        assert len(self.of(("s3:PutObject",), "*", managed=("IAMFullAccess",))) == 1

    def test_full_access_to_sagemaker_writes_its_buckets(self) -> None:
        (found,) = self.of(NOTHING, managed=("AmazonSageMakerFullAccess",))
        assert "s3:PutObject on arn:aws:s3:::*sagemaker* (AmazonSageMakerFullAccess)" in found
        assert self.of(NOTHING, managed=("AmazonSageMakerFullAccess",), uri="s3://acme-scripts/lcs") == []

    def test_the_role_of_one_group_and_the_scripts_of_another(self) -> None:
        groups = (
            compute(lifecycle=Lifecycle(source_uri=SOURCE)),
            login(execution_role="Role", lifecycle=Lifecycle(source_uri=UNKNOWN)),
        )
        its = role(statements=(statement(("s3:PutObject",)),))
        (found,) = told("HP7006", deployment(slurm_cluster(*groups), roles=(its,)))
        assert found.startswith("HP7006 nodes of group 'login' can write")

    def test_a_prefix_whose_end_is_decided_at_deploy(self) -> None:
        assert len(self.of(("s3:PutObject",), f"{BUCKET}/*", uri=f"{SOURCE}/*")) == 1
        assert len(self.of(("s3:PutObject",), "*", uri="s3://*")) == 1

    @pytest.mark.parametrize(
        ("action", "resource"),
        [
            ("s3:PutObject", f"{BUCKET}/results/*"),
            ("s3:PutObject", f"{BUCKET}-results/*"),
            ("s3:PutObject", f"{BUCKET}/lcsx/*"),
            ("s3:PutObject", BUCKET),
            ("s3:GetObject", f"{BUCKET}/*"),
            ("s3:List*", "*"),
            ("ec2:*", "*"),
        ],
    )
    def test_is_silent_on_what_writes_no_script(self, action: str, resource: str) -> None:
        assert self.of((action,), resource) == []

    def test_is_silent_where_it_is_denied(self) -> None:
        denial = statement(("s3:Put*", "s3:Delete*"), (f"{BUCKET}/*",), allow=False)
        its = role(statements=(statement(("s3:PutObject",), (f"{BUCKET}/*",)), denial))
        assert told("HP7006", judged(its)) == []

    @pytest.mark.parametrize(
        ("resource", "uri"),
        [
            (UNKNOWN, SOURCE),
            ("arn:*", "s3://sagemaker-*"),
            ("arn:*:s3:::*/*", "s3://sagemaker-*"),
            ("arn:*:s3:::*/*", "s3://<name of Train.Scripts>/lcs"),
            (f"{BUCKET}/*", "s3://*"),
            (f"{BUCKET}/*", UNKNOWN),
            ("*", "nonsense"),
        ],
    )
    def test_is_silent_where_a_name_is_decided_at_deploy(self, resource: Any, uri: Any) -> None:
        assert self.of(("s3:PutObject",), resource, uri=uri) == []

    @pytest.mark.parametrize("resource", ["arn:aws:s3:::sagemaker-*/*", "arn:*:s3:::*/*"])
    def test_so_it_is_where_the_deploy_replaces_a_wildcard(self, resource: str) -> None:
        assert self.of(("s3:PutObject",), resource, undecided=(resource,)) == []

    def test_is_told_once_of_a_role_of_two_clusters(self) -> None:
        scripts = {"lifecycle": Lifecycle(source_uri=SOURCE), "execution_role": "Role"}
        clusters = [slurm_cluster(compute(name=name, **scripts), path=name) for name in ("a", "b")]
        its = role(statements=(statement(("s3:PutObject",)),))
        (found,) = told(self.rule, deployment(*clusters, roles=(its,)))
        assert found.startswith("HP7006 nodes of groups 'a' and 'b' can write")

    @pytest.mark.parametrize("fields", [{"inverted": True}, {"conditional": True}])
    def test_is_silent_where_it_is_not_certain(self, fields: dict[str, bool]) -> None:
        assert self.of(("s3:PutObject",), f"{BUCKET}/*", **fields) == []


class TestNodesMayNotWriteScripts(Writing):
    rule = "HP7007"

    def test_a_condition_may_hold(self) -> None:
        assert self.of(("s3:PutObject",), f"{BUCKET}/*", conditional=True) == [
            (
                f"HP7007 nodes of group 'p5' can perhaps write the scripts at {SOURCE}, which run as root: "
                f"their role has s3:PutObject on {BUCKET}/* | "
                "let nodes write to other buckets only, and give them s3:GetObject and s3:ListBucket on this one"
            )
        ]

    @pytest.mark.parametrize(
        ("resource", "uri"),
        [
            ("arn:aws:s3:::sagemaker-*", SOURCE),
            (f"{BUCKET}*", SOURCE),
            (f"{BUCKET}/lcs/results/*", f"{SOURCE}/*"),
            ("arn:aws:s3:::sagemaker-*/*", "s3://sagemaker-*"),
        ],
    )
    def test_a_name_may_be_the_same(self, resource: str, uri: str) -> None:
        assert len(self.of(("s3:PutObject",), resource, uri=uri, undecided=(resource,))) == 1

    def test_a_managed_policy_may_cover_a_bucket_whose_name_is_half_known(self) -> None:
        policy = ("AmazonSageMakerFullAccess",)
        assert len(self.of(NOTHING, managed=policy, uri="s3://sagemaker-*")) == 1
        assert self.of(NOTHING, managed=policy, uri="s3://*") == []

    def test_is_silent_where_it_is_certain(self) -> None:
        assert self.of(("s3:PutObject",), f"{BUCKET}/*") == []

    @pytest.mark.parametrize(
        ("resource", "uri"),
        [(UNKNOWN, SOURCE), ("arn:*:s3:::*/*", "s3://sagemaker-*"), (f"{BUCKET}/*", "s3://*"), ("*", UNKNOWN)],
    )
    def test_is_silent_where_nothing_of_a_name_is_known(self, resource: Any, uri: Any) -> None:
        assert self.of(("s3:PutObject",), resource, uri=uri) == []
