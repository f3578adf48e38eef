"""What is said of tags."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.stacks import TagList
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import cluster, told


def tagged(*tags: tuple[Any, Any], type_name: str = "AWS::EC2::VPC") -> Deployment:
    """A resource with these tags."""
    return Deployment(tag_lists=(TagList(path="Vpc", type=type_name, tags=tags),))


def numbered(count: int) -> list[tuple[str, str]]:
    return [(f"k{number}", "v") for number in range(count)]


class TestTagsAreFew:
    def test_counts_them(self) -> None:
        assert told("HP0104", tagged(*numbered(51))) == ["HP0104 51 tags | use at most 50"]

    def test_counts_those_of_a_cluster_that_is_about_to_be_made(self) -> None:
        judged = Deployment(clusters=(cluster(tags=dict(numbered(51))),))
        assert told("HP0104", judged) == ["HP0104 51 tags | use at most 50"]

    def test_leaves_what_a_schema_counts_to_the_schema(self) -> None:
        listed = TagList(path="Train", type="AWS::SageMaker::Cluster", tags=tuple(numbered(51)))
        judged = Deployment(clusters=(cluster(tags=dict(numbered(51))),), tag_lists=(listed,))
        assert told("HP0104", judged) == []

    def test_is_silent_on_fifty_on_unknown_tags_and_on_other_types(self) -> None:
        assert told("HP0104", tagged(*numbered(50), (UNKNOWN, "v"))) == []
        assert told("HP0104", tagged(*numbered(51), type_name="AWS::Lambda::Function")) == []


class TestTagsAreNotReserved:
    @pytest.mark.parametrize("key", ["aws:team", "AWS:team", "aws:cloudformation:stack-name"])
    @pytest.mark.parametrize("type_name", ["AWS::EC2::VPC", "AWS::SageMaker::Cluster", "AWS::Lambda::Function"])
    def test_names_the_key_whatever_has_it(self, key: str, type_name: str) -> None:
        assert told("HP0105", tagged((key, "ml"), type_name=type_name)) == [
            f"HP0105 tag {key!r} | use a key that does not begin with aws:"
        ]

    @pytest.mark.parametrize("key", ["aws", "awsteam", "team:aws:x", UNKNOWN])
    def test_is_silent_on_others_and_on_what_is_not_known(self, key: object) -> None:
        assert told("HP0105", tagged((key, "ml"))) == []

    def test_is_silent_on_what_is_no_resource_of_aws(self) -> None:
        assert told("HP0105", tagged(("aws:team", "ml"), type_name="Custom::Thing")) == []


class TestTagsAreGivenOnce:
    def test_counts_them(self) -> None:
        assert told("HP0106", tagged(("team", "a"), ("team", "b"), ("team", "c"))) == [
            "HP0106 tag 'team' is given 3 times | keep one of them"
        ]

    def test_is_silent_on_different_keys_on_unknown_ones_and_on_other_types(self) -> None:
        assert told("HP0106", tagged(("team", "a"), ("Team", "b"), (UNKNOWN, "a"), (UNKNOWN, "b"))) == []
        assert told("HP0106", tagged(("team", "a"), ("team", "b"), type_name="AWS::Lambda::Function")) == []


class TestTagsAreShort:
    @pytest.mark.parametrize(
        ("tag", "said"),
        [
            (("k" * 129, "v"), "a tag has a key of 129 characters | use 1 to 128"),
            (("", "v"), "a tag has an empty key | use 1 to 128"),
            (("team", "v" * 257), "tag 'team' has a value of 257 characters | use at most 256"),
            ((UNKNOWN, "v" * 257), "a tag has a value of 257 characters | use at most 256"),
        ],
    )
    def test_measures_key_and_value(self, tag: tuple[Any, Any], said: str) -> None:
        assert told("HP0107", tagged(tag)) == [f"HP0107 {said}"]

    @pytest.mark.parametrize("tag", [("k" * 128, "v" * 256), ("k", ""), (UNKNOWN, UNKNOWN)])
    def test_is_silent_on_legal_lengths_and_on_what_is_not_known(self, tag: tuple[Any, Any]) -> None:
        assert told("HP0107", tagged(tag)) == []
