"""What Chart.yaml, Chart.lock and the index of a chart repository say: text, however YAML would read it.

A version that is written `1.10` is no number, and `on` in an unrelated key no truth value; so scalars stay text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import yaml

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart.files import CHART_FILE, Files

CHART_LOCK: Final = "Chart.lock"
_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """What a chart says of a chart that it needs.

    Attributes:
        name: Name of that chart.
        version: A version, or a range of them; empty where there is none.
        repository: Address of a chart repository, `file://` and a folder, `oci://` and a registry; empty for a chart
            that lies in `charts/`.
    """

    name: str
    version: str
    repository: str

    @property
    def is_local(self) -> bool:
        """Whether it comes with the chart."""
        return not self.repository or self.repository.startswith("file://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What Chart.yaml says.

    Attributes:
        name: Name of the chart.
        version: Its version.
        dependencies: Charts that it needs.
    """

    name: str
    version: str
    dependencies: tuple[Dependency, ...]


def of_chart(files: Files, folder: str = "") -> Metadata:
    """What the Chart.yaml of a chart says.

    Args:
        files: Files of the outermost chart.
        folder: Where among them the chart lies, with a slash at its end; empty for the outermost.

    Raises:
        InvalidValue: if there is none, or it has no name and version.
    """
    where = folder + CHART_FILE
    if where not in files:
        raise InvalidValue(f"chart: there is no {where}", "remove the folder from charts/, or complete it")
    content = mapping(files[where], where)
    name, version = text(content, "name"), text(content, "version")
    if not name or not version:
        raise InvalidValue(f"chart: {where} has no name or no version", "complete it: Helm refuses it too")
    return Metadata(name=name, version=version, dependencies=tuple(_dependencies(content)))


def locked(files: Files, folder: str = "") -> dict[str, str]:
    """Version by name of dependency, as `helm dependency update` wrote it to Chart.lock; empty where there is none."""
    where = folder + CHART_LOCK
    content = mapping(files[where], where) if where in files else {}
    return {each.name: each.version for each in _dependencies(content)}


def _dependencies(content: Mapping[str, object]) -> Iterator[Dependency]:
    for each in items(content, "dependencies"):
        name = text(each, "name")
        if name:
            yield Dependency(name=name, version=text(each, "version"), repository=text(each, "repository"))


def mapping(content: bytes, where: str) -> Mapping[str, object]:
    """A YAML document that is a mapping.

    Raises:
        InvalidValue: if it is none.
    """
    try:
        found = yaml.load(content, _LOADER)  # noqa: S506  # the base loader makes nothing but text, lists, dictionaries
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidValue(f"chart: {where} cannot be read as YAML: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(found, Mapping):
        raise InvalidValue(f"chart: {where} is not a list of keys and values", "correct it: Helm refuses it too")
    return found


def documents(content: str, where: str) -> list[object]:
    """All documents of a YAML text.

    Raises:
        InvalidValue: if it is none.
    """
    try:
        return list(yaml.load_all(content, _LOADER))
    except (yaml.YAMLError, RecursionError) as error:
        raise InvalidValue(f"chart: {where} cannot be read as YAML: {' '.join(str(error).split())[:200]}") from None


def text(content: Mapping[str, object], key: str) -> str:
    """The text under a key; empty where there is none."""
    value = content.get(key)
    return value.strip() if isinstance(value, str) else ""


def items(content: Mapping[str, object], key: str) -> Iterator[Mapping[str, object]]:
    """The dictionaries in the list under a key."""
    value = content.get(key)
    for each in value if isinstance(value, list) else []:
        if isinstance(each, Mapping):
            yield each
