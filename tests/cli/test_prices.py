from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hyperpod_constructs.account import gateway
from hyperpod_constructs.cli import inputs, price_files
from hyperpod_constructs.planning import cost
from tests.account.price_list import P5, PriceListStub, lustre, product
from tests.cli.conftest import BAD_LUSTRE, CLUSTER, Run

PACKAGE = Path(gateway.__file__).parents[2]
PRIVATE = {
    "of": "hyperpod",
    "region": "us-west-2",
    "source": "agreement of 2026",
    "as_of": "2026-11-01",
    "usd": {"ml.p5.48xlarge": 50.0},
}
M5 = product("USW2-Cluster:ml.m5.4xlarge", "0.92")


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[PriceListStub]:
    """AWS's Price List, whatever account signs in."""
    with PriceListStub() as stub:

        class Signed:
            def open(self, _: object) -> object:
                return stub.pricing

        monkeypatch.setattr(gateway, "sign_in", lambda **_: Signed())
        yield stub


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file that a refresh writes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "hyperpod-constructs" / "prices.json"


class TestRefresh:
    def test_writes_what_cost_then_uses_without_calling_it_an_estimate(
        self, run: Run, aws: PriceListStub, cache: Path
    ) -> None:
        aws.has_region("us-west-2", sagemaker=(P5, M5))
        refreshed = run("prices", "refresh", "--region", "us-west-2")
        assert refreshed.code == 0
        assert refreshed.out.splitlines()[-1] == f"wrote {cache}; `hyperpod cost` and `hyperpod summary` read it"
        result = run("cost", "train.yaml", "--region", "us-west-2", train_yaml=CLUSTER)
        assert result.out.splitlines()[0] == "265.11 USD/h; 730 h a month: 193,532 USD"  # 4 x 66.048 + 0.92
        assert "AWS Price List, AmazonSageMaker, published 2026-11-20; as of " in result.out
        assert result.err == f"hyperpod: note: prices of {cache} come before those of this package\n"

    def test_prints_what_it_found_and_what_not(self, run: Run, aws: PriceListStub) -> None:
        aws.has_region("us-west-2", sagemaker=(P5,), lustre=(lustre("500", "0.34"), lustre("500", "0.30")))
        lines = run("prices", "refresh", "--region", "us-west-2").out.splitlines()
        assert lines[0] == "us-west-2"
        assert lines[1].split()[:2] == ["hyperpod", "1"]
        assert lines[2] == "  nothing found of: hyperpod-volumes, lustre, eks, prometheus"
        assert lines[3] == "  several prices or an odd one, so none was taken: lustre PERSISTENT_2 SSD 500"

    def test_as_json(self, run: Run, aws: PriceListStub, cache: Path) -> None:
        aws.has_region("us-west-2", sagemaker=(P5,))
        data = run("prices", "refresh", "--region", "us-west-2", "--format", "json").data
        assert data["file"] == str(cache)
        assert set(data["regions"]["us-west-2"]) == {"prices", "sources", "missing", "unclear"}
        assert data["regions"]["us-west-2"]["prices"] == {"hyperpod": 1}

    def test_keeps_other_regions_with_their_dates(self, run: Run, aws: PriceListStub, cache: Path) -> None:
        cache.parent.mkdir(parents=True)
        cache.write_text(json.dumps({"prices": [{**PRIVATE, "region": "us-east-1"}, PRIVATE]}))
        aws.has_region("us-west-2", sagemaker=(P5,))
        run("prices", "refresh", "--region", "us-west-2")
        kept = {each.region: each for each in price_files.read(cache)}
        assert (kept["us-east-1"].as_of, kept["us-west-2"].usd["ml.p5.48xlarge"]) == ("2026-11-01", 66.048)

    def test_several_regions_at_once_and_one_of_them_twice(self, run: Run, aws: PriceListStub, cache: Path) -> None:
        aws.has_region("us-west-2", sagemaker=(P5,))
        aws.has_region("us-east-1", sagemaker=(product("USE1-Cluster:ml.p5.48xlarge", "66.048"),))
        assert run("prices", "refresh", "--region", "us-west-2", "us-east-1", "us-west-2").code == 0
        assert {each.region for each in price_files.read(cache)} == {"us-west-2", "us-east-1"}

    def test_a_region_without_a_price_of_nodes_is_exit_1_and_writes_nothing(
        self, run: Run, aws: PriceListStub, cache: Path
    ) -> None:
        aws.has_region("us-west-2")
        result = run("prices", "refresh", "--region", "us-west-2")
        assert (result.code, result.out.splitlines()[-1], cache.exists()) == (1, "nothing was written", False)

    def test_another_file_is_read_where_it_is_named(self, run: Run, aws: PriceListStub, cache: Path) -> None:
        aws.has_region("us-west-2", sagemaker=(P5,))
        result = run("prices", "refresh", "--region", "us-west-2", "--output", "mine.json")
        assert result.out.endswith("read it where HYPERPOD_PRICES names it\n")
        assert (Path("mine.json").is_file(), cache.exists()) == (True, False)


