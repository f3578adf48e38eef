"""Programs of the user's: services from a bucket, and scripts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.checks import check_name, check_whole, make_tuples
from hyperpod_constructs.model.steps.step import (
    EVERYWHERE,
    Context,
    Role,
    Step,
    check_folder,
    check_object,
)

_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A program of yours that runs all the time: an exporter, a collector.

    Attributes:
        name: Letters, digits and hyphens.
        uri: `s3://bucket/key` of the program, or of a .tar.gz that holds it.
        sha256: What the object must be; nodes refuse anything else.
        binary: Path of the program in the archive.
        arguments: Its arguments.
        files: Configuration files by absolute path.
        environment: Environment variables; no secrets.
        credentials: Whether it may ask the metadata service for the role of the node, as a collector does that writes
            to Prometheus.
    """

    name: str
    uri: str
    sha256: str
    binary: str | None = None
    arguments: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    credentials: bool = False

    def __post_init__(self) -> None:
        make_tuples(self, "arguments")
        check_fields(f"service {self.name!r}: ", self)
        check_name("service", self.name)
        check_object(f"service {self.name!r}: uri", self.uri)
        if not _SHA256.fullmatch(self.sha256):
            raise InvalidValue(
                f"service {self.name!r}: sha256 is {self.sha256!r}",
                "use the 64 hexadecimal digits that sha256sum prints",
            )
        for text in (*self.arguments, *self.environment, *self.environment.values()):
            if not text.isprintable():
                raise InvalidValue(
                    f"service {self.name!r}: {text!r} has a line end or the like", "use one line of text"
                )
        if self.binary is not None and (self.binary.startswith("/") or ".." in self.binary.split("/")):
            raise InvalidValue(f"service {self.name!r}: binary is {self.binary!r}", "use a path within the archive")
        for path in self.files:
            check_folder(f"service {self.name!r}: file", path)

    def encode(self) -> dict[str, Any]:
        """How it stands in the file that the runner reads."""
        given = {
            "name": self.name,
            "uri": self.uri,
            "sha256": self.sha256,
            "binary": self.binary,
            "arguments": list(self.arguments),
            "files": dict(sorted(self.files.items())),
            "environment": dict(sorted(self.environment.items())),
            "credentials": self.credentials,
        }
        return {key: value for key, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Services(Step):
    """Exporters, collectors and the like from a bucket of yours, pinned by SHA-256, each as a user of its own.

    Attributes:
        services: The programs.
        called: Name of the step; set it where several of these steps run on different groups.
    """

    services: Sequence[Service]
    called: str = "services"

    _timeout: ClassVar[int] = 300

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        check_name("step", self.called)

        names = [each.name for each in self.services]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InvalidValue(f"several services are named {', '.join(twice)}", "give each a name of its own")

    @property
    def title(self) -> str:
        """The name given."""
        return self.called

    @property
    def run(self) -> str:
        """The module that does it."""
        return "services"

    def inputs(self, context: Context) -> dict[str, Any]:
        """The programs."""
        del context
        return {"services": [each.encode() for each in self.services]}

    @property
    def objects(self) -> tuple[str, ...]:
        """Where they lie."""
        return tuple(each.uri for each in self.services)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script(Step):
    """A script of yours, with its own first line (`#!/bin/bash`).

    It finds the group of its node in HYPERPOD_GROUP and everything else in the JSON file that HYPERPOD_INPUTS names.
    It should be safe to run again. What it loads from the internet is reported.

    Attributes:
        path: File on this machine.
        on: Roles of the nodes on which it runs.
        every: Seconds between later runs; it runs once if left out.
        at_boot: Whether it runs again after a reboot.
        given: What it finds under its name in the JSON file; no secrets.
    """

    path: str | Path
    on: Sequence[Role] = EVERYWHERE
    every: int | None = None
    at_boot: bool = False
    given: Mapping[str, object] = field(default_factory=dict)

    _timeout: ClassVar[int] = 600
    _retries: ClassVar[int] = 0
    _required: ClassVar[bool] = True

    def __post_init__(self) -> None:
        Step.__post_init__(self)
        check_name("script", self.title)
        if not Path(self.path).is_file():
            raise InvalidValue(f"script {self.path} is not there, or is no file")
        if not Path(self.path).read_bytes().startswith(b"#!"):
            raise InvalidValue(f"script {self.path} names no program in its first line", "begin it with #!/bin/bash")
        if not self.on:
            raise InvalidValue(f"script {self.path}: on is empty: it would run nowhere", "leave it out for all roles")
        check_whole(f"script {self.path}: every", self.every, low=10, high=86_400)

    @property
    def title(self) -> str:
        """The name of the file without its ending."""
        return re.sub(r"[^A-Za-z0-9]+", "-", Path(self.path).stem).strip("-")

    @property
    def where(self) -> Sequence[Role]:
        """What nodes it runs on are."""
        return self.on

    @property
    def run(self) -> str:
        """Where the file lies beside the runner."""
        return f"own/{Path(self.path).name}"

    def inputs(self, context: Context) -> dict[str, Any]:
        """What the user gives it."""
        del context
        return dict(self.given)

    @property
    def files(self) -> Mapping[str, bytes]:
        """The script."""
        return {self.run: Path(self.path).read_bytes()}

    def encode(self, context: Context) -> dict[str, Any]:
        """How it stands in the file that the runner reads."""
        encoded = {**Step.encode(self, context), "at_boot": self.at_boot}
        return {**encoded, "every": self.every} if self.every else encoded
