"""Values and rules without the CDK: thousands of cases in the time of one app."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import assume, event, given, settings

from hyperpod_constructs import rules
from hyperpod_constructs.errors import ConfigurationError
from hyperpod_constructs.model import intent, template
from hyperpod_constructs.model._reading import Node, Reading
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.deployment import Cluster, Deployment
from hyperpod_constructs.model.network import VpcPlacement
from hyperpod_constructs.model.orchestration import Slurm
from hyperpod_constructs.tokens import without_tokens
from tests.random.anything import anything
from tests.random.deployments import programs
from tests.random.properties import comparable, differences
from tests.random.recipes import Program
from tests.random.requests import create_cluster_request
from tests.random.running import values_of

PLACEMENT = VpcPlacement(subnets=("subnet-0123456789abcdef0",), security_groups=("sg-0123456789abcdef0",))


def judged(deployment: Deployment) -> list[str]:
    """The rules that had something to say, after a look at whether all of them could."""
    found = rules.check(deployment)
    assert [finding.message for finding in found if finding.rule == rules.NOT_CHECKED] == []
    return [finding.rule for finding in found]


def cluster_of(program: Program) -> Cluster:
    """The cluster that a program describes, made without constructs; tokens are not known."""
    values = values_of(program)
    groups = values.get("groups")
    assume(isinstance(groups, list | tuple) and all(isinstance(group, InstanceGroup) for group in groups))
    slurm = values.get("slurm")
    made = Cluster(
        path="C",
        name="train",
        groups=tuple(groups or ()),
        orchestrator=slurm if isinstance(slurm, Slurm) else Slurm(),
        provisioning="Continuous",
        recovery="Automatic",
        placement=PLACEMENT,
        region=program.region,
        account=program.account,
    )
    for group in made.groups:
        check_fields("group: ", group)
    check_fields("slurm: ", made.orchestrator)
    cleaned = without_tokens(made)
    assert isinstance(cleaned, Cluster)
    return cleaned


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where every request is written, one after the other."""
    return tmp_path_factory.mktemp("request") / "request.json"


class TestRules:
    @given(anything(Deployment))
    @settings(max_examples=200)
    def test_have_an_opinion_about_everything_that_the_model_can_hold(self, deployment: Deployment) -> None:
        judged(deployment)


class TestValues:
    @given(programs())
    @settings(max_examples=300)
    def test_are_made_or_refused_by_name_and_rules_can_judge_them(self, program: Program) -> None:
        try:
            cluster = cluster_of(program)
        except ConfigurationError:
            event("refused")
            return
        judged(Deployment(clusters=(cluster,)))

    @given(programs(tokens=False))
    @settings(max_examples=200)
    def test_come_back_from_the_request_that_makes_the_cluster_and_the_intent_beside_it(
        self, file: Path, program: Program
    ) -> None:
        try:
            cluster = cluster_of(program)
        except ConfigurationError:
            return
        names = [group.name for group in cluster.groups]
        assume(len(set(names)) == len(names))
        file.write_text(json.dumps(create_cluster_request(cluster)))
        (read,) = template.read(file).clusters
        beside = Node(
            json.loads(json.dumps(intent.encode(cluster))), "C", Reading(path_of=lambda _: None), (intent.KEY,)
        )
        meant = intent.apply(read, beside)
        assert beside.reading.found == {}
        assert list(differences(comparable(cluster), comparable(meant))) == []
