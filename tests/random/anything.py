"""Any deployment that the model can hold, made from the annotations of its classes: far more than people write.

Rules must have an opinion or none about each of them, and never raise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import reject, strategies as st

from hyperpod_constructs.catalog.instances import InstanceType
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.deployment import Location
from hyperpod_constructs.tokens import UNKNOWN

Strategy = st.SearchStrategy[Any]

_PATHS: Final = ("Train", "Train/p5", "Net/Nodes", "Net/Group", "F/Storage", "Role", "Topic", "subnet-1", "sg-1")
_ZONES: Final = ("usw2-az1", "usw2-az2", "usw2-phx2-az1", "use1-az1", "us-west-2b")
_REGIONS: Final = ("us-west-2", "eu-north-1", "cn-north-1", "nowhere-1")
_TYPES: Final = ("ml.p5.48xlarge", "ml.m5.xlarge", "ml.trn1.32xlarge", "ml.p6e-gb200.36xlarge", "ml.p5.48xlarg", "x")
_TEXTS: Final = (
    *("a", "p5", "P5", "", " ", "é" * 70, "*", "dev", "a.b", "a/b", "-", "0", "arn:", "s3://", "Net/Group.Id"),
    *("Continuous", "Automatic", "Controller", "Compute", "InstanceStress", "Retain", "Delete", "2.15", "PERSISTENT_2"),
    *("/fsx", "/home", "fsx", "s3://bucket", "s3://bucket/a*", "s3://bucket//b", "https://b.s3.amazonaws.com/a"),
    *("run.sh", "/run.sh", "../run.sh", "provisioning_parameters.json", "cron(0 3 ? * SUN *)", "rate(1 day)"),
    *(
        "10.0.0.0/16",
        "10.0.0.0/28",
        "0.0.0.0/0",
        "10.0.0.1/8",
        "::/0",
        "-1",
        "tcp",
        "6",
        "all",
        "ami-1234567890abcdef0",
    ),
    *("arn:aws:iam::111122223333:role/nodes", "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy"),
    *("arn:aws:sagemaker:eu-west-1:111122223333:training-plan/frontier", "arn:aws:s3:::bucket/a/*", "arn:aws:x"),
    *("sagemaker.amazonaws.com", "budgets.amazonaws.com", "sts:AssumeRole", "s3:GetObject", "s3:*", "ec2:*", "Allow"),
    *("aws:SourceAccount", "StringEquals", "USD", "EUR", "COST", "MONTHLY", "DAILY", "a@example.com", "alias/aws/sns"),
    *("2026-12-07", "2027-02-14", "2027-13-01", "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "7:03:00"),
    *("111122223333", *_PATHS[:3], *_ZONES[:2], *_REGIONS[:2], *_TYPES[:2]),
)
_NUMBERS: Final = (0, 1, 2, 3, 4, 6, 30, 64, 100, 125, 500, 988, 1024, 1200, 2400, 4800, 6758, 65535, 10**9, -1, 10**18)
_TEXTS_BY_FIELD: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("path", "subnets", "security_groups", "file_system", "execution_role", "group", "topic"), _PATHS),
    **dict.fromkeys(("zone", "zones"), _ZONES),
    **dict.fromkeys(("region", "regions"), _REGIONS),
    **dict.fromkeys(("instance_type", "flexible_types"), _TYPES),
    "account": ("111122223333", "444455556666"),
}
"""What fields refer to each other with: out of all texts two would hardly ever meet."""


@st.composite
def anything(draw: Any, kind: Any) -> Any:
    """Values of one class, `UNKNOWN` where it may be.

    A composite, because the text of a strategy, which Hypothesis writes, would be as long as the whole model.
    """
    hints = get_type_hints(kind)
    optional = [field.name for field in fields(kind) if field.init and not _is_required(field)]
    left_out = draw(st.integers(0, 2 ** len(optional) - 1))
    given = [name for bit, name in enumerate(optional) if not left_out >> bit & 1]
    names = [*(field.name for field in fields(kind) if _is_required(field)), *given]
    return _built(kind, {name: draw(_of(hints[name], _about(kind, name))) for name in names})


def _is_required(field: Field[Any]) -> bool:
    return field.init and field.default is field.default_factory is MISSING


def _about(kind: Any, field: str) -> tuple[str, ...]:
    """Texts for a field."""
    if kind is InstanceType and field == "name":
        return ("ml.p5.48xlarge", "ml.new.large")
    return _TEXTS_BY_FIELD.get(field, _TEXTS)


@cache
def _of(wanted: Any, texts: tuple[str, ...]) -> Strategy:
    """A strategy for values of a declared type."""
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin in {Union, UnionType}:
        return st.one_of([_of(choice, texts) for choice in sorted(arguments, key=_simplest_first)])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is not None:
        return _container(origin, [_of(each, texts) for each in arguments if each is not Ellipsis], arguments)
    if wanted is str:
        return st.sampled_from(texts)
    return _PLAIN[wanted] if wanted in _PLAIN else anything(wanted)


def _container(origin: Any, items: list[Strategy], arguments: tuple[Any, ...]) -> Strategy:
    if issubclass(origin, Mapping):
        return st.dictionaries(*items, max_size=2)
    if origin is frozenset:
        return st.frozensets(*items, max_size=3)
    return st.lists(*items, max_size=3).map(tuple) if arguments[-1] is Ellipsis else st.tuples(*items)


_PLAIN: Final[dict[Any, Strategy]] = {
    NoneType: st.none(),
    bool: st.booleans(),
    int: st.sampled_from(_NUMBERS),
    object: st.sampled_from((None, "x", 1, {"a": "b"}, ["x"])),
    float: st.sampled_from((0.0, 0.5, 12.5, 100.0, 1e9)),
    Location: st.builds(Location, st.sampled_from(("app.yaml", "other.json")), st.none() | st.integers(1, 99)),
}


def _simplest_first(choice: Any) -> int:
    return [choice is NoneType, get_origin(choice) is Literal, True].index(True)


def _built(kind: Any, values: Mapping[str, Any]) -> Any:
    """A value with as many of these fields as it takes; the others are left out, or not known where they must be."""
    built = _made(kind, values)
    if built is None:
        good: dict[str, Any] = {field.name: UNKNOWN for field in fields(kind) if _is_required(field)}
        for name, value in values.items():
            good |= {name: value} if _made(kind, {**good, name: value}) is not None else {}
        built = _made(kind, good)
    return built if built is not None else reject()


def _made(kind: Any, values: Mapping[str, Any]) -> Any:
    """The value, unless the model refuses it."""
    try:
        return kind(**values)
    except InvalidValue:
        return None
