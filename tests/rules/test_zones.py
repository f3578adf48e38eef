"""What is said of zones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_constructs.model.network import VpcPlacement, ZoneName
from hyperpod_constructs.model.storage import FileSystem, Lustre, Mount
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules import networks
from tests.rules.builders import SUBNET, cluster, compute, controller, deployment, login, slurm_cluster, told
from tests.rules.networks import LUSTRE, NETWORK, UNDECIDED, ref, resource
from tests.rules.places import placed, subnet


class TestEfaGroupStaysInOneZone:
    def of(self, other_zone: Any, **fields: Any) -> list[str]:
        group = compute(placement=placed("A", "B"), **fields)
        return told("HP4006", deployment(slurm_cluster(group), subnets=(subnet("A"), subnet("B", zone=other_zone))))

    def test_names_the_zones(self) -> None:
        assert self.of("usw2-az1") == [
            (
                "HP4006 group 'p5' has EFA and subnets in 2 zones: usw2-az1, usw2-az2 | "
                "name subnets of one zone (usw2-az1 or usw2-az2) in OverrideVpcConfig, or make a group for each"
            )
        ]

    @pytest.mark.parametrize("zone", ["usw2-az2", UNKNOWN, None])
    def test_is_silent_on_one_known_zone(self, zone: Any) -> None:
        assert self.of(zone) == []

    def test_is_silent_on_nodes_without_efa(self) -> None:
        assert self.of("usw2-az1", instance_type="ml.m5.4xlarge") == []

    @pytest.mark.parametrize(
        ("types", "findings"),
        [
            (("ml.p5.48xlarge", "ml.p5e.48xlarge"), 1),
            (("ml.p5.48xlarge", "ml.m5.4xlarge"), 0),
            (("ml.p5.48xlarge", "ml.p9.48xlarge"), 0),
            (("ml.p5.48xlarge", UNKNOWN), 0),
            (UNKNOWN, 0),
        ],
    )
    def test_of_several_types_all_must_have_it(self, types: Any, findings: int) -> None:
        assert len(self.of("usw2-az1", instance_type=None, flexible_types=types)) == findings


class TestZonesAreOfTheRegion:
    def of(self, zone: Any, region: str | None = "eu-central-1") -> list[str]:
        return told("HP4007", deployment(cluster(region=region), subnets=(subnet("Net/Nodes", zone=zone),)))

    def test_a_subnet_in_a_zone_of_another_region(self) -> None:
        assert self.of("usw2-az2") == [
            (
                "HP4007 zone usw2-az2 is in us-west-2 but the cluster is in eu-central-1 | "
                "use a zone id that begins with euc1-, or deploy to us-west-2"
            )
        ]

    def test_a_group_in_a_zone_of_another_region(self) -> None:
        judged = cluster(groups=(compute(zone="use1-az1"),))
        assert len(told("HP4007", deployment(judged))) == 1

    def test_the_subnet_of_a_mounted_file_system(self) -> None:
        mounts = (Mount(kind="lustre", file_system="Scratch"),)
        scratch = FileSystem(path="Scratch", lustre=Lustre(), subnets=("Data",))
        judged = deployment(
            cluster(groups=(compute(mounts=mounts),)),
            file_systems=(scratch,),
            subnets=(SUBNET, subnet("Data", "use1-az1")),
        )
        assert len(told("HP4007", judged)) == 1

    def test_the_subnet_of_a_file_system_without_a_cluster(self) -> None:
        scratch = FileSystem(path="Scratch", lustre=Lustre(), subnets=("Data",), region="us-west-2")
        judged = deployment(file_systems=(scratch,), subnets=(subnet("Data", "use1-az1"),))
        assert told("HP4007", judged) == [
            (
                "HP4007 zone use1-az1 is in us-east-1 but file system Scratch is in us-west-2 | "
                "use a zone id that begins with usw2-, or deploy to us-east-1"
            )
        ]

    def test_a_subnet_that_cluster_and_file_system_share_is_told_once(self) -> None:
        mounts = (Mount(kind="lustre", file_system="Scratch"),)
        scratch = FileSystem(path="Scratch", lustre=Lustre(), subnets=("Net/Nodes",), region="us-west-2")
        judged = deployment(
            cluster(groups=(compute(mounts=mounts),)),
            file_systems=(scratch,),
            subnets=(subnet("Net/Nodes", "use1-az1"),),
        )
        assert len(told("HP4007", judged)) == 1

    @pytest.mark.parametrize("zone", ["euc1-az2", UNKNOWN, None, "us-west-2b", "xyz9-az1"])
    def test_is_silent_on_zones_of_the_region_and_on_unknown_ones(self, zone: Any) -> None:
        assert self.of(zone) == []

    @pytest.mark.parametrize("region", [None, "mars-north-1"])
    def test_is_silent_in_an_unknown_region(self, region: str | None) -> None:
        assert self.of("usw2-az2", region) == []


class TestZonesAreOfTheRegionByName:
    def of(self, name: object, region: str | None = "eu-central-1") -> list[str]:
        moved = {"AvailabilityZoneId": None, "AvailabilityZone": name}
        return networks.of("HP4007", {"Nodes": moved, "Public": moved}, region=region)

    def test_a_name_says_its_region_too(self) -> None:
        assert self.of("us-west-2b")[0] == (
            "Nodes: zone us-west-2b is in us-west-2 but the cluster is in eu-central-1 | use a zone name that begins "
            "with eu-central-1, or deploy to us-west-2"
        )

    def test_so_does_that_of_a_local_zone(self) -> None:
        assert len(self.of("us-west-2-phx-2a")) == 2

    def test_a_subnet_without_nodes_stands_in_its_stack(self) -> None:
        assert "zone us-west-2b is in us-west-2 but its stack is in eu-central-1" in self.of("us-west-2b")[1]

    @pytest.mark.parametrize("name", ["eu-central-1a", {"Fn::Select": [0, {"Fn::GetAZs": ""}]}, UNDECIDED])
    def test_is_silent_on_zones_of_the_region_and_on_unknown_ones(self, name: object) -> None:
        assert self.of(name) == []

    def test_is_silent_where_the_region_is_not_known(self) -> None:
        assert self.of("us-west-2b", region=None) == []


class TestZonesAreWhatTheirPropertyTakes:
    def of(self, **zone: object) -> list[str]:
        return networks.of("HP4013", {"Nodes": {"AvailabilityZoneId": None, **zone}})

    def test_a_name_is_no_id(self) -> None:
        assert self.of(AvailabilityZoneId="us-west-2b") == [
            (
                "Nodes: AvailabilityZoneId is 'us-west-2b', which is no zone id | use AvailabilityZone: us-west-2b, or "
                "an id such as usw2-az2; `aws ec2 describe-availability-zones` prints names and ids"
            )
        ]

    def test_an_id_is_no_name(self) -> None:
        assert self.of(AvailabilityZone="usw2-az2") == [
            "Nodes: AvailabilityZone is 'usw2-az2', which is no zone name | use AvailabilityZoneId: usw2-az2"
        ]

    def test_neither_is_a_region(self) -> None:
        assert self.of(AvailabilityZoneId="us-west-2")[0].endswith(
            "| use an id such as usw2-az2; `aws ec2 describe-availability-zones` prints names and ids"
        )
        assert self.of(AvailabilityZone="us-west-2")[0].endswith("use a name such as us-west-2b")

    @pytest.mark.parametrize(
        "zone",
        [
            {"AvailabilityZoneId": "usw2-phx2-az1"},
            {"AvailabilityZone": "us-west-2-phx-2a"},
            {"AvailabilityZoneId": "usw2-wl1-las-wlz1"},
            {"AvailabilityZone": "us-west-2-wl1-las-wlz-1"},
            {"AvailabilityZoneId": UNDECIDED},
            {"AvailabilityZone": {"Fn::Select": [0, {"Fn::GetAZs": ""}]}},
            {},
        ],
    )
    def test_is_silent_on_what_each_takes_and_on_unknown_zones(self, zone: dict[str, object]) -> None:
        assert self.of(**zone) == []


class TestZonesAreKnown:
    def of(self, zone: Any) -> list[str]:
        return told("HP4014", deployment(cluster(groups=(compute(zone=zone),))))

    def test_a_slip_is_one_that_nobody_has(self) -> None:
        assert self.of("usw2-az9") == [
            (
                "HP4014 zone usw2-az9 is not one that we know in us-west-2 | use one of usw2-az1, usw2-az2, usw2-az3, "
                "usw2-az4, or see that `aws ec2 describe-availability-zones --region us-west-2` has it"
            )
        ]

    def test_of_a_subnet_too(self) -> None:
        judged = deployment(subnets=(subnet("A", "usw2-az9"), subnet("B", UNKNOWN), subnet("C", None)))
        assert len(told("HP4014", judged)) == 1

    @pytest.mark.parametrize("zone", ["usw2-az4", "usw2-phx2-az1", "cnn1-az9", "us-west-2b", UNKNOWN, None])
    def test_is_silent_on_known_ones_on_local_zones_and_where_there_is_no_list(self, zone: Any) -> None:
        assert self.of(zone) == []


class TestTypesAreOfferedInTheirZone:
    def of(self, instance_type: Any, zone: Any = "usw2-az4", **fields: Any) -> list[str]:
        group = compute(name="w", instance_type=instance_type, **fields)
        return told("HP4012", deployment(cluster(groups=(group,)), subnets=(subnet("Net/Nodes", zone),)))

    def test_names_the_zones_that_have_it_and_how_to_ask(self) -> None:
        """What the copy of EC2's list says is what the report of issue 204 found in an account."""
        assert self.of("ml.g5.12xlarge") == [
            (
                "HP4012 group 'w' has ml.g5.12xlarge, which is not known to be offered in usw2-az4 | use one of "
                "usw2-az1, usw2-az2, usw2-az3, or see what `aws ec2 describe-instance-type-offerings --location-type "
                "availability-zone-id --region us-west-2 --filters Name=instance-type,Values=g5.12xlarge` prints"
            )
        ]

    def test_of_several_types_one_that_is_offered_is_enough(self) -> None:
        flexible = ("ml.g5.12xlarge", "ml.g5.24xlarge")
        assert len(self.of(None, flexible_types=flexible)) == 1
        assert self.of(None, flexible_types=(*flexible, "ml.p5.48xlarge")) == []
        assert self.of(None, flexible_types=(*flexible, UNKNOWN)) == []

    @pytest.mark.parametrize(
        ("instance_type", "zone"),
        [
            ("ml.g5.12xlarge", "usw2-az2"),
            ("ml.p5.48xlarge", "usw2-az4"),
            ("ml.g5.12xlarge", UNKNOWN),
            ("ml.g5.12xlarge", "usw2-phx2-az1"),
            ("ml.g5.12xlarge", "usw2-az9"),
            (UNKNOWN, "usw2-az4"),
            ("ml.p9.48xlarge", "usw2-az4"),
            ("ml.trn2.48xlarge", "usw2-az4"),
        ],
    )
    def test_is_silent_where_it_is_offered_or_nothing_is_known(self, instance_type: Any, zone: Any) -> None:
        assert self.of(instance_type, zone) == []

    def test_is_silent_on_a_group_without_nodes(self) -> None:
        assert self.of("ml.g5.12xlarge", count=0) == []


