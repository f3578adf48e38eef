"""Tells Prometheus how far a training job has come: one small file for node_exporter's textfile collector.

For your own training code too: copy this file beside it. Python 3.8 or newer, standard library only.

    heartbeat = Heartbeat("pretrain-7b-412", fallback="/fsx/pretrain-7b")
    heartbeat.beat(step=step, tokens=tokens, checkpoint_time=saved_at)   # as often as you like
    heartbeat.finish()                                                  # the job has ended well

A job that is killed leaves its file behind: its heartbeat timestamp then grows old, which is how it is told from a job
that runs. Source of the format: github.com/prometheus/node_exporter, textfile collector.
"""  # copied beside a training program, no package

from __future__ import annotations

import getpass
import os
import re
import sys
import tempfile
import time
from pathlib import Path

TEXTFILE_DIR = "/var/lib/node_exporter/textfile"
"""Where node_exporter looks, if it was started with `--collector.textfile.directory` of this folder."""

STEP = "hyperpod_training_step"
TOKENS = "hyperpod_training_tokens_total"
CHECKPOINT = "hyperpod_training_checkpoint_timestamp_seconds"
HEARTBEAT = "hyperpod_training_heartbeat_timestamp_seconds"
METRICS = {
    STEP: ("gauge", "Last step that the job has finished."),
    TOKENS: ("counter", "Tokens in the model; after a restart those of its checkpoint."),
    CHECKPOINT: ("gauge", "When the newest complete checkpoint was written, in seconds since 1970."),
    HEARTBEAT: ("gauge", "When the job last said that it is alive, in seconds since 1970."),
}
"""Type and help of each metric. Files of other jobs on the node must have the same words, or node_exporter refuses."""


class Heartbeat:
    """The file of one job. Only rank 0 writes; a file that cannot be written never stops the training."""

    def __init__(
        self,
        job: str,
        textfile_dir: str | None = None,
        *,
        fallback: str | None = None,
        user: str | None = None,
        rank: int | None = None,
        every: float = 5.0,
    ) -> None:
        """Chooses the folder and writes nothing yet.

        Args:
            job: Label `job`: a name that stays the same when the job is started again.
            textfile_dir: Folder of the file. Defaults to HYPERPOD_TEXTFILE_DIR, else to `TEXTFILE_DIR`.
            fallback: Folder to use where that one is missing or not writable, such as that of the checkpoints. Nothing
                but people and scripts read it there.
            user: Label `user`. Defaults to who runs the job.
            rank: Rank of this process. Defaults to RANK, else SLURM_PROCID, else 0.
            every: Seconds between two writes at least; a new checkpoint is written at once.
        """
        self.job, self.user = job, user or _user()
        self.writes = (_rank() if rank is None else rank) == 0
        self.file = _folder(textfile_dir, fallback) / f"hyperpod_training_{_file_name(job)}.prom"
        self._every, self._next, self._warned = every, 0.0, False
        self._checkpoint: float | None = None

    def beat(self, *, step: int, tokens: int, checkpoint_time: float | None = None) -> None:
        """Says that the job is alive.

        Args:
            step: Last step that was finished.
            tokens: Tokens in the model after that step.
            checkpoint_time: When the newest complete checkpoint was written, in seconds since 1970; `None` before the
                first one.
        """
        if not self.writes or (time.monotonic() < self._next and checkpoint_time == self._checkpoint):
            return
        self._next, self._checkpoint = time.monotonic() + self._every, checkpoint_time
        values = {STEP: step, TOKENS: tokens, CHECKPOINT: checkpoint_time, HEARTBEAT: time.time()}
        labels = f'{{job="{_escaped(self.job)}",user="{_escaped(self.user)}"}}'
        lines = [
            f"# HELP {name} {METRICS[name][1]}\n# TYPE {name} {METRICS[name][0]}\n{name}{labels} {value}\n"
            for name, value in values.items()
            if value is not None
        ]
        try:
            _replace(self.file, "".join(lines))
        except OSError as error:
            self._warn(error)

    def finish(self) -> None:
        """Removes the file: the job has ended and nobody need miss its heartbeat."""
        if not self.writes:
            return
        try:
            self.file.unlink()
        except FileNotFoundError:
            pass
        except OSError as error:
            self._warn(error)

    def _warn(self, error: OSError) -> None:
        """Says it once: a full disk would otherwise fill the log too."""
        if not self._warned:
            sys.stderr.write(f"heartbeat: {self.file}: {error.strerror or error}; the training goes on without it\n")
        self._warned = True


def read(file: str | os.PathLike[str]) -> dict[str, float]:
    """The values of a heartbeat file by metric name."""
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    samples = [re.fullmatch(r"(\w+)\{.*\} (\S+)", line) for line in lines if not line.startswith("#")]
    return {sample[1]: float(sample[2]) for sample in samples if sample}


def age(file: str | os.PathLike[str]) -> float:
    """Seconds since the job last said that it is alive. Jobs beat every few seconds: minutes mean that it does not."""
    return time.time() - read(file)[HEARTBEAT]


def _replace(file: Path, text: str) -> None:
    """Writes the whole file at once: node_exporter may read at any moment, and reads names in `.prom` only."""
    handle, name = tempfile.mkstemp(dir=str(file.parent), prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            opened.write(text)
        Path(name).chmod(0o644)  # node_exporter is another user
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink()
        raise


def _folder(asked: str | None, fallback: str | None) -> Path:
    wanted = Path(asked or os.environ.get("HYPERPOD_TEXTFILE_DIR") or TEXTFILE_DIR)
    usable = wanted.is_dir() and os.access(str(wanted), os.W_OK | os.X_OK)
    return wanted if usable or fallback is None else Path(fallback)


def _file_name(job: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", job)


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _rank() -> int:
    return int(os.environ.get("RANK") or os.environ.get("SLURM_PROCID") or 0)


def _user() -> str:
    try:
        return os.environ.get("SLURM_JOB_USER") or getpass.getuser()
    except (KeyError, OSError):  # a container that does not know the user's number
        return str(os.getuid())
