"""What is said of nodes that cannot use the EFA of a Lustre file system."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.identity import Role, Statement
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.model.storage import Mount
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import compute, deployment, login, slurm_cluster, told
from tests.rules.file_systems import file_system, lustre

MOUNTS = (Mount(kind="lustre", file_system="Scratch"),)


def of(rule: str, *groups: InstanceGroup, efa: Any = True, placement: Any = None, **fields: Any) -> list[str]:
    """What a rule says of groups that mount the file system `Scratch`, which has EFA."""
    shared = file_system(lustre(efa=efa, metadata_iops="AUTOMATIC"), subnets=("Data",))
    nodes = VpcPlacement(subnets=("Nodes",), security_groups=("Group",))
    judged = slurm_cluster(*groups, placement=nodes if placement is None else placement)
    return told(rule, deployment(judged, file_systems=(shared,), **fields))


class TestNodesCanDescribeTheFileSystem:
    def of(self, *statements: Statement, efa: Any = True, complete: bool = True, **group: Any) -> list[str]:
        role = Role(path="Role", trusts=(), statements=statements, complete=complete)
        nodes = compute(**{"mounts": MOUNTS, "execution_role": "Role", **group})
        return of("HP3050", nodes, efa=efa, roles=(role,))

    def test_the_permission_is_named(self) -> None:
        assert self.of() == [
            (
                "HP3050 role of group 'p5' lacks fsx:DescribeFileSystems, which the EFA of Scratch needs | "
                "allow fsx:DescribeFileSystems on *: the action knows no resources"
            )
        ]

    @pytest.mark.parametrize("action", ["fsx:DescribeFileSystems", "fsx:Describe*", "*", UNKNOWN])
    def test_is_silent_where_it_is_or_may_be_allowed(self, action: Any) -> None:
        assert self.of(Statement(allow=True, actions=(action,))) == []

    def test_is_silent_where_not_all_policies_are_known(self) -> None:
        assert self.of(complete=False) == self.of(execution_role=UNKNOWN) == self.of(execution_role="Imported") == []

    @pytest.mark.parametrize("efa", [False, UNKNOWN])
    def test_is_silent_without_efa_on_the_file_system(self, efa: Any) -> None:
        assert self.of(efa=efa) == []

    def test_is_silent_on_nodes_without_efa(self) -> None:
        assert self.of(instance_type="ml.m5.4xlarge") == []

    def test_is_silent_on_nodes_that_do_not_mount_it(self) -> None:
        assert self.of(mounts=()) == []


class TestEfaStaysInOneBlock:
    def of(self, nodes: dict[str, Any], data: dict[str, Any], **fields: Any) -> list[str]:
        subnets = (Subnet(path="Nodes", **nodes), Subnet(path="Data", **data))
        return of("HP3051", compute(mounts=MOUNTS), subnets=subnets, **fields)

    def test_names_both_blocks(self) -> None:
        assert self.of({"cidr": "10.1.32.0/19"}, {"cidr": "10.2.0.0/24"}) == [
            (
                "HP3051 group 'p5' and Scratch are in different blocks, 10.1.0.0/16 and 10.2.0.0/16: "
                "its EFA cannot be used | put the file system into the subnet of the nodes"
            )
        ]

    def test_names_both_vpcs(self) -> None:
        nodes, data = {"vpc": "vpc-01234567", "cidr": "10.1.0.0/19"}, {"vpc": "vpc-89abcdef", "cidr": "10.1.0.0/19"}
        (found,) = self.of(nodes, data)
        assert "are in different VPCs, vpc-01234567 and vpc-89abcdef: its EFA cannot be used" in found

    @pytest.mark.parametrize("cidr", ["10.1.0.0/24", "10.1.0.0/16", "10.0.0.0/8", UNKNOWN, None])
    def test_is_silent_in_one_block_and_where_it_is_not_known(self, cidr: Any) -> None:
        assert self.of({"cidr": "10.1.32.0/19"}, {"cidr": cidr}) == []

    def test_is_silent_without_efa_and_without_a_network(self) -> None:
        apart: tuple[dict[str, Any], dict[str, Any]] = ({"cidr": "10.1.32.0/19"}, {"cidr": "10.2.0.0/24"})
        assert self.of(*apart, efa=False) == self.of(*apart, placement=UNKNOWN) == []


class TestClientsCanUseEfa:
    def test_trn2_cannot(self) -> None:
        trn2 = compute(name="trn2", instance_type="ml.trn2.48xlarge", mounts=MOUNTS)
        assert of("HP3052", trn2, compute(mounts=MOUNTS)) == [
            (
                "HP3052 group 'trn2' of ml.trn2.48xlarge mounts Scratch over TCP, although it has EFA | "
                "expect the throughput of TCP there, or leave EFA out where no other group uses it"
            )
        ]

    def test_is_silent_on_p5_on_nodes_without_efa_and_on_unknown_types(self) -> None:
        unknown = compute(name="any", instance_type=UNKNOWN, mounts=MOUNTS)
        assert of("HP3052", compute(mounts=MOUNTS), login(mounts=MOUNTS), unknown) == []
