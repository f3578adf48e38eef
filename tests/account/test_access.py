from __future__ import annotations

import shlex
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hyperpod_constructs.account import access
from hyperpod_constructs.account.access import Host
from hyperpod_constructs.account.gateway import DescribedCluster, ListedNode
from hyperpod_constructs.errors import AccountError

CLUSTER = DescribedCluster(
    name="Frontier",
    status="InService",
    failure_message=None,
    groups=(),
    arn="arn:aws:sagemaker:us-west-2:111122223333:cluster/0123456789ab",
    created=None,
    orchestrator="slurm",
    configured_by_api=True,
    continuous=True,
)


def node(group: str, instance: str, *, day: int = 7, status: str = "Running") -> ListedNode:
    launched = datetime(2026, 12, day, tzinfo=UTC)
    return ListedNode(group=group, status=status, instance=instance, launched=launched, imaged=launched, message=None)


class TestHosts:
    def test_are_named_by_cluster_group_and_number(self) -> None:
        found = access.hosts(CLUSTER, [node("p5", "i-0b"), node("login", "i-0a"), node("p5", "i-0c")])
        assert [(host.name, host.instance) for host in found] == [
            ("Frontier-login-1", "i-0a"),
            ("Frontier-p5-1", "i-0b"),
            ("Frontier-p5-2", "i-0c"),
        ]

    def test_have_the_target_that_session_manager_wants(self) -> None:
        (host,) = access.hosts(CLUSTER, [node("p5", "i-0123456789abcdef0")])
        assert host.target == "sagemaker-cluster:0123456789ab_p5-i-0123456789abcdef0"

    def test_keep_their_number_when_a_node_comes(self) -> None:
        before = access.hosts(CLUSTER, [node("p5", "i-0b"), node("p5", "i-0c")])
        after = access.hosts(CLUSTER, [node("p5", "i-0a", day=9), node("p5", "i-0b"), node("p5", "i-0c")])
        assert after[:2] == before

    def test_leave_out_what_does_not_run(self) -> None:
        assert access.hosts(CLUSTER, [node("p5", "i-0b", status="Pending"), node("p5", "i-0c", status="Failure")]) == ()

    @pytest.mark.parametrize("name", ["a b", "a\nHost *", "a;reboot", "$(reboot)", "-oProxyCommand=x", "a%h", ""])
    def test_are_refused_where_a_name_could_do_harm(self, name: str) -> None:
        with pytest.raises(AccountError, match="which it does not allow: nothing was written"):
            access.hosts(CLUSTER, [node(name, "i-0b")])
        with pytest.raises(AccountError, match="which it does not allow: nothing was written"):
            access.hosts(replace(CLUSTER, name=name), [node("p5", "i-0b")])


def written(*nodes: ListedNode, profile: str | None = None, user: str | None = "ubuntu") -> str:
    """A configuration as the command writes it."""
    hosts = access.hosts(CLUSTER, nodes)
    return "\n".join(access.ssh_config(hosts, region="us-west-2", profile=profile, user=user)) + "\n"


@pytest.mark.skipif(shutil.which("ssh") is None, reason="there is no ssh on this machine")
class TestWhatSshReads:
    @staticmethod
    def read(folder: Path, config: str, host: str) -> dict[str, str]:
        """What ssh makes of a configuration for a host."""
        (folder / "config").write_text(config)
        asked = ["ssh", "-G", "-F", str(folder / "config"), host]
        said = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=30).stdout
        return dict(line.split(" ", 1) for line in said.splitlines() if " " in line)

    def test_is_the_command_of_the_node_that_was_asked_for(self, tmp_path: Path) -> None:
        config = written(node("p5", "i-0b"), node("p5", "i-0c"))
        found = self.read(tmp_path, config, "Frontier-p5-2")
        assert found["proxycommand"] == (
            "aws ssm start-session --target sagemaker-cluster:0123456789ab_p5-i-0c --document-name "
            "AWS-StartSSHSession --region us-west-2 --parameters portNumber=%p"
        )
        assert (found["user"], found["hostkeyalias"]) == ("ubuntu", "i-0c")

    def test_is_nothing_for_another_host(self, tmp_path: Path) -> None:
        assert "proxycommand" not in self.read(tmp_path, written(node("p5", "i-0b")), "Frontier-p5-2")

    def test_has_no_user_where_none_is_known(self, tmp_path: Path) -> None:
        mine = self.read(tmp_path, "", "anywhere")["user"]
        assert self.read(tmp_path, written(node("p5", "i-0b"), user=None), "Frontier-p5-1")["user"] == mine

    @pytest.mark.parametrize("profile", ["ml", "my profile", "it's", '"', "$(touch x)", "a;b", "#x", "*"])
    def test_gives_the_shell_one_word_for_the_profile(self, tmp_path: Path, profile: str) -> None:
        command = self.read(tmp_path, written(node("p5", "i-0b"), profile=profile), "Frontier-p5-1")["proxycommand"]
        shown = subprocess.run(
            ["sh", "-c", command.replace("aws ssm", "printf '%s\\n'", 1)],
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        words = shown.stdout.splitlines()
        assert words[words.index("--profile") + 1] == profile
        assert not (tmp_path / "x").exists()


def test_a_percent_sign_of_a_profile_is_none_of_ssh() -> None:
    (host,) = access.hosts(CLUSTER, [node("p5", "i-0b")])
    command = host.proxy_command(region="us-west-2", profile="100%h")
    assert shlex.split(command.replace("%%", "%").replace("%p", "22"))[-3] == "100%h"
    assert "100%%h" in command


def test_a_host_says_nothing_of_the_account() -> None:
    assert "111122223333" not in written(node("p5", "i-0b"))
    assert Host.__slots__ == ("name", "group", "number", "instance", "target")
