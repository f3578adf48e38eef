"""What steps share: files that change in one go, programs that end in time, locks between nodes."""

from __future__ import annotations

import os
import stat
import subprocess
import time
from pathlib import Path

import pytest
from hyperpod_node import host


def test_a_file_changes_once(tmp_path: Path) -> None:
    assert host.write(tmp_path / "new" / "file", "text", 0o600)
    assert not host.write(tmp_path / "new" / "file", "text", 0o600)
    assert stat.S_IMODE((tmp_path / "new" / "file").stat().st_mode) == 0o600
    assert host.write(tmp_path / "new" / "file", "text", 0o644)


def test_a_file_that_cannot_be_written_is_a_failure_with_its_name_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(host.Failure, match="file/below cannot be written: File exists"):
        host.write(tmp_path / "file" / "below", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("keep")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    host.write(tmp_path / "link", "new")
    assert (tmp_path / "target").read_text() == "keep"


def test_a_program_that_the_image_lacks_is_a_mistake() -> None:
    with pytest.raises(host.Mistake, match="this image has no hyperpod-nothing"):
        host.run("hyperpod-nothing")


def test_a_program_that_fails_is_reported_with_its_last_line() -> None:
    with pytest.raises(host.Failure, match="failed with code 3: why"):
        host.run("sh", "-c", "echo first >&2; echo why >&2; exit 3")


def test_a_program_that_hangs_ends_in_time_even_if_its_child_holds_the_pipe() -> None:
    began = time.monotonic()
    with pytest.raises(host.Failure, match="did not end within 0 s"):
        host.run("sh", "-c", "sleep 3 & sleep 3", timeout=0.2)
    assert time.monotonic() - began < 2


def test_a_lock_is_held_by_one_and_given_back(tmp_path: Path) -> None:
    with (
        host.lock(tmp_path, "homes"),
        pytest.raises(host.NotYet, match="another node has held"),
        host.lock(tmp_path, "homes", patience=0),
    ):
        pass
    with host.lock(tmp_path, "homes", patience=0):
        pass


def test_a_lock_of_a_dead_node_is_broken(tmp_path: Path) -> None:
    (tmp_path / ".homes.lock").mkdir()
    os.utime(tmp_path / ".homes.lock", (1, 1))
    with host.lock(tmp_path, "homes", patience=0.5):
        pass


def test_a_node_that_lost_its_lock_does_not_give_back_that_of_another(tmp_path: Path) -> None:
    with host.lock(tmp_path, "homes"):
        (tmp_path / ".homes.lock").rename(tmp_path / "broken")
        (tmp_path / ".homes.lock").mkdir()
    assert (tmp_path / ".homes.lock").is_dir()


def test_a_secret_that_is_missing_is_named_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def aws(*argv: str, timeout: float = 60) -> str:
        raise host.Failure(f"aws failed with code 254: ResourceNotFoundException {timeout:.0f} {len(argv)}")

    monkeypatch.setattr(host, "aws", aws)
    with pytest.raises(host.Failure, match="secret arn:x cannot be read: aws failed with code 254"):
        host.secret("arn:x")


def test_an_object_that_is_not_what_its_hash_says_is_refused_and_the_old_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def aws(*argv: str, timeout: float = 60) -> str:
        return subprocess.run(["cp", "/etc/passwd", argv[-1]], check=True, text=True, timeout=timeout).stdout

    monkeypatch.setattr(host, "aws", aws)
    (tmp_path / "file").write_text("old")
    with pytest.raises(host.Mistake, match="somebody replaced it, or the pin is old"):
        host.download("s3://bucket/key", tmp_path / "file", sha256="0" * 64)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "old")]
