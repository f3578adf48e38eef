"""Changes whose direction decides: the dangerous one, the nearest harmless one, and what is known only at deploy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from hyperpod_constructs.catalog.updates import WORDS, Update
from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.cloudformation.values import Reference, Value
from hyperpod_constructs.review import changes, directions
from hyperpod_constructs.review.comparison import Comparison
from hyperpod_constructs.tokens import UNKNOWN
from tests.review.two_templates import compared

ON: Final = True
OFF: Final = False
AT_DEPLOY: Final = Reference(stack="", logical_id="Given")
CLUSTER: Final = "AWS::SageMaker::Cluster"
LUSTRE: Final = "AWS::FSx::FileSystem"
GROUP: Final = "AWS::EKS::Nodegroup"
TABLE: Final = "AWS::DynamoDB::Table"
BUCKET: Final = "AWS::S3::Bucket"
BACKUPS: Final = "LustreConfiguration.AutomaticBackupRetentionDays"
MODE: Final = "AccessConfig.AuthenticationMode"
RECOVERY: Final = "PointInTimeRecoverySpecification"


def said(kind: str, path: str, before: Value, after: Value, **more: Any) -> str | None:
    """The word for a change, or nothing where the catalogue's row counts; every word comes with what to do."""
    found = directions.of(kind, path, before, after, **more)
    if found is not None:
        assert found.does in WORDS
        assert found.instead or found.recipe or found.does == "in place"
    return found.does if found else None


def because(kind: str, path: str, before: Value, after: Value) -> str:
    found = directions.of(kind, path, before, after)
    assert isinstance(found, Update)
    return found.because


class TestNumbers:
    @pytest.mark.parametrize(
        ("text", "found"),
        [(4, 4), (4.5, 4.5), ("4", 4), ("032", 32), (" 32 ", 32), ("-1", -1), ("1e3", 1000), (".5", 0.5)],
    )
    def test_are_read_from_text_too(self, text: Value, found: float) -> None:
        assert directions.number(text) == found

    @pytest.mark.parametrize(
        "value",
        [
            None,
            True,
            "",
            "four",
            "nan",
            "inf",
            "-Infinity",
            float("nan"),
            float("inf"),
            10**400,
            "1e999",
            "1_000",
            "٤",
            [4],
            UNKNOWN,
            AT_DEPLOY,
        ],
    )
    def test_are_finite(self, value: Value) -> None:
        assert directions.number(value) is None


class TestOnlyOneWay:
    @pytest.mark.parametrize(
        ("kind", "path", "low", "high"),
        [
            (LUSTRE, "StorageCapacity", 4800, "7200"),
            (LUSTRE, "LustreConfiguration.MetadataConfiguration.Iops", 1500, 3000),
            (LUSTRE, "FileSystemTypeVersion", "2.12", "2.15"),
            (LUSTRE, "FileSystemTypeVersion", "2.9", "2.10"),
            ("AWS::RDS::DBInstance", "AllocatedStorage", "100", "200"),
            ("AWS::EC2::Volume", "Size", 100, 200),
            ("AWS::EKS::Cluster", MODE, "CONFIG_MAP", "API_AND_CONFIG_MAP"),
            ("AWS::EKS::Cluster", MODE, "API_AND_CONFIG_MAP", "API"),
            ("AWS::EKS::Cluster", MODE, "CONFIG_MAP", "API"),
        ],
    )
    def test_refuses_the_way_back(self, kind: str, path: str, low: Value, high: Value) -> None:
        assert said(kind, path, high, low) == "refused"
        assert said(kind, path, low, high) is None
        for unknown in (UNKNOWN, AT_DEPLOY, None):
            assert said(kind, path, high, unknown) is None
            assert said(kind, path, unknown, low) is None

    @pytest.mark.parametrize("path", ["DesiredSize", "MaxSize"])
    def test_takes_nodes_of_a_group_of_eks(self, path: str) -> None:
        path = f"ScalingConfig.{path}"
        assert said(GROUP, path, 10, "4") == "deletes nodes"
        assert "up to 6" in because(GROUP, path, 10, 4)
        assert said(GROUP, path, "4", 10) is None
        assert said(GROUP, path, 10, AT_DEPLOY) is None
        assert said(GROUP, "ScalingConfig.MinSize", 10, 4) is None


