from __future__ import annotations

import ast
import json
import signal
import socket
import time
from pathlib import Path

import pytest

from hyperpod_constructs.assets.launch import heartbeat
from tests.launch.conftest import LAUNCH, Trainer

SLOWLY = ("--steps=100000", "--pause=0.01", "--tokens-per-step=64")
FAST = "--tokens-per-step=64"


def model(file: Path) -> bytes:
    """The model of a checkpoint without what is said of it."""
    return file.read_bytes().partition(b"\n")[2]


def newest(trainer: Trainer) -> Path:
    return trainer.folder / trainer.checkpoints[-1]


class TestTheStandIn:
    def test_is_named_as_such_wherever_a_number_of_it_is_shown(self, trainer: Trainer) -> None:
        code, said = trainer.run("--steps=30", FAST)
        assert code == 0
        lines = said.splitlines()
        assert lines[0].startswith(
            "train: engine: stand-in (pure Python, no PyTorch: its tokens per second say NOTHING"
        )
        (speed,) = [line for line in lines if "after warm-up" in line]
        assert "after warm-up of the stand-in, not of accelerators: " in speed
        result = json.loads((trainer.folder / "result.json").read_text())
        assert (result["engine"], result["measures_accelerators"]) == ("stand-in", False)

    def test_counts_tokens_of_all_processes_and_leaves_out_the_warm_up(self, trainer: Trainer) -> None:
        trainer.run("--steps=30", FAST, "--warm-up=10", "--pause=0.01")
        result = json.loads((trainer.folder / "result.json").read_text())
        assert (result["steps"], result["tokens"], result["restarts"]) == (30, 30 * 64, 0)
        assert 0 < result["tokens_per_second"] < 64 / 0.01
        assert result["tokens_per_second_per_node"] == result["tokens_per_second"]

    def test_that_ends_within_the_warm_up_has_measured_nothing(self, trainer: Trainer) -> None:
        _, said = trainer.run("--steps=5", FAST)
        assert "tokens per second: not measured, it ended within the warm-up" in said
        assert json.loads((trainer.folder / "result.json").read_text())["tokens_per_second"] is None

    def test_takes_minutes_instead_of_steps(self, trainer: Trainer) -> None:
        code, said = trainer.run("--minutes=0.005", FAST)
        assert code == 0
        assert "train: finished: " in said

    def test_is_not_run_where_pytorch_is_insisted_on(self, trainer: Trainer) -> None:
        code, said = trainer.run("--engine=torch")
        assert (code, said) == (78, "train: PyTorch cannot be imported: there is no PyTorch here\n")


class TestAKilledRun:
    def test_goes_on_from_its_last_checkpoint(self, trainer: Trainer) -> None:
        first = trainer.start(*SLOWLY)
        trainer.until(first, "step 30 ")
        first.kill()
        first.communicate()
        saved = int(newest(trainer).stem.removeprefix("step-"))
        code, said = trainer.run(f"--steps={saved + 20}", FAST)
        assert code == 0
        assert f"train: resumed from step {saved}, " in said
        assert 30 <= saved <= 40
        result = json.loads((trainer.folder / "result.json").read_text())
        assert (result["restarts"], result["steps"], result["tokens"]) == (1, saved + 20, 64 * (saved + 20))
        assert 0 < result["lost_seconds"] < result["seconds"]

    def test_loses_less_than_one_interval(self, trainer: Trainer) -> None:
        """The heartbeat of each step says in which it was killed."""
        first = trainer.start(*SLOWLY, "--heartbeat-seconds=0")
        trainer.until(first, "step 30 ")
        time.sleep(0.05)
        first.kill()
        first.communicate()
        reached = heartbeat.read(trainer.folder / "hyperpod_training_train-7.prom")[heartbeat.STEP]
        saved = int(newest(trainer).stem.removeprefix("step-"))
        assert saved >= 30
        assert -1 <= reached - saved < 10  # the checkpoint of a step comes before its heartbeat
        assert f"resumed from step {saved}, " in trainer.run(f"--steps={saved + 1}", FAST)[1]

    def test_ends_with_the_model_of_one_that_was_not_killed(self, trainer: Trainer, tmp_path: Path) -> None:
        (tmp_path / "whole").mkdir()
        whole = Trainer(tmp_path / "whole")
        whole.run("--steps=60", FAST)
        first = trainer.start(*SLOWLY)
        trainer.until(first, "step 20 ")
        first.kill()
        first.communicate()
        trainer.run("--steps=60", FAST)
        assert model(newest(trainer)) == model(newest(whole))

    def test_killed_before_its_first_interval_still_knows_what_it_lost(self, trainer: Trainer) -> None:
        first = trainer.start(*SLOWLY, "--pause=1")
        trainer.until(first, "engine: ")
        trainer.until_saved()
        first.kill()
        first.communicate()
        code, said = trainer.run("--steps=20", FAST)
        assert code == 0
        assert "resumed from step 0, " in said


