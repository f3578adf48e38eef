"""The runner: which steps a node has, how often they are tried, and how they end."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hyperpod_node import host, runner

INPUTS: dict[str, Any] = {
    "cluster": "Frontier",
    "region": "us-west-2",
    "groups": {"head": {"role": "controller"}, "p5": {"role": "compute"}, "g6": {"role": "compute"}},
    "steps": [],
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A node's folders in a folder of the test; pauses between attempts are written down, not waited for."""
    monkeypatch.setattr(runner, "HOME", tmp_path / "hyperpod")
    monkeypatch.setattr(runner, "LOG", tmp_path / "log" / "steps.log")
    monkeypatch.setattr(runner, "LOCKS", tmp_path / "run")
    (tmp_path / "hyperpod").mkdir()
    return tmp_path / "hyperpod"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    clock = SimpleNamespace(sleep=found.append, monotonic=time.monotonic, strftime=time.strftime, gmtime=time.gmtime)
    monkeypatch.setattr(runner, "time", clock)
    return found


def run(home: Path, script: str | bytes, **given: Any) -> tuple[int, str]:
    """Runs a script as a step; its code and what the node's log has of it."""
    (home / "own.sh").write_bytes(script if isinstance(script, bytes) else script.encode())
    (home / "own.sh").chmod(0o755)  # as the start script leaves it
    step = {"name": "own", "run": "./own.sh", "timeout": 20, **given}
    code = runner._run_step(home, step, {**os.environ, "PYTHONPATH": str(home)})
    return code, runner.LOG.read_text()


def step(name: str, **given: Any) -> dict[str, Any]:
    return {"name": name, "run": name, "roles": ["controller", "compute"], "timeout": 1, **given}


def test_a_node_runs_the_steps_of_its_role_and_group() -> None:
    inputs = {**INPUTS, "steps": [step("all"), step("head", roles=["controller"]), step("g6", groups=["g6"])]}
    assert [each["name"] for each in runner._chosen(inputs, "p5", [])] == ["all"]
    assert [each["name"] for each in runner._chosen(inputs, "g6", [])] == ["all", "g6"]
    assert [each["name"] for each in runner._chosen(inputs, "head", ["head"])] == ["head"]


def test_a_step_that_the_node_does_not_have_is_refused_with_those_that_it_has() -> None:
    inputs = {**INPUTS, "steps": [step("all"), step("head", roles=["controller"])]}
    with pytest.raises(host.Mistake, match="no step 'head' on a compute node; it has all"):
        runner._chosen(inputs, "p5", ["head"])


def test_a_failing_step_is_tried_again_with_pauses_that_double(home: Path, pauses: list[float]) -> None:
    code, log = run(home, "#!/bin/sh\necho broken\nexit 7\n", retries=3, backoff=5)
    assert code == 7
    assert pauses == [5, 10, 20]
    assert log.count("event=start") == 4
    assert 'message="broken"' in log


def test_a_step_that_succeeds_at_last_has_succeeded(home: Path, pauses: list[float]) -> None:
    code, _ = run(home, f"#!/bin/sh\n[ -e {home}/there ] || {{ touch {home}/there; exit 75; }}\n", retries=3)
    assert code == 0
    assert len(pauses) == 1


@pytest.mark.parametrize("final", [host.MISTAKE, host.BAD_INPUTS])
def test_a_mistake_is_not_tried_again(home: Path, pauses: list[float], final: int) -> None:
    code, log = run(home, f"#!/bin/sh\nexit {final}\n", retries=3)
    assert (code, pauses, log.count("event=start")) == (final, [], 1)


def test_a_step_that_hangs_is_killed_with_its_children_in_time(home: Path) -> None:
    began = time.monotonic()
    code, log = run(home, f"#!/bin/sh\necho waiting\nsleep 99 & echo $! > {home}/child\nsleep 99\n", timeout=0.3)
    assert code == host.TIMED_OUT
    assert time.monotonic() - began < 3
    assert "not done within 0 s; its last line was: waiting" in log
    assert _gone(int((home / "child").read_text()))


