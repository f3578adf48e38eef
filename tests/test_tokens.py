"""Values that are known only at deploy are recognised in every form the CDK gives them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hyperpod_constructs.tokens import UNKNOWN, is_token, known, without_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    name: str
    parts: tuple[object, ...] = ()
    inner: Thing | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError("checked when the user made it, not when it is copied")


class TestIsToken:
    @pytest.mark.parametrize(
        "token",
        [
            "${Token[TOKEN.12]}",
            "prefix-${Token[AWS.Region.4]}",
            -1.8881545897087503e289,
            ["#{Token[TOKEN.3]}"],
            UNKNOWN,
        ],
    )
    def test_recognises_every_form(self, token: object) -> None:
        assert is_token(token)

    @pytest.mark.parametrize("value", ["p5", "${NotAToken}", 0, -1, True, None, [], ["a"], 1.5])
    def test_takes_nothing_else_for_one(self, value: object) -> None:
        assert not is_token(value)

    def test_recognises_what_the_cdk_makes(self) -> None:
        import aws_cdk as cdk

        stack = cdk.Stack(cdk.App(), "Stack")
        parameter = cdk.CfnParameter(stack, "Parameter", type="Number")
        assert is_token(parameter.value_as_number)
        assert is_token(parameter.value_as_string)
        assert is_token(cdk.CfnParameter(stack, "List", type="CommaDelimitedList").value_as_list)
        assert is_token(cdk.Aws.REGION)


class TestKnown:
    def test_gives_only_what_is_given_and_known(self) -> None:
        values: list[object] = [3, UNKNOWN, None, "${Token[TOKEN.1]}"]
        assert [known(value) for value in values] == [3, None, None, None]


class TestWithoutTokens:
    def test_replaces_tokens_at_every_depth_and_keeps_the_rest(self) -> None:
        thing = Thing(name="a", parts=(1, "${Token[TOKEN.1]}"), inner=Thing(name="${Token[TOKEN.2]}"))
        cleaned = without_tokens(thing)
        assert isinstance(cleaned, Thing)
        assert cleaned.name == "a"
        assert cleaned.parts == (1, UNKNOWN)
        assert cleaned.inner is not None
        assert cleaned.inner.name is UNKNOWN  # type: ignore[comparison-overlap]  # that is the point

    def test_is_the_same_object_where_there_is_none(self) -> None:
        thing = Thing(name="a", parts=({"key": ("value",)},))
        assert without_tokens(thing) is thing

    def test_turns_the_lists_that_users_write_into_the_tuples_that_rules_look_for(self) -> None:
        cleaned = without_tokens(Thing(name="a", parts=["x", ["y"]]))  # type: ignore[arg-type]  # that is the point
        assert cleaned == Thing(name="a", parts=("x", ("y",)))

    def test_does_not_know_how_many_items_a_list_token_has(self) -> None:
        assert without_tokens({"a": ["#{Token[TOKEN.3]}"]}) == {"a": UNKNOWN}

    def test_cleans_mappings(self) -> None:
        assert without_tokens({"a": "${Token[TOKEN.1]}", "b": 2}) == {"a": UNKNOWN, "b": 2}


class TestUnknown:
    def test_is_neither_true_nor_false_so_that_no_rule_takes_it_for_either(self) -> None:
        with pytest.raises(TypeError, match="neither true nor false"):
            bool(UNKNOWN)
