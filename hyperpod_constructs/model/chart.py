"""The Helm chart that nodes of an EKS cluster need before HyperPod makes them, and the images that a chart asks for."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.checks import check_known

DOCKER_HUB: Final = "docker.io"
_COMPONENT: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_HOST: Final = r"(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])"
_REPOSITORY: Final = re.compile(
    rf"(?:(?P<host>{_HOST}(?:\.{_HOST})*(?::[0-9]+)?)/)?(?P<path>{_COMPONENT}(?:/{_COMPONENT})*)"
)
_TAG: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_DIGEST: Final = re.compile(r"[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-fA-F]{32,}")
_ECR: Final = re.compile(r"(?P<account>[^.]*)\.dkr[.-]ecr(?:-fips)?\.(?P<region>[^.]*)\.(?:amazonaws\.com|on\.aws).*")


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmChart:
    """Who installs the chart that HyperPod needs, and from where.

    AWS wants its chart (HyperPodHelmChart) in the EKS cluster before CreateCluster. `installed_elsewhere` and
    `directory` make one.

    Attributes:
        path: Folder of the chart; `None` where somebody else installs it.
        images: Repository of the user's for each repository of the chart's that is to be replaced, both without tag.
        values: What the chart's own values.yaml is overridden with. Tokens may stand for text.

    Raises:
        InvalidValue: if there are images or values and no folder, a repository has a tag or is none, one of the user's
            names no registry or is known only at deploy, or the values are no JSON.

    Source: SageMaker developer guide, sagemaker-hyperpod-eks-install-packages-using-helm-chart (2026).
    """

    path: str | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields("chart: ", self)
        if self.path is None and (self.images or self.values):
            raise InvalidValue(
                "a chart that somebody else installs has images or values", "give them to whoever installs it"
            )
        if self.path is not None and not self.path.strip():
            raise InvalidValue("chart: path is empty", "use the folder that holds Chart.yaml")
        check_known("chart: images", self.images)
        for old, new in self.images.items():
            _check_repository(old)
            _check_repository(new)
            if ChartImage.parse(new).registry == DOCKER_HUB and not new.startswith(f"{DOCKER_HUB}/"):
                raise InvalidValue(
                    f"chart: image {old!r} is replaced by {new!r}, which names no registry",
                    "write the registry before it, as in 111122223333.dkr.ecr.us-west-2.amazonaws.com/efa",
                )
        try:
            json.dumps(self.values, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidValue(
                f"chart: values are no JSON: {error}", "use text, numbers, lists and dictionaries"
            ) from None

    @classmethod
    def installed_elsewhere(cls) -> HelmChart:
        """Somebody else installs it before the cluster is made: Argo CD, Flux, a pipeline, a person."""
        return cls()

    @classmethod
    def directory(
        cls,
        path: str | os.PathLike[str],
        *,
        images: Mapping[str, str] | None = None,
        values: Mapping[str, object] | None = None,
    ) -> HelmChart:
        """A chart in a folder, with all that it depends on in its `charts/`; `hyperpod chart fetch` writes one.

        Args:
            path: The folder that holds Chart.yaml.
            images: For each repository, such as `registry.k8s.io/nfd/node-feature-discovery`, one in a registry of
                yours that has the same tags. The text of the chart is changed; what a chart puts together from parts
                is set with `values`.
            values: What the chart's own values.yaml is overridden with.
        """
        return cls(
            path=os.fspath(path) if isinstance(path, os.PathLike) else path, images=images or {}, values=values or {}
        )

    @property
    def elsewhere(self) -> bool:
        """Whether somebody else installs it."""
        return self.path is None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartImage:
    """An image that a rendered chart asks for, taken apart as Docker does.

    Attributes:
        text: As it is written.
        registry: Host and port; `docker.io` where the text has none, empty where there is nothing before a slash.
        repository: Path in the registry; Docker Hub's own images have `library/` before their name.
        tag: `None` where there is none.
        digest: For example `sha256:...`; `None` where there is none.
        used_by: What asks for it, as `DaemonSet kube-system/efa`; empty where that is not known.

    Source: github.com/distribution/reference, the grammar of image names (2026).
    """

    text: str
    registry: str
    repository: str
    tag: str | None = None
    digest: str | None = None
    used_by: str = ""

    @classmethod
    def parse(cls, text: str, *, used_by: str = "") -> ChartImage:
        """Takes a text apart, well formed or not."""
        name, at, digest = text.partition("@")
        path, colon, tag = name.rpartition(":")
        if not colon or "/" in tag:  # the colon is that of a port
            path, colon, tag = name, "", ""
        registry, repository = _registry_and_repository(path)
        return cls(
            text=text,
            registry=registry,
            repository=repository,
            tag=tag if colon else None,
            digest=digest if at else None,
            used_by=used_by,
        )

    @property
    def is_well_formed(self) -> bool:
        """Whether a container runtime takes the text for a name at all."""
        whole = _REPOSITORY.fullmatch(f"{self.registry}/{self.repository}")
        tag = self.tag is None or _TAG.fullmatch(self.tag)
        digest = self.digest is None or _DIGEST.fullmatch(self.digest)
        return bool(whole and whole["host"] == self.registry and tag and digest)

    @property
    def account(self) -> str | None:
        """Account of its ECR registry; `None` elsewhere."""
        match = _ECR.fullmatch(self.registry)
        return match["account"] if match else None

    @property
    def region(self) -> str | None:
        """Region of its ECR registry; `None` elsewhere."""
        match = _ECR.fullmatch(self.registry)
        return match["region"] if match else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart as it is rendered for a cluster.

    Attributes:
        path: What findings call it: its folder, or the construct that installs it.
        region: Region of the cluster; `None` where it is not known.
        images: Every image that its manifests ask for.
        closed: Whether nothing leads out of the cluster's subnets but endpoints.
    """

    path: str
    region: str | None
    images: tuple[ChartImage, ...]
    closed: bool = False


def _registry_and_repository(path: str) -> tuple[str, str]:
    """The two parts of a name: what stands before the first slash is a registry only if it looks like a host."""
    first, slash, rest = path.partition("/")
    if slash and (not first or first == "localhost" or first != first.lower() or set(".:") & set(first)):
        registry, repository = (DOCKER_HUB if first == "index.docker.io" else first), rest
    else:
        registry, repository = DOCKER_HUB, path
    if registry == DOCKER_HUB and "/" not in repository:
        repository = f"library/{repository}"
    return registry, repository


def _check_repository(text: str) -> None:
    """Raises `InvalidValue` unless the text is a repository without tag and digest."""
    image = ChartImage.parse(text)
    if image.tag is not None or image.digest is not None:
        raise InvalidValue(
            f"chart: image {text!r} has a tag or a digest", "leave it out: the chart's own tag stays as it is"
        )
    if not image.is_well_formed:
        raise InvalidValue(
            f"chart: image {text!r} is no repository", "use one such as registry.k8s.io/nfd/node-feature-discovery"
        )
