"""What is said of roles of nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_constructs.catalog.permissions import NODE_POLICY
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import AutoPatch, BatchSize, RollingUpdate
from hyperpod_constructs.model.identity import Role
from hyperpod_constructs.model.lifecycle import Lifecycle
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import (
    ACCOUNT,
    cluster,
    compute,
    controller,
    deployment,
    eks_cluster,
    kubernetes,
    login,
    slurm_cluster,
    told,
)
from tests.rules.roles import IN_VPC, INTERFACES, SERVICE, SOURCE, judged, of, role, statement


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


class TestSagemakerAssumesTheRole:
    def test_names_who_can(self) -> None:
        assert of("HP7001", trusts=("ec2.amazonaws.com", "eks.amazonaws.com")) == [
            (
                f"HP7001 role of group 'p5' trusts ec2.amazonaws.com, eks.amazonaws.com, not {SERVICE} | write "
                f"Principal: {{Service: {SERVICE}}} in its AssumeRolePolicyDocument "
                f"(assumed_by=iam.ServicePrincipal('{SERVICE}'))"
            )
        ]

    def test_or_that_nobody_can(self) -> None:
        (said,) = of("HP7001", trusts=())
        assert said.startswith(f"HP7001 role of group 'p5' trusts no service, not {SERVICE} | write Principal: ")

    def test_is_told_once_of_a_role_with_several_groups(self) -> None:
        groups = (compute(execution_role="Role"), login(execution_role="Role"))
        (found,) = told("HP7001", deployment(slurm_cluster(*groups), roles=(role(trusts=()),)))
        assert found.startswith("HP7001 role of groups 'p5' and 'login' trusts")

    def test_is_told_once_of_a_role_of_two_clusters(self) -> None:
        clusters = [slurm_cluster(compute(name=name, execution_role="Role"), path=name) for name in ("a", "b")]
        (found,) = told("HP7001", deployment(*clusters, roles=(role(trusts=()),)))
        assert found.startswith("HP7001 role of groups 'a' and 'b' trusts")
        same = [slurm_cluster(compute(execution_role="Role"), path=path) for path in ("a", "b")]
        (found,) = told("HP7001", deployment(*same, roles=(role(trusts=()),)))
        assert found.startswith("HP7001 role of group 'p5' trusts")

    def test_or_for_another_account_only(self) -> None:
        assert of("HP7001", source_accounts=("999999999999",)) == [
            (
                f"HP7001 role of group 'p5' trusts {SERVICE} for account 999999999999 only, which is not that of the "
                "cluster | write aws:SourceAccount: !Ref AWS::AccountId in the trust's condition (cdk.Aws.ACCOUNT_ID)"
            )
        ]

    def test_or_for_no_account_at_all(self) -> None:
        (found,) = of("HP7001", source_accounts=())
        assert found.startswith(f"HP7001 role of group 'p5' trusts {SERVICE} for no account at all | ")

    @pytest.mark.parametrize("accounts", [None, UNKNOWN, (ACCOUNT,), ("999999999999", ACCOUNT)])
    def test_is_silent_where_its_account_is_let_in(self, accounts: Any) -> None:
        assert of("HP7001", source_accounts=accounts) == []

    def test_is_silent_where_the_account_of_the_cluster_is_not_known(self) -> None:
        assert told("HP7001", judged(role(source_accounts=("999999999999",)), account=None)) == []

    @pytest.mark.parametrize("trusts", [(SERVICE,), ("ec2.amazonaws.com", SERVICE), (UNKNOWN,), UNKNOWN])
    def test_is_silent_where_it_can(self, trusts: Any) -> None:
        assert of("HP7001", trusts=trusts) == []


class TestTrustIsForOneAccount:
    def test_asks_for_the_condition(self) -> None:
        assert of("HP7002", source_account_checked=False) == [
            (
                "HP7002 trust of the role of group 'p5' does not ask for the caller's account | add Condition: "
                "{StringEquals: {aws:SourceAccount: !Ref AWS::AccountId}} to the statement of its "
                "AssumeRolePolicyDocument (conditions= of the CDK's ServicePrincipal)"
            )
        ]

    def test_is_silent_where_the_service_is_shut_out_anyway(self) -> None:
        assert of("HP7002", source_account_checked=False, trusts=("ec2.amazonaws.com",)) == []

    @pytest.mark.parametrize("checked", [True, UNKNOWN])
    def test_is_silent_where_it_is_there_or_unknown(self, checked: Any) -> None:
        assert of("HP7002", source_account_checked=checked) == []


class TestNodesHaveTheBasicPermissions:
    def test_lists_what_is_missing(self) -> None:
        own = (statement(("logs:*", "cloudwatch:Put*", "s3:*")), statement(("ssmmessages:Open*",)))
        assert of("HP7003", managed_policies=(), statements=own) == [
            (
                "HP7003 role of group 'p5' lacks ssmmessages:CreateControlChannel, ssmmessages:CreateDataChannel | "
                "add arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy to its ManagedPolicyArns "
                "(iam.ManagedPolicy.from_aws_managed_policy_name('AmazonSageMakerClusterInstanceRolePolicy'))"
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

    def test_leaves_it_to_the_rule_on_scripts_where_one_policy_mends_both(self) -> None:
        assert of("HP7003", managed_policies=(), statements=()) == []
        assert len(told("HP7003", judged(role(managed_policies=()), uri="s3://acme/lcs"))) == 1

    def test_what_a_policy_denies_is_not_mended_by_another(self) -> None:
        denial = statement(("logs:*",), allow=False)
        (said,) = of("HP7003", statements=(denial,))
        assert said.endswith(
            "logs:PutLogEvents | take logs:CreateLogGroup, logs:CreateLogStream, logs:DescribeLogStreams and "
            "logs:PutLogEvents out of the role's statement with Effect: Deny"
        )


class TestNodesCanMakeInterfaces:
    def test_lists_exactly_what_is_missing(self) -> None:
        wanting = (statement(tuple(each for each in INTERFACES if "Permission" not in each)),)
        assert of("HP7004", statements=wanting) == [
            (
                "HP7004 role of group 'p5', which stands in a VPC, lacks ec2:CreateNetworkInterfacePermission, "
                "ec2:DeleteNetworkInterfacePermission, ec2:CreateTags | allow them on Resource: *, and "
                "ec2:CreateTags on arn:aws:ec2:*:*:network-interface/*"
            )
        ]

    def test_tags_on_other_things_do_not_count(self) -> None:
        tags = statement(("ec2:CreateTags",), ("arn:aws:ec2:*:*:instance/*",))
        assert of("HP7004", statements=(IN_VPC[0], tags)) == [
            (
                "HP7004 role of group 'p5', which stands in a VPC, lacks ec2:CreateTags | "
                "allow ec2:CreateTags on arn:aws:ec2:*:*:network-interface/*"
            )
        ]

    def test_a_denial_takes_it_away(self) -> None:
        denial = statement(("ec2:CreateNetworkInterface",), allow=False)
        assert of("HP7004", statements=(*IN_VPC, denial)) == [
            (
                "HP7004 role of group 'p5', which stands in a VPC, lacks ec2:CreateNetworkInterface | "
                "take ec2:CreateNetworkInterface out of the role's statement with Effect: Deny"
            )
        ]
        (said,) = of("HP7004", statements=(denial,))
        assert "Effect: Deny, and allow them on Resource: *, and ec2:CreateTags on" in said

    @pytest.mark.parametrize(
        "fields", [{"conditional": True}, {"inverted": True}, {"resources": ("arn:aws:ec2:*:*:subnet/*",)}]
    )
    def test_a_denial_that_may_spare_it_does_not_count(self, fields: dict[str, Any]) -> None:
        denial = statement(("ec2:CreateNetworkInterface",), **{"allow": False, **fields})
        assert of("HP7004", statements=(*IN_VPC, denial)) == []

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
                "HP7005 role of group 'p5' has the path /hyperpod/ | leave Path (path=) out; if your organisation "
                "demands one, try it with a group of one node first"
            )
        ]

    @pytest.mark.parametrize("role_path", ["/", UNKNOWN])
    def test_is_silent_without_one(self, role_path: Any) -> None:
        assert self.of(role_path) == []

    def test_is_silent_on_slurm(self) -> None:
        assert of("HP7005", role_path="/hyperpod/") == []

    def test_is_a_warning_because_eks_says_otherwise(self) -> None:
        assert RULES["HP7005"].severity is Severity.WARNING


class TestNodesAreNoAdministrators:
    SAID = (
        "HP7008 role of group 'p5' {} | take that out, attach AmazonSageMakerClusterInstanceRolePolicy and allow what "
        "the nodes' features need"
    )

    def test_by_the_managed_policy(self) -> None:
        assert of("HP7008", managed_policies=("AdministratorAccess",)) == [
            self.SAID.format("may do everything (AdministratorAccess)")
        ]

    def test_or_by_a_statement(self) -> None:
        assert of("HP7008", statements=(statement(("*",)),)) == [
            self.SAID.format("may do everything (Action: * on Resource: *)")
        ]

    @pytest.mark.parametrize(
        ("fields", "over"),
        [
            (
                {"managed_policies": ("PowerUserAccess",)},
                "may do everything but iam:*, organizations:* and account:* (PowerUserAccess)",
            ),
            ({"managed_policies": ("IAMFullAccess",)}, "may give itself every permission (IAMFullAccess)"),
            ({"statements": (statement(("iam:*",)),)}, "may give itself every permission (iam:* on Resource: *)"),
            (
                {"statements": (statement(("iam:PutRolePolicy",)),)},
                "may give itself every permission (iam:PutRolePolicy on Resource: *)",
            ),
            ({"statements": (statement(("iam:*",), inverted=True),)}, "may do everything but iam:* (NotAction: iam:*)"),
        ],
    )
    def test_whoever_can_make_itself_one_is_one(self, fields: dict[str, Any], over: str) -> None:
        assert of("HP7008", **fields) == [self.SAID.format(over)]

    @pytest.mark.parametrize(
        "fields",
        [
            {"statements": (statement(("s3:*",)),)},
            {"statements": (statement(("*",), ("arn:aws:s3:::b",)),)},
            {"statements": (statement(("*",), allow=False),)},
            {"statements": (statement(("iam:*",), conditional=True),)},
            {
                "statements": (
                    statement(
                        ("iam:PassRole", "iam:Get*"),
                    ),
                )
            },
            {"statements": (statement(("iam:*",), ("arn:aws:iam::111122223333:role/x",), inverted=True),)},
            {"statements": (statement((UNKNOWN,), inverted=True),)},
            {"managed_policies": UNKNOWN, "statements": (statement(UNKNOWN, UNKNOWN),)},
        ],
    )
    def test_is_silent_on_less(self, fields: dict[str, Any]) -> None:
        assert of("HP7008", **fields) == []


class TestClustersWaitForPolicies:
    late = tuple(replace(each, policy="Policy") for each in IN_VPC)

    def of(self, its: Role, before: Any = frozenset(), **fields: Any) -> list[str]:
        group = compute(execution_role="Role", **fields)
        return told("HP7009", deployment(slurm_cluster(group, depends_on=before), roles=(its,)))

    def test_a_policy_may_come_after_it(self) -> None:
        assert self.of(role(statements=self.late)) == [
            (
                "HP7009 the cluster does not wait for Policy, from which the role of group 'p5' has "
                "ec2:CreateNetworkInterface, ec2:CreateNetworkInterfacePermission, ec2:DeleteNetworkInterface and 8 "
                "more | let the cluster depend on Policy: DependsOn in a template, "
                "cluster.node.add_dependency(policy) in the CDK; the role alone is not enough"
            )
        ]

    def test_so_may_the_grant_to_read_the_scripts(self) -> None:
        reading = statement(("s3:GetObject",), ("arn:aws:s3:::acme/*",), policy="Reading")
        other = statement(("s3:PutObject",), ("arn:aws:s3:::data/*",), policy="Writing")
        its = role(statements=(*IN_VPC, reading, other))
        (said,) = self.of(its, lifecycle=Lifecycle(source_uri="s3://acme/lcs", on_create="a.sh"))
        assert said.startswith(
            "HP7009 the cluster does not wait for Reading, from which the role of group 'p5' has s3:Get"
        )

    @pytest.mark.parametrize("before", [None, frozenset({"Policy"})])
    def test_is_silent_where_it_waits_or_may_do_so(self, before: Any) -> None:
        assert self.of(role(statements=self.late), before) == []

    def test_is_silent_on_what_nodes_do_not_need_to_start(self) -> None:
        later = statement(("s3:PutObject",), policy="Policy")
        assert self.of(role(statements=(*IN_VPC, later))) == []

    def test_is_silent_where_another_policy_may_bring_it(self) -> None:
        assert self.of(role(statements=self.late, complete=False)) == []


class TestNamedEksRolesHaveNoPath:
    def of(self, arn: Any) -> list[str]:
        return told("HP7010", deployment(eks_cluster(kubernetes(execution_role=arn))))

    def test_one_report_says_that_it_failed(self) -> None:
        assert self.of("arn:aws:iam::111122223333:role/hyperpod/nodes") == [
            (
                "HP7010 role of group 'p5' has a path: arn:aws:iam::111122223333:role/hyperpod/nodes | "
                "use a role without a path, or try this one with a group of one node first"
            )
        ]

    @pytest.mark.parametrize("arn", ["arn:aws:iam::111122223333:role/nodes", "Stack/Role", UNKNOWN, None])
    def test_is_silent_on_roles_without_one(self, arn: Any) -> None:
        assert self.of(arn) == []

    def test_is_silent_on_slurm(self) -> None:
        group = compute(execution_role="arn:aws:iam::111122223333:role/hyperpod/nodes")
        assert told("HP7010", deployment(slurm_cluster(group))) == []


class TestControllersReadTheDatabaseSecret:
    def of(self, its: Role, **slurm: Any) -> list[str]:
        database = {"accounting": ExternalDatabase(endpoint="db.example.com", secret_arn="Secret"), **slurm}
        head = controller(execution_role="Role")
        return told("HP7011", deployment(cluster(groups=(head,), orchestrator=Slurm(**database)), roles=(its,)))

    def test_somebody_has_to(self) -> None:
        assert self.of(role()) == [
            (
                "HP7011 role of group 'controller' lacks secretsmanager:GetSecretValue, and the cluster has an "
                "AccountingDatabase | allow secretsmanager:GetSecretValue on the ARN of "
                "AccountingDatabase.SecretArn (secret.grant_read(role))"
            )
        ]

    def test_is_silent_where_it_can_or_may(self) -> None:
        reading = statement(("secretsmanager:GetSecretValue",), ("arn:aws:secretsmanager:us-west-2:1:secret:x",))
        assert self.of(role(statements=(*IN_VPC, reading))) == self.of(role(complete=False)) == []

    def test_what_is_no_secret_no_permission_mends(self) -> None:
        other = ExternalDatabase(endpoint="db", secret_arn="arn:aws:ssm:us-west-2:111122223333:parameter/x")
        assert self.of(role(), accounting=other) == []
        assert len(self.of(role(), accounting=ExternalDatabase(endpoint="db", secret_arn=UNKNOWN))) == 1

    @pytest.mark.parametrize("accounting", [None, UNKNOWN])
    def test_is_silent_without_a_database(self, accounting: Any) -> None:
        assert self.of(role(), accounting=accounting) == []


class TestNodesReadRollbackAlarms:
    rolling = RollingUpdate(batch=BatchSize(count=1), alarms=("broken",))

    def of(self, its: Role, patching: Any) -> list[str]:
        return told(
            "HP7012", deployment(slurm_cluster(compute(execution_role="Role", patching=patching)), roles=(its,))
        )

    def test_they_are_read_with_the_role_of_nodes(self) -> None:
        assert self.of(role(), AutoPatch(when="WhenIdle", rolling=self.rolling)) == [
            (
                "HP7012 role of group 'p5', whose updates have rollback alarms, lacks cloudwatch:DescribeAlarms | "
                "allow cloudwatch:DescribeAlarms on Resource: *"
            )
        ]

    @pytest.mark.parametrize("patching", [None, UNKNOWN, AutoPatch(when="WhenIdle")])
    def test_is_silent_without_alarms(self, patching: Any) -> None:
        assert self.of(role(), patching) == []

    def test_is_silent_where_it_can(self) -> None:
        reading = statement(("cloudwatch:Describe*",))
        assert self.of(role(statements=(reading,)), AutoPatch(when="WhenIdle", rolling=self.rolling)) == []


class TestEksNodesHaveTheirPermissions:
    def of(self, its: Role) -> list[str]:
        return told("HP7013", deployment(eks_cluster(kubernetes(execution_role="Role")), roles=(its,)))

    def test_those_of_slurm_are_not_enough(self) -> None:
        (said,) = self.of(role())
        assert said.startswith(
            "HP7013 role of group 'p5' of an EKS cluster lacks ec2:AssignPrivateIpAddresses, "
            "ec2:AttachNetworkInterface, ec2:DescribeInstances and 9 more | allow ec2:AssignPrivateIpAddresses, "
        )

    def test_is_silent_with_them_and_with_policies_that_nobody_read(self) -> None:
        enough = statement(("ec2:*", "ecr:*", "eks-auth:*"))
        assert self.of(role(statements=(enough,))) == []
        assert self.of(role(managed_policies=(NODE_POLICY, "AmazonEKSWorkerNodePolicy"))) == []


class TestManagedPoliciesExist:
    def test_a_misspelt_one_is_named_with_the_one_that_was_meant(self) -> None:
        assert of("HP7019", managed_policies=("AmazonSageMakerClusterInstanceRolPolicy",)) == [
            (
                "HP7019 ManagedPolicyArns has AmazonSageMakerClusterInstanceRolPolicy, which is not among AWS's "
                "policies that roles can have | use "
                "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy; if the policy is newer than our "
                "list, keep it"
            )
        ]

    def test_so_is_one_at_another_path(self) -> None:
        (said,) = of("HP7019", managed_policies=(f"service-role/{NODE_POLICY}",))
        assert f"use arn:aws:iam::aws:policy/{NODE_POLICY};" in said

    def test_one_like_no_other_has_to_be_looked_up(self) -> None:
        (said,) = of("HP7019", managed_policies=("Xyzzy",))
        assert "| compare it with `aws iam list-policies`;" in said

    def test_any_role_of_the_template_counts(self) -> None:
        its = Role(path="Lambda", trusts=("lambda.amazonaws.com",), managed_policies=("AWSLambdaBasicExecutionRole",))
        (said,) = told("HP7019", deployment(roles=(its,)))
        assert "use arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole" in said

    @pytest.mark.parametrize(
        "managed", [(), (NODE_POLICY, "job-function/SystemAdministrator"), UNKNOWN, (UNKNOWN, NODE_POLICY)]
    )
    def test_is_silent_on_those_that_exist_or_are_not_known(self, managed: Any) -> None:
        assert of("HP7019", managed_policies=managed) == []
