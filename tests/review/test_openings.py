from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import pytest

from hyperpod_constructs.review.access import openings
from tests.review.two_templates import PARAMETERS, Resources, compared

Said: TypeAlias = Callable[..., list[str]]

AT_DEPLOY = "changes in a way that is known only at deploy"
OTHERS: Resources = {"Q": {"Type": "AWS::SQS::Queue"}}
ITSELF = {"Fn::GetAtt": ["G", "GroupId"]}


@pytest.fixture
def said(tmp_path: Path) -> Said:
    """`path: what` of everything that is open in the second of two sets of resources only."""

    def compare(*sides: Resources) -> list[str]:
        found = openings.of(compared(tmp_path, *sides))
        return [f"{each.path.removeprefix('app.json/')}: {each.what}" for each in found]

    return compare


def tcp(first: Any, last: Any = None, **peer: Any) -> dict[str, Any]:
    return {"IpProtocol": "tcp", "FromPort": first, "ToPort": first if last is None else last, **peer}


def everything(**peer: Any) -> dict[str, Any]:
    return {"IpProtocol": "-1", **peer}


def group(*ingress: Any, egress: Any = None, **more: Any) -> Resources:
    given = {"SecurityGroupIngress": [*ingress], **({} if egress is None else {"SecurityGroupEgress": egress}), **more}
    return {"Type": "AWS::EC2::SecurityGroup", "Properties": given}


def rule(given: dict[str, Any], of: Any = ITSELF, kind: str = "Ingress") -> Resources:
    return {"Type": f"AWS::EC2::SecurityGroup{kind}", "Properties": {"GroupId": of, **given}}


class TestRules:
    @pytest.mark.parametrize(
        ("before", "after", "what"),
        [
            ([], [tcp(22, CidrIp="0.0.0.0/0")], "tcp 22 from 0.0.0.0/0"),
            ([tcp(22, CidrIp="10.0.0.0/16")], [tcp(22, CidrIp="10.0.0.0/8")], "tcp 22 from 10.0.0.0/8"),
            ([tcp(22, CidrIp="10.0.0.0/8")], [tcp(22, 80, CidrIp="10.0.0.0/8")], "tcp 22-80 from 10.0.0.0/8"),
            ([tcp(22, CidrIp="10.0.0.0/8")], [everything(CidrIp="10.0.0.0/8")], "all traffic from 10.0.0.0/8"),
            ([], [tcp(22, CidrIpv6="::/0")], "tcp 22 from ::/0"),
            ([], [everything(SourcePrefixListId="pl-1")], "all traffic from prefix list pl-1"),
            ([], [everything(SourceSecurityGroupId="sg-1")], "all traffic from sg-1"),
            ([], [{**tcp(-1), "IpProtocol": "icmp", "CidrIp": "10.0.0.0/8"}], "icmp from 10.0.0.0/8"),
            ([tcp(1, 5, CidrIp="10.0.0.0/8")], [tcp(1, 9, CidrIp="10.0.0.0/8")], "tcp 1-9 from 10.0.0.0/8"),
        ],
    )
    def test_a_wider_one(self, said: Said, before: list[Any], after: list[Any], what: str) -> None:
        assert said({"G": group(*before)}, {"G": group(*after)}) == [f"G: now lets in {what}"]
        assert said({"G": group(*after)}, {"G": group(*before)}) == []

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ([tcp(22, CidrIp="10.0.0.0/8")], [tcp("22", CidrIp="10.1.0.0/16", Description="new")]),
            ([tcp(1, 9, CidrIp="10.0.0.0/8")], [tcp(5, CidrIp="10.0.0.0/8")]),
            ([everything(CidrIp="10.0.0.0/8")], [tcp(5, CidrIp="10.0.0.0/8")]),
            ([{**tcp(5, CidrIp="10.0.0.0/8"), "IpProtocol": 6}], [tcp(5, CidrIp="10.0.0.0/8")]),
            ([tcp(5, CidrIp="10.0.0.0/9"), tcp(5, CidrIp="10.128.0.0/9")], [tcp(5, CidrIp="10.0.0.0/8")]),
            ([tcp(1, 4, CidrIp="10.0.0.0/8"), tcp(5, 9, CidrIp="10.0.0.0/8")], [tcp(2, 8, CidrIp="10.0.0.0/8")]),
            ([tcp(1, CidrIp="10.0.0.0/8"), tcp(2, CidrIp="10.0.0.0/8")], [tcp(2, CidrIp="10.0.0.0/8")]),
        ],
    )
    def test_what_was_open_before_says_nothing(self, said: Said, before: list[Any], after: list[Any]) -> None:
        assert said({"G": group(*before)}, {"G": group(*after)}) == []

    def test_a_rule_may_move_into_a_resource_of_its_own(self, said: Said) -> None:
        inside = {"G": group(tcp(22, CidrIp="10.0.0.0/8"))}
        beside = {"G": group(), "R": rule(tcp(22, CidrIp="10.0.0.0/8"), {"Ref": "G"})}
        assert said(inside, beside) == []
        assert said(beside, inside) == []

    def test_from_itself(self, said: Said) -> None:
        own = rule(everything(SourceSecurityGroupId={"Ref": "G"}))
        assert said({"G": group()}, {"G": group(), "R": own}) == ["G: now lets in all traffic from itself"]

    def test_from_another_group(self, said: Said) -> None:
        groups = {"G": group(), "H": group()}
        by_ref, by_id = (
            rule(everything(SourceSecurityGroupId=each)) for each in ({"Ref": "H"}, {"Fn::GetAtt": "H.GroupId"})
        )
        assert said(groups, {**groups, "R": by_id}) == ["G: now lets in all traffic from <H>"]
        assert said({**groups, "R": by_ref}, {**groups, "R": by_id}) == []

    def test_the_block_of_a_network(self, said: Said) -> None:
        net = {"N": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}}
        before, after = group(tcp(22, CidrIp={"Fn::GetAtt": ["N", "CidrBlock"]})), group(tcp(22, CidrIp="10.0.4.0/24"))
        assert said({"G": before, **net}, {"G": after, **net}) == []

    def test_out(self, said: Said) -> None:
        closed, open_ = (group(egress=[everything(CidrIp=each)]) for each in ("10.0.0.0/8", "0.0.0.0/0"))
        assert said({"G": closed}, {"G": open_}) == ["G: now lets out all traffic to 0.0.0.0/0"]
        beside = {"G": closed, "R": rule(tcp(443, DestinationPrefixListId="pl-1"), kind="Egress")}
        assert said({"G": closed}, beside) == ["G: now lets out tcp 443 to prefix list pl-1"]

    def test_a_group_without_egress_rules_lets_everything_out(self, said: Said) -> None:
        assert said({"G": group()}, {"G": group(egress=[everything(CidrIp="0.0.0.0/0")])}) == []
        assert said({"G": group(egress=[everything(CidrIp="10.0.0.0/8")])}, {"G": group()}) == []

    def test_a_group_of_elsewhere(self, said: Said) -> None:
        one, two = ({"R": rule(tcp(port, CidrIp="0.0.0.0/0"), "sg-1")} for port in (22, 80))
        assert said(one, {**one, "S": two["R"]}) == ["R: has a new rule that lets in tcp 80 from 0.0.0.0/0"]
        assert said(OTHERS, one) == ["R: has a new rule that lets in tcp 22 from 0.0.0.0/0"]

    def test_removed(self, said: Said) -> None:
        assert said({"G": group(tcp(22, CidrIp="10.0.0.0/8"))}, OTHERS) == []


