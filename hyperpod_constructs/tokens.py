"""Recognises values that are known only at deploy, without a call into Node.

Three things mean "not known": the CDK's tokens, which are ordinary strings, numbers and lists with a marker in them;
its placeholders, which `from_lookup` and `value_from_lookup` give until the CDK has asked AWS, and which it asks for
only if the app ends without an exception; and `UNKNOWN`, which the template readers put where an intrinsic cannot be
decided. Rules only ever see `UNKNOWN`: `without_tokens` replaces the others by it before a check, and the readers of
templates a placeholder as soon as they meet one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal, TypeAlias, TypeVar

T = TypeVar("T")

_LIST_MARKER = "#{Token["
_MARKERS = ("${Token[", _LIST_MARKER)
_PLACEHOLDERS: Final = frozenset(
    {
        *("vpc-12345", "1.2.3.4/5"),  # ec2.Vpc.from_lookup
        *("dummy1a", "dummy1b", "dummy1c"),  # its zones, and Stack.availability_zones
        *("p-12345", "p-67890", "s-12345", "s-67890"),  # its subnets
        *("rtb-12345p", "rtb-57890p", "rtb-12345s", "rtb-67890s"),  # their route tables
        *("sg-12345678", "sg-1234", "sg-123456789012"),  # ec2.SecurityGroup; load balancers and their listeners
        "pl-xxxxxxxx",  # ec2.PrefixList
        "ami-1234",  # ec2.MachineImage.lookup
        *("TESTADDRESS", "TESTREADERADDRESS", "TESTARN"),  # rds.DatabaseInstance and rds.DatabaseCluster
    }
)
"""What lookups of aws-cdk-lib 2.275 give before the answer. That of `kms.Key` is left out: it is a well-formed id that
nothing refuses, and documentation uses it for keys of any kind."""
_IN_PLACEHOLDERS: Final = (
    "dummy-value-for-",  # ssm.StringParameter.value_from_lookup, before the name of the parameter
    "/DUMMY_ARN",  # iam.Role and ecr.Repository, at the end of an ARN
)
# jsii encodes number tokens as huge negative doubles (aws-cdk-lib core/lib/private/encoding: 0xFBFF on top).
_NUMBER_TOKENS_BELOW = -1e280


class _Unknown(Enum):
    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __bool__(self) -> bool:
        raise TypeError("UNKNOWN is neither true nor false: compare with `is UNKNOWN`")


Unknown: TypeAlias = Literal[_Unknown.UNKNOWN]
UNKNOWN: Final = _Unknown.UNKNOWN
"""Known only at deploy. `None` is different: it means left out."""


def is_token(value: object) -> bool:
    """Whether a value is, or contains, something known only at deploy, or once the CDK has looked it up."""
    if isinstance(value, str):
        return any(marker in value for marker in _MARKERS) or is_placeholder(value)
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return value < _NUMBER_TOKENS_BELOW
    if isinstance(value, list | tuple):
        return any(is_token(item) for item in value)
    return value is UNKNOWN


def is_placeholder(value: object) -> bool:
    """Whether a text is, or contains, what the CDK gives for a lookup that it has not made yet.

    Unlike a token it is known at synth: in the run after this one.
    """
    return isinstance(value, str) and (value in _PLACEHOLDERS or any(part in value for part in _IN_PLACEHOLDERS))


def known(value: T | Unknown | None) -> T | None:
    """The value where it is given and known, else `None`."""
    return None if value is UNKNOWN or is_token(value) else value


def without_tokens(value: object) -> object:
    """A copy of a model value with `UNKNOWN` in place of every token and tuples in place of lists.

    Users may write lists, and rules look for tuples. A list token stands for any number of items.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changed = {
            field.name: cleaned
            for field in dataclasses.fields(value)
            if (cleaned := without_tokens(old := getattr(value, field.name))) is not old
        }
        return _copy(value, changed) if changed else value
    if isinstance(value, Mapping):
        cleaned_items = {key: without_tokens(item) for key, item in value.items()}
        return cleaned_items if any(cleaned_items[key] is not value[key] for key in value) else value
    if isinstance(value, list | tuple):
        if any(isinstance(item, str) and _LIST_MARKER in item for item in value):
            return UNKNOWN
        cleaned_list = tuple(without_tokens(item) for item in value)
        same = isinstance(value, tuple) and all(a is b for a, b in zip(cleaned_list, value, strict=True))
        return value if same else cleaned_list
    return UNKNOWN if is_token(value) else value


def _copy(value: object, changed: Mapping[str, object]) -> object:
    """`dataclasses.replace` without `__post_init__`, which checked the value when the user made it."""
    copied = object.__new__(type(value))
    for field in dataclasses.fields(value):  # type: ignore[arg-type]  # a dataclass instance, see the caller
        object.__setattr__(copied, field.name, changed.get(field.name, getattr(value, field.name)))
    return copied
