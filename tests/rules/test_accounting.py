"""What is said of the key of an accounting database's secret."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.identity import Key, Secret
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import cluster, compute, controller, deployment, told
from tests.rules.roles import IN_VPC, role, statement

READ = statement(("secretsmanager:GetSecretValue",), ("arn:aws:secretsmanager:us-west-2:1:secret:x",))
DECRYPT = statement(("kms:Decrypt",), ("arn:aws:kms:us-west-2:111122223333:key/*",))


class TestControllersDecryptTheDatabaseSecret:
    def of(
        self, *statements: Any, key: Any = "Key", named: Any = "Secret", readers: Any = (), **fields: Any
    ) -> list[str]:
        slurm = Slurm(accounting=ExternalDatabase(endpoint="db.example.com", secret_arn=named))
        groups = (controller(execution_role="Role"), compute(execution_role="Role"))
        its = role(statements=(*IN_VPC, *statements), **fields)
        return told(
            "HP7023",
            deployment(
                cluster(groups=groups, orchestrator=slurm),
                roles=(its,),
                keys=(Key(path="Key", readers=readers),),
                secrets=(Secret(path="Secret", key=key),),
            ),
        )

    def test_reading_a_secret_takes_its_key(self) -> None:
        assert self.of(READ) == [
            (
                "HP7023 role of group 'controller' lacks kms:Decrypt on Key, the key that encrypts the secret of the "
                "AccountingDatabase | allow kms:Decrypt on the key (secret.grant_read(role) of the CDK does)"
            )
        ]

    def test_one_role_of_two_clusters_is_told_once(self) -> None:
        slurm = Slurm(accounting=ExternalDatabase(endpoint="db.example.com", secret_arn="Secret"))
        two = [cluster(groups=(controller(execution_role="Role"),), orchestrator=slurm, path=path) for path in "AB"]
        its = role(statements=(*IN_VPC, READ))
        judged = deployment(*two, roles=(its,), secrets=(Secret(path="Secret", key="Key"),))
        assert len(told("HP7023", judged)) == 1

    def test_is_silent_where_the_role_may_decrypt(self) -> None:
        assert self.of(READ, DECRYPT) == self.of(READ, complete=False) == []

    @pytest.mark.parametrize("reader", ["Role", UNKNOWN])
    def test_is_silent_where_the_key_admits_it(self, reader: Any) -> None:
        assert self.of(READ, readers=(reader,)) == []

    def test_is_silent_where_it_may_not_read_at_all(self) -> None:
        assert self.of() == []

    @pytest.mark.parametrize("key", [None, UNKNOWN, "alias/aws/secretsmanager"])
    def test_is_silent_without_a_customer_key(self, key: Any) -> None:
        assert self.of(READ, key=key) == []

    @pytest.mark.parametrize("secret", [UNKNOWN, "arn:aws:secretsmanager:us-west-2:111122223333:secret:db-AbCdEf"])
    def test_is_silent_on_secrets_of_others(self, secret: Any) -> None:
        assert self.of(READ, named=secret) == []
