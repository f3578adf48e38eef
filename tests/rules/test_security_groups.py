"""What is said of security groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from hyperpod_constructs.model.deployment import Location
from hyperpod_constructs.model.network import Rule, SecurityGroup, VpcPlacement
from hyperpod_constructs.model.storage import FileSystem, Lustre
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules import networks
from tests.rules.builders import cluster, compute, deployment, slurm_cluster, told
from tests.rules.networks import LUSTRE, UNDECIDED, ref, resource
from tests.rules.places import ANYWHERE, IN, OUT, placed

OTHERS = (
    ANYWHERE,
    Rule(direction="ingress", protocol="-1", cidr="10.0.0.0/8"),
    Rule(direction="ingress", protocol="tcp", from_port=988, to_port=988, group="Net/Group"),
    Rule(direction="egress", protocol="-1", group="Net/Other"),
)

INGRESS = (
    "an AWS::EC2::SecurityGroupIngress with this group as GroupId and SourceSecurityGroupId and with IpProtocol -1 (in "
    "the CDK: group.add_ingress_rule(group, ec2.Port.all_traffic()))"
)
EGRESS = (
    "an AWS::EC2::SecurityGroupEgress with this group as GroupId and DestinationSecurityGroupId and with IpProtocol -1 "
    "(in the CDK: ec2.CfnSecurityGroupEgress, because allow_all_outbound drops add_egress_rule)"
)
HOW = ": DependsOn in a template, node.add_dependency in the CDK"


class TestEfaPassesSecurityGroups:
    def of(self, *rules: Rule, complete: bool = True, **fields: Any) -> list[str]:
        group = SecurityGroup(path="Net/Group", rules=rules, complete=complete)
        return told("HP4001", deployment(slurm_cluster(compute(**fields)), security_groups=(group,)))

    def test_egress_to_anywhere_is_no_egress_to_itself(self) -> None:
        assert self.of(IN, ANYWHERE) == [
            (
                "HP4001 security group of group 'p5' lets EFA traffic in from itself but not out to itself: 0.0.0.0/0 "
                f"does not count as itself | add {EGRESS}"
            )
        ]

    def test_ingress_is_needed_too(self) -> None:
        assert self.of(OUT, ANYWHERE) == [
            (
                "HP4001 security group of group 'p5' lets EFA traffic out to itself but not in from itself | "
                f"add {INGRESS}"
            )
        ]

    @pytest.mark.parametrize(
        ("near", "why"),
        [
            (OTHERS[1:2], "10.0.0.0/8 does not count as itself"),
            (OTHERS[2:3], "its ingress rule for itself passes tcp 988 only, not all traffic"),
            (OTHERS[1:3], "its ingress rule for itself passes tcp 988 only, not all traffic"),
            (
                (OTHERS[2], replace(OTHERS[2], protocol="udp", from_port=None, to_port=None)),
                "its ingress rule for itself passes tcp 988 and udp only, not all traffic",
            ),
        ],
    )
    def test_says_why_a_rule_like_it_is_not_enough(self, near: tuple[Rule, ...], why: str) -> None:
        (found,) = self.of(OUT, *near)
        assert f"but not in from itself: {why} |" in found

    def test_names_both_where_both_are_missing(self) -> None:
        assert self.of() == [
            (
                "HP4001 security group of group 'p5' lets EFA traffic neither in from itself nor out to itself | "
                f"add {INGRESS} and {EGRESS}"
            )
        ]

    def test_every_security_group_of_the_list_needs_its_own_rules(self) -> None:
        groups = (SecurityGroup(path="Net/Group", rules=(IN, OUT)), SecurityGroup(path="Net/Other", rules=(IN, OUT)))
        place = placed("Net/Nodes", groups=("Net/Group", "Net/Other"))
        found = told("HP4001", deployment(slurm_cluster(compute(), placement=place), security_groups=groups))
        assert len(found) == 1

    @given(order=st.permutations((IN, OUT, *OTHERS)))
    def test_order_and_further_rules_never_matter(self, order: list[Rule]) -> None:
        assert self.of(*order) == []

    def test_nodes_without_efa_need_no_such_rule(self) -> None:
        assert self.of(instance_type="ml.m5.4xlarge") == []

    def test_neither_do_cpu_nodes_that_could_have_it_unless_they_ask(self) -> None:
        assert self.of(instance_type="ml.c6i.32xlarge") == []
        assert len(self.of(instance_type="ml.c6i.32xlarge", network_interface="efa")) == 1

    @pytest.mark.parametrize(
        ("types", "findings"),
        [
            (("ml.p5.48xlarge", "ml.p5e.48xlarge"), 1),
            (("ml.p5.48xlarge", "ml.g5.xlarge"), 0),
            (("ml.p5.48xlarge", "ml.c6i.32xlarge"), 0),
            (("ml.p5.48xlarge", "ml.p9.48xlarge"), 0),
            (("ml.p5.48xlarge", UNKNOWN), 0),
            (UNKNOWN, 0),
        ],
    )
    def test_of_several_types_all_must_need_it(self, types: Any, findings: int) -> None:
        assert len(self.of(instance_type=None, flexible_types=types)) == findings

    def test_neither_does_a_group_without_nodes(self) -> None:
        assert self.of(count=0) == []

    @pytest.mark.parametrize("rules", [(), (IN,), (OUT, *OTHERS)])
    def test_is_silent_on_a_group_of_which_not_all_is_known(self, rules: tuple[Rule, ...]) -> None:
        assert self.of(*rules, complete=False) == []

    @pytest.mark.parametrize(
        "open_rule",
        [
            Rule(direction="egress", protocol=UNKNOWN, group="Net/Group"),
            Rule(direction="egress", protocol="-1", group=UNKNOWN),
        ],
    )
    def test_is_silent_where_a_rule_may_be_the_one(self, open_rule: Rule) -> None:
        assert self.of(IN, open_rule) == []

    def test_is_silent_on_an_unknown_type(self) -> None:
        assert self.of(instance_type="ml.p9.48xlarge") == self.of(instance_type=UNKNOWN) == []

    def test_is_silent_on_imported_groups(self) -> None:
        assert told("HP4001", deployment(cluster())) == []

    @pytest.mark.parametrize("place", [UNKNOWN, VpcPlacement(subnets=UNKNOWN, security_groups=UNKNOWN), None])
    def test_is_silent_where_the_placement_is_not_known(self, place: Any) -> None:
        assert told("HP4001", deployment(cluster(placement=place), security_groups=(SecurityGroup(path="x"),))) == []


class TestEfaPassesSecurityGroupsOfTemplates:
    @pytest.mark.parametrize(
        "rule",
        [
            resource("SecurityGroupIngress", GroupName="nodes", SourceSecurityGroupName="nodes", IpProtocol="-1"),
            resource("SecurityGroupIngress", GroupId=ref("Fabric"), SourceSecurityGroupName="nodes", IpProtocol="-1"),
        ],
    )
    def test_is_silent_where_a_rule_names_groups_by_name(self, rule: dict[str, Any]) -> None:
        assert len(networks.of("HP4001", {"In": None})) == 1
        assert networks.of("HP4001", {"In": rule}) == []


class TestEfaPassesSecurityGroupsOfFileSystems:
    def of(self, *rules: Rule, complete: bool = True, clusters: tuple[Any, ...] = (), **fields: Any) -> list[str]:
        """A file system with EFA in `Net/Group`."""
        scratch = FileSystem(
            **{"path": "Scratch", "lustre": Lustre(efa=True), "security_groups": ("Net/Group",), **fields}
        )
        group = SecurityGroup(path="Net/Group", rules=rules, complete=complete)
        return told("HP4001", deployment(*clusters, file_systems=(scratch,), security_groups=(group,)))

    def test_need_both_rules_too(self) -> None:
        assert self.of(IN, ANYWHERE) == [
            (
                "HP4001 security group of file system Scratch lets EFA traffic in from itself but not out to itself: "
                f"0.0.0.0/0 does not count as itself | add {EGRESS}"
            )
        ]
        assert self.of(IN, OUT) == []

    def test_that_nodes_share_are_told_once(self) -> None:
        (found,) = self.of(OUT, clusters=(slurm_cluster(compute()),))
        assert found.startswith("HP4001 security group of group 'p5' and file system Scratch lets EFA traffic out")

    @pytest.mark.parametrize(
        "fields",
        [
            {"lustre": Lustre(efa=False)},
            {"lustre": Lustre(efa=UNKNOWN)},
            {"security_groups": UNKNOWN},
            {"security_groups": (UNKNOWN, "sg-0123456789abcdef0")},
            {"security_groups": ()},
            {"complete": False},
        ],
    )
    def test_are_no_matter_without_efa_or_where_not_all_is_known(self, fields: dict[str, Any]) -> None:
        assert self.of(**fields) == []


class TestClusterWaitsForEfaRules:
    def of(self, depends_on: frozenset[str] | None, *, path: str | None = "Net/Out", **fields: Any) -> list[str]:
        out = Rule(direction="egress", protocol="-1", group="Net/Group", path=path)
        group = SecurityGroup(path="Net/Group", rules=(IN, out, *OTHERS))
        return told("HP4002", deployment(cluster(depends_on=depends_on), security_groups=(group,), **fields))

    def test_a_separate_rule_may_come_too_late(self) -> None:
        assert self.of(frozenset({"Net/In"})) == [
            (
                "HP4002 the cluster does not wait for Net/Out, the rule for EFA of group 'p5' | let the cluster depend "
                f"on Net/Out{HOW}"
            )
        ]

    def test_both_directions_are_told_at_once(self) -> None:
        assert networks.of("HP4002", {"Cluster": {"DependsOn": ["DefaultRoute", "Association"]}}) == [
            (
                "Cluster: the cluster does not wait for In and Out, the ingress and egress rules for EFA of group 'p5' "
                f"| let the cluster depend on In and Out{HOW}"
            )
        ]

    def test_of_several_rules_for_one_direction_one_in_time_is_enough(self) -> None:
        assert networks.of("HP4002", {"Second": networks.NETWORK["Out"]}) == []

    def test_is_silent_where_the_cluster_waits(self) -> None:
        assert self.of(frozenset({"Net/Out", "Net/In"})) == []

    def test_is_silent_on_inline_rules(self) -> None:
        assert self.of(frozenset(), path=None) == []

    @pytest.mark.parametrize(("file", "findings"), [("network.json", 0), ("cluster.json", 1)])
    def test_is_silent_on_rules_of_another_template_which_is_deployed_first(self, file: str, findings: int) -> None:
        places = {"Train": Location("cluster.json", 7), "Net/Out": Location(file, 1)}
        assert len(self.of(frozenset(), locations=places)) == findings

    def test_is_silent_where_the_dependencies_are_not_known(self) -> None:
        assert self.of(None) == []

    @pytest.mark.parametrize("change", [{"protocol": UNKNOWN}, {"group": UNKNOWN}])
    def test_is_silent_where_it_is_not_known_whether_a_rule_is_one_for_efa(self, change: dict[str, Any]) -> None:
        out = replace(OUT, path="Net/Out", **change)
        group = SecurityGroup(path="Net/Group", rules=(IN, out))
        assert told("HP4002", deployment(cluster(depends_on=frozenset()), security_groups=(group,))) == []

    def test_is_silent_where_not_every_rule_is_known(self) -> None:
        group = SecurityGroup(path="Net/Group", rules=(IN, replace(OUT, path="Net/Out")), complete=False)
        assert told("HP4002", deployment(cluster(depends_on=frozenset()), security_groups=(group,))) == []


class TestFileSystemsWaitForTheirRules:
    def of(self, *changes: Mapping[str, networks.Change], after: list[str]) -> list[str]:
        scratch = {**LUSTRE, "DependsOn": after}
        return networks.of("HP4037", {"Scratch": scratch}, *changes)

    def test_rules_may_come_too_late(self) -> None:
        assert self.of(after=["Out"]) == [
            (
                "Scratch: the file system does not wait for In, without which its security group does not let Lustre "
                f"through | let it depend on In{HOW}"
            )
        ]

    def test_egress_needs_waiting_for_only_where_the_group_is_made_with_less(self) -> None:
        assert self.of(after=["In"]) == []
        https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "0.0.0.0/0"}
        (found,) = self.of({"Fabric": {"SecurityGroupEgress": [https]}}, after=["In"])
        assert found.startswith("Scratch: the file system does not wait for Out,")

    def test_is_silent_where_it_waits(self) -> None:
        assert self.of(after=["In", "Out"]) == []

    def test_is_silent_where_the_group_was_made_with_a_rule(self) -> None:
        lustre = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 1023, "CidrIp": "10.0.0.0/16"}
        assert self.of({"Fabric": {"SecurityGroupIngress": [lustre]}}, after=[]) == []

    def test_is_silent_where_not_every_rule_is_known(self) -> None:
        assert self.of({"Fabric": {"SecurityGroupIngress": UNDECIDED}}, after=[]) == []

    def test_is_silent_where_another_group_lets_lustre_through_in_time(self) -> None:
        lustre = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 1023, "CidrIp": "10.0.0.0/16"}
        second = resource("SecurityGroup", GroupDescription="second", VpcId=ref("Vpc"), SecurityGroupIngress=[lustre])
        both = {"Scratch": {"SecurityGroupIds": [ref("Fabric"), ref("Second")]}, "Second": second}
        assert self.of(both, after=[]) == []


class TestGroupsDoNotHoldThemselves:
    def of(self, peer: object) -> list[str]:
        rule = {"IpProtocol": "-1", "SourceSecurityGroupId": peer}
        return networks.of("HP4020", {"Fabric": {"SecurityGroupIngress": [rule]}})

    def test_a_rule_in_the_group_that_names_it_is_a_circle(self) -> None:
        assert self.of({"Fn::GetAtt": ["Fabric", "GroupId"]}) == [
            (
                "Fabric: the security group names itself in its own ingress rules | make each of them a resource of "
                "its own: AWS::EC2::SecurityGroupIngress, with the group as GroupId and as peer"
            )
        ]

    @pytest.mark.parametrize("peer", [ref("Other"), "sg-0123456789abcdef0", UNDECIDED])
    def test_is_silent_on_other_and_unknown_peers(self, peer: object) -> None:
        assert self.of(peer) == []

    def test_is_silent_on_the_groups_that_come_with_a_vpc_or_eks_cluster(self) -> None:
        assert networks.of("HP4020", networks.KUBERNETES) == []


def ports(count: int, **peer: object) -> list[dict[str, object]]:
    return [{"IpProtocol": "tcp", "FromPort": port, "ToPort": port, **peer} for port in range(1, count + 1)]


class TestRulesFitTheUsualQuota:
    def of(self, rules: object) -> list[str]:
        return networks.of("HP4038", {"Fabric": {"SecurityGroupIngress": rules}})

    def test_counts_rules_in_the_group_and_of_their_own(self) -> None:
        assert self.of(ports(60, CidrIp="10.0.0.0/8")) == [
            (
                "Fabric: the security group has 61 ingress rules for IPv4; the quota is 60 unless it was raised | let "
                "one rule name a security group that all peers share, or raise the quota before the deploy"
            )
        ]

    @pytest.mark.parametrize(
        "rules",
        [
            ports(59, CidrIp="10.0.0.0/8"),
            ports(59, CidrIpv6="fd00::/8"),
            [*ports(50, CidrIp="10.0.0.0/8"), *ports(50, CidrIpv6="fd00::/8")],
            UNDECIDED,
        ],
    )
    def test_is_silent_on_fewer_of_one_kind_of_address_and_on_unknown_ones(self, rules: object) -> None:
        assert self.of(rules) == []


class TestRulesAreGivenOnce:
    def of(self, **properties: object) -> list[str]:
        second = resource("SecurityGroupIngress", **{"GroupId": ref("Fabric"), "IpProtocol": "-1", **properties})
        return networks.of("HP4039", {"Second": second})

    def test_names_both(self) -> None:
        assert self.of(SourceSecurityGroupId={"Fn::GetAtt": ["Fabric", "GroupId"]}) == [
            "Fabric: the ingress rule for all traffic with Fabric is there 2 times: In and Second | keep one of them"
        ]

    def test_ports_do_not_matter_where_all_traffic_goes_through(self) -> None:
        assert len(self.of(SourceSecurityGroupId=ref("Fabric"), FromPort=-1, ToPort=-1)) == 1

    @pytest.mark.parametrize(
        "other",
        [
            {"SourceSecurityGroupId": "sg-0123456789abcdef0"},
            {"SourceSecurityGroupId": ref("Fabric"), "IpProtocol": "tcp", "FromPort": 22, "ToPort": 22},
            {"SourceSecurityGroupId": UNDECIDED},
            {"SourceSecurityGroupId": ref("Fabric"), "IpProtocol": UNDECIDED},
        ],
    )
    def test_is_silent_on_others_and_unknown_ones(self, other: dict[str, object]) -> None:
        assert self.of(**other) == []
