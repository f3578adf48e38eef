"""How programs of the user's are taken out of archives and written into units."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hyperpod_node import host, services

Pack = Callable[..., Path]


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    """Makes an archive of members by name."""

    def make(**given: bytes) -> Path:
        path = tmp_path / "archive.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            for name, content in given.items():
                member = tarfile.TarInfo(name.replace("__", "/"))
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return path

    return make


def test_the_program_alone_is_taken_out(pack: Pack, tmp_path: Path) -> None:
    archive = pack(**{"x-1.0__LICENSE": b"text", "x-1.0__x": b"program", "..__..__evil": b"evil"})
    services.unpack(archive, "x-1.0/x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == b"program"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["archive.tar.gz", "x"]


def test_a_name_with_a_leading_dot_is_the_same_name(pack: Pack, tmp_path: Path) -> None:
    services.unpack(pack(**{".__x": b"program"}), "x", tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == b"program"


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_what_is_no_plain_file_is_a_mistake(tmp_path: Path, kind: bytes) -> None:
    path = tmp_path / "archive.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("x")
        member.type, member.linkname = kind, "/etc/passwd"
        archive.addfile(member)
    with pytest.raises(host.Mistake, match="is a link, a folder or a device"):
        services.unpack(path, "x", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_a_program_beyond_all_bounds_is_a_mistake(pack: Pack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MOST_BYTES", 4)
    with pytest.raises(host.Mistake, match="x in the archive has 7 bytes; 4 are allowed"):
        services.unpack(pack(x=b"program"), "x", tmp_path / "x")


def test_a_program_that_the_archive_lacks_is_a_mistake(pack: Pack, tmp_path: Path) -> None:
    with pytest.raises(host.Mistake, match="the archive has no y"):
        services.unpack(pack(x=b"program"), "y", tmp_path / "x")


@pytest.mark.parametrize("content", [b"no archive", gzip.compress(b"no archive" * 99), b""])
def test_what_is_no_archive_is_a_mistake(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "archive").write_bytes(content)
    with pytest.raises(host.Mistake, match=r"no whole .tar.gz|has no x"):
        services.unpack(tmp_path / "archive", "x", tmp_path / "x")


def test_an_archive_that_was_cut_off_is_a_mistake(pack: Pack, tmp_path: Path) -> None:
    archive = pack(x=bytes(range(256)) * 4096)
    archive.write_bytes(archive.read_bytes()[:-1000])
    with pytest.raises(host.Mistake, match=r"no whole .tar.gz"):
        services.unpack(archive, "x", tmp_path / "x")


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("plain", '"plain"'),
        ('say "x"', '"say \\"x\\""'),
        ("100%", '"100%%"'),
        ("a\\b", '"a\\\\b"'),
        ("$HOME", '"$$HOME"'),
    ],
)
def test_arguments_reach_the_program_as_they_are(word: str, written: str) -> None:
    assert f'ExecStart="/p" {written}\n' in services.unit({"name": "x", "arguments": [word]}, Path("/p"))


def test_a_line_end_cannot_smuggle_a_directive_into_a_unit() -> None:
    with pytest.raises(host.Mistake, match="has a line end"):
        services.unit({"name": "x", "arguments": ["x\nUser=root"]}, Path("/p"))
    with pytest.raises(host.Mistake, match="has a line end"):
        services.unit({"name": "x", "environment": {"A": "x\nUser=root"}}, Path("/p"))


def test_a_unit_changes_with_what_its_program_reads() -> None:
    base = services.unit({"name": "x", "files": {"/etc/x": "1"}}, Path("/p"))
    assert services.unit({"name": "x", "files": {"/etc/x": "1"}}, Path("/p")) == base
    assert services.unit({"name": "x", "files": {"/etc/x": "2"}}, Path("/p")) != base
    assert services.unit({"name": "x", "files": {"/etc/x": "1"}}, Path("/q")) != base


def test_a_program_may_use_the_role_of_the_node_only_if_it_says_so() -> None:
    assert "Group=" not in services.unit({"name": "x"}, Path("/p"))
    assert "Group=hyperpod-metadata\n" in services.unit({"name": "x", "credentials": True}, Path("/p"))
    assert "DynamicUser=yes" in services.unit({"name": "x", "credentials": True}, Path("/p"))
