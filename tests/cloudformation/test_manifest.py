import pytest

from hyperpod_constructs.cloudformation.manifest import Metadata, ancestors, nested_stack_path


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
