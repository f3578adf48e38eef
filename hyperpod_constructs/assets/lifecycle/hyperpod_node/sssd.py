"""People from a directory: sets up SSSD, which the image must have, against LDAP over TLS."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Mapping

from hyperpod_node import host, roster, sshd

_CONF, _CA = Path("/etc/sssd/sssd.conf"), Path("/etc/sssd/hyperpod-ca.pem")
_APPLIED = roster.DATA / "sssd.applied"
_SYSTEM_CAS = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
_KEYS = Path("/usr/bin/sss_ssh_authorizedkeys")
_SSHD = f"AuthorizedKeysCommand {_KEYS}\nAuthorizedKeysCommandUser nobody\n"
_ONE_LINE = re.compile(r"[^\x00-\x1f\x7f]+")


def work(step: host.Step) -> None:
    """Writes the settings, and starts SSSD again if they changed."""
    if not host.first(["/usr/sbin/sssd", "/sbin/sssd"]):
        raise host.Mistake("this image has no sssd, and steps install nothing: use an image (custom AMI) that has it")
    inputs, password = step.inputs, _password(step.inputs)
    ca = inputs.get("ca_certificate", "")
    if ca and ("BEGIN CERTIFICATE" not in ca or "PRIVATE KEY" in ca):
        raise host.Mistake("ca_certificate is not the text of a certificate (PEM)")
    if ca:
        host.write(_CA, f"{ca.strip()}\n")
    text = settings(inputs, password, str(_CA) if ca else str(host.first(_SYSTEM_CAS) or _SYSTEM_CAS[0]))
    before = _CONF.read_text(encoding="utf-8") if _CONF.exists() else None
    host.write(_CONF, text, 0o600)
    _check(before)
    mkhomedir = Path("/etc/pam.d/common-session")
    if mkhomedir.exists() and "pam_mkhomedir" not in mkhomedir.read_text(encoding="utf-8"):
        host.run("pam-auth-update", "--enable", "mkhomedir")
    if _KEYS.exists():
        sshd.configure(Path("/etc/ssh/sshd_config.d/51-hyperpod-sssd.conf"), _SSHD)
    if not re.search(r"^passwd:.*\bsss\b", Path("/etc/nsswitch.conf").read_text(encoding="utf-8"), re.MULTILINE):
        host.say("warning: /etc/nsswitch.conf does not name sss for passwd: this image's sssd is not complete")
    # Noted after the restart, so that a node that dies in between starts it again.
    applied = host.digest(f"{text}{ca}".encode())
    if _APPLIED.exists() and _APPLIED.read_text(encoding="utf-8") == applied:
        host.say("nothing to do")
        return
    host.run("systemctl", "enable", "sssd")
    host.run("systemctl", "restart", "sssd")
    host.write(_APPLIED, applied, 0o600)
    host.say(f"sssd reads {inputs['uri']}")


def _password(inputs: Mapping[str, Any]) -> str:
    if bool(inputs.get("bind_dn")) != bool(inputs.get("secret_arn")):
        raise host.Mistake("bind_dn and secret_arn go together: the name to bind with, and where its password is")
    try:
        return host.secret(inputs["secret_arn"]) if inputs.get("secret_arn") else ""
    except host.Mistake:
        raise
    except host.Failure as failure:
        kind = host.Mistake if "NotFound" in str(failure) or "AccessDenied" in str(failure) else host.NotYet
        raise kind(f"the bind password cannot be read; make it, or let the nodes' role read it: {failure}") from None


def _check(before: str | None) -> None:
    """Puts the settings back that worked if sssctl finds fault with the new ones."""
    if not host.first(["/usr/sbin/sssctl", "/sbin/sssctl"]):
        return
    try:
        host.run("sssctl", "config-check")
    except host.Failure:
        if before is None:
            host.remove(_CONF)
        else:
            host.write(_CONF, before, 0o600)
        raise host.Mistake(
            "sssctl config-check finds fault with the settings made from the inputs; nothing was changed"
        ) from None


def settings(inputs: Mapping[str, Any], password: str, ca: str) -> str:
    """The text of sssd.conf.

    Raises:
        Mistake: if what it is made from is missing or not safe.
    """
    bind = {
        "ldap_default_bind_dn": inputs.get("bind_dn"),
        "ldap_default_authtok_type": "password",
        "ldap_default_authtok": password,
    }
    # Without the schema SSSD looks for posixAccount, and finds nobody in an Active Directory.
    numbers = inputs.get("active_directory")
    directory = {"ldap_schema": "ad", "ldap_id_mapping": "true" if numbers == "sid" else "false"}
    groups = inputs.get("allow_groups")
    lines = {
        "id_provider": "ldap",
        "auth_provider": "ldap",
        "ldap_uri": inputs.get("uri"),
        "ldap_search_base": inputs.get("base_dn"),
        **(directory if numbers else {}),
        "ldap_tls_reqcert": "demand",
        "ldap_tls_cacert": ca,
        **(bind if password else {}),
        "override_homedir": f"{inputs.get('homes', '/fsx/home')}/%u",
        "default_shell": "/bin/bash",
        "cache_credentials": "true",
        "access_provider": "simple" if groups else "permit",
        **({"simple_allow_groups": ", ".join(groups)} if groups else {}),
    }
    for name, value in {"domain": inputs.get("domain"), **lines}.items():
        if not _ONE_LINE.fullmatch(value or ""):  # not shown: it may be the password
            raise host.Mistake(f"{name} is missing or has several lines")
    if not all(uri.strip().startswith("ldaps://") for uri in inputs["uri"].split(",")):
        raise host.Mistake(f"uri {inputs['uri']}: only ldaps:// keeps passwords from those who listen")
    domain = inputs["domain"]
    head = f"[sssd]\nconfig_file_version = 2\nservices = nss, pam, ssh\ndomains = {domain}\n\n[domain/{domain}]\n"
    return head + "".join(f"{name} = {value}\n" for name, value in lines.items())


if __name__ == "__main__":
    host.main(work)
