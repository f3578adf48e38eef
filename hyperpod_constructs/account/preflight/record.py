"""What preflight learned, as a file that later commands read where there is no account to ask.

The form has a version: a file of another one is refused rather than half understood.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from hyperpod_constructs.account.preflight.registry import Learned
from hyperpod_constructs.errors import UnreadableTemplate

VERSION: Final = 1
"""Version of the form. It changes where a reader of the old one would understand something wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What an account was like at one moment.

    Attributes:
        account: Twelve digits.
        read: When, UTC.
        unfinished: Names of the checks that did not come to their end, by Region: of their subjects facts may lack.
        regions: Facts by Region, section (`quotas`, `plans`, `subnets` and so on) and name.
    """

    account: str
    read: datetime
    regions: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]]
    unfinished: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def facts(self, region: str | None, section: str, name: str) -> Mapping[str, Any] | None:
        """What was learned of one thing; `None` where nothing was.

        Args:
            region: Region of the thing; `None` for the only Region that was read.
            section: For example `quotas`.
            name: Exact name or id.
        """
        if region is None and len(self.regions) == 1:
            (region,) = self.regions
        return self.regions.get(region or "", {}).get(section, {}).get(name)


def as_data(learned: Iterable[Learned]) -> dict[str, dict[str, dict[str, object]]]:
    """Facts by section and name, sorted."""
    sections: dict[str, dict[str, dict[str, object]]] = {}
    for each in sorted(learned, key=lambda each: (each.section, each.name)):
        sections.setdefault(each.section, {})[each.name] = dict(each.facts)
    return sections


def text(record: Record) -> str:
    """A record as its file has it."""
    data = {
        "version": VERSION,
        "account": record.account,
        "read": record.read.isoformat(timespec="seconds"),
        "unfinished": record.unfinished,
        "regions": record.regions,
    }
    return json.dumps(data, indent=2) + "\n"


def read(path: Path) -> Record:
    """Reads a record.

    Raises:
        UnreadableTemplate: if the file is none, or one of another version.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        version = data["version"]
        if version != VERSION:
            raise UnreadableTemplate(f"{path}: has version {version}, this command reads {VERSION}: write it again")
        return Record(
            account=data["account"],
            read=datetime.fromisoformat(data["read"]),
            regions=data["regions"],
            unfinished={region: [*names] for region, names in data.get("unfinished", {}).items()},
        )
    except OSError as error:
        raise UnreadableTemplate(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UnreadableTemplate(f"{path}: is no file that `hyperpod preflight --write` wrote") from None
