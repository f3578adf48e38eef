"""What is said of the roles of nodes."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from hypothesis import given, strategies as st

from hyperpod_constructs.catalog.permissions import NODE_POLICY
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.identity import Role, Statement
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.rules.security import granted, overlap
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import compute, deployment, eks_cluster, kubernetes, login, slurm_cluster, told

SERVICE = "sagemaker.amazonaws.com"
SOURCE = "s3://sagemaker-scripts/lcs"
INTERFACES = (
    "ec2:CreateNetworkInterface",
    "ec2:CreateNetworkInterfacePermission",
    "ec2:DeleteNetworkInterface",
    "ec2:DeleteNetworkInterfacePermission",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcs",
    "ec2:DetachNetworkInterface",
)


def statement(actions: Any, resources: Any = ("*",), **fields: Any) -> Statement:
    return Statement(**{"allow": True, "actions": actions, "resources": resources, **fields})


IN_VPC = (
    statement(INTERFACES),
    statement(("ec2:CreateTags",), ("arn:aws:ec2:*:*:network-interface/*",)),
)


def role(**fields: Any) -> Role:
    """A role `Role` that has what nodes in a VPC need."""
    defaults = {
        "trusts": (SERVICE,),
        "source_account_checked": True,
        "managed_policies": (NODE_POLICY,),
        "statements": IN_VPC,
    }
    return Role(path="Role", **{**defaults, **fields})


def judged(its: Role, *, uri: Any = SOURCE, **fields: Any) -> Deployment:
    """A Slurm cluster whose group `p5` has the role and scripts."""
    scripts = Lifecycle(source_uri=uri, on_create="on_create.sh")
    return deployment(slurm_cluster(compute(execution_role="Role", lifecycle=scripts), **fields), roles=(its,))


def of(rule: str, **fields: Any) -> list[str]:
    """What a rule says of a node role with these fields."""
    return told(rule, judged(role(**fields)))


@pytest.mark.parametrize("rule", [each for each in RULES if each.startswith("HP7")])
@pytest.mark.parametrize(
    "its",
    [
        role(),
        Role(
            path="Role",
            trusts=UNKNOWN,
            source_account_checked=UNKNOWN,
            managed_policies=UNKNOWN,
            statements=(statement(UNKNOWN), statement((UNKNOWN,), (UNKNOWN,)), statement(("s3:*",), UNKNOWN)),
            role_path=UNKNOWN,
        ),
    ],
)
def test_no_rule_speaks_of_a_sound_or_unknown_role(rule: str, its: Role) -> None:
    assert told(rule, judged(its)) == []


@pytest.mark.parametrize("rule", [each for each in RULES if each.startswith("HP7")])
@pytest.mark.parametrize("execution_role", ["arn:aws:iam::111122223333:role/nodes", UNKNOWN, None])
def test_no_rule_speaks_of_roles_that_nodes_do_not_have(rule: str, execution_role: Any) -> None:
    other = Role(path="Role", trusts=("ec2.amazonaws.com",), managed_policies=("AdministratorAccess",))
    group = compute(execution_role=execution_role, lifecycle=Lifecycle(source_uri=SOURCE))
    assert told(rule, deployment(slurm_cluster(group), roles=(other,))) == []


class TestOverlap:
    @staticmethod
    def match(pattern: str, text: str) -> bool:
        parts = {"*": ".*", "?": "."}
        return re.fullmatch("".join(parts.get(char, re.escape(char)) for char in pattern), text) is not None

    @given(one=st.text("ab*?", max_size=4), other=st.text("ab*?", max_size=4))
    def test_tells_whether_a_text_matches_both(self, one: str, other: str) -> None:
        texts = ("".join(chars) for length in range(9) for chars in product("ab", repeat=length))
        assert overlap(one, other) == any(self.match(one, text) and self.match(other, text) for text in texts)

    @given(text=st.text(min_size=0, max_size=20))
    def test_a_star_matches_everything(self, text: str) -> None:
        assert overlap("*", text)
        assert overlap(text, "*")

    def test_holds_for_long_patterns(self) -> None:
        long = "arn:aws:s3:::" + "a" * 2000
        assert overlap(long, "arn:*:s3:::a*a")
        assert not overlap(long, "arn:*:s3:::a*b")


class TestGranted:
    def test_actions_have_no_case(self) -> None:
        assert granted(role(statements=(statement(("S3:putOBJECT",)),)), "s3:PutObject") is True

    def test_an_inverted_statement_leaves_it_open(self) -> None:
        assert granted(role(statements=(statement(("iam:*",), inverted=True),)), "s3:PutObject") is None

    def test_a_denial_grants_nothing(self) -> None:
        assert granted(role(statements=(statement(("*",), allow=False),)), "s3:PutObject") is False

    def test_what_the_managed_policy_says_is_known(self) -> None:
        assert granted(role(), "s3:GetObject", "arn:aws:s3:::sagemaker-x/a") is True
        assert granted(role(), "s3:GetObject", "arn:aws:s3:::other/a") is False


class TestSagemakerAssumesTheRole:
    def test_names_who_can(self) -> None:
        assert of("HP7001", trusts=("ec2.amazonaws.com", "eks.amazonaws.com")) == [
            f"HP7001 role of group 'p5' trusts ec2.amazonaws.com, eks.amazonaws.com | let {SERVICE} assume it"
        ]

    def test_or_that_nobody_can(self) -> None:
        assert of("HP7001", trusts=()) == [f"HP7001 role of group 'p5' trusts no service | let {SERVICE} assume it"]

    def test_is_told_once_of_a_role_with_several_groups(self) -> None:
        groups = (compute(execution_role="Role"), login(execution_role="Role"))
        (found,) = told("HP7001", deployment(slurm_cluster(*groups), roles=(role(trusts=()),)))
        assert found.startswith("HP7001 role of groups 'p5' and 'login' trusts")

    @pytest.mark.parametrize("trusts", [(SERVICE,), ("ec2.amazonaws.com", SERVICE), (UNKNOWN,), UNKNOWN])
    def test_is_silent_where_it_can(self, trusts: Any) -> None:
        assert of("HP7001", trusts=trusts) == []


class TestTrustIsForOneAccount:
    def test_asks_for_the_condition(self) -> None:
        assert of("HP7002", source_account_checked=False) == [
            (
                "HP7002 trust of the role of group 'p5' does not ask for the caller's account | "
                "add the condition StringEquals aws:SourceAccount with the account of the cluster"
            )
        ]

    @pytest.mark.parametrize("checked", [True, UNKNOWN])
    def test_is_silent_where_it_is_there_or_unknown(self, checked: Any) -> None:
        assert of("HP7002", source_account_checked=checked) == []


class TestNodesHaveTheBasicPermissions:
    def test_lists_what_is_missing(self) -> None:
        own = (statement(("logs:*", "cloudwatch:Put*")), statement(("ssmmessages:Open*",)))
        assert of("HP7003", managed_policies=(), statements=own) == [
            (
                "HP7003 role of group 'p5' lacks ssmmessages:CreateControlChannel, ssmmessages:CreateDataChannel | "
                "attach the managed policy AmazonSageMakerClusterInstanceRolePolicy"
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"managed_policies": (), "statements": (statement(("logs:*", "cloudwatch:*", "ssmmessages:*")),)},
            {
                "managed_policies": ("AmazonSSMManagedInstanceCore",),
                "statements": (statement(("logs:*", "cloudwatch:*")),),
            },
        ],
    )
    def test_is_silent_where_nothing_is(self, fields: dict[str, Any]) -> None:
        assert of("HP7003", **fields) == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"complete": False},
            {"managed_policies": UNKNOWN},
            {"managed_policies": (UNKNOWN,)},
            {"managed_policies": ("AmazonSageMakerFullAccess",)},
            {"statements": (statement(UNKNOWN),)},
        ],
    )
    def test_is_silent_where_not_all_is_known(self, fields: dict[str, Any]) -> None:
        assert of("HP7003", **{"managed_policies": (), **fields}) == []


class TestNodesCanMakeInterfaces:
    def test_lists_exactly_what_is_missing(self) -> None:
        wanting = (statement(tuple(each for each in INTERFACES if "Permission" not in each)),)
        assert of("HP7004", statements=wanting) == [
            (
                "HP7004 role of group 'p5', which stands in a VPC, lacks ec2:CreateNetworkInterfacePermission, "
                "ec2:DeleteNetworkInterfacePermission, ec2:CreateTags | "
                "allow them on *, and ec2:CreateTags on arn:aws:ec2:*:*:network-interface/*"
            )
        ]

    def test_tags_on_other_things_do_not_count(self) -> None:
        tags = statement(("ec2:CreateTags",), ("arn:aws:ec2:*:*:instance/*",))
        assert "lacks ec2:CreateTags |" in of("HP7004", statements=(IN_VPC[0], tags))[0]

    def test_is_silent_where_all_is_allowed(self) -> None:
        assert of("HP7004") == of("HP7004", statements=(statement(("ec2:*",)),)) == []

    @pytest.mark.parametrize("placement", [None, UNKNOWN])
    def test_is_silent_outside_of_a_vpc(self, placement: Any) -> None:
        assert told("HP7004", judged(role(statements=()), placement=placement)) == []

    @pytest.mark.parametrize("fields", [{"complete": False}, {"managed_policies": ("AmazonEKS_CNI_Policy",)}])
    def test_is_silent_where_not_all_is_known(self, fields: dict[str, Any]) -> None:
        assert of("HP7004", **{"statements": (), **fields}) == []


class TestEksRolesHaveNoPath:
    def of(self, role_path: Any) -> list[str]:
        its = role(role_path=role_path)
        return told("HP7005", deployment(eks_cluster(kubernetes(execution_role="Role")), roles=(its,)))

    def test_names_the_path(self) -> None:
        assert self.of("/hyperpod/") == [
            (
                "HP7005 role of group 'p5' has the path /hyperpod/ | "
                "leave the path out; if your organisation demands one, ask for an exception for these roles"
            )
        ]

    @pytest.mark.parametrize("role_path", ["/", UNKNOWN])
    def test_is_silent_without_one(self, role_path: Any) -> None:
        assert self.of(role_path) == []

    def test_is_silent_on_slurm(self) -> None:
        assert of("HP7005", role_path="/hyperpod/") == []


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
                f"their role has s3:PutObject on {BUCKET}/* | "
                "let nodes write to other buckets only, and give them s3:GetObject and s3:ListBucket on this one"
            )
        ]

    @pytest.mark.parametrize(
        ("action", "resource"),
        [
            ("s3:*", "*"),
            ("*", "*"),
            ("s3:DeleteObject", f"{BUCKET}/lcs/*"),
            ("S3:PUTOBJECT", f"{BUCKET}/lcs/on_create.sh"),
            ("s3:PutObject", "arn:*:s3:::sagemaker-scripts/l*"),
            ("s3:PutBucketPolicy", BUCKET),
        ],
    )
    def test_every_way_to_write_counts(self, action: str, resource: str) -> None:
        assert len(self.of((action,), resource)) == 1

    @pytest.mark.parametrize("policy", ["AdministratorAccess", "PowerUserAccess", "AmazonS3FullAccess"])
    def test_so_do_managed_policies(self, policy: str) -> None:
        (found,) = self.of(NOTHING, managed=(policy,))
        assert f"their role has s3:PutObject on * ({policy})" in found

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
            ("arn:*", SOURCE),
            ("arn:*:s3:::*/*", SOURCE),
            (f"{BUCKET}/*", "s3://*"),
            (f"{BUCKET}/*", UNKNOWN),
            ("*", "nonsense"),
        ],
    )
    def test_is_silent_where_a_name_is_decided_at_deploy(self, resource: Any, uri: Any) -> None:
        assert self.of(("s3:PutObject",), resource, uri=uri) == []

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
        assert len(self.of(("s3:PutObject",), resource, uri=uri)) == 1

    def test_a_managed_policy_may_cover_a_bucket_whose_name_is_half_known(self) -> None:
        policy = ("AmazonSageMakerFullAccess",)
        assert len(self.of(NOTHING, managed=policy, uri="s3://sagemaker-*")) == 1
        assert self.of(NOTHING, managed=policy, uri="s3://*") == []

    def test_is_silent_where_it_is_certain(self) -> None:
        assert self.of(("s3:PutObject",), f"{BUCKET}/*") == []

    @pytest.mark.parametrize(
        ("resource", "uri"), [(UNKNOWN, SOURCE), ("arn:*:s3:::*/*", SOURCE), (f"{BUCKET}/*", "s3://*"), ("*", UNKNOWN)]
    )
    def test_is_silent_where_nothing_of_a_name_is_known(self, resource: Any, uri: Any) -> None:
        assert self.of(("s3:PutObject",), resource, uri=uri) == []


class TestNodesAreNoAdministrators:
    SAID = (
        "HP7008 role of group 'p5' may do everything | "
        "attach AmazonSageMakerClusterInstanceRolePolicy and allow what the nodes' features need"
    )

    def test_by_the_managed_policy(self) -> None:
        assert of("HP7008", managed_policies=("AdministratorAccess",)) == [self.SAID]

    def test_or_by_a_statement(self) -> None:
        assert of("HP7008", statements=(statement(("*",)),)) == [self.SAID]

    @pytest.mark.parametrize(
        "fields",
        [
            {"statements": (statement(("s3:*",)),)},
            {"statements": (statement(("*",), ("arn:aws:s3:::b",)),)},
            {"statements": (statement(("*",), allow=False),)},
            {"managed_policies": UNKNOWN, "statements": (statement(UNKNOWN, UNKNOWN),)},
        ],
    )
    def test_is_silent_on_less(self, fields: dict[str, Any]) -> None:
        assert of("HP7008", **fields) == []
