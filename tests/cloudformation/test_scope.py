import sys
from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_constructs.cloudformation.document import MAX_DEPTH as DOCUMENT_DEPTH, parse
from hyperpod_constructs.cloudformation.scope import Scope
from hyperpod_constructs.cloudformation.values import Value
from hyperpod_constructs.tokens import UNKNOWN
from tests.cloudformation.scopes import ENVIRONMENT, TEMPLATE, VPC, scope


class TestOutputs:
    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            ("{Value: !Ref Vpc}", VPC),
            ("{Value: 5}", "5"),
            ("{Value: [a]}", UNKNOWN),
            ('{Value: a, Condition: "False"}', UNKNOWN),
            ("{Value: a, Condition: Open}", "a"),
            ("nonsense", UNKNOWN),
        ],
    )
    def test_are_text(self, body: str, expected: Value) -> None:
        template = parse(f"{TEMPLATE}\nOutputs: {{X: {body}}}", "t.yaml").body
        assert Scope(template, stack="Net", environment=ENVIRONMENT).output("X") == expected


class TestMalformedSections:
    @pytest.mark.parametrize("section", ["Parameters", "Mappings", "Conditions", "Outputs"])
    @pytest.mark.parametrize("body", [None, [], 5, {"X": None}, {"X": []}, {"X": {"Value": {"Ref": "X"}}}])
    def test_are_unknown(self, section: str, body: object) -> None:
        broken = Scope({"Resources": {}, section: body}, stack="S", environment=ENVIRONMENT)
        for text in ({"Ref": "X"}, {"Fn::If": ["X", 1, 2]}, {"Fn::FindInMap": ["X", "a", "b"]}):
            assert broken.resolve(text) is UNKNOWN
        assert broken.output("X") is UNKNOWN
        assert list(broken.exports()) == []


class TestDepth:
    NEST: tuple[Callable[[Any], Any], ...] = (
        lambda inner: {"a": inner},
        lambda inner: [inner],
        lambda inner: {"Fn::Join": ["", [inner]]},
        lambda inner: {"Fn::Sub": ["${x}", {"x": inner}]},
        lambda inner: {"Fn::If": ["Open", inner, 1]},
        lambda inner: {"Fn::Select": [0, {"Fn::Split": [",", inner]}]},
        lambda inner: {"Fn::Not": [{"Fn::And": [inner]}]},
        lambda inner: {"Fn::GetStackOutput": {"StackName": inner}},
    )

    @pytest.mark.parametrize("nest", NEST)
    def test_the_deepest_document_fits_a_half_used_python_stack(self, nest: Callable[[Any], Any]) -> None:
        value: Any = "x"
        for _ in range(DOCUMENT_DEPTH):
            value = nest(value)

        def further_down(frames: int) -> Value:
            return further_down(frames - 1) if frames else scope().resolve(value)

        assert sys.getrecursionlimit() == 1000
        assert further_down(400) is not None

    def test_a_long_chain_of_conditions_is_unknown_not_an_error(self) -> None:
        conditions: dict[str, Any] = {f"C{n}": {"Fn::Not": [{"Condition": f"C{n + 1}"}]} for n in range(500)}
        chained = Scope(
            {"Resources": {}, "Conditions": conditions | {"C500": {"Fn::Equals": [1, 1]}}},
            stack="S",
            environment=ENVIRONMENT,
        )
        assert chained.condition("C0") is UNKNOWN
        assert chained.condition("C490") is True

    def test_a_long_chain_of_bare_conditions_is_unknown_too(self) -> None:
        conditions = {f"C{n}": {"Condition": f"C{n + 1}"} for n in range(2000)}
        chained = Scope({"Resources": {}, "Conditions": conditions}, stack="S", environment=ENVIRONMENT)
        assert chained.condition("C0") is UNKNOWN

    def test_a_circle_spoils_no_condition_outside_of_it(self) -> None:
        template = parse(
            "Resources: {}\nConditions:\n"
            "  Circle: !And [!Condition Circle, !Condition Good]\n"
            "  Good: !Not [!Not [!Equals [a, a]]]\n",
            "t.yaml",
        ).body
        circled = Scope(template, stack="S", environment=ENVIRONMENT)
        assert circled.condition("Circle") is UNKNOWN
        assert circled.condition("Good") is True
