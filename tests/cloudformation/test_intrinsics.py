import pytest

from hyperpod_constructs.cloudformation.values import Reference, Text, Value
from hyperpod_constructs.tokens import UNKNOWN
from tests.cloudformation.scopes import VPC, resolve, scope


class TestRef:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("Name", "frontier"),
            ("Count", 30),
            ("Zones", ["usw2-az1", "usw2-az2"]),
            ("Missing", UNKNOWN),
            ("AWS::Region", "us-west-2"),
            ("AWS::Partition", "aws"),
            ("AWS::NoValue", None),
            ("Vpc", VPC),
            ("Perhaps", Reference(stack="Net", logical_id="Perhaps")),
            ("Gone", UNKNOWN),
            ("Nobody", UNKNOWN),
        ],
    )
    def test_names(self, name: str, expected: Value) -> None:
        assert resolve(f"!Ref {name}") == expected

    def test_a_key_of_that_name_beside_others_is_an_ordinary_key(self) -> None:
        assert resolve("{Ref: Vpc, Other: 1}") == {"Ref": "Vpc", "Other": 1}


class TestGetAtt:
    @pytest.mark.parametrize(
        "text", ["!GetAtt Vpc.CidrBlock", "!GetAtt [Vpc, CidrBlock]", "{Fn::GetAtt: Vpc.CidrBlock}"]
    )
    def test_forms(self, text: str) -> None:
        assert resolve(text) == Reference(stack="Net", logical_id="Vpc", attribute="CidrBlock")

    def test_attributes_have_dots(self) -> None:
        assert resolve("!GetAtt Vpc.Endpoint.Address") == Reference(
            stack="Net", logical_id="Vpc", attribute="Endpoint.Address"
        )

    def test_a_nested_stack_that_is_not_at_hand_remains(self) -> None:
        assert resolve("!GetAtt Nested.Outputs.Id") == Reference(
            stack="Net", logical_id="Nested", attribute="Outputs.Id"
        )


class TestNoValue:
    def test_removes_key_and_item(self) -> None:
        assert resolve("{a: !Ref AWS::NoValue, b: [1, !Ref AWS::NoValue, 2]}") == {"b": [1, 2]}

    def test_in_a_branch(self) -> None:
        assert resolve('{a: !If ["True", !Ref AWS::NoValue, 1], b: !If ["False", !Ref AWS::NoValue, 1]}') == {"b": 1}

    def test_an_item_that_may_be_absent_is_unknown(self) -> None:
        assert resolve("[1, !If [Open, 2, !Ref AWS::NoValue]]") == [1, UNKNOWN]

    @pytest.mark.parametrize("text", ["!Join [',', {}]", "!Select [1, {}]", "!Length {}"])
    def test_a_list_of_uncertain_length_decides_nothing(self, text: str) -> None:
        items = "[!If [Open, a, !Ref AWS::NoValue], b, c]"
        assert resolve(text.format(items)) is UNKNOWN


class TestSub:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("!Sub '${Name}-${Count}-${AWS::Region}'", "frontier-30-us-west-2"),
            ("!Sub ['${a}-${Name}', {a: !Ref Count}]", "30-frontier"),
            ("!Sub ['${Name}', {Name: own}]", "own"),
            ("!Sub '${!Literal} $x ${ Name }'", "${Literal} $x frontier"),
            ("!Sub 'a-${Vpc}'", Text(parts=("a-", VPC))),
            ("!Sub '${Vpc}'", VPC),
            (
                "!Sub 'x${Vpc.CidrBlock}${Missing}'",
                Text(parts=("x", Reference(stack="Net", logical_id="Vpc", attribute="CidrBlock"), UNKNOWN)),
            ),
            ("!Sub '${Zones}'", UNKNOWN),
            ("!Sub plain", "plain"),
        ],
    )
    def test_forms(self, text: str, expected: Value) -> None:
        assert resolve(text) == expected


class TestListsAndText:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("!Join ['-', [a, 5, true]]", "a-5-true"),
            ("!Join [',', !Ref Zones]", "usw2-az1,usw2-az2"),
            ("!Join ['', ['arn:', !Ref AWS::Partition, ':', !Ref Vpc]]", Text(parts=("arn:aws:", VPC))),
            ("!Join ['/', [a, !Ref AWS::NoValue, b]]", "a/b"),
            ("!Join [',', []]", ""),
            ("!Join [',', !GetAtt Vpc.CidrBlockAssociations]", UNKNOWN),
            ("!Join [',', [a, [b]]]", UNKNOWN),
            ("!Select [1, [a, b]]", "b"),
            ("!Select ['0', !Ref Zones]", "usw2-az1"),
            ("!Select [2, !Ref Zones]", UNKNOWN),
            ("!Select [-1, [a]]", UNKNOWN),
            ("!Select [0, !GetAZs '']", UNKNOWN),
            ("!Split [',', 'a,b']", ["a", "b"]),
            ("!Select [1, !Split ['-', 'a-b']]", "b"),
            ("!Split ['||', !Join ['||', [!Ref Vpc, b]]]", [VPC, "b"]),
            ("!Base64 '#!/bin/bash'", "IyEvYmluL2Jhc2g="),
            ("!Base64 {Ref: Missing}", UNKNOWN),
            ("!GetAZs ''", UNKNOWN),
            ("!Length [a, !Ref Missing]", 2),
            ("!Length {Ref: Zones}", 2),
            ("!Length {Ref: MissingList}", UNKNOWN),
            ("!ToJsonString {a: [1, !Ref Name]}", '{"a":[1,"frontier"]}'),
            ("!ToJsonString {a: !Ref Vpc}", UNKNOWN),
            ("!Cidr [10.0.0.0/16, 2, 8]", ["10.0.0.0/24", "10.0.1.0/24"]),
            ("!Cidr [2001:db8::/56, '2', '64']", ["2001:db8::/64", "2001:db8:0:1::/64"]),
            ("!Cidr [!GetAtt Vpc.CidrBlock, 2, 8]", UNKNOWN),
            ("!Cidr [10.0.0.0/24, 2, 8]", UNKNOWN),
            ("!Cidr [10.0.0.0/24, 2, 9]", UNKNOWN),
            ("!Cidr [10.0.0.0/8, 300, 8]", UNKNOWN),
            ("!Cidr [nonsense, 1, 8]", UNKNOWN),
            ("'{{resolve:ssm:/x}}'", UNKNOWN),
            ("!Sub 'a{{resolve:ssm:/${Name}}}b'", Text(parts=("a", UNKNOWN, "b"))),
        ],
    )
    def test_values(self, text: str, expected: Value) -> None:
        assert resolve(text) == expected