def test_a_process_that_a_step_leaves_behind_holds_nothing_up(home: Path) -> None:
    began = time.monotonic()
    code, log = run(home, f"#!/bin/sh\nsleep 99 & echo $! > {home}/child\necho done\n")
    assert (code, time.monotonic() - began < 3) == (0, True)
    assert "own| done" in log
    assert _gone(int((home / "child").read_text()))


def test_output_that_is_no_text_is_logged_as_far_as_it_is(home: Path) -> None:
    code, log = run(home, b"#!/bin/sh\nprintf 'bad \\377\\376 bytes\\n'\nexit 3\n")
    assert code == 3
    assert "bad \ufffd\ufffd bytes" in log


def test_a_script_saved_on_windows_is_a_mistake_that_says_so(home: Path) -> None:
    code, log = run(home, "#!/bin/bash\r\necho hi\r\n")
    assert code == host.MISTAKE
    assert "own.sh has line ends of Windows (CR LF): save it with LF" in log


def test_a_script_without_a_first_line_is_a_mistake_that_says_so(home: Path) -> None:
    code, log = run(home, "echo hi\n")
    assert (code, "its first line names no program that is there" in log) == (host.MISTAKE, True)


def test_a_script_that_was_not_published_is_a_mistake_that_says_so(home: Path) -> None:
    gone = {"name": "own", "run": "own/gone.sh", "timeout": 1, "retries": 3}
    assert runner._run_step(home, gone, {**os.environ, "PYTHONPATH": str(home)}) == host.MISTAKE
    assert "own/gone.sh cannot be read: No such file or directory; was it published?" in runner.LOG.read_text()


BAD, GOOD = {"name": "bad", "run": "./bad.sh"}, {"name": "good", "run": "./good.sh"}