GROUP = NETWORK["Cluster"]["Properties"]["InstanceGroups"][1]
FIRST, SECOND = ({"Fn::Select": [place, {"Fn::GetAZs": ""}]} for place in (0, 1))


class TestZonesByName:
    """Two names in one template are two zones, whatever zones they are."""

    def of(self, name: object, other: object) -> list[str]:
        data = resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.3.0/24", AvailabilityZone=other)
        mount = {"DnsName": {"Fn::GetAtt": ["Scratch", "DNSName"]}, "MountName": "abcdefgh"}
        group = {**GROUP, "InstanceStorageConfigs": [{"FsxLustreConfig": mount}]}
        return networks.of(
            "HP4008",
            {"Nodes": {"AvailabilityZoneId": None, "AvailabilityZone": name}, "Data": data, "Scratch": LUSTRE},
            {"Scratch": {"SubnetIds": [ref("Data")]}, "Cluster": {"InstanceGroups": [group]}},
        )

    def test_are_compared(self) -> None:
        assert self.of("us-west-2a", "us-west-2b") == [
            (
                "Cluster/p5: group 'p5' in us-west-2a mounts Scratch, which is in us-west-2b | put nodes and file "
                "system in one zone, us-west-2a or us-west-2b, by Subnets and SubnetIds (zone= in Python)"
            )
        ]

    def test_so_are_places_in_the_list_of_zones(self) -> None:
        (found,) = self.of(FIRST, {"Fn::Select": ["1", {"Fn::GetAZs": {"Ref": "AWS::Region"}}]})
        assert "in zone 1 of Fn::GetAZs mounts Scratch, which is in zone 2 of Fn::GetAZs" in found

    @pytest.mark.parametrize(
        ("name", "other"),
        [
            ("us-west-2a", "us-west-2a"),
            (FIRST, FIRST),
            (FIRST, "us-west-2b"),
            (FIRST, UNDECIDED),
            (FIRST, {"Fn::Select": [1, {"Fn::GetAZs": "us-west-2"}]}),
        ],
    )
    def test_are_not_where_they_may_be_one(self, name: object, other: object) -> None:
        assert self.of(name, other) == []

    def test_of_two_accounts_mean_different_things(self) -> None:
        names = [ZoneName(text=f"us-west-2{letter}", scope=f"names of {letter}") for letter in "ab"]
        nodes, data = (subnet(path, UNKNOWN, zone_name=name) for path, name in zip("AB", names, strict=True))
        judged = deployment(cluster(placement=placed("A", "B")), subnets=(nodes, data))
        assert told("HP4010", judged) == []
        one_account = replace(data, zone_name=replace(names[1], scope=names[0].scope))
        assert len(told("HP4010", replace(judged, subnets=(nodes, one_account)))) == 1

    def test_a_group_with_efa_spans_them(self) -> None:
        place = {"Subnets": [ref("A"), ref("B")], "SecurityGroupIds": [ref("Fabric")]}
        group = {**GROUP, "OverrideVpcConfig": place}
        pair = {
            name: resource("Subnet", VpcId=ref("Vpc"), CidrBlock=f"10.0.{block}.0/24", AvailabilityZone=zone)
            for name, block, zone in (("A", 3, FIRST), ("B", 4, SECOND))
        }
        (found,) = networks.of("HP4006", pair, {"Cluster": {"InstanceGroups": [group]}})
        assert "subnets in 2 zones: zone 1 of Fn::GetAZs, zone 2 of Fn::GetAZs" in found


