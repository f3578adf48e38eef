"""File systems and buckets, kept on delete and on replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, cast

import aws_cdk as cdk
from aws_cdk import aws_fsx as fsx, aws_kms as kms, aws_s3 as s3
from constructs import Construct

from hyperpod_constructs.catalog.endpoints import LUSTRE_EFA
from hyperpod_constructs.cdk import validation
from hyperpod_constructs.cdk._arguments import checked
from hyperpod_constructs.cdk._properties import MountTarget, given, lustre_configuration, repository_sync
from hyperpod_constructs.cdk.network import LOCKED, Network
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model import intent
from hyperpod_constructs.model.checks import check_whole
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.model.storage import (
    DataRepository,
    FileSystem,
    Lustre,
    Retention,
    check_dns_name,
    check_mount_name,
)
from hyperpod_constructs.tokens import UNKNOWN, is_token

KEPT = Retention(on_delete="RetainExceptOnCreate", on_replace="Retain")
"""Data outlives its stack and its replacement; the empty leftover of a failed first create does not."""


class IFileSystem(Protocol):
    """What a cluster needs of a file system to mount it."""

    @property
    def target(self) -> MountTarget:
        """DNS name and mount name."""

    @property
    def model(self) -> FileSystem:
        """The file system as the rules see it."""

    @property
    def subnet(self) -> Subnet | None:
        """Its subnet, where it is not one of the cluster's network."""

    @property
    def associations(self) -> Sequence[fsx.CfnDataRepositoryAssociation]:
        """Its links to S3, which a cluster waits for."""


def file_system_model(
    path: str, lustre: Lustre, placement: VpcPlacement, repositories: Sequence[DataRepository]
) -> FileSystem:
    """A file system of ours as the rules see it, before anything of it exists."""
    return FileSystem(
        path=path,
        lustre=_with_read_cache(lustre),
        subnets=placement.subnets,
        security_groups=placement.security_groups,
        retention=KEPT,
        repositories=tuple(repositories),
    )


def _with_read_cache(lustre: Lustre) -> Lustre:
    """The same file system with the read cache setting that FSx requires of intelligent tiering."""
    if lustre.storage_type != "INTELLIGENT_TIERING" or lustre.read_cache is not None:
        return lustre
    in_proportion = lustre.read_cache_gib is None
    return replace(lustre, read_cache="PROPORTIONAL_TO_THROUGHPUT_CAPACITY" if in_proportion else "USER_PROVISIONED")