class TestFindInMap:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("!FindInMap [Sizes, !Ref AWS::Region, small]", "ml.m5.xlarge"),
            ("!FindInMap [Sizes, us-west-2, many]", ["a", "b"]),
            ("!FindInMap [Sizes, us-east-1, small]", UNKNOWN),
            ("!FindInMap [Sizes, us-east-1, small, {DefaultValue: !Ref Name}]", "frontier"),
            ("!FindInMap [Nothing, a, b]", UNKNOWN),
            ("!FindInMap [Sizes, !Ref Missing, small, {DefaultValue: x}]", UNKNOWN),
        ],
    )
    def test_values(self, text: str, expected: Value) -> None:
        assert resolve(text) == expected


class TestConditions:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("True", True),
            ("False", False),
            ("Open", UNKNOWN),
            ("Circle", UNKNOWN),
            ("Itself", UNKNOWN),
            ("No", UNKNOWN),
        ],
    )
    def test_named(self, name: str, expected: object) -> None:
        assert scope().condition(name) is expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('!And [!Condition "True", !Condition "True"]', True),
            ('!And [!Condition Open, !Condition "False"]', False),
            ('!And [!Condition Open, !Condition "True"]', UNKNOWN),
            ('!Or [!Condition Open, !Condition "True"]', True),
            ('!Or [!Condition Open, !Condition "False"]', UNKNOWN),
            ("!Not [!Condition Open]", UNKNOWN),
            ("!Equals [1, '1']", True),
            ("!Equals [true, 'true']", True),
            ("!Equals [!Ref Zones, [usw2-az1, usw2-az2]]", True),
            ("!Equals [!Ref Vpc, !Ref Vpc]", UNKNOWN),
        ],
    )
    def test_are_three_valued(self, text: str, expected: object) -> None:
        assert resolve(text) is expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('!If ["True", a, b]', "a"),
            ('!If ["False", a, b]', "b"),
            ("!If [Open, a, b]", UNKNOWN),
            ("!If [Open, {a: !Ref Vpc}, {a: !Ref Vpc}]", {"a": VPC}),
            ("!If [Open, !Ref AWS::NoValue, !Ref AWS::NoValue]", None),
        ],
    )
    def test_if(self, text: str, expected: Value) -> None:
        assert resolve(text) == expected

    def test_condition_is_an_ordinary_key_outside_of_conditions(self) -> None:
        assert resolve('{Condition: "True"}') == {"Condition": "True"}


class TestMalformed:
    @pytest.mark.parametrize(
        "argument",
        [
            None,
            5,
            True,
            "",
            "x",
            [],
            ["a"],
            ["a", "b"],
            ["a", "b", "c"],
            ["a"] * 5,
            {},
            {"a": 1},
            [[], []],
            [{}, {}, {}],
        ],
    )
    @pytest.mark.parametrize(
        "name",
        [
            "Ref",
            "Fn::GetAtt",
            "Fn::Sub",
            "Fn::Join",
            "Fn::Select",
            "Fn::Split",
            "Fn::FindInMap",
            "Fn::If",
            "Fn::And",
            "Fn::Or",
            "Fn::Not",
            "Fn::Equals",
            "Fn::ImportValue",
            "Fn::GetStackOutput",
            "Fn::Base64",
            "Fn::GetAZs",
            "Fn::Cidr",
            "Fn::Length",
            "Fn::ToJsonString",
            "Fn::Transform",
            "Fn::ForEach::X",
            "Fn::New",
        ],
    )
    def test_never_raises_and_keeps_no_intrinsic(self, name: str, argument: object) -> None:
        found = scope().resolve({"x": {name: argument}})
        assert isinstance(found, dict)
        assert found.get("x") != {name: argument}

    @pytest.mark.parametrize(
        "text",
        [
            "{Ref: 5}",
            "{Ref: [Vpc]}",
            "!GetAtt Vpc",
            "!Join [',']",
            "!If [a]",
            "{Fn::Sub: x, Other: 1}",
            "!Transform {Name: M}",
            "{Fn::Transform: {Name: M}, Other: 1}",
            "{'Fn::ForEach::Loop': [i, [a], {}], Other: 1}",
        ],
    )
    def test_is_unknown(self, text: str) -> None:
        assert resolve(text) is UNKNOWN
