"""Reads everything that is deployed together: one template, a folder of templates, or a `cdk.out`."""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from hyperpod_constructs.cloudformation.document import Document, OtherDocumentError, load, parse, shortened
from hyperpod_constructs.cloudformation.folders import SUFFIXES, Below, is_output, look_below, meant_as_template
from hyperpod_constructs.cloudformation.manifest import (
    MANIFEST,
    StackArtifact,
    ancestors,
    read_json,
    stack_artifacts,
)
from hyperpod_constructs.cloudformation.parameters import Environment
from hyperpod_constructs.cloudformation.scope import Scope, Trail
from hyperpod_constructs.cloudformation.stack import Resource, Stack
from hyperpod_constructs.cloudformation.validation import ValidationReport, read_report
from hyperpod_constructs.cloudformation.values import Reference, Text
from hyperpod_constructs.errors import UnreadableTemplate

MAX_STACKS = 2_500
"""Nested templates can multiply: ten files that nest each other twice make a thousand stacks."""

_NESTED = "AWS::CloudFormation::Stack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file of a folder that is no template.

    Attributes:
        file: Where it is.
        reason: One line.
        ordinary: Whether nothing in it has to do with CloudFormation or HyperPod, as in a `package.json`.
    """

    file: Path
    reason: str
    ordinary: bool = False


@dataclass(frozen=True, eq=False)
class Assembly:
    """Stacks that may refer to each other.

    Attributes:
        path: What was read.
        stacks: In the order of manifest or file name, each before the stacks nested in it.
        requests: Create-cluster requests found instead of or beside templates.
        skipped: Files of a folder without manifest that are something else.
        below: What a folder without manifest has in its sub-folders and was not read.
    """

    path: Path
    stacks: tuple[Stack, ...]
    requests: tuple[Document, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    below: tuple[Below, ...] = ()

    @cached_property
    def validation_report(self) -> ValidationReport | None:
        """What the app's own validation said; `None` without a report, which the CDK writes only when there is need.

        Raises:
            UnreadableTemplate: There is a report that cannot be read.
        """
        return read_report(self.path) if self.path.is_dir() else None

    def resources(self) -> Iterator[Resource]:
        """The resources of all stacks."""
        for stack in self.stacks:
            yield from stack.resources()

    def find(self, reference: Reference) -> Resource | None:
        """The resource a reference points to."""
        stack = self._by_id.get(reference.stack)
        return stack.resource(reference.logical_id) if stack else None

    def acknowledged(self, path: str) -> dict[str, str]:
        """Rules acknowledged at a construct or above it.

        The CDK records no acknowledgement of the App or of a Stage in the assembly. Those are known only where the
        validation report has them, which is where they hid something when the app was synthesized.

        Args:
            path: Construct path, as in `Resource.path`.

        Returns:
            Reasons by rule id as the app wrote it (`HyperPod::HP3001`); the nearest reason where there are several.
        """
        found: dict[str, str] = {}
        path = path.strip("/")
        # `Resource.path` does not say whether a resource was a `/Resource` child, so its acknowledgements count too.
        for at in ("", *reversed([*ancestors(path)]), path, f"{path}/Resource"):
            found |= self._acknowledged.get(at, {})
        return found

    @cached_property
    def _by_id(self) -> Mapping[str, Stack]:
        return {stack.id: stack for stack in self.stacks}

    @cached_property
    def _acknowledged(self) -> Mapping[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {}
        for plugin in self.validation_report.plugins if self.validation_report else ():
            for violation in plugin.suppressed:
                if violation.acknowledged_id:
                    found.setdefault(violation.acknowledged_at, {})[violation.acknowledged_id] = violation.reason
        for stack in self.stacks:
            if stack.parent is None:  # the metadata of nested stacks is that of the stack around them
                for path, rule, reason in stack.metadata.acknowledged():
                    found.setdefault(path, {})[rule] = reason
        return found


def read(path: str | Path, region: str | None = None, parameters: Mapping[str, str] | None = None) -> Assembly:
    """Reads a template or request, a folder of them, or an assembly of the CDK.

    Args:
        path: A file; a folder with the CDK's `manifest.json`; or any other folder, of which every `*.json`, `*.yaml`,
            `*.yml` and `*.template` directly in it is read. A file that another one nests, by the last part of its
            `TemplateURL` or by a path from its own folder, is no stack of its own.
        region: Region of stacks that do not fix theirs, for what they make of `AWS::Region`.
        parameters: Values of parameters, for every stack of its own that declares them.

    Raises:
        UnreadableTemplate: There is no template, one cannot be read, or a piece of the assembly is missing. A file of a
            folder without manifest that shows no sign of being a template is skipped instead.
    """
    if not str(path):
        raise UnreadableTemplate("the path is empty: name a file or a folder")
    builder = _Builder(region, parameters or {})
    try:
        return _read(Path(path), builder)
    except OSError as error:  # of looking around; whoever opens a file has said more about it
        raise UnreadableTemplate(f"{shortened(path)}: {error.strerror}") from None


def _read(path: Path, builder: _Builder) -> Assembly:
    if not path.is_dir():
        return _files(path, {path: builder.load(path)}, builder)
    if _is_assembly(path):
        for artifact in stack_artifacts(path):
            builder.add_artifact(artifact)
        return Assembly(path, builder.stacks())
    documents, skipped = _readable_files(path, builder)
    if not documents:
        below = "".join(f"; {each.folder} {each.holds}: check that one" for each in look_below(path, set())[:3])
        reasons = "".join(f"; {skip.reason}" for skip in skipped[:3])
        raise UnreadableTemplate(f"{path}: has no CloudFormation template ({', '.join(SUFFIXES)}){below}{reasons}")
    found = _files(path, documents, builder, skipped)
    return replace(found, below=tuple(look_below(path, builder.files)))


def _is_assembly(folder: Path) -> bool:
    manifest = folder / MANIFEST
    if is_output(folder):
        return True
    return manifest.exists() and "artifacts" in read_json(manifest)


def _readable_files(folder: Path, builder: _Builder) -> tuple[dict[Path, Document], tuple[Skipped, ...]]:
    documents, skipped = {}, []
    for file in sorted(folder.iterdir()):
        if not file.name.endswith(SUFFIXES) or not file.is_file():
            continue
        try:
            documents[file] = builder.load(file)
        except UnreadableTemplate as problem:
            if not isinstance(problem, OtherDocumentError) and meant_as_template(file):
                raise
            ordinary = isinstance(problem, OtherDocumentError) and problem.ordinary
            skipped.append(Skipped(file=file, reason=str(problem), ordinary=ordinary))
    return documents, tuple(skipped)


def _files(
    path: Path, documents: Mapping[Path, Document], builder: _Builder, skipped: tuple[Skipped, ...] = ()
) -> Assembly:
    templates = [file for file, document in documents.items() if document.kind == "template"]
    builder.add_files(templates)
    requests = tuple(document for document in documents.values() if document.kind == "create-cluster")
    return Assembly(path, builder.stacks(), requests, skipped)


class _Neighbourhood:
    """How the stacks of one assembly reach each other."""

    def __init__(self) -> None:
        self._stacks: tuple[Stack, ...] = ()
        self._nested: dict[tuple[str, str], Scope] = {}
        self._named: dict[str, list[Scope]] = {}
        self._exports: dict[str, list[tuple[Scope, str]]] | None = None
        # Copies of one template in a folder export the same names: each name is looked up once for an environment.
        self._exported: dict[tuple[str, str | None, str | None], tuple[Scope, str] | None] = {}

    def fill(self, stacks: tuple[Stack, ...]) -> None:
        self._stacks = stacks
        for stack in stacks:
            if stack.name:
                self._named.setdefault(stack.name, []).append(stack.scope)
            if stack.parent:
                self._nested[stack.parent.id, stack.logical_path[-1]] = stack.scope

    def nested(self, stack: str, logical_id: str) -> Scope | None:
        return self._nested.get((stack, logical_id))

    def deployed(self, environment: Environment) -> Scope | None:
        named = self._named.get(environment.name or "", [])
        found = _only([(scope, "") for scope in named], environment)
        return found[0] if found else None

    def exported(self, name: str, importer: Environment) -> tuple[Scope, str] | None:
        if self._exports is None:
            self._exports = {}  # there while names are resolved: an export named after an import ends here
            for stack in self._stacks:
                for export, output in stack.scope.exports() if stack.present is not False else ():
                    self._exports.setdefault(export, []).append((stack.scope, output))
        key = (name, importer.account, importer.region)
        if key not in self._exported:
            self._exported[key] = _only(self._exports.get(name, []), importer)
        return self._exported[key]


def _only(candidates: list[tuple[Scope, str]], wanted: Environment) -> tuple[Scope, str] | None:
    """The one candidate that can be in an account and Region, preferring one that certainly is."""
    place = (wanted.account, wanted.region)
    exact, possible = [], []
    for candidate in candidates:
        there = (candidate[0].environment.account, candidate[0].environment.region)
        if there == place:
            exact.append(candidate)
        if all(a is None or b is None or a == b for a, b in zip(there, place, strict=True)):
            possible.append(candidate)
    found = exact or possible
    return found[0] if len(found) == 1 else None


class _Builder:
    """Collects the stacks of one assembly, follows the nested ones, then lets them know each other."""

    def __init__(self, region: str | None, parameters: Mapping[str, str]) -> None:
        self._region = region  # of stacks that do not fix theirs
        self._parameters = parameters
        self._documents: dict[Path, Document] = {}
        self._stacks: list[Stack] = []
        self._ids: set[str] = set()
        self._trail = Trail()
        self._neighbours = _Neighbourhood()

    def load(self, file: Path) -> Document:
        if file not in self._documents:
            self._documents[file] = load(file)
        return self._documents[file]

    def add_artifact(self, artifact: StackArtifact) -> None:
        try:
            document = self._template(artifact.template)
        except OtherDocumentError:
            # The CDK writes a stack without resources, and destroys it at deploy: nothing of it is left to read.
            document = parse('{"Resources": {}}', str(artifact.template))
        stack_id = self._unique(artifact.construct_path)
        environment = replace(artifact.environment, region=artifact.environment.region or self._region)
        stack = Stack(
            id=stack_id,
            document=document,
            file=artifact.template,
            scope=self._scope(document, stack_id, environment, {**artifact.parameters, **self._parameters}),
            construct_path=artifact.construct_path,
            metadata=artifact.metadata,
            protected=artifact.protected,
        )
        self._add(stack, artifact.assets)

    def add_files(self, files: list[Path]) -> None:
        """Adds the files that no other one nests, then what is left: files that nest each other in a circle."""
        by_name = {file.name: file for file in files}
        inner = {
            found
            for file in files
            for _, found in _nested_files(self._alone(file), by_name, file.parent)
            if found != file
        }
        for file in sorted(files, key=lambda file: file in inner):
            if file not in inner or all(stack.file != file for stack in self._stacks):
                self._add(self._lone(file), by_name)

    def _alone(self, file: Path) -> Scope:
        """The scope of a file before anybody knows what is around it."""
        return Scope(self.load(file).body, stack="", environment=self._anywhere, parameters=self._parameters)

    @property
    def files(self) -> set[Path]:
        """Everything that was read."""
        return set(self._documents)

    def stacks(self) -> tuple[Stack, ...]:
        """The stacks, which can reach each other from now on."""
        self._neighbours.fill(tuple(self._stacks))
        for stack in self._stacks:
            stack.scope.forget()
        return tuple(stack for stack in self._stacks if stack.present is not False)

    @property
    def _anywhere(self) -> Environment:
        """That of a template which does not come with one."""
        return Environment(region=self._region)

    def _lone(self, file: Path) -> Stack:
        document = self._template(file)
        stack_id = self._unique(file.name)
        scope = self._scope(document, stack_id, self._anywhere, self._parameters)
        return Stack(id=stack_id, document=document, file=file, scope=scope)

    def _add(self, stack: Stack, files: Mapping[str, Path]) -> None:
        """Adds a stack and those nested in it, each before its own nested ones."""
        waiting = [stack]
        while waiting:
            current = waiting.pop()
            if len(self._stacks) >= MAX_STACKS:
                raise UnreadableTemplate(f"{stack.file}: there are more than {MAX_STACKS:,} stacks with those it nests")
            self._stacks.append(current)
            around = set(_files_around(current))
            for logical_id, file in _nested_files(current.scope, files, current.file.parent):
                if file not in around:
                    current.nested[logical_id] = self._nested(current, logical_id, file)
            waiting += reversed(current.nested.values())

    def _nested(self, parent: Stack, logical_id: str, file: Path) -> Stack:
        document = self._template(file)
        construct_path = parent.nested_construct_path(logical_id)
        stack_id = self._unique(construct_path or f"{parent.id}/{logical_id}")
        environment = Environment(account=parent.account, region=parent.region)
        return Stack(
            id=stack_id,
            document=document,
            file=file,
            scope=self._scope(document, stack_id, environment, parent=(parent.scope, logical_id)),
            construct_path=construct_path,
            parent=parent,
            logical_path=(*parent.logical_path, logical_id),
            metadata=parent.metadata,
        )

    def _scope(
        self,
        document: Document,
        stack_id: str,
        environment: Environment,
        parameters: Mapping[str, str] | None = None,
        *,
        parent: tuple[Scope, str] | None = None,
    ) -> Scope:
        return Scope(
            document.body,
            stack=stack_id,
            environment=environment,
            parameters=parameters,
            parent=parent,
            neighbours=self._neighbours,
            trail=self._trail,
        )

    def _template(self, file: Path) -> Document:
        document = self.load(file)
        if document.kind != "template":
            raise UnreadableTemplate(f"{file}: is no CloudFormation template: it has no `Resources`")
        return document

    def _unique(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._ids:
            number += 1
            name = f"{wanted} ({number})"
        self._ids.add(name)
        return name


def _files_around(stack: Stack | None) -> Iterator[Path]:
    while stack is not None:
        yield stack.file
        stack = stack.parent


def _nested_files(scope: Scope, files: Mapping[str, Path], folder: Path) -> Iterator[tuple[str, Path]]:
    """The nested stacks whose templates are at hand: (logical id, file).

    Args:
        scope: The template.
        files: Templates by file name.
        folder: That of the template, from which `aws cloudformation package` follows a path.
    """
    for logical_id in scope.section("Resources"):
        body = scope.resource(logical_id)
        if body is None or body["Type"] != _NESTED or scope.present(body) is False:
            continue
        properties = body.get("Properties")
        url = scope.resolve(properties.get("TemplateURL")) if isinstance(properties, Mapping) else None
        end = url.suffix if isinstance(url, Text) else url
        # Of a partly known URL the file name is certain only behind a slash.
        if isinstance(end, str) and (isinstance(url, str) or "/" in end):
            file = _beside(folder, url) or files.get(end.rpartition("/")[2])
            if file is not None:
                yield logical_id, file


def _beside(folder: Path, url: object) -> Path | None:
    """The template behind a path from a folder."""
    if not isinstance(url, str) or not url.endswith(SUFFIXES) or ":" in url or "\0" in url or url.startswith("/"):
        return None
    file = Path(os.path.normpath(folder / url))
    return file if file.is_file() else None
