"""What is said of the ports between nodes and file systems."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.network import Rule, SecurityGroup, VpcPlacement
from hyperpod_constructs.model.storage import Mount, OtherFileSystem
from hyperpod_constructs.rules import RULES
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import compute, deployment, login, slurm_cluster, told
from tests.rules.file_systems import file_system, lustre


def tcp(direction: Any, group: str, low: int, high: int, **fields: Any) -> Rule:
    return Rule(direction=direction, **{"protocol": "tcp", "from_port": low, "to_port": high, "group": group, **fields})


def both(group: str, low: int, high: int) -> tuple[Rule, Rule]:
    return tcp("ingress", group, low, high), tcp("egress", group, low, high)


class TestLustreCanBeReachedAndPortsAreOpen:
    """Two security groups: `Nodes` and `Data`."""

    MOUNTS = (Mount(kind="lustre", file_system="Scratch"),)
    NODES = both("Data", 988, 1023)
    DATA = (*both("Data", 988, 1023), *both("Nodes", 988, 1023))

    def of(
        self,
        nodes: tuple[Rule, ...] = NODES,
        data: tuple[Rule, ...] = DATA,
        *,
        complete: bool = True,
        groups: tuple[InstanceGroup, ...] | None = None,
        rules: tuple[str, ...] = ("HP3018", "HP3022"),
    ) -> list[str]:
        judged = slurm_cluster(
            *(groups or (compute(mounts=self.MOUNTS),)),
            placement=VpcPlacement(subnets=("Net/Nodes",), security_groups=("Nodes",)),
        )
        security_groups = (
            SecurityGroup(path="Nodes", rules=nodes),
            SecurityGroup(path="Data", rules=data, complete=complete),
        )
        shared = (file_system(security_groups=("Data",)),)
        found = deployment(judged, file_systems=shared, security_groups=security_groups)
        return [line for rule in rules for line in told(rule, found)]

    def test_988_alone_is_not_enough(self) -> None:
        data = (*both("Data", 988, 1023), tcp("ingress", "Nodes", 988, 988), tcp("egress", "Nodes", 988, 1023))
        assert self.of(data=data) == [
            (
                "HP3022 security groups of the file system do not let tcp 1018-1023 in from the nodes of group 'p5' | "
                "add to Data an AWS::EC2::SecurityGroupIngress (CDK: add_ingress_rule) for tcp 1018-1023 from Nodes"
            )
        ]

    def test_nodes_must_let_it_out_and_in(self) -> None:
        elsewhere = both("Other", 0, 65535)
        groups = (compute(mounts=self.MOUNTS), login(mounts=self.MOUNTS))
        assert self.of(nodes=elsewhere, groups=groups) == [
            (
                "HP3018 security groups of the nodes of groups 'p5' and 'login' do not let tcp 988 and 1018-1023 out "
                "to the file system; security groups of the nodes of groups 'p5' and 'login' do not let tcp 988 and "
                "1018-1023 in from the file system | "
                "add to Nodes an AWS::EC2::SecurityGroupEgress (CDK: add_egress_rule) for each of tcp 988 and "
                "1018-1023 to Data; add to Nodes an AWS::EC2::SecurityGroupIngress (CDK: add_ingress_rule) for each "
                "of tcp 988 and 1018-1023 from Data"
            )
        ]

    def test_rules_on_the_file_system_alone_are_a_warning(self) -> None:
        """What the CDK's `connections.allow_default_port_from` writes."""
        data = (*both("Data", 988, 1023), tcp("ingress", "Nodes", 988, 1023))
        nodes = (Rule(direction="ingress", protocol="-1", group="Nodes"),)
        (found,) = self.of(nodes=nodes, data=data)
        assert found.startswith("HP3022 security groups of the file system do not let tcp 988 and 1018-1023 out to")
        assert "; security groups of the nodes of group 'p5' do not let tcp 988 and 1018-1023 in from" in found
        assert RULES["HP3022"].severity is Severity.WARNING

    def test_nothing_in_from_the_nodes_is_an_error(self) -> None:
        data = (*both("Data", 988, 1023), tcp("egress", "Nodes", 988, 1023))
        assert [line[:6] for line in self.of(data=data)] == ["HP3018"]

    def test_the_servers_talk_to_each_other(self) -> None:
        assert self.of(data=both("Nodes", 988, 1023)) == [
            (
                "HP3018 security groups of the file system do not let tcp 988 and 1018-1023 out to itself; "
                "security groups of the file system do not let tcp 988 and 1018-1023 in from itself | "
                "add to Data an AWS::EC2::SecurityGroupEgress (CDK: add_egress_rule) for each of tcp 988 and "
                "1018-1023 to itself; add to Data an AWS::EC2::SecurityGroupIngress (CDK: add_ingress_rule) for each "
                "of tcp 988 and 1018-1023 from itself"
            )
        ]

    def test_two_closed_groups_are_one_mistake(self) -> None:
        (found,) = self.of(nodes=(), data=())
        assert found.startswith(
            "HP3018 security groups of the file system do not let tcp 988 and 1018-1023 in from itself and the nodes "
            "of group 'p5'; security groups of the nodes of group 'p5' do not let tcp 988 and 1018-1023 in from the "
        )
        assert "for each of tcp 988 and 1018-1023 from itself and Nodes; add to Nodes an " in found

    def test_is_silent_where_both_ways_are_open(self) -> None:
        assert self.of() == []

    @pytest.mark.parametrize(
        "open_rules",
        [
            tuple(Rule(direction=way, protocol="-1", cidr="10.0.0.0/8") for way in ("ingress", "egress")),
            tuple(Rule(direction=way, protocol=UNKNOWN, group=UNKNOWN) for way in ("ingress", "egress")),
            tuple(tcp(way, "Data", 988, 1023, protocol="6") for way in ("ingress", "egress")),
            (
                tcp("ingress", "Data", 0, 65535),
                *both("Data", 988, 988),
                *both("Data", 1018, 1020),
                *both("Data", 1021, 1023),
            ),
            (tcp("ingress", "Data", 988, 1023),),
            (tcp("ingress", "Data", 988, 1023), tcp("egress", "Other", 1, 1, path="Separate")),
        ],
    )
    def test_is_silent_on_every_form_of_open(self, open_rules: tuple[Rule, ...]) -> None:
        assert self.of(nodes=open_rules) == []

    def test_is_silent_where_nodes_and_file_system_share_a_group(self) -> None:
        fabric = SecurityGroup(
            path="Net/Group",
            rules=tuple(Rule(direction=way, protocol="-1", group="Net/Group") for way in ("ingress", "egress")),
        )
        judged = slurm_cluster(compute(mounts=self.MOUNTS))
        assert told("HP3018", deployment(judged, file_systems=(file_system(),), security_groups=(fabric,))) == []

    def of_shared(self, *rules: Rule, group: InstanceGroup, efa: bool = False) -> list[str]:
        """What is said of nodes and a file system in one security group."""
        shared = (SecurityGroup(path="Net/Group", rules=rules),)
        bought = lustre(efa=efa, metadata_iops="AUTOMATIC", throughput_mbps_per_tib=1000)
        found = deployment(slurm_cluster(group), file_systems=(file_system(bought),), security_groups=shared)
        return [line for rule in ("HP3018", "HP3022") for line in told(rule, found)]

    def test_leaves_a_group_to_the_rule_on_efa_which_cures_this_too(self) -> None:
        assert self.of_shared(group=compute(mounts=self.MOUNTS)) == []
        assert self.of_shared(group=login(), efa=True) == []

    def test_without_efa_a_shared_group_is_told_once(self) -> None:
        assert self.of_shared(group=login(mounts=self.MOUNTS)) == [
            (
                "HP3018 security groups of the file system do not let tcp 988 and 1018-1023 in from itself | "
                "add to Net/Group an AWS::EC2::SecurityGroupIngress (CDK: add_ingress_rule) for each of tcp 988 and "
                "1018-1023 from itself"
            )
        ]

    def test_what_the_rules_for_efa_do_not_cure_is_still_told(self) -> None:
        """The security group of the nodes gets rules for itself; the file system's is another one."""
        nothing_in = (tcp("egress", "Nodes", 988, 1023), *both("Data", 988, 1023))
        (found,) = self.of(nodes=(), data=nothing_in)
        assert found.startswith("HP3018 security groups of the file system do not let tcp 988 and 1018-1023 in from")

    def test_is_silent_on_a_group_of_which_not_all_is_known(self) -> None:
        assert self.of(data=(), complete=False) == []

    def test_is_silent_on_imported_groups(self) -> None:
        judged = slurm_cluster(compute(mounts=self.MOUNTS))
        assert told("HP3018", deployment(judged, file_systems=(file_system(),))) == []

    def test_is_silent_on_nodes_that_do_not_mount_it(self) -> None:
        other = (Mount(kind="lustre", file_system="fs-0123.fsx"),)
        assert self.of(nodes=both("Other", 1, 1), groups=(compute(mounts=other), login(mounts=UNKNOWN))) == []


