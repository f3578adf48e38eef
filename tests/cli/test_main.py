from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.version import VERSION
from tests.cli.conftest import BAD_LUSTRE, CLUSTER, Run

ROOT = Path(__file__).parents[2]

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(12)
)


def command(
    *arguments: str, cwd: Path, code: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own."""
    start = ["-c", code] if code else ["-m", "hyperpod_constructs.cli"]
    return subprocess.run(  # our own command
        [sys.executable, *start, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def onto_standard_output(descriptor: str) -> str:
    """Code that runs the command with an expression for what it writes to."""
    return f"""
import os, sys
from hyperpod_constructs.cli import main
os.dup2({descriptor}, 1)
sys.exit(main(sys.argv[1:]))
"""


class TestBadInput:
    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("empty.yaml", b""),
            ("blank.json", b"  \n"),
            ("binary.yaml", bytes(range(256))),
            ("utf16.yaml", "Resources: {}".encode("utf-16")),
            ("huge.yaml", b"# " + b"x" * 10_000_000),
            ("huge.json", b'{"Resources": {"A": "' + b"x" * 10_000_000 + b'"}}'),
            ("bomb.yaml", BOMB.encode()),
            ("deep.json", b"[" * 100_000),
            ("deep.yaml", b"Resources: " + b"[" * 5_000),
            ("list.yaml", b"- a\n- b\n"),
            ("text.yaml", b"just words"),
            ("other.json", b'{"name": "package", "version": "1"}'),
            ("resources.json", b'{"Resources": []}'),
            ("broken.json", b'{"Resources": {'),
            ("broken.yaml", b"Resources: {A: [}\n"),
        ],
    )
    @pytest.mark.parametrize("verb", ["check", "cost", "summary"])
    def test_is_one_line_and_exit_2(self, run: Run, tmp_path: Path, verb: str, name: str, content: bytes) -> None:
        (tmp_path / name).write_bytes(content)
        result = run(verb, name)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"hyperpod: {name}: ")
        assert result.err.count("\n") == 1
        assert len(result.err) < 400

    def test_a_path_that_does_not_exist_is_named(self, run: Run) -> None:
        result = run("check", "none.yaml")
        assert (result.code, result.err) == (2, "hyperpod: none.yaml: there is no such file\n")

    def test_an_empty_path_is_not_the_working_directory(self, run: Run) -> None:
        result = run("check", "", train_yaml=CLUSTER)
        assert (result.code, result.err) == (2, "hyperpod: the path is empty: name a file or a folder\n")

    def test_a_file_of_our_own_that_cannot_be_opened_is_named(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(_: object) -> None:
            raise PermissionError(errno.EACCES, "Permission denied", "prices.json")

        monkeypatch.setattr(rules, "check", refuse)
        result = run("check", "train.yaml", train_yaml=CLUSTER)
        assert (result.code, result.err) == (2, "hyperpod: prices.json: Permission denied\n")

    def test_a_folder_without_templates_is_named(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        result = run("check", "folder")
        assert result.code == 2
        assert result.err.startswith("hyperpod: folder: has no CloudFormation template")

    def test_half_of_a_cdk_out_is_not_taken_for_a_whole_one(self, run: Run, tmp_path: Path) -> None:
        stack = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "gone.json"}}
        (tmp_path / "cdk.out").mkdir()
        (tmp_path / "cdk.out" / "manifest.json").write_text(json.dumps({"artifacts": {"A": stack}}))
        result = run("check", "cdk.out")
        assert result.code == 2
        assert "gone.json: there is no such file" in result.err


class TestUsage:
    def test_without_a_command_shows_the_help_and_fails(self, run: Run) -> None:
        result = run()
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("usage: hyperpod")

    def test_help_says_that_aws_s_client_is_hyp(self, run: Run) -> None:
        result = run("--help")
        assert result.code == 0
        assert "This is not AWS's own HyperPod client, which is called `hyp`" in " ".join(result.out.split())

    def test_version_names_the_distribution(self, run: Run) -> None:
        result = run("--version")
        assert (result.code, result.out) == (0, f"hyperpod {VERSION} (hyperpod-constructs)\n")

    @pytest.mark.parametrize("arguments", [("check",), ("chekc", "x"), ("check", "x", "--format", "xml")])
    def test_what_is_not_understood_is_exit_2(self, run: Run, arguments: tuple[str, ...]) -> None:
        assert run(*arguments).code == 2

    def test_a_text_that_is_no_region_is_refused(self, run: Run) -> None:
        result = run("check", "train.yaml", "--region", "usw2-az2", train_yaml=CLUSTER)
        assert result.code == 2
        assert "'usw2-az2' is not a Region; use one such as us-west-2" in result.err


class TestADefectOfOurs:
    @pytest.fixture
    def _defect(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(_: object) -> None:
            raise KeyError("lost")

        monkeypatch.setattr(rules, "check", fail)

    @pytest.mark.usefixtures("_defect")
    def test_is_one_line_that_says_how_to_report_it(self, run: Run) -> None:
        result = run("check", "train.yaml", train_yaml=CLUSTER)
        assert (result.code, result.out) == (2, "")
        assert result.err == (
            "hyperpod: internal error: KeyError: 'lost'. This is a defect of hyperpod-constructs, not of your file: "
            "please report it with the output of HYPERPOD_DEBUG=1 hyperpod check ...\n"
        )

    @pytest.mark.usefixtures("_defect")
    def test_shows_the_traceback_when_asked(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HYPERPOD_DEBUG", "1")
        result = run("check", "train.yaml", train_yaml=CLUSTER)
        assert result.code == 2
        assert "Traceback (most recent call last)" in result.err

    def test_an_interrupt_is_exit_130_without_words(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(rules, "check", interrupt)
        result = run("check", "train.yaml", train_yaml=CLUSTER)
        assert (result.code, result.out, result.err) == (130, "", "")


class TestProcess:
    def test_check_starts_no_process_and_loads_neither_cdk_nor_boto3(self, tmp_path: Path) -> None:
        (tmp_path / "fs.yaml").write_text(BAD_LUSTRE)
        code = """
import sys
started = []
sys.addaudithook(lambda event, _: started.append(event) if event in {"subprocess.Popen", "os.fork", "os.exec",
    "os.posix_spawn", "os.system", "socket.connect"} else None)
from hyperpod_constructs.cli import main
code = main(sys.argv[1:])
heavy = sorted({"jsii", "aws_cdk", "constructs", "boto3", "botocore"} & set(sys.modules))
print(code, started, heavy, file=sys.stderr)
"""
        found = command("check", "fs.yaml", cwd=tmp_path, code=code)
        assert found.stderr.splitlines()[-1] == "1 [] []"

    def test_help_loads_nothing_but_argparse_and_our_own(self, tmp_path: Path) -> None:
        code = """
import sys
from hyperpod_constructs.cli import main
main(["--help"])
print(sorted(m for m in sys.modules if m.startswith(("hyperpod_constructs.", "yaml", "json"))), file=sys.stderr)
"""
        found = command(cwd=tmp_path, code=code)
        assert found.stderr.splitlines()[-1] == (
            "['hyperpod_constructs.cli', 'hyperpod_constructs.errors', 'hyperpod_constructs.version']"
        )

    @pytest.mark.parametrize(("name", "loaded"), [("a.json", "[]"), ("a.yaml", "['yaml']")])
    def test_json_is_checked_without_a_yaml_parser(self, tmp_path: Path, name: str, loaded: str) -> None:
        (tmp_path / name).write_text('{"Resources": {}}' if name == "a.json" else "Resources: {}")
        code = """
import sys
from hyperpod_constructs.cli import main
main(sys.argv[1:])
print([m for m in ("yaml", "traceback") if m in sys.modules], file=sys.stderr)
"""
        assert command("check", name, cwd=tmp_path, code=code).stderr.splitlines()[-1] == loaded

    def test_the_exit_code_reaches_the_shell(self, tmp_path: Path) -> None:
        (tmp_path / "fs.yaml").write_text(BAD_LUSTRE)
        assert command("check", "fs.yaml", cwd=tmp_path).returncode == 1

    def test_output_does_not_depend_on_the_hash_seed(self, tmp_path: Path) -> None:
        (tmp_path / "train.yaml").write_text(CLUSTER + BAD_LUSTRE.replace("Resources:\n", ""))
        arguments = ("summary", "train.yaml", "--region", "us-west-2")
        outputs = {command(*arguments, cwd=tmp_path, PYTHONHASHSEED=seed).stdout for seed in ("1", "2", "3")}
        assert len(outputs) == 1
        assert "cluster train" in outputs.pop()

    def test_a_reader_that_goes_away_leaves_no_traceback(self, tmp_path: Path) -> None:
        code = """
import os, sys
from hyperpod_constructs.cli import main
reader, writer = os.pipe()
os.dup2(writer, 1)
os.close(writer)
os.close(reader)
sys.exit(main(["rules"]))
"""
        found = command(cwd=tmp_path, code=code)
        assert (found.returncode, found.stderr) == (141, "")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
    @pytest.mark.parametrize("arguments", [("rules",), ("check", "fs.yaml", "--format", "json")])
    def test_an_answer_that_does_not_fit_on_the_disk_is_one_line(
        self, tmp_path: Path, arguments: tuple[str, ...]
    ) -> None:
        (tmp_path / "fs.yaml").write_text(BAD_LUSTRE)
        found = command(*arguments, cwd=tmp_path, code=onto_standard_output("os.open('/dev/full', os.O_WRONLY)"))
        expected = "hyperpod: the answer cannot be written: No space left on device\n"
        assert (found.returncode, found.stderr.splitlines(keepends=True)[-1]) == (2, expected)
        assert "Traceback" not in found.stderr
        assert "Exception ignored" not in found.stderr

    def test_a_closed_standard_output_is_one_line(self, tmp_path: Path) -> None:
        code = "import sys; sys.stdout = None; from hyperpod_constructs.cli import main; sys.exit(main(sys.argv[1:]))"
        found = command("rules", cwd=tmp_path, code=code)
        expected = "hyperpod: the answer cannot be written: standard output is closed\n"
        assert (found.returncode, found.stderr) == (2, expected)

    def test_a_terminal_without_unicode_shows_what_it_can(self, tmp_path: Path) -> None:
        (tmp_path / "fs.yaml").write_text(BAD_LUSTRE.replace("Scratch:", '"Scratch\u00e9":'), encoding="utf-8")
        found = command("check", "fs.yaml", cwd=tmp_path, PYTHONIOENCODING="ascii")
        assert found.returncode == 1
        assert r"Scratch\xe9" in found.stdout
