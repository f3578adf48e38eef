"""Starts and stops the emulator, and runs the CDK CLI against it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import boto3
import cfnlint

ROOT: Final = Path(__file__).parents[3]
PYTHON: Final = ROOT / ".venv/emulator/bin/python"
CDK: Final = ROOT / ".venv/bin/cdk"
LOOPBACK: Final = "127.0.0.1"
ACCOUNT: Final = "111122223333"
REGION: Final = "us-west-2"
_AT_MOTO: Final = ("FSX", "SAGEMAKER", "SERVICE_QUOTAS")
_PATIENCE_SECONDS: Final = 60


class Aws:
    """One emulated account on the loopback.

    Attributes:
        folder: Journal, log and the CDK's own files.
    """

    def __init__(self, folder: Path) -> None:
        """Chooses free ports."""
        self.folder = folder
        self._gateway, self._moto = _free_port(), _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the emulator and prepares the account for the CDK.

        Raises:
            RuntimeError: if it does not answer.
        """
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "BIND_HOST": LOOPBACK,
            "GATEWAY_PORT": str(self._gateway),
            "SAGEMAKER_PORT": str(self._moto),
            "MINISTACK_ACCOUNT_ID": ACCOUNT,
            "MINISTACK_REGION": REGION,
            "MOTO_ACCOUNT_ID": ACCOUNT,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "IOT_MTLS_ENABLED": "0",  # it would listen on every address of the machine
            "SFTP_ENABLED": "0",
            "TMPDIR": str(self.folder),
            "EMULATOR_JOURNAL": str(self.folder),
            "CFNLINT_SCHEMAS": str(Path(cfnlint.__file__).parent / "data/schemas"),
        }
        with (self.folder / "emulator.log").open("wb") as log:
            self._process = subprocess.Popen(
                [PYTHON, "-m", "tests.proof.emulator.launcher"], cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        self._wait()
        self.cdk("bootstrap", f"aws://{ACCOUNT}/{REGION}")

    def _wait(self) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline and self._process and self._process.poll() is None:
            if all(_listens(port) for port in (self._gateway, self._moto)):
                return
            time.sleep(0.1)
        self.stop()
        raise RuntimeError((self.folder / "emulator.log").read_text())

    def stop(self) -> None:
        """Stops the emulator by its pid and waits until its ports are free."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    @property
    def ports(self) -> tuple[int, int]:
        """Where it listens, on the loopback only."""
        return self._gateway, self._moto

    @property
    def pid(self) -> int:
        """Its process.

        Raises:
            RuntimeError: if it does not run.
        """
        if self._process is None:
            raise RuntimeError("the emulator does not run")
        return self._process.pid

    @property
    def environment(self) -> dict[str, str]:
        """What the CDK CLI, boto3 and `hyperpod` need to talk to it."""
        gateway = f"http://{LOOPBACK}:{self._gateway}"
        return {
            "AWS_ACCESS_KEY_ID": ACCOUNT,
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": gateway,
            "AWS_ENDPOINT_URL_S3": gateway,
            **{f"AWS_ENDPOINT_URL_{service}": f"http://{LOOPBACK}:{self._moto}" for service in _AT_MOTO},
            "CDK_HOME": str(self.folder / "cdk-home"),  # the CLI keeps key and account together there
            "CDK_DISABLE_VERSION_CHECK": "1",
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "CI": "true",
        }

    def cdk(
        self, *arguments: str, app: Path | None = None, settings: Mapping[str, str] | None = None, fails: bool = False
    ) -> str:
        """Runs the CDK CLI; what it prints.

        Args:
            *arguments: Of the CLI.
            app: The app, which reads its settings from the environment.
            settings: Settings of the app.
            fails: Whether it has to fail.

        Raises:
            RuntimeError: with the output, if it passes or fails where it should not.
        """
        given = ["--app", f"{sys.executable} {app}", "--output", str(self.folder / "cdk.out")] if app else []
        done = subprocess.run(
            [CDK, *arguments, *given, "--no-notices"],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **self.environment, **(settings or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        if (done.returncode != 0) != fails:
            raise RuntimeError(f"cdk {' '.join(arguments)} ended with {done.returncode}\n{done.stdout}")
        return done.stdout

    def play(self, *faults: Mapping[str, Any]) -> None:
        """Sets the faults that strike from now on; none without arguments. See `journal`."""
        text = json.dumps(faults)
        file = self.folder / "faults.json"
        # The same fault set again must count anew.
        file.write_text(text if not file.exists() or file.read_text() != text else text + " ")

    def events(self) -> list[dict[str, Any]]:
        """Everything that handlers did, in order; see `Journal.note`."""
        file = self.folder / "events.jsonl"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def client(self, service: str) -> Any:  # clients of boto3 have no static type
        """A client of this account."""
        port = self._moto if service == "sagemaker" else self._gateway
        return boto3.client(
            service,
            region_name=REGION,
            endpoint_url=f"http://{LOOPBACK}:{port}",
            aws_access_key_id=ACCOUNT,
            aws_secret_access_key="test",
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0
