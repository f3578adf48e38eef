"""How many addresses nodes take, and which blocks zones get."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

import pytest
from hypothesis import given, strategies as st

from hyperpod_constructs.catalog.instances import Addresses, InstanceType
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.orchestration import Eks, Slurm
from hyperpod_constructs.planning.addresses import blocks, control_plane_blocks, database_blocks, of_group, per_node
from hyperpod_constructs.tokens import UNKNOWN

EKS = Eks(cluster="Kubernetes")
ZONES = tuple(f"usw2-az{number}" for number in range(1, 8))


def group(instance_type: str | InstanceType, **fields: Any) -> InstanceGroup:
    return InstanceGroup.compute("g", instance_type, **{"count": 30, "spares": 4, **fields})


def one(instance_type: str | InstanceType, orchestrator: object, **fields: Any) -> Addresses | None:
    return next(iter(per_node(group(instance_type, **fields), orchestrator).values()), None)


def count(instance_type: str | InstanceType, orchestrator: object, **fields: Any) -> int | None:
    found = one(instance_type, orchestrator, **fields)
    return found.count if found else None


class TestPerNode:
    @pytest.mark.parametrize(("orchestrator", "addresses"), [(Slurm(), 32), (None, 32), (EKS, 81)])
    def test_p5_takes_what_aws_prints(self, orchestrator: object, addresses: int) -> None:
        each = one("ml.p5.48xlarge", orchestrator)
        assert each is not None
        assert (each.count, each.documented) == (addresses, True)

    @pytest.mark.parametrize(
        ("instance_type", "slurm", "eks"),
        [("ml.p4d.24xlarge", 4, 53), ("ml.p5en.48xlarge", 16, 65), ("ml.p6-b200.48xlarge", 8, 57)],
    )
    def test_other_types_follow_the_rule(self, instance_type: str, slurm: int, eks: int) -> None:
        assert (count(instance_type, Slurm()), count(instance_type, EKS)) == (slurm, eks)

    def test_efa_only_cards_take_none(self) -> None:
        assert count("ml.p5.48xlarge", Slurm(), network_interface="efa-only") == 1
        assert count("ml.p5.48xlarge", EKS, network_interface="efa-only") == 50

    def test_efa_only_is_not_documented_even_for_p5(self) -> None:
        each = one("ml.p5.48xlarge", Slurm(), network_interface="efa-only")
        assert each is not None
        assert not each.documented

    def test_a_stated_number_wins(self) -> None:
        stated = InstanceType("ml.p7.48xlarge", addresses=9)
        assert count(stated, EKS) == count(stated, Slurm(), network_interface="efa-only") == 9

    def test_is_not_known_for_a_type_that_is_not(self) -> None:
        assert count("ml.p9.48xlarge", Slurm()) is None

    def test_is_not_known_for_an_orchestrator_that_is_not(self) -> None:
        assert count("ml.p5.48xlarge", UNKNOWN) is None

    def test_is_not_known_where_the_network_interface_is_not(self) -> None:
        assert count("ml.p5.48xlarge", Slurm(), network_interface=UNKNOWN) is None

    def test_is_not_known_for_efa_only_where_the_pods_are_not(self) -> None:
        assert count(InstanceType("ml.p7.48xlarge", efa=8), EKS, network_interface="efa-only") is None

    def test_is_told_for_each_of_several_types(self) -> None:
        flexible = InstanceGroup(name="g", count=1, flexible_types=("ml.p5.48xlarge", "ml.p4d.24xlarge"))
        found = per_node(flexible, Slurm())
        assert {name: each.count for name, each in found.items()} == {"ml.p5.48xlarge": 32, "ml.p4d.24xlarge": 4}

    def test_is_not_known_where_one_of_several_types_is_not(self) -> None:
        flexible = InstanceGroup(name="g", count=1, flexible_types=("ml.p5.48xlarge", "ml.p9.48xlarge"))
        assert per_node(flexible, Slurm()) == {}


class TestOfGroup:
    def test_counts_the_spares(self) -> None:
        assert of_group(group("ml.p5.48xlarge"), EKS) == 34 * 81

    def test_is_not_known_where_types_differ(self) -> None:
        flexible = InstanceGroup(name="g", count=1, flexible_types=("ml.p5.48xlarge", "ml.p4d.24xlarge"))
        assert of_group(flexible, EKS) is None

    def test_is_not_known_where_the_count_is_not(self) -> None:
        assert of_group(group("ml.p5.48xlarge", count=UNKNOWN), EKS) is None


class TestBlocks:
    def test_are_an_eighth_by_the_number_of_the_zone_and_a_piece_of_the_first(self) -> None:
        zone = blocks("10.0.0.0/16", "usw2-az2")
        assert (zone.zone, zone.nodes, zone.public) == ("usw2-az2", "10.0.64.0/19", "10.0.0.16/28")

    @given(prefix=st.integers(16, 22))
    def test_never_overlap_and_lie_in_the_network(self, prefix: int) -> None:
        network = IPv4Network(f"10.0.0.0/{prefix}")
        each = [blocks(str(network), zone) for zone in ZONES]
        all_of_them = (block for z in each for block in (z.nodes, z.public, z.database, z.control_plane))
        parts = [IPv4Network(block) for block in all_of_them if block]
        assert len(parts) == {21: 21, 22: 14}.get(prefix, 28)
        assert all(part.subnet_of(network) for part in parts)
        assert not any(one.overlaps(other) for one in parts for other in parts if one is not other)

    @pytest.mark.parametrize(
        ("network", "message"),
        [
            ("10.0.0.0/15", "network 10.0.0.0/15 is a /15; use /16 to /22"),
            ("10.0.0.0/23", "network 10.0.0.0/23 is a /23; use /16 to /22"),
            (
                "10.0.0.1/16",
                "network is '10.0.0.1/16' (10.0.0.1/16 has host bits set); use an IPv4 block such as 10.0.0.0/16",
            ),
        ],
    )
    def test_refuse_a_network_that_cannot_be_cut(self, network: str, message: str) -> None:
        with pytest.raises(InvalidValue) as raised:
            blocks(network, "usw2-az2")
        assert str(raised.value) == message

    def test_refuse_what_is_no_zone_id(self) -> None:
        with pytest.raises(InvalidValue, match="'us-west-2b' is not a zone id; use one such as usw2-az2"):
            blocks("10.0.0.0/16", "us-west-2b")

    @pytest.mark.parametrize(("zone", "number"), [("usw2-az0", 0), ("usw2-az8", 8)])
    def test_refuse_a_number_that_has_no_block(self, zone: str, number: int) -> None:
        with pytest.raises(InvalidValue, match=f"{zone} has the number {number}; use .* 1 to 7, such as usw2-az2"):
            blocks("10.0.0.0/16", zone)

    def test_refuse_a_zone_that_only_the_deploy_knows_without_showing_the_token(self) -> None:
        with pytest.raises(InvalidValue, match="known only at deploy") as refused:
            blocks("10.0.0.0/16", "${Token[TOKEN.1]}")
        assert "Token" not in str(refused.value)

    def test_of_a_zone_that_is_yet_to_be_looked_up_are_the_last_ones(self) -> None:
        assert blocks("10.0.0.0/16", "dummy-value-for-/zone").nodes == blocks("10.0.0.0/16", "usw2-az7").nodes


class TestDatabaseBlocks:
    def test_are_those_of_the_zone_and_of_the_first_other_one_of_its_region(self) -> None:
        assert database_blocks("10.0.0.0/16", "usw2-az2") == {"usw2-az2": "10.0.0.128/28", "usw2-az1": "10.0.0.112/28"}
        assert list(database_blocks("10.0.0.0/16", "usw2-az1")) == ["usw2-az1", "usw2-az2"]
        assert list(database_blocks("10.0.0.0/16", "usw1-az3")) == ["usw1-az3", "usw1-az1"]

    def test_are_those_of_the_zones_that_are_asked_for(self) -> None:
        assert list(database_blocks("10.0.0.0/21", "usw2-az2", ["usw2-az4", "usw2-az3"])) == ["usw2-az4", "usw2-az3"]

    def test_are_not_guessed_where_the_catalogue_has_no_other_zone(self) -> None:
        with pytest.raises(InvalidValue, match=r"no other zone beside usgw1-az1; give hp\.AccountingDatabase\(zones="):
            database_blocks("10.0.0.0/16", "usgw1-az1")
        assert database_blocks("10.0.0.0/16", "usgw1-az1", ["usgw1-az1", "usgw1-az2"])

    def test_of_a_zone_that_is_yet_to_be_looked_up_are_any_two(self) -> None:
        assert len(database_blocks("10.0.0.0/16", "dummy-value-for-/zone")) == 2

    @pytest.mark.parametrize("chosen", [[], ["usw2-az2"], ["usw2-az2", "usw2-az2"], ["usw2-az2", "use1-az1"]])
    def test_refuse_what_is_no_choice_of_zones(self, chosen: list[str]) -> None:
        with pytest.raises(InvalidValue, match="give two or more different zone ids of one Region"):
            database_blocks("10.0.0.0/16", "usw2-az2", chosen)

    def test_refuse_a_network_without_room(self) -> None:
        with pytest.raises(InvalidValue, match="/22 has no room for a database; use /21 or wider"):
            database_blocks("10.0.0.0/22", "usw2-az2")


class TestControlPlaneBlocks:
    def test_are_those_of_the_zone_and_of_the_first_other_one_of_its_region(self) -> None:
        found = control_plane_blocks("10.0.0.0/16", "usw2-az2")
        assert found == {"usw2-az2": "10.0.0.240/28", "usw2-az1": "10.0.0.224/28"}

    def test_are_those_of_the_zones_that_are_asked_for(self) -> None:
        assert list(control_plane_blocks("10.0.0.0/20", "usw2-az2", ["usw2-az4", "usw2-az3"])) == [
            "usw2-az4",
            "usw2-az3",
        ]

    def test_name_the_argument_where_the_catalogue_has_no_other_zone(self) -> None:
        with pytest.raises(InvalidValue, match=r"an EKS control plane needs .* give hp\.EksControlPlane\(zones="):
            control_plane_blocks("10.0.0.0/16", "usgw1-az1")

    def test_refuse_one_zone(self) -> None:
        with pytest.raises(InvalidValue, match=r"zones of an EKS control plane are .* give two or more"):
            control_plane_blocks("10.0.0.0/16", "usw2-az2", ["usw2-az2"])

    def test_refuse_a_network_without_room(self) -> None:
        with pytest.raises(InvalidValue, match="/21 has no room for an EKS control plane; use /20 or wider"):
            control_plane_blocks("10.0.0.0/21", "usw2-az2")
