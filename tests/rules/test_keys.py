"""What is said of the keys of volumes."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.identity import Key, Statement
from hyperpod_constructs.model.storage import NodeVolume
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import compute, deployment, slurm_cluster, told
from tests.rules.roles import IN_VPC, role, statement

GRANTS = statement(("kms:CreateGrant", "kms:DescribeKey"), ("arn:aws:kms:us-west-2:111122223333:key/*",))


def of(
    rule: str, *statements: Statement, volume: Any = "Key", execution_role: Any = "Role", **fields: Any
) -> list[str]:
    """What a rule says of a group whose volume has such a key, and of its role."""
    key = Key(path="Key", **fields)
    group = compute(execution_role=execution_role, volumes=(NodeVolume(size_gib=500, kms_key=volume),))
    its = role(statements=(*IN_VPC, *statements))
    return told(rule, deployment(slurm_cluster(group), roles=(its,), keys=(key,)))


class TestKeysAdmitNodes:
    def test_neither_account_nor_role_is_a_mistake(self) -> None:
        (said,) = of("HP7016", delegates=False, grantees=("arn:aws:iam::111122223333:role/Admin",))
        assert said.startswith(
            "HP7016 the key encrypts volumes of group 'p5', and its policy lets neither the account nor their role "
            "create grants | allow kms:* to arn:aws:iam::ACCOUNT:root, or"
        )

    def test_is_told_once_of_a_key_of_two_groups(self) -> None:
        volumes = (NodeVolume(size_gib=500, kms_key="Key"),)
        groups = [compute(name=name, execution_role="Role", volumes=volumes) for name in ("a", "b")]
        shut = Key(path="Key", delegates=False)
        (said,) = told("HP7016", deployment(slurm_cluster(*groups), roles=(role(),), keys=(shut,)))
        assert said.startswith("HP7016 the key encrypts volumes of groups 'a' and 'b', and")

    @pytest.mark.parametrize("fields", [{}, {"delegates": UNKNOWN}, {"delegates": False, "grantees": ("Role",)}])
    def test_is_silent_where_one_is_admitted(self, fields: dict[str, Any]) -> None:
        assert of("HP7016", **fields) == []

    @pytest.mark.parametrize("volume", ["arn:aws:kms:us-west-2:111122223333:key/k", UNKNOWN, None])
    def test_is_silent_on_keys_of_others(self, volume: Any) -> None:
        assert of("HP7016", volume=volume, delegates=False) == []

    @pytest.mark.parametrize("execution_role", [UNKNOWN, None])
    def test_is_silent_where_the_role_is_not_known(self, execution_role: Any) -> None:
        assert of("HP7016", execution_role=execution_role, delegates=False) == []


class TestNodesCanUseTheirKeys:
    def test_the_role_creates_grants(self) -> None:
        assert of("HP7017") == [
            (
                "HP7017 role of group 'p5', whose volumes have a customer key, lacks kms:CreateGrant and "
                "kms:DescribeKey | allow kms:CreateGrant and kms:DescribeKey on the key"
            )
        ]

    def test_is_silent_where_role_or_key_allow_it(self) -> None:
        assert of("HP7017", GRANTS) == of("HP7017", grantees=("Role",)) == of("HP7017", grantees=(UNKNOWN,)) == []

    def test_is_silent_on_keys_whose_policy_nobody_sees(self) -> None:
        assert of("HP7017", volume="arn:aws:kms:us-west-2:111122223333:key/k") == []


class TestKeysAskForNoContext:
    def test_hyperpod_passes_none(self) -> None:
        (said,) = of("HP7018", GRANTS, bound=("kms:EncryptionContext:team",))
        assert said.startswith(
            "HP7018 the key encrypts volumes of group 'p5', and every statement that lets somebody create grants has "
            "the condition kms:EncryptionContext:team | "
        )

    def test_is_silent_without_such_a_condition(self) -> None:
        assert of("HP7018", GRANTS) == []
