import pytest

from hyperpod_constructs.cloudformation.values import MAX_TEXT, Reference, Text, joined, resolved_text, split, weakened
from hyperpod_constructs.tokens import UNKNOWN

VPC = Reference(stack="Net", logical_id="Vpc")


class TestJoined:
    def test_known_parts_are_a_string(self) -> None:
        assert joined(["a", "", "b"]) == "ab"
        assert joined([]) == ""

    def test_a_lone_reference_stays_one(self) -> None:
        assert joined(["", VPC, ""]) == VPC

    def test_neighbours_are_merged(self) -> None:
        assert joined(["a", "b", UNKNOWN, UNKNOWN, "c"]) == Text(parts=("ab", UNKNOWN, "c"))

    def test_dynamic_references_are_not_known(self) -> None:
        assert joined(["a-{{resolve:ssm:/x}}-b"]) == Text(parts=("a-", UNKNOWN, "-b"))
        assert joined(["{{resolve:ssm:/x}}"]) is UNKNOWN

    def test_a_dynamic_reference_stretches_over_parts(self) -> None:
        parts = ("p", "{{resolve:secretsmanager:", VPC, ":SecretString:pw}}", "s")
        assert joined(parts) == Text(parts=("p", UNKNOWN, "s"))

    def test_what_the_cdk_has_yet_to_look_up_is_not_known(self) -> None:
        assert joined(["p-12", "345"]) is UNKNOWN
        assert joined(["arn:", VPC, ":iam:us-west-2:123456789012:role/DUMMY_ARN"]) is UNKNOWN
        assert resolved_text("dummy-value-for-/team/subnet") is UNKNOWN
        assert resolved_text("p-123456") == "p-123456"

    def test_braces_of_other_kinds_are_text(self) -> None:
        assert joined(["{{x}} }}"]) == "{{x}} }}"

    def test_text_cannot_grow_without_end(self) -> None:
        assert joined(["x" * MAX_TEXT]) == "x" * MAX_TEXT
        assert joined(["x" * MAX_TEXT, "x"]) is UNKNOWN


class TestText:
    def test_what_is_known(self) -> None:
        text = Text(parts=("a/", VPC, UNKNOWN, "/z"))
        assert (text.prefix, text.suffix, text.references) == ("a/", "/z", (VPC,))

    def test_unknown_ends_are_empty(self) -> None:
        text = Text(parts=(UNKNOWN, "m", VPC))
        assert (text.prefix, text.suffix) == ("", "")


class TestSplit:
    def test_text(self) -> None:
        assert split("a,b,", ",") == ["a", "b", ""]

    @pytest.mark.parametrize("delimiter", [",", "||"])
    def test_references_are_never_cut(self, delimiter: str) -> None:
        assert split(Text(parts=(f"a{delimiter}x-", VPC, delimiter, VPC)), delimiter) == [
            "a",
            Text(parts=("x-", VPC)),
            VPC,
        ]

    def test_a_delimiter_that_a_reference_may_contain_decides_nothing(self) -> None:
        assert split(Text(parts=("a/", VPC)), "/") is UNKNOWN

    def test_unknown_parts_may_hold_delimiters(self) -> None:
        assert split(Text(parts=("a,", UNKNOWN)), ",") is UNKNOWN

    def test_no_delimiter(self) -> None:
        assert split("abc", "") is UNKNOWN


def test_weakness_reaches_into_text_and_plays_no_part_in_equality() -> None:
    weak = weakened(Text(parts=("a", VPC)))
    assert isinstance(weak, Text)
    assert weak.references[0].weak
    assert weak == Text(parts=("a", VPC))


@pytest.mark.parametrize("attribute", [None, "Arn", "GroupId"])
def test_one_id_is_split_into_a_list_of_itself(attribute: str | None) -> None:
    one = Reference(stack="s", logical_id="Subnet", attribute=attribute)
    assert split(one, ",") == [one]


@pytest.mark.parametrize(
    "several",
    [
        Reference(stack="s", logical_id="Net", attribute="Outputs.Subnets"),
        Reference(stack="s", logical_id="Custom", attribute="SubnetIds"),
        Reference(stack="", logical_id="Subnets", weak=True),
    ],
)
def test_what_may_be_several_in_one_text_is_not_split(several: Reference) -> None:
    assert split(several, ",") is UNKNOWN
    assert split(joined([several, ",a"]), ",") is UNKNOWN