class TestNewGroups:
    @pytest.mark.parametrize(
        ("given", "lines"),
        [
            (tcp(22, CidrIp="0.0.0.0/0"), ["G: now lets in tcp 22 from 0.0.0.0/0"]),
            (tcp(22, CidrIpv6="::/0"), ["G: now lets in tcp 22 from ::/0"]),
            (tcp(22, CidrIp="52.0.0.0/8"), ["G: now lets in tcp 22 from 52.0.0.0/8"]),
            (tcp(22, CidrIp="52.1.2.0/24"), []),
            (tcp(22, CidrIp="10.0.0.0/8"), []),
            (tcp(22, CidrIp="100.64.0.0/10"), []),
            (everything(SourceSecurityGroupId="sg-1"), []),
            (tcp(22, CidrIp={"Ref": "Given"}), []),
        ],
    )
    def test_only_what_is_wide(self, said: Said, given: Any, lines: list[str]) -> None:
        assert said(OTHERS, {"G": group(given, egress=[everything(CidrIp="0.0.0.0/0")])}) == lines


class TestUnknown:
    GIVEN: ClassVar = tcp(22, CidrIp={"Ref": "Given"})
    OTHER: ClassVar = tcp(22, CidrIp={"Ref": "Other"})

    def test_the_same_on_both_sides_says_nothing(self, said: Said) -> None:
        given = {"G": group(self.GIVEN, {"Fn::If": ["Maybe", tcp(1), tcp(2)]})}
        assert said(given, given) == []

    def test_another_name_for_what_may_be_the_same(self, said: Said) -> None:
        assert said({"G": group(self.GIVEN)}, {"G": group(self.OTHER)}) == [f"G: {AT_DEPLOY}"]
        assert said({"G": group(self.GIVEN)}, {"G": group(tcp(22, CidrIp="10.0.0.0/8"))}) == [f"G: {AT_DEPLOY}"]

    def test_one_more_is_certain(self, said: Said) -> None:
        lines = ["G: now lets in tcp 22 from <Other>"]
        assert said({"G": group(self.GIVEN)}, {"G": group(self.GIVEN, self.OTHER)}) == lines

    def test_everything_lets_the_unknown_in_too(self, said: Said) -> None:
        before = group(tcp(22, 80, CidrIp={"Ref": "Given"}))
        assert said({"G": before}, {"G": group(self.GIVEN)}) == []

    def test_a_rule_that_the_deploy_chooses(self, said: Said) -> None:
        chosen = {"Fn::If": ["Maybe", tcp(1, CidrIp="10.0.0.0/8"), {"Ref": "AWS::NoValue"}]}
        assert said({"G": group()}, {"G": group(chosen)}) == [f"G: {AT_DEPLOY}"]
        assert said({"G": group(chosen)}, {"G": group(tcp(1, CidrIp="10.0.0.0/8"))}) == [f"G: {AT_DEPLOY}"]

    def test_a_group_that_the_deploy_names(self, said: Said) -> None:
        one, two = ({"R": rule(tcp(22, CidrIp="0.0.0.0/0"), {"Ref": name})} for name in PARAMETERS)
        assert said(one, one) == []
        assert said(one, two) == [f"R: {AT_DEPLOY}"]

    @pytest.mark.parametrize("odd", ["x", 7, [], {}, [[]], {"IpProtocol": []}, tcp(22, CidrIp="10.0.0.0/99")])
    def test_what_is_no_rule_raises_nothing(self, said: Said, odd: Any) -> None:
        given = {"G": group(SecurityGroupIngress=odd), "R": {**rule({}), "Properties": odd}}
        assert said(given, given) == []
        said({"G": group()}, given)
        said(given, {"G": group()})


