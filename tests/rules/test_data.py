"""What is said of what keeps and loses data."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.storage import DataRepository, OldLink, OtherFileSystem, Retention
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import told
from tests.rules.file_systems import lustre, of, with_fields

LINKED = (DataRepository(folder="/data", s3_uri="s3://b/data/"),)
LINKS = [{"repositories": LINKED}, {"old_link": OldLink(import_path="s3://b/data")}]
SCRATCH: dict[str, Any] = {"deployment_type": "SCRATCH_2", "throughput_mbps_per_tib": None}


class TestBackupsArePossible:
    def test_not_on_scratch(self) -> None:
        assert of("HP3008", deployment_type="SCRATCH_2", backup_days=1) == [
            (
                "HP3008 automatic backups are kept 1 day but SCRATCH_2 is a scratch type | "
                "set AutomaticBackupRetentionDays (backup_days) to 0, "
                "or use DeploymentType (deployment_type) PERSISTENT_2"
            )
        ]

    @pytest.mark.parametrize("link", LINKS)
    def test_not_with_a_link_to_s3(self, link: dict[str, Any]) -> None:
        assert with_fields("HP3008", lustre(backup_days=7), **link) == [
            (
                "HP3008 automatic backups are kept 7 days but the file system is linked to S3 | "
                "set AutomaticBackupRetentionDays (backup_days) to 0: export to S3 keeps the data"
            )
        ]

    @pytest.mark.parametrize(
        "fields", [{"backup_days": 7}, {"backup_days": 0, "deployment_type": "SCRATCH_2"}, {"backup_days": UNKNOWN}]
    )
    def test_is_silent_without_backups_and_where_they_are_possible(self, fields: dict[str, Any]) -> None:
        assert of("HP3008", **fields) == []

    def test_leaves_both_reasons_at_once_to_the_error(self) -> None:
        assert with_fields("HP3008", lustre(**SCRATCH, backup_days=7), repositories=LINKED) == []


class TestLinkedScratchHasNoBackups:
    @pytest.mark.parametrize("link", LINKS)
    def test_names_both_reasons(self, link: dict[str, Any]) -> None:
        assert with_fields("HP3030", lustre(**SCRATCH, backup_days=1), **link) == [
            (
                "HP3030 automatic backups are kept 1 day but SCRATCH_2 is a scratch type, linked to S3 | "
                "set AutomaticBackupRetentionDays (backup_days) to 0: export to S3 keeps the data"
            )
        ]

    @pytest.mark.parametrize(
        "fields",
        [{**SCRATCH, "backup_days": 0}, {**SCRATCH, "backup_days": UNKNOWN}, {"backup_days": 7}],
    )
    def test_is_silent_without_backups_and_on_persistent_types(self, fields: dict[str, Any]) -> None:
        assert with_fields("HP3030", lustre(**fields), repositories=LINKED) == []

    def test_is_silent_without_a_link(self) -> None:
        assert of("HP3030", **SCRATCH, backup_days=7) == []
        assert with_fields("HP3030", lustre(**SCRATCH, backup_days=7), old_link=UNKNOWN) == []


class TestLinkedFileSystemsCopyNoTags:
    @pytest.mark.parametrize("link", LINKS)
    def test_says_so(self, link: dict[str, Any]) -> None:
        assert with_fields("HP3028", copies_tags=True, **link) == [
            "HP3028 CopyTagsToBackups is true but the file system is linked to S3 | leave CopyTagsToBackups out"
        ]

    def test_leaves_backups_to_their_own_rule(self) -> None:
        assert with_fields("HP3028", lustre(backup_days=7), copies_tags=True, repositories=LINKED) == []

    @pytest.mark.parametrize("copies", [False, UNKNOWN])
    def test_is_silent_without(self, copies: Any) -> None:
        assert with_fields("HP3028", copies_tags=copies, repositories=LINKED) == []

    def test_is_silent_without_a_link(self) -> None:
        assert with_fields("HP3028", copies_tags=True) == []


class TestTagsOfLinkedFileSystemsAreFrozen:
    @pytest.mark.parametrize(("count", "links"), [(1, "a link to S3"), (2, "2 links to S3")])
    def test_says_how_to_change_them(self, count: int, links: str) -> None:
        assert with_fields("HP3029", repositories=LINKED * count) == [
            (
                f"HP3029 the file system has {links}: a later change of its tags is refused | "
                "decide on the tags before the first deploy, and change them later with `aws fsx tag-resource`"
            )
        ]

    def test_is_no_more_than_an_info_because_nothing_is_wrong(self) -> None:
        assert RULES["HP3029"].severity is Severity.INFO

    def test_is_silent_without_an_association(self) -> None:
        assert with_fields("HP3029") == with_fields("HP3029", old_link=OldLink(import_path="s3://b/x")) == []


class TestDataOutlivesTheStack:
    def of(self, on_delete: Any, on_replace: Any, **fields: Any) -> list[str]:
        return with_fields("HP3011", lustre(**fields), retention=Retention(on_delete=on_delete, on_replace=on_replace))

    def test_names_what_is_lost_and_when(self) -> None:
        assert self.of("Delete", "Delete", capacity_gib=48_000) == [
            (
                "HP3011 DeletionPolicy is Delete and UpdateReplacePolicy is Delete: "
                "deleting the stack or replacing the file system deletes 48,000 GiB | "
                "set DeletionPolicy to RetainExceptOnCreate and UpdateReplacePolicy to Retain "
                "(CDK: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)"
            )
        ]

    def test_a_replacement_alone_is_enough(self) -> None:
        (found,) = self.of("Retain", "Delete", capacity_gib=UNKNOWN)
        assert found.startswith(
            "HP3011 UpdateReplacePolicy is Delete: replacing the file system deletes all its data |"
        )

    @pytest.mark.parametrize("on_delete", ["Retain", "RetainExceptOnCreate", UNKNOWN])
    def test_is_silent_where_data_is_kept(self, on_delete: Any) -> None:
        assert self.of(on_delete, "Retain") == self.of(on_delete, UNKNOWN) == []

    @pytest.mark.parametrize("kind", ["OPENZFS", "ONTAP", "WINDOWS"])
    def test_other_kinds_of_file_systems_hold_data_too(self, kind: str) -> None:
        other = OtherFileSystem(path="Home", kind=kind, retention=Retention(on_replace="Retain"))
        (found,) = told("HP3011", Deployment(other_file_systems=(other,)))
        assert found.startswith("HP3011 DeletionPolicy is Delete: deleting the stack deletes all its data |")

    @pytest.mark.parametrize("deployment_type", ["SCRATCH_1", "SCRATCH_2"])
    def test_scratch_types_are_for_data_that_may_be_lost(self, deployment_type: str) -> None:
        scratch = {"deployment_type": deployment_type, "throughput_mbps_per_tib": None}
        assert self.of("Delete", "Delete", **scratch) == []

    def test_a_type_that_is_not_known_may_hold_data(self) -> None:
        assert len(self.of("Delete", "Delete", deployment_type=UNKNOWN)) == 1

    def test_leaves_a_policy_that_does_not_exist_to_its_own_rule(self) -> None:
        assert self.of("Snapshot", "Snapshot") == self.of("Snapshot", "Delete") == self.of("Delete", "Snapshot") == []


class TestFileSystemsHaveNoSnapshots:
    def of(self, on_delete: Any, on_replace: Any = "Retain") -> list[str]:
        return with_fields("HP3031", retention=Retention(on_delete=on_delete, on_replace=on_replace))

    @pytest.mark.parametrize(
        ("on_delete", "on_replace", "said"),
        [
            ("Snapshot", "Retain", "DeletionPolicy is Snapshot"),
            ("Retain", "Snapshot", "UpdateReplacePolicy is Snapshot"),
            ("Snapshot", "Snapshot", "DeletionPolicy and UpdateReplacePolicy are Snapshot"),
        ],
    )
    def test_names_the_policies(self, on_delete: str, on_replace: str, said: str) -> None:
        assert self.of(on_delete, on_replace) == [
            (
                f"HP3031 {said}, which FSx does not have | "
                "set DeletionPolicy to RetainExceptOnCreate and UpdateReplacePolicy to Retain "
                "(CDK: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)"
            )
        ]

    @pytest.mark.parametrize("on_delete", ["Retain", "Delete", UNKNOWN])
    def test_is_silent_on_the_others(self, on_delete: Any) -> None:
        assert self.of(on_delete) == []


class TestFailedCreatesLeaveNothing:
    def of(self, on_delete: Any) -> list[str]:
        return with_fields("HP3012", retention=Retention(on_delete=on_delete))

    def test_plain_retain_leaves_an_empty_one(self) -> None:
        assert self.of("Retain") == [
            (
                "HP3012 DeletionPolicy is Retain: a first deploy that fails leaves an empty file system that costs "
                "| set DeletionPolicy to RetainExceptOnCreate (CDK: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)"
            )
        ]

    @pytest.mark.parametrize("on_delete", ["RetainExceptOnCreate", "Delete", UNKNOWN])
    def test_is_silent_on_everything_else(self, on_delete: Any) -> None:
        assert self.of(on_delete) == []
