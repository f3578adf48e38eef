from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.account import gateway
from tests.account.conftest import ARN, Account, group, node
from tests.cli.conftest import Run

COMMAND = (
    "aws ssm start-session --target sagemaker-cluster:0123456789ab_{0}-{1} --document-name AWS-StartSSHSession "
    "--region us-west-2 --parameters portNumber=%p"
)


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """The account that the command opens."""
    account = Account()
    monkeypatch.setattr(gateway, "sign_in", lambda **_: account)
    yield account
    account.assert_everything_was_asked_for()


def frontier(account: Account, *nodes: dict[str, Any], **fields: Any) -> None:
    """A cluster of these nodes."""
    answer = {
        "ClusterArn": ARN,
        "ClusterName": "Frontier",
        "ClusterStatus": "InService",
        "InstanceGroups": [],
        **fields,
    }
    account.answers("sagemaker", "describe_cluster", answer)
    account.answers("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": nodes})


def test_has_a_block_for_each_node_that_runs(run: Run, account: Account) -> None:
    frontier(
        account,
        node("p5", "Running", InstanceId="i-0b"),
        node("p5", "Pending", InstanceId="i-0c"),
        node("login", "Running", InstanceId="i-0a"),
        InstanceGroups=[group("p5", 2)],
    )
    result = run("ssh-config", "Frontier")
    assert (result.code, result.err) == (0, "hyperpod: note: 1 node of Frontier not running: left out\n")
    assert [line for line in result.out.splitlines() if not line.startswith("#")] == [
        "",
        "Host Frontier-login-1",
        "  HostKeyAlias i-0a",
        "  User ubuntu",
        f"  ProxyCommand {COMMAND.format('login', 'i-0a')}",
        "",
        "Host Frontier-p5-1",
        "  HostKeyAlias i-0b",
        "  User ubuntu",
        f"  ProxyCommand {COMMAND.format('p5', 'i-0b')}",
    ]


@pytest.mark.skipif(shutil.which("ssh") is None, reason="there is no ssh on this machine")
def test_is_read_by_ssh_with_its_comments(run: Run, account: Account, tmp_path: Path) -> None:
    frontier(account, node("p5", "Running", InstanceId="i-0b"))
    (tmp_path / "config").write_text(run("ssh-config", "Frontier", "--profile", "my profile").out)
    asked = ["ssh", "-T", "-G", "-F", str(tmp_path / "config"), "Frontier-p5-1"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=30)
    assert said.stderr == ""
    assert "proxycommand aws ssm start-session --target sagemaker-cluster:0123456789ab_p5-i-0b" in said.stdout
    assert "--profile 'my profile' --parameters portNumber=%p" in said.stdout


def test_has_the_user_that_was_asked_for(run: Run, account: Account) -> None:
    frontier(account, node("p5", "Running"))
    assert "  User ada" in run("ssh-config", "Frontier", "--user", "ada").out.splitlines()


def test_leaves_the_user_of_eks_nodes_to_ssh(run: Run, account: Account) -> None:
    eks = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/eks"}}
    frontier(account, node("p5", "Running"), Orchestrator=eks)
    assert "User" not in run("ssh-config", "Frontier").out


def test_as_json_has_the_documented_keys(run: Run, account: Account) -> None:
    frontier(account, node("p5", "Running", InstanceId="i-0b"))
    assert run("ssh-config", "Frontier", "--format", "json").data == {
        "cluster": "Frontier",
        "id": "0123456789ab",
        "region": "us-west-2",
        "hosts": [
            {
                "host": "Frontier-p5-1",
                "group": "p5",
                "number": 1,
                "instance": "i-0b",
                "target": "sagemaker-cluster:0123456789ab_p5-i-0b",
                "user": "ubuntu",
                "proxy_command": COMMAND.format("p5", "i-0b"),
            }
        ],
    }


def test_of_a_cluster_without_a_running_node_says_how_to_wait(run: Run, account: Account) -> None:
    frontier(account, ClusterStatus="Creating")
    result = run("ssh-config", "Frontier")
    assert (result.code, result.out) == (1, "")
    assert "the cluster is Creating: wait with `hyperpod status Frontier --wait --region us-west-2`" in result.err


def test_of_no_cluster_is_exit_2(run: Run, account: Account) -> None:
    account.fails("ResourceNotFound")
    result = run("ssh-config", "Frontier")
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("user", ["", "a b", "-oProxyCommand=x", "a\nb", "$USER"])
def test_a_user_that_cannot_be_is_exit_2(run: Run, user: str) -> None:
    result = run("ssh-config", "Frontier", f"--user={user}")
    assert (result.code, result.out) == (2, "")
    assert "is not the name of a user on a node; use one such as ubuntu" in result.err


@pytest.mark.parametrize("profile", ["a\\b", "a\nHost *"])
def test_a_profile_that_ssh_cannot_quote_is_exit_2(run: Run, profile: str) -> None:
    result = run("ssh-config", "Frontier", "--profile", profile)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert "cannot stand in an ssh configuration" in result.err
