from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.storage import (
    DataRepository,
    FileSystem,
    Logs,
    Lustre,
    OldLink,
    OtherFileSystem,
    Retention,
)
from hyperpod_constructs.tokens import UNKNOWN
from tests.model.conftest import refused

GIVEN = {"Given": {"Type": "String"}}
UNDECIDED = {"Ref": "Given"}
AS_LEFT_OUT = Lustre(deployment_type="SCRATCH_1", storage_type="SSD", version=None, compression="NONE")


def file_system(configuration: dict[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
    """A Lustre file system."""
    lustre = {} if configuration is None else {"LustreConfiguration": configuration}
    basics = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-1"]}
    return {"Type": "AWS::FSx::FileSystem", "Properties": {**basics, **lustre, **properties}}


class TestLustre:
    def test_has_the_defaults_of_the_service(self, deployment_of: Any) -> None:
        assert deployment_of({"F": file_system()}).file_systems == (
            FileSystem(
                path="app.json/F",
                lustre=AS_LEFT_OUT,
                subnets=("subnet-1",),
                type_left_out=True,
                depends_on=frozenset(),
            ),
        )

    def test_throughput_that_no_type_has_is_told_with_those_of_its_type(self, deployment_of: Any) -> None:
        read = deployment_of({"F": file_system({"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 2000})})
        assert read.file_systems[0].lustre.throughput_mbps_per_tib is UNKNOWN
        assert refused(read) == [
            (
                "LustreConfiguration.PerUnitStorageThroughput: Lustre throughput is 2,000 MB/s/TiB; "
                "use 50, 100 or 200 MB/s/TiB"
            )
        ]

    @pytest.mark.parametrize(
        "configuration",
        [{"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughPut": 250}, {"DeploymentTyp": "PERSISTENT_2"}],
    )
    def test_left_out_is_not_what_stands_there_under_a_wrong_name(
        self, deployment_of: Any, configuration: dict[str, Any]
    ) -> None:
        read = deployment_of({"F": file_system(configuration)})
        lustre = read.file_systems[0].lustre
        assert lustre.throughput_mbps_per_tib is UNKNOWN
        assert lustre.deployment_type in {"PERSISTENT_2", UNKNOWN}
        assert len(read.invalid) == 1

    def test_has_no_wrong_name_in_what_only_the_api_has(self, deployment_of: Any) -> None:
        read = deployment_of({"F": file_system({"RootSquashConfiguration": {"RootSquash": "65534:65534"}})})
        assert read.file_systems[0].lustre == AS_LEFT_OUT

    @pytest.mark.parametrize("mode", ["NO_CACHE", "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"])
    def test_a_size_beside_a_mode_without_one_is_told(self, deployment_of: Any, mode: str) -> None:
        cache = {"SizingMode": mode, "SizeGiB": 64}
        read = deployment_of({"F": file_system({"DataReadCacheConfiguration": cache})})
        (invalid,) = read.invalid
        assert not invalid.certain
        assert f"SizeGiB is given beside SizingMode {mode}" in invalid.message

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
        ("cache", "mode", "gib"),
        [
            ({"SizingMode": "USER_PROVISIONED", "SizeGiB": 64}, "USER_PROVISIONED", 64),
            ({"SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"}, "PROPORTIONAL_TO_THROUGHPUT_CAPACITY", None),
            ({"SizingMode": "NO_CACHE"}, "NO_CACHE", None),
            ({"SizingMode": "SOME"}, UNKNOWN, UNKNOWN),
            ({"SizingMode": "USER_PROVISIONED"}, "USER_PROVISIONED", UNKNOWN),
        ],
    )
    def test_has_a_read_cache_by_sizing_mode(self, deployment_of: Any, cache: Any, mode: object, gib: object) -> None:
        read = deployment_of({"F": file_system({"DataReadCacheConfiguration": cache})})
        lustre = read.file_systems[0].lustre
        assert (lustre.read_cache, lustre.read_cache_gib) == (mode, gib)
        assert len(read.invalid) == (1 if gib is UNKNOWN else 0)

    def test_without_a_read_cache_is_right_beside_what_is_not(self, deployment_of: Any) -> None:
        wrong = {"DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"}, "WeeklyMaintenanceStartTime": "8:03:00"}
        read = deployment_of({"F": file_system(wrong)})
        assert read.file_systems[0].lustre.read_cache == "NO_CACHE"
        assert len(read.invalid) == 1

    def test_automatic_metadata_has_no_number(self, deployment_of: Any) -> None:
        read = deployment_of({"F": file_system({"MetadataConfiguration": {"Mode": "AUTOMATIC", "Iops": 6000}})})
        assert read.file_systems[0].lustre.metadata_iops == "AUTOMATIC"
        assert refused(read) == [
            (
                "LustreConfiguration.MetadataConfiguration.Iops is given beside Mode AUTOMATIC; "
                "leave it out, or use Mode USER_PROVISIONED"
            )
        ]

    def test_root_squash_is_said_to_be_for_the_api(self, deployment_of: Any) -> None:
        read = deployment_of({"F": file_system({"RootSquashConfiguration": {"RootSquash": "65534:65534"}})})
        (invalid,) = read.invalid
        assert not invalid.certain
        assert "aws fsx update-file-system" in invalid.fix

    def test_names_what_is_for_other_kinds(self, deployment_of: Any) -> None:
        read = deployment_of({"F": file_system(NetworkType="DUAL", OntapConfiguration=UNDECIDED)}, Parameters=GIVEN)
        assert read.file_systems[0].of_other_kinds == ("NetworkType",)

    def test_is_not_the_only_kind_that_is_read(self, deployment_of: Any) -> None:
        read = deployment_of({"F": {**file_system(FileSystemType="OPENZFS"), "DeletionPolicy": "Retain"}})
        assert read.file_systems == ()
        assert read.other_file_systems == (
            OtherFileSystem(path="app.json/F", kind="OPENZFS", retention=Retention(on_delete="Retain")),
        )

    @pytest.mark.parametrize("kind", ["LUSTER", UNDECIDED])
    def test_of_which_the_kind_is_not_known_is_not_read(self, deployment_of: Any, kind: object) -> None:
        read = deployment_of({"F": file_system(FileSystemType=kind)}, Parameters=GIVEN)
        assert (read.file_systems, read.other_file_systems) == ((), ())

    def test_of_which_the_kind_is_not_in_capitals_is_read_all_the_same(self, deployment_of: Any) -> None:
        read = deployment_of({"F": file_system(FileSystemType="Lustre")})
        assert len(read.file_systems) == 1
        assert [each.partition(";")[0] for each in refused(read)] == ["FileSystemType is 'Lustre'"]

    def test_has_the_link_in_its_old_form(self, deployment_of: Any) -> None:
        link = {"ImportPath": {"Fn::Sub": "s3://${B}/x"}, "AutoImportPolicy": "NEW", "ImportedFileChunkSize": 1}
        bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "data"}}
        (found,) = deployment_of({"F": file_system(link), "B": bucket}).file_systems
        assert found.old_link == OldLink(import_path="s3://data/x", auto_import="NEW", chunk_mib=1)


class TestLogs:
    @pytest.mark.parametrize(
        ("destination", "arn"),
        [
            (None, None),
            ("arn:aws:logs:us-west-2:111122223333:log-group:/x", "arn:aws:logs:us-west-2:111122223333:log-group:/x"),
            ({"Fn::GetAtt": ["G", "Arn"]}, "arn:*:logs:*:*:log-group:/aws/fsx/*"),
            ({"Fn::GetAtt": ["H", "Arn"]}, "arn:*:logs:*:*:log-group:app.json-H-*"),
            ({"Fn::Sub": "arn:aws:logs:${AWS::Region}:1:log-group:${G}"}, "arn:aws:logs:*:1:log-group:/aws/fsx/*"),
            (UNDECIDED, UNKNOWN),
        ],
    )
    def test_go_to_a_log_group_by_name(self, deployment_of: Any, destination: object, arn: Any) -> None:
        logs = {"Level": "WARN_ERROR", **({} if destination is None else {"Destination": destination})}
        named = {"LogGroupName": {"Fn::Sub": "/aws/fsx/${AWS::StackName}"}}
        read = deployment_of(
            {
                "F": file_system({"LogConfiguration": logs}),
                "G": {"Type": "AWS::Logs::LogGroup", "Properties": named},
                "H": {"Type": "AWS::Logs::LogGroup"},
            },
            Parameters=GIVEN,
        )
        assert read.file_systems[0].logs == Logs(level="WARN_ERROR", destination=arn)

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
            Parameters=GIVEN,
            Conditions={"Maybe": {"Fn::Equals": [{"Ref": "Given"}, "x"]}},
        )
        assert read.file_systems[0].repositories == ()

    def test_are_associations_with_what_comes_before_them(self, deployment_of: Any) -> None:
        second = {**self.association(FileSystemPath="/more"), "DependsOn": "A"}
        read = deployment_of({"F": file_system(), "A": self.association(), "B": second})
        assert [(each.path, each.file_system, sorted(each.after)) for each in read.associations] == [
            ("app.json/A", "app.json/F", ["app.json/F"]),
            ("app.json/B", "app.json/F", ["app.json/A", "app.json/F"]),
        ]

    @pytest.mark.parametrize(
        ("file_system_id", "path"),
        [
            ("fs-0123456789abcdef0", "fs-0123456789abcdef0"),
            ({"Fn::GetAtt": ["F", "DNSName"]}, "app.json/F.DNSName"),
            (UNDECIDED, UNKNOWN),
        ],
    )
    def test_of_what_is_not_the_id_of_a_file_system_here(
        self, deployment_of: Any, file_system_id: object, path: object
    ) -> None:
        read = deployment_of({"F": file_system(), "A": self.association(FileSystemId=file_system_id)}, Parameters=GIVEN)
        assert [each.file_system for each in read.associations] == [path]
        assert read.file_systems[0].repositories == ()

    def test_name_the_bucket_of_the_template(self, deployment_of: Any) -> None:
        bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "data"}}
        linked = self.association(DataRepositoryPath={"Fn::Sub": "s3://${B}/x/"})
        (found,) = deployment_of({"F": file_system(), "A": linked, "B": bucket}).associations
        assert (found.repository.s3_uri, found.bucket_region) == ("s3://data/x/", None)

    def test_to_a_bucket_that_only_the_deploy_knows_are_not_known(self, deployment_of: Any) -> None:
        linked = self.association(DataRepositoryPath={"Fn::Sub": "s3://${Given}/x/"})
        (found,) = deployment_of({"F": file_system(), "A": linked}, Parameters=GIVEN).associations
        assert found.repository.s3_uri is UNKNOWN
