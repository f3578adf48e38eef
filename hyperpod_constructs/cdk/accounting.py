"""The database that keeps Slurm's accounting outside the controller, kept on delete and on replace."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2, aws_kms as kms, aws_rds as rds, aws_secretsmanager as secretsmanager
from constructs import Construct, DependencyGroup

from hyperpod_constructs.cdk import validation
from hyperpod_constructs.cdk._arguments import checked
from hyperpod_constructs.cdk.network import LOCKED, Network
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.checks import check_whole
from hyperpod_constructs.model.network import check_id
from hyperpod_constructs.model.orchestration import ExternalDatabase
from hyperpod_constructs.tokens import is_token

PORT: Final = 3306
_USER: Final = "slurm"
_PASSWORD_LENGTH: Final = 40
"""Characters; RDS for MariaDB takes 8 to 41."""
_ROOM_TO_GROW: Final = 1.1
"""RDS asks for a limit at least a tenth above the storage (RDS user guide, USER_PIOPS.Autoscaling)."""
_DAY = "(mon|tue|wed|thu|fri|sat|sun)"
_TIME = r"([01]\d|2[0-3]):[0-5]\d"
_FORMS: Final = {
    "instance_class": (re.compile(r"db\.[a-z0-9-]+\.[a-z0-9-]+"), "a class such as db.t4g.medium"),
    "engine_version": (re.compile(r"\d+\.\d+\.\d+"), "a whole version of MariaDB such as 11.4.10"),
    "backup_window": (re.compile(f"{_TIME}-{_TIME}"), "at least 30 minutes of UTC such as 08:00-09:00"),
    "maintenance_window": (
        re.compile(f"{_DAY}:{_TIME}-{_DAY}:{_TIME}"),
        "at least 30 minutes of UTC such as sun:10:00-sun:11:00",
    ),
}
_PARAMETERS: Final = {
    # SchedMD's page on accounting asks for both; for the sizes of buffer pool and log, RDS's own defaults are enough.
    "innodb_lock_wait_timeout": "900",
    "max_allowed_packet": str(16 * 1024 * 1024),
    # slurmdbd makes stored routines. MariaDB refuses functions of a user who is not SUPER, as none is on RDS, while
    # there is a binary log, as there is with backups.
    "log_bin_trust_function_creators": "1",
    # From 11.8 on RDS refuses connections without TLS, and no page says that HyperPod's slurmdbd asks for it (RDS user
    # guide, mariadb-ssl-connections.require-ssl).
    "require_secure_transport": "0",
}


class AccountingDatabase(Construct):
    """An RDS for MariaDB instance that keeps Slurm's accounting: jobs, fair share, accounts, limits.

    On the controller, where it is otherwise, accounting is lost with the controller or an update of its software. Here
    it outlives clusters, and several may share it. `hp.Slurm(accounting=database.database)` uses it. MariaDB, because
    SageMaker's console makes that for Slurm clusters, too, and a controller without an external database runs it.

    It is kept on delete and on replace and refuses to be deleted: whoever wants to, first calls `aws rds
    modify-db-instance --no-deletion-protection`. Its secret, subnets, security groups and VPC stay with it. It is
    billed by the hour; no dated price is in our catalogue, so that totals and derived budgets leave it out and say so.

    A cluster that has it cannot go back to the database on its controller, and needs an AMI released after 2026-08-30.
    Its user name and password are never rotated here, see the source for why. Slurm knows clusters apart by their
    names: one that is made again under the same name on the same database does not start (CLUSTER ID MISMATCH); raise
    the `generation` of `hp.SlurmTraining`, or give it another `name` here.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        network: Where it stands; its nodes are let in.
        zones: Zone ids of its subnets, two or more: RDS asks for two even where the database stands in one. Defaults to
            that of the cluster and the first other one that we know of the Region.
        subnet_ids: Subnets in two or more zones, instead of new ones; an imported network needs them.
        name: Database that Slurm makes in it, 1 to 64 letters, digits, `$` and `_`.
        instance_class: For example `db.m8g.large`. Defaults to 2 virtual processors and 4 GiB.
        storage_gib: Size at first, 20 or more.
        max_storage_gib: Size up to which it grows by itself.
        multi_az: Whether a second instance in another zone takes over, which doubles the price.
        backup_days: Days for which backups are kept, 1 to 35.
        backup_window: Half an hour or more of UTC for backups; must not overlap with that for maintenance.
        maintenance_window: Half an hour or more of UTC, in which minor versions come and accounting is away for some
            minutes. Jobs go on.
        engine_version: Version of MariaDB at first.
        key: Customer key of storage and secret. Defaults to AWS managed keys. Cannot be changed without replacement.

    Attributes:
        database: What a cluster needs of it.
        resource: The instance.
        multi_az: Whether there is a second instance.

    Raises:
        InvalidValue: if an argument cannot be right.

    Source: SageMaker developer guide, sagemaker-hyperpod-external-accounting-db-slurm (seen 2026-11-30);
    slurm.schedmd.com/accounting.html; aws/sagemaker-hyperpod-cluster-setup, slurm-accounting-db-template.yaml.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: Network,
        zones: Sequence[str] | None = None,
        subnet_ids: Sequence[str] | None = None,
        name: str = "slurm_acct_db",
        instance_class: str = "db.t4g.medium",
        storage_gib: int = 20,
        max_storage_gib: int = 100,
        multi_az: bool = False,
        backup_days: int = 7,
        backup_window: str = "08:00-09:00",
        maintenance_window: str = "sun:10:00-sun:11:00",
        engine_version: str = "11.4.10",
        key: kms.IKey | None = None,
    ) -> None:
        """Checks everything, then makes the database."""
        texts = {
            "instance_class": instance_class,
            "engine_version": engine_version,
            "backup_window": backup_window,
            "maintenance_window": maintenance_window,
        }
        for argument, text in texts.items():
            _check_form(argument, text)
        _check_sizes(storage_gib, max_storage_gib, backup_days)
        ExternalDatabase(endpoint="", secret_arn="", name=name)  # checks the name
        subnets = _subnets(network, zones, subnet_ids)
        super().__init__(scope, id)
        self.multi_az = multi_az
        key_arn = key.key_arn if key else None
        group_id, rules = self._make_security_group(network)
        secret_arn = self._make_secret(key_arn)
        self.resource = rds.CfnDBInstance(
            self,
            "Resource",
            engine="mariadb",
            engine_version=engine_version,
            auto_minor_version_upgrade=True,
            db_instance_class=instance_class,
            db_parameter_group_name=self._make_parameters(engine_version),
            db_subnet_group_name=self._make_subnet_group(subnets),
            vpc_security_groups=[group_id],
            publicly_accessible=False,
            port=str(PORT),
            # No availability_zone: with one, a change to multi_az might be a replacement, by an empty database.
            multi_az=multi_az,
            allocated_storage=str(storage_gib),
            max_allocated_storage=max_storage_gib,
            storage_type="gp3",
            storage_encrypted=True,
            kms_key_id=key_arn,
            backup_retention_period=backup_days,
            copy_tags_to_snapshot=True,
            delete_automated_backups=False,
            deletion_protection=True,
            preferred_backup_window=backup_window,
            preferred_maintenance_window=maintenance_window,
            master_username=_USER,
            master_user_password=f"{{{{resolve:secretsmanager:{secret_arn}:SecretString:password}}}}",
            tags=[cdk.CfnTag(key="Name", value=self.node.path)],
        )
        _keep(self.resource)
        self.resource.apply_cross_stack_reference_strength(LOCKED)
        # A cluster waits for its database, and must find the way to it open.
        self.resource.node.add_dependency(DependencyGroup(*rules))
        self.database = ExternalDatabase(
            endpoint=self.resource.attr_endpoint_address, secret_arn=secret_arn, port=PORT, name=name, key_arn=key_arn
        )
        validation.register(self)

    @staticmethod
    @checked
    def from_attributes(
        *, endpoint: str, secret_arn: str, port: int = PORT, name: str = "slurm_acct_db", key_arn: str | None = None
    ) -> ExternalDatabase:
        """A MySQL-compatible database that exists; it must let the cluster's security group in on its port.

        Args:
            endpoint: Its host name.
            secret_arn: Secret with the keys `username` and `password`, of a user who may create the database. One that
                is rotated, as RDS does every 7 days with its own, may cut accounting off: no page says whether
                HyperPod reads it again.
            port: 1 to 65535.
            name: Database that Slurm makes in it.
            key_arn: Customer key of the secret, which the controller is then allowed to use.
        """
        return ExternalDatabase(endpoint=endpoint, secret_arn=secret_arn, port=port, name=name, key_arn=key_arn)

    def _make_secret(self, key_arn: str | None) -> str:
        """The user and a random password; returns the ARN.

        Not RDS's own secret (ManageMasterUserPassword): that is rotated every 7 days, and no page says whether
        HyperPod's slurmdbd reads a password again, so that a rotation could cut accounting off. Letters and digits
        alone: slurmdbd.conf takes what follows a `#` for a comment and knows no quotes.
        """
        secret = secretsmanager.CfnSecret(
            self,
            "Secret",
            description="User and password of Slurm's accounting database",
            kms_key_id=key_arn,
            generate_secret_string=secretsmanager.CfnSecret.GenerateSecretStringProperty(
                secret_string_template=json.dumps({"username": _USER}),
                generate_string_key="password",
                password_length=_PASSWORD_LENGTH,
                exclude_punctuation=True,
            ),
        )
        _keep(secret)
        secret.apply_cross_stack_reference_strength(LOCKED)
        return secret.ref

    def _make_parameters(self, engine_version: str) -> str:
        """The settings of MariaDB; returns the name of the group."""
        group = rds.CfnDBParameterGroup(
            self,
            "Parameters",
            description="MariaDB for Slurm accounting",
            family=f"mariadb{engine_version.rpartition('.')[0]}",
            parameters=_PARAMETERS,
        )
        _keep(group)
        return group.ref

    def _make_subnet_group(self, subnets: Sequence[str]) -> str:
        """The subnets in which RDS may put the instance; returns the name of the group."""
        group = rds.CfnDBSubnetGroup(
            self, "Subnets", db_subnet_group_description="Slurm accounting", subnet_ids=list(subnets)
        )
        _keep(group)
        return group.ref

    def _make_security_group(self, network: Network) -> tuple[str, list[cdk.CfnResource]]:
        """The group of the database, which lets nodes in and nothing out; returns its id and the rules beside it.

        The rules are not kept: they name the group of the nodes, which could then not be deleted.
        """
        group = ec2.CfnSecurityGroup(
            self,
            "SecurityGroup",
            vpc_id=network.vpc_id,
            group_description="Slurm accounting: nodes of clusters",
            # EC2 adds a rule for everything unless there is another one; this one lets nothing out.
            security_group_egress=[
                ec2.CfnSecurityGroup.EgressProperty(
                    ip_protocol="icmp", from_port=252, to_port=86, cidr_ip="255.255.255.255/32", description="Nothing"
                )
            ],
        )
        _keep(group)
        group_id = group.attr_group_id
        own = network.model.fabric is not None
        rules: list[cdk.CfnResource] = [
            ec2.CfnSecurityGroupIngress(
                self,
                "FromNodes" if own else f"From-{nodes}",
                group_id=group_id,
                source_security_group_id=nodes,
                ip_protocol="tcp",
                from_port=PORT,
                to_port=PORT,
                description="slurmdbd on controllers",
            )
            for nodes in network.security_group_ids
        ]
        if own:
            # A closed network lets nodes out by HTTPS alone.
            (nodes,) = network.security_group_ids
            out = ec2.CfnSecurityGroupEgress(
                self,
                "OutOfNodes",
                group_id=nodes,
                destination_security_group_id=group_id,
                ip_protocol="tcp",
                from_port=PORT,
                to_port=PORT,
                description="slurmdbd to its database",
            )
            rules.append(out)
        return group_id, rules


