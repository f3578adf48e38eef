"""Waits for the shared file systems that the service mounts, proves that they can be used, and tunes the Lustre client.

What FSx recommends for large clients is set here again at every boot, because `lctl set_param` does not last.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import select
import shutil
import signal
import socket
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

from hyperpod_node import host

TYPES = {"lustre": ("lustre",), "openzfs": ("nfs4", "nfs")}
PORTS = {"lustre": (988, "TCP 988 and 1018-1023"), "openzfs": (2049, "TCP 111, 2049 and 20001-20003")}
PROBE_SECONDS = 30
PROBE_BYTES, PROOF_BYTES, CHUNK = 4096, 4 << 20, 128 << 10
"""What the probe writes, and what proves EFA: little, for thousands of nodes may boot at once, and in chunks that each
go out alone, so that messages enough tell the data from what LNet says for itself."""
LOW_PERCENT = 10
LARGE = 64
"""More GiB of memory, or more CPUs, than this makes a client large."""
OPTIONS = Path("/etc/modprobe.d")
_BROKEN = (errno.EIO, errno.ENOTCONN, errno.ESHUTDOWN, errno.ESTALE)
"""What another node may cure. Everything else would meet the next node too, and stay as it is."""
_WHY = {
    errno.ENOSPC: "it is full (lfs df -h, lfs df -i): delete files or give it more capacity",
    errno.EDQUOT: "the quota of root is used up: raise it (lfs quota, lfs setquota)",
    errno.EROFS: "it is mounted read-only: see dmesg, and the mount options",
    errno.EIO: "input/output error: see dmesg, and the state of the file system in FSx",
    errno.ENOTCONN: "the client has lost its servers: see dmesg, and the state of the file system in FSx",
    errno.ESHUTDOWN: "the servers have thrown this client out: see dmesg, and the state of the file system in FSx",
    errno.ESTALE: "the file system that was mounted here is gone: mount the new one",
    errno.EACCES: "root squash covers this node: homes there need an exception for it (no_root_squash, NoSquashNids)",
    errno.EPERM: "root squash covers this node: homes there need an exception for it (no_root_squash, NoSquashNids)",
}


def work(step: host.Step) -> None:
    """Checks each mount of this node's group."""
    given = step.inputs["mounts"]
    mounts: list[dict[str, Any]] = given.get(step.group, []) if isinstance(given, dict) else given
    wait = float(step.inputs.get("wait", 300))
    deadline = time.monotonic() + wait
    for mount in mounts:
        _await(mount, deadline, wait)
    if any(mount["kind"] == "lustre" for mount in mounts):
        try:
            tune(os.cpu_count() or 1, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30))
        except (OSError, host.Failure) as error:
            host.say(f"warning: the Lustre client stays as it is: {error}")
    adapters = step.groups[step.group].get("efa") != 0  # a controller has none
    for mount in mounts:
        _try(mount["path"], efa=bool(mount.get("efa")) and adapters)


def _await(mount: dict[str, Any], deadline: float, wait: float) -> None:
    """Waits until the right file system is mounted."""
    path, kind, name = mount["path"], mount["kind"], mount.get("mount_name")
    while True:
        found = host.mount_at(path)
        if found and found[2] in TYPES[kind]:
            break
        if found and found[2] == "autofs":
            guarded(lambda: str(os.open(path, os.O_RDONLY | os.O_DIRECTORY)), PROBE_SECONDS)  # mounted when touched
        if time.monotonic() > deadline:
            there = f"{found[2]} from {found[0]} is" if found else "nothing is"
            raise host.Failure(f"{path}: after {wait:.0f} s {there} mounted there, not {kind}: {_look(mount)}")
        time.sleep(1)
    if name and kind == "lustre" and found[0].rpartition(":/")[2] != name:
        raise host.Mistake(
            f"{path} is {found[0]}, whose mount name is not {name!r}: this node was made for another file system; "
            "changed mounts reach nodes that are made anew"
        )


def _look(mount: dict[str, Any]) -> str:
    """What to look at when a mount does not come, as far as this node can see it."""
    port, ports = PORTS[mount["kind"]]
    name = f" (mount name {mount['mount_name']})" if mount.get("mount_name") else ""
    everything = (
        f"look at the security groups ({ports}, both ways), the DNS (custom resolvers must forward *.amazonaws.com to "
        f"the resolver of the VPC), the mount name{name} and the state of the file system in FSx"
    )
    dns = mount.get("dns_name")
    seen = guarded(lambda: _reach(dns, port), PROBE_SECONDS) if dns else ""
    return f"{seen}; {everything}" if seen else everything


def _reach(dns: str, port: int) -> str:
    try:
        address = socket.getaddrinfo(dns, port, type=socket.SOCK_STREAM)[0][4]
    except OSError:
        return f"{dns} does not resolve here"
    try:
        socket.create_connection((str(address[0]), port), timeout=5).close()
    except OSError as error:
        return f"{dns} is {address[0]}, and its port {port} does not answer ({error})"
    return f"{dns} answers on port {port}"


