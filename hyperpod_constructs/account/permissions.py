"""What IAM must allow for a preflight: every read of the readers that its checks open but those nobody calls."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Final

from hyperpod_constructs.account import preflight
from hyperpod_constructs.account.gateway import Reader

_OF_OTHER_COMMANDS: Final = frozenset({"sagemaker:ListTrainingPlans"})
"""Reads of the same readers that no check calls: `hyperpod plans list` does."""


def readers() -> frozenset[type[Reader]]:
    """The readers that the modules of the preflight import."""
    names = [module.name for module in pkgutil.iter_modules(preflight.__path__)]
    modules = [importlib.import_module(f"{preflight.__name__}.{name}") for name in names]
    found = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    return frozenset(each for each in found if issubclass(each, Reader) and each is not Reader)


def of_preflight() -> tuple[str, ...]:
    """The permissions of all their reads, sorted, such as `ec2:DescribeSubnets`."""
    needed = {permission for reader in readers() for permission in reader.READS.values()}
    return tuple(sorted(needed - _OF_OTHER_COMMANDS))
