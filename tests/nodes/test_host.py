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


def test_what_killed_downloads_left_goes_and_that_of_others_who_run_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def aws(*argv: str, timeout: float = 60) -> str:
        return subprocess.run(["cp", "/etc/passwd", argv[-1]], check=True, text=True, timeout=timeout).stdout

    monkeypatch.setattr(host, "aws", aws)
    for name in (".download-old", ".download-new"):
        (tmp_path / name).mkdir()
    (tmp_path / ".download-old" / "half").touch()
    os.utime(tmp_path / ".download-old", (1, 1))
    host.download("s3://bucket/key", tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".download-new", "file"]


def test_names_of_mounts_that_are_no_text_or_hold_ends_of_lines_hide_no_other_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mounts").write_bytes(
        b"x /ada\xff fuse rw 0 0\nx\x0by\xc2\x85z /own/m tmpfs rw 0 0\nshort\na@tcp:/b /my\\040fsx lustre rw 0 0\n"
    )
    monkeypatch.setattr(host, "_MOUNTS", tmp_path / "mounts")
    assert host.mount_at("/my fsx") == ["a@tcp:/b", "/my\\040fsx", "lustre", "rw"]
    assert host.is_mounted("/own/m")
    assert not host.is_mounted("/nowhere")


def test_a_file_is_on_the_disk_before_it_takes_the_place_of_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = list[int]()
    (tmp_path / "file").write_text("old")

    def fsync(handle: int) -> None:
        assert (tmp_path / "file").read_text() == "old"
        synced.append(os.fstat(handle).st_size)

    monkeypatch.setattr(os, "fsync", fsync)
    host.write(tmp_path / "file", "new text")
    assert synced == [8]


def test_text_that_no_file_can_hold_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        host.write(tmp_path / "file", "\ud800")
    assert not list(tmp_path.iterdir())
