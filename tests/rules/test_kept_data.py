"""What is said of what takes data that was to stay."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.capacity import AutoPatch, ScheduledUpdate
from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.identity import Key
from hyperpod_constructs.model.lifecycle import Bucket
from hyperpod_constructs.model.orchestration import Eks, ExternalDatabase, Slurm
from hyperpod_constructs.model.storage import Database, DataRepository, OldLink, OtherFileSystem, Retention
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import cluster, compute, controller, deployment, told
from tests.rules.file_systems import file_system

KEPT, GOES = Retention(on_delete="Retain", on_replace="Retain"), Retention()
FIX = (
    "write DeletionPolicy: Retain and UpdateReplacePolicy: Retain on the key (CDK: "
    "RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)"
)


class TestKeysStayWithKeptData:
    def of(self, on_delete: Any = "Delete", kms_key: Any = "Key", retention: Any = KEPT) -> list[str]:
        key = Key(path="Key", retention=Retention(on_delete=on_delete))
        data = file_system(kms_key=kms_key, retention=retention)
        return told("HP3056", Deployment(file_systems=(data,), keys=(key,)))

    def test_what_is_kept_cannot_be_read_without_its_key(self) -> None:
        assert self.of() == [
            (
                "HP3056 Scratch stays when the stack is deleted, and this key, which encrypts it, is scheduled for "
                f"deletion | {FIX}"
            )
        ]

    def test_one_key_of_several_is_one_mistake(self) -> None:
        judged = Deployment(
            keys=(Key(path="Key"),),
            file_systems=(file_system(kms_key="Key"),),
            other_file_systems=(OtherFileSystem(path="Home", kind="OPENZFS", kms_key="Key", retention=KEPT),),
            buckets=(Bucket(path="Checkpoints", name="b", key="Key", retention=KEPT),),
            databases=(Database(path="Accounting", kms_key="Key", retention=KEPT),),
        )
        assert told("HP3056", judged) == [
            (
                "HP3056 Scratch, Home, Accounting and Checkpoints stay when the stack is deleted, and this key, which "
                f"encrypts them, is scheduled for deletion | {FIX}"
            )
        ]

    @pytest.mark.parametrize("on_delete", ["Retain", "RetainExceptOnCreate", UNKNOWN])
    def test_is_silent_on_a_key_that_stays(self, on_delete: Any) -> None:
        assert self.of(on_delete) == []

    @pytest.mark.parametrize("retention", [GOES, Retention(on_delete=UNKNOWN)])
    def test_is_silent_on_data_that_goes_too(self, retention: Any) -> None:
        assert self.of(retention=retention) == []

    @pytest.mark.parametrize("kms_key", ["arn:aws:kms:us-west-2:111122223333:key/k", UNKNOWN, None])
    def test_is_silent_on_keys_of_others(self, kms_key: Any) -> None:
        assert self.of(kms_key=kms_key) == []


class TestBucketsOfDataAreKept:
    def of(self, *links: DataRepository, old: Any = None, **fields: Any) -> list[str]:
        bucket = Bucket(path="Bucket", **{"name": "runs", "retention": GOES, **fields})
        data = file_system(repositories=links, old_link=old)
        return told("HP3057", Deployment(file_systems=(data,), buckets=(bucket,)))

    def test_a_bucket_for_checkpoints_goes_with_the_stack(self) -> None:
        assert self.of(holds_data=True) == [
            (
                "HP3057 DeletionPolicy of this bucket for checkpoints is Delete: deleting the stack deletes it, or "
                "fails while it holds objects | write DeletionPolicy: Retain and UpdateReplacePolicy: Retain (CDK: "
                "RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)"
            )
        ]

    def test_one_that_is_emptied_goes_with_all_of_it(self) -> None:
        (found,) = self.of(holds_data=True, emptied=True)
        assert ": deleting the stack empties and deletes it | write" in found
        assert found.endswith(", and leave out what empties it (auto_delete_objects)")

    def test_so_does_what_a_file_system_exports(self) -> None:
        link = DataRepository(folder="/runs", s3_uri="s3://runs/out/", exports=("NEW",))
        (found,) = self.of(link, emptied=True)
        assert found.startswith(
            "HP3057 Scratch exports to this bucket, and deleting the stack empties and deletes it |"
        )
        assert self.of(old=OldLink(import_path="s3://runs", export_path="s3://runs/out"), emptied=True)

    def test_is_silent_on_data_that_is_only_read(self) -> None:
        assert self.of(DataRepository(folder="/runs", s3_uri="s3://runs/in/"), emptied=True) == []
        assert self.of(old=OldLink(import_path="s3://runs"), emptied=True) == []

    def test_is_silent_on_a_bucket_that_stops_the_delete(self) -> None:
        assert self.of(DataRepository(folder="/runs", s3_uri="s3://runs/out/", exports=("NEW",))) == []

    @pytest.mark.parametrize("on_delete", ["Retain", "RetainExceptOnCreate", UNKNOWN])
    def test_is_silent_on_a_bucket_that_stays(self, on_delete: Any) -> None:
        assert self.of(holds_data=True, emptied=True, retention=Retention(on_delete=on_delete)) == []

    def test_is_silent_on_what_is_not_known(self) -> None:
        link = DataRepository(folder="/runs", s3_uri="s3://runs/out/", exports=UNKNOWN)
        unknown = DataRepository(folder="/runs", s3_uri=UNKNOWN, exports=("NEW",))
        assert self.of(link, unknown, emptied=True) == self.of(old=UNKNOWN, emptied=True) == []
        assert self.of(old=OldLink(import_path=UNKNOWN, export_path=UNKNOWN), emptied=True) == []
        assert self.of(holds_data=UNKNOWN, name=UNKNOWN) == []


class TestAccountingOutlivesItsStack:
    def of(self, endpoint: Any = "Accounting", **policies: Any) -> list[str]:
        slurm = Slurm(accounting=ExternalDatabase(endpoint=endpoint, secret_arn=UNKNOWN))
        database = Database(path="Accounting", retention=Retention(**policies))
        return told("HP3059", deployment(cluster(orchestrator=slurm), databases=(database,)))

    def test_a_database_that_is_deleted_or_replaced_takes_the_accounting_along(self) -> None:
        assert self.of() == [
            (
                "HP3059 DeletionPolicy and UpdateReplacePolicy of this accounting database are Delete: history, "
                "accounts and limits go with it | write DeletionPolicy: Retain and UpdateReplacePolicy: Retain, or "
                "Snapshot (CDK: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)"
            )
        ]
        (found,) = self.of(on_delete="Snapshot")
        assert found.startswith("HP3059 UpdateReplacePolicy of this accounting database is Delete: history")

    @pytest.mark.parametrize("policy", ["Retain", "Snapshot", UNKNOWN])
    def test_is_silent_on_one_that_stays(self, policy: Any) -> None:
        assert self.of(on_delete=policy, on_replace=policy) == []

    @pytest.mark.parametrize("endpoint", ["db.example.com", UNKNOWN])
    def test_is_silent_on_databases_of_something_else(self, endpoint: Any) -> None:
        assert self.of(endpoint) == []


class TestAccountingOutlivesUpdates:
    SCHEDULE = ScheduledUpdate(schedule="cron(0 3 ? * SUN *)")
    DATABASE = ExternalDatabase(endpoint="db.example.com", secret_arn=UNKNOWN)

    def of(self, orchestrator: Any = Slurm(), **fields: Any) -> list[str]:  # noqa: B008  # frozen
        return told("HP3058", deployment(cluster(groups=(controller(**fields),), orchestrator=orchestrator)))

    def test_they_wipe_the_controller(self) -> None:
        assert self.of(scheduled_update=self.SCHEDULE) == [
            (
                "HP3058 group 'controller' is the controller and has ScheduledUpdateConfig (scheduled_update=), and "
                "the cluster has no AccountingDatabase: each update wipes the history of its jobs | give the cluster a "
                "database (hp.Slurm(accounting=hp.AccountingDatabase(...).database)), or take ScheduledUpdateConfig "
                "(scheduled_update=) out of this group"
            )
        ]

    def test_both_kinds_of_updates_do(self) -> None:
        (found,) = self.of(scheduled_update=self.SCHEDULE, patching=AutoPatch(when="WhenIdle"))
        assert "has AutoPatchConfig (patching=) and ScheduledUpdateConfig (scheduled_update=), and" in found

    @pytest.mark.parametrize("accounting", [DATABASE, UNKNOWN])
    def test_is_silent_with_a_database(self, accounting: Any) -> None:
        assert self.of(Slurm(accounting=accounting), scheduled_update=self.SCHEDULE) == []

    @pytest.mark.parametrize("update", [None, UNKNOWN])
    def test_is_silent_without_updates(self, update: Any) -> None:
        assert self.of(scheduled_update=update, patching=update) == []

    @pytest.mark.parametrize("orchestrator", [None, UNKNOWN, Eks(cluster="K")])
    def test_is_silent_where_slurm_is_set_up_otherwise(self, orchestrator: Any) -> None:
        assert self.of(orchestrator, scheduled_update=self.SCHEDULE) == []

    def test_is_silent_on_other_groups(self) -> None:
        judged = cluster(groups=(controller(), compute(scheduled_update=self.SCHEDULE)))
        assert told("HP3058", deployment(judged)) == []
