"""Installs what Slurm runs before and after each job: a look at the accelerators, and scratch space on local NVMe.

The supported way is a file in the folders that HyperPod's slurm.conf names, prolog.d and epilog.d; slurm.conf belongs
to the service. A job finds its folder at SCRATCH/jobs/$SLURM_JOB_ID. A prolog cannot set TMPDIR for the job, so whoever
wants it there says so in the job file.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import secrets
import shlex
import stat
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
    disk = next((disk for disk in disks if host.is_mounted(disk)), None)
    known = {
        "kind": group.get("kind") or "",
        "accelerators": group.get("accelerators") or 0,
        "patience": step.inputs.get("patience", 30),
        "scratch": disk or "",
        "gpu_jobs": step.inputs.get("gpu_jobs", GPU_JOBS),
    }
    changed = host.write(CONF, "".join(f"{key}={shlex.quote(str(value))}\n" for key, value in known.items()))
    for name in ("prolog", "epilog"):
        text = (SCRIPTS / f"{name}.sh").read_text(encoding="utf-8")
        changed = host.write(SLURM / f"{name}.d" / "90-hyperpod.sh", text, 0o755) or changed
    if changed:
        where = f"{known['scratch']}/jobs" if known["scratch"] else "none: no local disk is mounted"
        host.say(f"checks {known['accelerators']} accelerators before each job; scratch folders: {where}")
    if disk:
        try:
            _make_scratch(disk)
            _tidy(disk / "jobs")
        except OSError as error:
            raise host.Failure(f"{disk}/jobs cannot be used: {error.strerror}") from error
    _warn_if_not_run()


def _make_scratch(disk: Path) -> None:
    """Makes the folder of root's in which jobs get theirs, before a user can make one of that name."""
    if stat.filemode(disk.stat().st_mode).endswith("wx"):  # not `wt`
        host.say(f"warning: everybody may rename what others have on {disk}: `chmod +t {disk}`")
    jobs = disk / "jobs"
    for _ in range(2):
        with contextlib.suppress(FileExistsError):
            jobs.mkdir(mode=0o711)
        with contextlib.suppress(OSError):  # of a link, for one
            handle = os.open(str(jobs), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(handle).st_uid == 0:
                    os.fchmod(handle, 0o711)
                    return
            finally:
                os.close(handle)
        aside = disk / f"jobs.{secrets.token_hex(8)}"
        jobs.rename(aside)
        host.say(f"warning: {jobs} was not root's and is now {aside}; take it away when nobody needs it")
    raise host.Failure(f"somebody puts {jobs} in the way again and again: see who may write to {disk}")


def _tidy(jobs: Path) -> None:
    """Takes away what jobs have left that lost their node or controller, if Slurm answers that it has no such job."""
    left = [each.name for each in jobs.iterdir() if each.name.isdigit()]  # before Slurm is asked: a job may start now
    with contextlib.suppress(host.Failure):
        known = host.slurm("squeue", "--noheader", "--states=all", "--format=%A").split() if left else []
        for job in set(left).difference(known):
            (jobs / job).rename(jobs / f".gone-{job}-{secrets.token_hex(4)}")
    with contextlib.suppress(host.Failure):  # what takes long goes on at the next run
        gone = [each for each in jobs.iterdir() if each.name.startswith(".gone-")]
        if gone:
            host.run("rm", "-rf", "--one-file-system", "--", *gone, timeout=60)


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
