"""Reads what the CDK writes beside its templates: manifest, asset lists and construct metadata.

A piece that the manifest names and the folder lacks is an error: a half-copied `cdk.out` must not pass for a whole one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hyperpod_constructs.cloudformation.document import read_text
from hyperpod_constructs.cloudformation.parameters import Environment
from hyperpod_constructs.errors import UnreadableTemplate

MANIFEST = "manifest.json"
_MAX_BYTES = 256 * 1024 * 1024  # these files are ours to read whole; the bound is only against nonsense

_STACK, _ASSEMBLY, _ASSETS = "aws:cloudformation:stack", "cdk:cloud-assembly", "cdk:asset-manifest"
_LOGICAL_ID, _ACKNOWLEDGED = "aws:cdk:logicalId", "aws:cdk:acknowledged-rules"


class Metadata:
    """What the CDK recorded about the constructs of one stack, nested stacks included."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = {path.strip("/"): found for path, found in entries.items() if isinstance(found, list)}

    def of_kind(self, kind: str) -> Iterator[tuple[str, Any]]:
        """Data of all entries of a type: (construct path, data)."""
        for path, found in self._entries.items():
            for entry in found:
                if isinstance(entry, dict) and entry.get("type") == kind:
                    yield path, entry.get("data")

    @cached_property
    def paths(self) -> Mapping[tuple[str | None, str], str]:
        """Construct paths by nested stack (its construct path; `None` for the stack itself) and logical id."""
        nested = {stack for path in self._entries if (stack := nested_stack_path(path))}
        return {
            (next((above for above in ancestors(path) if above in nested), None), str(logical_id)): path
            for path, logical_id in self.of_kind(_LOGICAL_ID)
        }

    def acknowledged(self) -> Iterator[tuple[str, str, str]]:
        """Acknowledged rules: (construct path, rule id as written, reason)."""
        for path, rules in self.of_kind(_ACKNOWLEDGED):
            if isinstance(rules, dict):
                yield from ((path, rule, str(reason)) for rule, reason in rules.items())


@dataclass(frozen=True, kw_only=True)
class StackArtifact:
    """One stack of a manifest.

    Attributes:
        environment: Deployed name, and account and Region where the app fixes them.
        template: The template file, which exists.
        construct_path: For example `Prod/Cluster`.
        parameters: Values the CDK will give at deploy.
        metadata: Of its constructs.
        assets: File assets of the whole manifest, by the last part of their object keys.
        protected: Whether the deployed stack has termination protection.
    """

    environment: Environment
    template: Path
    construct_path: str
    parameters: Mapping[str, str]
    metadata: Metadata
    assets: Mapping[str, Path]
    protected: bool


