"""How rules are registered and run, whatever they say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperpod_constructs import cli, rules
from hyperpod_constructs.findings import Severity
from hyperpod_constructs.model.deployment import Cluster, Deployment, Location
from hyperpod_constructs.rules import Problem, Rule

CLUSTER = Cluster(path="Stack/Cluster", groups=())


def with_rule(monkeypatch: pytest.MonkeyPatch, check: rules.Check) -> None:
    """Leaves this rule as the only one."""
    only = Rule(id="HP1999", severity=Severity.WARNING, title="t", because="b", source="s", check=check)
    monkeypatch.setattr(rules, "RULES", {"HP1999": only})


class TestCheck:
    def test_a_rule_that_crashes_becomes_a_fatal_finding_and_the_others_still_run(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def crash(_: Deployment) -> Iterator[Problem]:
            raise KeyError("zone")

        monkeypatch.setitem(
            rules.RULES,
            "HP1999",
            Rule(id="HP1999", severity=Severity.WARNING, title="t", because="b", source="s", check=crash),
        )
        found = rules.check(Deployment(clusters=(CLUSTER,)))
        (failed,) = [finding for finding in found if finding.rule == rules.NOT_CHECKED]
        assert (failed.severity, failed.path) == (Severity.FATAL, "Stack/Cluster")
        assert "HP1999" in failed.message
        assert "KeyError: 'zone'" in failed.message
        assert len(found) > 1

    def test_a_finding_about_a_group_points_at_its_line_or_that_of_its_cluster(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def complain(_: Deployment) -> Iterator[Problem]:
            yield Problem(path="Stack/Cluster/p5", message="m", fix="f")
            yield Problem(path="Stack/Cluster/cpu", message="m", fix="f")
            yield Problem(path="Other", message="m", fix="f")

        with_rule(monkeypatch, complain)
        places = {"Stack/Cluster": Location("t.yaml", 3), "Stack/Cluster/p5": Location("t.yaml", 9)}
        found = rules.check(Deployment(clusters=(CLUSTER,), locations=places))
        assert {(each.path, each.line) for each in found} == {
            ("Stack/Cluster/p5", 9),
            ("Stack/Cluster/cpu", 3),
            ("Other", None),
        }

    def test_an_empty_deployment_has_no_findings(self) -> None:
        assert rules.check(Deployment()) == []


class TestRegistry:
    def test_an_id_is_taken_only_once(self) -> None:
        taken = next(iter(rules.RULES))
        with pytest.raises(ValueError, match=taken):
            rules.rule(taken, Severity.ERROR, title="t", because="b", source="s")(lambda _: iter(()))

    @pytest.mark.parametrize("rule", rules.RULES.values(), ids=lambda rule: rule.id)
    def test_every_rule_says_why_and_who_says_so(self, rule: Rule) -> None:
        assert re.fullmatch(r"HP\d{4}", rule.id)
        assert all(text.strip() and not text.endswith(".") for text in (rule.title, rule.because))
        assert len(rule.source) > 5

    def test_a_thread_or_commit_is_named_with_its_repository(self) -> None:
        parts = [part for rule in rules.RULES.values() for part in rule.source.split(";")]
        threads = [part for part in parts if re.search(r"\b(issue|pull|PR|commit) [0-9a-f]+", part)]
        assert len(threads) > 5
        assert [part for part in threads if not re.search(r"[\w.-]+/[\w.-]+", part)] == []

    def test_every_command_that_a_rule_or_a_message_names_exists(self, capsys: pytest.CaptureFixture[str]) -> None:
        """What rules say is put together at run time, so the commands are looked for in the source of the package."""
        package = Path(rules.__file__).parent.parent
        written = "".join(path.read_text() for path in package.rglob("*.py"))
        named = set(re.findall(r"`hyperpod ([a-z][a-z-]*)", written))
        assert named
        assert {command for command in named if cli.main([command, "--help"]) != 0} == set()
        capsys.readouterr()

    def test_rules_are_grouped_by_noun(self) -> None:
        homes = {
            "anomalies": "0",
            "budget": "0",
            "notices": "0",
            "observability": "0",
            "tags": "0",
            "capacity": "1",
            "plans": "1",
            "plan_counts": "1",
            "health": "1",
            "images": "1",
            "instance_types": "1",
            "labels": "1",
            "orchestration": "2",
            "autoscaling": "2",
            "charts": "2",
            "control_plane": "2",
            "access_entries": "2",
            "addons": "2",
            "addon_order": "2",
            "cluster_shape": "2",
            "provisioning": "2",
            "restricted": "2",
            "data": "3",
            "kept_data": "3",
            "lustre": "3",
            "lustre_efa": "3",
            "mounts": "3",
            "repositories": "3",
            "storage_ports": "3",
            "tiering": "3",
            "volumes": "3",
            "addresses": "4",
            "endpoints": "4",
            "network": "4",
            "routes": "4",
            "security_groups": "4",
            "steps": "5",
            "subnets": "4",
            "zones": "4",
            "lifecycle": "5",
            "legacy_slurm": "5",
            "script_access": "5",
            "governance": "6",
            "quotas": "6",
            "teams": "6",
            "security": "7",
            "cluster_role": "7",
            "keys": "7",
            "accounting": "7",
            "elsewhere": "7",
            "script_writers": "7",
            "template": "0",
        }
        for rule in rules.RULES.values():
            assert rule.id[2] == homes[rule.check.__module__.rpartition(".")[2]], rule.id
