from __future__ import annotations

from pathlib import Path
from typing import Any

from hyperpod_constructs.findings import Severity
from hyperpod_constructs.rules import RULES
from tests.cli.conftest import BAD_LUSTRE, CLUSTER, Run, Says, assembly, finding


def the_run(run: Run, *arguments: str, **files: str) -> dict[str, Any]:
    """The one run of the log, after a check of what SARIF 2.1.0 requires of every log."""
    log = run("check", *arguments, "--format", "sarif", **files).data
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (found,) = log["runs"]
    rules = found["tool"]["driver"]["rules"]
    assert found["tool"]["driver"]["name"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["defaultConfiguration"]["level"] in {"error", "warning", "note"}
    for result in found["results"]:
        assert result["message"]["text"]
        assert result["level"] in {"error", "warning", "note"}
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        for location in result["locations"]:
            assert location["physicalLocation"]["artifactLocation"]["uri"]
            assert location["physicalLocation"].get("region", {"startLine": 1})["startLine"] >= 1
    assert isinstance(found, dict)
    return found


class TestSarif:
    def test_describes_every_rule(self, run: Run) -> None:
        found = the_run(run, "fs.yaml", fs_yaml=BAD_LUSTRE)
        assert [rule["id"] for rule in found["tool"]["driver"]["rules"]] == sorted({"HP0000", *RULES})

    def test_has_each_finding_with_its_place(self, run: Run, rules_say: Says) -> None:
        rules_say(finding())
        (result,) = the_run(run, "train.yaml", train_yaml=CLUSTER)["results"]
        assert result["level"] == "error"
        assert result["message"]["text"] == "34 instances on a plan of 32\nFix: use count=30"
        assert result["locations"] == [
            {
                "physicalLocation": {"artifactLocation": {"uri": "train.yaml"}, "region": {"startLine": 17}},
                "logicalLocations": [{"fullyQualifiedName": "train.yaml/Train/p5"}],
            }
        ]

    def test_knows_three_levels(self, run: Run, rules_say: Says) -> None:
        rules_say(*(finding(severity) for severity in Severity))
        results = the_run(run, "train.yaml", train_yaml=CLUSTER)["results"]
        assert [result["level"] for result in results] == ["error", "error", "warning", "note"]

    def test_a_finding_without_a_file_points_at_what_was_checked(self, run: Run, rules_say: Says) -> None:
        rules_say(finding(file=None, line=None, path=""))
        (result,) = the_run(run, "train.yaml", train_yaml=CLUSTER)["results"]
        assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "train.yaml"}}}]

    def test_file_names_become_uris(self, run: Run, rules_say: Says) -> None:
        rules_say(finding(file="my templates/a#b.yaml"), finding(file="/srv/a b.yaml"))
        results = the_run(run, "train.yaml", train_yaml=CLUSTER)["results"]
        uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results]
        assert uris == ["my%20templates/a%23b.yaml", "file:///srv/a%20b.yaml"]

    def test_acknowledged_findings_are_suppressed_with_the_reason(
        self, run: Run, rules_say: Says, tmp_path: Path
    ) -> None:
        rules_say(finding(path="Train/Scratch", rule="HP3001"))
        data = {"HyperPod::HP3001": "bought before"}
        metadata = {"/Train": [{"type": "aws:cdk:acknowledged-rules", "data": data}]}
        assembly(tmp_path / "cdk.out", {"Resources": {}}, **{"Train.metadata": metadata})
        (result,) = the_run(run, "cdk.out")["results"]
        assert result["suppressions"] == [{"kind": "inSource", "justification": "bought before"}]