class TestOpenzfsCanBeReached:
    MOUNTS = (Mount(kind="openzfs", file_system="Home"),)

    NODES = (tcp("egress", "Data", 0, 65535),)

    def of(
        self,
        data: tuple[Rule, ...],
        *,
        nodes: tuple[Rule, ...] = NODES,
        kind: str = "OPENZFS",
        complete: bool = True,
    ) -> list[str]:
        judged = slurm_cluster(
            compute(mounts=self.MOUNTS),
            placement=VpcPlacement(subnets=("Net/Nodes",), security_groups=("Nodes",)),
        )
        home = OtherFileSystem(path="Home", kind=kind, security_groups=("Data",))
        security_groups = (
            SecurityGroup(path="Nodes", rules=nodes),
            SecurityGroup(path="Data", rules=data, complete=complete),
        )
        return told("HP3053", deployment(judged, other_file_systems=(home,), security_groups=security_groups))

    def test_nfs_must_come_in_from_the_nodes(self) -> None:
        assert self.of(both("Data", 0, 65535)) == [
            (
                "HP3053 security groups of the file system do not let tcp 2049 in from the nodes of group 'p5' | "
                "add to Data an AWS::EC2::SecurityGroupIngress (CDK: add_ingress_rule) for tcp 2049 from Nodes"
            )
        ]

    def test_both_ends_are_one_mistake(self) -> None:
        (found,) = self.of(both("Data", 0, 65535), nodes=(tcp("egress", "Other", 0, 65535),))
        assert "of the nodes of group 'p5' do not let tcp 2049 out to the file system; security groups of the" in found

    def test_is_silent_where_it_does(self) -> None:
        assert self.of((tcp("ingress", "Nodes", 2049, 2049),)) == []

    def test_is_silent_on_other_kinds_and_on_what_is_not_known(self) -> None:
        assert self.of((), kind="ONTAP") == self.of((), complete=False) == []
