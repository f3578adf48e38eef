from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import CLUSTER, Run, assembly
from tests.cli.test_check import REFUSED, TEMPLATE

TWO = CLUSTER + CLUSTER.partition("Resources:\n")[2].replace("Train:", "Other:").replace("name: train", "name: other")
EKS = CLUSTER.replace("{Slurm: {}}", "{Eks: {ClusterArn: 'arn:aws:eks:us-west-2:111122223333:cluster/x'}}")


def lines(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.startswith("#SBATCH")]


class TestOfAType:
    def test_prints_the_job_and_says_what_it_needs(self, run: Run) -> None:
        result = run("job", "--type", "p5.48xlarge", "--partition", "train", "--account", "research")
        assert result.code == 0
        assert lines(result.out)[:7] == [
            "#SBATCH --job-name=hyperpod-job",
            "#SBATCH --nodes=2",
            "#SBATCH --ntasks-per-node=8",
            "#SBATCH --gres=gpu:8",
            "#SBATCH --partition=train",
            "#SBATCH --account=research",
            "#SBATCH --time=45",
        ]
        assert result.err == (
            "hyperpod: note: the job needs train.py and heartbeat.py beside it: --out DIR writes all three\n"
        )

    def test_with_a_command_needs_nothing_else(self, run: Run) -> None:
        result = run("job", "--type", "ml.c5.xlarge", "--command", "python my.py", "--nodes", "1", "--minutes", "5")
        assert (result.code, result.err) == (0, "")
        assert "#SBATCH --time=20" in result.out
        assert "export HYPERPOD_COMMAND=${HYPERPOD_COMMAND-'python my.py'}" in result.out

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("--type", "ml.p5.48xl"), "ml.p5.48xl is not in the catalogue of instance types; did you mean ml.p5.48xl"),
            (("--type", "ml.p9.48xlarge"), "describe it with hp.InstanceType(...) in an app, and give its cdk.out"),
            ((), "there is no PATH; give PATH, and --group for one of its groups, or --type alone"),
            (("--group", "p5"), "there is no PATH"),
            (("--type", "ml.c5.xlarge", "--shared", "fsx"), "shared folder is 'fsx'; use an absolute path"),
            (("--type", "ml.p5.48xlarge", "--command", "torchrun x"), "(--per node)"),
        ],
    )
    def test_that_there_cannot_be_is_one_line_and_exit_1(self, run: Run, arguments: tuple[str, ...], said: str) -> None:
        result = run("job", *arguments)
        assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
        assert said in result.err

    @pytest.mark.parametrize("arguments", [("--nodes", "0"), ("--minutes", "x"), ("--recovery", "hope")])
    def test_with_what_is_not_understood_is_exit_2(self, run: Run, arguments: tuple[str, ...]) -> None:
        assert run("job", "--type", "ml.c5.xlarge", *arguments).code == 2


