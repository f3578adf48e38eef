"""The generated schemas against what they were made from, and as Python reads them."""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.catalog import schemas
from tools.catalog import schemas as generator

FILE = Path(schemas.__file__).with_name("schemas.json")
TAG = r"^([\p{L}\p{Z}\p{N}_.:/=+\-@]*)$"
WORDS = {"type", "enum", "pattern", "says", "minLength", "maxLength", "minimum", "maximum", "ref", "items"} | {
    "minItems",
    "maxItems",
    "uniqueItems",
}


def values(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property, element and key of a kind with its path."""
    for name, definition in schemas.definitions(kind).items():
        found = {**definition.get("properties", {}), "keys": definition.get("keys"), "values": definition.get("values")}
        for each, value in found.items():
            if value is not None:
                yield f"{name}.{each}", value
                if "items" in value:
                    yield f"{name}.{each}[]", value["items"]


def patterns() -> list[str]:
    """Every pattern, once."""
    return sorted({value["pattern"] for kind in schemas.KINDS for _, value in values(kind) if "pattern" in value})


class TestTheFile:
    def test_is_what_the_generator_makes_of_the_installed_sources(self) -> None:
        same = FILE.read_text(encoding="utf-8") == generator.schemas()
        assert same, "schemas.json differs from its sources: run python -m tools.catalog.schemas and read the diff"

    def test_has_the_kinds_that_are_checked(self) -> None:
        assert {*schemas.KINDS} == {*generator.OPERATIONS, generator.REQUEST}

    @pytest.mark.parametrize("kind", schemas.KINDS)
    def test_refers_to_definitions_that_it_has(self, kind: str) -> None:
        missing = {path for path, value in values(kind) if value.get("ref", "root") not in schemas.definitions(kind)}
        assert missing == set()

    @pytest.mark.parametrize("kind", schemas.KINDS)
    def test_has_no_word_that_is_not_understood(self, kind: str) -> None:
        assert {word for _, value in values(kind) for word in value} <= WORDS


class TestWhatTheRegistryLeavesToTheApi:
    @pytest.mark.parametrize(
        ("kind", "definition", "name", "word", "limit"),
        [
            ("AWS::FSx::FileSystem", "root", "FileSystemType", "enum", ["WINDOWS", "LUSTRE", "ONTAP", "OPENZFS"]),
            ("AWS::FSx::FileSystem", "LustreConfiguration", "AutomaticBackupRetentionDays", "maximum", 90),
            ("AWS::SageMaker::Cluster", "ClusterOrchestratorEksConfig", "ClusterArn", "minLength", 20),
            (
                "AWS::SageMaker::Cluster",
                "CapacitySizeConfig",
                "Type",
                "enum",
                ["INSTANCE_COUNT", "CAPACITY_PERCENTAGE"],
            ),
        ],
    )
    def test_is_added(self, kind: str, definition: str, name: str, word: str, limit: object) -> None:
        assert schemas.definitions(kind)[definition]["properties"][name][word] == limit

    def test_does_not_replace_what_the_registry_says(self) -> None:
        """256 here, 255 there."""
        name = {
            kind: schemas.definitions(kind)["AlarmDetails"]["properties"]["AlarmName"] for kind in schemas.KINDS[::6]
        }
        assert [limits["maxLength"] for limits in name.values()] == [256, 255]

    def test_does_not_make_required_what_cloudformation_can_leave_out(self) -> None:
        assert "ClusterName" not in schemas.definitions("AWS::SageMaker::Cluster")["root"].get("required", [])
        assert schemas.definitions(schemas.REQUEST)["root"]["required"] == ["ClusterName"]


class TestPatterns:
    def test_all_have_words(self) -> None:
        wordless = {path for kind in schemas.KINDS for path, value in values(kind) if value.get("says") == ""}
        assert wordless == set(), "say in SAYS of tools/catalog/schemas.py what they mean"

    def test_take_no_time_for_texts_that_almost_match(self) -> None:
        for pattern in patterns():
            for unit in ("a", "a-", "a.", "0", "1.", "-", " ", "ab/", "<script>", "arn:aws:", "/a"):
                start = time.process_time()
                re.search(pattern, (unit * 2048)[:2048] + "\n!")
                assert time.process_time() - start < 0.5, (pattern, unit)

    def test_of_tags_take_letters_digits_and_spaces_of_all_scripts(self) -> None:
        ours = re.compile(generator.SAME_BUT_FAST[TAG])
        known = {chr(code): unicodedata.category(chr(code)) for code in range(0x20000)}
        wanted = {each for each, category in known.items() if category[0] in "LZN" or each in "_.:/=+-@"}
        assert {each for each in wanted if not ours.search(each)} == set()
        assert not ours.search("a#b")

    def test_that_are_ambiguous_mean_the_same_as_the_originals(self) -> None:
        for original in (r"^[a-z0-9]([-a-z0-9]*[a-z0-9]){0,39}?$", r"^[0-9](.[0-9]*)*$"):
            ours = generator.SAME_BUT_FAST[original]
            for text in ("", "a", "-", "a-", "a-b", "ab", "2", "2.", "2.15", "2.1.5", "x2", "A", "a\n"):
                assert bool(re.search(ours, text)) == bool(re.search(original, text)), text