class TestEndpoint:
    def cluster(self, **config: Any) -> Resources:
        return {"E": {"Type": "AWS::EKS::Cluster", "Properties": {"ResourcesVpcConfig": config}}}

    def test_made_public(self, said: Said) -> None:
        private = self.cluster(EndpointPublicAccess=False)
        assert said(private, self.cluster()) == ["E: its API endpoint is open to 0.0.0.0/0 now"]
        assert said(private, private) == []
        assert said(self.cluster(), private) == []

    def test_more_blocks(self, said: Said) -> None:
        few, more = (self.cluster(PublicAccessCidrs=each) for each in (["52.0.0.0/24"], ["53.0.0.0/24", "52.0.0.0/24"]))
        assert said(few, more) == ["E: its API endpoint is open to 53.0.0.0/24 now"]
        assert said(more, few) == []

    def test_new(self, said: Said) -> None:
        assert said(OTHERS, self.cluster()) == ["E: its API endpoint is open to 0.0.0.0/0"]
        assert said(OTHERS, self.cluster(PublicAccessCidrs=["52.0.0.0/24"])) == []

    def test_unknown(self, said: Said) -> None:
        private = self.cluster(EndpointPublicAccess=False)
        given, other = (self.cluster(PublicAccessCidrs=[{"Ref": name}]) for name in PARAMETERS)
        assert said(given, given) == []
        assert said(given, other) == [f"E: its public API endpoint {AT_DEPLOY}"]
        assert said(private, self.cluster(EndpointPublicAccess={"Ref": "Given"})) == [
            f"E: its public API endpoint {AT_DEPLOY}"
        ]


class TestBuckets:
    def bucket(self, **settings: Any) -> Resources:
        given = {"PublicAccessBlockConfiguration": settings} if settings else {}
        return {"B": {"Type": "AWS::S3::Bucket", "Properties": given}}

    def test_turned_off(self, said: Said) -> None:
        on, off = self.bucket(BlockPublicPolicy=True), self.bucket(BlockPublicPolicy=False)
        lines = ["B: does not keep the public out: BlockPublicPolicy false"]
        assert [said(before, off) for before in (on, self.bucket(), OTHERS)] == [lines] * 3
        assert said(off, on) == []
        assert said(off, off) == []

    def test_left_out(self, said: Said) -> None:
        on = self.bucket(BlockPublicPolicy=True, BlockPublicAcls="true")
        lines = ["B: no longer keeps the public out: without BlockPublicAcls, BlockPublicPolicy"]
        assert said(on, self.bucket()) == lines
        assert said(self.bucket(), on) == []

    def test_unknown(self, said: Said) -> None:
        given, other = (self.bucket(BlockPublicAcls={"Ref": name}) for name in PARAMETERS)
        assert said(given, given) == []
        assert said(given, other) == [f"B: its BlockPublicAcls {AT_DEPLOY}"]
        assert said(given, self.bucket(BlockPublicAcls=True)) == []


class TestSubnets:
    def subnet(self, **properties: Any) -> Resources:
        return {"S": {"Type": "AWS::EC2::Subnet", "Properties": properties}}

    def test_public_addresses(self, said: Said) -> None:
        on, off = self.subnet(MapPublicIpOnLaunch=True), self.subnet(MapPublicIpOnLaunch=False)
        lines = ["S: gives network interfaces public addresses now"]
        assert [said(before, on) for before in (off, self.subnet())] == [lines] * 2
        assert [said(on, after) for after in (on, off, self.subnet())] == [[]] * 3

    def test_unknown(self, said: Said) -> None:
        given, on = self.subnet(MapPublicIpOnLaunch={"Ref": "Given"}), self.subnet(MapPublicIpOnLaunch="true")
        assert said(given, given) == []
        assert said(given, on) == [f"S: its MapPublicIpOnLaunch {AT_DEPLOY}"]
        assert said(self.subnet(), given) == [f"S: its MapPublicIpOnLaunch {AT_DEPLOY}"]
