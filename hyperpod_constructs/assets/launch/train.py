"""A training job to be measured and killed: acceptance test, tokens per second, and the victim of a game day.

Runs on nodes with Python 3.8 or newer. With PyTorch it trains a transformer on random tokens: with NCCL where there are
GPUs, with gloo on CPUs. Without PyTorch a stand-in in pure Python takes its place, which does real work, talks between
its processes and can be killed and resumed in the same way. The output says which one ran: only `torch-nccl` measures
accelerators.

Every checkpoint is whole or not there, and the newest whole one is where the next start goes on. SIGTERM writes one and
ends, SIGUSR1 writes one and goes on.

    python3 train.py --folder /fsx/run --minutes 30
"""  # copied to a shared folder, no package

from __future__ import annotations

import argparse
import hashlib
import importlib
import io
import json
import math
import os
import signal
import socket
import struct
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GOES_ON, DONE, TERMINATED = 0, 1, 2
MISTAKE, BY_SIGTERM = 78, 143
"""Exit codes: what it was given cannot work; it was told to end, and has saved what it had."""
KEPT = 3
"""Checkpoints to keep: one that was cut off must not be the last one."""
PATIENCE = 300
"""Seconds to wait for another process."""


@dataclass(frozen=True)
class Place:
    """Where this process stands among those of the job.

    Attributes:
        rank: Its number; 0 writes files.
        local_rank: Its number on its node.
        world: How many there are.
        nodes: On how many nodes.
        address: Node of rank 0.
        port: TCP port of rank 0.
    """

    rank: int
    local_rank: int
    world: int
    nodes: int
    address: str
    port: int

    @classmethod
    def here(cls) -> Place:
        """As the job file, torchrun or Slurm say."""
        return cls(
            rank=_number("RANK", "SLURM_PROCID", default=0),
            local_rank=_number("LOCAL_RANK", "SLURM_LOCALID", default=0),
            world=_number("WORLD_SIZE", "SLURM_NTASKS", default=1),
            nodes=_number("HYPERPOD_NODES", "SLURM_JOB_NUM_NODES", default=1),
            address=os.environ.get("MASTER_ADDR", "127.0.0.1"),
            port=_number("MASTER_PORT", default=29500),
        )


@dataclass
class Progress:
    """What a checkpoint says besides the model. Times are in seconds.

    Attributes:
        engine: What trains; another one cannot read the model.
        step: Steps done.
        tokens: Tokens in the model, of all processes.
        seconds: Time that went into steps.
        measured_tokens: Tokens of the steps after each warm-up.
        measured_seconds: Time of these steps.
        lost_seconds: Time from a checkpoint to the first step after a restart from it: work done twice, waiting, start.
        restarts: How often it was started again.
        first_start: When it was first started, since 1970.
        saved: When this was written, since 1970.
    """

    engine: str
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    measured_tokens: int = 0
    measured_seconds: float = 0.0
    lost_seconds: float = 0.0
    restarts: int = 0
    first_start: float = 0.0
    saved: float = 0.0


class Checkpoints:
    """Files `step-N.ckpt`: a line of JSON with the progress and a hash of the rest, then the model."""

    def __init__(self, folder: Path) -> None:
        """Looks at nothing yet.

        Args:
            folder: Where they are; it must be the same on every node.
        """
        self.folder = folder

    def save(self, progress: Progress, model: bytes) -> None:
        """Writes one: under another name, onto the disk, then renamed. Removes those that are too old."""
        progress.saved = time.time()
        head = {**asdict(progress), "bytes": len(model), "sha256": hashlib.sha256(model).hexdigest()}
        file = self.folder / f"step-{progress.step:012d}.ckpt"
        waiting = file.with_suffix(".tmp")
        with waiting.open("wb") as opened:
            opened.write(json.dumps(head).encode() + b"\n")
            opened.write(model)
            opened.flush()
            os.fsync(opened.fileno())
        waiting.replace(file)
        folder = os.open(str(self.folder), os.O_RDONLY)
        try:
            os.fsync(folder)  # the name is on the disk too
        finally:
            os.close(folder)
        for old in self._newest_first()[KEPT:]:
            old.unlink()

    def newest(self) -> tuple[Progress, bytes] | None:
        """The newest that is whole; those that are not are named."""
        for file in self._newest_first():
            try:
                return self._read(file)
            except (OSError, ValueError, TypeError, KeyError) as error:  # three files at most
                say(f"{file.name} is not whole ({error}): trying the one before it")
        return None  # none is whole, or there is none: the training begins

    @staticmethod
    def _read(file: Path) -> tuple[Progress, bytes]:
        with file.open("rb") as opened:
            head = json.loads(opened.readline())
            model = opened.read()
        size, digest = head.pop("bytes"), head.pop("sha256")
        if len(model) != size:
            raise ValueError(f"{len(model)} of {size} bytes")
        if hashlib.sha256(model).hexdigest() != digest:
            raise ValueError("its hash is wrong")
        return Progress(**head), model

    def _newest_first(self) -> list[Path]:
        return sorted(self.folder.glob("step-*.ckpt"), reverse=True)


