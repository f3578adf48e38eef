"""`hyperpod policy`: what IAM and KMS must allow for PATH, as documents to attach."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hyperpod_constructs.account import permissions
from hyperpod_constructs.cli import files, inputs, terminal
from hyperpod_constructs.cloudformation.assembly import Assembly
from hyperpod_constructs.planning.permissions import execution, keys, personas, reading
from hyperpod_constructs.planning.permissions.documents import ATTACHED, LIMIT, Document

_CANNOT: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What one of the options gives.

    Attributes:
        data: The answer as JSON shows it.
        lines: The answer for a person, of so many columns.
        documents: What `--output` writes.
        code: Exit code.
    """

    data: dict[str, object]
    lines: Callable[[int], list[str]]
    documents: tuple[Document, ...]
    code: int = 0


def run(arguments: argparse.Namespace) -> int:
    """Prints the policies, or writes them; 1 where PATH is refused or something of it is not known."""
    if arguments.preflight:
        return _give(_preflight(), arguments)
    if arguments.path is None:
        return _refuse("name PATH: only --preflight does without")
    if arguments.keys and arguments.output:
        return _refuse("--keys prints statements to add to policies that exist, so there is nothing for --output")
    source = inputs.read(arguments.path, arguments.region)
    if source.refusal:
        return inputs.refuse(source.refusal)
    if arguments.keys:
        return _give(_keys(source.read), arguments)
    return _give(_personas(source.read) if arguments.personas else _execution(source.read), arguments)


def _refuse(message: str) -> int:
    print(f"hyperpod: {message}", file=sys.stderr)
    return _CANNOT


def _give(answer: _Answer, arguments: argparse.Namespace) -> int:
    """Writes the documents where a folder is named, else prints the answer."""
    if arguments.output:
        folder = Path(arguments.output)
        texts = {folder / f"{each.name}.json": json.dumps(each.as_data(), indent=2) + "\n" for each in answer.documents}
        files.write(texts)
        inputs.note(f"wrote {terminal.plural(len(texts), 'file')} to {folder}")
        for old in _left_over(folder, texts.keys(), answer.documents):
            old.unlink()
            inputs.note(f"removed {old}, of an earlier run: the policies need it no more")
    elif arguments.format == "json":
        print(json.dumps(answer.data, indent=2))
    else:
        print("\n".join(answer.lines(terminal.width())))
    return answer.code


def _left_over(folder: Path, written: Collection[Path], documents: Iterable[Document]) -> list[Path]:
    """Parts of the same policy that an earlier run has written: attached with the new ones they allow too much."""
    names = {re.sub(r"-[0-9]+$", "", each.name) for each in documents}
    part = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(names)))})(?:-[0-9]+)?\.json")
    return (
        [each for each in sorted(folder.iterdir()) if part.fullmatch(each.name) and each not in written]
        if names
        else []
    )


def _execution(assembly: Assembly) -> _Answer:
    found = execution.of(assembly)

    def lines(columns: int) -> list[str]:
        number = terminal.plural(len(found.documents), "policy", "policies")
        text = [f"{number} for the role that CloudFormation deploys with, in place of AdministratorAccess"]
        text += _documents(found.documents, columns)
        if len(found.documents) > ATTACHED:
            text += terminal.wrapped(f"note: a role takes {ATTACHED} policies unless its quota is raised", columns)
        text += [line for note in found.notes for line in terminal.wrapped(f"note: {note}", columns, hang="  ")]
        return [*text, *_next(found.documents)]

    data = {**_as_data(found.documents), "unknown": list(found.unknown), "notes": list(found.notes)}
    return _Answer(data=data, lines=lines, documents=found.documents, code=1 if found.unknown else 0)


def _next(documents: tuple[Document, ...]) -> list[str]:
    if not documents:
        return []
    first = documents[0].name
    rows = [
        ("hyperpod policy PATH --output DIR", "a file for each policy"),
        (f"aws iam create-policy --policy-name NAME --policy-document file://DIR/{first}.json", "for each file"),
        ("cdk bootstrap --cloudformation-execution-policies ARN,ARN", "attaches them, all of them"),
    ]
    return ["next", *terminal.table(rows)]


def _preflight() -> _Answer:
    documents = reading.policy(permissions.of_preflight())

    def lines(columns: int) -> list[str]:
        head = "for whoever runs `hyperpod preflight`: it only reads"
        return [head, *_documents(documents, columns)]

    return _Answer(data=_as_data(documents), lines=lines, documents=documents)


def _keys(assembly: Assembly) -> _Answer:
    found = keys.statements(assembly)

    def lines(columns: int) -> list[str]:
        if not found:
            return ["no imported key encrypts anything: there is no statement to add"]
        text: list[str] = []
        for key in dict.fromkeys(each.key for each in found):
            text.append(f"key {terminal.plain(key)}: add to its policy")
            for each in (each for each in found if each.key == key):
                why = f"{each.grantee}, for {', '.join(each.used_by)}: {each.statement.why}"
                text += terminal.wrapped(why, columns, indent="  ", hang="  ")
                text += _json(each.statement.as_data())
        return text

    data = [
        {
            "key": each.key,
            "grantee": each.grantee,
            "used_by": list(each.used_by),
            "why": each.statement.why,
            "statement": each.statement.as_data(),
        }
        for each in found
    ]
    return _Answer(data={"keys": data}, lines=lines, documents=())


def _personas(assembly: Assembly) -> _Answer:
    found = personas.of(assembly)

    def lines(columns: int) -> list[str]:
        text = []
        for persona in found.personas:
            text.append(persona.name)
            for word, said in (("may", persona.may), ("may not", persona.may_not)):
                text += [line for each in said for line in terminal.wrapped(f"{word} {each}", columns, indent="  ")]
            text += _documents(persona.documents, columns)
        return text + [line for note in found.notes for line in terminal.wrapped(f"note: {note}", columns, hang="  ")]

    data: dict[str, object] = {
        "personas": [
            {
                "name": each.name,
                "may": list(each.may),
                "may_not": list(each.may_not),
                **_as_data(each.documents),
            }
            for each in found.personas
        ],
        "notes": list(found.notes),
    }
    documents = tuple(document for each in found.personas for document in each.documents)
    return _Answer(data=data, lines=lines, documents=documents, code=0 if found.personas else 1)


def _as_data(documents: Iterable[Document]) -> dict[str, object]:
    return {
        "documents": [
            {
                "name": each.name,
                "characters": each.characters,
                "document": each.as_data(),
                "why": {statement.sid: statement.why for statement in each.statements},
            }
            for each in documents
        ]
    }


def _documents(documents: Iterable[Document], columns: int) -> list[str]:
    """Each document with its length and the reason for each statement."""
    text = []
    for document in documents:
        text.append(f"{document.name} ({document.characters:,} of {LIMIT:,} characters)")
        for statement in document.statements:
            text += terminal.wrapped(f"{statement.sid}: {statement.why}", columns, indent="  ", hang="  ")
        text += _json(document.as_data())
    return text


def _json(data: dict[str, Any]) -> list[str]:
    return ["  " + line for line in json.dumps(data, indent=2).splitlines()]
