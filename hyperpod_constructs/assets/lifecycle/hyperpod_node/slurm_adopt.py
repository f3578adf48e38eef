"""Lets people log in to a compute node only while they have a job there, and makes what they start part of that job.

pam_slurm_adopt does both where the image has it and Slurm is set up for it. With Slurm set up otherwise it would shut
everybody out, so it is left off then, or taken away again.
"""

from __future__ import annotations

import re
from pathlib import Path

from hyperpod_node import host

_PAM = Path("/etc/pam.d/sshd")
_SESSION, _OWN_SESSION = Path("/etc/pam.d/common-session"), Path("/etc/pam.d/hyperpod-session")
_ADMINS = Path("/etc/security/hyperpod-admins")
_FOLDERS = ("lib/*/security", "lib/security", "usr/lib64/security", "opt/slurm/lib*/security")
_BEGIN, _END = "# hyperpod: people with a job here, and admins", "# hyperpod: end"
_BLOCK = re.compile(f"^{re.escape(_BEGIN)}$.*?^{re.escape(_END)}$\n", re.MULTILINE | re.DOTALL)
_INCLUDE = re.compile(r"^@include (common|hyperpod)-session$", re.MULTILINE)
_NEEDED = {"PrologFlags": "Contain", "ProctrackType": "proctrack/cgroup"}


def work(step: host.Step) -> None:
    """Puts the module into the account stack of sshd, or takes it away."""
    module = next((path for each in _FOLDERS for path in Path("/").glob(f"{each}/pam_slurm_adopt.so")), None)
    why = _unfit(module) if step.inputs.get("enabled", True) else "so it was asked for"
    try:
        before = _PAM.read_text(encoding="utf-8")
    except OSError as error:
        raise host.Mistake(f"{_PAM} cannot be read ({error.strerror}): this image has no sshd with PAM") from None
    if module and not why:
        admins = ["root", step.inputs.get("admin_group") or "root"]
        host.write(_ADMINS, "".join(f"{group}\n" for group in admins))
        own_session = _write_session()  # what the stack refers to is there before it
        changed = host.write(_PAM, with_module(before, module, own_session=own_session))
        if not _has("TaskPlugin", "task/cgroup"):
            host.say("warning: TaskPlugin has no task/cgroup: logins do not keep to the memory and devices of the job")
        host.say("this node is now open only to people with a job here" if changed else "nothing to do")
        return
    changed = host.write(_PAM, without_module(before))
    for path in (_ADMINS, _OWN_SESSION):
        host.remove(path)
    if step.inputs.get("enabled", True):
        host.say(f"warning: everybody with an account may log in to this node: {why}")
    else:
        host.say("everybody with an account may log in to this node again" if changed else "nothing to do")


def _unfit(module: Path | None) -> str:
    """Why the module must stay off."""
    if not module:
        return "this image has no pam_slurm_adopt; use an image that was built with it, for the same Slurm"
    missing = [f"{name}={value}" for name, value in _NEEDED.items() if not _has(name, value)]
    if not missing:
        return ""
    where = "in slurm.conf on the controller, where Continuous clusters and the strategy Merge keep additions"
    return f"Slurm runs without {' and '.join(missing)}; set it {where}, and run this step again"


def _has(name: str, value: str) -> bool:
    return value.lower() in host.setting(name).lower().split(",")


def _write_session() -> bool:
    """A session stack without systemd, which would move a login out of its job; whether it is needed."""
    text = _SESSION.read_text(encoding="utf-8") if _SESSION.exists() else ""
    # Replaced, not left out: other lines may count how many they skip.
    own = re.sub(r"^(-?session\s+).*pam_systemd\.so.*$", r"\1optional pam_permit.so", text, flags=re.MULTILINE)
    if own == text:
        return False
    host.write(_OWN_SESSION, own)
    return True


def with_module(pam: str, module: Path, *, own_session: bool) -> str:
    """The text of a PAM file with our lines ahead of its account stack.

    Ahead, because a line such as `sufficient pam_localuser.so` ends the stack before what follows. Admins are listed
    for pam_listfile, which lets nobody through if its list cannot be read; they skip our module and nothing else.
    """
    lines: list[str] = without_module(pam).splitlines(keepends=True)
    at = next((n for n, line in enumerate(lines) if re.match(r"-?account\s|@include\s+common-account", line)), None)
    if at is None:
        raise host.Mistake(f"{_PAM} has no account stack: the module cannot be put in")
    listed = (
        f"account [success=1 default=ignore] pam_listfile.so item=group sense=allow onerr=fail quiet file={_ADMINS}"
    )
    lines[at:at] = [f"{line}\n" for line in (_BEGIN, listed, f"account required {module}", _END)]
    return _INCLUDE.sub("@include hyperpod-session", "".join(lines)) if own_session else "".join(lines)


def without_module(pam: str) -> str:
    """The text of a PAM file without our lines."""
    return _INCLUDE.sub("@include common-session", _BLOCK.sub("", pam))


if __name__ == "__main__":
    host.main(work)