class StandIn:
    """Trains a table of numbers in pure Python. The same steps give the same table, restarted or not."""

    name = "stand-in"
    note = "pure Python, no PyTorch: its tokens per second say NOTHING about this cluster's accelerators"
    width = 64

    def __init__(self, place: Place, options: argparse.Namespace) -> None:
        """Connects the processes."""
        self.place, self.pause = place, options.pause
        self.tokens: int = options.tokens_per_step
        self.table = [0.0] * self.width
        self.peers = Peers(place)

    def step(self, number: int) -> float:
        """One pass over made-up tokens; returns the loss."""
        loss, seed = 0.0, number * 1_000_003 + self.place.rank
        for _ in range(self.tokens):
            seed = (seed * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) % 2**64
            token = seed >> 58
            error = token / self.width - self.table[token]
            self.table[token] += error * 0.01
            loss += error * error
        time.sleep(self.pause)
        return loss / self.tokens

    def largest(self, values: Sequence[int]) -> list[int]:
        """The largest of each value over all processes; also where they wait for each other."""
        return self.peers.largest(values)

    def model(self) -> bytes:
        """The model as a checkpoint holds it."""
        return json.dumps(self.table).encode()

    def load(self, model: bytes) -> None:
        """Takes the model of a checkpoint."""
        self.table = json.loads(model)


class Peers:
    """What the processes of the stand-in say to each other: numbers over TCP, by way of rank 0.

    As with NCCL, the job ends when one of them is gone.
    """

    def __init__(self, place: Place) -> None:
        """Waits until all are there."""
        self.links: list[socket.socket] = []
        if place.rank == 0 and place.world > 1:
            self._listen(place)
        elif place.world > 1:
            self.links = [_connect(place)]
        self.rank = place.rank

    def _listen(self, place: Place) -> None:
        with socket.create_server((place.address, place.port), backlog=place.world) as server:
            server.settimeout(PATIENCE)
            while len(self.links) < place.world - 1:
                link, _ = server.accept()
                link.settimeout(PATIENCE)
                self.links.append(link)

    def largest(self, values: Sequence[int]) -> list[int]:
        """The largest of each value over all processes."""
        form = struct.Struct(f"!{len(values)}q")
        if self.rank == 0:
            heard = [form.unpack(_receive(link, form.size)) for link in self.links]
            found = [max(column) for column in zip(values, *heard)]  # `strict` came with Python 3.10
        else:
            self.links[0].sendall(form.pack(*values))
            return list(form.unpack(_receive(self.links[0], form.size)))
        for link in self.links:
            link.sendall(form.pack(*found))
        return found


