"""What is said of subnets and of the blocks of a VPC."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.model import template
from hyperpod_constructs.model.deployment import Deployment, Location
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.model.storage import FileSystem, Lustre
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules import networks
from tests.rules.builders import PLACEMENT, cluster, compute, deployment, told
from tests.rules.networks import LUSTRE, NETWORK, UNDECIDED, ref, resource
from tests.rules.places import placed, subnet


class TestSubnetsArePrivate:
    def of(self, public: Any, **fields: Any) -> list[str]:
        return told("HP4005", deployment(cluster(**fields), subnets=(subnet("Net/Nodes", public=public),)))

    def test_nodes_get_no_public_addresses(self) -> None:
        assert self.of(public=True) == [
            (
                "HP4005 the cluster stands in subnet Net/Nodes, which gives out public addresses (MapPublicIpOnLaunch) "
                "| let nodes stand in a private subnet: MapPublicIpOnLaunch false, and a route to a NAT gateway or VPC "
                "endpoints; in the CDK SubnetType.PRIVATE_WITH_EGRESS"
            )
        ]

    def test_nor_does_a_group_in_its_own_subnet(self) -> None:
        found = self.of(public=True, placement=None, groups=(compute(placement=PLACEMENT),))
        assert [each.partition(",")[0] for each in found] == ["HP4005 group 'p5' stands in subnet Net/Nodes"]

    def test_one_subnet_is_told_once_at_its_line(self) -> None:
        public = {"Nodes": {"MapPublicIpOnLaunch": True}}
        place = {"Subnets": [ref("Nodes")], "SecurityGroupIds": [ref("Fabric")]}
        groups = [{**each, "OverrideVpcConfig": place} for each in NETWORK["Cluster"]["Properties"]["InstanceGroups"]]
        (found,) = networks.of("HP4005", public, {"Cluster": {"InstanceGroups": groups}})
        assert found.startswith("Nodes: the cluster, group 'controller' and group 'p5' stand in subnet Nodes, which")

    def test_an_imported_subnet_is_told_where_it_is_used(self) -> None:
        place = placed("subnet-0123456789abcdef0")
        imported = subnet("subnet-0123456789abcdef0", public=True)
        judged = deployment(cluster(placement=place), subnets=(imported,), locations={"Train": Location("t.yaml", 7)})
        assert [each.path for each in RULES["HP4005"].findings(judged)] == ["Train"]

    @pytest.mark.parametrize("public", [False, UNKNOWN])
    def test_is_silent_on_private_and_unknown_subnets(self, public: Any) -> None:
        assert self.of(public=public) == []


class TestPlacementHasALegalSize:
    def of(self, subnets: Any, security_groups: Any) -> list[str]:
        place = VpcPlacement(subnets=subnets, security_groups=security_groups)
        return told("HP4009", deployment(cluster(placement=place)))

    def test_more_than_the_service_takes(self) -> None:
        assert self.of(("s",) * 17, ("g",) * 6) == [
            "HP4009 the cluster has 17 subnets | name 1 to 16 in Subnets",
            "HP4009 the cluster has 6 security groups | name 1 to 5 in SecurityGroupIds",
        ]

    def test_none(self) -> None:
        assert self.of((), ("g",)) == ["HP4009 the cluster has 0 subnets | name 1 to 16 in Subnets"]

    def test_counts_what_is_certainly_there(self) -> None:
        assert self.of(("s",), (*("g",) * 6, UNKNOWN)) == [
            "HP4009 the cluster has 6 security groups | name 1 to 5 in SecurityGroupIds"
        ]

    @pytest.mark.parametrize(
        ("subnets", "groups"),
        [
            (("s",) * 16, ("g",) * 5),
            (("s",), ("g",)),
            (UNKNOWN, UNKNOWN),
            ((UNKNOWN, UNKNOWN), (*("g",) * 4, UNKNOWN, UNKNOWN)),
        ],
    )
    def test_is_silent_on_legal_and_unknown_lists(self, subnets: Any, groups: Any) -> None:
        assert self.of(subnets, groups) == []


class TestNetworksAreHeldInPlace:
    def test_names_what_is_reached_weakly(self) -> None:
        weak = VpcPlacement(subnets=("A/S",), security_groups=("A/G",), weak=("Subnets", "SecurityGroupIds"))
        group = VpcPlacement(subnets=("A/S",), security_groups=("A/G",), weak=("Subnets",))
        scratch = FileSystem(path="Scratch", lustre=Lustre(), weak=("SubnetIds",))
        judged = deployment(cluster(placement=weak, groups=(compute(placement=group),)), file_systems=(scratch,))
        assert [said.partition(" |")[0] for said in told("HP4011", judged)] == [
            "HP4011 the cluster has Subnets and SecurityGroupIds through Fn::GetStackOutput",
            "HP4011 group 'p5' has Subnets through Fn::GetStackOutput",
            "HP4011 the file system has SubnetIds through Fn::GetStackOutput",
        ]

    @pytest.mark.parametrize("place", [PLACEMENT, UNKNOWN, None])
    def test_is_silent_on_strong_and_unknown_ones(self, place: Any) -> None:
        scratch = FileSystem(path="Scratch", lustre=Lustre(), subnets=UNKNOWN)
        assert told("HP4011", deployment(cluster(placement=place), file_systems=(scratch,))) == []


class TestListsNameThingsOnce:
    def of(self, **place: Any) -> list[str]:
        given = {"Subnets": [ref("Nodes")], "SecurityGroupIds": [ref("Fabric")], **place}
        return networks.of("HP4040", {"Cluster": {"VpcConfig": given}})

    def test_names_what_is_there_twice(self) -> None:
        twice = [ref("Fabric"), {"Fn::GetAtt": ["Fabric", "GroupId"]}]
        assert self.of(SecurityGroupIds=twice) == [
            (
                "Cluster: the cluster has Fabric 2 times among its security groups | take one of them out, or name "
                "what was meant instead"
            )
        ]

    def test_subnets_and_file_systems_have_lists_too(self) -> None:
        assert len(self.of(Subnets=["subnet-0123456789abcdef0"] * 3)) == 1
        scratch = {"Scratch": LUSTRE}, {"Scratch": {"SecurityGroupIds": [ref("Fabric")] * 2}}
        (found,) = networks.of("HP4040", *scratch)
        assert found.startswith("Scratch: the file system has Fabric 2 times")

    @pytest.mark.parametrize("groups", [[ref("Fabric"), "sg-0123456789abcdef0"], [UNDECIDED, UNDECIDED], UNDECIDED])
    def test_is_silent_on_different_and_unknown_ones(self, groups: object) -> None:
        assert self.of(SecurityGroupIds=groups) == []


class TestListsNameWhatTheyShould:
    def of(self, subnets: object, groups: object = ref("Fabric")) -> list[str]:
        place = {"Subnets": [subnets], "SecurityGroupIds": [groups]}
        return networks.of("HP4021", {"Cluster": {"VpcConfig": place}})

    def test_a_block_is_no_subnet(self) -> None:
        assert self.of("10.0.0.0/24") == [
            (
                "Cluster: the cluster has 10.0.0.0/24, which is a block of addresses, among its subnets | name subnets "
                "there, by ids such as subnet-0123456789abcdef0"
            )
        ]

    @pytest.mark.parametrize(
        ("given", "kind"),
        [
            ("sg-0123456789abcdef0", "a security group"),
            ("vpc-0123456789abcdef0", "a VPC"),
            ("rtb-0123456789abcdef0", "an id of another kind (rtb-)"),
            ("arn:aws:ec2:us-west-2:111122223333:subnet/subnet-0123456789abcdef0", "an ARN"),
            ("subnet-0123456789abcdef0,subnet-0123456789abcdef1", "a list in one text"),
            ("usw2-az2", "a zone"),
            ("us-west-2b", "a zone"),
            (ref("Vpc"), "a VPC"),
            (ref("Fabric"), "a security group"),
        ],
    )
    def test_nor_is_anything_else(self, given: object, kind: str) -> None:
        (found,) = self.of(given)
        assert f"which is {kind}, among its subnets" in found

    def test_nor_is_a_subnet_a_security_group(self) -> None:
        (found,) = self.of(ref("Nodes"), ref("Nodes"))
        assert "has Nodes, which is a subnet, among its security groups" in found

    def test_a_file_system_has_lists_too(self) -> None:
        (found,) = networks.of("HP4021", {"Scratch": LUSTRE}, {"Scratch": {"SubnetIds": ["10.0.0.0/24"]}})
        assert found.startswith("Scratch: the file system has 10.0.0.0/24, which is a block")

    @pytest.mark.parametrize("given", [ref("Nodes"), "subnet-0123456789abcdef0", "s", UNDECIDED])
    def test_is_silent_on_subnets_and_unknown_ones(self, given: object) -> None:
        assert self.of(given) == []


def another(cidr: object, **properties: object) -> dict[str, Any]:
    return {"Other": resource("Subnet", **{"VpcId": ref("Vpc"), "CidrBlock": cidr, **properties})}


class TestSubnetsDoNotOverlap:
    def test_names_both(self) -> None:
        assert networks.of("HP4015", another("10.0.64.0/24")) == [
            (
                "Other: subnet Other 10.0.64.0/24 overlaps Nodes 10.0.64.0/19 of the same VPC | give each of them a "
                "CidrBlock of its own"
            )
        ]

    def test_of_an_imported_vpc_too(self) -> None:
        given = {name: {"VpcId": UNDECIDED} for name in ("Public", "Nodes")}
        assert len(networks.of("HP4015", given, another("10.0.64.0/24", VpcId=UNDECIDED))) == 1

    @pytest.mark.parametrize("cidr", ["10.0.96.0/24", UNDECIDED, "10.0.64.0/99"])
    def test_is_silent_on_blocks_of_their_own_and_on_unknown_ones(self, cidr: object) -> None:
        assert networks.of("HP4015", another(cidr)) == []

    @pytest.mark.parametrize("vpc", ["vpc-0123456789abcdef0", UNDECIDED])
    def test_is_silent_on_other_vpcs(self, vpc: object) -> None:
        assert networks.of("HP4015", another("10.0.64.0/24", VpcId=vpc)) == []

    def test_is_silent_on_subnets_of_which_only_one_may_be_made(self) -> None:
        either = another("10.0.64.0/24")
        either["Other"]["Condition"] = "Maybe"
        assert networks.of("HP4015", either) == []


def block(cidr: object, **properties: object) -> dict[str, Any]:
    return resource("VPCCidrBlock", **{"VpcId": ref("Vpc"), "CidrBlock": cidr, **properties})


class TestSubnetsLieInTheirVpc:
    def test_a_subnet_is_part_of_its_vpc(self) -> None:
        assert networks.of("HP4016", another("10.1.0.0/24"), {"More": block("10.2.0.0/16")}) == [
            (
                "Other: subnet 10.1.0.0/24 does not lie in its VPC, which has 10.0.0.0/16 and 10.2.0.0/16 | use a "
                "CidrBlock within one of those, or add a block to the VPC with AWS::EC2::VPCCidrBlock"
            )
        ]

    @pytest.mark.parametrize("cidr", ["10.0.0.0/29", "10.0.0.0/15"])
    def test_a_subnet_is_no_wider_or_narrower_than_ec2_takes(self, cidr: str) -> None:
        (found,) = networks.of("HP4016", another(cidr))
        assert found.endswith(f"is a {cidr[-3:]} | use a /16 to /28")

    @pytest.mark.parametrize(
        "vpc",
        [
            {"Vpc": {"CidrBlock": UNDECIDED}},
            {"Vpc": {"CidrBlock": None, "Ipv4IpamPoolId": "ipam-pool-1"}},
            {"More": block("10.1.0.0/16")},
            {"More": block(UNDECIDED)},
            {"More": block("10.9.0.0/16", VpcId=UNDECIDED)},
            {"More": {**block("10.1.0.0/16"), "Condition": "Maybe"}},
        ],
    )
    def test_is_silent_where_the_vpc_has_or_may_have_it(self, vpc: dict[str, Any]) -> None:
        assert networks.of("HP4016", another("10.1.0.0/24"), vpc) == []

    def test_is_silent_on_an_imported_vpc_and_an_unknown_block(self) -> None:
        assert networks.of("HP4016", another("192.168.0.0/24", VpcId="vpc-0123456789abcdef0")) == []
        assert networks.of("HP4016", another(UNDECIDED)) == []


class TestSubnetsAvoidRangesOfTheNodes:
    def of(self, cidr: Any, path: str = "Net/Nodes") -> list[str]:
        return told("HP4019", deployment(cluster(), subnets=(subnet(path, cidr=cidr),)))

    def test_docker_takes_one(self) -> None:
        assert self.of("172.17.8.0/21") == [
            (
                "HP4019 subnet 172.17.8.0/21 lies in 172.17.0.0/16, which Docker's bridge on each node may use | use a "
                "block within 10.0.0.0/8, or set the node's software to other addresses before it starts"
            )
        ]

    @pytest.mark.parametrize("cidr", ["172.16.0.0/20", "172.31.240.0/20", "198.19.0.0/20"])
    def test_others_are_taken_by_one_report(self, cidr: str) -> None:
        assert "by one report" in self.of(cidr)[0]

    @pytest.mark.parametrize("cidr", ["172.32.0.0/16", "172.15.0.0/16", "10.0.0.0/16", "192.168.0.0/16", UNKNOWN, None])
    def test_is_silent_on_other_and_unknown_blocks(self, cidr: Any) -> None:
        assert self.of(cidr) == []

    def test_is_silent_on_subnets_without_nodes(self) -> None:
        assert self.of("172.17.8.0/21", path="Net/Other") == []


class TestVpcBlocksCanBeHad:
    def test_blocks_of_a_vpc_do_not_overlap(self) -> None:
        assert networks.of("HP4017", {"More": block("10.0.128.0/17")}) == [
            "More: VPC block 10.0.128.0/17 overlaps 10.0.0.0/16 | use blocks that do not overlap"
        ]

    @pytest.mark.parametrize("cidr", ["10.0.0.0/8", "10.0.0.0/29"])
    def test_blocks_of_a_vpc_have_a_size(self, cidr: str) -> None:
        (found,) = networks.of("HP4017", {"Vpc": {"CidrBlock": cidr}})
        assert found.startswith(f"Vpc: VPC block {cidr} is a ")

    @pytest.mark.parametrize("cidr", ["10.1.0.0/16", UNDECIDED])
    def test_is_silent_on_others_and_unknown_ones(self, cidr: object) -> None:
        assert networks.of("HP4017", {"More": block(cidr)}) == []

    def test_is_silent_on_ipv6(self) -> None:
        ipv6 = resource("VPCCidrBlock", VpcId=ref("Vpc"), AmazonProvidedIpv6CidrBlock=True)
        assert networks.of("HP4017", {"More": ipv6}) == []


class TestImportedSubnetsLieInTheirVpc:
    def of(self, cidr: Any, vpc_cidr: Any) -> list[str]:
        subnet = Subnet(path="subnet-0123456789abcdef0", cidr=cidr, vpc_cidr=vpc_cidr)
        return told("HP4041", Deployment(subnets=(subnet,)))

    def test_one_of_the_blocks_is_a_slip(self) -> None:
        assert self.of("10.2.0.0/20", "10.1.0.0/16") == [
            (
                "HP4041 subnet subnet-0123456789abcdef0 10.2.0.0/20 does not lie in 10.1.0.0/16, the block that is "
                "given for its VPC | see what `aws ec2 describe-subnets` and describe-vpcs print; if the VPC has "
                "several blocks, leave vpc_cidr out"
            )
        ]

    @pytest.mark.parametrize(
        ("cidr", "vpc_cidr"), [("10.1.240.0/20", "10.1.0.0/16"), (UNKNOWN, "10.1.0.0/16"), ("10.2.0.0/20", None)]
    )
    def test_is_silent_where_they_fit_or_are_not_known(self, cidr: Any, vpc_cidr: Any) -> None:
        assert self.of(cidr, vpc_cidr) == []


class TestVpcBlocksFitTheUsualQuota:
    def of(self, count: int, cidr: object = None) -> list[str]:
        return networks.of("HP4018", {f"More{n}": block(cidr or f"10.{n}.0.0/16") for n in range(1, count + 1)})

    def test_counts_the_first_one_too(self) -> None:
        assert self.of(5) == [
            (
                "Vpc: the VPC has 6 IPv4 blocks; the quota is 5 unless it was raised | use fewer and wider blocks, or "
                "raise the quota before the deploy"
            )
        ]

    def test_is_silent_on_five_and_on_unknown_ones(self) -> None:
        assert self.of(4) == []
        assert self.of(5, UNDECIDED) == []


class TestSubnetsInSeveralTemplates:
    def files(self, folder: Path, vpc: object, first: str, second: str) -> list[str]:
        """Rules that two templates break, each with a subnet of a VPC that only the first one has or imports."""
        made = {"Vpc": resource("VPC", CidrBlock="10.0.0.0/16")}
        exported = {"Vpc": {"Value": ref("Vpc"), "Export": {"Name": "vpc"}}}
        one = {"A": resource("Subnet", VpcId=ref("Vpc") if vpc is None else vpc, CidrBlock=first)}
        other = {"B": resource("Subnet", VpcId={"Fn::ImportValue": "vpc"} if vpc is None else vpc, CidrBlock=second)}
        (folder / "a.json").write_text(json.dumps({"Resources": {**made, **one}, "Outputs": exported}))
        (folder / "b.json").write_text(json.dumps({"Resources": other}))
        return [each.rule for each in rules.check(template.read(folder))]

    def test_of_one_vpc_that_is_made_do_not_overlap(self, tmp_path: Path) -> None:
        assert self.files(tmp_path, None, "10.0.0.0/20", "10.0.0.0/24") == ["HP4015"]

    def test_of_an_imported_vpc_may_be_there_by_turns(self, tmp_path: Path) -> None:
        assert self.files(tmp_path, "vpc-0123456789abcdef0", "10.0.0.0/20", "10.0.0.0/24") == []

    def test_may_lie_in_a_block_that_a_third_one_adds(self, tmp_path: Path) -> None:
        assert self.files(tmp_path, None, "10.0.0.0/20", "10.1.0.0/24") == []
