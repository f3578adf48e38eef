from __future__ import annotations

import pytest

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart import versions


@pytest.mark.parametrize(
    ("wanted", "inside", "outside"),
    [
        ("1.2.3", "v1.2.3", "1.2.4"),
        ("v1.18.2", "1.18.2", "1.18.2-rc.1"),
        ("1.2.3-rc.1", "1.2.3-rc.1", "1.2.3"),
        ("1.2", "1.2.9", "1.3.0"),
        ("~1.2", "1.2.9", "1.3.0"),
        ("~1.2.3", "1.2.4", "1.2.2"),
        ("^1", "1.9.0", "2.0.0"),
        ("^1.2.3", "1.9.0", "1.2.2"),
        ("^0.2.3", "0.2.9", "0.3.0"),
        ("1.2.x", "1.2.0", "1.3.0"),
        ("1.*", "1.9.9", "2.0.0"),
        ("*", "0.0.1", "1.0.0-alpha"),
        (">=1 <2", "1.5.0", "2.0.0"),
        (">= 1.2, < 1.4", "1.3.9", "1.4.0"),
        (">1.2", "1.3.0", "1.2.9"),
        ("<=1.2", "1.2.9", "1.3.0"),
        ("=1.2.3", "1.2.3", "1.2.4"),
    ],
)
def test_ranges(wanted: str, inside: str, outside: str) -> None:
    assert (versions.fits(inside, wanted), versions.fits(outside, wanted)) == (True, False)


@pytest.mark.parametrize("wanted", ["1 || 2", "1.0 - 2.0", "!=1.2", "latest", "", ">=1.2.3-beta", ">"])
def test_what_is_not_understood_is_not_guessed(wanted: str) -> None:
    assert versions.fits("1.2.3", wanted) is None
    with pytest.raises(InvalidValue, match=r"is not understood; write one version, or one of the forms ~1\.2"):
        versions.highest(["1.2.3"], wanted, "keda")


class TestHighest:
    def test_compares_numbers_and_not_letters(self) -> None:
        assert versions.highest(["1.9.0", "v1.10.0", "2.0.0", "1.11.0-rc.1", "junk"], "^1", "keda") == "v1.10.0"

    def test_no_such_version_names_the_newest(self) -> None:
        with pytest.raises(
            InvalidValue, match=r"keda: no version fits '\^3'; the newest are 2\.0\.0, 2\.0\.0-rc\.2, 1"
        ):
            versions.highest(["1.0.0", "2.0.0-rc.2", "2.0.0"], "^3", "keda")

    def test_parts_before_a_release_are_ordered(self) -> None:
        texts = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-2", "1.0.0-11", "1.0.0"]
        found = [versions.parse(text) for text in texts]
        assert sorted(texts, key=lambda text: found[texts.index(text)].order) == [  # type: ignore[union-attr]  # all parse
            "1.0.0-2",
            "1.0.0-11",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0",
        ]
