"""Examples of rules: for each what draws it, and the same with the mistake mended.

`HP1013.yaml` holds two templates (or create-cluster requests) with a line `---` between them. `HP1107.py` is for what
only Python knows, such as the count of a training plan: a `groups = [...]` below `# fails`, another below `# passes`.
A first line `# region: us-west-2` says where the stack is, if that matters. A rule that can be shown in neither way is
in `NOT_SHOWN` with the reason, which its page prints.

Only pages and tests read these, through importlib.resources: a check neither imports this module nor opens a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal

from hyperpod_constructs import rules
from hyperpod_constructs.findings import Finding
from hyperpod_constructs.model import template
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.chart import Chart
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.model.orchestration import Slurm

NOT_SHOWN: Final = {
    "HP0000": "no template draws it: it stands for a check that broke off, or for the app's own refusal.",
    "HP0017": "no template says which account its stack is in; the manifest of a cdk.out does.",
    "HP0103": "it is not about a template, but about another file in the folder that is checked.",
    "HP1019": "what mends it is another Region: the template stays as it is.",
    "HP5013": "it is about a file among the scripts; the assets of a cdk.out have it, a template does not.",
    "HP5014": "it is about a file among the scripts; the assets of a cdk.out have it, a template does not.",
    "HP3035": "no template says which Region its stack is in; the manifest of a cdk.out does.",
    "HP7020": "no template says which account its stack is in; the manifest of a cdk.out does.",
}
"""Why a rule has no example."""

REGION: Final = "us-west-2"
"""Where groups of Python examples are, unless they say otherwise."""
_ZONE: Final = "usw2-az2"
_REGION_LINE: Final = re.compile(r"# region: (\S+)\n")
_PYTHON: Final = re.compile(
    r"(?P<before>.*?)^# fails\n(?P<fails>.*?)^# passes\n(?P<passes>.*)", re.DOTALL | re.MULTILINE
)
_BETWEEN: Final = re.compile(r"^---\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One rule, broken and kept.

    Attributes:
        language: What the parts are written in.
        region: Region of the stack; `None` where it does not matter.
        before: What both parts of a Python example need to run, such as imports.
        fails: What draws the rule.
        passes: The same with the mistake mended.
    """

    language: Literal["yaml", "python"]
    region: str | None
    before: str
    fails: str
    passes: str

    @property
    def file(self) -> str:
        """What the file is called in which the parts of a YAML example are checked."""
        return "template.yaml" if re.search(r"^Resources:", self.fails, re.MULTILINE) else "request.yaml"

    def findings(self, part: str) -> list[Finding]:
        """What every rule has to say about a part."""
        return rules.check(self._read(part) if self.language == "yaml" else self._run(part))

    def _read(self, part: str) -> Deployment:
        with TemporaryDirectory() as folder:
            path = Path(folder, self.file)
            path.write_text(part, encoding="utf-8")
            return template.read(path, self.region)

    def _run(self, part: str) -> Deployment:
        names: dict[str, Any] = {}
        exec(self.before + part, names)  # noqa: S102  # a file of this package
        return _deployment(names.get("groups", []), self.region or REGION, tuple(names.get("charts", [])))


def read(rule: str) -> Example | None:
    """The example of a rule; `None` where it has none.

    Args:
        rule: Id such as `HP1013`.

    Raises:
        ValueError: if the file does not have two parts.
    """
    for suffix, parse in ((".yaml", _yaml), (".py", _python)):
        file = resources.files(__name__) / (rule + suffix)
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            match = _REGION_LINE.match(text)
            region, text = (match[1], text[match.end() :]) if match else (None, text)
            return parse(text, region, file.name)
    return None


def _yaml(text: str, region: str | None, name: str) -> Example:
    match _BETWEEN.split(text):
        case [fails, passes]:
            return Example(language="yaml", region=region, before="", fails=fails, passes=passes)
        case parts:
            raise ValueError(f"{name} has {len(parts)} YAML documents; write two with a line --- between them")


def _python(text: str, region: str | None, name: str) -> Example:
    sections = _PYTHON.fullmatch(text)
    if sections is None:
        raise ValueError(f"{name} lacks a line '# fails' and, below it, a line '# passes'")
    return Example(language="python", region=region, **sections.groupdict())


def _deployment(groups: list[InstanceGroup], region: str, charts: tuple[Chart, ...]) -> Deployment:
    """These groups in a Slurm cluster that has nothing wrong, with a controller even if they have none; and charts."""
    controllers = [group for group in groups if group.node_type == "Controller"]
    cluster = Cluster(
        path="Train",
        name="train",
        groups=(*([] if controllers else [InstanceGroup.controller("ml.m5.4xlarge")]), *groups),
        orchestrator=Slurm(),
        provisioning="Continuous",
        placement=VpcPlacement(subnets=("Nodes",), security_groups=("sg-0123456789abcdef0",)),
        account="111122223333",
        region=region,
    )
    zone = _ZONE if region == REGION else None
    return Deployment(
        clusters=(cluster,), subnets=(Subnet(path="Nodes", zone=zone, cidr="10.1.0.0/17"),), charts=charts
    )