class TestBadInput:
    def test_a_region_whose_prices_are_elsewhere(self, run: Run) -> None:
        result = run("prices", "refresh", "--region", "cn-north-1")
        assert (result.code, result.out) == (2, "")
        assert "cn-north-1 is in partition aws-cn, whose prices are not in this Price List" in result.err

    def test_no_region(self, run: Run) -> None:
        assert run("prices", "refresh").code == 2

    def test_a_refusal_of_aws_leaves_the_file_as_it_was(self, run: Run, aws: PriceListStub, cache: Path) -> None:
        aws.has("AmazonSageMaker", P5, regionCode="us-west-2", component="Cluster")
        aws.fails("AccessDeniedException", "no")
        result = run("prices", "refresh", "--region", "us-west-2")
        assert (result.code, cache.exists()) == (2, False)
        assert result.err == (
            "hyperpod: no permission for pricing:GetProducts in us-east-1: it must be allowed. AWS says: no\n"
        )

    def test_a_broken_file_of_a_person_is_not_overwritten(self, run: Run) -> None:
        Path("mine.json").write_text("{")
        result = run("prices", "refresh", "--region", "us-west-2", "--output", "mine.json")
        assert (result.code, Path("mine.json").read_text()) == (2, "{")
        assert result.err.startswith("hyperpod: mine.json: is not JSON")

    def test_a_broken_cache_is_written_anew(self, run: Run, aws: PriceListStub, cache: Path) -> None:
        cache.parent.mkdir(parents=True)
        cache.write_text("{")
        aws.has_region("us-west-2", sagemaker=(P5,))
        result = run("prices", "refresh", "--region", "us-west-2")
        assert (result.code, len(price_files.read(cache))) == (0, 1)
        assert f"{cache}: is not JSON" in result.err

    def test_a_broken_cache_stops_cost_and_says_how_to_heal_it(self, run: Run, cache: Path) -> None:
        cache.parent.mkdir(parents=True)
        cache.write_text("{")
        result = run("cost", "train.yaml", train_yaml=CLUSTER)
        assert (result.code, result.out) == (2, "")
        assert result.err.endswith("; `hyperpod prices refresh --region REGION` writes it anew\n")


