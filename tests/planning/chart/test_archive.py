from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart import archive
from hyperpod_constructs.planning.chart.archive import Limits
from tests.charts import small


def member(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, target
    return made


class TestUnpack:
    def test_has_every_file_without_the_first_folder(self) -> None:
        data = small.packed({"x-1/b": b"2", "x-1/a/c": b"1"}, member("x-1", tarfile.DIRTYPE))
        assert list(archive.unpack(data, "x.tgz").items()) == [("a/c", b"1"), ("b", b"2")]

    def test_of_one_folder_passes_over_all_else(self) -> None:
        data = small.packed(
            {"x/charts/a/b": b"1", "x/other": b"2"}, member("x/link", tarfile.SYMTYPE, "../../etc/passwd")
        )
        assert archive.unpack(data, "x.tgz", below="charts/a") == {"b": b"1"}

    @pytest.mark.parametrize("name", ["/etc/passwd", "x/../../etc/passwd", "..", "x\\..\\y", "C:/x"])
    def test_what_lies_outside_is_refused_by_name(self, name: str) -> None:
        with pytest.raises(InvalidValue, match=r"x\.tgz: '.*' lies outside of the archive") as error:
            archive.unpack(small.packed({name: b"x"}), "x.tgz")
        assert repr(name) in str(error.value)

    @pytest.mark.parametrize(
        ("odd", "said"),
        [
            (member("x/a", tarfile.SYMTYPE, "/etc/passwd"), "'x/a' is a link to '/etc/passwd'"),
            (member("x/a", tarfile.LNKTYPE, "x/b"), "'x/a' is a link to 'x/b'"),
            (member("x/a", tarfile.CHRTYPE), "'x/a' is no regular file"),
            (member("x/a", tarfile.BLKTYPE), "'x/a' is no regular file"),
            (member("x/a", tarfile.FIFOTYPE), "'x/a' is no regular file"),
            (member("x/a", tarfile.GNUTYPE_SPARSE), "'x/a' is no regular file"),
        ],
    )
    def test_what_is_no_file_is_refused_by_name(self, odd: tarfile.TarInfo, said: str) -> None:
        with pytest.raises(InvalidValue, match=said):
            archive.unpack(small.packed({}, odd), "x.tgz")

    def test_the_same_name_twice_is_refused(self) -> None:
        with pytest.raises(InvalidValue, match="'y/a' is there twice"):
            archive.unpack(small.packed({"x/a": b"1", "y/a": b"2"}), "x.tgz")

    def test_a_name_with_an_escape_sequence_is_refused(self) -> None:
        with pytest.raises(InvalidValue, match="is not text"):
            archive.unpack(small.packed({"x/a\x1b[2J": b""}), "x.tgz")

    def test_a_long_path_is_refused(self) -> None:
        with pytest.raises(InvalidValue, match="more than 240 letters"):
            archive.unpack(small.packed({"x/" + "a" * 240: b""}), "x.tgz")

    def test_too_many_members_are_refused(self) -> None:
        data = small.packed({f"x/{n}": b"" for n in range(4)})
        with pytest.raises(InvalidValue, match="more than 3 members"):
            archive.unpack(data, "x.tgz", Limits(members=3, total=1 << 20))

    def test_a_large_file_is_refused_by_name(self) -> None:
        with pytest.raises(InvalidValue, match="'x/a' has 11 bytes, more than 10"):
            archive.unpack(small.packed({"x/a": b"x" * 11}), "x.tgz", Limits(members=9, total=1 << 20, of_a_file=10))

    def test_a_bomb_stops_early(self) -> None:
        """Each layer of zeros is a thousandth of what it unpacks to; only as much is unpacked as is allowed."""
        data = small.packed({"x/a": b"", "x/b": b"\0" * (64 << 20)})
        assert len(data) < 1 << 17
        limits = Limits(members=9, total=1 << 20, of_a_file=1 << 30)
        with pytest.raises(InvalidValue, match=r"x\.tgz unpacks to more than 1,048,576 bytes"):
            archive.unpack(data, "x.tgz", limits)

    def test_a_bomb_in_what_is_passed_over_stops_too(self) -> None:
        data = small.packed({"x/b": b"\0" * (8 << 20)})
        with pytest.raises(InvalidValue, match="unpacks to more than"):
            archive.unpack(data, "x.tgz", Limits(members=9, total=1 << 20), below="charts")

    @pytest.mark.parametrize("data", [b"", b"<html>not found</html>", gzip.compress(b"no tar at all" * 100)])
    def test_what_is_no_archive_is_refused(self, data: bytes) -> None:
        with pytest.raises(InvalidValue, match=r"x\.tgz is no archive \(\.tar\.gz\), or is cut off"):
            archive.unpack(data, "x.tgz")

    @pytest.mark.parametrize("end", [40, -1, -9])
    def test_one_that_is_cut_off_is_refused(self, end: int) -> None:
        data = small.packed({"x/a": bytes(range(256)) * 40})
        with pytest.raises(InvalidValue, match="cut off"):
            archive.unpack(data[:end], "x.tgz")

    def test_a_wrong_byte_is_noticed(self) -> None:
        written = io.BytesIO()
        with gzip.GzipFile(fileobj=written, mode="wb", compresslevel=0) as stored:
            stored.write(gzip.decompress(small.packed({"x/a": b"value: 1"})))
        with pytest.raises(InvalidValue, match="cut off"):
            archive.unpack(written.getvalue().replace(b"value: 1", b"value: 2"), "x.tgz")
