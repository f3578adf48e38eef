"""The EKS blueprint: what it makes, in which order, and that three independent tools find nothing wrong with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

import hyperpod_constructs as hp
from tests.charts import small
from tests.templates import of_type, synthesized

ENV = cdk.Environment(account="111122223333", region="us-west-2")
ROOT = Path(__file__).parents[2]
TYPE = "ml.p5en.48xlarge"
SYSTEM = hp.InstanceGroup.worker("system", "ml.m5.4xlarge", count=2)
SCRATCH = hp.Lustre(capacity_gib=1200, throughput_mbps_per_tib=125)


def team(name: str, count: int = 8, **fields: Any) -> hp.Team:
    members = [f"arn:aws:iam::111122223333:role/{name}"]
    return hp.Team(name=name, **{"instances": {TYPE: count}, "members": members, **fields})


def research(app: cdk.App | cdk.Stage, **options: Any) -> hp.EksTraining:
    """A cluster of two groups."""
    groups = [SYSTEM, hp.InstanceGroup.worker("p5en", TYPE, count=16, spares=1)]
    return hp.EksTraining(app, "Research", **{"env": ENV, "zone": "usw2-az2", "groups": groups, **options})


def whole(app: cdk.App) -> hp.EksTraining:
    """The same with everything on."""
    governance = hp.TaskGovernance(teams=[team("vision"), team("audio")], priorities={"training": 75, "urgent": 100})
    return research(app, governance=governance, storage=SCRATCH, alerts=["ml@example.com"])


def foundation(made: hp.EksTraining) -> cdk.Stack:
    assert made.foundation is not None
    return made.foundation


def group(made: hp.EksTraining, name: str) -> dict[str, Any]:
    (cluster,) = of_type(synthesized(made), "AWS::SageMaker::Cluster").values()
    found: dict[str, Any]
    (found,) = (each for each in cluster["InstanceGroups"] if each["InstanceGroupName"] == name)
    return found


class TestStacks:
    def test_the_control_plane_outlives_the_cluster(self, app: cdk.App) -> None:
        made = whole(app)
        kinds = {
            stack.stack_name: {each["Type"] for each in synthesized(stack)["Resources"].values()}
            for stack in (foundation(made), made, made.budget_stack)
            if stack
        }
        assert kinds["Research-Foundation"] >= {
            "AWS::EKS::Cluster",
            "AWS::EC2::VPC",
            "AWS::FSx::FileSystem",
            "AWS::SNS::Topic",
        }
        assert kinds["Research"] >= {
            "AWS::SageMaker::Cluster",
            "AWS::SageMaker::ComputeQuota",
            "AWS::SageMaker::ClusterSchedulerConfig",
            "AWS::EKS::PodIdentityAssociation",
        }
        assert kinds["Research-Budget"] >= {"AWS::Budgets::Budget"}

    def test_there_is_no_lambda(self, app: cdk.App) -> None:
        made = whole(app)
        for stack in (foundation(made), made):
            assert not of_type(synthesized(stack), "AWS::Lambda::Function")

    def test_a_cluster_that_is_made_again_joins_the_same_control_plane(self, app: cdk.App) -> None:
        made = research(app, generation=2)
        assert made.cluster.cluster_name == "Research-2"
        (eks,) = of_type(synthesized(foundation(made)), "AWS::EKS::Cluster").values()
        assert eks["Name"] == "Research"

    def test_the_same_blueprint_in_two_stages_makes_four_clusters_with_names_of_their_own(self, app: cdk.App) -> None:
        names = set()
        for name in ("Dev", "Prod"):
            made = research(cdk.Stage(app, name, env=ENV), groups=[SYSTEM])
            names |= {made.cluster.cluster_name, made.control_plane.model.name if made.control_plane.model else None}
        assert names == {"Dev-Research", "Prod-Research"}


class TestDefaults:
    def test_addons_of_training_are_there_and_volumes_where_there_is_storage(self, app: cdk.App) -> None:
        made = research(app, storage=SCRATCH)
        assert made.addons is not None
        assert sorted(made.addons.resources) == [
            "amazon-sagemaker-hyperpod-training-operator",
            "aws-fsx-csi-driver",
            "cert-manager",
        ]

    def test_addons_can_be_left_out(self, app: cdk.App) -> None:
        assert research(app, addons=[]).addons is None

    def test_governance_brings_its_addon(self, app: cdk.App) -> None:
        made = research(app, addons=[], governance=hp.TaskGovernance(teams=[team("vision", 16)]))
        assert made.addons is not None
        assert list(made.addons.resources) == ["amazon-sagemaker-hyperpod-taskgovernance"]

    def test_the_cluster_waits_for_one_cpu_node_because_addons_need_one(self, app: cdk.App) -> None:
        made = research(app)
        assert group(made, "system")["MinInstanceCount"] == 1
        assert "MinInstanceCount" not in group(made, "p5en")

    def test_nothing_waits_for_a_node_where_somebody_chose_or_nothing_needs_it(self, app: cdk.App) -> None:
        chosen = hp.InstanceGroup.worker("p5en", TYPE, count=16, min_count=2)
        made = research(app, groups=[SYSTEM, chosen])
        assert "MinInstanceCount" not in group(made, "system")
        assert "MinInstanceCount" not in group(research(cdk.App(), addons=[]), "system")

    def test_deep_health_checks_are_on_where_a_spare_bridges_them(self, app: cdk.App) -> None:
        made = research(app)
        assert group(made, "p5en")["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
        assert "OnStartDeepHealthChecks" not in group(made, "system")

    def test_deep_health_checks_are_off_beside_taints_which_the_service_refuses(self, app: cdk.App) -> None:
        taints = hp.KubernetesConfig(taints=(hp.Taint(key="dedicated", effect="NoSchedule"),))
        tainted = hp.InstanceGroup.worker("p5en", TYPE, count=16, spares=1, kubernetes=taints)
        assert "OnStartDeepHealthChecks" not in group(research(app, groups=[SYSTEM, tainted]), "p5en")

    def test_outputs_say_how_to_reach_the_api_and_what_the_volume_is(self, app: cdk.App) -> None:
        made = research(app, storage=SCRATCH)
        outputs = synthesized(foundation(made))["Outputs"]  # who installs the chart comes before the nodes
        assert outputs["Kubeconfig"]["Value"] == "aws eks update-kubeconfig --name Research --region us-west-2"
        assert "from its nodes alone" in outputs["Kubeconfig"]["Description"]
        parts = synthesized(foundation(made))["Outputs"]["LustreVolume"]["Value"]["Fn::Join"][1]
        volume = json.loads("".join(each if isinstance(each, str) else "fs-1" for each in parts))
        assert volume["spec"]["csi"] == {
            "driver": "fsx.csi.aws.com",
            "volumeHandle": "fs-1",
            "volumeAttributes": {"dnsname": "fs-1", "mountname": "fs-1"},
        }

    def test_an_open_endpoint_is_said_to_be_open(self, app: cdk.App) -> None:
        made = research(app, endpoint=hp.Endpoint.public(cidrs=["198.51.100.0/24"]))
        assert (
            "from 198.51.100.0/24 and its nodes"
            in synthesized(foundation(made))["Outputs"]["Kubeconfig"]["Description"]
        )

    @pytest.mark.parametrize(
        "other",
        [
            hp.InstanceGroup.worker("a", "ml.g6.12xlarge", count=2),
            hp.InstanceGroup.worker("a", "ml.m5.4xlarge", count=2, capacity=hp.Spot()),
            hp.InstanceGroup.worker("a", "ml.m5.4xlarge", count=2, min_count=0),
            hp.InstanceGroup.worker(
                "a",
                "ml.m5.4xlarge",
                count=2,
                kubernetes=hp.KubernetesConfig(taints=(hp.Taint(key="dedicated", effect="NoSchedule"),)),
            ),
        ],
    )
    def test_the_cluster_waits_for_a_node_that_pods_may_run_on(self, app: cdk.App, other: hp.InstanceGroup) -> None:
        made = research(app, groups=[SYSTEM, other])
        assert group(made, "system")["MinInstanceCount"] == 1
        assert not group(made, "a").get("MinInstanceCount")


class TestBringYourOwn:
    def test_a_control_plane_that_exists_in_a_network_that_exists(self, app: cdk.App) -> None:
        mine = cdk.Stack(app, "Mine", env=ENV)
        network = hp.Network.from_attributes(
            mine,
            "Network",
            vpc_id="vpc-0123456789abcdef0",
            subnets=[hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2", cidr="10.1.0.0/20")],
            security_group_ids=["sg-0123456789abcdef0"],
        )
        arn = "arn:aws:eks:us-west-2:111122223333:cluster/shared"
        made = research(app, network=network, control_plane=hp.EksControlPlane.from_arn(arn))
        assert made.foundation is None
        (cluster,) = of_type(synthesized(made), "AWS::SageMaker::Cluster").values()
        assert cluster["Orchestrator"] == {"Eks": {"ClusterArn": arn}}
        assert synthesized(made)["Outputs"]["Kubeconfig"]["Value"].startswith("aws eks update-kubeconfig --name shared")
        assert "as its control plane says" in synthesized(made)["Outputs"]["Kubeconfig"]["Description"]

    def test_a_control_plane_of_the_app_in_its_network(self, app: cdk.App) -> None:
        mine = cdk.Stack(app, "Mine", env=ENV)
        network = hp.ClusterNetwork(mine, "Network", zones=["usw2-az2"])
        plane = hp.EksControlPlane(mine, "Kubernetes", network=network, name="shared", version="1.33")
        made = research(app, network=network, control_plane=plane)
        assert made.control_plane is plane
        assert not of_type(synthesized(made), "AWS::EKS::Cluster")


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"governance": hp.TaskGovernance(teams=[hp.Team(name="a", members=["ada"])])}, "use ARNs of roles on EKS"),
            ({"cidr": "10.0.0.0/21"}, "has no room for an EKS control plane"),
            ({"control_plane_zones": ["usw2-az2"]}, "give two or more different zone ids"),
            ({"repositories": [hp.DataRepository(folder="/a", s3_uri="s3://b/c")]}, "repositories need storage"),
            ({"budget": hp.Budget(usd_per_month=1)}, "a budget needs alerts"),
            ({"groups": [hp.InstanceGroup.controller("ml.m5.xlarge")]}, "HP2010"),
            ({"admins": ["Platform"]}, "admins hold 'Platform'"),
            ({"addons": [hp.Addon.fsx_csi(), hp.Addon.fsx_csi()]}, "is given twice"),
        ],
    )
    def test_come_before_any_stack_is_made(self, app: cdk.App, options: dict[str, Any], said: str) -> None:
        with pytest.raises(hp.ConfigurationError, match=said):
            research(app, **options)
        assert [child.node.id for child in app.node.children if child.node.id != "Tree"] == []

    @pytest.mark.parametrize(
        ("argument", "value"),
        [
            ("kubernetes", "1.33"),
            ("endpoint", hp.Endpoint.private()),
            ("admins", ["arn:aws:iam::111122223333:role/A"]),
            ("control_plane_zones", ["usw2-az1", "usw2-az2"]),
        ],
    )
    def test_what_the_users_control_plane_decides_cannot_be_asked_for_beside_it(
        self, app: cdk.App, argument: str, value: Any
    ) -> None:
        plane = hp.EksControlPlane.from_arn("arn:aws:eks:us-west-2:111122223333:cluster/shared")
        with pytest.raises(hp.InvalidValue, match=f"{argument} has no effect beside control_plane"):
            research(app, control_plane=plane, **{argument: value})

    def test_a_control_plane_needs_its_network(self, app: cdk.App) -> None:
        plane = hp.EksControlPlane.from_arn("arn:aws:eks:us-west-2:111122223333:cluster/shared")
        with pytest.raises(hp.InvalidValue, match="nodes belong into their VPC: give network="):
            research(app, control_plane=plane)

    def test_an_imported_network_needs_a_control_plane(self, app: cdk.App) -> None:
        network = hp.Network.from_attributes(
            cdk.Stack(app, "Mine", env=ENV),
            "Network",
            vpc_id="vpc-0123456789abcdef0",
            subnets=[hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2")],
        )
        with pytest.raises(hp.InvalidValue, match="has no subnets for a control plane"):
            research(app, network=network)


def edges(template: dict[str, Any]) -> dict[str, set[str]]:
    """What each resource of a template waits for."""
    resources = template["Resources"]
    return {
        name: {each for each in (*_listed(resource.get("DependsOn")), *_referred(resource)) if each in resources}
        for name, resource in resources.items()
    }


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])


def _referred(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("Ref"), str):
            yield value["Ref"]
        if isinstance(value.get("Fn::GetAtt"), list):
            yield value["Fn::GetAtt"][0]
        for item in value.values():
            yield from _referred(item)
    elif isinstance(value, list):
        for item in value:
            yield from _referred(item)


def before(graph: dict[str, set[str]], name: str) -> set[str]:
    """Everything that is there before a resource; raises for a circle."""
    found: set[str] = set()

    def visit(each: str, path: tuple[str, ...]) -> None:
        assert each not in path, f"a circle: {path}"
        for other in graph[each]:
            visit(other, (*path, each))
            found.add(other)

    visit(name, ())
    return found


class TestOrder:
    def test_of_the_foundation_has_no_circle(self, app: cdk.App) -> None:
        graph = edges(synthesized(foundation(whole(app))))
        for name in graph:
            before(graph, name)

    def test_nodes_then_addons_then_policy_then_quotas(self, app: cdk.App) -> None:
        """CloudFormation deletes in reverse, so this is the order of both."""
        template = synthesized(whole(app))
        graph, resources = edges(template), template["Resources"]
        cluster = next(name for name, each in resources.items() if each["Type"] == "AWS::SageMaker::Cluster")
        addons = {
            each["Properties"]["AddonName"]: name for name, each in resources.items() if each["Type"].endswith("Addon")
        }
        policy = next(name for name, each in resources.items() if each["Type"].endswith("SchedulerConfig"))
        quotas = [name for name, each in resources.items() if each["Type"].endswith("ComputeQuota")]
        assert len(addons) == 4
        for addon in addons.values():
            assert cluster in before(graph, addon)
        assert addons["amazon-sagemaker-hyperpod-taskgovernance"] in before(graph, policy)
        assert len(quotas) == 2
        for quota in quotas:
            assert {policy, cluster} <= before(graph, quota)
        assert not {*addons.values(), policy, *quotas} & before(graph, cluster)
        for name in graph:
            before(graph, name)

    def test_the_cluster_waits_for_the_foundation(self, app: cdk.App) -> None:
        made = whole(app)
        synthesized(made)
        assert foundation(made).stack_name in [stack.stack_name for stack in made.dependencies]


BESIDE = """
from cdk_nag import AwsSolutionsChecks
hp.EksTraining(
    app,
    "Closed",
    env=cdk.Environment(account="111122223333", region="us-west-2"),
    zone="usw2-az2",
    egress="closed",
    chart=hp.HelmChart.installed_elsewhere(),
    karpenter=True,
    tiered_storage=hp.TieredStorage(memory_percent=30),
    groups=[
        hp.InstanceGroup.worker("cpu", "ml.m5.xlarge", count=1),
        hp.InstanceGroup.worker("g6", "ml.g6.12xlarge", count=0),
    ],
)
hp.EksTraining(
    app,
    "Anywhere",
    zone="usw2-az2",
    chart=hp.HelmChart.installed_elsewhere(),
    karpenter=True,
    groups=[hp.InstanceGroup.worker("cpu", "ml.m5.xlarge", count=1)],
)
hp.EksTraining(
    app,
    "Charted",
    env=cdk.Environment(account="111122223333", region="us-west-2"),
    zone="usw2-az2",
    chart=hp.HelmChart.directory(CHART),
    groups=[hp.InstanceGroup.worker("cpu", "ml.m5.xlarge", count=1)],
)
hp.EksTraining(
    app,
    "ChartedAnywhere",
    zone="usw2-az2",
    chart=hp.HelmChart.directory(CHART),
    groups=[hp.InstanceGroup.worker("cpu", "ml.m5.xlarge", count=1)],
)
canary = cdk.Stack(app, "Canary")
cdk.CfnResource(canary, "Topic", type="AWS::SNS::Topic", properties={"NoSuchProperty": 1})
cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app, verbose=True))
"""


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The assembly of examples/eks.py and of four others, with the CDK's engine and cdk-nag on."""
    outdir, chart = tmp_path_factory.mktemp("research"), tmp_path_factory.mktemp("chart")
    for name, content in small.complete().items():
        (chart / name).parent.mkdir(parents=True, exist_ok=True)
        (chart / name).write_bytes(content)
    beside = f"CHART = {str(chart)!r}\n{BESIDE}"
    source = (ROOT / "examples" / "eks.py").read_text().replace("app.synth()", beside + "app.synth()")
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    environment = {**os.environ, "CDK_OUTDIR": str(outdir), "CDK_CONTEXT_JSON": json.dumps(context)}
    environment.pop("CDK_VALIDATION", None)
    ran = subprocess.run([sys.executable, "-c", source], cwd=ROOT, env=environment, capture_output=True, check=False)
    assert b"NoSuchProperty" in ran.stdout + ran.stderr
    return outdir