def guarded(what: Callable[[], str], seconds: float) -> str:
    """What a function says, or that it hangs: it runs in a child, because a dead mount stops whoever touches it."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(theirs, what().encode())
        finally:
            os._exit(0)
    os.close(theirs)
    try:
        if not select.select([ours], [], [], seconds)[0]:
            os.kill(child, signal.SIGKILL)
            return f"no answer within {seconds:.0f} s"
        return os.read(ours, 4096).decode()
    finally:
        os.close(ours)
        os.waitpid(child, os.WNOHANG)  # a child that hangs in the kernel does not end, and is left behind


def _try(path: str, *, efa: bool) -> None:
    """Writes, renames and deletes a file of this node's; warns of what is not as it should be."""
    said = guarded(lambda: probe(Path(path), PROBE_BYTES), PROBE_SECONDS)
    if said.startswith("warning:"):
        host.say(said)  # a node that is made anew would find the same
        return
    if not said.isdigit():
        raise host.Failure(f"{path} cannot be used: {said or 'the probe died'}")
    if int(said) < LOW_PERCENT:
        host.say(f"warning: {path} has {said} % free; a full file system fails every job that writes")
    if efa:
        _prove(path)


def _prove(path: str) -> None:
    """Warns unless what is written goes over EFA."""
    before = sent(_lnet())
    said = guarded(lambda: probe(Path(path), PROOF_BYTES), PROBE_SECONDS)
    if said.isdigit():
        said = fallback(path, before, sent(_lnet())) or ""
    else:
        said = f"warning: whether {path} is reached over EFA could not be tried: {said or 'the probe died'}"
    if said:
        host.say(said)


def probe(folder: Path, size: int) -> str:
    """Percent of the file system that is free, a warning, or why it cannot be used.

    Names are by chance, for where users may write, they may also be there before us.
    """
    prefix = f".hyperpod-{socket.gethostname()}-"
    try:
        try:
            handle, mine = tempfile.mkstemp(dir=str(folder), prefix=prefix)
            try:
                for _ in range(0, size, CHUNK):
                    os.write(handle, bytes(min(size, CHUNK)))
                    os.fsync(handle)
            finally:
                os.close(handle)
            Path(mine).rename(folder / f"{prefix}{secrets.token_hex(8)}")
        finally:
            for left in folder.glob(f"{prefix}*"):  # also of a run that was killed
                with contextlib.suppress(OSError):
                    left.unlink()
        room = os.statvfs(folder)
        return str(room.f_bavail * 100 // max(room.f_blocks, 1))
    except OSError as error:
        why = _WHY.get(error.errno or 0, str(error))
        return why if error.errno in _BROKEN else f"warning: {folder} cannot be written to by root: {why}"


def _lnet() -> str:
    try:
        return host.run("lnetctl", "net", "show", "-v", timeout=20)
    except host.Failure as failure:
        host.say(f"warning: LNet's counters cannot be read: {failure}")
        return ""


def sent(text: str) -> dict[str, int]:
    """Messages sent by kind of network, from what `lnetctl net show -v` writes."""
    found: dict[str, int] = {}
    network = ""
    for line in text.splitlines():
        key, _, value = line.strip(" -").partition(":")
        if key == "net type":
            network = value.strip()
            found.setdefault(network, 0)
        elif key == "send_count" and network:
            found[network] += int(value)
    return found


def fallback(path: str, before: dict[str, int], after: dict[str, int]) -> str | None:
    """A warning unless most of what was written went over EFA."""
    why = (
        "it falls back to TCP where the node's role lacks fsx:DescribeFileSystems, where the file system is in another "
        "zone than the node, or where no security group lets all traffic of its own members through"
    )
    if "efa" not in after:
        return f"warning: {path} is not reached over EFA: LNet has no efa network on this node; {why}"
    grown = {network: count - before.get(network, 0) for network, count in after.items()}
    tcp = sum(count for network, count in grown.items() if network.startswith("tcp"))
    if grown["efa"] > tcp:
        return None
    figures = f"{PROOF_BYTES >> 20} MiB took {grown['efa']} messages over efa and {tcp} over tcp"
    return f"warning: {path} is not reached over EFA: {figures}; {why}"


def tuning(cpus: int, gibibytes: float) -> tuple[list[tuple[str, int]], list[str]]:
    """Parameters and module options that FSx's page on performance recommends for a client of this size."""
    parameters: list[tuple[str, int]] = []
    options: list[str] = []
    if gibibytes > LARGE:
        parameters += [("ldlm.namespaces.*.lru_max_age", 600_000), ("ldlm.namespaces.*.lru_size", 100 * cpus)]
    if cpus > LARGE:
        parameters += [("osc.*OST*.max_rpcs_in_flight", 32), ("mdc.*.max_rpcs_in_flight", 64)]
        parameters += [("mdc.*.max_mod_rpcs_in_flight", 50)]
        options = ["options ptlrpc ptlrpcd_per_cpt_max=32", "options ksocklnd credits=2560"]
    parameters += [("llite.*.statahead_max", 512), ("llite.*.statahead_agl", 1), ("llite.*.statahead_xattr", 1)]
    return parameters, options


def tune(cpus: int, gibibytes: float) -> None:
    """Sets what is not set; a client that is not tuned is slower, and no reason to give the node up."""
    parameters, options = tuning(cpus, gibibytes)
    if not shutil.which("lctl"):
        host.say("warning: this image has no lctl, so the Lustre client stays as it is")
        return
    for name, value in parameters:
        try:
            if set(host.run("lctl", "get_param", "-n", name).split()) != {str(value)}:
                host.run("lctl", "set_param", f"{name}={value}")
        except host.Failure as failure:
            host.say(f"warning: {name} stays as it is: {failure}")
    kept = [file.read_text(errors="replace") for file in sorted(OPTIONS.glob("*.conf")) if file.name != "hyperpod.conf"]
    missing = [option for option in options if option.rpartition("=")[0].split()[-1] not in " ".join(kept)]
    if missing and host.write(OPTIONS / "hyperpod.conf", "\n".join(missing) + "\n"):
        host.say("the options of the Lustre modules take effect when the node is rebooted")


if __name__ == "__main__":
    host.main(work)
