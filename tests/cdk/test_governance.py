"""Task governance on EKS, as CloudFormation will get it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

import hyperpod_constructs as hp
from tests.charts import small
from tests.templates import of_type, synthesized

POLICY, QUOTA = "AWS::SageMaker::ClusterSchedulerConfig", "AWS::SageMaker::ComputeQuota"
ADDON, ENTRY = "AWS::EKS::Addon", "AWS::EKS::AccessEntry"
TYPE = "ml.p5en.48xlarge"
ROLE = "arn:aws:iam::111122223333:role/"


def cluster_of(stack: cdk.Stack, *, spares: int = 1, chart: hp.HelmChart | None = None, **options: Any) -> hp.Cluster:
    network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], flow_logs=False)
    admins = [f"{ROLE}Platform"]
    plane = hp.EksControlPlane(stack, "Kubernetes", network=network, name="research", admins=admins, chart=chart)
    groups = [
        hp.InstanceGroup.worker("cpu", "ml.m5.xlarge", count=1, min_count=1),
        hp.InstanceGroup.worker("p5en", TYPE, count=16, spares=spares),
    ]
    return hp.Cluster(
        stack,
        "Cluster",
        **{"name": "research", "network": network, "control_plane": plane, "groups": groups, **options},
    )


def team(name: str, count: Any = 8, **fields: Any) -> hp.Team:
    return hp.Team(name=name, **{"instances": {TYPE: count}, "members": [f"{ROLE}{name}"], **fields})


def shared(stack: cdk.Stack, *teams: hp.Team, spares: int = 1, **fields: Any) -> dict[str, Any]:
    """The template of a cluster that these teams share."""
    governance = hp.TaskGovernance(**{"teams": teams, "priorities": {"training": 75, "urgent": 100}, **fields})
    hp.ClusterGovernance(stack, "Governance", cluster=cluster_of(stack, spares=spares), governance=governance)
    return synthesized(stack)


def only(template: dict[str, Any], kind: str) -> dict[str, Any]:
    (found,) = of_type(template, kind).values()
    return found


class TestGovernance:
    def test_addon_then_policy_then_quotas_after_the_nodes(self, stack: cdk.Stack) -> None:
        template = shared(stack, team("vision"))
        resources = template["Resources"]
        name = {each["Type"]: logical for logical, each in resources.items()}
        addon = next(
            logical
            for logical, each in resources.items()
            if each["Type"] == ADDON and "taskgovernance" in each["Properties"]["AddonName"]
        )
        assert name["AWS::SageMaker::Cluster"] in resources[addon]["DependsOn"]
        assert resources[name[POLICY]]["DependsOn"] == [addon]
        assert resources[name[QUOTA]]["DependsOn"] == [name[POLICY]]

    def test_an_addon_that_is_there_is_not_made_twice(self, stack: cdk.Stack) -> None:
        cluster = cluster_of(stack)
        hp.ClusterAddons(
            stack, "Addons", cluster=cluster, addons=[hp.Addon.task_governance(version="v1.6.1-eksbuild.1")]
        )
        governance = hp.TaskGovernance(teams=[team("vision")], priorities={"training": 1})
        hp.ClusterGovernance(stack, "Governance", cluster=cluster, governance=governance)
        found = [each for each in of_type(synthesized(stack), ADDON).values() if "taskgovernance" in each["AddonName"]]
        assert [each["AddonVersion"] for each in found] == ["v1.6.1-eksbuild.1"]

    def test_the_heaviest_class_comes_first(self, stack: cdk.Stack) -> None:
        found = only(shared(stack, team("vision")), POLICY)
        assert found["Name"] == "research"
        assert found["SchedulerConfig"] == {
            "PriorityClasses": [{"Name": "urgent", "Weight": 100}, {"Name": "training", "Weight": 75}],
            "FairShare": "Enabled",
            "IdleResourceSharing": "Disabled",
        }

    @pytest.mark.parametrize(
        ("spares", "fields", "shares"),
        [
            (0, {}, "Enabled"),
            (1, {}, "Disabled"),
            (0, {"idle_sharing": False}, "Disabled"),
            (1, {"share_unassigned": True}, "Enabled"),
        ],
    )
    def test_spares_are_not_lent_unless_somebody_says_so(
        self, stack: cdk.Stack, spares: int, fields: dict[str, Any], shares: str
    ) -> None:
        found = only(shared(stack, team("vision", 16), spares=spares, **fields), POLICY)
        assert found["SchedulerConfig"]["IdleResourceSharing"] == shares

    def test_a_quota_says_what_is_the_teams_own(self, stack: cdk.Stack) -> None:
        found = only(shared(stack, team("vision", weight=20, preempt=False)), QUOTA)
        assert {name: value for name, value in found.items() if name != "ClusterArn"} == {
            "Name": "research-vision",
            "ComputeQuotaTarget": {"TeamName": "vision", "FairShareWeight": 20},
            "ComputeQuotaConfig": {
                "ComputeQuotaResources": [{"InstanceType": TYPE, "Count": 8}],
                "ResourceSharingConfig": {"Strategy": "LendAndBorrow", "BorrowLimit": 50},
                "PreemptTeamTasks": "Never",
            },
            "ActivationState": "Enabled",
        }

    @pytest.mark.parametrize(
        ("fields", "idle_sharing", "sharing"),
        [
            ({"borrow_limit_percent": 100}, True, {"Strategy": "LendAndBorrow", "BorrowLimit": 100}),
            ({"borrow_limit_percent": 0}, True, {"Strategy": "Lend"}),
            ({"lend": False}, True, {"Strategy": "DontLend"}),
            ({}, False, {"Strategy": "DontLend"}),
        ],
    )
    def test_teams_lend_and_borrow_as_they_say(
        self, stack: cdk.Stack, fields: dict[str, Any], idle_sharing: bool, sharing: dict[str, Any]
    ) -> None:
        found = only(shared(stack, team("vision", **fields), idle_sharing=idle_sharing), QUOTA)
        assert found["ComputeQuotaConfig"]["ResourceSharingConfig"] == sharing

    @pytest.mark.parametrize(
        ("share", "written"),
        [
            (hp.Share(accelerators=4), {"Accelerators": 4}),
            (hp.Share(vcpus=96), {"VCpu": 96}),
            (hp.Share(memory_gib=512), {"MemoryInGiB": 512}),
        ],
    )
    def test_a_team_may_have_a_part_of_an_instance(
        self, stack: cdk.Stack, share: hp.Share, written: dict[str, Any]
    ) -> None:
        found = only(shared(stack, team("vision", share)), QUOTA)
        assert found["ComputeQuotaConfig"]["ComputeQuotaResources"] == [{"InstanceType": TYPE, **written}]

    def test_long_names_are_cut_and_stay_different(self, stack: cdk.Stack) -> None:
        teams = [team("t" * 40, 1), team("t" * 39 + "u", 1)]
        governance = hp.TaskGovernance(teams=teams, priorities={"training": 1})
        cluster = cluster_of(stack, name="c" * 40)
        hp.ClusterGovernance(stack, "Governance", cluster=cluster, governance=governance)
        names = {each["Name"] for each in of_type(synthesized(stack), QUOTA).values()}
        assert len(names) == 2
        assert all(len(name) == 63 for name in names)


class TestMembers:
    def test_may_edit_the_namespace_of_their_team(self, stack: cdk.Stack) -> None:
        entries = of_type(shared(stack, team("vision")), ENTRY).values()
        (found,) = (each for each in entries if each["PrincipalArn"] == f"{ROLE}vision")
        (policy,) = found["AccessPolicies"]
        assert policy["AccessScope"] == {"Type": "namespace", "Namespaces": ["hyperpod-ns-vision"]}
        assert policy["PolicyArn"]["Fn::Join"][1][-1] == ":eks::aws:cluster-access-policy/AmazonEKSEditPolicy"

    def test_of_two_teams_have_one_entry(self, stack: cdk.Stack) -> None:
        both = f"{ROLE}Both"
        template = shared(stack, team("vision", members=[both]), team("audio", members=[both]))
        (found,) = (each for each in of_type(template, ENTRY).values() if each["PrincipalArn"] == both)
        assert found["AccessPolicies"][0]["AccessScope"]["Namespaces"] == ["hyperpod-ns-audio", "hyperpod-ns-vision"]

    def test_the_template_says_whether_a_team_has_any(self, stack: cdk.Stack) -> None:
        template = shared(stack, team("vision", 4), team("audio", 4, members=[]))
        said = {
            each["Properties"]["ComputeQuotaTarget"]["TeamName"]: each["Metadata"]["hyperpod:intent"]["has_members"]
            for each in template["Resources"].values()
            if each["Type"] == QUOTA
        }
        assert said == {"vision": True, "audio": False}

    def test_may_make_training_jobs_where_we_hold_the_access_of_the_cluster(
        self, stack: cdk.Stack, tmp_path: Path
    ) -> None:
        for name, content in small.complete().items():
            (tmp_path / "chart" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "chart" / name).write_bytes(content)
        cluster = cluster_of(stack, chart=hp.HelmChart.directory(tmp_path / "chart"))
        governance = hp.TaskGovernance(teams=[team("vision"), team("audio", members=[])], priorities={"training": 1})
        hp.ClusterGovernance(stack, "Governance", cluster=cluster, governance=governance)
        template = synthesized(stack)
        (found,) = of_type(template, "Custom::AWSCDK-EKS-KubernetesResource").values()
        role, binding = json.loads(found["Manifest"])
        assert role["metadata"] == {"name": "hyperpod-team", "namespace": "hyperpod-ns-vision"}
        assert binding["subjects"] == [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "hyperpod-ns-vision"}
        ]
        assert "kubeflow.org" in role["rules"][0]["apiGroups"]
        (resource,) = (
            each for each in template["Resources"].values() if each["Type"] == "Custom::AWSCDK-EKS-KubernetesResource"
        )
        quotas = {
            each["Properties"]["ComputeQuotaTarget"]["TeamName"]: name
            for name, each in template["Resources"].items()
            if each["Type"] == QUOTA
        }
        assert quotas["vision"] in resource["DependsOn"]

    def test_get_no_role_where_somebody_else_installs_the_chart(self, stack: cdk.Stack) -> None:
        assert not of_type(shared(stack, team("vision")), "Custom::AWSCDK-EKS-KubernetesResource")


class TestRefusals:
    @pytest.mark.parametrize(
        ("teams", "said"),
        [
            ([team("vision", members=["ada"])], "has member 'ada'; use ARNs of roles on EKS"),
            ([team("vision", members=[f"{ROLE}Platform"])], "has an access entry of the EKS cluster already"),
            ([team("vision", priorities=["training"])], "on EKS every team may use every class"),
        ],
    )
    def test_of_teams_that_eks_cannot_have(self, stack: cdk.Stack, teams: list[hp.Team], said: str) -> None:
        with pytest.raises(hp.InvalidValue, match=said):
            shared(stack, *teams)

    def test_of_a_cluster_that_slurm_schedules(self, stack: cdk.Stack) -> None:
        network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], flow_logs=False)
        groups = [hp.InstanceGroup.controller("ml.m5.xlarge")]
        slurm = hp.Cluster(stack, "Slurm", name="slurm", network=network, groups=groups)
        with pytest.raises(hp.InvalidValue, match="teams become Slurm accounts"):
            hp.ClusterGovernance(stack, "Governance", cluster=slurm, governance=hp.TaskGovernance())

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({}, "a share has nothing; give one of"),
            ({"accelerators": 1, "vcpus": 2}, "a share has accelerators and vcpus"),
            ({"accelerators": 0}, "use a number above 0"),
        ],
    )
    def test_of_shares_that_are_none(self, fields: dict[str, Any], said: str) -> None:
        with pytest.raises(hp.InvalidValue, match=said):
            hp.Share(**fields)