class TestDoubts:
    @pytest.mark.parametrize(("as_of", "is_old"), [("2019-01", True), (f"{datetime.now(UTC):%Y-%m-%d}", False)])
    def test_old_prices_of_a_refresh_are_said_to_be_old(self, run: Run, cache: Path, as_of: str, is_old: bool) -> None:
        cache.parent.mkdir(parents=True)
        cache.write_text(json.dumps({"prices": [{**PRIVATE, "as_of": as_of}]}))
        result = run("cost", "train.yaml", "--region", "us-west-2", train_yaml=CLUSTER)
        assert (f"prices of {cache} are as old as {as_of}: `hyperpod prices refresh" in result.err) is is_old

    def test_what_may_be_misspelled_is_said(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        entry = {**PRIVATE, "region": "us-wst-2", "usd": {"ml.p5.48xlrge": 50.0, "ml.p5.48xlarge": 50.0}}
        Path("mine.json").write_text(json.dumps({"prices": [entry]}))
        monkeypatch.setenv(price_files.PRIVATE, "mine.json")
        result = run("cost", "train.yaml", "--region", "us-west-2", train_yaml=CLUSTER)
        said = [line for line in result.err.splitlines() if "spelled right" in line]
        assert [line.split(": ")[2] for line in said] == ["prices of Region us-wst-2", "price of ml.p5.48xlrge"]


class TestPrivatePrices:
    @pytest.fixture(autouse=True)
    def _private(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        file = tmp_path / "private.json"
        file.write_text(json.dumps({"prices": [PRIVATE]}))
        monkeypatch.setenv(price_files.PRIVATE, str(file))

    @pytest.mark.parametrize("command", ["cost", "summary"])
    def test_come_before_those_that_were_refreshed(self, run: Run, cache: Path, command: str) -> None:
        cache.parent.mkdir(parents=True)
        other = {**PRIVATE, "source": "AWS", "usd": {"ml.p5.48xlarge": 66.0, "ml.m5.4xlarge": 1.0}}
        cache.write_text(json.dumps({"prices": [other]}))
        result = run(command, "train.yaml", "--region", "us-west-2", train_yaml=CLUSTER)
        assert "201.00 USD/h; " in result.out  # 4 x 50 + 1
        assert "agreement of 2026; as of 2026-11-01" in result.out
        assert f"private.json and then of {cache} come before those of this package" in result.err

    def test_do_not_make_what_they_lack_certain(self, run: Run) -> None:
        result = run("cost", "train.yaml", "--region", "us-west-2", "--format", "json", train_yaml=CLUSTER)
        assert [item["estimate"] for item in result.data["metered"]] == [True, False]

    def test_that_are_named_but_not_there_stop_the_command(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(price_files.PRIVATE, "gone.json")
        result = run("cost", "train.yaml", train_yaml=CLUSTER)
        assert (result.code, result.out) == (2, "")
        assert result.err == "hyperpod: gone.json: No such file or directory\n"

    def test_of_lustre_are_used_too(self, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        entry = {**PRIVATE, "of": "lustre", "usd": {"PERSISTENT_2 SSD 250": 0.2}}
        (tmp_path / "l.json").write_text(json.dumps({"prices": [entry]}))
        monkeypatch.setenv(price_files.PRIVATE, "l.json")
        data = run("cost", "fs.yaml", "--region", "us-west-2", "--format", "json", fs_yaml=BAD_LUSTRE).data
        assert (data["usd_per_hour"], data["estimate"]) == (round(3000 * 0.2 / 730, 4), False)


class TestSynthStaysDeterministic:
    def test_only_commands_look_for_price_files(self) -> None:
        """A budget's limit that came from a file of the user's would change with the machine that synthesizes."""
        users = {
            path.relative_to(PACKAGE).parts[0]
            for path in PACKAGE.rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if (isinstance(node, ast.Constant) and node.value in {"HYPERPOD_PRICES", "XDG_CACHE_HOME"})
            or (isinstance(node, ast.ImportFrom) and node.module and node.module.endswith("price_files"))
            or (isinstance(node, ast.alias) and node.name == "price_files")
        }
        assert users == {"cli"}

    def test_constructs_and_blueprints_hand_over_no_prices(self) -> None:
        calls = [
            node
            for ring in ("cdk", "blueprints")
            for path in (PACKAGE / ring).rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"cost.hourly", "cost.monthly_limit"}
        ]
        assert calls
        assert [ast.unparse(call) for call in calls if len(call.args) + len(call.keywords) != 1] == []

    def test_a_budget_s_limit_does_not_see_private_prices(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "train.yaml").write_text(CLUSTER)
        deployment = inputs.read(str(tmp_path / "train.yaml"), "us-west-2").deployment
        before = cost.monthly_limit(deployment)
        (tmp_path / "private.json").write_text(json.dumps({"prices": [PRIVATE]}))
        monkeypatch.setenv(price_files.PRIVATE, str(tmp_path / "private.json"))
        assert cost.monthly_limit(deployment) == before
