"""The table of every property against the registry, the APIs, the model, the rules and the constructs."""

from __future__ import annotations

import ast
import dataclasses
import pkgutil
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from hyperpod_constructs import cdk, model, rules
from hyperpod_constructs.catalog import schemas, updates
from hyperpod_constructs.model.template import schema
from tools.docs import coverage

ROOT = Path(__file__).parents[1]
KINDS = sorted({row.kind for row in coverage.rows()})


def registered(kind: str) -> dict[str, Any]:
    """The registry's schema of a type."""
    found: dict[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema
    return found


def as_paths(pointers: list[str]) -> set[str]:
    """JSON pointers as the table writes them."""
    return {each.removeprefix("/properties/").replace("/*", "").replace("/", ".") for each in pointers}


def fields() -> set[str]:
    """`Class.field` of every value of the model."""
    found = set()
    for module in pkgutil.iter_modules(model.__path__):
        for name, kind in vars(import_module(f"{model.__name__}.{module.name}")).items():
            if isinstance(kind, type) and dataclasses.is_dataclass(kind):
                found |= {f"{name}.{field.name}" for field in dataclasses.fields(kind)}
    return found


def written() -> set[str]:
    """Names of all keyword arguments in the constructs, in the CDK's spelling without underscores.

    And of all keys of dictionaries where property names are spelt: the CDK has no class for quotas.
    """
    files = {file.name: ast.parse(file.read_text()) for file in Path(cdk.__path__[0]).glob("*.py")}
    calls = [node for tree in files.values() for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = {keyword.arg.replace("_", "") for call in calls for keyword in call.keywords if keyword.arg}
    maps = [node for node in ast.walk(files["_properties.py"]) if isinstance(node, ast.Dict)]
    keys = {key.value for each in maps for key in each.keys if isinstance(key, ast.Constant)}
    return named | {str(key).lower() for key in keys}


def members(shape: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every member of a structure of botocore by path."""
    for name, member in getattr(shape, "members", {}).items():
        yield path + name, member
        while member.type_name == "list":
            member = member.member  # noqa: PLW2901  # follows it
        yield from members(member, f"{path}{name}.")


def operation(service: str, name: str) -> Any:
    """The input of an operation."""
    return botocore.session.get_session().get_service_model(service).operation_model(name).input_shape


class TestTheTable:
    @pytest.mark.parametrize("kind", KINDS)
    def test_has_every_property_of_the_registry_and_no_other(self, kind: str) -> None:
        listed = {row.path for row in coverage.rows() if row.kind == kind}
        known = coverage.properties(kind).keys()
        assert listed == known, f"new: {sorted(known - listed)}, gone: {sorted(listed - known)}"

    @pytest.mark.parametrize("kind", KINDS)
    def test_has_a_policy_for_every_update_and_no_other(self, kind: str) -> None:
        listed = {row.path for row in coverage.rows() if row.kind == kind}
        judged = updates.rows(kind).keys()
        assert judged == listed, f"missing: {sorted(listed - judged)}, gone: {sorted(judged - listed)}"

    @pytest.mark.parametrize("kind", KINDS)
    def test_has_the_registry_s_word_for_what_only_the_service_sets(self, kind: str) -> None:
        listed = {row.path for row in coverage.rows() if row.kind == kind and row.change.does == "service"}
        assert listed == as_paths(registered(kind)["readOnlyProperties"])

    @pytest.mark.parametrize("kind", KINDS)
    def test_has_the_registry_s_word_for_what_replaces(self, kind: str) -> None:
        create_only = as_paths(registered(kind)["createOnlyProperties"])
        for row in coverage.rows():
            if row.kind == kind:
                replaces = any(row.path == path or row.path.startswith(f"{path}.") for path in create_only)
                assert (row.change.does == "replaces") == replaces, row.path

    def test_says_who_sets_a_property_in_one_way(self) -> None:
        for row in coverage.rows():
            said = [row.field, row.read, row.always, row.unset]
            assert sum(map(bool, said)) == (0 if row.change.does == "service" else 1), row.path

    def test_names_fields_that_the_model_has(self) -> None:
        named = {row.field or row.read for row in coverage.rows()} - {""}
        assert named - fields() == set()

    def test_names_rules_that_there_are(self) -> None:
        assert {rule for row in coverage.rows() for rule in row.rules} - rules.RULES.keys() == set()

    @pytest.mark.parametrize("kind", KINDS)
    def test_names_the_rules_to_which_the_schema_leaves_a_property(self, kind: str) -> None:
        judged = {row.path: row.rules for row in coverage.rows() if row.kind == kind}
        for path, left in schema.LEFT_TO_RULES[kind].items():
            assert left.rule in judged[path.rstrip(".")], path


class TestWhatTheConstructsWrite:
    def test_is_what_the_table_says(self) -> None:
        wanted = {_name(row) for row in coverage.rows() if row.field or row.always}
        assert wanted - written() == set()

    def test_is_nothing_else(self) -> None:
        """Of names that stand in one place only: that another `Mode` is written says nothing."""
        count = Counter(_name(row) for row in coverage.rows())
        left_out = {_name(row) for row in coverage.rows() if row.read or row.unset}
        assert {name for name in left_out & written() if count[name] == 1} == set()


def _name(row: coverage.Row) -> str:
    """The last name of a path as `written` spells it."""
    return row.path.rpartition(".")[2].lower()


class TestWhatCloudFormationLacks:
    def test_of_create_cluster_is_in_the_table(self) -> None:
        api, registry = (coverage.properties(kind) for kind in (schemas.REQUEST, "AWS::SageMaker::Cluster"))
        read_only = {row.path for row in coverage.rows() if row.change.does == "service"}
        lacking = {path for path in api if path not in registry or path in read_only}
        below = {path for path in lacking if path.rpartition(".")[0] in lacking}
        words = {
            f"{path} = {word}"
            for path, value in api.items()
            for word in (value.get("items") or value).get("enum", ())
            if path in registry and word not in (registry[path].get("items") or registry[path]).get("enum", (word,))
        }
        listed = coverage.lacking()["CreateCluster"].keys()
        assert (lacking - below) | words <= listed
        assert listed <= lacking | words

    def test_of_lustre_is_in_the_table(self) -> None:
        lustre = operation("fsx", "CreateFileSystem").members["LustreConfiguration"]
        definition = schemas.definitions("AWS::FSx::FileSystem")["LustreConfiguration"]
        lacking = {path for path, _ in members(lustre) if path.partition(".")[0] not in definition["properties"]}
        assert lacking == coverage.lacking()["CreateFileSystem, LustreConfiguration"].keys()

    def test_are_operations_that_there_are(self) -> None:
        session = botocore.session.get_session()
        models = [session.get_service_model(service) for service in ("sagemaker", "fsx")]
        known = {name for each in models for name in each.operation_names}
        assert {each.partition(",")[0] for each in coverage.lacking()["Other operations"]} - known == set()


def test_the_page_is_what_the_table_says() -> None:
    page = ROOT / coverage.PAGE
    assert page.read_text(encoding="utf-8") == coverage.coverage_page(), "run python -m tools.docs"
