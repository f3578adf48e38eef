from pathlib import Path

import pytest

from hyperpod_constructs.cloudformation.manifest import Metadata, ancestors, nested_stack_path, read_json
from hyperpod_constructs.errors import UnreadableTemplate


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ('{"a": ' + "[" * 100_000, "is nested too deeply"),
        ('{"a": ' + "1" * 5_000 + "}", "has a number of thousands of digits"),
        ("[]", "the top level is no mapping"),
    ],
)
def test_json_that_cannot_be_read_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    (file := tmp_path / "manifest.json").write_text(text)
    with pytest.raises(UnreadableTemplate) as refused:
        read_json(file)
    assert str(refused.value) == f"{file}: {message}"


def test_ancestors_are_nearest_first() -> None:
    assert list(ancestors("App/Stack/Construct")) == ["App/Stack", "App"]
    assert list(ancestors("App")) == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Cluster/Nest.NestedStack/Nest.NestedStackResource", "Cluster/Nest"),
        ("Cluster/Deep/Nest.NestedStack/Nest.NestedStackResource", "Cluster/Deep/Nest"),
        ("Cluster/Nest", None),
        ("Cluster/Other.NestedStack/Nest.NestedStackResource", None),
        ("Nest.NestedStackResource", None),
    ],
)
def test_nested_stack_path(path: str, expected: str | None) -> None:
    assert nested_stack_path(path) == expected


def test_the_same_logical_id_in_stack_and_nested_stack_has_two_paths() -> None:
    entry = [{"type": "aws:cdk:logicalId", "data": "Vpc"}]
    nest = [{"type": "aws:cdk:logicalId", "data": "Nest1"}]
    metadata = Metadata({"/S/Vpc": entry, "/S/N/Vpc": entry, "/S/N.NestedStack/N.NestedStackResource": nest})
    assert metadata.paths == {
        (None, "Vpc"): "S/Vpc",
        ("S/N", "Vpc"): "S/N/Vpc",
        (None, "Nest1"): "S/N.NestedStack/N.NestedStackResource",
    }


def test_entries_of_another_form_are_passed_over() -> None:
    metadata = Metadata({"/S": None, "/T": ["x", {"type": "aws:cdk:acknowledged-rules", "data": None}]})
    assert list(metadata.acknowledged()) == []
