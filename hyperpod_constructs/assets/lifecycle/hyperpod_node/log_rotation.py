"""Rotates the logs of Slurm and of these steps, so that they never fill the root disk."""

from __future__ import annotations

import fnmatch
import re
import tempfile
from pathlib import Path

from hyperpod_node import host

LOGS = ("slurm/*.log", "slurm*.log", "hyperpod/*.log")
RULES = Path("/etc/logrotate.d")
MINE = "hyperpod"
_RULE = """{logs} {{
    daily
    rotate {days}
    maxage {days}
    maxsize {megabytes}M
    missingok
    notifempty
    create
    compress
    delaycompress
    sharedscripts
    postrotate
        for daemon in slurmctld slurmd slurmdbd; do pkill -x --signal SIGUSR2 "$daemon" || true; done
    endscript
}}
"""


def work(step: host.Step) -> None:
    """Writes the rule for the logs that are there and that no other rule rotates."""
    others = "\n".join(
        path.read_text(errors="replace") for path in sorted(RULES.glob("*")) if path.is_file() and path.name != MINE
    )
    logs = unrotated([str(path) for pattern in LOGS for path in Path("/var/log").glob(pattern)], others)
    if not logs:
        host.remove(RULES / MINE)
        host.say("there is no log yet that nothing else rotates")
        return
    text = _RULE.format(logs="\n".join(logs), days=step.inputs["days"], megabytes=step.inputs["megabytes"])
    with tempfile.TemporaryDirectory() as folder:
        host.write(Path(folder, MINE), text)
        host.run("logrotate", "--debug", "--state", Path(folder, "state"), Path(folder, MINE))
    if host.write(RULES / MINE, text):
        host.say(f"rotated from now on: {', '.join(logs)}")


def unrotated(logs: list[str], rules: str) -> list[str]:
    """The logs that other rules do not name: logrotate refuses a log that two rules name."""
    named = re.findall(r'^\s*"?(/[^\s"{]+)|(?<=\s)"?(/[^\s"{]+)(?=[^\n]*\{)', rules, re.MULTILINE)
    patterns = [one or other for one, other in named]
    return sorted({log for log in logs if not any(fnmatch.fnmatch(log, pattern) for pattern in patterns)})


if __name__ == "__main__":
    host.main(work)
