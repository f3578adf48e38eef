"""`hyperpod review`: exit codes, formats, and what it says of input that it cannot read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import BAD_LUSTRE, CLUSTER, Run, assembly
from tests.cli.test_check import REFUSED
from tests.review.snapshots import snapshot

MORE = CLUSTER.replace("InstanceCount: 4", "InstanceCount: 6")
FEWER = CLUSTER.replace("InstanceCount: 4", "InstanceCount: 2")
BUCKET = "Resources: {Objects: {Type: 'AWS::S3::Bucket'}, Alarms: {Type: 'AWS::SNS::Topic'}}"
TOPIC = "Resources: {Alarms: {Type: 'AWS::SNS::Topic'}}"


@pytest.fixture(autouse=True)
def no_prices_of_the_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("HYPERPOD_PRICES", raising=False)


class TestExitCode:
    @pytest.mark.parametrize(
        ("condition", "head", "code"),
        [
            ("", FEWER, 0),
            ("node-loss", FEWER, 1),
            ("node-loss", MORE, 0),
            ("replacement,data-loss,error", FEWER, 0),
            ("node-loss,replacement", FEWER, 1),
            ("cost=100", MORE, 1),
            ("cost=4000", MORE, 0),
        ],
    )
    def test_is_1_where_a_condition_holds(self, run: Run, condition: str, head: str, code: int) -> None:
        given = ["--fail-on", condition] if condition else []
        result = run("review", "a.yaml", "b.yaml", "--region", "us-east-1", *given, a_yaml=CLUSTER, b_yaml=head)
        assert result.code == code
        assert ("--fail-on" in result.err) == bool(code)

    def test_is_0_for_a_change_that_destroys_where_nobody_asks(self, run: Run) -> None:
        result = run("review", "a.yaml", "b.yaml", a_yaml=BUCKET, b_yaml=TOPIC)
        assert (result.code, result.out.split()[0]) == (0, "Destroys:")

    @pytest.mark.parametrize("format_", ["text", "json", "markdown"])
    def test_is_the_same_in_every_format_and_the_review_is_printed(self, run: Run, format_: str) -> None:
        given = ("--format", format_, "--fail-on", "data-loss")
        result = run("review", "a.yaml", "b.yaml", *given, a_yaml=BUCKET, b_yaml=TOPIC)
        assert result.code == 1
        assert "destroys" in result.out.lower()
        assert result.err.splitlines()[-1] == "hyperpod: note: --fail-on data-loss: a.yaml/Objects"

    @pytest.mark.parametrize(
        ("base", "head", "said"),
        [
            ("a.yaml", "nothing.yaml", "nothing.yaml"),
            ("nothing.yaml", "a.yaml", "nothing.yaml"),
            ("a.yaml", "broken.yaml", "broken.yaml"),
            ("a.yaml", "text.yaml", "text.yaml"),
        ],
    )
    def test_is_2_for_what_cannot_be_read(self, run: Run, base: str, head: str, said: str) -> None:
        files = {"a_yaml": CLUSTER, "broken_yaml": "Resources: {", "text_yaml": "just text"}
        result = run("review", base, head, "--fail-on", "error", **files)
        assert (result.code, result.out) == (2, "")
        assert said in result.err
        assert "Traceback" not in result.err

    @pytest.mark.parametrize("side", ["base", "head"])
    def test_is_2_for_what_a_refused_synth_left_behind(self, run: Run, tmp_path: Path, side: str) -> None:
        template = {"Resources": {"Alarms": {"Type": "AWS::SNS::Topic"}}}
        for name in ("base", "head"):
            assembly(tmp_path / name, template, **({"validation_report": REFUSED} if name == side else {}))
        result = run("review", "base", "head")
        assert (result.code, result.out) == (2, "")
        assert "must not be deployed" in result.err

    @pytest.mark.parametrize("live", ["{}", "no json", "[1]", '{"format": "hyperpod-snapshot", "version": 99}'])
    def test_is_2_for_a_snapshot_that_is_none(self, run: Run, live: str) -> None:
        result = run("review", "a.yaml", "b.yaml", "--live", "live.json", a_yaml=CLUSTER, b_yaml=MORE, live_json=live)
        assert (result.code, result.out) == (2, "")
        assert "live.json" in result.err

    def test_is_2_for_prices_that_cannot_be_read(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HYPERPOD_PRICES", "none.json")
        assert run("review", "a.yaml", "b.yaml", a_yaml=CLUSTER, b_yaml=MORE).code == 2

    @pytest.mark.parametrize("condition", ["errors", "cost", "cost=-1", "cost=much", "replacement;error"])
    def test_is_2_for_a_condition_that_there_is_none_of(self, run: Run, condition: str) -> None:
        result = run("review", "a.yaml", "b.yaml", "--fail-on", condition, a_yaml=CLUSTER, b_yaml=MORE)
        assert (result.code, result.out) == (2, "")
        assert "is no condition; use replacement, data-loss" in result.err or "is no limit; give USD" in result.err


class TestText:
    def test_begins_with_the_verdict(self, run: Run) -> None:
        out = run("review", "a.yaml", "b.yaml", "--region", "us-east-1", a_yaml=CLUSTER, b_yaml=FEWER).out
        assert out.startswith("Destroys: ")
        assert "node-loss" not in out

    def test_of_the_same_is_short(self, run: Run) -> None:
        out = run("review", "a.yaml", "a.yaml", "--region", "us-east-1", a_yaml=CLUSTER).out
        assert out.startswith("Unchanged: nothing is deployed differently\n")
        assert len(out.splitlines()) < len(range(10))

    def test_shows_no_markup(self, run: Run) -> None:
        out = run("review", "a.yaml", "b.yaml", a_yaml=CLUSTER, b_yaml=MORE).out
        assert not any(sign in out for sign in ("**", "<sub>", "### ", "| ---"))

    def test_writes_control_characters_out(self, run: Run) -> None:
        red = {"Resources": {"A\x1b[31m": {"Type": "AWS::S3::Bucket"}, "B": {"Type": "AWS::SNS::Topic"}}}
        blue = {"Resources": {"B": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "\x1b]0;t\x07"}}}}
        result = run("review", "a.json", "b.json", a_json=json.dumps(red), b_json=json.dumps(blue))
        assert "\x1b" not in result.out + result.err


class TestJson:
    def test_is_the_contract(self, run: Run) -> None:
        given = ("--region", "us-east-1", "--format", "json")
        data = run("review", "a.yaml", "b.yaml", *given, a_yaml=CLUSTER, b_yaml=MORE).data
        assert data["verdict"] == "safe"
        (change,) = data["changes"]
        assert {key: change[key] for key in ("path", "property", "impact")} == {
            "path": "b.yaml/Train/p5",
            "property": "InstanceGroups.InstanceCount",
            "impact": "in-place",
        }
        assert {"reason", "action", "recipe", "source"} <= change.keys()
        # 0.768 x 1.20 (EC2's m5.4xlarge) + 4 or 6 x 66.048 (HyperPod's p5.48xlarge)
        cost = data["cost"]
        assert (cost["before_usd_per_hour"], cost["after_usd_per_hour"]) == (265.1136, 397.2096)
        assert cost["estimate"] is True
        assert "HyperPod price list" in cost["source"]
        assert data["findings"] == {"new": [], "resolved": [], "stopping": []}
        assert len(data["not_compared"]) == 1

    def test_has_what_stops_a_deployment(self, run: Run) -> None:
        good = BAD_LUSTRE.replace("3000", "4800")
        result = run("review", "a.yaml", "b.yaml", "--format", "json", a_yaml=good, b_yaml=BAD_LUSTRE)
        assert result.data["verdict"] == "blocked"
        assert [each["rule"] for each in result.data["findings"]["new"]] == ["HP3001"]
        back = run("review", "b.yaml", "a.yaml", "--format", "json").data
        assert [each["rule"] for each in back["findings"]["resolved"]] == ["HP3001"]

    def test_of_the_same_is_unchanged(self, run: Run) -> None:
        data = run("review", "a.yaml", "a.yaml", "--format", "json", a_yaml=CLUSTER).data
        assert (data["verdict"], data["changes"], data["widened"], data["scripts"]) == ("unchanged", [], [], [])


class TestLive:
    def test_stands_beside_what_was_declared(self, run: Run) -> None:
        live = snapshot()
        live["cluster"]["name"] = "train"
        files = {"a_yaml": CLUSTER, "b_yaml": MORE, "live_json": json.dumps(live)}
        given = ("--live", "live.json", "--region", "us-west-2", "--format", "json", "--fail-on", "node-loss")
        result = run("review", "a.yaml", "b.yaml", *given, **files)
        assert result.code == 1
        assert result.data["live"]["cluster"] == "train"
        assert {"impact": "nodes-lost", "path": "b.yaml/Train/p5"}.items() <= result.data["changes"][0].items()
        assert "26" in result.data["changes"][0]["reason"]

    def test_is_said_to_be_missing_where_it_is_not_given(self, run: Run) -> None:
        out = run("review", "a.yaml", "b.yaml", a_yaml=CLUSTER, b_yaml=MORE).out
        assert "live state" in out


class TestPrices:
    def test_of_the_user_come_first(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        prices = {
            "prices": [
                {
                    "of": "hyperpod",
                    "region": "us-east-1",
                    "source": "agreement of 2026",
                    "as_of": "2026-11-01",
                    "usd": {"ml.p5.48xlarge": 50.0, "ml.m5.4xlarge": 1.0},
                }
            ]
        }
        monkeypatch.setenv("HYPERPOD_PRICES", "mine.json")
        files = {"a_yaml": CLUSTER, "b_yaml": MORE, "mine_json": json.dumps(prices)}
        given = ("--region", "us-east-1", "--format", "json", "--fail-on", "cost=300")
        result = run("review", "a.yaml", "b.yaml", *given, **files)
        cost = result.data["cost"]
        assert (cost["before_usd_per_hour"], cost["after_usd_per_hour"]) == (201.0, 301.0)
        assert (cost["source"], cost["as_of"], cost["estimate"]) == ("agreement of 2026", "2026-11-01", False)
        assert result.code == 1
