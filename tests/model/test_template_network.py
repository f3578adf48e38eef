from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_constructs.model.network import Rule, SecurityGroup, Subnet, ZoneName
from hyperpod_constructs.tokens import UNKNOWN
from tests.model.conftest import refused

GROUP = "AWS::EC2::SecurityGroup"
UNDECIDABLE = {"Ref": "Given"}
SECTIONS = {
    "Parameters": {"Given": {"Type": "String"}},
    "Conditions": {"Maybe": {"Fn::Equals": [UNDECIDABLE, "x"]}},
}
FIRST_ZONE = {"Fn::Select": [0, {"Fn::GetAZs": {"Ref": "AWS::Region"}}]}
ALL_EGRESS = Rule(direction="egress", protocol="-1", cidr="0.0.0.0/0")


def ingress(**properties: Any) -> dict[str, Any]:
    """A rule that is a resource of its own."""
    return {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": {"GroupId": {"Ref": "G"}, **properties}}


class TestSubnets:
    @pytest.mark.parametrize(
        ("properties", "zone"),
        [
            ({"AvailabilityZoneId": "usw2-az2"}, "usw2-az2"),
            ({"AvailabilityZone": "us-west-2a"}, UNKNOWN),
            ({"AvailabilityZone": "us-west-2a", "AvailabilityZoneId": "usw2-az2"}, "usw2-az2"),
            ({}, None),
        ],
    )
    def test_have_a_zone_only_by_its_id(self, deployment_of: Any, properties: Any, zone: Any) -> None:
        read = deployment_of(
            {"Net": {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": "10.0.0.0/20", **properties}}}
        )
        (found,) = read.subnets
        assert replace(found, zone_name=None) == Subnet(
            path="app.json/Net", zone=zone, cidr="10.0.0.0/20", after=frozenset()
        )

    @pytest.mark.parametrize(
        ("zone", "name"),
        [
            ("us-west-2a", ZoneName(text="us-west-2a", scope="names of app.json")),
            (FIRST_ZONE, ZoneName(text="zone 1 of Fn::GetAZs", scope="zones of app.json ", literal=False)),
            ({"Fn::Select": [0, ["us-west-2a", "us-west-2b"]]}, ZoneName(text="us-west-2a", scope="names of app.json")),
            ({"Fn::Select": [UNDECIDABLE, {"Fn::GetAZs": ""}]}, None),
            ({"Fn::Select": [0, UNDECIDABLE]}, None),
            (UNDECIDABLE, None),
            (None, None),
        ],
    )
    def test_have_a_name_that_means_something_in_one_account(self, deployment_of: Any, zone: Any, name: Any) -> None:
        properties = {"CidrBlock": "10.0.0.0/20", "AvailabilityZone": zone}
        read = deployment_of({"Net": {"Type": "AWS::EC2::Subnet", "Properties": properties}}, **SECTIONS)
        assert read.subnets[0].zone_name == name

    def test_are_of_one_vpc_where_it_is_written_alike(self, deployment_of: Any) -> None:
        given = [UNDECIDABLE, {"Ref": "Given"}, {"Ref": "Vpc"}, {"Fn::GetAtt": ["Vpc", "VpcId"]}, "vpc-1", None]
        resources = {
            f"Net{n}": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": vpc} if vpc else {}}
            for n, vpc in enumerate(given)
        }
        read = deployment_of({"Vpc": {"Type": "AWS::EC2::VPC"}, **resources}, **SECTIONS)
        unknown = 'app.json: {"Ref": "Given"}'
        assert [each.vpc for each in read.subnets] == [unknown, unknown, "app.json/Vpc", "app.json/Vpc", "vpc-1", None]

    def test_know_what_comes_before_them_and_whether_they_are_made(self, deployment_of: Any) -> None:
        block = {"Type": "AWS::EC2::VPCCidrBlock", "Properties": {}}
        net = {"Type": "AWS::EC2::Subnet", "DependsOn": "Block", "Condition": "Maybe", "Properties": {}}
        read = deployment_of({"Block": block, "Net": net}, **SECTIONS)
        assert (read.subnets[0].after, read.subnets[0].certain) == (frozenset({"app.json/Block"}), False)

    def test_are_public_if_instances_get_public_addresses(self, deployment_of: Any) -> None:
        read = deployment_of({"Net": {"Type": "AWS::EC2::Subnet", "Properties": {"MapPublicIpOnLaunch": "true"}}})
        assert read.subnets[0].public is True

    def test_have_a_block_that_is_one(self, deployment_of: Any) -> None:
        read = deployment_of({"Net": {"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": "10.0.0.0/99"}}})
        assert read.subnets[0].cidr is UNKNOWN
        (told,) = refused(read)
        assert told.startswith("CidrBlock is '10.0.0.0/99' (")
        assert told.endswith("; use an IPv4 block such as 10.1.0.0/16")


class TestInlineRules:
    def test_belong_to_their_group(self, deployment_of: Any) -> None:
        properties = {
            "SecurityGroupIngress": [
                {"IpProtocol": "tcp", "FromPort": "988", "ToPort": 988, "SourceSecurityGroupId": "sg-1"},
                {"IpProtocol": 6, "FromPort": 1018, "ToPort": 1023, "CidrIp": "10.0.0.0/8"},
            ],
            "SecurityGroupEgress": [
                {"IpProtocol": -1, "CidrIpv6": "::/0"},
                {"IpProtocol": "-1", "FromPort": -1, "DestinationPrefixListId": "pl-1"},
            ],
        }
        read = deployment_of({"G": {"Type": GROUP, "Properties": properties}})
        assert read.security_groups == (
            SecurityGroup(
                path="app.json/G",
                rules=(
                    Rule(direction="ingress", protocol="tcp", from_port=988, to_port=988, group="sg-1"),
                    Rule(direction="ingress", protocol="tcp", from_port=1018, to_port=1023, cidr="10.0.0.0/8"),
                    Rule(direction="egress", protocol="-1", cidr="::/0"),
                    Rule(direction="egress", protocol="-1", cidr=UNKNOWN),
                ),
            ),
        )

    def test_that_may_not_be_there_make_the_group_incomplete(self, deployment_of: Any) -> None:
        maybe = {"Fn::If": ["Maybe", {"IpProtocol": "-1"}, {"Ref": "AWS::NoValue"}]}
        properties = {"SecurityGroupIngress": [{"IpProtocol": "-1", "CidrIp": "10.0.0.0/8"}, maybe]}
        (group,) = deployment_of({"G": {"Type": GROUP, "Properties": properties}}, **SECTIONS).security_groups
        assert group == SecurityGroup(
            path="app.json/G",
            rules=(Rule(direction="ingress", protocol="-1", cidr="10.0.0.0/8"),),
            complete=False,
        )


class TestSeparateRules:
    def test_belong_to_the_group_they_name(self, deployment_of: Any) -> None:
        read = deployment_of(
            {
                "G": {"Type": GROUP},
                "Other": {"Type": GROUP},
                "In": ingress(IpProtocol="-1", SourceSecurityGroupId={"Fn::GetAtt": ["Other", "GroupId"]}),
            }
        )
        rule = Rule(direction="ingress", protocol="-1", group="app.json/Other", path="app.json/In")
        assert read.security_group("app.json/G").rules == (rule, ALL_EGRESS)
        assert read.security_group("app.json/Other").rules == (ALL_EGRESS,)

    def test_that_may_not_be_there_make_their_group_incomplete(self, deployment_of: Any) -> None:
        maybe = {**ingress(IpProtocol="-1"), "Condition": "Maybe"}
        read = deployment_of({"G": {"Type": GROUP}, "Other": {"Type": GROUP}, "In": maybe}, **SECTIONS)
        assert [group.complete for group in read.security_groups] == [False, True]
        assert read.security_groups[0].rules == ()

    def test_of_a_group_nobody_knows_make_every_group_incomplete(self, deployment_of: Any) -> None:
        rule = ingress(IpProtocol="-1", GroupId=UNDECIDABLE)
        read = deployment_of({"G": {"Type": GROUP}, "Other": {"Type": GROUP}, "In": rule}, **SECTIONS)
        assert [group.complete for group in read.security_groups] == [False, False]

    def test_of_an_imported_group_concern_no_other(self, deployment_of: Any) -> None:
        read = deployment_of({"G": {"Type": GROUP}, "In": ingress(IpProtocol="-1", GroupId="sg-1")})
        assert read.security_groups == (SecurityGroup(path="app.json/G", rules=(ALL_EGRESS,)),)


class TestWhatNobodyCanRead:
    @pytest.mark.parametrize(
        "kind",
        [
            "Custom::Rules",
            "AWS::CloudFormation::CustomResource",
            "Acme::Network::Rules::MODULE",
            "AWS::CloudFormation::Stack",
        ],
    )
    def test_may_give_rules_to_the_groups_that_it_refers_to(self, deployment_of: Any, kind: str) -> None:
        dark = {"Type": kind, "Properties": {"Given": [{"Fn::Sub": "${G.GroupId}"}]}}
        read = deployment_of({"G": {"Type": GROUP}, "Other": {"Type": GROUP}, "D": dark})
        assert [group.complete for group in read.security_groups] == [False, True]

    def test_may_get_a_group_that_a_condition_chooses(self, deployment_of: Any) -> None:
        chosen = {"Fn::If": ["Maybe", {"Fn::GetAtt": ["G", "GroupId"]}, "sg-1"]}
        dark = {"Type": "Custom::Rules", "Properties": {"Group": chosen}}
        read = deployment_of({"G": {"Type": GROUP}, "Other": {"Type": GROUP}, "D": dark}, **SECTIONS)
        assert [group.complete for group in read.security_groups] == [False, True]

    @pytest.mark.parametrize(
        ("transform", "complete"),
        [
            ("CompanyMacro", False),
            (["AWS::LanguageExtensions", "CompanyMacro"], False),
            ({"Name": "AWS::Include", "Parameters": {"Location": "s3://x/y"}}, False),
            (["AWS::Serverless-2016-10-31", "AWS::LanguageExtensions"], True),
        ],
    )
    def test_may_be_a_macro_over_the_template(self, deployment_of: Any, transform: Any, complete: bool) -> None:
        read = deployment_of({"G": {"Type": GROUP}}, Transform=transform)
        assert read.security_groups[0].complete is complete


class TestGroupsThatComeWithOtherThings:
    def test_are_the_default_group_of_a_vpc_and_that_of_an_eks_cluster(self, deployment_of: Any) -> None:
        read = deployment_of({"Vpc": {"Type": "AWS::EC2::VPC"}, "Eks": {"Type": "AWS::EKS::Cluster"}})
        default, own = "app.json/Vpc.DefaultSecurityGroup", "app.json/Eks.ClusterSecurityGroupId"
        inside = Rule(direction="ingress", protocol="-1", group=default)
        assert read.security_group(default) == SecurityGroup(
            path=default, rules=(inside, ALL_EGRESS), vpc="app.json/Vpc"
        )
        assert Rule(direction="egress", protocol="-1", group=own) in read.security_group(own).rules

    def test_get_rules_like_any_other(self, deployment_of: Any) -> None:
        default = {"Fn::GetAtt": ["Vpc", "DefaultSecurityGroup"]}
        rule = ingress(IpProtocol="tcp", FromPort=443, ToPort=443, CidrIp="10.0.0.0/8", GroupId=default)
        read = deployment_of({"Vpc": {"Type": "AWS::EC2::VPC"}, "In": rule})
        added = read.security_group("app.json/Vpc.DefaultSecurityGroup").rules[-1]
        assert (added.path, added.cidr) == ("app.json/In", "10.0.0.0/8")


class TestEgressOfAGroupWithoutEgressRules:
    def test_is_what_ec2_gives_it(self, deployment_of: Any) -> None:
        assert deployment_of({"G": {"Type": GROUP}}).security_groups[0].rules == (ALL_EGRESS,)

    def test_is_not_assumed_beside_a_separate_rule(self, deployment_of: Any) -> None:
        rule = {"Type": "AWS::EC2::SecurityGroupEgress", "Properties": {"GroupId": {"Ref": "G"}, "IpProtocol": "tcp"}}
        (group,) = deployment_of({"G": {"Type": GROUP}, "Out": rule}).security_groups
        assert group.rules == (Rule(direction="egress", protocol="tcp", path="app.json/Out"),)


class TestAMacroThatAddsResources:
    def test_makes_groups_incomplete(self, deployment_of: Any) -> None:
        loop = {"Fn::ForEach::Rules": ["Port", ["1", "2"], {"Rule${Port}": {}}]}
        assert deployment_of({"G": {"Type": GROUP}, **loop}).security_groups[0].complete is False
