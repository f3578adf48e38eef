"""Steps as values: what cannot work is refused at the line that says it, and the runner's file is always the same."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.model import steps
from hyperpod_constructs.model.steps import Context, Step
from hyperpod_constructs.model.storage import Mount
from hyperpod_constructs.planning import node_files
from hyperpod_constructs.planning.node_files import ASSETS

TOKEN = "${Token[Foundation.Bucket.123]}"
SHA = "0" * 64
FSX = (Mount(kind="lustre", path="/fsx", file_system="Scratch"),)
GROUPS = (
    hp.InstanceGroup.controller("ml.m5.4xlarge", mounts=FSX),
    hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=30, spares=2, mounts=FSX),
)
CLUSTER = Context(cluster="frontier", region="us-west-2", groups=GROUPS, roster="/hyperpod/frontier/roster")


def one(step: Step, context: Context = CLUSTER) -> dict[str, Any]:
    """A step as the runner reads it."""
    (encoded,) = steps.encode([step], context)["steps"]
    found: dict[str, Any] = encoded
    return found


def service(**fields: Any) -> steps.Service:
    given = {"name": "node-exporter", "uri": "s3://tools/node_exporter.tar.gz", "sha256": SHA}
    return steps.Service(**{**given, **fields})


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "motd.sh"
    path.write_text("#!/bin/bash\necho hello\n")
    return path


class TestAStep:
    def test_has_limits_and_tries_of_its_own_unless_told_otherwise(self) -> None:
        assert (one(steps.People())["timeout"], one(steps.People())["retries"]) == (300, 2)
        told = one(steps.People(timeout_seconds=60, retries=0, required=True, groups=("p5",)))
        assert (told["timeout"], told["retries"], told["required"], told["groups"]) == (60, 0, True, ["p5"])

    @pytest.mark.parametrize(("field", "wrong"), [("timeout_seconds", 0), ("timeout_seconds", 3601), ("retries", 21)])
    def test_has_figures_within_limits(self, field: str, wrong: int) -> None:
        with pytest.raises(hp.InvalidValue, match=f"{field} is"):
            steps.Spares(**{field: wrong})  # type: ignore[arg-type]  # one of two numbers

    def test_for_a_group_that_is_not_there_would_run_nowhere(self) -> None:
        with pytest.raises(
            hp.InvalidValue, match="step spares is for p6, which is no group of the cluster; use controller, p5"
        ):
            one(steps.Spares(groups=["p6"]))

    def test_that_waits_longer_has_longer(self) -> None:
        assert (one(steps.FileSystems())["timeout"], one(steps.FileSystems(wait_seconds=900))["timeout"]) == (420, 1020)
        assert one(steps.FileSystems(wait_seconds=900, timeout_seconds=60))["timeout"] == 60

    def test_names_a_field_of_a_wrong_type(self) -> None:
        with pytest.raises(hp.InvalidValue, match="required is 'no', a str; use True or False"):
            steps.Spares(required="no")  # type: ignore[arg-type]  # the point

    @pytest.mark.parametrize("step", [*steps.defaults(people=True, teams=True), steps.SlurmAdopt()])
    def test_of_ours_has_a_module_for_its_name(self, step: Step) -> None:
        assert (ASSETS / "hyperpod_node" / f"{step.run}.py").is_file()

    def test_whose_failure_costs_more_than_a_node_is_required(self) -> None:
        required = {step.title for step in steps.defaults(people=True, teams=True) if one(step)["required"]}
        assert required == {"file-systems", "metadata-service"}

    def test_of_the_controller_runs_nowhere_else(self) -> None:
        for step in (steps.Spares(), steps.NodeCounts(), steps.Accounting()):
            assert one(step)["roles"] == ["controller"]


class TestInputs:
    def test_name_groups_with_what_the_catalogue_knows_of_them(self) -> None:
        assert steps.encode([], CLUSTER)["groups"]["p5"] == {
            "role": "compute",
            "partition": "p5",
            "type": "ml.p5.48xlarge",
            "accelerators": 8,
            "kind": "gpu",
            "efa": 32,
            "local_disk_gb": 30400,
        }

    def test_nodes_of_eks_are_workers(self) -> None:
        group = hp.InstanceGroup(name="p5", count=1, instance_type="ml.p5.48xlarge")
        assert steps.encode([], Context(cluster="c", groups=(group,)))["groups"]["p5"]["role"] == "worker"

    def test_hold_the_mounts_of_every_group(self) -> None:
        context = Context(cluster="c", groups=GROUPS, efa=frozenset({"Scratch"}))
        assert one(steps.FileSystems(), context)["inputs"]["mounts"] == {
            "controller": [{"path": "/fsx", "kind": "lustre", "efa": True}],
            "p5": [{"path": "/fsx", "kind": "lustre", "efa": True}],
        }

    def test_say_where_the_people_are(self) -> None:
        assert one(steps.Accounting())["inputs"] == {"parameter": "/hyperpod/frontier/roster"}
        assert one(steps.Accounting(uri="s3://people/all.json"))["inputs"] == {"uri": "s3://people/all.json"}

    def test_hold_nothing_that_changes_with_the_size_of_the_cluster(self) -> None:
        larger = (GROUPS[0], replace(GROUPS[1], count=60, spares=4))
        given = steps.defaults(people=True, teams=True)
        assert steps.encode(given, replace(CLUSTER, groups=larger)) == steps.encode(given, CLUSTER)

    def test_that_the_deploy_decides_are_refused_because_the_file_is_hashed_before(self, script: Path) -> None:
        with pytest.raises(hp.InvalidValue, match=r"step motd\.inputs\.bucket is known only at deploy"):
            one(steps.Script(path=script, given={"bucket": [TOKEN]}))

    def test_are_json(self) -> None:
        encoded = steps.encode(steps.defaults(people=True, teams=True), CLUSTER)
        assert json.loads(json.dumps(encoded)) == encoded


class TestHomes:
    def of(self, homes: str, *, mounted: Sequence[bool]) -> Any:
        """Whether homes are taken for shared on nodes of which some mount /fsx."""
        groups = [replace(group, mounts=FSX if has else ()) for group, has in zip(GROUPS, mounted, strict=True)]
        return one(steps.People(homes=homes), replace(CLUSTER, groups=groups))["inputs"]["shared"]

    def test_on_a_mount_of_every_group_are_shared(self) -> None:
        assert self.of("/fsx/home", mounted=[True, True]) is True

    def test_on_the_own_disk_of_each_node_are_not(self) -> None:
        assert self.of("/home", mounted=[False, False]) is False

    @pytest.mark.parametrize(("homes", "mounted"), [("/fsx/home", (False, True)), ("/data/home", (True, True))])
    def test_nowhere_are_refused(self, homes: str, mounted: tuple[bool, bool]) -> None:
        with pytest.raises(hp.InvalidValue, match="is on no mount of"):
            self.of(homes, mounted=mounted)


class TestWhatTheDeployDecides:
    number = -1.8881545897087503e289

    @pytest.mark.parametrize("given", [{"x": -1.8881545897087503e289}, {"x": (TOKEN,)}, {TOKEN: 1}])
    def test_is_refused_in_any_form(self, script: Path, given: Any) -> None:
        with pytest.raises(hp.InvalidValue, match="known only at deploy"):
            one(steps.Script(path=script, given=given))

    def test_is_refused_as_a_limit(self) -> None:
        with pytest.raises(hp.InvalidValue, match=r"step spares\.timeout is known only at deploy"):
            one(steps.Spares(timeout_seconds=self.number))  # type: ignore[arg-type]  # as CDK tokens come

    def test_is_refused_as_a_place(self) -> None:
        with pytest.raises(hp.InvalidValue, match="known only at deploy; write the bucket's name out"):
            steps.Accounting(uri=f"s3://{TOKEN}/people.json")


class TestTwoSteps:
    def test_of_one_name_are_refused(self, script: Path) -> None:
        with pytest.raises(hp.InvalidValue, match="several steps are named motd"):
            steps.encode([steps.Script(path=script), steps.Script(path=script)], CLUSTER)

    def test_of_which_one_is_none_are_refused(self) -> None:
        with pytest.raises(hp.InvalidValue, match="what all steps have and none by itself"):
            steps.encode([Step()], CLUSTER)

    def test_of_services_are_told_apart_by_a_name(self) -> None:
        both = [steps.Services(services=(service(),)), steps.Services(services=(service(),), called="gpu-services")]
        assert [each["name"] for each in steps.encode(both, CLUSTER)["steps"]] == ["services", "gpu-services"]


class TestScript:
    def test_is_named_after_its_file_and_lies_beside_the_runner(self, script: Path) -> None:
        step = steps.Script(path=script, on=("login",), every=600, at_boot=True)
        encoded = one(step)
        assert (encoded["name"], encoded["run"]) == ("motd", "own/motd.sh")
        assert (encoded["roles"], encoded["every"], encoded["at_boot"]) == (["login"], 600, True)
        assert step.files == {"own/motd.sh": script.read_bytes()}

    def test_that_is_not_there_is_refused(self) -> None:
        with pytest.raises(hp.InvalidValue, match=r"nodes/motd\.sh is not there"):
            steps.Script(path="nodes/motd.sh")

    def test_that_no_shell_could_start_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "bare.sh").write_text("echo hello\n")
        with pytest.raises(hp.InvalidValue, match="names no program in its first line; begin it with #!/bin/bash"):
            steps.Script(path=tmp_path / "bare.sh")

    @pytest.mark.parametrize("given", [{"x": object()}, {"x": float("nan")}, {"x": {1, 2}}])
    def test_with_inputs_that_are_no_json_is_refused(self, script: Path, given: Any) -> None:
        with pytest.raises(hp.InvalidValue, match="inputs of a step are no JSON"):
            node_files.contents([steps.Script(path=script, given=given)], CLUSTER)

    def test_that_runs_nowhere_is_refused(self, script: Path) -> None:
        for wrong in ({"on": ()}, {"groups": ()}):
            with pytest.raises(hp.InvalidValue, match="is empty: it would run nowhere"):
                steps.Script(path=script, **wrong)  # type: ignore[arg-type]  # one of two tuples

    def test_on_a_role_that_nodes_do_not_have_is_refused(self, script: Path) -> None:
        with pytest.raises(hp.InvalidValue, match="use 'controller' or 'login' or 'compute' or 'worker'"):
            steps.Script(path=script, on=("head",))  # type: ignore[arg-type]  # the point


class TestServices:
    def test_are_read_from_the_users_bucket_with_a_pin(self) -> None:
        step = steps.Services(services=(service(binary="bin/node_exporter", arguments=["--port=9100"]),))
        assert step.objects == ("s3://tools/node_exporter.tar.gz",)
        (encoded,) = one(step)["inputs"]["services"]
        assert (encoded["sha256"], encoded["arguments"]) == (SHA, ["--port=9100"])

    @pytest.mark.parametrize(
        ("field", "wrong"),
        [
            ("sha256", "latest"),
            ("uri", "https://example.com/node_exporter"),
            ("binary", "../bin/sh"),
            ("binary", "/bin/sh"),
            ("files", {"relative.yml": ""}),
            ("arguments", ("--a\n--b",)),
            ("environment", {"A": "x\ny"}),
        ],
    )
    def test_that_could_be_anything_are_refused(self, field: str, wrong: Any) -> None:
        with pytest.raises(hp.InvalidValue, match="node-exporter"):
            service(**{field: wrong})


class TestSssd:
    given: dict[str, Any] = {"domain": "example.com", "uri": "ldaps://ldap.example.com", "base_dn": "dc=example,dc=com"}  # noqa: RUF012  # read only

    def test_names_the_secret_and_never_holds_it(self) -> None:
        arn = "arn:aws:secretsmanager:us-west-2:111122223333:secret:ldap-AbCdEf"
        step = steps.Sssd(**self.given, bind_dn="cn=nodes", secret_arn=arn)
        assert (step.secrets, one(step)["inputs"]["secret_arn"]) == ((arn,), arn)

    def test_does_not_send_passwords_in_the_clear(self) -> None:
        with pytest.raises(hp.InvalidValue, match="use ldaps://"):
            steps.Sssd(**{**self.given, "uri": "ldap://ldap.example.com"})

    def test_says_where_the_numbers_of_an_active_directory_come_from(self) -> None:
        assert "active_directory" not in one(steps.Sssd(**self.given))["inputs"]
        assert one(steps.Sssd(**self.given, active_directory="sid"))["inputs"]["active_directory"] == "sid"
        with pytest.raises(hp.InvalidValue, match="step sssd: active_directory"):
            steps.Sssd(**self.given, active_directory="uid")  # type: ignore[arg-type]  # a value that is refused

    def test_needs_a_name_with_a_password(self) -> None:
        with pytest.raises(hp.InvalidValue, match="go together"):
            steps.Sssd(**self.given, bind_dn="cn=nodes")

    @pytest.mark.parametrize(
        ("field", "wrong"),
        [
            ("domain", ""),
            ("base_dn", "x\ny"),
            ("secret_arn", "arn:aws:secretsmanager:*:*:secret:*"),
            ("ca_certificate", "/x"),
        ],
    )
    def test_is_one_line_of_what_it_should_be(self, field: str, wrong: str) -> None:
        bound: dict[str, Any] = {
            "bind_dn": "cn=nodes",
            "secret_arn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:ldap",
        }
        with pytest.raises(hp.InvalidValue, match=f"step sssd: {field}"):
            steps.Sssd(**{**self.given, **bound, field: wrong})


class TestDefaults:
    def test_hold_spares_and_publish_counts_on_slurm(self) -> None:
        names = {step.title for step in steps.defaults()}
        assert {"file-systems", "spares", "node-counts", "metadata-service"} <= names
        assert not {"people", "accounting"} & names

    def test_bring_people_and_teams_where_there_are_some(self) -> None:
        assert {"people", "accounting"} <= {step.title for step in steps.defaults(people=True, teams=True)}

    def test_on_eks_are_those_that_need_no_slurm(self) -> None:
        assert {step.title for step in steps.defaults(slurm=False)} == {"file-systems", "lustre-client", "log-rotation"}
