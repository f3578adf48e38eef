"""A chart of ours, as small as one can be that has what AWS's has: charts of its own, remote ones, one packed."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping
from typing import Final

COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"
FOLDER: Final = "charts/Small"
DEPLOYMENT: Final = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: kube-system}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers:
        - {{name: main, image: "{image}"}}
"""


def chart_yaml(name: str, version: str, *dependencies: str) -> bytes:
    """A Chart.yaml; dependencies are lines of YAML such as `{name: agent, version: 0.1.0}`."""
    lines = ["apiVersion: v2", f"name: {name}", f"version: {version}"]
    if dependencies:
        lines += ["dependencies:", *(f"- {each}" for each in dependencies)]
    return ("\n".join(lines) + "\n").encode()


def one(name: str, version: str, image: str, *dependencies: str) -> dict[str, bytes]:
    """A chart with one Deployment of one image."""
    return {
        "Chart.yaml": chart_yaml(name, version, *dependencies),
        "templates/deployment.yaml": DEPLOYMENT.format(name=name, image=image).encode(),
    }


def below(folder: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Files in a folder."""
    return {f"{folder}/{name}": content for name, content in files.items()}


def complete() -> dict[str, bytes]:
    """A chart that needs nothing else: its agent lies in `charts/` as a folder of another name, its plugin packed."""
    needs = ("{name: agent, version: 0.1.0, repository: 'file://charts/an-agent'}", "{name: plugin, version: ~1.2}")
    return {
        **one("small", "0.1.0", "registry.k8s.io/nfd/node-feature-discovery:v0.17.0", *needs),
        **below("charts/an-agent", one("agent", "0.1.0", AGENT)),
        "charts/plugin-1.2.3.tgz": packed(below("plugin", one("plugin", "1.2.3", "nvcr.io/nvidia/plugin:v1"))),
        "templates/NOTES.txt": b"Thanks: [for installing",
        "values.yaml": b"{}\n",
    }


AGENT: Final = "767398015722.dkr.ecr.{{ .Values.global.region }}.amazonaws.com/agent:1.0"


def packed(files: Mapping[str, bytes], *odd: tarfile.TarInfo) -> bytes:
    """An archive of some files, and of members without content such as links."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in odd:
            archive.addfile(member)
    return gzip.compress(written.getvalue(), mtime=0)


def sha256(data: bytes) -> str:
    """The hash of an archive."""
    return hashlib.sha256(data).hexdigest()
