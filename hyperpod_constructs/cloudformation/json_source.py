"""Reads JSON, and finds the lines of its values only when somebody asks: templates of the CDK are large."""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn, cast

from hyperpod_constructs.cloudformation.places import Place, SyntaxProblem, duplicate

COMMENTS = ("//", "/*")
"""What begins a comment in JavaScript and in some readers of JSON."""

_LEXEME = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:\n]|[^\s\[\]{},:"]+')
_MAX_DIGITS = 300  # whatever is computed with such a number still fits a float
_SHOWN = 40
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class _DuplicateKeyError(Exception):
    pass


def read(text: str) -> object:
    """Decodes JSON as the standard has it: no `NaN`, no key twice.

    Raises:
        SyntaxProblem: With the line, for what is no such JSON.
    """
    try:
        value = json.loads(
            text, object_pairs_hook=_mapping, parse_constant=_constant, parse_float=_float, parse_int=_whole
        )
    except _DuplicateKeyError:
        raise _first_duplicate(text) from None
    except json.JSONDecodeError as error:
        is_comment = text.startswith(COMMENTS, error.pos)
        said = "JSON has no comments; take this one out" if is_comment else error.msg
        raise SyntaxProblem(f"line {error.lineno}, column {error.colno}: {said}") from None
    except RecursionError:
        raise SyntaxProblem("it is nested too deeply") from None
    if _SURROGATE.search(text):
        _refuse_half_characters(value)
    return value


def places(text: str) -> Place:
    """The lines of all values of a text that `read` accepts."""
    return _scan(text)[0]


def _mapping(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise _DuplicateKeyError
    return mapping


def _constant(name: str) -> NoReturn:
    raise SyntaxProblem(f"{name} is no JSON value")


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _too_large(text)
    return number


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise _too_large(text)
    return int(text)


def _too_large(text: str) -> SyntaxProblem:
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text):,} digits)"
    return SyntaxProblem(f"{shown} is too large a number")


def _refuse_half_characters(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise SyntaxProblem("it has half of a surrogate pair (\\ud800 to \\udfff), which is no character") from None


def _first_duplicate(text: str) -> SyntaxProblem:
    key, first, second = next(iter(_scan(text)[1]))
    return duplicate(key, first, second)


def _scan(text: str) -> tuple[Place, list[tuple[str, int, int]]]:
    """Places, and the keys that occur twice in a mapping: (key, line, later line)."""
    here, step = Place(1), cast("str | int | None", 0)  # where the next value goes; no step: a key is due
    outermost = here
    around: list[tuple[Place, str | int | None]] = []
    twice: list[tuple[str, int, int]] = []
    line = 1
    for match in _LEXEME.finditer(text):
        lexeme = match[0]
        if lexeme == "\n":
            line += 1
        elif lexeme in "]}":
            here, step = around.pop()
        elif lexeme == ",":
            step = step + 1 if isinstance(step, int) else None
        elif step is None:
            step = json.loads(lexeme)
            if step in here.inner:
                twice.append((str(step), here.inner[step].line, line))
            here.inner[step] = Place(line)
        elif lexeme != ":":
            place = here.inner.setdefault(step, Place(line))
            if lexeme in "[{":
                around.append((here, step))
                here, step = place, 0 if lexeme == "[" else None
    return outermost.inner[0], twice