def _keep(resource: cdk.CfnResource) -> None:
    """Keeps what holds data, and what a database that is kept stands in and is read with."""
    resource.apply_removal_policy(cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)


def _check_form(argument: str, value: str) -> None:
    form, words = _FORMS[argument]
    if is_token(value) and argument == "engine_version":
        raise InvalidValue("engine_version is known only at deploy", "use text: the settings are those of its version")
    if not is_token(value) and not form.fullmatch(value):
        raise InvalidValue(f"{argument} is {value!r}", f"use {words}")


def _check_sizes(storage_gib: int, max_storage_gib: int, backup_days: int) -> None:
    check_whole("storage_gib", storage_gib, low=20, high=65_536, unit="GiB")
    more = 22 if is_token(storage_gib) else math.ceil(storage_gib * _ROOM_TO_GROW)
    check_whole("max_storage_gib", max_storage_gib, low=more, high=65_536, unit="GiB")
    check_whole("backup_days", backup_days, low=1, high=35, unit="days")


def _subnets(network: Network, zones: Sequence[str] | None, subnet_ids: Sequence[str] | None) -> Sequence[str]:
    """The subnets that are given, else new ones."""
    if subnet_ids is None:
        return network.database_subnets(zones)
    if zones is not None:
        raise InvalidValue("zones have no effect beside subnet_ids, which have their own")
    for each in subnet_ids:
        check_id("subnet_ids", each, "subnet")
    if len(set(subnet_ids)) < 2 and not is_token(subnet_ids):  # noqa: PLR2004  # what RDS asks for
        raise InvalidValue(f"subnet_ids are {list(subnet_ids)!r}", "give two or more subnets in different zones")
    return subnet_ids
