"""Settings of sshd, in files of our own beside those of the image."""

from __future__ import annotations

from pathlib import Path

from hyperpod_node import host, roster


def configure(path: Path, settings: str) -> bool:
    """Writes settings and has sshd read them; whether anything changed.

    Settings with which sshd would not start are taken back.

    Raises:
        Mistake: if something else in /etc/ssh overrules them.
    """
    applied = roster.DATA / f"{path.name}.applied"
    if not path.exists() or path.read_bytes() != settings.encode():
        host.remove(applied)  # noted after the reload, so that a node that dies in between reloads again
    host.write(path, settings)
    changed = not applied.exists()
    try:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # it is not there before the first connection
        whom = "user=nobody,host=localhost,addr=127.0.0.1,laddr=127.0.0.1,lport=22"
        effective = host.run("sshd", "-T", "-C", whom).lower().splitlines()
        if changed:
            unit = host.first(["/lib/systemd/system/ssh.service", "/usr/lib/systemd/system/sshd.service"])
            host.run("systemctl", "try-reload-or-restart", unit.name if unit else "sshd.service")
            host.write(applied, "", 0o600)
    except host.Failure:
        if changed:
            host.remove(path)
        raise
    lost = [line for line in settings.splitlines() if line.lower() not in effective]
    if lost:
        raise host.Mistake(f"{lost[0]!r} of {path} has no effect: a file that sshd reads earlier says otherwise")
    return changed
