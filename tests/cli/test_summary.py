from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model import template
from hyperpod_constructs.model.capacity import InstanceGroup, TrainingPlan
from hyperpod_constructs.model.control_plane import ControlPlane, Kubernetes
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import Subnet, VpcPlacement
from hyperpod_constructs.tokens import UNKNOWN
from tests.cli.conftest import CLUSTER, Run, Says, finding


@pytest.fixture
def frontier(monkeypatch: pytest.MonkeyPatch) -> None:
    """30 nodes and 2 spares on a plan, whatever the file says."""
    plan = TrainingPlan("frontier", count=32, zone="usw2-az2", starts="2026-12-07", ends="2027-02-14")
    cluster = Cluster(
        path="Frontier/Cluster",
        name="Frontier",
        region="us-west-2",
        placement=VpcPlacement(subnets=("Frontier/Net",), security_groups=()),
        groups=(
            InstanceGroup.controller("ml.m5.4xlarge"),
            InstanceGroup.compute("p5", "ml.p5.48xlarge", count=30, spares=2, capacity=plan),
        ),
    )
    subnet = Subnet(path="Frontier/Net", zone="usw2-az2", cidr="10.0.64.0/19")
    deployment = Deployment(clusters=(cluster,), subnets=(subnet,))
    monkeypatch.setattr(template, "decode", lambda *_, **__: deployment)


@pytest.mark.usefixtures("frontier")
class TestText:
    @pytest.fixture
    def lines(self, run: Run, rules_say: Says) -> list[str]:
        rules_say(finding(Severity.WARNING))
        result = run("summary", "train.yaml", "--region", "us-west-2", train_yaml=CLUSTER)
        assert result.code == 0
        return result.out.splitlines()

    def test_has_nodes_and_accelerators(self, lines: list[str]) -> None:
        assert lines[:3] == [
            "cluster Frontier",
            "  nodes         30 usable, 2 spare, 1 for controller and login",
            "  accelerators  240 H100 usable, 16 spare",
        ]

    def test_has_the_addresses_of_each_subnet(self, lines: list[str]) -> None:
        assert "  Frontier/Net  usw2-az2 10.0.64.0/19  1,025  of 8,187" in lines

    def test_says_when_plan_nodes_come_and_go_and_what_is_paid_until_then(self, lines: list[str]) -> None:
        start = lines.index("training plan frontier")
        assert lines[start + 1 : start + 5] == [
            "  instances     32 for Frontier/Cluster/p5",
            "  arrive        2026-12-07 11:30 UTC",
            "  until then    0.92 USD/h (estimate) for everything else, from the day of the deployment",
            "  leave         from 2027-02-14 10:30 UTC, an hour before the plan ends",
        ]

    def test_has_cost_and_what_is_prepaid(self, lines: list[str]) -> None:
        start = lines.index("cost per hour")
        assert lines[start + 1].startswith("  0.92 USD/h (estimate); 730 h a month: ")
        assert "    32 x ml.p5.48xlarge on frontier  Frontier/Cluster/p5" in lines

    def test_has_the_quotas_needed_with_commands_for_those_that_may_be_too_small(self, lines: list[str]) -> None:
        text = "\n".join(lines)
        assert "     32  ml.p5.48xlarge for cluster usage " in text
        (look_up,) = [index for index, line in enumerate(lines) if '"ml.p5.48xlarge for cluster usage"' in line]
        assert lines[look_up].endswith(" # elsewhere L-8762A75F: confirm")
        assert lines[look_up + 1].endswith("--quota-code QUOTA_CODE --desired-value 32")
        assert '"Number of training plans per Region"' not in text  # 1 plan; 25 were seen

    def test_counts_and_lists_the_findings(self, lines: list[str]) -> None:
        start = lines.index("findings: 1 warning")
        assert lines[start + 1] == "HP1001 warning  train.yaml/Train/p5: 34 instances on a plan of 32"

    def test_ends_with_what_to_do_next(self, lines: list[str]) -> None:
        start = lines.index("next")
        assert lines[start + 1].startswith("  hyperpod check train.yaml --region us-west-2  ")

    def test_fits_into_120_columns_but_for_commands_to_copy(self, lines: list[str]) -> None:
        assert [line for line in lines if len(line) > 120 and not line.startswith("  aws ")] == []