class TestABrokenCheckpoint:
    @pytest.mark.parametrize("left", [0, 10, 400, -1])
    def test_that_was_cut_off_is_passed_over(self, trainer: Trainer, left: int) -> None:
        trainer.run("--steps=30", FAST)
        (trainer.folder / "result.json").unlink()
        cut = newest(trainer)
        cut.write_bytes(cut.read_bytes()[:left])
        code, said = trainer.run("--steps=40", FAST)
        assert code == 0
        assert f"train: {cut.name} is not whole (" in said
        assert "train: resumed from step 20, " in said

    def test_with_a_wrong_byte_is_passed_over(self, trainer: Trainer) -> None:
        trainer.run("--steps=30", FAST)
        wrong = newest(trainer)
        wrong.write_bytes(wrong.read_bytes()[:-3] + b"9" + wrong.read_bytes()[-2:])
        _, said = trainer.run("--steps=40", FAST)
        assert "is not whole (its hash is wrong)" in said
        assert "resumed from step 20, " in said

    def test_next_to_no_whole_one_means_a_start_from_the_beginning(self, trainer: Trainer) -> None:
        trainer.run("--steps=30", FAST)
        for file in trainer.checkpoints:
            (trainer.folder / file).write_bytes(b"")
        code, said = trainer.run("--steps=20", FAST)
        assert (code, said.count("is not whole"), "resumed" in said) == (0, 3, False)

    def test_that_was_never_renamed_is_no_checkpoint(self, trainer: Trainer) -> None:
        trainer.run("--steps=30", FAST)
        newest(trainer).rename(trainer.folder / "step-000000000030.tmp")
        _, said = trainer.run("--steps=40", FAST)
        assert "resumed from step 20, " in said
        assert "not whole" not in said

    def test_of_another_engine_is_refused(self, trainer: Trainer) -> None:
        trainer.run("--steps=30", FAST)
        for name in trainer.checkpoints:
            file = trainer.folder / name
            file.write_bytes(file.read_bytes().replace(b'"engine": "stand-in"', b'"engine": "torch-nccl"'))
        code, said = trainer.run("--steps=40", FAST)
        assert code == 78
        assert "checkpoints of torch-nccl cannot be resumed by stand-in" in said


class TestSignals:
    def test_sigterm_saves_and_ends(self, trainer: Trainer) -> None:
        process = trainer.start(*SLOWLY, "--checkpoint-steps=100000")
        trainer.until(process, "engine: ")
        trainer.until_saved()
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 143
        assert "train: told to end: saved at step " in out
        assert len(trainer.checkpoints) == 2
        assert "resumed from step " in trainer.run("--minutes=0.001", FAST)[1]

    def test_sigusr1_saves_and_goes_on(self, trainer: Trainer) -> None:
        process = trainer.start(*SLOWLY, "--checkpoint-steps=100000")
        trainer.until(process, "engine: ")
        trainer.until_saved()
        process.send_signal(signal.SIGUSR1)
        trainer.until(process, " saved in ")
        assert process.poll() is None


class TestTheEnd:
    def test_is_reached_once(self, trainer: Trainer) -> None:
        trainer.run("--steps=30", FAST)
        code, said = trainer.run("--steps=30", FAST)
        assert code == 0
        assert "nothing left to do" in said
        assert trainer.checkpoints[-1] == "step-000000000030.ckpt"

    def test_can_be_moved_on(self, trainer: Trainer) -> None:
        trainer.run("--steps=30", FAST)
        assert "resumed from step 30, " in trainer.run("--steps=40", FAST)[1]

    def test_leaves_three_checkpoints_and_no_heartbeat(self, trainer: Trainer) -> None:
        trainer.run("--steps=50", FAST)
        assert trainer.checkpoints == [f"step-{step:012d}.ckpt" for step in (30, 40, 50)]
        assert list(trainer.folder.glob("*.prom")) == []


class TestTwoProcesses:
    @pytest.fixture
    def port(self) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return str(free.getsockname()[1])

    def test_count_together_and_one_of_them_writes(self, trainer: Trainer, port: str) -> None:
        place = {"WORLD_SIZE": "2", "MASTER_PORT": port, "SLURM_JOB_NUM_NODES": "2"}
        other = trainer.start("--steps=20", FAST, RANK="1", **place)
        code, said = trainer.run("--steps=20", FAST, RANK="0", **place)
        assert code == 0
        assert "2 processes on 2 nodes" in said
        out, _ = other.communicate(timeout=60)
        assert (other.returncode, out) == (0, "")
        result = json.loads((trainer.folder / "result.json").read_text())
        assert (result["tokens"], result["processes"], result["nodes"]) == (20 * 64 * 2, 2, 2)
        assert result["tokens_per_second_per_node"] == result["tokens_per_second"] / 2

    @pytest.mark.parametrize("killed", [0, 1])
    def test_end_when_one_is_gone(self, trainer: Trainer, port: str, killed: int) -> None:
        place = {"WORLD_SIZE": "2", "MASTER_PORT": port}
        both = [trainer.start(*SLOWLY, RANK=str(rank), **place) for rank in (0, 1)]
        trainer.until(both[0], "step 10 ")
        both[killed].kill()
        _, said = both[1 - killed].communicate(timeout=60)
        assert both[1 - killed].returncode == 1
        assert said.startswith(f"train: rank {1 - killed}: ")
        assert said.count("\n") == 1


@pytest.mark.parametrize("file", ["train.py", "heartbeat.py"])
def test_is_python_of_the_oldest_image(file: str) -> None:
    ast.parse((LAUNCH / file).read_text(), feature_version=(3, 8))
