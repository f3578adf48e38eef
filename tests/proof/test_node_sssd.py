"""SSSD on played nodes; its programs are played, because this machine does not have them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.proof.conftest import Faults
from tests.proof.nodes import Node, can_play_nodes, inputs, step
from tests.proof.test_node_people import shell

pytestmark = [pytest.mark.proof, pytest.mark.skipif(not can_play_nodes(), reason="needs root and namespaces")]

ARN: Final = "arn:aws:secretsmanager:us-west-2:111122223333:secret:bind"
PASSWORD: Final = "hunter2-of-the-directory"
CA: Final = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
GIVEN: Final[dict[str, Any]] = {
    "domain": "corp.example",
    "uri": "ldaps://ad.corp.example",
    "base_dn": "dc=corp,dc=example",
    "bind_dn": "cn=nodes,dc=corp,dc=example",
    "secret_arn": ARN,
    "ca_certificate": CA,
    "allow_groups": ["ml"],
    "homes": "/fsx/home",
}
_CONF: Final = "/etc/sssd/sssd.conf"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A node whose image has SSSD."""
    with Node(name="n1", group="p5", inputs=inputs([step("sssd", inputs=GIVEN)]), folder=tmp_path / "n1") as node:
        for name in ("sssd", "sssctl", "pam-auth-update"):
            node.write(f"/usr/sbin/{name}", f'#!/bin/sh\necho {name} "$@" >>/var/log/played\n', 0o755)
        node.write("/usr/bin/sss_ssh_authorizedkeys", "#!/bin/sh\n", 0o755)
        shell(node, "sed -i 's/^passwd:.*/passwd: files sss/' /etc/nsswitch.conf; touch /var/log/played")
        node.write(f"/aws/secrets/{ARN}", f"{PASSWORD}\n")
        yield node


def run(node: Node, code: int = 0) -> str:
    ran = node.boot()
    assert f"step=sssd event=end code={code} " in ran.stdout, ran.stdout + ran.stderr
    assert PASSWORD not in ran.stdout + node.read("/var/log/hyperpod/steps.log") + json.dumps(node.calls())
    return ran.stdout


def test_a_directory_is_set_up_with_its_password_by_reference(node: Node) -> None:
    assert "sssd| sssd reads ldaps://ad.corp.example" in run(node)
    assert f"ldap_default_authtok = {PASSWORD}\n" in node.read(_CONF)
    assert shell(node, f"stat -c '%a %U' {_CONF}") == "600 root\n"
    assert node.read("/etc/sssd/hyperpod-ca.pem") == CA
    assert node.read("/var/log/systemctl").splitlines()[-2:] == ["enable sssd", "restart sssd"]
    assert "pam-auth-update --enable mkhomedir" in node.read("/var/log/played")
    assert PASSWORD not in shell(node, "cat /var/log/played /var/log/systemctl; cat /var/lib/hyperpod/*")
    assert "authorizedkeyscommand /usr/bin/sss_ssh_authorizedkeys" in shell(node, "sshd -T")


def test_a_second_run_restarts_nothing_and_a_new_password_does(node: Node) -> None:
    run(node)
    before = shell(node, "ls -li --time-style=full-iso /etc/sssd /etc/ssh/sshd_config.d /var/lib/hyperpod")
    log = node.read("/var/log/systemctl")
    assert "nothing to do" in run(node)
    assert shell(node, "ls -li --time-style=full-iso /etc/sssd /etc/ssh/sshd_config.d /var/lib/hyperpod") == before
    assert node.read("/var/log/systemctl") == log
    node.write(f"/aws/secrets/{ARN}", f"{PASSWORD}-new\n")
    run(node)
    assert node.read("/var/log/systemctl").splitlines()[-1] == "restart sssd"


def test_a_restart_that_failed_is_made_up_for(node: Node) -> None:
    systemctl = node.read("/usr/local/bin/systemctl")
    node.write("/usr/local/bin/systemctl", '#!/bin/sh\n[ "$1" != restart ]\n', 0o755)
    assert "systemctl restart sssd failed" in run(node, 1)
    node.write("/usr/local/bin/systemctl", systemctl, 0o755)
    assert "sssd reads" in run(node)


def test_an_image_without_sssd_is_a_mistake(node: Node, faults: Faults) -> None:
    shell(node, "rm /usr/sbin/sssd")
    assert "this image has no sssd, and steps install nothing: use an image (custom AMI) that has it" in run(node, 78)
    faults.survived("image without sssd", "code 78; nothing is installed", 0)


def test_a_missing_secret_is_a_mistake_and_no_network_is_not(node: Node, faults: Faults) -> None:
    shell(node, f"rm '/aws/secrets/{ARN}'")
    assert "the bind password cannot be read; make it, or let the nodes' role read it" in run(node, 78)
    node.write(f"/aws/secrets/{ARN}", "")
    assert "has no text; put one in" in run(node, 78)
    node.write("/aws/offline", "")
    assert "Could not connect" in run(node, 75)
    assert node.run("test", "-e", _CONF).returncode == 1
    faults.survived("missing secret of the directory", "code 78 with its name; without network code 75", 0)


def test_settings_that_sssctl_refuses_leave_those_that_worked(node: Node) -> None:
    run(node)
    before = node.read(_CONF)
    node.write("/usr/sbin/sssctl", "#!/bin/sh\necho 'Issues identified by validators: 1'; exit 1\n", 0o755)
    node.publish(inputs([step("sssd", inputs={**GIVEN, "base_dn": "dc=other"})]))
    assert "sssctl config-check finds fault with the settings made from the inputs" in run(node, 78)
    assert node.read(_CONF) == before


def test_an_image_whose_names_do_not_come_from_sssd_is_told(node: Node) -> None:
    shell(node, "sed -i 's/^passwd:.*/passwd: files/' /etc/nsswitch.conf")
    assert "warning: /etc/nsswitch.conf does not name sss" in run(node)
