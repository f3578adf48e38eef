"""The workflow of `examples/ci`: its steps run here as GitHub would run them, against a fake API on loopback."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from examples.ci import review_comment
from hyperpod_constructs import cli

ROOT = Path(__file__).parents[1]
CI = ROOT / "examples" / "ci"
WORKFLOW = CI / "github-review.yml"
TOKEN = "ghs_thisIsTheTokenThatNobodyMaySee"
OURS = {"type": "Bot", "login": "github-actions[bot]"}
PERSON = {"type": "User", "login": "octocat"}
COMMENTS = "/repos/acme/platform/issues/7/comments"
COMMENT = "/repos/acme/platform/issues/comments"
NOTHING = '{"version": "36.0.0", "artifacts": {}}'
BUCKET = {"Type": "AWS::S3::Bucket", "DeletionPolicy": "Delete"}
TOPIC = {"Type": "AWS::SNS::Topic"}
Post = Callable[..., int]
Files = Mapping[str, str | None]
"""Text by path in a repository; `None` deletes."""


class GitHub:
    """Comments of pull request 7 of acme/platform, and what was asked of them."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.failures: list[tuple[str, int, str, dict[str, str]]] = []  # method, status, message, headers; in order
        self.loses_answers = 0
        self.url = ""

    def fail(self, method: str, status: int, message: str = "no", headers: dict[str, str] | None = None) -> None:
        self.failures.append((method, status, message, headers or {}))

    def comment(self, body: str, user: dict[str, str] | None) -> dict[str, Any]:
        made = {"id": 1000 + len(self.comments), "body": body, "user": user, "html_url": "of the comment"}
        self.comments.append(made)
        return made

    @property
    def writes(self) -> list[str]:
        return [call for call in self.calls if not call.startswith("GET")]


