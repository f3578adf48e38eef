"""Takes out of a snapshot what tells who and where: account ids, addresses and names of people.

Equal things stay equal: an account id becomes the same stand-in wherever it stands, in an ARN, a bucket's name or a
message. Stand-ins are numbered in the order of the file, so those of two files cannot be compared.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

_ACCOUNT: Final = re.compile(r"(?<![0-9A-Za-z])[0-9]{12}(?![0-9A-Za-z])")
_MAIL: Final = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_PEOPLE: Final = re.compile(
    r"arn:[\w-]+:(?:iam::\d*:user/(?:[\w+=,.@-]+/)*(?P<user>[\w+=,.@-]+)"
    r"|sts::\d*:(?:assumed-role/[\w+=,.@-]+|federated-user)/(?P<session>[\w+=,.@-]+))"
)
"""IAM users and sessions, which are named after whoever signed in."""
_IP: Final = re.compile(r"(?<![\w.:-])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F:]*:[0-9a-fA-F:]*:[0-9a-fA-F]*)(?![\w:])")
_IP_IN_NAME: Final = re.compile(r"\bip-(\d{1,3}-\d{1,3}-\d{1,3}-\d{1,3})\b")
_WORD: Final = re.compile(r"[\w-]+")
_OF_A_SERVICE: Final = re.compile(r"AWS[A-Z]\w*|\d+|i-[0-9a-f]+|SageMaker", re.IGNORECASE)
"""Sessions that a service of AWS or an instance has, and no person."""


def redacted(data: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of JSON data without account ids, addresses and names of people.

    Args:
        data: Objects, lists, strings, numbers, booleans and nulls. Keys are kept.
    """
    stand_ins = _StandIns()
    for text in _strings(data):
        stand_ins.learn(text)
    changed: dict[str, Any] = _changed(data, stand_ins.apply)
    return changed


class _StandIns:
    """What stands for what."""

    def __init__(self) -> None:
        """Knows nobody yet."""
        self._accounts: dict[str, str] = {}
        self._addresses: dict[str, str] = {}
        self._people: dict[str, str] = {}

    def learn(self, text: str) -> None:
        """Finds the people of a text: a name is known as one only where an ARN or an address has it."""
        found = [match["user"] or match["session"] for match in _PEOPLE.finditer(text)]
        found += _MAIL.findall(text)
        for name in found:
            if not _OF_A_SERVICE.fullmatch(name):
                self._people.setdefault(name, f"person-{len(self._people) + 1}")

    def apply(self, text: str) -> str:
        """The text with stand-ins."""
        if not _WORD.fullmatch(text):  # a single word is a state or the name of a thing, whoever shares it
            for name in sorted(self._people, key=len, reverse=True):
                text = re.sub(rf"(?<![\w.@+-]){re.escape(name)}(?![\w@+-])", self._people[name], text)
        text = _ACCOUNT.sub(lambda match: self._account(match[0]), text)
        text = _IP_IN_NAME.sub(lambda match: f"ip-{self._address(match[1].replace('-', '.'))}", text)
        return _IP.sub(lambda match: self._address(match[0]), text)

    def _account(self, id_: str) -> str:
        return self._accounts.setdefault(id_, f"{len(self._accounts) + 1:012d}")

    def _address(self, address: str) -> str:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            return address
        return self._addresses.setdefault(address, f"address-{len(self._addresses) + 1}")


def _strings(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _strings(value)
    elif isinstance(data, list):
        for value in data:
            yield from _strings(value)


def _changed(data: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401  # whatever JSON holds
    if isinstance(data, str):
        return change(data)
    if isinstance(data, Mapping):
        return {key: _changed(value, change) for key, value in data.items()}
    return [_changed(value, change) for value in data] if isinstance(data, list) else data
