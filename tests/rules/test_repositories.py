"""What is said of links between file systems and S3."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.storage import Association, DataRepository, OldLink, OtherFileSystem
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import told
from tests.rules.file_systems import TIERING, file_system, lustre, with_fields

FS = "fs-0123456789abcdef0"
LINKED = (DataRepository(folder="/data", s3_uri="s3://b/data/"),)


def linked(path: str, named: Any, folder: str = "/", s3_uri: str = "s3://b/", **fields: Any) -> Association:
    """An association of a file system."""
    repository = DataRepository(folder=folder, s3_uri=s3_uri)
    return Association(path=path, file_system=named, repository=repository, **fields)


class TestRepositoriesCanBeLinked:
    def of(self, *places: tuple[Any, Any], **fields: Any) -> list[str]:
        repositories = tuple(DataRepository(folder=folder, s3_uri=uri) for folder, uri in places)
        return with_fields("HP3017", lustre(**fields), repositories=repositories)

    @pytest.mark.parametrize(("outer", "inner"), [("/ns1", "/ns1/ns2"), ("/ns1/", "/ns1"), ("/", "/data")])
    def test_folders_do_not_overlap(self, outer: str, inner: str) -> None:
        assert self.of((outer, "s3://a/"), (inner, "s3://b/")) == [
            (
                f"HP3017 folders {outer} and {inner} overlap | "
                "use FileSystemPath (folder) of which none is or holds another"
            )
        ]

    @pytest.mark.parametrize(("outer", "inner"), [("s3://a", "s3://a/x/"), ("s3://a/x", "s3://a/x/")])
    def test_prefixes_do_not_overlap(self, outer: str, inner: str) -> None:
        assert self.of(("/a", outer), ("/b", inner)) == [
            f"HP3017 {outer} and {inner} overlap | use DataRepositoryPath (s3_uri) of which none is or holds another"
        ]

    def test_eight_at_most(self) -> None:
        places = [(f"/{n}", f"s3://b/{n}/") for n in range(9)]
        assert self.of(*places) == ["HP3017 the file system has 9 links to S3 | use at most 8"]
        assert self.of(*places[:8]) == []

    @pytest.mark.parametrize(
        ("fields", "kind", "fix"),
        [
            (
                {"deployment_type": "SCRATCH_1"},
                "SCRATCH_1",
                (
                    "DeploymentType (deployment_type) SCRATCH_2, PERSISTENT_1 or PERSISTENT_2 with "
                    "FileSystemTypeVersion (version) '2.15'"
                ),
            ),
            (TIERING, "PERSISTENT_2 on INTELLIGENT_TIERING", "StorageType (storage_type) SSD"),
        ],
    )
    def test_some_types_cannot(self, fields: dict[str, Any], kind: str, fix: str) -> None:
        assert self.of(("/a", "s3://a/"), **fields) == [
            f"HP3017 {kind} cannot be linked to S3 | use {fix}, or leave the links out"
        ]

    def test_tiering_cannot_in_the_old_form_either(self) -> None:
        old = OldLink(import_path="s3://b/x")
        (found,) = with_fields("HP3017", lustre(**TIERING), old_link=old)
        assert found.startswith("HP3017 PERSISTENT_2 on INTELLIGENT_TIERING cannot be linked to S3 |")
        assert with_fields("HP3037", lustre(**TIERING), old_link=old) == []
        assert with_fields("HP3017", lustre(deployment_type="SCRATCH_1"), old_link=old) == []

    def test_lustre_2_10_cannot(self) -> None:
        scratch = {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": None}
        assert self.of(("/a", "s3://a/"), **scratch, version="2.10") == [
            "HP3017 Lustre 2.10 cannot be linked to S3 | use FileSystemTypeVersion (version) '2.15'"
        ]
        assert self.of(("/a", "s3://a/"), **scratch, version=None) == [
            (
                "HP3017 Lustre 2.10, the version that is taken where none is given, cannot be linked to S3 | "
                "use FileSystemTypeVersion (version) '2.15'"
            )
        ]

    def test_a_version_that_the_type_lacks_is_told_once(self) -> None:
        assert self.of(("/a", "s3://a/"), version="2.10") == []

    def test_is_silent_on_places_side_by_side(self) -> None:
        assert self.of(("/ns1", "s3://a/x/"), ("/ns10", "s3://a/xy/")) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        assert self.of((UNKNOWN, UNKNOWN), (UNKNOWN, UNKNOWN)) == []
        assert self.of(("/a", "s3://a/"), deployment_type="SCRATCH_2", version=UNKNOWN) == []

    def test_links_of_a_file_system_that_is_elsewhere_are_judged_too(self) -> None:
        judged = Deployment(associations=(linked("A", FS, "/ns1"), linked("B", FS, "/ns1/ns2", "s3://other/")))
        (found,) = RULES["HP3017"].findings(judged)
        assert found.path == "A"
        assert found.message == f"{FS}: folders /ns1 and /ns1/ns2 overlap"

    def test_links_of_different_file_systems_may_be_the_same(self) -> None:
        judged = Deployment(associations=(linked("A", FS), linked("B", FS.replace("0", "1")), linked("C", UNKNOWN)))
        assert told("HP3017", judged) == []


class TestLinksHaveOneForm:
    def test_names_what_has_to_go(self) -> None:
        old = OldLink(import_path="s3://b/y", auto_import="NEW")
        assert with_fields("HP3032", old_link=old, repositories=LINKED) == [
            (
                "HP3032 the file system has ImportPath and AutoImportPolicy and 1 data repository association | "
                "leave out ImportPath and AutoImportPolicy: an association links each prefix"
            )
        ]

    @pytest.mark.parametrize("old", [None, UNKNOWN, OldLink(import_path=UNKNOWN)])
    def test_is_silent_on_associations_alone(self, old: Any) -> None:
        assert with_fields("HP3032", old_link=old, repositories=LINKED) == []

    def test_is_silent_on_the_old_form_alone(self) -> None:
        assert with_fields("HP3032", old_link=OldLink(import_path="s3://b/y")) == []


class TestOldLinksAreComplete:
    @pytest.mark.parametrize(
        ("old", "said"),
        [
            ({"export_path": "s3://b/out"}, "ExportPath without ImportPath | give ImportPath, or leave out ExportPath"),
            (
                {"auto_import": "NEW", "chunk_mib": 1024},
                (
                    "AutoImportPolicy and ImportedFileChunkSize without ImportPath | "
                    "give ImportPath, or leave out AutoImportPolicy and ImportedFileChunkSize"
                ),
            ),
            (
                {"import_path": "s3://a/x", "export_path": "s3://b/x"},
                (
                    "ImportPath is in bucket a and ExportPath in bucket b | "
                    "export to another prefix of the bucket of ImportPath"
                ),
            ),
        ],
    )
    def test_names_what_is_wrong(self, old: dict[str, Any], said: str) -> None:
        assert with_fields("HP3033", old_link=OldLink(**old)) == [f"HP3033 {said}"]

    @pytest.mark.parametrize(
        "old",
        [
            {"import_path": "s3://a/x", "export_path": "s3://a/y", "auto_import": "NEW", "chunk_mib": 1},
            {"import_path": UNKNOWN, "export_path": "s3://b/x"},
            {"import_path": "s3://a/x", "export_path": UNKNOWN},
            {"auto_import": "NONE"},
        ],
    )
    def test_is_silent_on_what_can_be(self, old: dict[str, Any]) -> None:
        assert with_fields("HP3033", old_link=OldLink(**old)) == []

    def test_leaves_two_forms_at_once_to_their_own_rule(self) -> None:
        assert with_fields("HP3033", old_link=OldLink(export_path="s3://b/x"), repositories=LINKED) == []


class TestPersistent2IsLinkedByAssociations:
    OLD = OldLink(import_path="s3://b/x")

    def test_says_what_to_use(self) -> None:
        assert with_fields("HP3037", old_link=self.OLD) == [
            "HP3037 PERSISTENT_2 has ImportPath | link the prefix with an AWS::FSx::DataRepositoryAssociation"
        ]

    def test_is_a_warning_because_texts_disagree(self) -> None:
        assert RULES["HP3037"].severity is Severity.WARNING

    @pytest.mark.parametrize("deployment_type", ["SCRATCH_2", "PERSISTENT_1", UNKNOWN])
    def test_is_silent_on_other_types(self, deployment_type: Any) -> None:
        assert with_fields("HP3037", lustre(deployment_type=deployment_type), old_link=self.OLD) == []

    def test_is_silent_where_two_forms_are_the_mistake(self) -> None:
        assert with_fields("HP3037", old_link=self.OLD, repositories=LINKED) == []


class TestAssociationsAreMadeInTurn:
    def test_names_those_without_an_order(self) -> None:
        judged = Deployment(
            file_systems=(file_system(),),
            associations=(
                linked("A", "Scratch"),
                linked("B", "Scratch", after=frozenset({"A"})),
                linked("C", "Scratch", after=frozenset({"A"})),
            ),
        )
        (found,) = RULES["HP3034"].findings(judged)
        assert (found.path, found.message) == ("Scratch", "nothing says in which order B and C of Scratch are made")

    def test_counts_links_of_a_file_system_that_is_elsewhere(self) -> None:
        (found,) = RULES["HP3034"].findings(Deployment(associations=(linked("A", FS), linked("B", FS))))
        assert found.path == "A"

    def test_is_silent_in_a_row(self) -> None:
        row = (
            linked("A", FS),
            linked("B", FS, after=frozenset({"A"})),
            linked("C", FS, after=frozenset({"A", "B"})),
        )
        assert told("HP3034", Deployment(associations=row)) == []

    @pytest.mark.parametrize("other", ["fs-11111111", UNKNOWN])
    def test_is_silent_on_one_of_each_file_system(self, other: Any) -> None:
        assert told("HP3034", Deployment(associations=(linked("A", FS), linked("B", other)))) == []


class TestBucketsAreInTheRegion:
    def test_names_both_regions(self) -> None:
        judged = linked("A", FS, region="us-west-2", bucket_region="us-east-1")
        assert told("HP3035", Deployment(associations=(judged,))) == [
            "HP3035 s3://b/ is in us-east-1, the file system in us-west-2 | link a bucket in us-west-2"
        ]

    @pytest.mark.parametrize(
        "regions",
        [
            {"region": "us-west-2", "bucket_region": "us-west-2"},
            {"region": "us-west-2", "bucket_region": None},
            {"region": None, "bucket_region": "us-east-1"},
        ],
    )
    def test_is_silent_on_one_region_and_where_one_is_not_known(self, regions: dict[str, Any]) -> None:
        assert told("HP3035", Deployment(associations=(linked("A", FS, **regions),))) == []


class TestAssociationsNameLustreById:
    HOME = OtherFileSystem(path="Home", kind="OPENZFS")

    def of(self, named: Any) -> list[str]:
        judged = Deployment(
            file_systems=(file_system(),), other_file_systems=(self.HOME,), associations=(linked("A", named),)
        )
        return told("HP3036", judged)

    def test_other_kinds_have_no_links(self) -> None:
        assert self.of("Home") == [
            (
                "HP3036 FileSystemId is that of Home, which is OPENZFS | "
                "use the id of a file system of type LUSTRE as FileSystemId"
            )
        ]

    def test_another_attribute_is_no_id(self) -> None:
        assert self.of("Scratch.DNSName") == [
            "HP3036 FileSystemId is the DNSName of Scratch | use its id: what !Ref gives (CDK: ref)"
        ]

    @pytest.mark.parametrize("named", ["Scratch", FS, UNKNOWN, "Lookup.Id"])
    def test_is_silent_on_ids(self, named: Any) -> None:
        assert self.of(named) == []
