"""The parts of a page."""

from __future__ import annotations

from dataclasses import dataclass

from hyperpod_constructs.review.impacts import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A number before and after, as text."""

    label: str
    before: str
    after: str
    change: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line.

    Attributes:
        subject: What it is about, in the user's terms; empty for a line without one.
        text: What is said of it.
        action: What to do.
        command: A command that does it, shown as it is.
        steps: One after the other, where it takes several.
    """

    subject: str = ""
    text: str = ""
    action: str = ""
    command: str = ""
    steps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Lines under a title."""

    title: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A review, ready to be printed.

    Attributes:
        verdict: Its first word.
        headline: The verdict and its reason in one line.
        where: Clusters and Regions.
        rows: Numbers before and after.
        remarks: What has to be known of the numbers.
        sections: The rest.
    """

    verdict: Verdict
    headline: str
    where: str
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]
    sections: tuple[Section, ...]