class TestProtection:
    @pytest.mark.parametrize(
        ("kind", "path", "on", "off"),
        [
            ("AWS::RDS::DBInstance", "DeletionProtection", True, False),
            ("AWS::RDS::DBCluster", "DeletionProtection", "true", "false"),
            ("AWS::EKS::Cluster", "DeletionProtection", True, None),
            ("AWS::Cognito::UserPool", "DeletionProtection", "ACTIVE", "INACTIVE"),
            (TABLE, "DeletionProtectionEnabled", True, None),
            ("AWS::DynamoDB::GlobalTable", "Replicas.DeletionProtectionEnabled", True, False),
            (TABLE, f"{RECOVERY}.PointInTimeRecoveryEnabled", True, False),
            (TABLE, RECOVERY, {"PointInTimeRecoveryEnabled": True}, None),
            (BUCKET, "VersioningConfiguration.Status", "Enabled", "Suspended"),
            (BUCKET, "VersioningConfiguration", {"Status": "Enabled"}, None),
        ],
    )
    def test_that_is_turned_off_lets_later_events_take_data(self, kind: str, path: str, on: Value, off: Value) -> None:
        assert said(kind, path, on, off) == "unprotects"
        assert "decided at deploy" not in because(kind, path, on, off)
        assert said(kind, path, off, on) is None
        for unknown in (UNKNOWN, AT_DEPLOY):
            assert said(kind, path, off, unknown) is None
            assert "decided at deploy" in because(kind, path, on, unknown)

    @pytest.mark.parametrize(
        ("kind", "path", "more", "less"),
        [
            ("AWS::Logs::LogGroup", "RetentionInDays", 365, 1),
            ("AWS::Logs::LogGroup", "RetentionInDays", None, "365"),
            ("AWS::RDS::DBInstance", "BackupRetentionPeriod", 7, 0),
            ("AWS::RDS::DBCluster", "BackupRetentionPeriod", 7, None),
            ("AWS::Neptune::DBCluster", "BackupRetentionPeriod", 7, 1),
            (LUSTRE, BACKUPS, 30, 0),
            (LUSTRE, BACKUPS, 30, None),
            ("AWS::Kinesis::Stream", "RetentionPeriodHours", 48, None),
            ("AWS::SQS::Queue", "MessageRetentionPeriod", None, 60),
        ],
    )
    def test_for_less_long_lets_older_data_go(self, kind: str, path: str, more: Value, less: Value) -> None:
        assert said(kind, path, more, less) == "unprotects"
        assert said(kind, path, less, more) is None
        assert because(kind, path, more, AT_DEPLOY).endswith("if it is lower")

    @pytest.mark.parametrize(
        ("path", "before", "after"),
        [
            ("TimeToLiveSpecification", None, {"AttributeName": "t", "Enabled": True}),
            ("TimeToLiveSpecification.Enabled", False, "true"),
            ("TimeToLiveSpecification.AttributeName", "t", "u"),
        ],
    )
    def test_from_time_lets_items_go(self, path: str, before: Value, after: Value) -> None:
        assert said(TABLE, path, before, after) == "unprotects"

    def test_from_time_stays_where_items_stay(self) -> None:
        off: Value = {"AttributeName": "t", "Enabled": False}
        assert said(TABLE, "TimeToLiveSpecification", None, off) is None
        assert said(TABLE, "TimeToLiveSpecification", {"AttributeName": "t", "Enabled": True}, None) is None
        assert said(TABLE, "TimeToLiveSpecification.Enabled", ON, OFF) is None
        assert "decided at deploy" in because(TABLE, "TimeToLiveSpecification.Enabled", OFF, UNKNOWN)

    def test_by_a_key_goes_when_it_is_disabled(self) -> None:
        for before in (True, None, "true"):
            assert said("AWS::KMS::Key", "Enabled", before, OFF) == "open"
        assert "encrypted with it" in because("AWS::KMS::Key", "Enabled", ON, OFF)
        assert said("AWS::KMS::Key", "Enabled", OFF, ON) is None
        assert said("AWS::KMS::Key", "Enabled", OFF, None) is None
        assert "decided at deploy" in because("AWS::KMS::Key", "Enabled", ON, UNKNOWN)
        assert said("AWS::KMS::Key", "PendingWindowInDays", 30, 7) is None


def rule(*, name: str = "old", **body: Any) -> dict[str, Any]:
    return {"Id": name, "Status": "Enabled", **body}


