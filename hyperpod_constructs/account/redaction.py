"""Takes out of a snapshot what tells who and where: account ids, addresses, keys and names of people.

Equal things stay equal: an account id becomes the same stand-in wherever it stands, in an ARN, a bucket's name or a
message. Stand-ins are numbered in the order of the file, so those of two files cannot be compared. In doubt something
is taken out: a stand-in too many costs a reader a moment, a name too few cannot be called back.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

_ACCOUNT: Final = re.compile(r"(?<![0-9])[0-9]{12}(?![0-9])")
_SPACED_ACCOUNT: Final = re.compile(
    r"(?P<uuid>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
    r"|(?<![0-9])(?P<account>[0-9]{4}(?P<mark>[- ])[0-9]{4}(?P=mark)[0-9]{4})(?![0-9])"
)
"""An account id as the console shows it; a UUID can have such digits in the middle and is none."""
_CERTAIN_ACCOUNT: Final = re.compile(r"(?:arn:[\w-]*:[\w-]*:[\w-]*:|^)([0-9]{12})(?=:|$)")
_KEY: Final = re.compile(r"(?<![0-9A-Za-z])A(?:3T[0-9A-Z]|[A-Z]{2}A)[0-9A-Z]{16,}(?![0-9A-Za-z])")
"""Access keys and unique ids. Source: IAM user guide, "IAM identifiers" (AKIA, ASIA, AROA, AIDA and others)."""
_MAIL: Final = re.compile(r"\w[\w.%+'\u2019~-]*@[\w-]+(?:\.[\w-]+)+")
_NAME: Final = r"[\w+=,.@-]*[\w+=@-]"
_PEOPLE: Final = re.compile(
    rf"arn:[\w-]+:(?:iam::\d*:user/(?:{_NAME}/)*(?P<user>{_NAME})"
    rf"|sts::\d*:(?:assumed-role/(?:{_NAME}/)+|federated-user/)(?P<session>{_NAME}))"
    rf"|(?<![0-9A-Za-z])A(?:ROA|IDA)[0-9A-Z]{{16,}}:(?P<of_id>{_NAME})"
)
"""IAM users and sessions, which are named after whoever signed in."""
_IPV4: Final = re.compile(r"(?<![0-9])(?<![0-9]\.)[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9]|\.[0-9])")
_DASHED_IPV4: Final = re.compile(r"(?<![0-9])(?<![0-9]-)[0-9]{1,3}(?:-[0-9]{1,3}){3}(?![0-9]|-[0-9])")
_COLONS: Final = re.compile(r"(?<![\w:])[0-9a-fA-F]*:[0-9a-fA-F:]*:[0-9a-fA-F]*(?![0-9A-Za-z])")
_MAC: Final = re.compile(r"[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}")
_ARN_HEAD: Final = r"arn:[\w-]*:[\w-]*:[\w-]*:[0-9]*:(?:[\w-]+[/:](?!/))?"
"""What an ARN begins with: service and type of resource, which nobody is named after."""

_OF_A_SERVICE: Final = re.compile(r"AWSCloudFormation|SageMaker|i-[0-9a-f]{8}(?:[0-9a-f]{9})?")
"""Sessions that a service of AWS or an instance has, and no person."""
_SHORTEST: Final = 3
"""A shorter name is a part of too many things; it is taken out only where it stands for a person."""
_NO_NAMES: Final = frozenset(
    [
        "access",
        "account",
        "admin",
        "arn",
        "aws",
        "bucket",
        "cluster",
        "for",
        "group",
        "instance",
        "instances",
        "node",
        "nodes",
        "not",
        "plan",
        "policy",
        "quota",
        "role",
        "root",
        "running",
        "sagemaker",
        "session",
        "ssm",
        "training-plan",
        "usage",
        "user",
        "users",
    ]
)
"""Words of AWS: a user of such a name is taken out only where it stands for a person."""
_OF_AWS: Final = frozenset(
    [
        "code",
        "created",
        "ends",
        "format",
        "instance_type",
        "instance_types",
        "kind",
        "measured",
        "orchestrator",
        "permission",
        "plan_status",
        "region",
        "service",
        "starts",
        "status",
        "taken",
        "what",
        "zones",
    ]
)
"""Keys of a snapshot whose values AWS or this package chooses: no one is named in them."""
_MARK: Final = "\ue000"
"""Stands around the number of a person until the text is whole, so that no name is found in a stand-in."""


def redacted(data: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of JSON data without account ids, addresses, keys and names of people.

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
        self._keys: dict[str, str] = {}
        self._people: dict[str, int] = {}

    def learn(self, text: str) -> None:
        """Finds who is in a text: a name is known as one only where an ARN or an address has it."""
        for match in _PEOPLE.finditer(text):
            if _person(match):
                self._number(_person(match))
        for mail in _MAIL.findall(text):
            self._number(mail)
        for id_ in _CERTAIN_ACCOUNT.findall(text):
            self._account(id_)

    def apply(self, key: str, text: str) -> str:
        """The text of a key with stand-ins."""
        text = text.replace(_MARK, "")
        if key not in _OF_AWS:
            text = _PEOPLE.sub(self._in_its_place, text)
            text = self._anywhere().sub(lambda match: match["head"] or self._marked(match["name"]), text)
        text = _KEY.sub(lambda match: self._keys.setdefault(match[0], f"key-{len(self._keys) + 1}"), text)
        for id_, stand_in in self._accounts.items():  # of these it is certain, so even among other digits
            text = text.replace(id_, stand_in) if stand_in != id_ else text
        text = _SPACED_ACCOUNT.sub(self._spaced, text)
        text = _ACCOUNT.sub(lambda match: self._account(match[0]), text)
        text = _IPV4.sub(lambda match: self._address(match[0]), text)
        text = _DASHED_IPV4.sub(lambda match: self._address(match[0].replace("-", "."), match[0]), text)
        text = _COLONS.sub(lambda match: self._with_colons(match[0]), text)
        return re.sub(f"{_MARK}([0-9]+){_MARK}", r"person-\1", text)

    def _anywhere(self) -> re.Pattern[str]:
        """Finds people wherever they are named; the longest name first, for one can begin as another does."""
        names = [name for name in self._people if len(name) >= _SHORTEST and name not in _NO_NAMES]
        names = [re.escape(name) for name in sorted(names, key=len, reverse=True)] or [r"(?!)"]
        whole = rf"(?<![^\W_])(?P<name>{'|'.join(names)})(?![^\W_])"
        return re.compile(rf"(?P<head>{_ARN_HEAD})|{whole}", re.IGNORECASE)

    def _in_its_place(self, match: re.Match[str]) -> str:
        name = _person(match)
        return match[0].removesuffix(name) + self._marked(name) if name else match[0]

    def _marked(self, name: str) -> str:
        return f"{_MARK}{self._number(name)}{_MARK}"

    def _number(self, name: str) -> int:
        return self._people.setdefault(name.lower(), len(self._people) + 1)

    def _spaced(self, match: re.Match[str]) -> str:
        if match["uuid"]:
            return match[0]
        stand_in = self._account(re.sub(r"[- ]", "", match["account"]))
        return match["mark"].join((stand_in[:4], stand_in[4:8], stand_in[8:]))

    def _account(self, id_: str) -> str:
        if id_ in self._accounts.values():  # it has been replaced already
            return id_
        return self._accounts.setdefault(id_, f"{len(self._accounts) + 1:012d}")

    def _with_colons(self, text: str) -> str:
        """An address of version 6 or of a network card, with whatever stands right behind it: a colon, a port."""
        for end in (len(text), len(text.rstrip(":")), text.rfind(":")):
            found = self._address(text[:end])
            if found != text[:end]:
                return found + text[end:]
        return text

    def _address(self, address: str, otherwise: str | None = None) -> str:
        """The stand-in of an address; what is none stays as it is written."""
        if _MAC.fullmatch(address):
            same = address.lower()
        else:
            try:  # 010.1.2.3 is no address to Python, but one to a reader
                same = str(ipaddress.ip_address(re.sub(r"(?<![0-9a-fA-F:])0+(?=[0-9])", "", address)))
            except ValueError:
                return otherwise or address
            if same == "::":  # every address, or what is left of an ARN
                return address
        return self._addresses.setdefault(same, f"address-{len(self._addresses) + 1}")


def _person(match: re.Match[str]) -> str:
    """The name in a match of `_PEOPLE`; empty where it is none."""
    session = match["session"] or match["of_id"] or ""
    name = match["user"] or ("" if _OF_A_SERVICE.fullmatch(session) else session)
    return "" if _ACCOUNT.fullmatch(name) else name


def _strings(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _strings(value)
    elif isinstance(data, list):
        for value in data:
            yield from _strings(value)


def _changed(data: Any, change: Callable[[str, str], str], key: str = "") -> Any:  # noqa: ANN401  # whatever JSON holds
    if isinstance(data, str):
        return change(key, data)
    if isinstance(data, Mapping):
        return {name: _changed(value, change, name) for name, value in data.items()}
    return [_changed(value, change, key) for value in data] if isinstance(data, list) else data