class TestLustreIsInTheZoneOfItsNodes:
    def of(
        self, its_zone: Any, *, efa: bool = False, groups: tuple[Any, ...] | None = None, **fields: Any
    ) -> list[str]:
        mounts = (Mount(kind="lustre", file_system="Scratch"), Mount(kind="lustre", file_system="fs-0123.fsx"))
        scratch = FileSystem(path="Scratch", lustre=Lustre(efa=efa), subnets=("Data",))
        mounting = tuple(each(mounts=mounts, **fields) for each in groups or (compute,))
        judged = deployment(
            cluster(groups=mounting), file_systems=(scratch,), subnets=(SUBNET, subnet("Data", its_zone))
        )
        return told("HP4008", judged)

    def test_names_both_zones(self) -> None:
        assert self.of("usw2-az1") == [
            (
                "HP4008 group 'p5' in usw2-az2 mounts Scratch, which is in usw2-az1 | "
                "put nodes and file system in one zone, usw2-az2 or usw2-az1, by Subnets and SubnetIds (zone= in "
                "Python)"
            )
        ]

    def test_groups_of_one_zone_are_told_together(self) -> None:
        (found,) = self.of("usw2-az1", groups=(controller, login, compute))
        assert found.startswith("HP4008 groups 'controller', 'login' and 'p5' in usw2-az2 mount Scratch, which")

    def test_says_that_efa_is_lost(self) -> None:
        assert "which is in usw2-az1: its EFA cannot be used |" in self.of("usw2-az1", efa=True)[0]

    def test_says_nothing_of_efa_to_nodes_without(self) -> None:
        assert "EFA" not in self.of("usw2-az1", efa=True, groups=(login,))[0]

    @pytest.mark.parametrize("zone", ["usw2-az2", UNKNOWN, None])
    def test_is_silent_on_the_same_zone_and_on_unknown_ones(self, zone: Any) -> None:
        assert self.of(zone) == []

    def test_the_zone_of_a_group_counts_before_that_of_its_cluster(self) -> None:
        assert self.of("usw2-az1", zone="usw2-az1") == []
        assert len(self.of("usw2-az2", zone="usw2-az1")) == 1
        assert self.of("usw2-az1", zone=UNKNOWN) == []


class TestClusterStandsInOneZone:
    def of(self, zone: Any) -> list[str]:
        judged = cluster(placement=placed("A", "B"))
        return told("HP4010", deployment(judged, subnets=(subnet("A"), subnet("B", zone))))

    def test_names_the_zones(self) -> None:
        assert self.of("usw2-az1") == [
            (
                "HP4010 the cluster has subnets in 2 zones: usw2-az1, usw2-az2 | "
                "name subnets of one zone in VpcConfig, and give groups that stand elsewhere an OverrideVpcConfig"
            )
        ]

    @pytest.mark.parametrize("zone", ["usw2-az2", UNKNOWN])
    def test_is_silent_on_one_known_zone(self, zone: Any) -> None:
        assert self.of(zone) == []

    @pytest.mark.parametrize("place", [None, UNKNOWN, VpcPlacement(subnets=UNKNOWN, security_groups=())])
    def test_is_silent_where_the_placement_is_not_known(self, place: Any) -> None:
        assert told("HP4010", deployment(cluster(placement=place))) == []