class _Server(ThreadingHTTPServer):
    def __init__(self, github: GitHub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.github = github


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if not self._failed():
            assert url.path == COMMENTS
            self._page(parse_qs(url.query))

    def do_POST(self) -> None:
        body = self._body()
        if self._failed() or self._too_long(body):
            return None
        assert self.path == COMMENTS
        made = self.server.github.comment(body, OURS)
        if self.server.github.loses_answers:
            self.server.github.loses_answers -= 1
            return self._answer(502, "<html>Bad Gateway</html>")
        return self._answer(201, made)

    def do_PATCH(self) -> None:
        body = self._body()
        if self._failed() or self._too_long(body):
            return
        (comment,) = [each for each in self.server.github.comments if self.path == f"{COMMENT}/{each['id']}"]
        comment["body"] = body
        self._answer(200, comment)

    def log_message(self, *_: object) -> None:
        pass

    def _body(self) -> str:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert list(payload) == ["body"]
        return str(payload["body"])

    def _failed(self) -> bool:
        github = self.server.github
        github.calls.append(f"{self.command} {self.path}")
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self._answer(401, {"message": "Bad credentials"})
            return True
        if github.failures and github.failures[0][0] == self.command:
            _, status, message, headers = github.failures.pop(0)
            self._answer(status, {"message": message}, headers)
            return True
        return False

    def _too_long(self, body: str) -> bool:
        if len(body) > 65_536:
            self._answer(422, {"message": "Body is too long (maximum is 65536 characters)"})
        return len(body) > 65_536

    def _page(self, query: dict[str, list[str]]) -> None:
        size, page = int(query["per_page"][0]), int(query["page"][0])
        assert size <= 100
        comments = self.server.github.comments
        # A link to where nobody listens: whoever follows it instead of counting pages fails, and shows the token.
        more = {"Link": '<http://127.0.0.1:1/elsewhere>; rel="next"'} if len(comments) > size * page else {}
        self._answer(200, comments[size * (page - 1) : size * page], more)

    def _answer(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        content = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def github() -> Iterator[GitHub]:
    fake = GitHub()
    with _Server(fake) as server:
        fake.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield fake
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the script would have slept."""
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    return waited


@pytest.fixture
def environ(github: GitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return {
        "GITHUB_API_URL": github.url,
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_REPOSITORY": "acme/platform",
        "GITHUB_SERVER_URL": "https://github.example",
        "GITHUB_RUN_ID": "42",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "HEAD_SHA": "0123456789abcdef",
        "PR_NUMBER": "7",
    }


@pytest.fixture
def post(environ: dict[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Iterator[Post]:
    """Posts a review; whatever happens, the token is in none of what was written."""
    folder = tmp_path / "review"
    folder.mkdir()

    def run(review: str = "✅ Safe to merge.", code: str = "0", **files: str) -> int:
        _write(folder, {"review.md": review, "exit-code": code} | {f"{name}.txt": text for name, text in files.items()})
        return review_comment.main([str(folder)], environ)

    yield run
    out, err = capfd.readouterr()
    summary = tmp_path / "summary.md"
    assert TOKEN not in out + err + (summary.read_text() if summary.exists() else "")


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)


class TestComment:
    def test_is_written_when_there_is_none(self, github: GitHub, post: Post) -> None:
        assert post() == 0
        (comment,) = github.comments
        assert comment["body"].startswith("<!-- hyperpod-review -->\n✅ Safe to merge.\n")
        assert "https://github.example/acme/platform/actions/runs/42" in comment["body"]
        assert "Commit 0123456;" in comment["body"]

    def test_is_rewritten_by_the_next_review(self, github: GitHub, post: Post) -> None:
        post()
        assert post("⛔ Destroys 48,000 GiB.", code="1") == 1
        (comment,) = github.comments
        assert "⛔ Destroys" in comment["body"]
        assert "Safe" not in comment["body"]
        assert github.writes[-1] == f"PATCH /repos/acme/platform/issues/comments/{comment['id']}"

    def test_is_found_on_a_later_page(self, github: GitHub, post: Post) -> None:
        for number in range(205):
            github.comment(f"comment {number}", PERSON)
        ours = github.comment(f"{review_comment.MARKER}\nold", OURS)
        github.comment("later", PERSON)
        assert post() == 0
        assert "Safe to merge" in ours["body"]
        assert len(github.comments) == 207
        assert [call.rpartition("=")[2] for call in github.calls[:-1]] == ["1", "2", "3"]

    @pytest.mark.parametrize(
        ("body", "user"),
        [
            (f"{review_comment.MARKER}\nI wrote this", PERSON),
            (f"{review_comment.MARKER}\nof another app", {"type": "Bot", "login": "other[bot]"}),
            (f"{review_comment.MARKER}\nnamed like ours", {"type": "User", "login": "github-actions[bot]"}),
            (f"> {review_comment.MARKER}\nof another workflow, quoting", OURS),
            (f"{review_comment.MARKER}\nof an account that is gone", None),
        ],
    )
    def test_of_somebody_else_is_left_alone(
        self, github: GitHub, post: Post, body: str, user: dict[str, str] | None
    ) -> None:
        theirs = github.comment(body, user)
        assert post() == 0
        assert theirs["body"] == body
        assert len(github.comments) == 2

    def test_of_an_app_of_ones_own_is_found(self, github: GitHub, post: Post, environ: dict[str, str]) -> None:
        theirs = github.comment(f"{review_comment.MARKER}\nold", {"type": "Bot", "login": "acme-ci[bot]"})
        environ["COMMENT_AUTHOR"] = "acme-ci[bot]"
        assert post() == 0
        assert "Safe to merge" in theirs["body"]

    def test_says_who_accepted_and_nothing_about_how(self, github: GitHub, post: Post, environ: dict[str, str]) -> None:
        environ["ACCEPTED_BY"] = "octocat"
        assert post() == 0
        assert "`octocat` has accepted" in github.comments[0]["body"]
        assert "accept-destroys" not in github.comments[0]["body"]

    def test_that_fails_by_policy_says_how_to_accept(self, github: GitHub, post: Post) -> None:
        assert post(code="1") == 1
        assert "`accept-destroys`" in github.comments[0]["body"]

    def test_begins_with_what_the_reader_must_know_first(self, github: GitHub, post: Post, tmp_path: Path) -> None:
        (tmp_path / "review" / "note.md").write_text("**Compared with nothing**\n")
        post()
        assert github.comments[0]["body"].startswith(f"{review_comment.MARKER}\n**Compared with nothing**\n\n✅ Safe")


class TestLongReview:
    def test_of_exactly_the_limit_is_whole(self, github: GitHub, post: Post) -> None:
        post("x")
        room = review_comment.LIMIT - len(github.comments[0]["body"]) + 1
        post("é" * room)
        assert len(github.comments[0]["body"]) == review_comment.LIMIT
        assert "Cut here" not in github.comments[0]["body"]

    @pytest.mark.parametrize("text", ["a line of a review 🌈\n" * 10_000, "x" * 70_000, "🌈" * 65_536])
    def test_is_cut_with_a_note_and_keeps_its_end(self, github: GitHub, post: Post, text: str) -> None:
        assert post(text, code="1") == 1
        body = github.comments[0]["body"]
        assert len(body) <= review_comment.LIMIT
        assert len(body) > review_comment.LIMIT - 500
        assert "artifact of the run.**" in body
        assert body.endswith("as JSON.</sub>\n")

    def test_is_cut_between_lines_and_closes_what_is_open(self, github: GitHub, post: Post) -> None:
        post("<details>\n\n```\n" + "one line\n" * 10_000)
        assert "one line\n```\n\n</details>\n\n**Cut here" in github.comments[0]["body"]

    def test_of_nothing_but_openings_stays_below_the_limit(self, github: GitHub, post: Post) -> None:
        assert post("<details>\n" * 10_000) == 0
        assert len(github.comments[0]["body"]) <= review_comment.LIMIT


class TestNoReview:
    def test_is_a_comment_with_the_line_of_standard_error(self, github: GitHub, post: Post) -> None:
        line = "hyperpod: cdk.out: its validation report says that it failed"
        assert post("", code="2", error=f"a note\n{line}\n\n") == 2
        assert "The review could not be made" in github.comments[0]["body"]
        assert f"\n    {line}\n" in github.comments[0]["body"]
        assert "a note" not in github.comments[0]["body"]

    def test_replaces_an_older_review(self, github: GitHub, post: Post) -> None:
        post()
        post("", code="2", error="hyperpod: no")
        assert len(github.comments) == 1
        assert "Safe" not in github.comments[0]["body"]

    @pytest.mark.parametrize(("review", "code"), [("", "0"), ("", "1"), ("half", ""), ("half", "137"), ("half", "00")])
    def test_is_what_an_incomplete_one_is(self, github: GitHub, post: Post, review: str, code: str) -> None:
        assert post(review, code=code) == 2
        assert "could not be made" in github.comments[0]["body"]
        assert "half" not in github.comments[0]["body"]

    def test_of_a_job_that_left_nothing_says_so(self, github: GitHub, environ: dict[str, str], tmp_path: Path) -> None:
        assert review_comment.main([str(tmp_path / "missing")], environ) == 2
        assert "ended too early" in github.comments[0]["body"]

    def test_cannot_smuggle_markdown_out_of_its_code_block(self, github: GitHub, post: Post) -> None:
        post("", code="2", error="```\r# big\u2028@acme/everyone \x1b[31m")
        lines = github.comments[0]["body"].splitlines()
        assert [line for line in lines if "acme/everyone" in line] == ["    @acme/everyone  [31m"]
        assert not any(line.startswith(("```", "#")) for line in lines)


class TestReadOnlyToken:
    def test_puts_the_review_into_the_summary_and_fails_for_no_reason_of_its_own(
        self, github: GitHub, post: Post, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        github.fail("POST", 403, "Resource not accessible by integration")
        assert post() == 0
        out = capfd.readouterr().out
        assert out.startswith("::warning::POST: the API answered 403: Resource not accessible by integration")
        assert "fork" in out
        assert "Safe to merge" in (tmp_path / "summary.md").read_text()

    @pytest.mark.parametrize(("method", "code"), [("POST", 1), ("POST", 2), ("GET", 1)])
    def test_still_fails_by_policy(self, github: GitHub, post: Post, method: str, code: int) -> None:
        github.fail(method, 403)
        assert post(code=str(code), error="hyperpod: no") == code

    def test_is_not_tried_again(self, github: GitHub, post: Post, waits: list[float]) -> None:
        github.fail("POST", 403)
        post()
        assert len(github.writes) == 1
        assert waits == []


class TestTrouble:
    @pytest.mark.parametrize(
        "failure",
        [
            ("POST", 500, "oops"),
            ("GET", 503, "oops"),
            ("GET", 429, "slow down"),
            ("POST", 403, "You have exceeded a secondary rate limit"),
            ("POST", 403, "no", {"X-RateLimit-Remaining": "0"}),
        ],
    )
    def test_that_passes_is_waited_for(self, github: GitHub, post: Post, waits: list[float], failure: Any) -> None:
        github.fail(*failure)
        assert post() == 0
        assert len(github.comments) == 1
        assert waits == [2]

    @pytest.mark.parametrize(("asked", "waited"), [("7", 7), ("0", 2), ("86400", 60), ("Wed, 21 Oct 2015", 2)])
    def test_is_waited_for_as_long_as_asked_up_to_a_minute(
        self, github: GitHub, post: Post, waits: list[float], asked: str, waited: int
    ) -> None:
        github.fail("POST", 403, "no", {"Retry-After": asked})
        assert post() == 0
        assert waits == [waited]

    def test_after_writing_does_not_make_a_second_comment(self, github: GitHub, post: Post) -> None:
        github.loses_answers = 1
        assert post() == 0
        assert len(github.comments) == 1
        assert [call.split()[0] for call in github.calls] == ["GET", "POST", "GET", "PATCH"]

    def test_that_stays_fails_the_job_and_leaves_the_review_in_the_summary(
        self, github: GitHub, post: Post, waits: list[float], tmp_path: Path
    ) -> None:
        for _ in range(9):
            github.fail("GET", 500)
        assert post() == 1
        assert waits == [2, 4, 8, 16]
        assert "Safe to merge" in (tmp_path / "summary.md").read_text()

    def test_of_an_api_that_is_not_there_is_told(
        self, post: Post, environ: dict[str, str], capfd: pytest.CaptureFixture[str], waits: list[float]
    ) -> None:
        environ["GITHUB_API_URL"] = "http://127.0.0.1:1"
        assert post() == 1
        assert (
            "::error::the comment could not be posted: GET: no answer from the API: URLError" in capfd.readouterr().out
        )
        assert len(waits) == 4

    def test_of_the_request_is_not_tried_again(self, github: GitHub, post: Post, waits: list[float]) -> None:
        github.fail("POST", 422, "Validation Failed")
        assert post() == 1
        assert waits == []

    def test_redirects_are_not_followed_with_the_token(self, github: GitHub, post: Post) -> None:
        github.fail("GET", 302, "moved", {"Location": f"{github.url}/elsewhere"})
        assert post() == 1
        assert not any("elsewhere" in call for call in github.calls)

    def test_an_answer_that_repeats_the_token_does_not_show_it(
        self, github: GitHub, post: Post, capfd: pytest.CaptureFixture[str]
    ) -> None:
        github.fail("GET", 401, f"bad credentials: {TOKEN}")
        assert post() == 1
        out = capfd.readouterr().out
        assert "bad credentials: ***" in out
        assert TOKEN not in out

    def test_an_answer_cannot_write_a_workflow_command(
        self, github: GitHub, post: Post, capfd: pytest.CaptureFixture[str]
    ) -> None:
        github.fail("GET", 404, "no\n::add-mask::e\r::set-output name=a::b")
        post()
        assert not any(line.startswith(("::add", "::set")) for line in capfd.readouterr().out.splitlines())

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("GITHUB_TOKEN", ""),
            ("GITHUB_TOKEN", f"{TOKEN}\nX-Other: header"),
            ("GITHUB_API_URL", "file:///etc/passwd"),
            ("GITHUB_REPOSITORY", "acme/platform/../../other"),
            ("PR_NUMBER", "7/../8"),
            ("PR_NUMBER", ""),
        ],
    )
    def test_a_setting_that_cannot_be_right_is_asked_of_nobody(
        self, github: GitHub, post: Post, environ: dict[str, str], name: str, value: str
    ) -> None:
        environ[name] = value
        assert post() == 1
        assert github.calls == []

    def test_a_setting_that_cannot_be_right_is_named_and_not_repeated(
        self, post: Post, environ: dict[str, str], capfd: pytest.CaptureFixture[str]
    ) -> None:
        environ["GITHUB_TOKEN"] = "two words"
        post()
        out = capfd.readouterr().out
        assert "GITHUB_TOKEN is not what it should be" in out
        assert "two words" not in out


STUB = '''#!{python} -IS
"""Knows the options that the issue documents, and says what HEAD/says has."""
import argparse, json, pathlib, sys

parser = argparse.ArgumentParser(allow_abbrev=False)
review = parser.add_subparsers(dest="command", required=True).add_parser("review", allow_abbrev=False)
review.add_argument("base", type=pathlib.Path)
review.add_argument("head", type=pathlib.Path)
review.add_argument("--live", type=pathlib.Path)
review.add_argument("--format", choices=["text", "json", "markdown"], default="text")
review.add_argument("--fail-on", default="")
asked = parser.parse_args()
template = asked.base / "app.template.json"
base = template.read_text() if template.exists() else (asked.base / "manifest.json").read_text()
head = json.loads((asked.head / "app.template.json").read_text())
if asked.live and not asked.live.is_file():
    print(f"hyperpod: {{asked.live}}: No such file or directory", file=sys.stderr)
    sys.exit(2)
if "refused" in head:
    print("hyperpod: HP3021: its own validation failed", file=sys.stderr)
    sys.exit(2)
if "crash" in head:
    raise RuntimeError("a defect")
print(json.dumps({{"verdict": "safe"}}) if asked.format == "json" else f"from {{base.strip()}} to {{json.dumps(head)}}")
sys.exit(1 if set(asked.fail_on.split(",")) & set(head.get("fails", [])) else 0)
'''

SYNTH = """#!/usr/bin/env bash
# What a repository makes of review-synth.sh: copies what the app would write.
set -euo pipefail
test ! -f "$1/breaks-early"
mkdir -p "$2" "$3/bin"
cp "$1/app.template.json" "$2"
echo '{}' >"$2/manifest.json"
cp "$STUB" "$3/bin/hyperpod"
test ! -f "$1/breaks"
"""


class Repository:
    """A platform repository with a pull request, checked out by `actions/checkout` in the folder of a job."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.folder, self.jobs = folder / "origin", folder / "jobs"
        self.stub = folder / "hyperpod"
        self.stub.write_text(STUB.format(python=sys.executable))
        self.stub.chmod(0o755)
        scripts = self.folder / ".github" / "hyperpod"
        scripts.mkdir(parents=True)
        for script in ("review.sh", "review_comment.py"):
            shutil.copy(CI / script, scripts)
        (scripts / "review-synth.sh").write_text(SYNTH)
        (scripts / "review-synth.sh").chmod(0o755)
        self.environ = {
            **environ,
            "STUB": str(self.stub),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "no_proxy": "127.0.0.1",
            "TMPDIR": str(folder),
            **{f"GIT_{who}_{what}": "t@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        self._git("init", "--quiet", "--initial-branch=main", "--template=")

    def use_the_real_command(self) -> None:
        self.stub.write_text(f'#!/bin/sh\nexec {sys.executable} -m hyperpod_constructs.cli "$@"\n')
        self.environ["PYTHONPATH"] = str(ROOT)

    def app(self, *markers: str, folder: str = ".", **template: object) -> Files:
        """Files of an app that synthesizes to a template."""
        files = {"cdk.json": "{}", "app.template.json": json.dumps(template)} | dict.fromkeys(markers, "")
        return {os.path.normpath(f"{folder}/{name}"): text for name, text in files.items()}

    def pull_request(self, base: Files, head: Files) -> None:
        """Commits both sides; the base moves on after the pull request was made."""
        self._commit(base)
        self._git("switch", "--quiet", "--create", "change")
        self._commit(head)
        self._git("switch", "--quiet", "main")
        self._commit({"moved-on": "by somebody else"})
        self._git("merge", "--quiet", "--no-ff", "--no-edit", "change")

    def run(self, **environ: str) -> int:
        """Runs the workflow and returns how the job that comments ended."""
        workflow = _workflow()
        declared = {name: str(value) for name, value in workflow["env"].items() if name != "ACCEPTED_BY"}
        everything = {**declared, **self.environ, **environ}
        for job in ("compare", "comment"):
            code = self._job(workflow["jobs"][job]["steps"], self.jobs / job, everything)
        return code

    def _job(self, steps: list[dict[str, Any]], folder: Path, environ: dict[str, str]) -> int:
        folder.mkdir(parents=True)
        if folder.name == "compare":
            environ = {name: value for name, value in environ.items() if name != "GITHUB_TOKEN"}
        for step in steps:
            action = step.get("uses", "").partition("@")[0]
            if action == "actions/checkout":
                depth = str(step["with"].get("fetch-depth", 1))
                origin, at = f"file://{self.folder}", str(folder / step["with"].get("path", "."))
                self._git("clone", "--quiet", "--template=", "--depth", depth, origin, at)
            elif action == "actions/download-artifact" and (self.jobs / "compare" / "review").is_dir():
                shutil.copytree(self.jobs / "compare" / "review", folder / step["with"]["path"])
            elif "run" in step:
                command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
                ran = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
                assert TOKEN not in ran.stdout + ran.stderr
                if ran.returncode:
                    return ran.returncode
        return 0

    def _commit(self, files: Files) -> None:
        for name, text in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                (self.folder / name).unlink()
            else:
                (self.folder / name).write_text(text)
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", "change")

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.folder, env=self.environ, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path, environ: dict[str, str]) -> Repository:
    return Repository(tmp_path, environ)


class TestWorkflowRun:
    def test_compares_the_merge_with_the_tip_of_the_base(self, repository: Repository, github: GitHub) -> None:
        repository.pull_request(repository.app(nodes=32), repository.app(nodes=48))
        assert repository.run() == 0
        assert 'from {"nodes": 32} to {"nodes": 48}' in github.comments[0]["body"]
        review = repository.jobs / "compare" / "review"
        assert json.loads((review / "review.json").read_text()) == {"verdict": "safe"}
        assert (repository.jobs / "compare" / "base" / "moved-on").exists()

    @pytest.mark.parametrize("condition", ["replacement", "data-loss", "node-loss", "error"])
    def test_posts_and_fails_by_policy(self, repository: Repository, github: GitHub, condition: str) -> None:
        repository.pull_request(repository.app(), repository.app(fails=[condition]))
        assert repository.run() == 1
        assert condition in github.comments[0]["body"]

    @pytest.mark.parametrize(("condition", "code"), [("data-loss", 0), ("error", 1)])
    def test_a_person_accepts_losses_and_no_errors(
        self, repository: Repository, github: GitHub, condition: str, code: int
    ) -> None:
        repository.pull_request(repository.app(), repository.app(fails=[condition]))
        assert repository.run(ACCEPTED_BY="octocat") == code
        assert "`octocat` has accepted" in github.comments[0]["body"]

    def test_a_base_without_an_app_has_no_stacks(self, repository: Repository, github: GitHub) -> None:
        repository.pull_request({"README.md": "soon"}, repository.app(nodes=32, folder="platform"))
        assert repository.run(APP_DIR="platform") == 0
        assert f'from {NOTHING} to {{"nodes": 32}}' in github.comments[0]["body"]
        assert "the base branch has no app" in github.comments[0]["body"]

    @pytest.mark.parametrize(("accepted_by", "code"), [("", 1), ("octocat", 0)])
    @pytest.mark.parametrize("breaks", ["breaks-early", "breaks"])
    def test_a_base_that_is_broken_is_safe_only_when_a_person_says_so(
        self, repository: Repository, github: GitHub, accepted_by: str, code: int, breaks: str
    ) -> None:
        repository.pull_request(repository.app(breaks, nodes=32), {**repository.app(nodes=48), breaks: None})
        assert repository.run(ACCEPTED_BY=accepted_by) == code
        assert "does not synthesize" in github.comments[0]["body"]
        assert f'from {NOTHING} to {{"nodes": 48}}' in github.comments[0]["body"]

    @pytest.mark.parametrize(("accepted_by", "code"), [("", 1), ("octocat", 0)])
    def test_an_app_that_moved_is_no_new_one(
        self, repository: Repository, github: GitHub, accepted_by: str, code: int
    ) -> None:
        gone = dict.fromkeys(repository.app(folder="infra"))
        moved = {**gone, **repository.app(nodes=48, folder="platform")}
        repository.pull_request(repository.app(nodes=32, folder="infra"), moved)
        assert repository.run(APP_DIR="platform", ACCEPTED_BY=accepted_by) == code
        assert "has no app in platform, but one elsewhere" in github.comments[0]["body"]

    def test_a_head_that_is_broken_has_no_review(self, repository: Repository, github: GitHub) -> None:
        repository.pull_request(repository.app(), repository.app("breaks-early"))
        assert repository.run(ACCEPTED_BY="octocat") == 2
        assert "\n    the app of this pull request does not synthesize" in github.comments[0]["body"]

    def test_a_head_that_its_own_validation_refused_is_told_by_the_command(
        self, repository: Repository, github: GitHub
    ) -> None:
        repository.pull_request(repository.app(), repository.app("breaks", refused=True))
        assert repository.run() == 2
        assert "\n    hyperpod: HP3021: its own validation failed" in github.comments[0]["body"]

    def test_a_head_that_failed_has_no_review_even_where_the_command_would_make_one(
        self, repository: Repository, github: GitHub
    ) -> None:
        repository.pull_request(repository.app(), repository.app("breaks"))
        assert repository.run() == 2
        assert "does not synthesize" in github.comments[0]["body"]

    def test_unreadable_input_is_told_by_the_command(self, repository: Repository, github: GitHub) -> None:
        repository.pull_request(repository.app(), repository.app(refused=True))
        assert repository.run() == 2
        assert "\n    hyperpod: HP3021: its own validation failed" in github.comments[0]["body"]

    def test_a_command_that_breaks_is_no_failed_policy(self, repository: Repository, github: GitHub) -> None:
        repository.pull_request(repository.app(), repository.app(crash=True))
        assert repository.run(ACCEPTED_BY="octocat") == 2
        assert "\n    RuntimeError: a defect" in github.comments[0]["body"]
        assert (repository.jobs / "compare" / "review" / "exit-code").read_text() == "2\n"

    def test_a_mistyped_folder_is_not_an_unchanged_app(self, repository: Repository, github: GitHub) -> None:
        repository.pull_request(repository.app(), repository.app(nodes=48))
        assert repository.run(APP_DIR="platfrom") == 2
        assert "has no platfrom/cdk.json" in github.comments[0]["body"]

    @pytest.mark.parametrize(("live", "code"), [("live.json", 0), ("missing.json", 2)])
    def test_live_state_is_a_file_of_the_repository(self, repository: Repository, live: str, code: int) -> None:
        repository.pull_request(repository.app(), {**repository.app(nodes=48), "live.json": "{}"})
        assert repository.run(LIVE=live) == code

    def test_a_first_job_that_died_is_told(self, repository: Repository, github: GitHub) -> None:
        dies = {".github/hyperpod/review.sh": "#!/usr/bin/env bash\nexit 3\n"}
        repository.pull_request(repository.app(), {**repository.app(), **dies})
        assert repository.run() == 2
        assert "ended too early" in github.comments[0]["body"]

    @pytest.mark.parametrize(
        ("base", "head", "verdict"),
        [
            (None, {"Data": BUCKET}, "safe"),
            ({"Data": BUCKET}, {"Data": BUCKET}, "unchanged"),
            ({"Data": BUCKET, "Topic": TOPIC}, {"Topic": TOPIC}, "destroys"),
        ],
    )
    def test_the_real_command_judges(
        self, repository: Repository, github: GitHub, base: Any, head: Any, verdict: str
    ) -> None:
        repository.use_the_real_command()
        before = {"README.md": "soon"} if base is None else repository.app(Resources=base)
        repository.pull_request(before, repository.app(Resources=head))
        assert repository.run() == (verdict == "destroys")
        review = json.loads((repository.jobs / "compare" / "review" / "review.json").read_text())
        assert review["verdict"] == verdict
        assert verdict in github.comments[0]["body"].lower()

    def test_text_of_the_pull_request_is_never_code(self, repository: Repository, github: GitHub) -> None:
        nasty = "$(touch pwned) `touch pwned` '; touch pwned; \" && touch pwned"
        repository.pull_request(repository.app(), repository.app(name=nasty))
        assert repository.run() == 0
        assert "$(touch pwned)" in github.comments[0]["body"]
        assert not list(repository.jobs.rglob("pwned"))


def _workflow() -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text())
    return loaded


def _steps() -> list[dict[str, Any]]:
    return [step for job in _workflow()["jobs"].values() for step in job["steps"]]


def _evaluated(expression: str, event: dict[str, str]) -> object:
    """What GitHub makes of an expression of comparisons; `&&` and `||` give back an operand there as in Python."""
    (inner,) = re.findall(r"^\$\{\{(.*)\}\}$", expression)
    python = re.sub(r"github\.event\.([\w.]+)", r"event['\1']", inner).replace("&&", "and").replace("||", "or")
    return eval(python.strip(), {"event": event})  # noqa: S307  # the expression is ours


class TestWorkflowFile:
    def test_runs_on_pull_requests_with_the_least_that_it_needs(self) -> None:
        workflow = _workflow()
        assert set(workflow[True]) == {"pull_request"}  # YAML 1.1 reads `on` as true
        assert workflow["permissions"] == {}
        assert workflow["jobs"]["compare"]["permissions"] == {"contents": "read"}
        assert workflow["jobs"]["comment"]["permissions"] == {"contents": "read", "pull-requests": "write"}

    def test_the_job_that_runs_code_of_the_pull_request_has_no_token(self) -> None:
        assert "token" not in json.dumps(_workflow()["jobs"]["compare"]).lower()
        assert "secrets" not in WORKFLOW.read_text()
        checkouts = [step for step in _steps() if step.get("uses", "").startswith("actions/checkout@")]
        assert [step["with"]["persist-credentials"] for step in checkouts] == [False, False]

    def test_one_run_at_a_time_of_a_pull_request(self) -> None:
        concurrency = _workflow()["concurrency"]
        assert "github.event.pull_request.number" in concurrency["group"]
        assert concurrency["cancel-in-progress"] is True

    def test_actions_are_pinned_to_commits_with_their_version_beside(self) -> None:
        used = re.findall(r"uses: (.*)", WORKFLOW.read_text())
        assert used
        for action in used:
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)

    def test_no_expression_is_pasted_into_a_shell(self) -> None:
        assert not any("${{" in step["run"] for step in _steps() if "run" in step)

    def test_runs_only_files_that_are_here(self) -> None:
        called = re.findall(r"\.github/hyperpod/([\w.-]+)", json.dumps([step.get("run") for step in _steps()]))
        assert sorted(called) == ["review.sh", "review_comment.py"]
        assert "$here/review-synth.sh" in (CI / "review.sh").read_text()
        assert {path.name for path in CI.iterdir() if path.is_file()} == {
            WORKFLOW.name,
            "review.sh",
            "review-synth.sh",
            "review_comment.py",
        }

    @pytest.mark.parametrize(
        ("event", "accepted_by"),
        [
            ({}, "octocat"),
            ({"action": "synchronize"}, ""),  # a push after the label: nobody has seen it
            ({"action": "unlabeled"}, ""),
            ({"label.name": "documentation"}, ""),
            ({"sender.type": "Bot"}, ""),
            ({"pull_request.user.login": "octocat"}, ""),
        ],
    )
    def test_accepts_by_a_person_who_labels_this_commit_and_is_not_the_author(
        self, event: dict[str, str], accepted_by: str
    ) -> None:
        labelled = {
            "action": "labeled",
            "label.name": "accept-destroys",
            "sender.type": "User",
            "sender.login": "octocat",
            "pull_request.user.login": "hubot",
        }
        assert _evaluated(_workflow()["env"]["ACCEPTED_BY"], labelled | event) == accepted_by
        assert {"labeled", "unlabeled", "synchronize"} <= set(_workflow()[True]["pull_request"]["types"])

    def test_names_the_label_that_the_comment_names(self) -> None:
        assert "'accept-destroys'" in _workflow()["env"]["ACCEPTED_BY"]
        assert "`accept-destroys`" in review_comment._HOW_TO_ACCEPT

    @pytest.mark.parametrize("conditions", ["FAIL_ON", "FAIL_ON_ACCEPTED"])
    def test_fails_on_conditions_that_the_command_knows(self, conditions: str) -> None:
        options = ["--fail-on", _workflow()["env"][conditions], "--live", "file", "--format", "markdown"]
        cli._parser().parse_args(["review", "base", "head", *options])

    @pytest.mark.parametrize("script", ["review.sh", "review-synth.sh"])
    def test_scripts_are_executable_and_parse(self, script: str) -> None:
        assert os.access(CI / script, os.X_OK)
        subprocess.run(["bash", "-n", str(CI / script)], check=True)

    @pytest.mark.parametrize("step", [step for step in _steps() if "run" in step], ids=lambda step: step["name"])
    def test_steps_parse(self, step: dict[str, Any]) -> None:
        subprocess.run(["bash", "-n", "-c", step["run"]], check=True)

    def test_no_file_names_a_registry_or_the_address_of_an_api(self) -> None:
        for file in (path for path in CI.iterdir() if path.is_file()):
            assert not re.search(r"https?://\w", file.read_text())


TOOL = """#!/usr/bin/env bash
printf '%s\\n' "$(basename "$0") $*" >>"$CALLS"
case "$*" in *venv*) mkdir -p "${@: -1}/bin" && ln -s "$0" "${@: -1}/bin/python" ;; esac
test "$(basename "$0")" != "$BREAKS"
"""


class TestSynth:
    """The script that a user edits, as we ship it."""

    @pytest.fixture
    def tools(self, tmp_path: Path) -> dict[str, str]:
        (tmp_path / "bin").mkdir()
        (tmp_path / "app").mkdir()
        for name in ("python3", "npm", "cdk"):
            (tmp_path / "bin" / name).write_text(TOOL)
            (tmp_path / "bin" / name).chmod(0o755)
        path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "CALLS": str(tmp_path / "calls"), "BREAKS": ""}

    def _run(self, tmp_path: Path, tools: dict[str, str]) -> tuple[int, list[str]]:
        command = [str(CI / "review-synth.sh"), str(tmp_path / "app"), str(tmp_path / "out"), str(tmp_path / "venv")]
        code = subprocess.run(command, env=tools, check=False).returncode
        return code, (tmp_path / "calls").read_text().splitlines()

    def test_writes_the_assembly_where_it_is_asked_to(self, tmp_path: Path, tools: dict[str, str]) -> None:
        code, calls = self._run(tmp_path, tools)
        assert code == 0
        assert calls[0] == f"python3 -m venv {tmp_path / 'venv'}"
        assert calls[-1] == f"cdk synth --quiet --output {tmp_path / 'out'}"
        assert list((tmp_path / "app").iterdir()) == []

    @pytest.mark.parametrize("breaks", ["python3", "python", "npm", "cdk"])
    def test_fails_when_anything_fails(self, tmp_path: Path, tools: dict[str, str], breaks: str) -> None:
        code, calls = self._run(tmp_path, tools | {"BREAKS": breaks})
        assert code != 0
        assert calls[-1].split()[0] == breaks


def test_the_script_runs_on_its_own(environ: dict[str, str], github: GitHub, tmp_path: Path) -> None:
    _write(tmp_path, {"exit-code": "1\n", "review.md": "⛔ Blocked\n"})
    ran = subprocess.run(
        [sys.executable, "-I", str(CI / "review_comment.py"), str(tmp_path)],
        env={**environ, "no_proxy": "127.0.0.1", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout == "posted: of the comment\n"
    assert "⛔ Blocked" in github.comments[0]["body"]


def test_the_script_wants_one_folder(environ: dict[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    assert review_comment.main([], environ) == 2
    assert "usage" in capfd.readouterr().out
