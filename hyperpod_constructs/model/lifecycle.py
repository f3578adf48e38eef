"""Scripts that run on a new node."""

from __future__ import annotations

from dataclasses import dataclass

from hyperpod_constructs.tokens import Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFile:
    """One file of a script directory.

    Attributes:
        name: Path relative to the directory, with forward slashes.
        carriage_returns: Whether any line ends in CR LF, which a Linux shell refuses.
    """

    name: str
    carriage_returns: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """Where the scripts of a group lie and which one is called.

    Attributes:
        source_uri: `s3://bucket/prefix`, or its known beginning followed by `*` where the rest is decided at deploy.
        on_create: Script that provisions the node instead of HyperPod (customer managed).
        on_init_complete: Script that runs after HyperPod's own provisioning (extended).
        files: What lies there, where the directory is at hand; `None` where it is not.
    """

    source_uri: str | Unknown | None = None
    on_create: str | Unknown | None = None
    on_init_complete: str | Unknown | None = None
    files: tuple[ScriptFile, ...] | None = None