class TestOfAGroup:
    def test_takes_type_and_partition_from_the_template(self, run: Run) -> None:
        result = run("job", "train.yaml", "--group", "p5", train_yaml=CLUSTER)
        assert result.code == 0
        assert {"#SBATCH --gres=gpu:8", "#SBATCH --partition=train", "#SBATCH --nodes=2"} <= set(lines(result.out))

    def test_is_the_one_that_runs_jobs_where_there_is_one(self, run: Run) -> None:
        assert run("job", "train.yaml", train_yaml=CLUSTER).out == run("job", "train.yaml", "--group", "p5").out

    def test_of_one_node_is_a_job_of_one_node(self, run: Run) -> None:
        one = CLUSTER.replace("InstanceCount: 4", "InstanceCount: 1")
        assert "#SBATCH --nodes=1" in run("job", "train.yaml", train_yaml=one).out

    def test_can_be_overridden(self, run: Run) -> None:
        result = run("job", "train.yaml", "--type", "ml.g5.48xlarge", "--partition", "dev", train_yaml=CLUSTER)
        assert {"#SBATCH --partition=dev", "#SBATCH --ntasks-per-node=8"} <= set(lines(result.out))
        assert "ml.g5.48xlarge" in result.out

    def test_that_two_clusters_have_is_named_by_its_path(self, run: Run) -> None:
        result = run("job", "train.yaml", "--group", "p5", train_yaml=TWO)
        assert result.code == 1
        assert "several groups are called 'p5'; use one of: train.yaml/Train/p5, train.yaml/Other/p5" in result.err
        assert run("job", "train.yaml", "--group", "train.yaml/Other/p5").code == 0

    @pytest.mark.parametrize(
        ("template", "arguments", "said"),
        [
            (CLUSTER, ("--group", "p6"), "there is no group 'p6'; use one of: train.yaml/Train/p5"),
            (CLUSTER, ("--nodes", "5"), "train.yaml/Train/p5 has 4 nodes for jobs, not 5; use fewer --nodes"),
            (CLUSTER.replace("InstanceCount: 4", "InstanceCount: 0"), (), "has 0 nodes for jobs, not 1"),
            (CLUSTER, ("--group", "controller"), "there is no group 'controller'; use one of: train.yaml/Train/p5"),
            (EKS, (), "the clusters of PATH are on EKS"),
            (TWO, (), "groups that run jobs: train.yaml/Train/p5, train.yaml/Other/p5; name one with --group"),
        ],
    )
    def test_that_there_is_not_is_exit_1(self, run: Run, template: str, arguments: tuple[str, ...], said: str) -> None:
        result = run("job", "train.yaml", *arguments, train_yaml=template)
        assert (result.code, result.out) == (1, "")
        assert said in result.err

    def test_of_a_refused_assembly_is_not_read(self, run: Run, tmp_path: Path) -> None:
        assembly(tmp_path / "cdk.out", TEMPLATE, validation_report=REFUSED)
        result = run("job", "cdk.out")
        assert (result.code, result.out) == (1, "")
        assert "must not be deployed" in result.err

    def test_of_no_file_is_exit_2(self, run: Run) -> None:
        assert run("job", "none.yaml").code == 2


class TestFiles:
    OUT = ("job", "--type", "ml.c5.xlarge", "--out", "new/folder")

    def test_are_written_into_a_new_folder(self, run: Run, tmp_path: Path) -> None:
        result = run(*self.OUT)
        assert (result.code, result.err) == (0, "")
        written = tmp_path / "new/folder"
        assert sorted(file.name for file in written.iterdir()) == ["heartbeat.py", "job.sbatch", "train.py"]
        assert (written / "job.sbatch").read_text() == run("job", "--type", "ml.c5.xlarge").out
        assert result.out.splitlines()[-1] == (
            "next: copy them to a folder below /fsx, which every node sees, and run there: sbatch job.sbatch"
        )

    def test_that_say_the_same_are_written_again(self, run: Run) -> None:
        assert (run(*self.OUT).code, run(*self.OUT).code) == (0, 0)

    def test_that_say_something_else_are_kept_all_of_them(self, run: Run, tmp_path: Path) -> None:
        run(*self.OUT)
        (tmp_path / "new/folder/train.py").write_text("mine")
        (tmp_path / "new/folder/job.sbatch").unlink()
        result = run(*self.OUT)
        assert (result.code, result.out) == (2, "")
        assert result.err == "hyperpod: new/folder/train.py: says something else; --force replaces it\n"
        assert (tmp_path / "new/folder/train.py").read_text() == "mine"
        assert not (tmp_path / "new/folder/job.sbatch").exists()

    def test_are_replaced_by_force(self, run: Run, tmp_path: Path) -> None:
        run(*self.OUT)
        (tmp_path / "new/folder/train.py").write_text("mine")
        assert run(*self.OUT, "--force").code == 0
        assert (tmp_path / "new/folder/train.py").read_text() != "mine"


def test_as_json_has_the_documented_keys(run: Run) -> None:
    result = run("job", "--type", "ml.p5.48xlarge", "--recovery", "auto-resume", "--out", "x", "--format", "json")
    assert (result.code, result.err) == (0, "")
    data = result.data
    assert data.pop("sbatch") == Path("x/job.sbatch").read_text()
    assert data == {
        "instance_type": "ml.p5.48xlarge",
        "nodes": 2,
        "accelerators": 8,
        "kind": "gpu",
        "efa": 32,
        "tasks_per_node": 8,
        "partition": None,
        "minutes": 30,
        "recovery": "auto-resume",
        "task_plugin": "task/none",
        "written": ["x/job.sbatch", "x/train.py", "x/heartbeat.py"],
    }
