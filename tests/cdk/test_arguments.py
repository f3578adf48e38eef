"""Arguments of a wrong type are refused in our words, whatever part of the public API gets them."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam, aws_kms as kms
from constructs import Construct

import hyperpod_constructs as hp
from hyperpod_constructs.cdk._arguments import checked
from hyperpod_constructs.model.annotations import check_fields

TOKEN = "${Token[TOKEN.1]}"
WRONG: list[object] = [object(), 1.5j, [object()], {"a": object()}, hp.Lustre]
"""What no argument takes: a stranger, a number of no kind, a list and a dictionary of strangers, a class."""

SAMPLES: dict[str, dict[str, Any]] = {
    "Addon": {"name": "metrics-server"},
    "AutoPatch": {"when": "WhenIdle"},
    "DataRepository": {"folder": "/data", "s3_uri": "s3://data/x"},
    "ExternalDatabase": {"endpoint": "db", "secret_arn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:x"},
    "Group": {"name": "vision", "gid": 3001},
    "ImportedSubnet": {"subnet_id": "subnet-0123456789abcdef0"},
    "InstanceGroup": {"name": "p5", "count": 1},
    "InstanceType": {"name": "ml.p7.48xlarge"},
    "LifecycleScripts": {"uri": "s3://scripts/x"},
    "Lustre": {"capacity_gib": 1200},
    "Mount": {"kind": "lustre", "file_system": "Scratch"},
    "NodeVolume": {"size_gib": 1},
    "OpenZfs": {"dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"},
    "PodRole": {"namespace": "mine", "service_account": "mine", "policies": ["ReadOnlyAccess"]},
    "RollingUpdate": {"batch": hp.BatchSize(count=1)},
    "ScheduledUpdate": {"schedule": "cron(0 3 ? * 7 *)"},
    "Share": {"accelerators": 1},
    "Team": {"name": "vision"},
    "Taint": {"key": "team", "effect": "NoSchedule"},
    "TrainingPlan": {"plan": "p", "count": 1, "zone": "usw2-az2", "starts": "2026-12-07", "ends": "2027-02-14"},
    "User": {"name": "ada", "uid": 3002},
}
"""Fields that a value cannot do without."""
KNOWN_AT_SYNTH = {
    ("Addon", "name"),
    ("Group", "name"),
    ("InstanceType", "name"),
    ("PodRole", "namespace"),
    ("PodRole", "service_account"),
    ("Team", "name"),
    ("User", "name"),
    ("User", "shell"),
}
"""Texts that decide what is looked up or made, or stand in a file that is hashed at synth."""


def public_values() -> Iterator[tuple[str, Any]]:
    """Every public value by name; findings are made by us alone."""
    for name in hp.__all__:
        kind = getattr(hp, name)
        if dataclasses.is_dataclass(kind) and name != "Finding":
            yield name, kind


def public_calls() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function, constructor of a construct and way to make an object, by name."""
    for name in hp.__all__:
        found = getattr(hp, name)
        constructed = isinstance(found, type) and issubclass(found, Construct) and "__init__" in vars(found)
        if constructed or inspect.isfunction(found):
            yield name, found
        for attribute, made in vars(found).items() if isinstance(found, type) else ():
            builds = isinstance(made, staticmethod) or (isinstance(made, classmethod) and name == "LifecycleScripts")
            if builds and not attribute.startswith("_") and inspect.signature(getattr(found, attribute)).parameters:
                yield f"{name}.{attribute}", getattr(found, attribute)


VALUES, CALLS = dict(public_values()), dict(public_calls())


