from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.storage import DataRepository, FileSystem, Lustre, Retention
from hyperpod_constructs.tokens import UNKNOWN
from tests.model.conftest import refused

AS_LEFT_OUT = Lustre(deployment_type="SCRATCH_1", storage_type="SSD", version=None, compression="NONE")


def file_system(configuration: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    """A Lustre file system."""
    lustre = {} if configuration is None else {"LustreConfiguration": configuration}
    return {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "LUSTRE", **lustre, **properties}}


class TestLustre:
    def test_has_the_defaults_of_the_service(self, deployment_of: Any) -> None:
        assert deployment_of({"F": file_system()}).file_systems == (FileSystem(path="app.json/F", lustre=AS_LEFT_OUT),)

    def test_keeps_what_is_right_beside_what_is_not(self, deployment_of: Any) -> None:
        read = deployment_of({"F": file_system({"DeploymentType": "PERSISTENT_3", "AutomaticBackupRetentionDays": 91})})
        lustre = read.file_systems[0].lustre
        assert (lustre.deployment_type, lustre.backup_days, lustre.storage_type) == (UNKNOWN, UNKNOWN, "SSD")
        assert refused(read) == [
            (
                "LustreConfiguration.DeploymentType: Lustre deployment type is 'PERSISTENT_3'; "
                "use one of SCRATCH_1, SCRATCH_2, PERSISTENT_1, PERSISTENT_2"
            ),
            "LustreConfiguration.AutomaticBackupRetentionDays: Lustre backup retention is 91; use 0 to 90 days",
        ]

    @pytest.mark.parametrize(
        ("metadata", "iops"),
        [
            ({"Mode": "AUTOMATIC"}, "AUTOMATIC"),
            ({"Mode": "USER_PROVISIONED", "Iops": "12000"}, 12000),
            ({"Mode": "MANUAL"}, UNKNOWN),
            ({"Mode": "USER_PROVISIONED"}, UNKNOWN),
        ],
    )
    def test_has_metadata_iops_by_mode(self, deployment_of: Any, metadata: Any, iops: object) -> None:
        read = deployment_of({"F": file_system({"MetadataConfiguration": metadata})})
        assert read.file_systems[0].lustre.metadata_iops == iops
        assert len(read.invalid) == (1 if iops is UNKNOWN else 0)

    @pytest.mark.parametrize(
        ("cache", "gib"),
        [
            ({"SizingMode": "USER_PROVISIONED", "SizeGiB": 64}, 64),
            ({"SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"}, None),
            ({"SizingMode": "NO_CACHE"}, UNKNOWN),
        ],
    )
    def test_has_a_read_cache_by_sizing_mode(self, deployment_of: Any, cache: Any, gib: object) -> None:
        read = deployment_of({"F": file_system({"DataReadCacheConfiguration": cache})})
        assert read.file_systems[0].lustre.read_cache_gib == gib

    def test_is_the_only_kind_that_is_read(self, deployment_of: Any) -> None:
        assert deployment_of({"F": file_system(FileSystemType="OPENZFS")}).file_systems == ()

    def test_capacity_is_that_of_the_backup_it_is_made_from(self, deployment_of: Any) -> None:
        properties = {"FileSystemType": "LUSTRE", "BackupId": "backup-0123456789abcdef0"}
        (made,) = deployment_of({"Fs": {"Type": "AWS::FSx::FileSystem", "Properties": properties}}).file_systems
        assert made.lustre.capacity_gib is UNKNOWN

    def test_type_is_that_of_the_backup_unless_it_is_given(self, deployment_of: Any) -> None:
        backup: dict[str, Any] = {"BackupId": "backup-0123456789abcdef0"}
        made = deployment_of(
            {"F": file_system(**backup), "G": file_system({"DeploymentType": "PERSISTENT_2"}, **backup)}
        ).file_systems
        assert [each.lustre.deployment_type for each in made] == [UNKNOWN, "PERSISTENT_2"]
        assert {each.lustre.throughput_mbps_per_tib for each in made} == {UNKNOWN}


class TestRetention:
    @pytest.mark.parametrize(
        ("policies", "retention"),
        [
            ({}, Retention(on_delete="Delete", on_replace="Delete")),
            ({"DeletionPolicy": "Retain"}, Retention(on_delete="Retain", on_replace="Delete")),
            ({"UpdateReplacePolicy": "Snapshot"}, Retention(on_delete="Delete", on_replace="Snapshot")),
        ],
    )
    def test_is_what_the_policies_say(self, deployment_of: Any, policies: Any, retention: Retention) -> None:
        read = deployment_of({"F": {**file_system(), **policies}})
        assert read.file_systems[0].retention == retention

    def test_of_a_word_that_is_none_is_reported(self, deployment_of: Any) -> None:
        read = deployment_of({"F": {**file_system(), "DeletionPolicy": "Keep"}})
        assert read.file_systems[0].retention.on_delete is UNKNOWN
        assert refused(read) == ["DeletionPolicy is 'Keep'; use Delete or Retain or RetainExceptOnCreate or Snapshot"]


class TestRepositories:
    def association(self, **properties: Any) -> dict[str, Any]:
        basics = {"FileSystemId": {"Ref": "F"}, "FileSystemPath": "/data", "DataRepositoryPath": "s3://bucket/data/"}
        return {"Type": "AWS::FSx::DataRepositoryAssociation", "Properties": {**basics, **properties}}

    def test_belong_to_their_file_system(self, deployment_of: Any) -> None:
        events = {"AutoImportPolicy": {"Events": ["NEW"]}, "AutoExportPolicy": {"Events": ["NEW", "DELETED"]}}
        read = deployment_of({"F": file_system(), "A": self.association(S3=events, BatchImportMetaDataOnCreate=True)})
        assert read.file_systems[0].repositories == (
            DataRepository(folder="/data", s3_uri="s3://bucket/data/", imports=("NEW",), exports=("NEW", "DELETED")),
        )

    def test_do_nothing_by_themselves_unless_told(self, deployment_of: Any) -> None:
        read = deployment_of({"F": file_system(), "A": self.association()})
        (repository,) = read.file_systems[0].repositories
        assert (repository.imports, repository.exports, repository.batch_import) == ((), (), False)

    def test_with_a_wrong_folder_are_reported(self, deployment_of: Any) -> None:
        read = deployment_of({"F": file_system(), "A": self.association(FileSystemPath="data")})
        assert read.file_systems[0].repositories[0].folder is UNKNOWN
        assert refused(read) == ["FileSystemPath: repository folder is 'data'; use a path that begins with /"]

    def test_that_may_not_be_there_are_left_out(self, deployment_of: Any) -> None:
        read = deployment_of(
            {"F": file_system(), "A": {**self.association(), "Condition": "Maybe"}},
            Parameters={"Given": {"Type": "String"}},
            Conditions={"Maybe": {"Fn::Equals": [{"Ref": "Given"}, "x"]}},
        )
        assert read.file_systems[0].repositories == ()
