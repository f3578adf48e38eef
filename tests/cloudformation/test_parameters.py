import pytest

from hyperpod_constructs.cloudformation.parameters import Environment, parameter, pseudo_parameter
from hyperpod_constructs.cloudformation.values import Reference, Text, Value
from hyperpod_constructs.tokens import UNKNOWN

SUBNET = Reference(stack="Net", logical_id="Subnet")


class TestParameter:
    @pytest.mark.parametrize(
        ("kind", "default", "expected"),
        [
            ("String", "a", "a"),
            ("String", 5, "5"),
            ("String", True, "true"),
            ("AWS::EC2::VPC::Id", "vpc-1", "vpc-1"),
            ("AWS::SSM::Parameter::Name", "/x", "/x"),
            ("Number", "5", 5),
            ("Number", "-1.5", -1.5),
            ("Number", 7, 7),
            ("CommaDelimitedList", "a, b,c", ["a", "b", "c"]),
            ("List<AWS::EC2::Subnet::Id>", "subnet-1,subnet-2", ["subnet-1", "subnet-2"]),
            ("List<Number>", "1, 2.5", [1, 2.5]),
            ("List<Number>", 8, [8]),
        ],
    )
    def test_default_in_the_declared_type(self, kind: str, default: Value, expected: Value) -> None:
        assert parameter({"Type": kind, "Default": default}, None) == expected

    @pytest.mark.parametrize(
        "declaration",
        [
            {"Type": "String"},
            {"Type": "String", "Default": "x", "NoEcho": True},
            {"Type": "String", "Default": "x", "NoEcho": "true"},
            {"Type": "String", "Default": {"Ref": "X"}},
            {"Type": "String", "Default": "{{resolve:ssm:/x}}"},
            {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/cdk-bootstrap/version"},
            {"Type": "Number", "Default": "many"},
            {"Type": "Number", "Default": True},
            {"Type": "CommaDelimitedList", "Default": {"a": 1}},
            {"Type": "String", "Default": ""},
            {"Type": "String", "Default": "  "},
            {"Type": "CommaDelimitedList", "Default": ""},
            {"Type": "CommaDelimitedList", "Default": []},
            {"Type": "AWS::EC2::VPC::Id", "Default": ""},
            {"Type": "List<AWS::EC2::Subnet::Id>", "Default": ""},
            "nonsense",
            None,
        ],
    )
    def test_not_known(self, declaration: object) -> None:
        assert parameter(declaration, None) is UNKNOWN

    @pytest.mark.parametrize(("kind", "expected"), [("String", ""), ("CommaDelimitedList", [])])
    def test_an_empty_text_is_a_value_where_it_is_given_or_nobody_can_give_another(
        self, kind: str, expected: Value
    ) -> None:
        declaration = {"Type": kind, "Default": ""}
        assert parameter(declaration, "") == expected
        assert parameter(declaration, None, at_deploy=False) == expected

    def test_a_given_value_wins(self) -> None:
        assert parameter({"Type": "String", "Default": "a"}, SUBNET) == SUBNET

    def test_a_given_text_is_cut_into_a_list(self) -> None:
        given = Text(parts=(SUBNET, ", ", SUBNET))
        found = parameter({"Type": "List<AWS::EC2::Subnet::Id>"}, given)
        assert found == [SUBNET, SUBNET]


class TestPseudoParameter:
    @pytest.mark.parametrize(
        ("region", "partition", "suffix"),
        [
            ("us-west-2", "aws", "amazonaws.com"),
            ("cn-north-1", "aws-cn", "amazonaws.com.cn"),
            ("us-gov-west-1", "aws-us-gov", "amazonaws.com"),
            ("eusc-de-east-1", "aws-eusc", "amazonaws.eu"),
        ],
    )
    def test_partition_and_suffix_follow_from_the_region(self, region: str, partition: str, suffix: str) -> None:
        environment = Environment(region=region)
        assert pseudo_parameter("AWS::Partition", environment) == partition
        assert pseudo_parameter("AWS::URLSuffix", environment) == suffix

    @pytest.mark.parametrize("name", ["AWS::Partition", "AWS::URLSuffix"])
    def test_partition_and_suffix_of_a_region_that_the_catalogue_does_not_have_are_not_known(self, name: str) -> None:
        assert pseudo_parameter(name, Environment(region="us-isob-east-1")) is UNKNOWN

    def test_environment(self) -> None:
        environment = Environment(name="Prod", account="111122223333", region="us-east-1")
        assert pseudo_parameter("AWS::StackName", environment) == "Prod"
        assert pseudo_parameter("AWS::AccountId", environment) == "111122223333"
        assert pseudo_parameter("AWS::Region", environment) == "us-east-1"

    @pytest.mark.parametrize("name", ["AWS::Region", "AWS::Partition", "AWS::StackId", "AWS::Whatever"])
    def test_not_known(self, name: str) -> None:
        assert pseudo_parameter(name, Environment()) is UNKNOWN