def ancestors(path: str) -> Iterator[str]:
    """The construct paths above one, nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def nested_stack_path(resource_path: str) -> str | None:
    """The construct path of a CDK `NestedStack`, from the path of the resource that stands for it in its parent."""
    above, _, last = resource_path.rpartition("/")
    name = last.removesuffix(".NestedStackResource")
    return above.removesuffix(".NestedStack") if last != name and above.endswith(f"/{name}.NestedStack") else None


def read_json(path: Path) -> dict[str, Any]:
    """A JSON file of an assembly.

    Raises:
        UnreadableTemplate: It is missing, no JSON, or no mapping at the top.
    """
    try:
        found = json.loads(read_text(path, _MAX_BYTES))
    except json.JSONDecodeError as error:
        raise UnreadableTemplate(f"{path}: is no JSON: {error}") from None
    except RecursionError:
        raise UnreadableTemplate(f"{path}: is nested too deeply") from None
    except ValueError:  # the only other one of Python's decoder
        raise UnreadableTemplate(f"{path}: has a number of thousands of digits") from None
    if not isinstance(found, dict):
        raise UnreadableTemplate(f"{path}: the top level is no mapping")
    return found


def stack_artifacts(folder: Path) -> Iterator[StackArtifact]:
    """The stacks of an assembly and of the assemblies inside it (Stages), in the order of the manifests.

    Raises:
        UnreadableTemplate: A manifest cannot be read, or names a file or folder that is not there.
    """
    for manifest, artifacts in _manifests(folder):
        assets = {key.rpartition("/")[2]: file for key, file in _files(manifest, artifacts)}
        for name, kind, artifact in artifacts:
            if kind == _STACK:
                yield _stack(manifest, name, artifact, _mapping(artifact.get("properties")), assets)


def _manifests(folder: Path) -> Iterator[tuple[Path, list[tuple[str, str, dict[str, Any]]]]]:
    """Every manifest of an assembly with its artifacts: (name, type, artifact)."""
    waiting, seen = [folder], set()
    while waiting:
        current = waiting.pop(0)
        if (real := current.resolve()) in seen:
            continue
        seen.add(real)
        manifest = current / MANIFEST
        artifacts = list(_artifacts(manifest))
        yield manifest, artifacts
        for name, kind, artifact in artifacts:
            if kind == _ASSEMBLY:
                waiting.append(_named(manifest, _mapping(artifact.get("properties")).get("directoryName"), name))


def _artifacts(manifest: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    found = read_json(manifest).get("artifacts", {})
    if not isinstance(found, dict):
        raise UnreadableTemplate(f"{manifest}: `artifacts` is no mapping")
    for name, artifact in found.items():
        if isinstance(artifact, dict):
            yield name, str(artifact.get("type")), artifact


def _stack(
    manifest: Path, name: str, artifact: dict[str, Any], properties: dict[str, Any], assets: Mapping[str, Path]
) -> StackArtifact:
    account, _, region = str(artifact.get("environment", "")).removeprefix("aws://").partition("/")
    entries = _mapping(artifact.get("metadata"))
    if "additionalMetadataFile" in artifact:
        entries = entries | read_json(_named(manifest, artifact["additionalMetadataFile"], name))
    return StackArtifact(
        environment=Environment(
            name=str(properties.get("stackName") or name),
            account=None if account in ("", "unknown-account") else account,
            region=None if region in ("", "unknown-region") else region,
        ),
        template=_named(manifest, properties.get("templateFile"), name),
        construct_path=str(artifact.get("displayName") or name).partition(" ")[0],  # older CDKs: `Path (stack name)`
        parameters={key: str(value) for key, value in _mapping(properties.get("parameters")).items()},
        metadata=Metadata(entries),
        assets=assets,
        protected=properties.get("terminationProtection") is True,
    )


def published(folder: Path) -> dict[str, Path]:
    """The files that an assembly, with the assemblies inside it, uploads before a deploy, by object key.

    Raises:
        UnreadableTemplate: A manifest cannot be read, or names a file or folder that is not there.
    """
    return {key: file for manifest, artifacts in _manifests(folder) for key, file in _files(manifest, artifacts)}


def _files(manifest: Path, artifacts: list[tuple[str, str, dict[str, Any]]]) -> Iterator[tuple[str, Path]]:
    """File assets by object key."""
    for name, kind, artifact in artifacts:
        if kind != _ASSETS:
            continue
        listed = read_json(_named(manifest, _mapping(artifact.get("properties")).get("file"), name))
        for file in _mapping(listed.get("files")).values():
            source = _mapping(_mapping(file).get("source")).get("path")
            for destination in _mapping(_mapping(file).get("destinations")).values():
                key = str(_mapping(destination).get("objectKey", ""))
                if isinstance(source, str) and key:
                    yield key, manifest.parent / source


def _named(manifest: Path, name: object, artifact: str) -> Path:
    """A file or folder that a manifest names."""
    if not isinstance(name, str) or not name:
        raise UnreadableTemplate(f"{manifest}: artifact {artifact!r} names no file")
    path = manifest.parent / name
    if not path.exists():
        raise UnreadableTemplate(f"{path}: there is no such file, but {manifest} names it; synthesize again")
    return path


def _mapping(found: object) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}
