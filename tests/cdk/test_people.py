"""People and steps of a cluster as they reach the template."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

import hyperpod_constructs as hp

GROUPS = (
    hp.InstanceGroup.controller("ml.m5.4xlarge"),
    hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=4, spares=1),
)
ADA, BOB = hp.User(name="ada", uid=3001), hp.User(name="bob", uid=3002)
STEPS = hp.LifecycleScripts.steps(hp.steps.defaults(people=True, teams=True, homes="/home"))
DATABASE = hp.Slurm(
    accounting=hp.AccountingDatabase.from_attributes(
        endpoint="db.example.com", secret_arn="arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
    )
)


def of_type(template: Any, kind: str) -> dict[str, Any]:
    """Resources of a type by logical id."""
    return {name: each for name, each in template["Resources"].items() if each["Type"] == kind}


def statements(template: Any) -> dict[str, Any]:
    """Statements of all policies by their names."""
    return {
        statement["Sid"]: statement
        for policy in of_type(template, "AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if "Sid" in statement
    }


def vision(**fields: Any) -> hp.TaskGovernance:
    return hp.TaskGovernance(teams=[hp.Team(name="vision", **fields)])


def synthesized(folder: Path, **fields: Any) -> tuple[dict[str, Any], Path]:
    """The template of a stack with a cluster, and its assembly."""
    app = cdk.App(outdir=str(folder))
    stack = cdk.Stack(app, "Train", env=cdk.Environment(account="111122223333", region="us-west-2"))
    network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", flow_logs=False)
    given = {"name": "train", "groups": GROUPS, "slurm": DATABASE, "lifecycle": STEPS, **fields}
    hp.Cluster(stack, "Cluster", network=network, **given)
    app.synth()
    template: dict[str, Any] = json.loads((folder / "Train.template.json").read_text())
    return template, folder


def published(assembly: Path) -> dict[str, bytes]:
    """Every file of ours that `cdk deploy` uploads, by object key."""
    manifest = json.loads((assembly / "Train.assets.json").read_text())
    return {
        destination["objectKey"]: (assembly / each["source"]["path"]).read_bytes()
        for each in manifest["files"].values()
        for destination in each["destinations"].values()
        if destination["objectKey"].startswith("hyperpod/")
    }


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    return synthesized(tmp_path_factory.mktemp("one"), people=hp.People(users=[ADA]))


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    return synthesized(tmp_path_factory.mktemp("two"), people=hp.People(users=[ADA, BOB]))


class TestPeople:
    def test_one_more_changes_a_parameter_and_nothing_of_the_cluster(self, one: Any, two: Any) -> None:
        before, after = one[0]["Resources"], two[0]["Resources"]
        changed = {
            name: {
                key for key in after[name]["Properties"] if after[name]["Properties"][key] != each["Properties"][key]
            }
            for name, each in before.items()
            if each.get("Properties") != after[name].get("Properties")
        }
        assert before.keys() == after.keys()
        (cluster,) = of_type(one[0], "AWS::SageMaker::Cluster")
        assert before[cluster] == after[cluster]  # its metadata, too
        (parameter,) = of_type(one[0], "AWS::SSM::Parameter")
        assert changed == {parameter: {"Value"}}

    def test_are_where_the_parameter_says_and_nodes_may_read(self, two: Any) -> None:
        (parameter,) = of_type(two[0], "AWS::SSM::Parameter").values()
        (key,) = [key for key in published(two[1]) if key.endswith("roster.json")]
        assert [user["name"] for user in json.loads(published(two[1])[key])["users"]] == ["ada", "bob"]
        assert parameter["Properties"]["Name"] == "/hyperpod/train/roster"
        assert parameter["Properties"]["Value"] == f"s3://cdk-hnb659fds-assets-111122223333-us-west-2/{key}"
        read = statements(two[0])["ReadParameters"]
        assert read["Action"] == "ssm:GetParameter"
        assert "us-west-2:111122223333:parameter/hyperpod/train/roster" in json.dumps(read["Resource"])
        assert not [each for each in statements(two[0]).values() if "s3:Put" in json.dumps(each)]

    def test_are_there_before_the_first_node_looks(self, one: Any) -> None:
        (cluster,) = of_type(one[0], "AWS::SageMaker::Cluster").values()
        (parameter,) = of_type(one[0], "AWS::SSM::Parameter")
        assert parameter in cluster["DependsOn"]

    def test_are_named_in_the_template_so_that_garbage_collection_keeps_them(self, one: Any) -> None:
        resources = one[0]["Resources"].values()
        named = {key for each in resources for key in each.get("Metadata", {}).get("hyperpod:scripts", ())}
        assert named == set(published(one[1]))

    def test_that_no_step_brings_to_the_nodes_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(hp.InvalidValue, match=r"people= has no effect on controller, p5.*hp\.steps\.People\(\)"):
            synthesized(tmp_path, people=hp.People(users=[ADA]), lifecycle=hp.LifecycleScripts.ami_only())

    def test_a_member_of_a_team_who_is_nobody_is_refused(self, tmp_path: Path) -> None:
        teams = vision(members=["ada", "bbo"])
        with pytest.raises(hp.InvalidValue, match="team 'vision' has bbo, who is not among the people"):
            synthesized(tmp_path, people=hp.People(users=[ADA, BOB]), governance=teams)

    def test_on_some_nodes_only_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(hp.InvalidValue, match="people= has no effect on p5"):
            synthesized(tmp_path, people=hp.People(users=[ADA]), lifecycle={"controller": STEPS})

    def test_beside_a_file_that_somebody_else_keeps_are_refused(self, tmp_path: Path) -> None:
        steps = hp.LifecycleScripts.steps([hp.steps.People(homes="/home", uri="s3://people/all.json")])
        with pytest.raises(hp.InvalidValue, match="people= has no effect beside uri="):
            synthesized(tmp_path, people=hp.People(users=[ADA]), lifecycle=steps)

    def test_that_the_deploy_decides_are_refused(self, tmp_path: Path) -> None:
        late: Any = -1.8881545897087503e289
        with pytest.raises(hp.InvalidValue, match=r"the roster\.users\[0\]\.uid is known only at deploy"):
            synthesized(tmp_path, people=hp.People(users=[hp.User(name="ada", uid=late)]))

    def test_more_nodes_change_no_script(self, one: Any, tmp_path: Path) -> None:
        larger = (GROUPS[0], hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=8, spares=2))
        template, _ = synthesized(tmp_path, people=hp.People(users=[ADA]), groups=larger)
        addresses = [
            group["LifeCycleConfig"]
            for each in (one[0], template)
            for cluster in of_type(each, "AWS::SageMaker::Cluster").values()
            for group in cluster["Properties"]["InstanceGroups"]
        ]
        assert addresses[:2] == addresses[2:]


class TestTeams:
    def test_that_no_step_makes_accounts_of_are_refused(self, tmp_path: Path) -> None:
        steps = hp.LifecycleScripts.steps(hp.steps.defaults())
        with pytest.raises(
            hp.InvalidValue, match=r"governance= has no effect on controller.*hp\.steps\.Accounting\(\)"
        ):
            synthesized(tmp_path, governance=vision(), lifecycle=steps)

    def test_with_a_share_of_what_is_not_there_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(
            hp.InvalidValue, match=r"instances of p5\.48xlarge, of which no compute group is; use ml\.p5"
        ):
            synthesized(tmp_path, governance=vision(instances={"p5.48xlarge": 2}))

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"lend": False}, "team 'vision' does not lend, and Slurm gives idle nodes to whoever comes first"),
            ({"preempt": False}, "team 'vision' has preempt=False, which Slurm does not know"),
            ({"instances": {"ml.p5.48xlarge": hp.Share(accelerators=4)}}, "Slurm limits whole instances"),
        ],
    )
    def test_with_what_only_eks_does_are_refused(self, tmp_path: Path, fields: dict[str, Any], said: str) -> None:
        with pytest.raises(hp.InvalidValue, match=said):
            synthesized(tmp_path, governance=vision(**fields))

    @pytest.mark.parametrize("fields", [{"fair_share": False}, {"share_unassigned": False}])
    def test_shared_as_only_eks_does_are_refused(self, tmp_path: Path, fields: dict[str, Any]) -> None:
        with pytest.raises(hp.InvalidValue, match="which Slurm does not know"):
            synthesized(tmp_path, governance=replace(vision(), **fields))

    def test_with_members_who_are_no_users_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(hp.InvalidValue, match="has member 'Ada Lovelace'; use names of users"):
            synthesized(tmp_path, governance=vision(members=["Ada Lovelace"]))


class TestSteps:
    def test_each_group_calls_a_script_of_its_own(self, one: Any) -> None:
        (cluster,) = of_type(one[0], "AWS::SageMaker::Cluster").values()
        called = {
            group["InstanceGroupName"]: group["LifeCycleConfig"]["OnInitComplete"]
            for group in cluster["Properties"]["InstanceGroups"]
        }
        assert called == {"controller": "start-controller.sh", "p5": "start-p5.sh"}

    def test_that_provision_the_node_are_called_instead(self, tmp_path: Path) -> None:
        (tmp_path / "start_slurm.sh").write_text("#!/bin/bash\n")
        first = hp.steps.Script(path=tmp_path / "start_slurm.sh")
        steps = hp.LifecycleScripts.steps([first, *hp.steps.defaults()], provisions=True)
        template, _ = synthesized(tmp_path / "out", lifecycle=steps)
        (cluster,) = of_type(template, "AWS::SageMaker::Cluster").values()
        assert cluster["Properties"]["InstanceGroups"][0]["LifeCycleConfig"]["OnCreate"] == "start-controller.sh"

    def test_that_provision_the_node_without_a_script_would_start_no_slurm(self, tmp_path: Path) -> None:
        with pytest.raises(hp.InvalidValue, match="none is a script of yours"):
            synthesized(tmp_path, lifecycle=hp.LifecycleScripts.steps(hp.steps.defaults(), provisions=True))

    def test_are_all_in_the_archive(self, one: Any, tmp_path: Path) -> None:
        (archive,) = [content for key, content in published(one[1]).items() if key.endswith("node.zip")]
        (tmp_path / "node.zip").write_bytes(archive)
        names = zipfile.ZipFile(tmp_path / "node.zip").namelist()
        assert {"inputs.json", "hyperpod_node/runner.py", "hyperpod_node/people.py"} <= set(names)
        assert "hyperpod_node/sssd.py" not in names

    def test_say_in_the_template_what_runs(self, one: Any) -> None:
        (cluster,) = of_type(one[0], "AWS::SageMaker::Cluster").values()
        intent = cluster["Metadata"]["hyperpod:intent"]
        assert "spares" in intent["groups"]["controller"]["steps"]

    def test_of_some_groups_only_leave_the_others_as_the_image_makes_them(self, tmp_path: Path) -> None:
        template, _ = synthesized(tmp_path, lifecycle={"controller": hp.LifecycleScripts.steps([hp.steps.Spares()])})
        (cluster,) = of_type(template, "AWS::SageMaker::Cluster").values()
        controller, p5 = cluster["Properties"]["InstanceGroups"]
        assert "LifeCycleConfig" in controller
        assert "LifeCycleConfig" not in p5

    def test_read_the_secrets_and_objects_they_name_and_no_others(self, tmp_path: Path) -> None:
        secret = "arn:aws:secretsmanager:us-west-2:111122223333:secret:ldap-AbCdEf"
        directory = hp.steps.Sssd(
            domain="example.com", uri="ldaps://ldap", base_dn="dc=x", bind_dn="cn=nodes", secret_arn=secret
        )
        service = hp.steps.Service(name="exporter", uri="s3://tools/exporter", sha256="0" * 64)
        scripts = hp.LifecycleScripts.steps([directory, hp.steps.Services(services=(service,))])
        template, _ = synthesized(tmp_path, lifecycle=scripts)
        found = statements(template)
        assert found["ReadSecrets"]["Resource"] == secret
        assert "Decrypt" not in found
        assert "s3:::tools/exporter" in json.dumps(found["ReadObjects"]["Resource"])

    def test_may_decrypt_what_the_user_says_and_read_a_secret_by_its_short_name(self, tmp_path: Path) -> None:
        secret, key = (
            "arn:aws:secretsmanager:us-west-2:111122223333:secret:ldap",
            "arn:aws:kms:us-west-2:111122223333:key/k",
        )
        directory = hp.steps.Sssd(
            domain="example.com", uri="ldaps://ldap", base_dn="dc=x", bind_dn="cn=n", secret_arn=secret, key_arns=[key]
        )
        template, _ = synthesized(tmp_path, lifecycle=hp.LifecycleScripts.steps([directory]))
        found = statements(template)
        assert found["ReadSecrets"]["Resource"] == f"{secret}-??????"
        assert (found["Decrypt"]["Action"], found["Decrypt"]["Resource"]) == ("kms:Decrypt", key)
        services = json.dumps([each["Properties"] for each in of_type(template, "AWS::EC2::VPCEndpoint").values()])
        assert "secretsmanager" in services
