"""The files with prices that commands read before the catalogue. Only commands do: a synth never looks at them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hyperpod_constructs.catalog import instances, price_lists, regions
from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.cli import inputs
from hyperpod_constructs.errors import UnreadablePrices

PRIVATE: Final = "HYPERPOD_PRICES"
"""The environment variable that names a file with a user's own prices."""
_OLD_DAYS: Final = 90
"""After so many days a refreshed price is called old: AWS has changed prices of GPU instances within a year."""


def refreshed_file() -> Path:
    """Where `hyperpod prices refresh` writes: the user's cache, wherever that is."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "hyperpod-constructs" / "prices.json"


def load() -> tuple[PriceList, ...]:
    """A user's own prices, then those that were refreshed; says on standard error which files it read.

    Raises:
        UnreadablePrices: if a file is not what it should be, or the user's own is not there.
    """
    private = os.environ.get(PRIVATE)
    found = [*(read(Path(private)) if private else ())]
    files = [private] if private else []
    refreshed = refreshed_file()
    if refreshed.is_file():
        found += _refreshed(refreshed)
        files.append(str(refreshed))
    if files:
        inputs.note(f"prices of {' and then of '.join(files)} come before those of this package")
    for each in dict.fromkeys(_unheard_of(found)):
        inputs.note(f"{each}: nothing in this package knows it, so look whether it is spelled right")
    return tuple(found)


def _refreshed(file: Path) -> tuple[PriceList, ...]:
    """What a refresh wrote; says on standard error what is old in it."""
    again = "`hyperpod prices refresh --region REGION` writes it anew"
    try:
        lists = read(file)
    except UnreadablePrices as error:
        raise UnreadablePrices(f"{error}; {again}") from None
    today = datetime.now(UTC).date()
    old = sorted(each.as_of for each in lists if (today - price_lists.day(each.as_of)).days > _OLD_DAYS)
    if old:
        inputs.note(f"prices of {file} are as old as {old[0]}: {again}")
    return lists


def _unheard_of(lists: Iterable[PriceList]) -> Iterator[str]:
    """Regions and types of instances that may be misspelled; or they are newer than this package."""
    for each in lists:
        if each.region not in regions.names():
            yield f"prices of Region {each.region}"
        if each.of == price_lists.HYPERPOD:
            yield from (f"price of {name}" for name in each.usd if instances.find(name) is None)


def read(file: Path) -> tuple[PriceList, ...]:
    """The lists of one file.

    Raises:
        UnreadablePrices: if it cannot be read.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is not text in UTF-8"
        raise UnreadablePrices(f"{file}: {reason}") from None
    return price_lists.parse(text, str(file))
