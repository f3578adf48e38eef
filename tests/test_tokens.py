"""Values that are known only at deploy are recognised in every form the CDK gives them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hyperpod_constructs.tokens import UNKNOWN, is_placeholder, is_token, known, without_tokens


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

    @pytest.mark.parametrize(
        "placeholder",
        ["p-12345", "1.2.3.4/5", "s3://dummy-value-for-/bucket/x", "arn:aws:iam:us-west-2:123456789012:role/DUMMY_ARN"],
    )
    def test_recognises_what_stands_for_a_lookup_that_is_yet_to_be_made(self, placeholder: str) -> None:
        assert is_token(placeholder)
        assert is_placeholder(placeholder)

    @pytest.mark.parametrize("mistake", ["p-123456", "subnet-12345", "1.2.3.4/8", "dummy", "vpc-1234", "ami-12345"])
    def test_takes_a_mistake_for_no_lookup(self, mistake: str) -> None:
        assert not is_token(mistake)

    def test_a_token_is_no_placeholder_because_no_later_synth_knows_it(self) -> None:
        assert not is_placeholder("${Token[TOKEN.12]}")

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

    def test_recognises_what_the_cdk_gives_for_every_lookup(self) -> None:
        import aws_cdk as cdk
        from aws_cdk import aws_ec2 as ec2, aws_iam as iam, aws_rds as rds, aws_ssm as ssm

        stack = cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(account="111122223333", region="us-west-2"))
        vpc = ec2.Vpc.from_lookup(stack, "Vpc", tags={"team": "ml"})
        subnets = [*vpc.public_subnets, *vpc.private_subnets, *vpc.isolated_subnets]
        given = [
            *(vpc.vpc_id, vpc.vpc_cidr_block),
            *(subnet.subnet_id for subnet in subnets),
            *(subnet.availability_zone for subnet in subnets),
            *(subnet.ipv4_cidr_block for subnet in subnets),
            *(subnet.route_table.route_table_id for subnet in subnets),
            *stack.availability_zones,
            ec2.SecurityGroup.from_lookup_by_id(stack, "Group", "sg-0123456789abcdef0").security_group_id,
            ec2.PrefixList.from_lookup(stack, "List", prefix_list_name="list").prefix_list_id,
            ec2.MachineImage.lookup(name="image").get_image(stack).image_id,
            iam.Role.from_lookup(stack, "Role", role_name="nodes").role_arn,
            rds.DatabaseInstance.from_lookup(stack, "Db", instance_identifier="db").db_instance_endpoint_address,
            ssm.StringParameter.value_from_lookup(stack, "/team/zone"),
        ]
        assert subnets
        assert [value for value in given if not is_placeholder(value)] == []


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
