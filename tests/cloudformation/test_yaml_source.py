import pytest

from hyperpod_constructs.cloudformation.places import SyntaxProblem
from hyperpod_constructs.cloudformation.yaml_source import MAX_VALUES, read


def value(text: str) -> object:
    return read(text)[0]


def problem(text: str) -> str:
    with pytest.raises(SyntaxProblem) as found:
        read(text)
    return str(found.value)


class TestScalars:
    @pytest.mark.parametrize(
        "text",
        [
            "2010-09-09",
            "2012-10-17",
            "012345678901",
            "0755",
            "1:30",
            "190:20:30",
            "1_000",
            "0x1F",
            "+5",
            "1e3",
            ".inf",
            "1.30",
            "1.10.2",
            ".nan",
            "-0",
            "99999999999999999999",
            "y",
            "n",
            "=",
            "1.",
        ],
    )
    def test_text_that_says_more_than_a_number_stays_text(self, text: str) -> None:
        assert value(f"A: {text}") == {"A": text}

    @pytest.mark.parametrize(
        ("text", "expected"),
        [("5", 5), ("-5", -5), ("0", 0), ("111122223333", 111122223333), ("1.5", 1.5), ("-0.25", -0.25)],
    )
    def test_numbers(self, text: str, expected: float) -> None:
        found = value(f"A: {text}")
        assert found == {"A": expected}

    @pytest.mark.parametrize(("text", "expected"), [("yes", True), ("On", True), ("TRUE", True), ("off", False)])
    def test_booleans_are_those_of_yaml_1_1(self, text: str, *, expected: bool) -> None:
        assert value(f"A: {text}") == {"A": expected}

    @pytest.mark.parametrize("text", ["'5'", '"yes"', "!!str 5"])
    def test_quoted_or_tagged_is_text(self, text: str) -> None:
        assert value(f"A: {text}") in ({"A": "5"}, {"A": "yes"})

    @pytest.mark.parametrize("text", ["", "~", "null"])
    def test_nothing(self, text: str) -> None:
        assert value(f"A: {text}") == {"A": None}

    def test_keys_are_text(self) -> None:
        assert value("on: 1\n5: 2\n2012-10-17: 3\nnull: 4") == {"on": 1, "5": 2, "2012-10-17": 3, "null": 4}

    def test_standard_tags_type_and_others_make_no_objects(self) -> None:
        assert value('A: !!int "5"\nB: !!timestamp 2010-09-09\nC: !!python/object/apply:os.system [ls]') == {
            "A": 5,
            "B": "2010-09-09",
            "C": ["ls"],
        }


class TestShortIntrinsics:
    @pytest.mark.parametrize(
        "name",
        [
            "Sub",
            "Join",
            "Select",
            "Split",
            "If",
            "Equals",
            "And",
            "Or",
            "Not",
            "FindInMap",
            "ImportValue",
            "Base64",
            "Cidr",
            "GetAZs",
            "Transform",
            "ToJsonString",
            "Length",
            "SomethingNew",
        ],
    )
    def test_become_their_long_form(self, name: str) -> None:
        assert value(f"A: !{name} x") == {"A": {f"Fn::{name}": "x"}}
        assert value(f"A: !{name} [x, 5]") == {"A": {f"Fn::{name}": ["x", 5]}}
        assert value(f"A: !{name} {{x: y}}") == {"A": {f"Fn::{name}": {"x": "y"}}}

    def test_ref_and_condition_have_no_prefix(self) -> None:
        assert value("A: !Ref X\nB: !Condition Y") == {"A": {"Ref": "X"}, "B": {"Condition": "Y"}}

    def test_get_att_is_cut_at_the_first_dot(self) -> None:
        assert value("A: !GetAtt Nested.Outputs.Id\nB: !GetAtt [X, Arn]\nC: !GetAtt X") == {
            "A": {"Fn::GetAtt": ["Nested", "Outputs.Id"]},
            "B": {"Fn::GetAtt": ["X", "Arn"]},
            "C": {"Fn::GetAtt": "X"},
        }

    def test_nest(self) -> None:
        assert value("A: !Join\n  - ','\n  - - !Ref X\n    - !Sub '${Y}'") == {
            "A": {"Fn::Join": [",", [{"Ref": "X"}, {"Fn::Sub": "${Y}"}]]}
        }

    def test_text_under_a_tag_is_not_typed(self) -> None:
        assert value("A: !Ref 5\nB: !Base64 yes") == {"A": {"Ref": "5"}, "B": {"Fn::Base64": "yes"}}


class TestAliases:
    def test_are_expanded(self) -> None:
        assert value("A: &a {x: 1}\nB: *a\nC: &c k\n*c : v") == {"A": {"x": 1}, "B": {"x": 1}, "C": "k", "k": "v"}

    def test_merge_keys_give_way_to_own_keys_and_earlier_mappings(self) -> None:
        text = "A: &a {x: 1, y: 1}\nB: &b {y: 2, z: 2}\nC:\n  x: 0\n  <<: [*a, *b]"
        assert value(text)["C"] == {"x": 0, "y": 1, "z": 2}  # type: ignore[index]  # a mapping, see the text

    def test_a_bomb_is_refused_before_it_is_built(self) -> None:
        bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
        assert problem(bomb).endswith(f"its aliases expand to more than {MAX_VALUES:,} values")

    def test_a_bomb_of_merge_keys_is_refused(self) -> None:
        bomb = "a0: &a0 {x: [1, 1]}\n" + "".join(f"a{n}: &a{n} {{p: *a{n - 1}, <<: *a{n - 1}}}\n" for n in range(1, 60))
        assert "expand to more than" in problem(bomb)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("A: &a [*a]", "line 1: alias *a stands inside its own anchor"),
            ("A: &a\n  x: *a", "line 2: alias *a stands inside its own anchor"),
            ("A: *nowhere", "line 1: alias *nowhere has no anchor before it"),
            ("A: &a [1]\n*a : 2", "line 2: a key must be text"),
            ("A:\n  <<: 5", "line 2: `<<` needs a mapping, or a list of mappings"),
        ],
    )
    def test_malformed(self, text: str, message: str) -> None:
        assert problem(text) == message


class TestProblems:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("A: 1\nB: 2\nA: 3", "line 3: key 'A' was given before, on line 1; keep one of the two"),
            ("A: 1\n---\nB: 2", "line 2: a second YAML document begins; a template is only one"),
            ("A: 1\n? [x]\n: 2", "line 2: a key must be text"),
            ("A:\n\tB: 1", "line 2: a tab stands where YAML takes only spaces; indent with spaces"),
            ("A: [1\nB: 2]", "line 2: did not find expected ',' or ']'"),
            ("A: \x07", "control characters are not allowed"),
        ],
    )
    def test_name_the_line(self, text: str, message: str) -> None:
        assert problem(text) == message

    @pytest.mark.parametrize("text", ["[" * 5000, "A: " + "{a: " * 5000, "".join(f"{' ' * n}a:\n" for n in range(900))])
    def test_deep_nesting_ends_no_process(self, text: str) -> None:
        assert problem(text).endswith(("it is nested too deeply", "exceeded maximum nesting depth"))


def test_python_parser_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    import yaml

    text = "A: &a [1, 2010-09-09]\nB: !Sub\n  - x\n  - y: *a\n"
    expected = read(text)
    monkeypatch.setattr("hyperpod_constructs.cloudformation.yaml_source._LOADER", yaml.SafeLoader)
    assert read(text) == expected
