"""What tests of the command share: templates to read, and the command run in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.cli import main
from hyperpod_constructs.findings import Finding, Severity

CLUSTER = """\
Resources:
  Train:
    Type: AWS::SageMaker::Cluster
    Properties:
      ClusterName: train
      NodeProvisioningMode: Continuous
      Orchestrator: {Slurm: {}}
      VpcConfig:
        SecurityGroupIds: [sg-0123456789abcdef0]
        Subnets: [subnet-0123456789abcdef0]
      InstanceGroups:
        - InstanceGroupName: controller
          InstanceType: ml.m5.4xlarge
          InstanceCount: 1
          ExecutionRole: arn:aws:iam::111122223333:role/nodes
          SlurmConfig: {NodeType: Controller}
        - InstanceGroupName: p5
          InstanceType: ml.p5.48xlarge
          InstanceCount: 4
          ExecutionRole: arn:aws:iam::111122223333:role/nodes
          SlurmConfig: {NodeType: Compute, PartitionNames: [train]}
"""
"""A small Slurm cluster in a network that is not part of the template."""

BAD_LUSTRE = """\
Resources:
  Scratch:
    Type: AWS::FSx::FileSystem
    DeletionPolicy: RetainExceptOnCreate
    UpdateReplacePolicy: Retain
    Properties:
      FileSystemType: LUSTRE
      StorageCapacity: 3000
      SubnetIds: [subnet-0123456789abcdef0]
      LustreConfiguration: {DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 250}
"""
"""A file system of a size that cannot be bought: HP3001, an error."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a run left behind."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:  # whatever the JSON holds
        """Standard output as JSON."""
        return json.loads(self.out)


Run: TypeAlias = Callable[..., Result]
Says: TypeAlias = Callable[..., None]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, **files: str) -> Result:
        """Writes files (`train_yaml` becomes `train.yaml`), then runs the command."""
        for name, text in files.items():
            Path(name.replace("_", ".")).write_text(text, encoding="utf-8")
        capsys.readouterr()
        code = main(arguments)
        said = capsys.readouterr()
        return Result(code, said.out, said.err)

    return run


@pytest.fixture
def rules_say(monkeypatch: pytest.MonkeyPatch) -> Says:
    """Puts findings in the place of what the rules find."""

    def rules_say(*findings: Finding) -> None:
        monkeypatch.setattr(rules, "check", lambda _: list(findings))

    return rules_say


def finding(severity: Severity = Severity.ERROR, **fields: Any) -> Finding:  # fields of Finding
    """A finding about the group `p5` of `train.yaml`."""
    defaults: dict[str, Any] = {
        "rule": "HP1001",
        "severity": severity,
        "path": "train.yaml/Train/p5",
        "message": "34 instances on a plan of 32",
        "fix": "use count=30",
        "source": "SageMaker developer guide",
        "file": "train.yaml",
        "line": 17,
    }
    return Finding(**{**defaults, **fields})


def assembly(folder: Path, template: Mapping[str, object], **files: object) -> Path:
    """Writes a `cdk.out` with one stack `Train` in us-west-2.

    Args:
        folder: Where to write it.
        template: The template of the stack.
        **files: Further JSON files; `validation_report` becomes `validation-report.json`.
    """
    properties = {"templateFile": "Train.template.json", "stackName": "train"}
    stack = {
        "type": "aws:cloudformation:stack",
        "environment": "aws://111122223333/us-west-2",
        "properties": properties,
        "displayName": "Train",
        **({"additionalMetadataFile": "Train.metadata.json"} if "Train.metadata" in files else {}),
    }
    written = {
        "manifest": {"version": "50.0.0", "artifacts": {"Train": stack}},
        "Train.template": template,
        **{name.replace("_", "-"): content for name, content in files.items()},
    }
    folder.mkdir()
    for name, content in written.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder
