"""Images in the manifests of a rendered chart.

Those in arguments and environment variables of operators, and in texts within a ConfigMap, are not seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hyperpod_constructs.model.chart import ChartImage
from hyperpod_constructs.planning.chart import metadata

_SCHEMA: Final = "CustomResourceDefinition"
_NOTHING: Final = frozenset({"", "null", "~", "Null", "NULL"})


def in_manifests(manifests: Mapping[str, str]) -> tuple[ChartImage, ...]:
    """Every image that rendered templates ask for, sorted, each once for whatever asks for it.

    Args:
        manifests: Rendered text by name of template.

    Raises:
        InvalidValue: if a text is no YAML.
    """
    found = {image for name, text in manifests.items() for image in _in_text(text, name)}
    return tuple(sorted(found, key=lambda image: (image.text, image.used_by)))


def _in_text(text: str, name: str) -> Iterator[ChartImage]:
    for document in metadata.documents(text, name):
        if isinstance(document, Mapping) and document.get("kind") != _SCHEMA:
            listed = document.get("items") if str(document.get("kind")).endswith("List") else None
            for each in listed if isinstance(listed, list) else [document]:
                yield from (ChartImage.parse(image, used_by=_who(each)) for image in _below(each))


def _below(node: object) -> Iterator[str]:
    """The images in a part of a manifest."""
    if isinstance(node, Mapping):
        own = _of(node)
        if own is not None:
            yield own
        for value in node.values():
            yield from _below(value)
    elif isinstance(node, Sequence) and not isinstance(node, str):
        for each in node:
            yield from _below(each)


def _of(node: Mapping[str, object]) -> str | None:
    """The image under the key `image` of a mapping; `None` where there is none."""
    image = node.get("image")
    if isinstance(image, Mapping):
        return _joined(image, metadata.text(image, "repository") or metadata.text(image, "reference"))
    if not isinstance(image, str) or image.strip() in _NOTHING:
        return None
    # NVIDIA's custom resources have a registry in `repository` and a name in `image`, side by side.
    repository = metadata.text(node, "repository")
    return _joined(node, f"{repository}/{image.strip()}") if repository else image.strip()


def _joined(parts: Mapping[str, object], repository: str) -> str | None:
    """Registry, repository, tag and digest as one text."""
    if not repository:
        return None
    registry = metadata.text(parts, "registry")
    tag = metadata.text(parts, "tag") or metadata.text(parts, "version")
    digest = metadata.text(parts, "digest")
    if tag.startswith("sha256:"):
        tag, digest = "", tag
    return f"{registry}{registry and '/'}{repository}{tag and ':' + tag}{digest and '@' + digest}"


def _who(document: object) -> str:
    """`DaemonSet kube-system/efa`."""
    if not isinstance(document, Mapping):
        return ""
    about = document.get("metadata")
    names = about if isinstance(about, Mapping) else {}
    namespace, name = metadata.text(names, "namespace"), metadata.text(names, "name")
    return f"{metadata.text(document, 'kind')} {namespace}{namespace and '/'}{name}".strip()