class TestLifecycleRules:
    def of(self, path: str, before: list[Any] | Value, after: list[Any] | Value) -> str | None:
        """The word for one difference between the rules of a bucket."""
        sides = [
            {"LifecycleConfiguration": {"Rules": each}} if isinstance(each, list) else each for each in (before, after)
        ]
        values: list[Value] = []
        for each in (before, after):
            value: Value = {"Rules": each} if isinstance(each, list) else each
            for name in path.split(".")[1:]:
                value = value[0] if isinstance(value, list) else value
                value = value.get(name) if isinstance(value, dict) else value
            values.append(value)
        return said(BUCKET, path, *values, sides=(sides[0], sides[1]))

    @pytest.mark.parametrize(
        ("path", "before", "after"),
        [
            ("Rules", [rule()], [rule(ExpirationInDays=7)]),
            ("Rules.Status", [rule(Status="Disabled", ExpirationInDays=7)], [rule(ExpirationInDays=7)]),
            ("Rules.ExpirationInDays", [rule(ExpirationInDays=365)], [rule(ExpirationInDays="7")]),
            ("Rules.Prefix", [rule(Prefix="tmp/", ExpirationInDays=7)], [rule(ExpirationInDays=7)]),
            ("Rules.Prefix", [rule(Prefix="tmp/", ExpirationInDays=7)], [rule(Prefix="data/", ExpirationInDays=7)]),
            (
                "Rules.TagFilters",
                [rule(TagFilters=[{"Key": "a", "Value": "b"}], ExpirationInDays=7)],
                [rule(ExpirationInDays=7)],
            ),
            (
                "Rules.ObjectSizeGreaterThan",
                [rule(ObjectSizeGreaterThan="9", ExpirationInDays=7)],
                [rule(ExpirationInDays=7)],
            ),
            (
                "Rules.NoncurrentVersionExpiration",
                [rule(NoncurrentVersionExpiration={"NoncurrentDays": 365})],
                [rule(NoncurrentVersionExpiration={"NoncurrentDays": 1})],
            ),
            (
                "Rules.NoncurrentVersionExpiration.NewerNoncurrentVersions",
                [rule(NoncurrentVersionExpiration={"NoncurrentDays": 1, "NewerNoncurrentVersions": 5})],
                [rule(NoncurrentVersionExpiration={"NoncurrentDays": 1, "NewerNoncurrentVersions": 2})],
            ),
            (
                "Rules.NoncurrentVersionExpirationInDays",
                [rule(NoncurrentVersionExpirationInDays=9)],
                [rule(NoncurrentVersionExpirationInDays=1)],
            ),
            ("Rules.ExpirationDate", [rule(ExpirationDate="2027-06-01")], [rule(ExpirationDate="2026-12-01")]),
        ],
    )
    def test_that_delete_more_or_sooner_take_what_is_there(
        self, path: str, before: list[Any], after: list[Any]
    ) -> None:
        path = f"LifecycleConfiguration.{path}"
        assert self.of(path, before, after) == "unprotects"
        assert self.of(path, after, before) is None or path.endswith("Prefix")
        assert said(BUCKET, path, "x", "y") == "unprotects"  # of an unknown bucket nobody can say that it is harmless

    def test_that_come_with_their_configuration_take_what_is_there(self) -> None:
        configuration: Value = {"Rules": [rule(ExpirationInDays=1)]}
        assert said(BUCKET, "LifecycleConfiguration", None, configuration) == "unprotects"
        assert said(BUCKET, "LifecycleConfiguration", configuration, None) is None
        assert said(BUCKET, "LifecycleConfiguration", UNKNOWN, None) is None
        assert "not known" in because(BUCKET, "LifecycleConfiguration", None, UNKNOWN)

    @pytest.mark.parametrize(
        "body",
        [
            {"Transitions": [{"StorageClass": "GLACIER", "TransitionInDays": 1}]},
            {"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}},
            {"ExpiredObjectDeleteMarker": True},
            {"ExpirationInDays": 1, "Status": "Disabled"},
        ],
    )
    def test_that_delete_no_object_take_nothing(self, body: dict[str, Any]) -> None:
        assert said(BUCKET, "LifecycleConfiguration", None, {"Rules": [rule(**body)]}) is None

    def test_that_another_rule_covers_already_take_nothing(self) -> None:
        wide, narrow = rule(ExpirationInDays=7), rule(name="new", Prefix="a/", ExpirationInDays=30)
        assert self.of("LifecycleConfiguration.Rules", [wide], [wide, narrow]) is None
        assert self.of("LifecycleConfiguration.Rules", [narrow], [narrow, wide]) == "unprotects"

    @pytest.mark.parametrize(
        "path", ["Rules.Transitions", "Rules.AbortIncompleteMultipartUpload", "TransitionDefaultMinimumObjectSize"]
    )
    def test_are_not_blamed_for_what_deletes_nothing(self, path: str) -> None:
        assert said(BUCKET, f"LifecycleConfiguration.{path}", 1, 2) is None

    @pytest.mark.parametrize("days", [UNKNOWN, AT_DEPLOY, "soon", [7]])
    def test_with_a_part_that_nobody_knows_may_take_something(self, days: Value) -> None:
        path, known = "LifecycleConfiguration.Rules.ExpirationInDays", [rule(ExpirationInDays=7)]
        assert self.of(path, known, [rule(ExpirationInDays=days)]) == "unprotects"
        assert self.of(path, [rule(ExpirationInDays=days)], known) == "unprotects"


def images(**selection: Any) -> str:
    return json.dumps({"rules": [{"rulePriority": 1, "selection": {"tagStatus": "any", **selection}}]})


class TestImages:
    @pytest.mark.parametrize("path", ["LifecyclePolicy", "LifecyclePolicy.LifecyclePolicyText"])
    def test_are_deleted_by_a_policy_that_is_new_or_keeps_fewer(self, path: str) -> None:
        def of(before: Value, after: Value) -> str | None:
            sides: list[Value] = [before, after]
            if path == "LifecyclePolicy":
                sides = [each if each is None else {"LifecyclePolicyText": each} for each in sides]
            return said("AWS::ECR::Repository", path, *sides)

        few, many = (images(countType="imageCountMoreThan", countNumber=each) for each in (1, 9))
        assert of(None, few) == of(many, few) == of(few, "{") == of(few, UNKNOWN) == "unprotects"
        assert of(few, many) is of(few, f" {few}\n") is of(few, None) is None
        assert of(many, images(countType="sinceImagePushed", countNumber=9)) == "unprotects"


class TestTheRoleOfAutoscaling:
    def of(self, mode: Value, before: Value = "arn:a") -> str | None:
        base: Value = {"AutoScaling": {"Mode": mode}} if mode is not None else {}
        return said(CLUSTER, "ClusterRole", before, "arn:b", sides=(base, UNKNOWN))

    def test_can_change_only_while_it_is_off(self) -> None:
        assert self.of("Enable") == "open"
        assert self.of("Disable") is None
        assert self.of(None) is None
        assert self.of(UNKNOWN) == "open"
        assert self.of("Enable", before=None) is None
        assert said(CLUSTER, "ClusterRole", "arn:a", "arn:b") == "open"


class TestAnAccountingDatabase:
    PATH: Final = "Orchestrator.Slurm.AccountingDatabase"
    GIVEN: Final[dict[str, Value]] = {"Endpoint": "db.example.com", "SecretArn": "arn:a"}

    def test_cannot_be_taken_away_from_a_cluster(self) -> None:
        assert said(CLUSTER, self.PATH, self.GIVEN, None) == "refused"
        assert "cannot go back" in because(CLUSTER, self.PATH, self.GIVEN, None)
        assert said(CLUSTER, self.PATH, self.GIVEN, UNKNOWN) is None
        assert said(CLUSTER, self.PATH, UNKNOWN, None) is None

    def test_is_a_way_without_return(self) -> None:
        assert said(CLUSTER, self.PATH, None, self.GIVEN) == "open"
        assert "cannot go back" in because(CLUSTER, self.PATH, None, self.GIVEN)

    @pytest.mark.parametrize("name", ["Slurm", "AccountingDatabase"])
    def test_is_missed_in_a_review_that_loses_it(self, tmp_path: Path, name: str) -> None:
        slurm = {"AccountingDatabase": self.GIVEN, **({"SlurmConfigStrategy": "Merge"} if name != "Slurm" else {})}
        left = {key: value for key, value in slurm.items() if key != "AccountingDatabase"}
        base, head = ({"Type": CLUSTER, "Properties": {"Orchestrator": {"Slurm": each}}} for each in (slurm, left))
        (change,) = changes.of(compared(tmp_path, {"Train": base}, {"Train": head}))
        assert (change.impact.value, change.property_name) == ("refused", self.PATH)


def test_reach_the_table_of_a_review(tmp_path: Path) -> None:
    read = []
    for days in (365, 7):
        file = tmp_path / f"{days}" / "app.json"
        file.parent.mkdir()
        logs = {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": days}}
        file.write_text(json.dumps({"Resources": {"Logs": logs}}), encoding="utf-8")
        read.append(assembly.read(file))
    (shorter,) = changes.of(Comparison(base=read[0], head=read[1]))
    (longer,) = changes.of(Comparison(base=read[1], head=read[0]))
    assert (shorter.impact.value, longer.impact.value) == ("unprotected", "in-place")
