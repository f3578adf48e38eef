"""What is said of Slurm clusters in their old form."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.lifecycle import Lifecycle, ScriptFile, SlurmParameters
from hyperpod_constructs.model.orchestration import Slurm
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import cluster, compute, controller, deployment, eks_cluster, kubernetes, told
from tests.rules.scripts import PARAMETERS, SOURCE, lifecycle, of


class TestSlurmIsConfiguredOnce:
    def of(self, name: str = PARAMETERS.name, **fields: Any) -> list[str]:
        scripts = lifecycle(files=(ScriptFile(name="on_create.sh"), ScriptFile(name=name)))
        return told("HP5007", deployment(cluster(groups=(compute(lifecycle=scripts),), **fields)))

    def test_names_the_file(self) -> None:
        assert self.of() == [
            (
                "HP5007 provisioning_parameters.json lies among the scripts of group 'p5', and the cluster has a "
                "SlurmConfig | delete provisioning_parameters.json, or move it out of the folder"
            )
        ]

    def test_a_node_type_is_a_slurm_config_too(self) -> None:
        assert len(self.of(orchestrator=None)) == 1

    def test_is_silent_without_the_file(self) -> None:
        assert self.of("provisioning.json") == []

    def test_is_silent_on_slurm_in_its_old_form(self) -> None:
        scripts = lifecycle(files=(PARAMETERS,))
        old = cluster(groups=(kubernetes(lifecycle=scripts),), orchestrator=None)
        assert told("HP5007", deployment(old)) == []

    def test_is_silent_where_it_is_not_known(self) -> None:
        scripts = lifecycle(files=(PARAMETERS,))
        unknown = cluster(groups=(compute(lifecycle=scripts, node_type=UNKNOWN),), orchestrator=UNKNOWN)
        assert told("HP5007", deployment(unknown)) == of("HP5007", files=None) == []


class TestLegacySlurmHasItsParameters:
    def of(self, *scripts: Any, **fields: Any) -> list[str]:
        groups = tuple(kubernetes(name=f"g{n}", lifecycle=each) for n, each in enumerate(scripts))
        return told("HP5008", deployment(cluster(**{"groups": groups, "orchestrator": None, **fields})))

    def test_nothing_says_who_is_the_controller(self) -> None:
        assert self.of(lifecycle(files=(ScriptFile(name="on_create.sh"),)), None) == [
            (
                "HP5008 no group has provisioning_parameters.json among its scripts, and no group says whether it "
                "is the controller | give every group SlurmConfig: {NodeType: Controller}, Login or Compute, or "
                "put provisioning_parameters.json beside the controller's scripts"
            )
        ]

    def test_is_silent_where_one_group_has_it(self) -> None:
        assert self.of(lifecycle(files=()), lifecycle(files=(PARAMETERS,))) == []

    def test_is_silent_where_groups_have_node_types(self) -> None:
        assert self.of(groups=(controller(lifecycle=lifecycle(files=())),)) == []

    def test_is_silent_on_eks(self) -> None:
        assert told("HP5008", deployment(eks_cluster(kubernetes(lifecycle=lifecycle(files=()))))) == []

    @pytest.mark.parametrize("unknown", [lifecycle(files=None), UNKNOWN])
    def test_is_silent_where_some_files_are_not_known(self, unknown: Any) -> None:
        assert self.of(lifecycle(files=()), unknown) == []

    def test_is_silent_where_the_orchestrator_is_not_known(self) -> None:
        assert self.of(lifecycle(files=()), orchestrator=UNKNOWN) == []

    def test_is_silent_on_a_cluster_without_scripts(self) -> None:
        assert self.of(None) == []


def with_parameters(
    rule: str, parameters: SlurmParameters | None, *, orchestrator: Any = None, **fields: Any
) -> list[str]:
    """What a rule says of a cluster in the old form whose scripts have a file of roles."""
    scripts = lifecycle(parameters=parameters, **fields)
    groups = (controller(node_type=None, lifecycle=scripts), compute(node_type=None, partitions=(), lifecycle=scripts))
    return told(rule, deployment(cluster(groups=groups, orchestrator=orchestrator, provisioning=None)))


GOOD = SlurmParameters(controller="controller", workers=("p5",))


class TestParametersNameGroups:
    def test_a_name_must_be_that_of_a_group(self) -> None:
        wrong = SlurmParameters(controller="controler", login="login", workers=("p5", "worker-group-1"))
        assert with_parameters("HP5013", wrong) == [
            (
                "HP5013 provisioning_parameters.json has controller_group 'controler', which is no group of the "
                "cluster | use 'controller'"
            ),
            (
                "HP5013 provisioning_parameters.json has login_group 'login', which is no group of the cluster | "
                "use one of 'controller', 'p5'"
            ),
            (
                "HP5013 provisioning_parameters.json has worker_groups 'worker-group-1', which is no group of the "
                "cluster | use one of 'controller', 'p5'"
            ),
        ]

    @pytest.mark.parametrize(
        ("parameters", "says"),
        [
            (SlurmParameters(problem="it holds no map"), "cannot be used: it holds no map"),
            (SlurmParameters(workers=("p5",)), "cannot be used: it has no controller_group"),
        ],
    )
    def test_it_must_be_usable(self, parameters: SlurmParameters, says: str) -> None:
        (said,) = with_parameters("HP5013", parameters)
        assert says in said

    @pytest.mark.parametrize("parameters", [GOOD, None])
    def test_is_silent_on_right_names_and_where_there_is_no_file(self, parameters: Any) -> None:
        assert with_parameters("HP5013", parameters) == []

    @pytest.mark.parametrize("orchestrator", [Slurm(), UNKNOWN])
    def test_is_silent_on_other_clusters(self, orchestrator: Any) -> None:
        assert with_parameters("HP5013", SlurmParameters(controller="x"), orchestrator=orchestrator) == []

    def test_is_silent_where_a_name_is_not_known(self) -> None:
        group = compute(name=UNKNOWN, node_type=None, lifecycle=lifecycle(parameters=SlurmParameters(controller="x")))
        assert told("HP5013", deployment(cluster(groups=(group,), orchestrator=None))) == []


class TestParametersNameAllGroups:
    def test_a_group_that_is_left_out_is_not_set_up(self) -> None:
        assert with_parameters("HP5014", SlurmParameters(controller="controller")) == [
            (
                "HP5014 provisioning_parameters.json does not name group 'p5' | "
                "add it to worker_groups with a partition_name, or make it the login_group"
            )
        ]

    def test_is_silent_where_a_wrong_name_explains_it(self) -> None:
        assert with_parameters("HP5014", SlurmParameters(controller="controller", workers=("p6",))) == []

    def test_is_silent_where_all_are_named(self) -> None:
        assert with_parameters("HP5014", GOOD) == []


class TestLegacySlurmHasScripts:
    def of(self, scripts: Any) -> list[str]:
        groups = (controller(node_type=None, lifecycle=scripts),)
        return told("HP5015", deployment(cluster(groups=groups, orchestrator=None, provisioning=None)))

    @pytest.mark.parametrize("scripts", [None, Lifecycle(source_uri=SOURCE, on_init_complete="more.sh")])
    def test_something_has_to_set_slurm_up(self, scripts: Any) -> None:
        (said,) = self.of(scripts)
        assert said.startswith(
            "HP5015 neither SlurmConfig nor an OnCreate script for group 'controller' | give every group SlurmConfig: "
            "{NodeType: Controller}, Login or Compute, which HyperPod sets up by itself, or"
        )

    @pytest.mark.parametrize("scripts", [lifecycle(), UNKNOWN])
    def test_is_silent_on_a_script_and_on_what_is_not_known(self, scripts: Any) -> None:
        assert self.of(scripts) == []
