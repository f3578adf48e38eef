"""Installs what Slurm runs before and after each job: a look at the accelerators, and scratch space on local NVMe.

The supported way is a file in the folders that HyperPod's slurm.conf names, prolog.d and epilog.d; slurm.conf belongs
to the service. A job finds its folder at SCRATCH/jobs/$SLURM_JOB_ID. A prolog cannot set TMPDIR for the job, so whoever
wants it there says so in the job file.
"""

from __future__ import annotations

import glob
import re
import shlex
from pathlib import Path

from hyperpod_node import host

SCRIPTS = Path(__file__).resolve().parent.parent / "jobs"
SLURM = Path("/opt/slurm/etc")
CONF = "/etc/hyperpod-jobs.conf"
DISKS = ("/opt/dlami/nvme", "/opt/sagemaker")
GPU_JOBS = "/run/hyperpod/gpu-jobs"
"""Where an exporter of GPU metrics looks for the job of a GPU; written to only if somebody made it."""


def work(step: host.Step) -> None:
    """Writes the scripts and what they need to know of this group."""
    group = step.groups[step.group]
    disks = [Path(disk).resolve() for disk in step.inputs.get("scratch", DISKS)]
    known = {
        "kind": group.get("kind") or "",
        "accelerators": group.get("accelerators") or 0,
        "patience": step.inputs.get("patience", 30),
        "scratch": next((disk for disk in disks if host.is_mounted(disk)), ""),
        "gpu_jobs": step.inputs.get("gpu_jobs", GPU_JOBS),
    }
    changed = host.write(CONF, "".join(f"{key}={shlex.quote(str(value))}\n" for key, value in known.items()))
    for name in ("prolog", "epilog"):
        text = (SCRIPTS / f"{name}.sh").read_text(encoding="utf-8")
        changed = host.write(SLURM / f"{name}.d" / "90-hyperpod.sh", text, 0o755) or changed
    if changed:
        where = f"{known['scratch']}/jobs" if known["scratch"] else "none: no local disk is mounted"
        host.say(f"checks {known['accelerators']} accelerators before each job; scratch folders: {where}")
    _warn_if_not_run()


def _warn_if_not_run() -> None:
    """Says what to do if Slurm does not run the scripts."""
    try:
        config = host.slurm("scontrol", "show", "config")
    except host.NotYet:
        return  # a node may come up before its controller; the scripts are in place
    for name in ("Prolog", "Epilog"):
        script, patterns = f"{SLURM}/{name.lower()}.d/90-hyperpod.sh", settings(config, name)
        if not any(Path(script).samefile(found) for pattern in patterns for found in glob.glob(pattern)):  # noqa: PTH207  # as Slurm does
            host.say(
                f"warning: Slurm does not run {script}: {name} is {', '.join(patterns) or 'not set'}. HyperPod sets it "
                f"to {SLURM}/{name.lower()}.d/* where its default software is installed first (OnInitComplete, AMI of "
                "January 2026 or newer); slurm.conf is the service's and is not edited here"
            )


def settings(config: str, name: str) -> list[str]:
    """The values of a setting, of which newer versions list several as `Prolog[0]`, `Prolog[1]`."""
    found = re.findall(rf"^{name}(?:\[\d+\])? *= *(.*?) *$", config, re.MULTILINE)
    return [value for value in found if value != "(null)"]


if __name__ == "__main__":
    host.main(work)
