from __future__ import annotations

import pytest

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart import index
from hyperpod_constructs.planning.chart.index import Release
from hyperpod_constructs.planning.chart.metadata import Dependency

KEDA = Dependency(name="keda", version="^2", repository="https://kedacore.github.io/charts/")


def chosen(entries: str, pinned: str | None = None) -> Release:
    return index.choose(f"apiVersion: v1\nentries:\n  keda: [{entries}]\n".encode(), KEDA, pinned)


class TestChoose:
    @pytest.mark.parametrize(
        ("url", "address"),
        [
            ("keda-2.1.0.tgz", "https://kedacore.github.io/charts/keda-2.1.0.tgz"),
            ("https://example.com/keda.tgz", "https://example.com/keda.tgz"),
        ],
    )
    def test_an_address_is_whole_or_relative_to_the_index(self, url: str, address: str) -> None:
        assert chosen(f"{{version: 2.1.0, urls: ['{url}']}}") == Release(version="2.1.0", url=address, sha256=None)

    @pytest.mark.parametrize(
        ("digest", "sha256"), [("a" * 64, "a" * 64), (f"sha256:{'a' * 64}", "a" * 64), ("junk", None)]
    )
    def test_a_digest_is_that_of_the_archive(self, digest: str, sha256: str | None) -> None:
        assert chosen(f"{{version: 2.1.0, urls: [x], digest: '{digest}'}}").sha256 == sha256

    def test_what_is_pinned_comes_before_what_is_newer(self) -> None:
        assert chosen("{version: 2.1.0, urls: [x]}, {version: 2.2.0, urls: [y]}", "2.1.0").version == "2.1.0"

    def test_what_is_pinned_must_be_what_the_chart_asks_for(self) -> None:
        with pytest.raises(InvalidValue, match=r"keda: the lock has version 1\.0\.0, and Chart\.yaml asks for \^2"):
            chosen("{version: 1.0.0, urls: [x]}", "1.0.0")

    @pytest.mark.parametrize("urls", ["", ", urls: []", ", urls: [[a]]", ", urls: ['']"])
    def test_a_version_without_an_address_is_refused(self, urls: str) -> None:
        with pytest.raises(InvalidValue, match=r"index\.yaml does not say where keda 2\.1\.0 is"):
            chosen(f"{{version: 2.1.0{urls}}}")

    @pytest.mark.parametrize("content", [b"<html>", b"entries: []", b"entries: {keda: }", b"{"])
    def test_what_is_no_index_is_refused_by_its_address(self, content: bytes) -> None:
        with pytest.raises(InvalidValue, match=r"https://kedacore\.github\.io/charts/index\.yaml"):
            index.choose(content, KEDA, None)
