from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.account import gateway, preflight as checks
from hyperpod_constructs.account.preflight import Check, Context
from hyperpod_constructs.cli import files
from tests.account.fake_account import ACCOUNT, REGION, FakeAccount, Refused
from tests.cli.conftest import CLUSTER, Run, assembly

ON_REGION = ("--region", REGION)


@pytest.fixture(scope="module")
def _fake() -> Iterator[FakeAccount]:
    with FakeAccount() as account:
        yield account


@pytest.fixture
def account(_fake: FakeAccount, monkeypatch: pytest.MonkeyPatch) -> FakeAccount:
    """An account that is signed in to, and no check but that of the service-linked role."""
    _fake.answers.clear()
    _fake.denied.clear()
    monkeypatch.setattr(gateway, "sign_in", lambda **_: FakeAccount.session())
    only(monkeypatch, "service-linked role")
    return _fake


def only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(checks, "CHECKS", [each for each in checks.CHECKS if each.name in names])


def refuse(code: str) -> Any:
    def answer(_: object) -> Any:
        raise Refused(code, "as AWS says")

    return answer


class TestTheAnswer:
    @pytest.mark.usefixtures("account")
    def test_ends_with_what_was_asked(self, run: Run) -> None:
        result = run("preflight", "train.yaml", *ON_REGION, train_yaml=CLUSTER)
        assert result.code == 0
        assert result.err.startswith("1 of 1 checks: service-linked role, ")
        *said, last = result.out.splitlines()
        assert said[0].startswith(
            "HP9150 info     train.yaml/Train: account 123456789012 has no role AWSServiceRoleFor"
        )
        fix = "aws iam create-service-linked-role --aws-service-name hyperpod.sagemaker.amazonaws.com"
        assert fix in " ".join(result.out.split())
        assert last.startswith(f"1 finding: 1 info (1 check of account {ACCOUNT} in {REGION}, ")

    def test_is_exit_1_where_something_stands_in_the_way(
        self, run: Run, account: FakeAccount, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)  # undone with the rest
        monkeypatch.setattr(gateway, "sign_in", lambda **_: FakeAccount.session())
        only(monkeypatch, "resource types")
        account.answers["DescribeType"] = refuse("TypeNotFoundException")
        result = run("preflight", "train.yaml", *ON_REGION, train_yaml=CLUSTER)
        assert (result.code, result.out.splitlines()[0]) == (
            1,
            "HP9110 error    train.yaml/Train: us-west-2 has no resource type AWS::SageMaker::Cluster",
        )

    def test_shows_quotas_as_they_are(
        self, run: Run, account: FakeAccount, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)  # undone with the rest
        monkeypatch.setattr(gateway, "sign_in", lambda **_: FakeAccount.session())
        only(monkeypatch, "quotas")
        has_quotas(account)
        result = run("preflight", "train.yaml", *ON_REGION, train_yaml=CLUSTER)
        assert result.code == 1
        rows = [line.split() for line in result.out.splitlines()]
        assert ["ml.p5.48xlarge", "for", "cluster", "usage", "2", "0", "4"] in rows

    def test_as_json_has_the_documented_keys(self, run: Run, account: FakeAccount) -> None:
        account.denied.add("GetRole")
        data = run("preflight", "train.yaml", *ON_REGION, "--format", "json", train_yaml=CLUSTER).data
        assert data.keys() == {"account", "regions", "findings", "checks", "learned"}
        assert (data["account"], data["regions"]) == (ACCOUNT, [REGION])
        assert [each["rule"] for each in data["findings"]] == ["HP9001"]
        (check,) = data["checks"]
        assert check == {
            "region": REGION,
            "name": "service-linked role",
            "seconds": check["seconds"],
            "outcome": "not allowed",
        }

    def test_of_a_check_that_breaks_off_is_exit_1(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def look(_: Context) -> Iterator[Any]:
            raise ZeroDivisionError("x")
            yield

        with FakeAccount():
            monkeypatch.setattr(gateway, "sign_in", lambda **_: FakeAccount.session())
            monkeypatch.setattr(checks, "CHECKS", [Check(name="subject", look=look)])
            result = run("preflight", "train.yaml", *ON_REGION, train_yaml=CLUSTER)
        assert result.code == 1
        assert result.out.startswith(
            "HP9000 fatal    train.yaml/Train: the check of subject broke off: ZeroDivisionError"
        )
        assert result.out.splitlines()[-1].endswith("; 1 not to the end)")


def has_quotas(account: FakeAccount) -> None:
    names = (
        "ml.p5.48xlarge for cluster usage",
        "ml.m5.4xlarge for cluster usage",
        "Maximum number instances allowed per SageMaker HyperPod cluster",
        "Total number of instances allowed across SageMaker HyperPod clusters",
        "Network interfaces per Region",
    )
    listed = [
        {"QuotaName": name, "QuotaCode": "L-1", "Value": 2 if "p5" in name else 5000, "Adjustable": True}
        for name in names
    ]
    account.answers["ListServiceQuotas"] = lambda _: {"Quotas": listed}
    account.answers["ListAWSDefaultServiceQuotas"] = lambda _: {"Quotas": []}


class TestRegions:
    @pytest.mark.usefixtures("account")
    def test_are_those_of_the_stacks(self, run: Run, tmp_path: Path) -> None:
        template = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}
        folder = assembly(tmp_path / "cdk.out", template)
        result = run("preflight", str(folder), "--region", "eu-north-1", "--format", "json")
        assert result.data["regions"] == [REGION]
        assert "PATH fixes us-west-2, so --region eu-north-1 plays no part" in result.err

    def test_that_there_are_not_are_exit_2_before_aws_is_asked(
        self, run: Run, account: FakeAccount, tmp_path: Path
    ) -> None:
        folder = assembly(tmp_path / "cdk.out", {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
        manifest = folder / "manifest.json"
        manifest.write_text(manifest.read_text().replace("us-west-2", "us-wst-2"))
        account.called.clear()
        result = run("preflight", str(folder), "--region", REGION)
        assert (result.code, result.out, account.called) == (2, "", [])
        assert result.err.endswith("hyperpod: there is no Region 'us-wst-2': did you mean us-west-2?\n")

    def test_of_another_account_are_all_that_is_said(self, run: Run, tmp_path: Path) -> None:
        folder = assembly(tmp_path / "cdk.out", {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
        with FakeAccount():
            result = run("preflight", str(folder), "--region", REGION)
        assert result.code == 1
        said = "HP9002 error    Train: the stack is for account 111122223333, but the credentials are of 123456789012"
        assert result.out.startswith(said)
        assert result.out.splitlines()[-1].startswith("1 finding: 1 error (1 check of account")

    def test_that_nobody_says_are_asked_for(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("AWS_DEFAULT_REGION", "AWS_PROFILE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
        result = run("preflight", "train.yaml", train_yaml=CLUSTER)
        assert (result.code, result.out) == (2, "")
        assert result.err == "hyperpod: no Region is set: use --region, for example --region us-west-2\n"


class TestBadInput:
    @pytest.mark.parametrize(
        ("code", "says"),
        [
            ("ExpiredToken", "the AWS credentials have expired: sign in again"),
            (
                "InvalidClientTokenId",
                "does not accept these credentials in us-west-2: they are wrong, or the Region is",
            ),
            ("OptInRequired", "does not accept these credentials in us-west-2: they are wrong, or the Region is"),
            ("Throttling", "AWS throttles sts:GetCallerIdentity in us-west-2: try again later"),
        ],
    )
    def test_of_credentials_is_one_line_and_exit_2(self, run: Run, account: FakeAccount, code: str, says: str) -> None:
        account.answers["GetCallerIdentity"] = refuse(code)
        result = run("preflight", "train.yaml", *ON_REGION, "--write", "facts.json", train_yaml=CLUSTER)
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert says in result.err
        assert not Path("facts.json").exists()

    @pytest.mark.usefixtures("account")
    def test_of_a_path_is_said_before_aws_is_asked(self, run: Run, account: FakeAccount) -> None:
        account.called.clear()
        result = run("preflight", "none.yaml", *ON_REGION)
        assert (result.code, account.called) == (2, [])
        assert result.err == "hyperpod: none.yaml: there is no such file\n"

    @pytest.mark.usefixtures("account")
    def test_of_a_refused_app_is_exit_1(self, run: Run, tmp_path: Path) -> None:
        report = {
            "version": "1.0",
            "pluginReports": [
                {
                    "pluginName": "HyperPod",
                    "conclusion": "failure",
                    "violations": [{"ruleName": "HP1001", "severity": "error"}],
                }
            ],
        }
        folder = assembly(tmp_path / "cdk.out", {"Resources": {}}, validation_report=report)
        result = run("preflight", str(folder))
        assert (result.code, result.out) == (1, "")
        assert "was refused by its own checks" in result.err

    def test_of_a_file_to_write_is_exit_2_before_aws_is_asked(
        self, run: Run, account: FakeAccount, tmp_path: Path
    ) -> None:
        (tmp_path / "folder").mkdir()
        for file in ("folder", "", "train.yaml/facts.json"):
            account.called.clear()
            result = run("preflight", "train.yaml", *ON_REGION, "--write", file, train_yaml=CLUSTER)
            assert (result.code, result.out, account.called) == (2, "", [])
            assert result.err.startswith(f"""hyperpod: {file or '""'}: """)

    @pytest.mark.usefixtures("account")
    def test_of_a_file_that_fails_late_takes_no_finding_away(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", "facts.json")

        monkeypatch.setattr(files, "write", fail)
        result = run("preflight", "train.yaml", *ON_REGION, "--write", "facts.json", train_yaml=CLUSTER)
        assert (result.code, result.out[:6]) == (2, "HP9150")
        assert "hyperpod: facts.json: No space left on device" in result.err


class TestWhatIsWritten:
    @pytest.mark.usefixtures("account")
    def test_may_go_into_a_device(self, run: Run) -> None:
        assert run("preflight", "train.yaml", *ON_REGION, "--write", "/dev/null", train_yaml=CLUSTER).code == 0

    def test_says_which_checks_did_not_end(self, run: Run, account: FakeAccount) -> None:
        account.denied.add("GetRole")
        result = run("preflight", "train.yaml", *ON_REGION, "--write", "facts.json", train_yaml=CLUSTER)
        assert json.loads(Path("facts.json").read_text())["unfinished"] == {REGION: ["service-linked role"]}
        assert f"facts.json lacks what was not read in {REGION}: service-linked role" in result.err

    def test_is_read_by_summary(
        self, run: Run, account: FakeAccount, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)  # undone with the rest
        monkeypatch.setattr(gateway, "sign_in", lambda **_: FakeAccount.session())
        only(monkeypatch, "quotas")
        has_quotas(account)
        run("preflight", "train.yaml", *ON_REGION, "--write", "facts.json", train_yaml=CLUSTER)
        written = json.loads(Path("facts.json").read_text())
        assert written.keys() == {"version", "account", "read", "unfinished", "regions"}
        assert (written["version"], written["account"]) == (1, ACCOUNT)
        result = run("summary", "train.yaml", *ON_REGION, "--preflight", "facts.json")
        line = next(each for each in result.out.splitlines() if "ml.p5.48xlarge for cluster usage" in each)
        assert line.split() == ["4", "ml.p5.48xlarge", "for", "cluster", "usage", "yours:", "2,", "0", "in", "use"]
        data = run("summary", "train.yaml", *ON_REGION, "--preflight", "facts.json", "--format", "json").data
        (quota,) = (each for each in data["quotas"] if each["quota"]["name"] == "ml.p5.48xlarge for cluster usage")
        assert (quota["applied"], quota["used"]) == (2, 0)
        asked = [each for each in result.out.splitlines() if "request-service-quota-increase" in each]
        assert len(asked) == 1

    def test_of_checks_that_did_not_end_is_said_by_summary(self, run: Run, account: FakeAccount) -> None:
        account.denied.add("GetRole")
        run("preflight", "train.yaml", *ON_REGION, "--write", "facts.json", train_yaml=CLUSTER)
        asked = ("summary", "train.yaml", *ON_REGION, "--preflight", "facts.json")
        said = " ".join(run(*asked).out.split())
        assert f"preflight of account {ACCOUNT} did not come to the end of these checks in {REGION}" in said
        assert "rests on them: service-linked role" in said
        read = run(*asked, "--format", "json").data["preflight"]
        assert (read["account"], read["unfinished"]) == (ACCOUNT, {REGION: ["service-linked role"]})

    def test_of_checks_that_ended_is_nothing_for_summary_to_say(self, run: Run, account: FakeAccount) -> None:
        account.answers["GetRole"] = refuse("NoSuchEntity")
        run("preflight", "train.yaml", *ON_REGION, "--write", "facts.json", train_yaml=CLUSTER)
        result = run("summary", "train.yaml", *ON_REGION, "--preflight", "facts.json")
        assert "did not come to the end" not in result.out

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            (
                '{"version": 1, "account": "1", "read": "2026-11-30", "regions": {}, "unfinished": ["quotas"]}',
                "facts.json: is no file that `hyperpod preflight --write` wrote",
            ),
            ('{"version": 2}', "facts.json: has version 2, this command reads 1: write it again"),
            ("{}", "facts.json: is no file that `hyperpod preflight --write` wrote"),
            ("[1", "facts.json: is no file that `hyperpod preflight --write` wrote"),
        ],
    )
    def test_of_another_form_is_exit_2(self, run: Run, text: str, says: str) -> None:
        Path("facts.json").write_text(text)
        result = run("summary", "train.yaml", "--preflight", "facts.json", train_yaml=CLUSTER)
        assert (result.code, result.out, result.err) == (2, "", f"hyperpod: {says}\n")

    def test_that_is_not_there_is_exit_2(self, run: Run) -> None:
        result = run("summary", "train.yaml", "--preflight", "facts.json", train_yaml=CLUSTER)
        assert (result.code, result.err) == (2, "hyperpod: facts.json: No such file or directory\n")


class TestZones:
    @pytest.mark.usefixtures("account")
    def test_are_printed_by_id_and_name(self, run: Run) -> None:
        result = run("zones", "ml.p5.48xlarge", *ON_REGION)
        assert (result.code, result.err) == (0, "")
        assert result.out.splitlines()[:2] == [
            f"ml.p5.48xlarge in us-west-2, for account {ACCOUNT}",
            "  usw2-az1  us-west-2b",
        ]
        assert "no promise of capacity" in result.out

    @pytest.mark.usefixtures("account")
    def test_of_a_type_may_leave_the_prefix_out(self, run: Run) -> None:
        assert run("zones", "p5.48xlarge", *ON_REGION).out == run("zones", "ml.p5.48xlarge", *ON_REGION).out

    def test_that_are_not_opted_in_to_are_marked(self, run: Run, account: FakeAccount) -> None:
        zone = {"ZoneId": "usw2-az1", "ZoneName": "us-west-2b", "OptInStatus": "not-opted-in"}
        account.answers["DescribeAvailabilityZones"] = lambda _: {"AvailabilityZones": [zone]}
        data = run("zones", "ml.p5.48xlarge", *ON_REGION, "--format", "json").data
        assert data["zones"][0] == {"id": "usw2-az1", "name": "us-west-2b", "open": False}
        assert data.keys() == {"instance_type", "account", "region", "listed", "zones"}

    @pytest.mark.parametrize(
        ("name", "near"), [("ml.p5.4xlarg", ""), ("ml.p5ne.48xlarge", "; did you mean ml.p5en.48xlarge?")]
    )
    def test_of_a_type_that_there_is_not_are_none_and_exit_1(
        self, run: Run, account: FakeAccount, name: str, near: str
    ) -> None:
        account.answers["DescribeInstanceTypeOfferings"] = lambda _: {"InstanceTypeOfferings": []}
        result = run("zones", name, *ON_REGION)
        assert (result.code, result.out) == (1, "")
        said = f"hyperpod: EC2 offers {name} in no zone of us-west-2 to account {ACCOUNT}"
        assert result.err.startswith(said)
        assert result.err.endswith(f"{near}\n")

    def test_of_a_type_that_hyperpod_does_not_list_come_with_a_note(self, run: Run, account: FakeAccount) -> None:
        offer = {"Location": "usw2-az1"}
        account.answers["DescribeInstanceTypeOfferings"] = lambda _: {"InstanceTypeOfferings": [offer]}
        result = run("zones", "ml.x9.large", *ON_REGION)
        assert (result.code, result.err) == (
            0,
            "hyperpod: note: ml.x9.large is not in our list of types that HyperPod takes\n",
        )

    @pytest.mark.parametrize("name", ["p5", "ml.", "ml.p5 48xlarge", "../x", "ml.p5.48xlarge;ls"])
    def test_of_what_is_no_type_are_exit_2(self, run: Run, name: str) -> None:
        result = run("zones", name)
        assert result.code == 2
        assert f"{name!r} is not an instance type; use one such as ml.p5.48xlarge" in result.err

    def test_without_permission_are_exit_2_and_name_it(self, run: Run, account: FakeAccount) -> None:
        account.denied.add("DescribeInstanceTypeOfferings")
        result = run("zones", "ml.p5.48xlarge", *ON_REGION)
        assert (result.code, result.out) == (2, "")
        assert "no permission for ec2:DescribeInstanceTypeOfferings in us-west-2" in result.err


class TestUsage:
    def test_help_has_the_exit_codes_and_what_prints_the_permissions(self, run: Run) -> None:
        said = " ".join(run("preflight", "--help").out.split())
        assert "exit codes: 0 nothing stands in the way, 1 something does" in said
        assert "`hyperpod policy --preflight` prints the permissions that it needs" in said