class TestExitCode:
    def test_is_1_with_errors(self, run: Run, rules_say: Says) -> None:
        rules_say(finding())
        assert run("summary", "train.yaml", train_yaml=CLUSTER).code == 1


class TestRestrictedGroups:
    @pytest.fixture
    def restricted(self) -> str:
        return CLUSTER.replace(
            "    Properties:\n",
            "    Properties:\n      RestrictedInstanceGroups:\n        - {InstanceGroupName: nova, InstanceCount: 2,"
            " InstanceType: ml.p5.48xlarge,"
            " ExecutionRole: 'arn:aws:iam::111122223333:role/node'}\n",
        )

    def test_are_counted_like_any_other(self, run: Run, restricted: str) -> None:
        lines = run("summary", "a.yaml", "--region", "us-east-1", a_yaml=restricted).out.splitlines()
        assert lines[1] == "  nodes         6 usable, 0 spare, 1 for controller and login"

    def test_of_unknown_size_are_not_counted_and_the_totals_say_so(self, run: Run, restricted: str) -> None:
        restricted = restricted.replace("InstanceCount: 2", "InstanceCount: !Ref AWS::StackName")
        lines = run("summary", "a.yaml", "--region", "us-east-1", a_yaml=restricted).out.splitlines()
        assert lines[1] == "  nodes         4 usable, 0 spare, 1 for controller and login"
        assert lines[3] == "  not counted   a.yaml/Train/nova: its number of instances is not known"
        assert any(line.split()[1:4] == ["at", "least", "129"] for line in lines)  # addresses
        assert any("at least 5  Total number of instances" in line for line in lines)

    def test_are_no_group_for_the_rules(self, run: Run, restricted: str) -> None:
        data = run("summary", "a.yaml", "--format", "json", a_yaml=restricted).data
        assert not [each for each in data["findings"] if each["path"].endswith("nova")]
        assert data["clusters"][0]["usable"] == 6


class TestWithoutMuchToSay:
    def test_a_template_without_a_cluster_is_short(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "bucket.yaml").write_text("Resources: {B: {Type: 'AWS::SNS::Topic'}}")
        result = run("summary", "bucket.yaml")
        assert result.code == 0
        assert result.out.splitlines()[0] == "cost per hour"
        assert "findings: none" in result.out

    def test_no_findings_is_said(self, run: Run, rules_say: Says) -> None:
        rules_say()
        assert "findings: none" in run("summary", "train.yaml", train_yaml=CLUSTER).out.splitlines()


@pytest.mark.usefixtures("frontier")
class TestJson:
    def test_has_every_part(self, run: Run, rules_say: Says) -> None:
        rules_say(finding(Severity.WARNING))
        data = run("summary", "train.yaml", "--format", "json", train_yaml=CLUSTER).data
        assert set(data) == {"clusters", "kubernetes", "subnets", "plans", "cost", "quotas", "findings"}
        assert (data["clusters"][0]["usable"], data["clusters"][0]["spare"]) == (30, 2)
        assert data["plans"][0]["arrives"] == "2026-12-07T11:30:00+00:00"
        assert data["quotas"][1]["command"].endswith("--desired-value 32")


class TestKubernetesApi:
    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            (
                {"public": False, "private": True},
                "from its VPC alone, by whom its security groups let in (endpoint=hp.Endpoint.private(cidrs=[...]))",
            ),
            (
                {"public": True, "private": True, "public_cidrs": ("198.51.100.0/24",)},
                "from 198.51.100.0/24 and from its VPC",
            ),
            ({"public": True}, "from anywhere on the internet"),
            ({"public": UNKNOWN}, "in a way that is decided at deploy"),
        ],
    )
    def test_says_from_where_it_is_reached(
        self, run: Run, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any], said: str
    ) -> None:
        plane = ControlPlane(path="Kubernetes", name="research", version="1.34", **fields)
        deployment = Deployment(kubernetes=Kubernetes(control_planes=(plane,)))
        monkeypatch.setattr(template, "decode", lambda *_, **__: deployment)
        result = run("summary", "train.yaml", "--region", "us-west-2", train_yaml=CLUSTER)
        assert result.out.splitlines()[:2] == ["EKS cluster research, Kubernetes 1.34", f"  API reached   {said}"]
