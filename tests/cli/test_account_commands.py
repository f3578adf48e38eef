"""What every command that reads an account has in common."""

from __future__ import annotations

from pathlib import Path

import boto3
import pytest

from tests.cli.conftest import Run

COMMANDS = {
    "status": ("status", "Frontier"),
    "explain": ("explain", "Frontier"),
    "ssh-config": ("ssh-config", "Frontier"),
    "plans": ("plans", "list"),
    "snapshot": ("snapshot", "Frontier", "--output", "snapshot.json"),
}
REGION = ("--region", "us-west-2")
DOCUMENTED = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()


@pytest.fixture
def _signed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves boto3 nothing to find on this machine."""
    keys = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_DEFAULT_REGION")
    for name in keys:
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)


@pytest.mark.usefixtures("_signed_out")
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
class TestWithoutAnAccount:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (REGION, "hyperpod: Unable to locate credentials: sign in (for example `aws sso login`) or use --profile"),
            ((), "hyperpod: no Region is set: use --region, for example --region us-west-2"),
            ((*REGION, "--profile", "ml"), "hyperpod: The config profile (ml) could not be found: use one of those"),
        ],
        ids=["credentials", "Region", "profile"],
    )
    def test_is_one_line_exit_2_and_no_file(
        self, run: Run, command: tuple[str, ...], arguments: tuple[str, ...], said: str
    ) -> None:
        result = run(*command, *arguments)
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert result.err.startswith(said)
        assert list(Path().iterdir()) == []

    def test_a_region_that_does_not_exist_is_exit_2(self, run: Run, command: tuple[str, ...]) -> None:
        result = run(*command, "--region", "the-moon")
        assert result.code == 2
        assert "'the-moon' is not a Region; use one such as us-west-2" in result.err


@pytest.mark.parametrize("command", COMMANDS)
class TestIsDocumented:
    def test_in_a_section_with_its_exit_codes_and_keys(self, command: str) -> None:
        section = DOCUMENTED.partition(f"\n## {command}\n")[2].partition("\n## ")[0]
        assert "Exit codes: 0" in section
        assert "JSON" in section

    def test_with_the_permissions_that_it_needs(self, run: Run, command: str) -> None:
        said = " ".join(run(command, "--help").out.split())
        assert "exit codes: 0" in said
        assert "Needs the permissions" in said
