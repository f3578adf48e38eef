"""What a blueprint does on its own for the nodes, people and teams of a cluster."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.blueprints.slurm import _default_steps
from tests.templates import of_type, synthesized

ENV = cdk.Environment(account="111122223333", region="us-west-2")
GROUPS = (
    hp.InstanceGroup.controller("ml.m5.xlarge"),
    hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=2, spares=1),
)
PEOPLE = hp.People(users=[hp.User(name="ada", uid=3001)])
TEAMS = hp.TaskGovernance(teams=[hp.Team(name="vision", instances={"ml.c5.xlarge": 2}, members=["ada"])])
RDS = "AWS::RDS::DBInstance"


def smoke(app: cdk.App, **options: Any) -> hp.SlurmTraining:
    return hp.SlurmTraining(app, "Smoke", **{"env": ENV, "zone": "usw2-az2", "groups": GROUPS, **options})


def steps(made: hp.SlurmTraining, group: str = "controller") -> list[str]:
    """Names of the steps that run on a group's nodes."""
    (found,) = [each for each in made.cluster.model.groups if each.name == group]
    lifecycle: Any = found.lifecycle
    return list(lifecycle.steps)


def databases(made: hp.SlurmTraining) -> int:
    assert made.foundation is not None
    return len(of_type(synthesized(made.foundation), RDS))


def rules(made: hp.SlurmTraining) -> list[str]:
    """Ids of what is said of the cluster at synth."""
    from hyperpod_constructs import rules as engine
    from hyperpod_constructs.model import template

    assembly = made.node.root
    assert isinstance(assembly, cdk.App)
    return [finding.rule for finding in engine.check(template.read(assembly.synth().directory))]


class TestNodes:
    def test_hold_spares_and_publish_counts_without_being_asked(self, app: cdk.App) -> None:
        assert {"spares", "node-counts", "metadata-service", "file-systems"} <= set(steps(smoke(app)))

    def test_run_what_the_user_says_instead(self, app: cdk.App) -> None:
        made = smoke(app, lifecycle=hp.LifecycleScripts.steps([hp.steps.LogRotation()]))
        assert steps(made) == ["log-rotation"]

    def test_of_an_image_alone_are_said_to_hold_no_spares(self, app: cdk.App) -> None:
        assert "HP5030" in rules(smoke(app, lifecycle=hp.LifecycleScripts.ami_only()))

    def test_of_the_default_are_not(self, app: cdk.App) -> None:
        assert "HP5030" not in rules(smoke(app))


class TestPeople:
    def test_come_to_the_nodes(self, app: cdk.App) -> None:
        assert "people" in steps(smoke(app, people=PEOPLE), "cpu")

    @pytest.mark.parametrize(("shared", "homes"), [(True, "/fsx/home"), (False, "/home")])
    def test_have_homes_on_the_shared_file_system_where_there_is_one(self, shared: bool, homes: str) -> None:
        ours = _default_steps(PEOPLE, None, shared=shared).ours or ()
        assert [step.homes for step in ours if isinstance(step, hp.steps.People)] == [homes]

    def test_are_not_looked_for_where_there_are_none(self, app: cdk.App) -> None:
        assert not {"people", "accounting"} & set(steps(smoke(app)))


class TestTeams:
    def test_get_accounts_and_a_database_that_outlives_the_controller(self, app: cdk.App) -> None:
        made = smoke(app, people=PEOPLE, governance=TEAMS)
        assert "accounting" in steps(made)
        assert databases(made) == 1
        assert "HP2104" not in rules(made)

    def test_without_one_are_said_to_die_with_the_controller(self, app: cdk.App) -> None:
        made = smoke(app, people=PEOPLE, governance=TEAMS, accounting=False)
        assert databases(made) == 0
        assert "HP2104" in rules(made)

    @pytest.mark.parametrize("options", [{"cidr": "10.0.0.0/22"}])
    def test_have_none_where_the_network_has_no_room_and_are_said_so(self, app: cdk.App, options: Any) -> None:
        made = smoke(app, people=PEOPLE, governance=TEAMS, **options)
        assert databases(made) == 0
        assert "HP2104" in rules(made)

    def test_of_a_roster_elsewhere_are_said_to_die_with_the_controller(self, app: cdk.App) -> None:
        steps = [*hp.steps.defaults(), hp.steps.Accounting(uri="s3://rosters/teams.json")]
        assert "HP2104" in rules(smoke(app, lifecycle=hp.LifecycleScripts.steps(steps)))

    def test_that_are_none_need_no_database(self, app: cdk.App) -> None:
        assert databases(smoke(app, governance=hp.TaskGovernance())) == 0

    def test_keep_the_database_that_the_user_has(self, app: cdk.App) -> None:
        secret = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
        mine = hp.AccountingDatabase.from_attributes(endpoint="db.example.com", secret_arn=secret)
        made = smoke(app, people=PEOPLE, governance=TEAMS, slurm=hp.Slurm(accounting=mine))
        assert databases(made) == 0

    def test_cannot_have_a_database_and_none(self, app: cdk.App) -> None:
        secret = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
        mine = hp.AccountingDatabase.from_attributes(endpoint="db.example.com", secret_arn=secret)
        with pytest.raises(hp.InvalidValue, match="accounting is given twice"):
            smoke(app, accounting=False, slurm=hp.Slurm(accounting=mine))
