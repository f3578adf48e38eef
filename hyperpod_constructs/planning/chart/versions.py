"""Versions of charts and the ranges of them that Chart.yaml may ask for.

Only what is written often is understood; all else is said not to be, because a wrong guess would install another chart.
Source: semver.org 2.0.0; github.com/Masterminds/semver 3, which Helm uses (2026).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, TypeAlias

from hyperpod_constructs.errors import InvalidValue

Numbers: TypeAlias = tuple[int, int, int]
_VERSION: Final = re.compile(
    r"v?(?P<major>\d+)(?:\.(?P<minor>\d+))?(?:\.(?P<patch>\d+))?(?:-(?P<pre>[0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)
_PART: Final = r"(?:[~^]|[<>]=?|=|)\s*v?[0-9xX*][0-9A-Za-z.*+-]*"
_PARTS: Final = re.compile(rf"\s*{_PART}(?:[\s,]+{_PART})*\s*")
_WILD: Final = re.compile(r"v?(?P<major>\d+|[xX*])(?:\.(?P<minor>\d+|[xX*]))?(?:\.(?P<patch>\d+|[xX*]))?")
_NO_END: Final[Numbers] = (10**9, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A version that can be compared.

    Attributes:
        numbers: Major, minor, patch.
        pre: Parts of what comes after a hyphen; empty for a release.
    """

    numbers: Numbers
    pre: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[Numbers, bool, tuple[tuple[bool, int, str], ...]]:
        """What sorts versions: a release after what came before it, numbers before words."""
        parts = tuple((not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in self.pre)
        return self.numbers, not self.pre, parts


def parse(text: str) -> Version | None:
    """A version; `None` for what is none."""
    match = _VERSION.fullmatch(text)
    if match is None:
        return None
    numbers = (int(match["major"]), int(match["minor"] or 0), int(match["patch"] or 0))
    return Version(numbers=numbers, pre=tuple(match["pre"].split(".")) if match["pre"] else ())


def fits(version: str, wanted: str) -> bool | None:
    """Whether a version is the one that is wanted, or in the range; `None` where the range is not understood."""
    allows, found = _range(wanted), parse(version)
    if allows is None:
        return None
    return found is not None and allows(found)


def highest(available: Iterable[str], wanted: str, what: str) -> str:
    """The highest version in a range.

    Args:
        available: Versions that there are.
        wanted: The range.
        what: What messages call the chart.

    Raises:
        InvalidValue: if the range is not understood, or no version is in it.
    """
    if _range(wanted) is None:
        raise InvalidValue(
            f"{what}: the range {wanted!r} is not understood",
            "write one version, or one of the forms ~1.2, ^1, 1.2.x, >=1 <2",
        )
    known = sorted(((found.order, text) for text in available if (found := parse(text))), reverse=True)
    chosen = next((text for _, text in known if fits(text, wanted)), None)
    if chosen is None:
        some = ", ".join(text for _, text in known[:5]) or "none"
        raise InvalidValue(f"{what}: no version fits {wanted!r}; the newest are {some}", "ask for one of those")
    return chosen


def _range(wanted: str) -> Callable[[Version], bool] | None:
    """A test for versions; `None` for what is not understood."""
    exact = parse(wanted) if wanted.count(".") > 1 else None  # 1.2 is a range: any patch of it
    if exact is not None:
        return lambda version: version.order == exact.order
    spans = [_span(part) for part in re.findall(_PART, wanted)] if _PARTS.fullmatch(wanted) else [None]
    bounds = [span for span in spans if span is not None]
    if len(bounds) < len(spans):
        return None
    return lambda version: not version.pre and all(low <= version.numbers < high for low, high in bounds)


def _span(part: str) -> tuple[Numbers, Numbers] | None:
    """The first version in a part of a range and the first that is not; `None` for a part that is not understood."""
    version = part.lstrip("~^<>= ")
    sign, wild = part[: -len(version)].strip(), _WILD.fullmatch(version)
    if wild is None:
        return None
    given = [int(number) for number in takewhile(lambda part: part and part.isdigit(), wild.groups())]
    low = _numbers(given)
    caret = next((i for i, number in enumerate(given) if number), len(given) - 1) + 1
    return {
        "": (low, _next(given)),
        "=": (low, _next(given)),
        "~": (low, _next(given[:2])),
        "^": (low, _next(given[:caret])),
        ">=": (low, _NO_END),
        ">": (_next(given), _NO_END),
        "<": (_numbers([]), low),
        "<=": (_numbers([]), _next(given)),
    }[sign]


def _next(given: list[int]) -> Numbers:
    """The first version that does not begin with these numbers."""
    return _numbers([*given[:-1], given[-1] + 1]) if given else _NO_END


def _numbers(given: list[int]) -> Numbers:
    major, minor, patch = (*given, 0, 0, 0)[:3]
    return major, minor, patch