@pytest.fixture
def arguments(stack: cdk.Stack) -> dict[str, Any]:
    """A right value for every argument that some call cannot do without."""
    network = hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], egress="closed", endpoints=[], flow_logs=False)
    groups = [hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1)]
    return {
        "acknowledge": None,
        "addons": [],
        "budget": hp.Budget(usd_per_month=1),
        "cidr": "10.0.0.0/16",
        "cluster": hp.Cluster(stack, "Train", name="train", network=network, groups=groups),
        "cluster_arn": "arn:aws:eks:us-west-2:111122223333:cluster/research",
        "directory": ".",
        "dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        "egress": "nat",
        "emails": [],
        "endpoint": "db.example.com",
        "endpoints": None,
        "env": None,
        "governance": hp.TaskGovernance(),
        "groups": groups,
        "id": "Thing",
        "lustre": hp.Lustre(capacity_gib=1200),
        "mount_name": "abcdefgh",
        "name": "smoke",
        "network": network,
        "permissions_boundary": None,
        "publishers": [],
        "reason": "tried",
        "repositories": [],
        "rule": "HP3009",
        "scope": stack,
        "secret_arn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:x",
        "steps": [],
        "storage": None,
        "subnets": [hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0")],
        "termination_protection": True,
        "topic_arn": "arn:aws:sns:us-west-2:111122223333:alerts",
        "uri": "s3://scripts/x",
        "vpc_id": "vpc-0123456789abcdef0",
        "zone": "usw2-az2",
        "zones": ["usw2-az2"],
    }


def test_the_public_api_is_seen() -> None:
    assert {"acknowledge", "Cluster", "SlurmTraining", "Network.from_attributes", "LifecycleScripts.custom"} <= set(
        CALLS
    )
    assert {"InstanceGroup", "Lustre", "TrainingPlan"} <= set(VALUES)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_names_the_argument_its_type_and_what_is_wanted(name: str, arguments: dict[str, Any]) -> None:
    call = CALLS[name]
    # The metaclass of jsii hides what a constructor takes.
    signature = inspect.signature(vars(call)["__init__"] if isinstance(call, type) else call)
    parameters = {each: one for each, one in signature.parameters.items() if each != "self"}
    needed = {each: arguments[each] for each, one in parameters.items() if one.default is one.empty}
    stack = arguments["scope"]
    before = len(stack.node.children)
    for parameter in parameters:
        for wrong in WRONG:
            with pytest.raises(hp.InvalidValue) as refused:
                call(**{**needed, parameter: wrong})
            message = str(refused.value)
            assert message.startswith(f"{name}: "), message
            assert f"{parameter}" in message, message
            assert refused.value.wrong, message
            assert refused.value.fix.startswith("use "), message
    assert len(stack.node.children) == before


@pytest.mark.parametrize("name", VALUES)
def test_a_value_refuses_fields_of_a_wrong_type_in_our_words(name: str) -> None:
    for field in dataclasses.fields(VALUES[name]):
        for wrong in WRONG:
            with pytest.raises(hp.InvalidValue, match=r"\w"):
                check_fields(f"{name}: ", VALUES[name](**{**SAMPLES.get(name, {}), field.name: wrong}))


@pytest.mark.parametrize("name", VALUES)
def test_every_text_of_a_value_may_be_or_hold_what_the_deploy_decides(name: str) -> None:
    for field, declared in get_type_hints(VALUES[name]).items():
        text = declared is str or (get_origin(declared) is UnionType and str in get_args(declared))
        if not text or (name, field) in KNOWN_AT_SYNTH:
            continue
        for late in (TOKEN, f"prefix-{TOKEN}-suffix"):
            made = VALUES[name](**{**SAMPLES.get(name, {}), field: late})
            check_fields(f"{name}: ", made)
            assert getattr(made, field) == late


class TestChecked:
    def test_python_itself_says_what_is_missing(self) -> None:
        with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'zones'"):
            hp.ClusterNetwork(cdk.Stack(cdk.App(), "Stack"), "Network")  # type: ignore[call-arg]  # the point

    def test_an_interface_is_what_offers_all_of_it(self, stack: cdk.Stack) -> None:
        role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        imported = iam.Role.from_role_arn(stack, "Imported", "arn:aws:iam::111122223333:role/mine")
        key = kms.Key(stack, "Key")

        @checked
        def take(role: iam.IRole | None) -> str:
            return "taken" if role else "none"

        assert [take(role), take(imported), take(None)] == ["taken", "taken", "none"]
        with pytest.raises(hp.InvalidValue, match=r"use a role, for example iam\.Role\.from_role_arn"):
            take(key)  # type: ignore[arg-type]  # the point

    def test_numbers_of_the_deploy_pass_and_truth_values_are_no_numbers(self) -> None:
        @checked
        def take(count: int, share: float = 0.5) -> float:
            return count * share

        assert take(-1.8881545897087503e289, share=1) < 0  # type: ignore[arg-type]  # a token
        with pytest.raises(hp.InvalidValue, match="take: count is True, a bool; use a whole number"):
            take(True)  # noqa: FBT003  # the point
        with pytest.raises(hp.InvalidValue, match="share is '1', a str; use a number"):
            take(1, share="1")  # type: ignore[arg-type]  # the point

    def test_what_is_in_lists_and_dictionaries_is_looked_at(self) -> None:
        @checked
        def take(paths: Sequence[Path] = (), names: Mapping[str, str] | None = None) -> int:
            return len(paths) + len(names or {})

        assert take([Path()], {"a": "b"}) == 2
        with pytest.raises(hp.InvalidValue, match=r"names\['a'\] is 1, an int; use text"):
            take(names={"a": 1})  # type: ignore[dict-item]  # the point
        with pytest.raises(hp.InvalidValue, match="names: a key is 1, an int; use text"):
            take(names={1: "a"})  # type: ignore[dict-item]  # the point
        with pytest.raises(hp.InvalidValue, match=r"paths\[0\] is '\.', a str; use pathlib\.Path"):
            take(["."])  # type: ignore[list-item]  # the point

    def test_a_long_value_is_cut(self) -> None:
        with pytest.raises(hp.InvalidValue) as refused:
            hp.AlertTopic(cdk.Stack(cdk.App(), "Stack"), "Topic", emails=["x" * 500], publishers=[1])  # type: ignore[list-item]  # the point
        assert len(str(refused.value)) < 300
