"""The files with prices that commands read before the catalogue. Only commands do: a synth never looks at them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from hyperpod_constructs.catalog import price_lists
from hyperpod_constructs.catalog.price_lists import PriceList
from hyperpod_constructs.cli import inputs
from hyperpod_constructs.errors import UnreadablePrices

PRIVATE: Final = "HYPERPOD_PRICES"
"""The environment variable that names a file with a user's own prices."""


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
        found += read(refreshed)
        files.append(str(refreshed))
    if files:
        inputs.note(f"prices of {' and then of '.join(files)} come before those of this package")
    return tuple(found)


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