class Torch:
    """Trains a transformer on random tokens with PyTorch, data-parallel over all processes."""

    def __init__(self, torch: Any, place: Place, options: argparse.Namespace) -> None:  # noqa: ANN401  # PyTorch, if it is there
        """Builds the model and connects the processes.

        Args:
            torch: The module.
            place: Where this process stands.
            options: Sizes of the model.
        """
        self.torch, self.place, self.options = torch, place, options
        on_gpu = torch.cuda.is_available()
        self.name = "torch-nccl" if on_gpu else "torch-gloo"
        self.note = (
            f"PyTorch {torch.__version__} on {torch.cuda.get_device_name(place.local_rank)}"
            if on_gpu
            else "PyTorch without a GPU: its tokens per second say NOTHING about this cluster's accelerators"
        )
        self.tokens = options.batch * options.sequence
        self.device = torch.device("cuda", place.local_rank) if on_gpu else torch.device("cpu")
        self.on_gpu = on_gpu
        if on_gpu:
            torch.cuda.set_device(self.device)
        if place.world > 1:
            where = f"tcp://{place.address}:{place.port}"
            backend = "nccl" if on_gpu else "gloo"
            torch.distributed.init_process_group(backend, init_method=where, rank=place.rank, world_size=place.world)
        torch.manual_seed(0)
        self.bare = self._transformer().to(self.device)
        parallel = torch.nn.parallel.DistributedDataParallel
        on = [place.local_rank] if on_gpu else None
        self.whole = parallel(self.bare, device_ids=on) if place.world > 1 else self.bare
        self.optimizer = torch.optim.AdamW(self.bare.parameters(), lr=1e-4)
        self.mask = torch.nn.Transformer.generate_square_subsequent_mask(options.sequence).to(self.device)

    def _transformer(self) -> Any:  # noqa: ANN401  # a module of PyTorch
        nn, options = self.torch.nn, self.options

        class Transformer(nn.Module):  # type: ignore[name-defined,misc]  # PyTorch is not there when types are checked
            def __init__(self) -> None:
                super().__init__()
                self.words = nn.Embedding(options.vocabulary, options.width)
                layer = nn.TransformerEncoderLayer(
                    options.width, options.width // 64 or 1, 4 * options.width, batch_first=True, norm_first=True
                )
                self.layers = nn.TransformerEncoder(layer, options.layers, enable_nested_tensor=False)
                self.out = nn.Linear(options.width, options.vocabulary)

            def forward(self, tokens: Any, mask: Any) -> Any:  # noqa: ANN401  # tensors
                return self.out(self.layers(self.words(tokens), mask=mask, is_causal=True))

        return Transformer()

    def step(self, number: int) -> float:
        """One batch of random tokens; returns the loss, for which it waits until the GPU is done."""
        torch, options = self.torch, self.options
        torch.manual_seed(number * 1_000_003 + self.place.rank)
        tokens = torch.randint(options.vocabulary, (options.batch, options.sequence + 1), device=self.device)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.on_gpu):
            guess = self.whole(tokens[:, :-1], self.mask)
            loss = torch.nn.functional.cross_entropy(guess.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        time.sleep(options.pause)
        return float(loss.item())

    def largest(self, values: Sequence[int]) -> list[int]:
        """The largest of each value over all processes."""
        if self.place.world == 1:
            return list(values)
        said = self.torch.tensor(list(values), dtype=self.torch.int64, device=self.device)
        self.torch.distributed.all_reduce(said, op=self.torch.distributed.ReduceOp.MAX)
        return [int(each) for each in said.tolist()]

    def model(self) -> bytes:
        """The model as a checkpoint holds it."""
        written = io.BytesIO()
        self.torch.save({"model": self.bare.state_dict(), "optimizer": self.optimizer.state_dict()}, written)
        return written.getvalue()

    def load(self, model: bytes) -> None:
        """Takes the model of a checkpoint."""
        read = self.torch.load(io.BytesIO(model), map_location=self.device, weights_only=True)
        self.bare.load_state_dict(read["model"])
        self.optimizer.load_state_dict(read["optimizer"])


class Signals:
    """What the job was told meanwhile."""

    def __init__(self) -> None:
        """Listens from now on."""
        self.end = self.save = False
        signal.signal(signal.SIGTERM, lambda *_: setattr(self, "end", True))
        signal.signal(signal.SIGUSR1, lambda *_: setattr(self, "save", True))


class Run:
    """One start of the job, from its newest checkpoint to its end."""

    def __init__(self, options: argparse.Namespace, place: Place, engine: Any) -> None:  # noqa: ANN401  # StandIn or Torch
        """Reads the newest checkpoint; rank 0 writes the first one where there is none."""
        self.options, self.place, self.engine, self.signals = options, place, engine, Signals()
        self.checkpoints = Checkpoints(options.folder)
        self.began = time.monotonic()
        found = self.checkpoints.newest()
        self.progress = found[0] if found else Progress(engine=engine.name, first_start=time.time())
        if self.progress.engine != engine.name:
            raise SystemExit(_mistake(f"checkpoints of {self.progress.engine} cannot be resumed by {engine.name}"))
        if found:
            engine.load(found[1])
        if self.engine.largest([self.progress.step, -self.progress.step]) != [self.progress.step, -self.progress.step]:
            raise SystemExit(_mistake(f"{options.folder} does not show every process the same checkpoints"))
        self.resumed = found is not None
        if not found and place.rank == 0:
            self.checkpoints.save(self.progress, engine.model())  # from it on, every restart knows what it has lost
        beats: Any = importlib.import_module("heartbeat")  # beside this file, which is in no package
        self.heartbeat = beats.Heartbeat(
            _job(),
            options.textfile_dir,
            fallback=str(options.folder),
            rank=place.rank,
            every=options.heartbeat_seconds,
        )

    def train(self) -> int:
        """Trains until all is done or it is told to end; returns the exit code."""
        if self._ends() == DONE:
            self._tell("nothing left to do: the checkpoints are those of a run that has finished")
            return 0
        if self.resumed:
            self._count_what_was_lost()
        ends, last_saved, first = GOES_ON, time.monotonic(), self.progress.step
        while ends == GOES_ON:
            loss = self._step(warm=self.progress.step - first >= self.options.warm_up)
            due = self._is_due(last_saved)
            ends, save = self.engine.largest([self._ends(), int(due or self.signals.save)])
            self.signals.save = False
            if save or ends:
                self._save(loss)
                last_saved = time.monotonic()
            saved = self.progress.saved or None
            self.heartbeat.beat(step=self.progress.step, tokens=self.progress.tokens, checkpoint_time=saved)
        if ends == TERMINATED:
            self._tell(f"told to end: saved at step {self.progress.step}")
            return BY_SIGTERM
        self.heartbeat.finish()
        return 0

    def _step(self, *, warm: bool) -> float:
        began, progress = time.monotonic(), self.progress
        loss: float = self.engine.step(progress.step)
        took, tokens = time.monotonic() - began, self.engine.tokens * self.place.world
        progress.step += 1
        progress.tokens += tokens
        progress.seconds += took
        if warm:
            progress.measured_tokens += tokens
            progress.measured_seconds += took
        return loss

    def _count_what_was_lost(self) -> None:
        progress = self.progress
        lost = max(0.0, time.time() - progress.saved)
        progress.lost_seconds += lost
        progress.restarts = max(progress.restarts + 1, _number("SLURM_RESTART_COUNT", default=0))
        self._tell(f"resumed from step {progress.step}, {lost:.1f} s after that checkpoint was written")

    def _is_due(self, last_saved: float) -> bool:
        if self.options.checkpoint_steps:
            return self.progress.step % int(self.options.checkpoint_steps) == 0
        return time.monotonic() - last_saved >= float(self.options.checkpoint_seconds)

    def _ends(self) -> int:
        if self.options.steps:
            done = self.progress.step >= self.options.steps
        else:
            done = self.progress.seconds >= self.options.minutes * 60
        return TERMINATED if self.signals.end else DONE if done else GOES_ON

    def _save(self, loss: float) -> None:
        if self.place.rank == 0:
            began = time.monotonic()
            self.checkpoints.save(self.progress, self.engine.model())
            took = time.monotonic() - began
            say(f"step {self.progress.step} tokens {self.progress.tokens} loss {loss:.4g} saved in {took:.2f} s")

    def _tell(self, text: str) -> None:
        if self.place.rank == 0:
            say(text)


def result(progress: Progress, place: Place, note: str) -> dict[str, object]:
    """What was measured. Tokens per second are those of steps after the warm-up, without checkpoints."""
    wall = max(progress.saved - progress.first_start, 1e-9)
    speed = progress.measured_tokens / progress.measured_seconds if progress.measured_seconds else None
    return {
        "engine": progress.engine,
        "note": note,
        "measures_accelerators": progress.engine == "torch-nccl",
        "nodes": place.nodes,
        "processes": place.world,
        "steps": progress.step,
        "tokens": progress.tokens,
        "tokens_per_second": speed,
        "tokens_per_second_per_node": None if speed is None else speed / place.nodes,
        "tokens_per_second_with_restarts": progress.tokens / wall,
        "seconds": wall,
        "restarts": progress.restarts,
        "lost_seconds": progress.lost_seconds,
    }


def report(found: dict[str, Any]) -> Iterator[str]:
    """The result for a person, then as one line of JSON."""
    speed, each = found["tokens_per_second"], found["tokens_per_second_per_node"]
    yield f"finished: {found['steps']} steps, {found['tokens']:,} tokens, {found['seconds']:.0f} s with all restarts"
    yield f"engine: {found['engine']} ({found['note']})"
    if speed is None:
        yield "tokens per second: not measured, it ended within the warm-up"
    else:
        of = "" if found["measures_accelerators"] else f" of the {found['engine']}, not of accelerators"
        nodes = f"{each:,.0f} per node on {found['nodes']}"
        yield f"tokens per second after warm-up{of}: {speed:,.0f}, {nodes}"
    yield f"restarts: {found['restarts']}, time lost with them: {found['lost_seconds']:.1f} s"
    yield f"tokens per second with restarts and checkpoints: {found['tokens_per_second_with_restarts']:,.0f}"
    yield f"result {json.dumps(found)}"


def say(text: str) -> None:
    """One line of output, at once: the process may be killed in the next moment."""
    sys.stdout.write(f"train: {text}\n")
    sys.stdout.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the job and returns its exit code."""
    options, place = _options(arguments), Place.here()
    options.folder.mkdir(parents=True, exist_ok=True)
    engine = _engine(options, place)
    if place.rank == 0:
        say(f"engine: {engine.name} ({engine.note}); {place.world} processes on {place.nodes} nodes")
    run = Run(options, place, engine)
    try:
        code = run.train()
    except (ConnectionError, socket.timeout) as error:  # a class of its own until Python 3.10
        sys.stderr.write(f"train: rank {place.rank}: {error}\n")
        return 1
    if code == 0 and place.rank == 0:
        found = result(run.progress, place, engine.note)
        for line in report(found):
            say(line)
        (options.folder / "result.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return code


def _engine(options: argparse.Namespace, place: Place) -> StandIn | Torch:
    """PyTorch where it can be imported; `--engine` insists on one."""
    if options.engine != "stand-in":
        try:
            return Torch(importlib.import_module("torch"), place, options)
        except ImportError as error:
            if options.engine == "torch":
                raise SystemExit(_mistake(f"PyTorch cannot be imported: {error}")) from None
    return StandIn(place, options)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--folder", type=Path, required=True, help="checkpoints and result; the same on every node")
    add("--minutes", type=_positive, default=30.0, help="minutes of training, over all restarts (default: 30)")
    add("--steps", type=int, default=0, help="steps instead of minutes")
    add("--checkpoint-seconds", type=_positive, default=120.0, help="time between checkpoints (default: 120)")
    add("--checkpoint-steps", type=int, default=0, help="steps between checkpoints instead of seconds")
    add("--warm-up", type=int, default=10, help="steps of each start that are not measured (default: 10)")
    add("--engine", choices=["auto", "torch", "stand-in"], default="auto", help="what trains (default: auto)")
    add("--textfile-dir", default=None, help="folder of the heartbeat (default: node_exporter's, else --folder)")
    add("--heartbeat-seconds", type=float, default=5.0, help="time between heartbeats at least (default: 5)")
    add("--pause", type=float, default=0.0, help="seconds to sleep in each step, for tests")
    add("--tokens-per-step", type=int, default=4096, help="tokens of one process and step of the stand-in")
    for name, default in {"batch": 8, "sequence": 1024, "width": 768, "layers": 12, "vocabulary": 32_000}.items():
        add(f"--{name}", type=int, default=default, help=f"of the transformer (default: {default})")
    return parser.parse_args(arguments)


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not more than 0")
    return value


def _job() -> str:
    """Name of the job for its heartbeat; a requeued job keeps it."""
    return "-".join([os.environ.get("SLURM_JOB_NAME", "train"), os.environ.get("SLURM_JOB_ID", str(os.getpid()))])


def _number(*names: str, default: int) -> int:
    """The first of these environment variables that is set."""
    return next((int(os.environ[name]) for name in names if os.environ.get(name)), default)


def _mistake(text: str) -> int:
    sys.stderr.write(f"train: {text}\n")
    return MISTAKE


def _connect(place: Place) -> socket.socket:
    """The connection to rank 0, which may start later than this process."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            link = socket.create_connection((place.address, place.port), timeout=PATIENCE)
        except OSError:  # it waits anyway
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
        else:
            return link


def _receive(link: socket.socket, size: int) -> bytes:
    """So many bytes from another process."""
    heard = b""
    while len(heard) < size:
        piece = link.recv(size - len(heard))
        if not piece:
            raise ConnectionError("another process of the job is gone")
        heard += piece
    return heard


if __name__ == "__main__":
    sys.exit(main())
