"""Every limit of the schemas, each broken once; and what must not be reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.catalog import schemas
from hyperpod_constructs.model import template
from hyperpod_constructs.model.template import schema
from tests.model.conftest import refused

CLUSTER = "AWS::SageMaker::Cluster"
SCHEDULER = "AWS::SageMaker::ClusterSchedulerConfig"
QUOTA = "AWS::SageMaker::ComputeQuota"
FILE_SYSTEM = "AWS::FSx::FileSystem"
ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"
BUDGET = "AWS::Budgets::Budget"

ROLE = "arn:aws:iam::111122223333:role/nodes"
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier"
DNS_NAME = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
HYPERPOD = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"
VPC = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]}
TAGS = [{"Key": "team", "Value": "pretraining"}]
ROLLOUT = {
    "RollingUpdatePolicy": {
        "MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1},
        "RollbackMaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 20},
    },
    "WaitIntervalInSeconds": 60,
    "AutoRollbackConfiguration": [{"AlarmName": "idle"}],
}
CONTROLLER = {
    "InstanceGroupName": "controller",
    "InstanceType": "ml.m5.4xlarge",
    "InstanceCount": 1,
    "ExecutionRole": ROLE,
    "SlurmConfig": {"NodeType": "Controller"},
}
WORKERS = {
    "InstanceGroupName": "p5",
    "InstanceType": "ml.p5.48xlarge",
    "InstanceCount": 2,
    "MinInstanceCount": 1,
    "ThreadsPerCore": 1,
    "ExecutionRole": ROLE,
    "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["train"]},
    "LifeCycleConfig": {"SourceS3Uri": "s3://scripts/p5", "OnCreate": "on_create.sh"},
    "ImageId": "ami-0123456789abcdef0",
    "TrainingPlanArn": PLAN,
    "InstanceStorageConfigs": [
        {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "VolumeKmsKeyId": "alias/key", "RootVolume": False}},
        {"FsxLustreConfig": {"DnsName": DNS_NAME, "MountName": "abcdefgh", "MountPath": "/fsx"}},
        {"FsxOpenZfsConfig": {"DnsName": DNS_NAME, "MountPath": "/home"}},
    ],
    "OnStartDeepHealthChecks": ["InstanceStress"],
    "OverrideVpcConfig": VPC,
    "ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 3 ? * SUN *)", "DeploymentConfig": ROLLOUT},
    "AutoPatchConfig": {"PatchingStrategy": "WhenIdle"},
    "NetworkInterface": {"InterfaceType": "efa"},
}
ON_SLURM = {
    "ClusterName": "frontier",
    "InstanceGroups": [CONTROLLER, WORKERS],
    "VpcConfig": VPC,
    "NodeRecovery": "Automatic",
    "NodeProvisioningMode": "Continuous",
    "Orchestrator": {
        "Slurm": {
            "AccountingDatabase": {
                "Endpoint": "db.example.com",
                "SecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm",
                "Port": 3306,
                "Name": "accounting",
            }
        }
    },
    "Tags": TAGS,
}
NOVA_STORAGE = {"FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 250}}
ON_EKS = {
    "InstanceGroups": [
        {
            "InstanceGroupName": "gpu",
            "InstanceRequirements": {"InstanceTypes": ["ml.p5.48xlarge"]},
            "InstanceCount": 1,
            "ExecutionRole": ROLE,
            "ImageReleaseVersion": "1.0.742",
            "CapacityRequirements": {"Spot": {}},
            "KubernetesConfig": {
                "Labels": {"team": "pretraining"},
                "Taints": [{"Key": "team", "Effect": "NoSchedule", "Value": "pretraining"}],
            },
        }
    ],
    "VpcConfig": VPC,
    "NodeProvisioningMode": "Continuous",
    "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/research"}},
    "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"},
    "ClusterRole": ROLE,
    "TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20},
    "RestrictedInstanceGroups": [
        {
            "InstanceGroupName": "nova",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 1,
            "ExecutionRole": ROLE,
            "EnvironmentConfig": NOVA_STORAGE,
            "ThreadsPerCore": 1,
            "TrainingPlanArn": PLAN,
        }
    ],
    "RestrictedInstanceGroupsConfig": {
        "SharedEnvironmentConfig": {**NOVA_STORAGE, "FSxLustreDeletionPolicy": "Keep"},
    },
}
POLICY = {
    "Name": "policy",
    "ClusterArn": HYPERPOD,
    "SchedulerConfig": {
        "PriorityClasses": [{"Name": "training", "Weight": 75}],
        "FairShare": "Enabled",
        "IdleResourceSharing": "Enabled",
    },
    "Description": "of the cluster",
    "Tags": TAGS,
}
TEAM = {
    "Name": "team",
    "ClusterArn": HYPERPOD,
    "ComputeQuotaConfig": {
        "ComputeQuotaResources": [
            {"InstanceType": "ml.p5.48xlarge", "Count": 1},
            {"InstanceType": "ml.p5.48xlarge", "AcceleratorPartition": {"Type": "mig-1g.10gb", "Count": 1}},
            {"InstanceType": "ml.m5.4xlarge", "VCpu": 1.5, "MemoryInGiB": 3.5},
        ],
        "ResourceSharingConfig": {"Strategy": "LendAndBorrow", "BorrowLimit": 50},
        "PreemptTeamTasks": "Never",
    },
    "ComputeQuotaTarget": {"TeamName": "pretraining", "FairShareWeight": 10},
    "ActivationState": "Enabled",
}
PERSISTENT = {
    "FileSystemType": "LUSTRE",
    "SubnetIds": ["subnet-0123456789abcdef0"],
    "SecurityGroupIds": ["sg-0123456789abcdef0"],
    "StorageCapacity": 4800,
    "StorageType": "SSD",
    "FileSystemTypeVersion": "2.15",
    "KmsKeyId": "alias/key",
    "Tags": TAGS,
    "LustreConfiguration": {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 250,
        "AutomaticBackupRetentionDays": 7,
        "CopyTagsToBackups": True,
        "DailyAutomaticBackupStartTime": "05:00",
        "WeeklyMaintenanceStartTime": "1:05:00",
        "DataCompressionType": "LZ4",
        "LogConfiguration": {
            "Level": "WARN_ERROR",
            "Destination": "arn:aws:logs:us-west-2:111122223333:log-group:/aws/fsx/lustre",
        },
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
        "EfaEnabled": False,
    },
}
OPENZFS = {
    "FileSystemType": "OPENZFS",
    "SubnetIds": ["subnet-0123456789abcdef0"],
    "StorageCapacity": 64,
    "OpenZFSConfiguration": {
        "DeploymentType": "SINGLE_AZ_2",
        "ThroughputCapacity": 160,
        "DiskIopsConfiguration": {"Mode": "AUTOMATIC"},
        "RootVolumeConfiguration": {
            "DataCompressionType": "ZSTD",
            "NfsExports": [{"ClientConfigurations": [{"Clients": "*", "Options": ["rw"]}]}],
            "RecordSizeKiB": 128,
        },
    },
}
LINK = {
    "FileSystemId": "fs-0123456789abcdef0",
    "FileSystemPath": "/datasets",
    "DataRepositoryPath": "s3://datasets/all/",
    "BatchImportMetaDataOnCreate": True,
    "ImportedFileChunkSize": 1024,
    "S3": {"AutoImportPolicy": {"Events": ["NEW"]}, "AutoExportPolicy": {"Events": ["NEW"]}},
}
MONTHLY = {
    "Budget": {
        "BudgetType": "COST",
        "TimeUnit": "MONTHLY",
        "BudgetLimit": {"Amount": 10, "Unit": "USD"},
        "CostTypes": {"IncludeTax": True},
    },
    "NotificationsWithSubscribers": [
        {
            "Notification": {
                "ComparisonOperator": "GREATER_THAN",
                "NotificationType": "ACTUAL",
                "Threshold": 80,
                "ThresholdType": "PERCENTAGE",
            },
            "Subscribers": [{"SubscriptionType": "EMAIL", "Address": "ml-platform@example.com"}],
        }
    ],
}
LEGAL = [
    (CLUSTER, ON_SLURM),
    (CLUSTER, ON_EKS),
    (SCHEDULER, POLICY),
    (QUOTA, TEAM),
    (FILE_SYSTEM, PERSISTENT),
    (FILE_SYSTEM, OPENZFS),
    (ASSOCIATION, LINK),
    (BUDGET, MONTHLY),
    (schemas.REQUEST, ON_SLURM),
]
Steps = tuple[str | int, ...]
SEVERAL_MISTAKES = {
    # What breaks one limit breaks a rule of another subject too: names or roles are there twice.
    (CLUSTER, "InstanceGroups", "maxItems"),
    (schemas.REQUEST, "InstanceGroups", "maxItems"),
    (CLUSTER, "InstanceGroups.InstanceRequirements.InstanceTypes", "maxItems"),
    *((kind, "Tags", "maxItems") for kind in (CLUSTER, SCHEDULER, FILE_SYSTEM, schemas.REQUEST)),
}
ONLY_WARNED_OF = {
    (CLUSTER, "InstanceGroups", "minItems"),  # HP1006: restricted groups may do
    (FILE_SYSTEM, "SubnetIds", "maxItems"),  # the rule judges Lustre, this is OpenZFS
    (BUDGET, "NotificationsWithSubscribers", "maxItems"),  # HP0001: AWS's texts differ
    (schemas.REQUEST, "InstanceGroups", "minItems"),
}


def findings(folder: Path, kind: str, body: object) -> list[tuple[str, str, bool]]:
    """Rule, message and whether it stops, of what is found in a resource or request."""
    file = folder / "t.json"
    resources = {"Resources": {"R": {"Type": kind, "Properties": body}}}
    file.write_text(json.dumps(body if kind == schemas.REQUEST else resources))
    found = rules.check(template.read(file, region="us-west-2"))
    return [(each.rule, each.message, each.severity.stops) for each in found]


def with_value(body: Any, steps: Steps, value: object) -> Any:
    """The same body with another value at the end of some steps."""
    if not steps:
        return value
    copy: Any = json.loads(json.dumps(body))
    inner = copy
    for step in steps[:-1]:
        inner = inner[step]
    inner[steps[-1]] = value
    return copy


def mistakes(kind: str, body: Any) -> Iterator[tuple[str, Steps, object]]:
    """Every limit of what a body holds: its word, where it stands, and a value that breaks nothing but it."""
    seen: set[tuple[object, str]] = set()
    for word, steps, bad, owner in _of_value(schemas.definitions(kind), {"ref": "root"}, body, ()):
        if (owner, word) not in seen:  # VpcConfig stands in three places
            seen.add((owner, word))
            yield word, steps, bad


def _of_value(definitions: Any, allowed: Any, value: Any, steps: Steps) -> Iterator[tuple[str, Steps, object, object]]:
    owner = json.dumps(allowed), steps[-1:]
    if "ref" in allowed:
        if steps:
            yield "type", steps, "nonsense", owner
        yield from _of_map(definitions, definitions[allowed["ref"]], value, steps)
    elif allowed.get("type") == "array":
        yield "type", steps, "nonsense", owner
        if "maxItems" in allowed:
            yield "maxItems", steps, _many(value[0], allowed["maxItems"] + 1), owner
        if "minItems" in allowed:
            yield "minItems", steps, [], owner
        for index, item in enumerate(value):
            yield from _of_value(definitions, allowed["items"], item, (*steps, index))
    elif allowed:
        for word, bad in _of_scalar(allowed):
            yield word, steps, bad, owner


def _of_map(definitions: Any, definition: Any, value: Any, steps: Steps) -> Iterator[tuple[str, Steps, object, object]]:
    if "values" in definition:
        yield "maxProperties", steps, {f"key{n}": "v" for n in range(51)}, "map"
        yield "keys", steps, {"a b": "v"}, "map"
        yield "values", steps, {"a": "b c"}, "map"
        return
    owner = json.dumps(definition)
    for name, inner in value.items():
        yield from _of_value(definitions, definition["properties"][name], inner, (*steps, name))
    for name in definition.get("required", ()):
        yield f"required {name}", steps, {key: inner for key, inner in value.items() if key != name}, owner
    for name in definition.get("readOnly", ()):
        yield f"readOnly {name}", (*steps, name), "x", owner
    if "exactlyOne" in definition and steps[-1:] != ("Orchestrator",):
        yield "exactlyOne", steps, {}, owner


def _many(item: Any, count: int) -> list[Any]:
    named = isinstance(item, dict) and "InstanceGroupName" in item
    return [{**item, "InstanceGroupName": f"g{n}"} if named else item for n in range(count)]


def _of_scalar(allowed: Any) -> Iterator[tuple[str, object]]:
    yield "type", {"a": 1} if allowed["type"] == "string" else "nonsense"
    if "enum" in allowed:
        yield "enum", "Nonsense"
    if "maxLength" in allowed:
        yield "maxLength", "/" + "a" * (allowed["maxLength"] + 1)
    if "pattern" in allowed:
        yield "pattern", "!!! \n!!!"
    if "maximum" in allowed:
        yield "maximum", allowed["maximum"] + 1
    if "minimum" in allowed:
        yield "minimum", allowed["minimum"] - 1


class TestEveryLimit:
    @pytest.mark.parametrize(("kind", "body"), LEGAL)
    def test_is_kept_by_what_is_legal(self, tmp_path: Path, kind: str, body: Any) -> None:
        assert [each for each in findings(tmp_path, kind, body) if each[0] in {"HP1001", "HP1017"}] == []

    @pytest.mark.parametrize(("kind", "body"), LEGAL)
    def test_that_is_broken_draws_one_error(self, tmp_path: Path, kind: str, body: Any) -> None:
        before = set(findings(tmp_path, kind, body))
        wrong = []
        for word, steps, bad in mistakes(kind, body):
            path = ".".join(step for step in steps if isinstance(step, str))
            new = [each for each in findings(tmp_path, kind, with_value(body, steps, bad)) if each not in before]
            errors = [each for each in new if each[2] or each[0] == "HP1017"]
            several, warned = ((kind, path, word) in known for known in (SEVERAL_MISTAKES, ONLY_WARNED_OF))
            if len(errors) != 1 and not (several and errors) and not warned:
                wrong.append(f"{path} {word}: {new}")
        assert wrong == []

    @pytest.mark.parametrize("kind", schema.LEFT_TO_RULES)
    def test_that_is_left_to_a_rule_is_one_that_there_is(self, kind: str) -> None:
        known = set(_paths(schemas.definitions(kind), {"ref": "root"}, ()))
        for path, left in schema.LEFT_TO_RULES[kind].items():
            assert left.rule in rules.RULES
            assert path in known, path


def _paths(definitions: Any, allowed: Any, steps: tuple[str, ...]) -> Iterator[str]:
    """Paths as `schema.LEFT_TO_RULES` writes them."""
    path = ".".join(steps)
    yield path
    if allowed.get("type") == "array":
        yield f"{path}."
        yield from _paths(definitions, allowed["items"], steps)
    for name, below in definitions.get(allowed.get("ref"), {}).get("properties", {}).items():
        if len(steps) < 6:  # filters of budgets hold filters
            yield from _paths(definitions, below, (*steps, name))


def read(folder: Path, kind: str, body: object) -> list[str]:
    """`message; fix` of what is invalid in a resource."""
    file = folder / "t.json"
    file.write_text(json.dumps({"Resources": {"R": {"Type": kind, "Properties": body}}}))
    return refused(template.read(file))


class TestWhatIsKnownOnlyAtDeploy:
    GIVEN = ({"Ref": "Given"}, {"Fn::ImportValue": "name"}, "{{resolve:ssm:name}}", {"Fn::Sub": "x-${Given}"})
    ONE_TEXT = (GIVEN[0], GIVEN[3])
    """Certain to be no list, whatever the text."""

    @pytest.mark.parametrize("given", GIVEN)
    @pytest.mark.parametrize(("kind", "body"), LEGAL[:-1])
    def test_is_never_reported(self, tmp_path: Path, kind: str, body: Any, given: object) -> None:
        """Wherever it stands."""
        parameters = {"Given": {"Type": "String"}}
        for steps in [steps for word, steps, _ in mistakes(kind, body) if steps and "readOnly" not in word]:
            properties = with_value(body, steps, given)
            file = tmp_path / "t.json"
            resources = {"R": {"Type": kind, "Properties": properties}}
            file.write_text(json.dumps({"Parameters": parameters, "Resources": resources}))
            said = refused(template.read(file))
            if given in self.ONE_TEXT:
                said = [line for line in said if "one text" not in line]
            assert said == [], steps

    def test_may_leave_out_what_is_too_many(self, tmp_path: Path) -> None:
        maybe = {"Fn::If": ["Maybe", "NEW", {"Ref": "AWS::NoValue"}]}
        events = {"Events": ["NEW", "CHANGED", "DELETED", maybe, maybe]}
        body = {**LINK, "S3": {"AutoImportPolicy": events}}
        assert read(tmp_path, ASSOCIATION, body) == []

    def test_may_leave_out_one_of_two_that_exclude_each_other(self, tmp_path: Path) -> None:
        maybe = {"Fn::If": ["Maybe", {"DnsName": DNS_NAME}, {"Ref": "AWS::NoValue"}]}
        storage = {"EbsVolumeConfig": {"VolumeSizeInGB": 1}, "FsxOpenZfsConfig": maybe}
        body = with_value(ON_SLURM, ("InstanceGroups", 0, "InstanceStorageConfigs"), [storage])
        assert read(tmp_path, CLUSTER, body) == []


class TestWordsOfCloudFormation:
    def test_may_be_numbers_and_flags_as_text_and_the_other_way_round(self, tmp_path: Path) -> None:
        body = with_value(ON_SLURM, ("InstanceGroups", 1, "InstanceCount"), "2")
        body = with_value(
            body,
            ("InstanceGroups", 1, "InstanceStorageConfigs", 0, "EbsVolumeConfig"),
            {"RootVolume": "false", "VolumeSizeInGB": "9"},
        )
        body = with_value(body, ("Tags", 0, "Value"), 2026)
        assert read(tmp_path, CLUSTER, body) == []

    @pytest.mark.parametrize("image", ["default", "ami-01234567", "ami-0123456789abcdef0"])
    def test_have_default_among_images(self, tmp_path: Path, image: str) -> None:
        assert read(tmp_path, CLUSTER, with_value(ON_SLURM, ("InstanceGroups", 1, "ImageId"), image)) == []

    def test_take_an_alarm_name_that_only_the_api_finds_too_long(self, tmp_path: Path) -> None:
        steps = ("InstanceGroups", 1, "ScheduledUpdateConfig", "DeploymentConfig", "AutoRollbackConfiguration")
        assert read(tmp_path, CLUSTER, with_value(ON_SLURM, steps, [{"AlarmName": "a" * 256}])) == []

    @pytest.mark.parametrize("subnet", ["subnet-1", "subnet-0123456789abcdef0"])
    def test_may_be_ids_that_an_example_shortens(self, tmp_path: Path, subnet: str) -> None:
        assert read(tmp_path, FILE_SYSTEM, {**PERSISTENT, "SubnetIds": [subnet]}) == []


class TestMessages:
    def test_say_what_was_meant_by_a_slip_and_not_that_it_is_missing(self, tmp_path: Path) -> None:
        group = {**CONTROLLER, "InstanceCounts": 1}
        del group["InstanceCount"]
        body = {**ON_SLURM, "InstanceGroups": [group]}
        assert read(tmp_path, CLUSTER, body) == ["InstanceGroups[0].InstanceCounts does not exist; use InstanceCount"]

    def test_say_where_a_property_belongs(self, tmp_path: Path) -> None:
        assert read(tmp_path, FILE_SYSTEM, {**PERSISTENT, "EfaEnabled": True}) == [
            (
                "EfaEnabled is not a property that we know; use EfaEnabled where it belongs, "
                "LustreConfiguration.EfaEnabled; if it is newer than our list, keep it"
            )
        ]

    def test_offer_the_name_that_is_alike_too(self, tmp_path: Path) -> None:
        (found,) = read(tmp_path, CLUSTER, with_value(ON_SLURM, ("InstanceGroups", 1, "VpcConfig"), VPC))
        assert "use OverrideVpcConfig or VpcConfig where it belongs, VpcConfig;" in found

    def test_of_a_part_that_is_missing_do_not_go_on_about_what_is_in_it(self, tmp_path: Path) -> None:
        body = {"Budget": MONTHLY["Budget"], "NotificationsWithSubscribers": [{"Subscribers": []}]}
        assert read(tmp_path, BUDGET, body) == [
            "NotificationsWithSubscribers[0].Notification is missing; give Notification: it is required"
        ]

    def test_point_to_the_group(self, tmp_path: Path) -> None:
        file = tmp_path / "t.json"
        body = with_value(ON_SLURM, ("InstanceGroups", 1, "ExecutionRole"), "nodes")
        file.write_text(json.dumps({"Resources": {"R": {"Type": CLUSTER, "Properties": body}}}))
        assert [each.path for each in template.read(file).invalid] == ["t.json/R/p5"]

    def test_of_a_long_list_of_words_are_short(self, tmp_path: Path) -> None:
        steps = ("ComputeQuotaConfig", "ComputeQuotaResources", 1, "AcceleratorPartition", "Type")
        (found,) = read(tmp_path, QUOTA, with_value(TEAM, steps, "mig-1g.10"))
        assert found.endswith("use another value, such as mig-1g.10gb; there are 28")

    def test_of_what_only_the_service_sets(self, tmp_path: Path) -> None:
        assert read(tmp_path, CLUSTER, {**ON_SLURM, "ClusterArn": HYPERPOD}) == [
            "ClusterArn is set by the service; leave it out"
        ]


class TestAnInstanceTypeThatIsNotInTheList:
    STEPS: Steps = ("ComputeQuotaConfig", "ComputeQuotaResources", 0, "InstanceType")

    def test_may_be_new(self, tmp_path: Path) -> None:
        found = findings(tmp_path, QUOTA, with_value(TEAM, self.STEPS, "ml.q9.96xlarge"))
        assert [(rule, stops) for rule, _, stops in found if "InstanceType" in _] == [("HP1017", False)]

    def test_is_wrong_where_it_is_a_slip(self, tmp_path: Path) -> None:
        found = findings(tmp_path, QUOTA, with_value(TEAM, self.STEPS, "ml.p5.48xlarg"))
        assert [(rule, stops) for rule, _, stops in found if "InstanceType" in _] == [("HP1001", True)]
