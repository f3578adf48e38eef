"""`make bench`: this library against bare L1 resources, `hyperpod` against a bare Python, as ratios within one run.

Prints a markdown table and the same as JSON.
"""

from __future__ import annotations

import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hyperpod_constructs import rules
from hyperpod_constructs.model import template
from tools.bench.measure import PAIRS, ROOT, Row, compared, messages, peak_mib, run

_L1: Final = "tools/bench/l1_app.py"
_CLUSTERS: Final = "tools/bench/clusters.py"
_NUMBERS: Final = (1, 10, 50)
_ENGINE: Final = {"on": {}, "off": {"CDK_VALIDATION": "false"}}
_NODE: Final = {"JSII_NODE": str(Path(sys.executable).parent / "node")}


def of_one_app(folder: Path) -> Iterator[Row]:
    """app.py against the same resources as bare L1s: the script, under the CLI, and in messages to Node."""
    python, cdk = sys.executable, str(Path(sys.executable).parent / "cdk")
    _synthesized([python, "app.py"], folder)
    theirs = [python, _L1, str(folder)]
    with tempfile.TemporaryDirectory() as other:
        _synthesized(theirs, Path(other))
        _must_be_the_same(_types(folder), _types(Path(other)))
    for word, engine in _ENGINE.items():
        environment = {**_NODE, **engine}
        yield compared(f"app.py over L1, engine {word}", run([python, "app.py"], environment), run(theirs, environment))
    with tempfile.TemporaryDirectory() as output:
        synth = [cdk, "synth", "--quiet", "--no-notices", "--output", output, "--app"]
        cli = {**_NODE, "CI": "true", "CDK_DISABLE_VERSION_CHECK": "1", "CDK_DISABLE_CLI_TELEMETRY": "true"}
        ours = run([*synth, f"{python} app.py"], cli)
        yield compared("cdk synth of app.py over L1", ours, run([*synth, " ".join(theirs)], cli))
    counted, bare = messages(["app.py"], _NODE), messages([_L1, str(folder)], _NODE)
    yield Row(what="messages to Node, app.py over L1", unit="messages", ours=counted, theirs=bare)


def of_many_clusters(folder: Path) -> Iterator[Row]:
    """1, 10 and 50 clusters in one app, against the same as bare L1s: time, memory, and how both grow."""
    rows = {}
    for number in _NUMBERS:
        finished = folder / str(number)
        ours = [sys.executable, _CLUSTERS, str(number)]
        _synthesized(ours, finished)
        theirs = [sys.executable, _L1, str(finished)]
        rows[number] = compared(f"{number} clusters over L1", run(ours, _NODE), run(theirs, _NODE))
        yield rows[number]
        peak, bare = peak_mib(ours, _NODE), peak_mib(theirs, _NODE)
        yield Row(what=f"memory of {number} clusters over L1", unit="MiB", ours=peak, theirs=bare)
    few, many = rows[_NUMBERS[1]], rows[_NUMBERS[2]]
    more = _NUMBERS[2] - _NUMBERS[1]
    yield Row(
        what="one more cluster over L1",
        unit="s",
        ours=(many.ours - few.ours) / more,
        theirs=(many.theirs - few.theirs) / more,
    )
    yield Row(
        what="growth from 10 to 50 clusters (time goes with this power of their number)",
        unit="",
        ours=_power(few.ours, many.ours),
        theirs=_power(few.theirs, many.theirs),
    )


def _power(few: float, many: float) -> float:
    """The power of the number of clusters that time goes with; 1 is linear."""
    return math.log(many / few) / math.log(_NUMBERS[2] / _NUMBERS[1])


def of_commands(folder: Path) -> Iterator[Row]:
    """Cold starts of the commands against a bare Python that can parse arguments."""
    bare = run([sys.executable, "-c", "import argparse"], {})
    for arguments in (["check", str(folder)], ["cost", str(folder)], ["summary", str(folder)], ["rules", "HP3001"]):
        ours = run([sys.executable, "-m", "hyperpod_constructs.cli", *arguments], {})
        yield compared(f"hyperpod {arguments[0]} over import argparse", ours, bare)


def of_many_files(folder: Path) -> Row:
    """A check of 100 copies of the largest template, against four times that of 25 copies."""
    largest = max(folder.glob("*.template.json"), key=lambda file: file.stat().st_size)
    return compared(
        "check of 100 copies over 4 times 25", lambda: _checked(largest, 100), lambda: 4 * _checked(largest, 25)
    )


def _checked(file: Path, copies: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(copies):
            shutil.copy(file, Path(folder, f"{number}.json"))
        start = time.perf_counter()
        rules.check(template.read(folder))
        return time.perf_counter() - start


def _types(folder: Path) -> Counter[str]:
    """How many resources of each type the templates of a folder have."""
    templates = [json.loads(file.read_text()) for file in folder.glob("*.template.json")]
    found = Counter(each["Type"] for template in templates for each in template["Resources"].values())
    del found["AWS::CDK::Metadata"]
    return found


def _must_be_the_same(ours: Counter[str], theirs: Counter[str]) -> None:
    if ours != theirs:
        raise RuntimeError(f"the bare app lacks {dict(ours - theirs)} and has {dict(theirs - ours)} besides")


def _synthesized(command: list[str], folder: Path) -> None:
    environment = {**os.environ, **_NODE, "CDK_OUTDIR": str(folder)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)


def main() -> None:
    """Prints the table, then the same as JSON."""
    with tempfile.TemporaryDirectory() as temporary:
        app, clusters = Path(temporary, "app"), Path(temporary, "clusters")
        rows = [*of_one_app(app), *of_many_clusters(clusters), *of_commands(app), of_many_files(app)]
    machine = f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores"
    print(f"{machine}, medians of {PAIRS} interleaved pairs\n")
    print("| what | ours | theirs | ratio |\n| --- | --- | --- | --- |", *rows, sep="\n")
    print("\n" + json.dumps({"machine": machine, "pairs": PAIRS, "rows": [row.as_data() for row in rows]}))


if __name__ == "__main__":
    main()
