from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hyperpod_constructs.assets.launch import heartbeat
from hyperpod_constructs.assets.launch.heartbeat import Heartbeat
from tests.launch.conftest import LAUNCH


def beating(folder: Path, **fields: object) -> Heartbeat:
    given: dict[str, object] = {"user": "ada", "rank": 0, "every": 0.0, **fields}
    return Heartbeat("llm-7", str(folder), **given)  # type: ignore[arg-type]  # test data


def test_has_the_documented_metrics_types_and_labels(tmp_path: Path) -> None:
    beat = beating(tmp_path)
    before = time.time()
    beat.beat(step=12, tokens=49_152, checkpoint_time=1_700_000_000.5)
    lines = (tmp_path / "hyperpod_training_llm-7.prom").read_text().splitlines()
    assert [line for line in lines if line.startswith("# TYPE")] == [
        "# TYPE hyperpod_training_step gauge",
        "# TYPE hyperpod_training_tokens_total counter",
        "# TYPE hyperpod_training_checkpoint_timestamp_seconds gauge",
        "# TYPE hyperpod_training_heartbeat_timestamp_seconds gauge",
    ]
    samples = [line for line in lines if not line.startswith("#")]
    assert samples[:3] == [
        'hyperpod_training_step{job="llm-7",user="ada"} 12',
        'hyperpod_training_tokens_total{job="llm-7",user="ada"} 49152',
        'hyperpod_training_checkpoint_timestamp_seconds{job="llm-7",user="ada"} 1700000000.5',
    ]
    assert before <= heartbeat.read(beat.file)[heartbeat.HEARTBEAT] <= time.time()


def test_before_the_first_checkpoint_has_no_time_of_one(tmp_path: Path) -> None:
    beat = beating(tmp_path)
    beat.beat(step=1, tokens=2)
    assert heartbeat.CHECKPOINT not in heartbeat.read(beat.file)


def test_is_whole_whenever_it_is_read(tmp_path: Path) -> None:
    code = """
import sys
from heartbeat import Heartbeat
beat = Heartbeat("llm-7", sys.argv[1], rank=0, every=0.0)
for step in range(10**9):
    beat.beat(step=step, tokens=step * 4096, checkpoint_time=1.0)
"""
    file = tmp_path / "hyperpod_training_llm-7.prom"
    writer = subprocess.Popen([sys.executable, "-c", code, tmp_path], env={**os.environ, "PYTHONPATH": str(LAUNCH)})
    try:
        while not file.exists():
            assert writer.poll() is None
        for _ in range(2_000):
            text = file.read_text()
            found = heartbeat.read(file)
            assert text.endswith("\n")
            assert found.keys() == heartbeat.METRICS.keys()
            assert set(tmp_path.glob("*.prom")) == {file}
    finally:
        writer.kill()
        writer.wait()
    assert found[heartbeat.STEP] > 0


def test_can_be_read_by_another_user(tmp_path: Path) -> None:
    beat = beating(tmp_path)
    beat.beat(step=1, tokens=2)
    assert beat.file.stat().st_mode & 0o777 == 0o644


def test_of_a_killed_job_is_told_by_its_age(tmp_path: Path) -> None:
    beat = beating(tmp_path)
    beat.beat(step=1, tokens=2)
    assert 0 <= heartbeat.age(beat.file) < 60
    beat.file.write_text(re.sub(r"(heartbeat_timestamp_seconds\{.*\}) .*", r"\1 1000.0", beat.file.read_text()))
    assert heartbeat.age(beat.file) > 300


def test_of_a_job_that_has_ended_is_gone(tmp_path: Path) -> None:
    beat = beating(tmp_path)
    beat.beat(step=1, tokens=2)
    beat.finish()
    beat.finish()
    assert list(tmp_path.iterdir()) == []


class TestRank:
    def test_others_than_0_write_and_remove_nothing(self, tmp_path: Path) -> None:
        beating(tmp_path).beat(step=1, tokens=2)
        other = beating(tmp_path, rank=1)
        other.beat(step=99, tokens=2)
        other.finish()
        assert heartbeat.read(other.file)[heartbeat.STEP] == 1

    @pytest.mark.parametrize(
        ("environment", "writes"),
        [
            ({}, True),
            ({"SLURM_PROCID": "3"}, False),
            ({"SLURM_PROCID": "3", "RANK": "0"}, True),
            ({"RANK": "1"}, False),
        ],
    )
    def test_is_that_of_torchrun_or_slurm(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], writes: bool
    ) -> None:
        for name in ("RANK", "SLURM_PROCID"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert beating(tmp_path, rank=None).writes is writes


class TestFolder:
    def test_is_the_shared_one_where_node_exporter_has_none(self, tmp_path: Path) -> None:
        assert beating(tmp_path / "none", fallback=str(tmp_path)).file.parent == tmp_path

    def test_is_node_exporter_s_where_it_can_be_written_to(self, tmp_path: Path) -> None:
        assert beating(tmp_path, fallback="/elsewhere").file.parent == tmp_path

    def test_can_be_set_in_the_environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HYPERPOD_TEXTFILE_DIR", str(tmp_path))
        assert Heartbeat("a", rank=0).file.parent == tmp_path

    def test_that_is_missing_does_not_stop_the_training_and_is_said_once(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        beat = beating(tmp_path / "none")
        beat.beat(step=1, tokens=2)
        beat.beat(step=2, tokens=4)
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "No such file or directory; the training goes on without it" in said


class TestPace:
    def test_is_not_that_of_the_steps(self, tmp_path: Path) -> None:
        beat = beating(tmp_path, every=60.0)
        for step in (1, 2, 3):
            beat.beat(step=step, tokens=step, checkpoint_time=1.0)
        assert heartbeat.read(beat.file)[heartbeat.STEP] == 1

    def test_does_not_hold_up_a_new_checkpoint(self, tmp_path: Path) -> None:
        beat = beating(tmp_path, every=60.0)
        beat.beat(step=1, tokens=1, checkpoint_time=1.0)
        beat.beat(step=2, tokens=2, checkpoint_time=2.0)
        assert heartbeat.read(beat.file)[heartbeat.STEP] == 2


def test_a_job_of_any_name_is_one_file_in_its_folder(tmp_path: Path) -> None:
    file = Heartbeat("../a b/ü", str(tmp_path), rank=0).file
    assert (file.parent, file.name) == (tmp_path, "hyperpod_training_.._a_b__.prom")
