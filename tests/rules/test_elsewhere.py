"""What is said of roles, keys and secrets of another account or Region."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.lifecycle import Bucket
from hyperpod_constructs.model.orchestration import ExternalDatabase, Slurm
from hyperpod_constructs.model.restricted import RestrictedGroup
from hyperpod_constructs.model.storage import NodeVolume, OtherFileSystem
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import ACCOUNT, cluster, compute, controller, deployment, eks_cluster, slurm_cluster, told
from tests.rules.file_systems import file_system

FOREIGN = "arn:aws:iam::999999999999:role/nodes"
OWN = f"arn:aws:iam::{ACCOUNT}:role/nodes"


class TestRolesAreOfTheAccount:
    def of(self, role: Any, **fields: Any) -> list[str]:
        groups = (compute(execution_role=role), controller(execution_role=role))
        return told("HP7020", deployment(cluster(groups=groups, **fields)))

    def test_one_of_another_account_cannot_be_passed(self) -> None:
        assert self.of(FOREIGN) == [
            (
                f"HP7020 role of groups 'p5' and 'controller' is {FOREIGN}, of account 999999999999, and the cluster "
                f"is in {ACCOUNT} | use a role of account {ACCOUNT}, and let it assume the other one (sts:AssumeRole) "
                "for what lies there"
            )
        ]

    def test_neither_can_that_of_restricted_groups_or_of_the_cluster(self) -> None:
        nova = compute(name="nova", execution_role=FOREIGN)
        judged = eks_cluster(restricted_groups=(RestrictedGroup(group=nova),), cluster_role=FOREIGN)
        first, second = told("HP7020", deployment(judged))
        assert first.startswith(f"HP7020 role of group 'nova' is {FOREIGN}, of")
        assert second.startswith(f"HP7020 ClusterRole is {FOREIGN}, of")

    @pytest.mark.parametrize("role", [OWN, "Role", UNKNOWN, None])
    def test_is_silent_on_roles_of_the_account_and_unknown_ones(self, role: Any) -> None:
        assert self.of(role, cluster_role=role) == []

    def test_is_silent_where_the_account_is_not_known(self) -> None:
        assert self.of(FOREIGN, account=None) == []


def key(region: str, form: str = "key/0123abcd") -> str:
    return f"arn:aws:kms:{region}:{ACCOUNT}:{form}"


class TestKeysAreOfTheRegion:
    def of(self, kms_key: Any, **fields: Any) -> list[str]:
        volumes = (NodeVolume(size_gib=500, kms_key=kms_key), NodeVolume(root=True, kms_key=kms_key))
        groups = (compute(volumes=volumes), compute(name="b", volumes=volumes))
        return told("HP7021", deployment(slurm_cluster(*groups, **fields)))

    @pytest.mark.parametrize("form", ["key/0123abcd", "key/mrk-0123abcd", "alias/nodes"])
    def test_volumes_cannot_use_one_of_another(self, form: str) -> None:
        assert self.of(key("us-east-1", form)) == [
            (
                f"HP7021 volumes of groups 'p5' and 'b': the key {key('us-east-1', form)} is in us-east-1, and not in "
                "us-west-2 | use a key of us-west-2; of a multi-Region key (mrk-...) name the replica there"
            )
        ]

    @pytest.mark.parametrize(
        ("made", "said"),
        [
            ({"file_systems": (file_system(kms_key=key("us-east-1"), region="us-west-2"),)}, "the file system"),
            (
                {
                    "other_file_systems": (
                        OtherFileSystem(path="Z", kind="OPENZFS", kms_key=key("us-east-1"), region="us-west-2"),
                    )
                },
                "the file system",
            ),
            ({"buckets": (Bucket(path="B", name="b", key=key("us-east-1"), region="us-west-2"),)}, "the bucket"),
        ],
    )
    def test_neither_can_what_holds_data(self, made: dict[str, Any], said: str) -> None:
        (found,) = told("HP7021", Deployment(**made))
        assert found.startswith(f"HP7021 {said}: the key {key('us-east-1')} is in us-east-1, and not in us-west-2 |")

    @pytest.mark.parametrize("kms_key", [key("us-west-2"), "Key", "0123abcd", UNKNOWN, None])
    def test_is_silent_on_one_of_the_region_and_unknown_ones(self, kms_key: Any) -> None:
        assert self.of(kms_key) == []
        unknown = (file_system(kms_key=kms_key, region="us-west-2"),)
        assert (
            told("HP7021", Deployment(file_systems=unknown, buckets=(Bucket(path="B", name="b", key=kms_key),))) == []
        )

    def test_is_silent_where_the_region_is_not_known(self) -> None:
        assert self.of(key("us-east-1"), region=None) == []


class TestSecretsAreOfTheRegion:
    def of(self, secret: Any, **fields: Any) -> list[str]:
        slurm = Slurm(accounting=ExternalDatabase(endpoint="db.example.com", secret_arn=secret))
        return told("HP7022", deployment(cluster(orchestrator=slurm, **fields)))

    def secret(self, region: str) -> str:
        return f"arn:aws:secretsmanager:{region}:{ACCOUNT}:secret:db-AbCdEf"

    def test_one_of_another_is_mostly_a_slip(self) -> None:
        assert self.of(self.secret("eu-west-1")) == [
            (
                "HP7022 the secret of the AccountingDatabase is in eu-west-1, and the cluster in us-west-2 | use a "
                "secret of us-west-2; `aws secretsmanager replicate-secret-to-regions` makes one"
            )
        ]

    def test_is_silent_on_one_of_the_region(self) -> None:
        assert self.of(self.secret("us-west-2")) == []

    @pytest.mark.parametrize("secret", ["Secret", UNKNOWN])
    def test_is_silent_where_the_secret_is_not_known(self, secret: Any) -> None:
        assert self.of(secret) == []

    def test_is_silent_where_region_or_database_are_not_known(self) -> None:
        assert self.of(self.secret("eu-west-1"), region=None) == []
        assert told("HP7022", deployment(cluster(orchestrator=Slurm(accounting=UNKNOWN)))) == []
