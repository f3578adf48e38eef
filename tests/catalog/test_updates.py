"""What a change of a property does, against the registry, the schemas and the services' own operations."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore import xform_name

from hyperpod_constructs.catalog import schemas, updates
from tools.catalog import replacements as generator
from tools.docs import coverage

FILE = Path(updates.__file__).with_name("replacements.json")
CLUSTER = "AWS::SageMaker::Cluster"
LUSTRE = "AWS::FSx::FileSystem"
PROPER = {"CloudFormation", "UpdateCluster", "UpdateFileSystem", "EKS", "EFA"}
"""What a clause may begin with although it is no sentence."""
COMMANDS_OF_THE_CLI = {("s3", "sync")}
"""Those of the AWS CLI that are no operation of a service."""


def does(kind: str, path: str) -> str | None:
    """The word for a change."""
    found = updates.of(kind, path)
    return found.does if found else None


def advice() -> Iterator[str]:
    """Every text that tells somebody what to do."""
    yield from (row.instead for kind in updates.kinds() for row in updates.rows(kind).values())
    for recipe in updates.RECIPES.values():
        yield from recipe.steps_on(None)


def commands(program: str) -> set[str]:
    """Commands between backticks."""
    return {each for text in advice() for each in re.findall(r"`([^`]+)`", text) if each.startswith(f"{program} ")}


def operation(words: list[str]) -> Any:
    """The input of the operation that an AWS CLI command calls."""
    model = botocore.session.get_session().get_service_model(words[1])
    names = {xform_name(name, "-"): name for name in model.operation_names}
    return model.operation_model(names[words[2]]).input_shape


class TestTheFile:
    def test_is_what_the_generator_makes_of_the_installed_registry(self) -> None:
        same = FILE.read_text(encoding="utf-8") == generator.replacements()
        assert same, "replacements.json differs: run python -m tools.catalog.replacements and read the diff"

    def test_is_small_enough_for_every_installation(self) -> None:
        assert FILE.stat().st_size < 250_000


class TestRows:
    @pytest.mark.parametrize(
        "kind", [kind for kind in schemas.KINDS if kind not in (schemas.REQUEST, "AWS::Budgets::Budget")]
    )
    def test_are_there_for_every_property_of_the_types_with_a_schema(self, kind: str) -> None:
        assert updates.rows(kind).keys() == coverage.properties(kind).keys()

    def test_of_a_budget_are_all_but_those_of_structures_without_rows(self) -> None:
        """Its filters contain themselves, so that they have no end."""
        root = schemas.definitions("AWS::Budgets::Budget")["root"]
        budget = schemas.definitions("AWS::Budgets::Budget")["BudgetData"]["properties"]
        known = {*root["properties"], *root["readOnly"], *(f"Budget.{name}" for name in budget)}
        assert known <= updates.rows("AWS::Budgets::Budget").keys()

    @pytest.mark.parametrize("kind", updates.kinds())
    def test_say_what_to_do_where_a_change_is_not_harmless(self, kind: str) -> None:
        rows = updates.rows(kind).items()
        assert [path for path, row in rows if not (row.does in updates.HARMLESS or row.instead or row.recipe)] == []
        assert {row.recipe for _, row in rows} - {None} <= updates.RECIPES.keys()

    @pytest.mark.parametrize("kind", updates.kinds())
    def test_are_a_known_word_and_clauses(self, kind: str) -> None:
        for path, row in updates.rows(kind).items():
            assert row.does in updates.WORDS, path
            for text in filter(None, (row.because, row.instead)):
                assert not text.endswith("."), path
                assert not text[0].isupper() or text.split()[0].removesuffix("'s") in PROPER, path

    @pytest.mark.parametrize("kind", updates.kinds())
    def test_call_a_property_replacing_where_the_registry_does(self, kind: str) -> None:
        create_only = updates.create_only(kind)
        said = {path for path, row in updates.rows(kind).items() if row.does == "replaces"}
        assert {path for path in create_only if does(kind, path) != "replaces"} == set()
        assert {path for path in said if not any(f"{path}.".startswith(f"{each}.") for each in create_only)} == set()

    @pytest.mark.parametrize(
        ("path", "word"),
        [
            ("InstanceGroups.InstanceType", "refused"),
            ("InstanceGroups.ExecutionRole", "refused"),
            ("InstanceGroups.ThreadsPerCore", "refused"),
            ("InstanceGroups.SlurmConfig.NodeType", "refused"),
            ("InstanceGroups.OverrideVpcConfig.Subnets", "refused"),
            ("InstanceGroups.CapacityRequirements.Spot", "refused"),
            ("InstanceGroups.ImageReleaseVersion", "rebuilds"),
            ("InstanceGroups.LifeCycleConfig.SourceS3Uri", "new nodes"),
            ("InstanceGroups.InstanceStorageConfigs.FsxLustreConfig.DnsName", "new nodes"),
            ("InstanceGroups.TrainingPlanArn", "open"),
            ("InstanceGroups.InstanceGroupName", "deletes nodes"),
            ("VpcConfig.Subnets", "replaces"),
            ("ClusterName", "replaces"),
            ("Orchestrator.Eks.ClusterArn", "replaces"),
        ],
    )
    def test_know_what_cloudformation_does_not_warn_about(self, path: str, word: str) -> None:
        assert does(CLUSTER, path) == word

    def test_leave_no_source_unused(self) -> None:
        tables = tomllib.loads(FILE.with_name("updates.toml").read_text(encoding="utf-8"))
        sources = tables.pop("sources")
        rows = [row for table in tables.values() for row in table.values() if isinstance(row, dict)]
        assert sources.keys() == {table["source"] for table in tables.values()} | {
            r["source"] for r in rows if "source" in r
        }

    def test_say_so_where_texts_of_aws_contradict_one_another(self) -> None:
        for path in ("LustreConfiguration.DeploymentType", "LustreConfiguration.CopyTagsToBackups"):
            row = updates.rows(LUSTRE)[path]
            assert row.does == "replaces too"
            assert "although the registry" in row.because
        assert "introduction" in updates.rows(CLUSTER)["InstanceGroups.InstanceType"].because
        assert "older copy" in updates.rows(CLUSTER)["NodeProvisioningMode"].because

    def test_leave_to_the_direction_what_only_one_way_takes_data(self) -> None:
        """`review.directions` says `unprotects` for the other way, which no row can."""
        assert "unprotects" in updates.WORDS
        assert "unprotects" not in updates.HARMLESS
        assert not [kind for kind in updates.kinds() for row in updates.rows(kind).values() if row.does == "unprotects"]


class TestOf:
    @pytest.mark.parametrize("kind", ["AWS::Nowhere::Thing", "Custom::Thing", ""])
    def test_says_nothing_of_a_type_that_the_registry_does_not_have(self, kind: str) -> None:
        assert updates.of(kind, "Name") is None
        assert updates.create_only(kind) == frozenset()
        assert updates.identifiers(kind) == ()
        assert not updates.deletes_first(kind)

    def test_takes_the_nearest_row_above(self) -> None:
        above = updates.rows(CLUSTER)["InstanceGroups.LifeCycleConfig"]
        assert updates.of(CLUSTER, "InstanceGroups.LifeCycleConfig.SomethingNew.Below") == above

    def test_passes_by_a_row_that_is_no_more_than_its_parts(self) -> None:
        assert does(CLUSTER, "InstanceGroups") == updates.PARTS
        assert does(CLUSTER, "InstanceGroups.SomethingNew") == "in place"

    def test_knows_a_type_without_rows_from_the_registry(self) -> None:
        assert does("AWS::DynamoDB::Table", "TableName") == "replaces"
        assert does("AWS::DynamoDB::Table", "BillingMode") == "in place"

    def test_knows_a_type_that_only_other_regions_have(self) -> None:
        assert does("AWS::DeviceFarm::Project", "Name") == "in place"

    def test_knows_a_type_with_nothing_create_only(self) -> None:
        assert does("AWS::EC2::InternetGateway", "Tags") == "in place"

    @pytest.mark.parametrize("path", ["KubernetesNetworkConfig", "OutpostConfig.ControlPlaneInstanceType"])
    def test_takes_what_is_create_only_in_a_property_and_around_it(self, path: str) -> None:
        assert path not in updates.rows("AWS::EKS::Cluster")
        assert does("AWS::EKS::Cluster", path) == "replaces"

    def test_does_not_take_a_name_that_only_begins_alike(self) -> None:
        assert does("AWS::EC2::Subnet", "Ipv6CidrBlocks") == "in place"
        assert does("AWS::EC2::Subnet", "Ipv6CidrBlock") == "open"

    @pytest.mark.parametrize(
        ("kind", "path"),
        [("AWS::DynamoDB::Table", "TableName"), ("AWS::RDS::DBInstance", "MultiAZ")],
    )
    def test_says_what_to_do_where_only_the_registry_speaks(self, kind: str, path: str) -> None:
        found = updates.of(kind, path)
        assert found is not None
        assert found.does not in updates.HARMLESS
        assert found.instead


class TestIdentity:
    def test_is_what_the_registry_calls_the_primary_identifier(self) -> None:
        assert updates.identifiers("AWS::S3::Bucket") == ("BucketName",)
        assert updates.identifiers("AWS::EKS::Addon") == ("ClusterName", "AddonName")

    def test_is_given_up_before_the_new_one_is_made_where_the_registry_says_so(self) -> None:
        assert updates.deletes_first("AWS::SageMaker::ComputeQuota")
        assert not updates.deletes_first("AWS::SageMaker::ClusterSchedulerConfig")

    def test_of_a_quota_and_a_budget_is_create_only(self) -> None:
        assert {"Name", "ComputeQuotaTarget.TeamName"} <= updates.create_only("AWS::SageMaker::ComputeQuota")
        assert {"Budget.BudgetName", "NotificationsWithSubscribers"} == updates.create_only("AWS::Budgets::Budget")


class TestRecipes:
    def test_have_two_to_five_steps_that_are_sentences(self) -> None:
        for name, recipe in updates.RECIPES.items():
            assert 2 <= len(recipe.steps) <= 5, name
            assert all(step.endswith(".") for step in (recipe.meaning, *recipe.steps)), name

    @pytest.mark.parametrize("name", ["scale-in", "patch", "try-a-script"])
    def test_name_the_commands_of_the_scheduler_and_both_where_it_is_not_known(self, name: str) -> None:
        slurm, eks, both = (" ".join(updates.RECIPES[name].steps_on(each)) for each in ("slurm", "eks", None))
        assert ("scontrol" in slurm, "kubectl" in slurm) == (True, False)
        assert ("scontrol" in eks, "kubectl" in eks) == (False, True)
        assert ("scontrol" in both, "kubectl" in both) == (True, True)

    def test_call_operations_that_the_services_have_with_what_they_need(self) -> None:
        for command in sorted(commands("aws")):
            words = shlex.split(command)
            if tuple(words[1:3]) in COMMANDS_OF_THE_CLI:
                continue
            shape = operation(words)
            options = {xform_name(name, "-"): name for name in shape.members}
            given = {options[word[2:]] for word in words if word.startswith("--")}
            assert set(shape.required_members) <= given, command

    def test_change_states_that_slurm_and_the_service_know(self) -> None:
        known = ("State=DRAIN Reason=", "State=RESUME", 'state=fail reason="Action:Replace"', "scontrol show partition")
        assert all(any(word in command for word in known) for command in commands("scontrol"))