class LustreFileSystem(Construct):
    """FSx for Lustre beside the nodes of a cluster.

    It stands in the fabric security group of its network, whose rules for all traffic with itself are what both EFA
    and Lustre's own ports need; the group is made once and never swapped, because that would replace the file system.
    Kept on delete and on replace, and with it the VPC, subnet and security group that it stands in, which cost nothing
    and which EC2 would not delete under it. With EFA, a closed network gets an endpoint for FSx, which nodes ask.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        network: Where it stands.
        lustre: What is bought.
        zone: Zone id. Defaults to that of the cluster.
        repositories: Folders that mirror S3 prefixes, at most 8. FSx itself reads and writes the buckets.
        key: Customer key. Defaults to the AWS managed key. Cannot be changed without replacement.
        acknowledge: Rule ids and reasons of errors that are accepted.
        logs: Whether warnings and errors of data repositories go to the CloudWatch log group `/aws/fsx/lustre`.

    Attributes:
        file_system_id: Id of the file system.
        target: DNS name and mount name.
        model: The file system as the rules see it.
        associations: Its links to S3, in the order in which they are made.
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        network: Network,
        lustre: Lustre,
        zone: str | None = None,
        repositories: Sequence[DataRepository] = (),
        key: kms.IKey | None = None,
        logs: bool = True,
        acknowledge: Mapping[str, str] | None = None,
    ) -> None:
        """Checks the file system, then makes it."""
        seen = file_system_model(f"{scope.node.path}/{id}", lustre, network.model.placement(zone), repositories)
        surroundings = Deployment(
            file_systems=(seen,), subnets=network.model.subnets, security_groups=network.model.security_groups
        )
        validation.refuse_errors(surroundings, acknowledge)
        super().__init__(scope, id)
        validation.record(self, acknowledge)
        path = seen.path
        ids = network.ids(zone)
        resource = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=given(lustre.version),
            storage_capacity=given(lustre.capacity_gib),
            storage_type=given(lustre.storage_type),
            subnet_ids=list(ids.subnets),
            security_group_ids=list(ids.security_groups),
            kms_key_id=key.key_arn if key else None,
            lustre_configuration=lustre_configuration(seen.lustre, logs=logs, linked=bool(repositories)),
            tags=[cdk.CfnTag(key="Name", value=path)],
        )
        if network.model.imported:
            resource.add_metadata(intent.KEY, intent.encode_subnets(network.model.subnets))
        resource.apply_removal_policy(cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
        network.keep(zone)
        if lustre.efa is True:
            network.reach(LUSTRE_EFA)
        resource.apply_cross_stack_reference_strength(LOCKED)
        # FSx looks for its ports when it is created and no property refers to the rules (field report B-04).
        resource.node.add_dependency(network.fabric_rules)
        self.file_system_id = resource.ref
        self.target = MountTarget(dns_name=resource.attr_dns_name, mount_name=resource.attr_lustre_mount_name)
        self.model = seen
        self.subnet: Subnet | None = None
        self.associations: Sequence[fsx.CfnDataRepositoryAssociation] = self._make_associations(repositories)
        validation.register(self)

    def _make_associations(self, repositories: Sequence[DataRepository]) -> list[fsx.CfnDataRepositoryAssociation]:
        """One after the other: FSx processes one association at a time and throttles the rest."""
        made: list[fsx.CfnDataRepositoryAssociation] = []
        for repository in repositories:
            if is_token(repository.folder):
                raise InvalidValue("the folder of a repository is a token", "use text: logical ids are made of it")
            association = fsx.CfnDataRepositoryAssociation(
                self,
                f"Repository{str(repository.folder).replace('-', '--').replace('/', '-')}",
                file_system_id=self.file_system_id,
                file_system_path=str(repository.folder),
                data_repository_path=str(repository.s3_uri),
                batch_import_meta_data_on_create=repository.batch_import is True,
                s3=repository_sync(repository),
            )
            if made:
                association.add_resource_dependency(made[-1])
            made.append(association)
        return made

    @staticmethod
    @checked
    def from_attributes(*, dns_name: str, mount_name: str, zone: str | None = None, efa: bool = False) -> IFileSystem:
        """A file system that exists; its security group must let the cluster's fabric group in.

        Args:
            dns_name: For example `fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com`.
            mount_name: Its mount name; never guessed.
            zone: Its zone id, which is compared with that of the nodes when the cluster is made.
            efa: Whether it was made for EFA, which nodes must be able to look up.
        """
        check_dns_name("dns_name", dns_name)
        check_mount_name("mount_name", mount_name)
        subnet = Subnet(path=f"{dns_name}/subnet", zone=zone or UNKNOWN, public=UNKNOWN)
        model = FileSystem(
            path=dns_name, lustre=replace(_UNKNOWN_LUSTRE, efa=efa), subnets=(subnet.path,), retention=KEPT
        )
        target = MountTarget(dns_name=dns_name, mount_name=mount_name)
        return _ImportedFileSystem(target=target, model=model, subnet=subnet)


_UNKNOWN_LUSTRE = Lustre(
    capacity_gib=UNKNOWN,
    throughput_mbps_per_tib=UNKNOWN,
    deployment_type=UNKNOWN,
    storage_type=UNKNOWN,
    version=UNKNOWN,
    efa=UNKNOWN,
    metadata_iops=UNKNOWN,
    compression=UNKNOWN,
    backup_days=UNKNOWN,
    read_cache=UNKNOWN,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ImportedFileSystem:
    target: MountTarget
    model: FileSystem
    subnet: Subnet | None
    associations: Sequence[fsx.CfnDataRepositoryAssociation] = ()


class CheckpointBucket(s3.Bucket):
    """A bucket for checkpoints: TLS only, versioned, nothing public, kept on delete and on replace.

    Old versions go after a month, unfinished uploads after a week. Access logs are not kept: at the rate at which
    checkpoints are written they cost more than they tell.

    Args:
        scope: Parent construct.
        id: Name within the parent.
        key: Customer key. Defaults to S3-managed encryption.
        old_versions_days: Days that replaced or deleted checkpoints are kept, 1 to 36,500.

    Raises:
        InvalidValue: if old versions are kept for less than a day.
    """

    @checked
    def __init__(self, scope: Construct, id: str, *, key: kms.IKey | None = None, old_versions_days: int = 30) -> None:
        """Makes the bucket."""
        check_whole("CheckpointBucket: old_versions_days", old_versions_days, low=1, high=36_500, unit="days")
        super().__init__(
            scope,
            id,
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=True if key else None,
            enforce_ssl=True,
            versioned=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="Tidy",
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
                    noncurrent_version_expiration=cdk.Duration.days(old_versions_days),
                )
            ],
        )
        bucket = cast("cdk.CfnResource", self.node.default_child)
        bucket.add_metadata(intent.KEY, {"holds_data": True})
