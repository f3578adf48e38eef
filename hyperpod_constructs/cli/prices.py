"""`hyperpod prices refresh`: what AWS asks for today, in a file that `cost` and `summary` read first."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from hyperpod_constructs.account import gateway, prices
from hyperpod_constructs.account.gateway.pricing import HOME, Pricing
from hyperpod_constructs.account.prices import Found
from hyperpod_constructs.catalog import price_lists, regions
from hyperpod_constructs.catalog.price_lists import HYPERPOD, PriceList
from hyperpod_constructs.cli import files, inputs, price_files, terminal
from hyperpod_constructs.errors import UnreadablePrices

_NOTHING, _CANNOT = 1, 2


def run(arguments: argparse.Namespace) -> int:
    """Writes the file and prints what is new in it; 1 where a Region has no price of HyperPod's instances."""
    asked = tuple(dict.fromkeys(arguments.region))
    for region in asked:
        gateway.must_exist(region)
        if regions.partition(region) != "aws":
            place = f"{region} is in partition {regions.partition(region)}"
            print(
                f"hyperpod: {place}, whose prices are not in this Price List: put them in a file that "
                f"{price_files.PRIVATE} names",
                file=sys.stderr,
            )
            return _CANNOT
    file = Path(arguments.output) if arguments.output else price_files.refreshed_file()
    old = _old(file)
    pricing = gateway.sign_in(profile=arguments.profile, region=HOME).open(Pricing)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    found = {region: prices.look_up(pricing, region, as_of=today) for region in asked}
    new = [each for one in found.values() for each in one.lists]
    if new:
        files.write({file: price_lists.as_text(price_lists.replaced(old, new))})
    if arguments.format == "json":
        print(json.dumps(_as_data(file, found), indent=2))
    else:
        print("\n".join(_text(file, found, terminal.width())))
    return _NOTHING if any(HYPERPOD in one.missing for one in found.values()) else 0


def _old(file: Path) -> tuple[PriceList, ...]:
    """What the file has; a broken one is written anew if it is this command's own, and kept if it may be a person's.

    Raises:
        UnreadablePrices: if the file is another than the cache and cannot be read.
    """
    if not file.is_file():
        return ()
    try:
        return price_files.read(file)
    except UnreadablePrices as error:
        if file != price_files.refreshed_file():
            raise
        inputs.note(f"{error}; the file is written anew, without what it held")
        return ()


def _as_data(file: Path, found: dict[str, Found]) -> dict[str, object]:
    return {
        "file": str(file) if any(one.lists for one in found.values()) else None,
        "regions": {
            region: {
                "prices": {each.of: len(each.usd) for each in one.lists},
                "sources": {each.of: f"{each.source}; as of {each.as_of}" for each in one.lists},
                "missing": list(one.missing),
                "unclear": list(one.unclear),
            }
            for region, one in found.items()
        },
    }


def _text(file: Path, found: dict[str, Found], columns: int) -> list[str]:
    lines = []
    for region, one in found.items():
        lines.append(region)
        lines += terminal.table(
            [(each.of, f"{len(each.usd):,}", each.source, each.as_of) for each in one.lists], right={1}
        )
        if one.missing:
            lines += terminal.wrapped(f"nothing found of: {', '.join(one.missing)}", columns, indent="  ", hang="  ")
        if one.unclear:
            several = f"several prices or an odd one, so none was taken: {', '.join(one.unclear)}"
            lines += terminal.wrapped(several, columns, indent="  ", hang="  ")
    if not any(one.lists for one in found.values()):
        return [*lines, "nothing was written"]
    written = f"wrote {terminal.plain(str(file))}; `hyperpod cost` and `hyperpod summary` read "
    return [
        *lines,
        written + ("it" if file == price_files.refreshed_file() else f"it where {price_files.PRIVATE} names it"),
    ]