class TestSecondOpinions:
    def test_engine_and_cdk_nag_find_nothing_that_is_not_acknowledged(self, assembly: Path) -> None:
        report = json.loads((assembly / "validation-report.json").read_text())
        found = {
            (plugin["pluginName"], violation["ruleName"], where["constructPath"])
            for plugin in report["pluginReports"]
            for violation in plugin["violations"]
            for where in violation["violatingConstructs"]
        }
        assert found == {("CloudFormation Validate", "F3002", "Canary/Topic")}

    def test_cfn_lint_finds_nothing_but_a_type_that_its_list_of_regions_lacks(self, assembly: Path) -> None:
        """Its lists have policies in 7 Regions and quotas in 10, against the schemas' own words."""
        templates = sorted(
            str(path) for path in assembly.glob("*.template.json") if path.name != "Canary.template.json"
        )
        command = [str(Path(sys.executable).parent / "cfn-lint"), "--regions", "us-west-2", "--format", "json"]
        ran = subprocess.run([*command, "--template", *templates], capture_output=True, text=True, check=False)
        found = [(Path(each["Filename"]).name, each["Rule"]["Id"], each["Message"]) for each in json.loads(ran.stdout)]
        assert len(templates) == 11
        by_cdk = [each for each in found if each[1] == "W3005" and "ChartProvider" in each[2]]
        assert len(by_cdk) == 4  # the roles of its functions, twice: nobody can change what the CDK's provider makes
        assert [each for each in found if each not in by_cdk] == [
            (
                "Research.template.json",
                "E3006",
                "Resource type 'AWS::SageMaker::ClusterSchedulerConfig' does not exist in 'us-west-2'",
            )
        ]

    def test_hyperpod_check_says_what_the_constructors_said(self, assembly: Path) -> None:
        ran = subprocess.run(
            [
                sys.executable,
                "-m",
                "hyperpod_constructs.cli",
                "check",
                str(assembly / "Research.template.json"),
                "--format",
                "json",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        found = [(each["rule"], each["severity"]) for each in json.loads(ran.stdout)["findings"]]
        assert [each for each in found if each[1] != "info"] == []