@pytest.fixture
def ran(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs the command on a node that has a step that fails, then one that does not."""
    for name, code in (("bad", 9), ("good", 0)):
        (home / f"{name}.sh").write_text(f"#!/bin/sh\nexit {code}\n")
        (home / f"{name}.sh").chmod(0o755)
    (home / "group").write_text("p5\n")
    monkeypatch.setattr(runner, "COMMAND", home / "command")
    monkeypatch.setattr(host, "UNITS", home / "units")
    monkeypatch.setattr(host, "RUN", home / "run")
    monkeypatch.setattr(runner, "_install", lambda _: home)

    def run_command(
        *argv: str, systemctl: Callable[..., str] = lambda *_: "", steps: Sequence[Any] = (BAD, GOOD)
    ) -> int:
        monkeypatch.setattr(host, "run", systemctl)
        given = [{**step(each["name"]), "timeout": 20, "at_boot": True, "every": 60, **each} for each in steps]
        (home / "inputs.json").write_text(json.dumps({**INPUTS, "steps": given}))
        return runner.main([*argv])

    return run_command


def without_systemd(*_: str) -> str:
    raise host.Mistake("this image has no systemctl")


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        pytest.param(["--group", "p5"], 0, id="a new node"),
        pytest.param(["--boot"], 0, id="after a reboot"),
        pytest.param([], 9, id="by hand"),
        pytest.param(["bad", "good"], 9, id="by name"),
        pytest.param(["good"], 0, id="by the name of another one"),
        pytest.param(["--group", "p5", "bad"], 9, id="by name, with a group"),
    ],
)
def test_a_step_that_is_not_required_counts_where_somebody_asks(
    ran: Callable[..., int], argv: list[str], code: int
) -> None:
    assert ran(*argv) == code
    assert ran(*argv, steps=[GOOD, BAD]) == code


@pytest.mark.parametrize("argv", [["--group", "p5"], ["--boot"], []])
def test_a_required_step_counts_always_and_stops_the_others(ran: Callable[..., int], argv: list[str]) -> None:
    assert ran(*argv, steps=[{**BAD, "required": True}, GOOD]) == 9
    assert "step=good" not in runner.LOG.read_text()


@pytest.mark.parametrize(("argv", "code"), [(["--group", "p5"], 0), (["--boot"], 0), ([], host.MISTAKE), (["good"], 0)])
def test_timers_that_cannot_be_set_hold_no_node_up_and_count_where_somebody_asks(
    ran: Callable[..., int], argv: list[str], code: int
) -> None:
    assert ran(*argv, systemctl=without_systemd, steps=[GOOD]) == code
    log = runner.LOG.read_text()
    assert ('event=timers code=78 message="this image has no systemctl"' in log) is (argv in ([], ["--group", "p5"]))
    assert "step=good event=end code=0" in log


def units(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "units").iterdir())


def test_units_of_steps_that_are_gone_go_too(ran: Callable[..., int], home: Path) -> None:
    asked = []

    def systemctl(*argv: str) -> str:
        asked.append(argv)
        return ""

    own = "hyperpod-service-exporter.service"
    ran("--group", "p5")
    (home / "units" / own).touch()
    ran("--group", "p5", systemctl=systemctl, steps=[GOOD])
    assert units(home) == [
        "hyperpod-boot.service",
        own,
        *(f"hyperpod-step-good.{kind}" for kind in ("service", "timer")),
    ]
    stopped = ("systemctl", "disable", "--now", "hyperpod-step-bad.timer")
    assert asked[-2:] == [stopped, ("systemctl", "daemon-reload")]
    assert "event=withdrawn unit=hyperpod-step-bad.timer" in runner.LOG.read_text()
    ran("--group", "p5", steps=[{**GOOD, "every": None, "at_boot": False}])
    assert units(home) == [own]


@pytest.mark.parametrize("argv", [["--boot"], ["--group", "p5", "--boot"], ["good"]])
def test_a_run_of_some_steps_takes_no_timer_of_others_away(
    ran: Callable[..., int], home: Path, argv: list[str]
) -> None:
    ran("--group", "p5")
    before = units(home)
    ran(*argv, steps=[GOOD, {**BAD, "at_boot": False}])
    assert units(home) == before


def test_a_unit_that_cannot_be_stopped_is_withdrawn_by_the_next_run(ran: Callable[..., int], home: Path) -> None:
    def stuck(*argv: str) -> str:
        if "disable" in argv:
            raise host.Failure("the bus is away")
        return ""

    ran("--group", "p5")
    assert ran(systemctl=stuck, steps=[GOOD]) == 1
    assert "hyperpod-step-bad.timer" in units(home)
    assert ran(steps=[GOOD]) == 0
    assert "hyperpod-step-bad.timer" not in units(home)


def test_a_message_stays_on_its_line() -> None:
    assert runner._quoted('say "no"\nagain') == "\"say 'no' again\""


def test_inputs_that_were_cut_off_are_refused(tmp_path: Path) -> None:
    (tmp_path / "inputs.json").write_text(json.dumps(INPUTS)[:-20])
    with pytest.raises(host.Failure, match="the download of the scripts was cut off") as refused:
        host.read_inputs(tmp_path / "inputs.json")
    assert refused.value.code == host.BAD_INPUTS


def test_a_group_that_the_cluster_does_not_have_is_refused_with_those_that_it_has() -> None:
    with pytest.raises(host.Mistake, match="no group 'p6'; the cluster has g6, head, p5"):
        runner._known("p6", INPUTS)


def test_the_region_is_read_from_what_the_service_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "RESOURCES", tmp_path / "resource_config.json")
    assert runner._region() is None
    (tmp_path / "resource_config.json").write_text('{"ClusterArn": "arn:aws:sagemaker:eu-west-1:1:cluster/x"}')
    assert runner._region() == "eu-west-1"


def _gone(pid: int) -> bool:
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


def test_scripts_are_made_executable_before_they_come_into_their_place(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run may put its own copy there between two moments of this one."""
    source = tmp_path / "downloaded"
    (source / "hyperpod_node").mkdir(parents=True)
    (source / "own").mkdir()
    (source / "own" / "motd.sh").write_text("#!/bin/sh\n")
    (source / "own" / "motd.sh").chmod(0o644)
    steps = [step("motd", run="own/motd.sh"), step("gone", run="own/gone.sh"), step("people")]
    (source / "inputs.json").write_text(json.dumps({**INPUTS, "steps": steps}))
    monkeypatch.setattr(runner, "__file__", str(source / "hyperpod_node" / "runner.py"))
    seen: list[int] = []
    rename = Path.rename

    def watched(path: Path, target: Path) -> Path:
        seen.extend(each.stat().st_mode & 0o777 for each in [path / "own" / "motd.sh"] if each.exists())
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", watched)
    assert runner._install("p5") == home
    assert seen == [0o755]
