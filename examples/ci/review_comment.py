"""Posts a review on its pull request: one comment, which every later review of the same pull request rewrites.

    review_comment.py FOLDER

FOLDER is what `review.sh` wrote. Ends with the exit code of the review: 0, 1 when it fails by policy, 2 when there is
none; at least 1 when the comment could not be posted. A token that must not write, as pull requests from forks have it,
is no failure: the review then goes to the summary of the run, as it does after every other failure to post.

Environment: GITHUB_TOKEN and PR_NUMBER; GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_STEP_SUMMARY, GITHUB_SERVER_URL and
GITHUB_RUN_ID, which GitHub sets; HEAD_SHA, the commit that was reviewed; ACCEPTED_BY, who has accepted it;
COMMENT_AUTHOR, the account behind the token where it is not that of GitHub Actions.

Needs Python 3.11 and nothing else. Source of the endpoints, of pages and of rate limits: GitHub's REST API
documentation, version 2022-11-28 ("issue comments", "using pagination", "best practices").
"""

from __future__ import annotations

import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

MARKER: Final = "<!-- hyperpod-review -->"
"""What our comment begins with; nobody sees it."""
LIMIT: Final = 65_536
"""Most characters of a comment. Source: the API's own refusal, "body is too long (maximum is 65536 characters)"."""
TIMEOUT_SECONDS: Final = 20
DELAYS_SECONDS: Final = (2, 4, 8, 16)
"""Waits between tries."""
LONGEST_DELAY_SECONDS: Final = 60
"""The most that we wait when GitHub asks for more: the job has ten minutes."""

_PER_PAGE = 100
_MOST_PAGES = 100
_CLOSING = 200
"""Characters kept free for the ends of what a cut leaves open."""
_MOST_OPEN = 10

_NO_REVIEW = "⛔ **The review could not be made.** What this pull request does to running clusters is not known."
_CUT = "**Cut here: a comment holds 65,536 characters. The rest is in `review.md` in the artifact of the run.**"
_HOW_TO_ACCEPT = (
    "This check fails by policy. Somebody other than the author can accept replacements and losses, for this commit "
    "only, with the label `accept-destroys`."
)
_ACCEPTED = "`{}` has accepted replacements and losses, for this commit only."
_NOT_ACCEPTED = "This check still fails by that part of the policy which no label accepts."


class NotPosted(Exception):
    """The comment could not be posted."""


class ReadOnlyToken(NotPosted):
    """The token must not write comments."""


class Passing(NotPosted):
    """The next try may succeed.

    Attributes:
        wait_seconds: How long GitHub asks us to wait.
    """

    def __init__(self, message: str, wait_seconds: int = 0) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What there is to post.

    Attributes:
        code: 0, 1 or 2, as `hyperpod review` has them.
        text: Markdown.
    """

    code: int
    text: str


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows nothing: urllib would send the token to wherever a redirect points."""

    def redirect_request(self, *_: object) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """The comments of one pull request.

    Attributes:
        url: The API's address.
        token: Never part of a message.
        repository: `owner/name`.
        number: Of the pull request.
        author: Account that the token belongs to.
    """

    url: str
    token: str = field(repr=False)
    repository: str
    number: str
    author: str

    def post(self, body: str) -> str:
        """Rewrites our comment, or writes the first one.

        Returns:
            Address of the comment.

        Raises:
            ReadOnlyToken: The token must not do that.
            NotPosted: Anything else, after several tries where more tries could help.
        """
        for delay in DELAYS_SECONDS:
            try:
                return self._post(body)
            except Passing as problem:
                wait = min(max(delay, problem.wait_seconds), LONGEST_DELAY_SECONDS)
                say(f"{problem}; trying again in {wait} s")
                time.sleep(wait)
        return self._post(body)

    def _post(self, body: str) -> str:
        # Every try looks again: a comment may have been written although its answer got lost.
        found = self._ours()
        if found is None:
            answer, _ = self._call("POST", f"issues/{self.number}/comments", {"body": body})
        else:
            answer, _ = self._call("PATCH", f"issues/comments/{found}", {"body": body})
        return str(answer.get("html_url", "")) if isinstance(answer, dict) else ""

    def _ours(self) -> int | None:
        """Id of our comment. One that quotes it, or begins like it but is somebody else's, is not ours."""
        for page in range(1, _MOST_PAGES + 1):
            comments, more = self._call("GET", f"issues/{self.number}/comments?per_page={_PER_PAGE}&page={page}")
            for comment in comments:
                user = comment.get("user") or {}  # null when the account is gone
                own = user.get("type") == "Bot" and user.get("login") == self.author
                if own and str(comment.get("body") or "").startswith(MARKER):
                    return int(comment["id"])
            if not more:
                break
        return None

    def _call(self, method: str, path: str, body: Mapping[str, str] | None = None) -> tuple[Any, bool]:
        """The answer, and whether it has a next page."""
        request = urllib.request.Request(  # noqa: S310  # `settings` lets no other scheme than http and https through
            f"{self.url}/repos/{self.repository}/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "User-Agent": "hyperpod-review",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        try:
            with _OPENER.open(request, timeout=TIMEOUT_SECONDS) as answer:
                return json.load(answer), 'rel="next"' in (answer.headers.get("Link") or "")
        except urllib.error.HTTPError as error:
            with error:
                raise self._problem(method, error) from None
        except (OSError, http.client.HTTPException) as error:
            raise Passing(f"{method}: no answer from the API: {type(error).__name__}: {error}") from None
        except ValueError:
            raise Passing(f"{method}: the API's answer is no JSON") from None

    def _problem(self, method: str, error: urllib.error.HTTPError) -> NotPosted:
        try:
            said = str(json.loads(error.read(10_000))["message"])
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
            said = str(error.reason)
        message = f"{method}: the API answered {error.code}: {said.replace(self.token, '***')[:300]}"
        wait = error.headers.get("Retry-After") or ""
        limited = wait or error.headers.get("X-RateLimit-Remaining") == "0" or "rate limit" in said.lower()
        if limited or error.code == HTTPStatus.TOO_MANY_REQUESTS or error.code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return Passing(message, int(wait) if wait.isdecimal() else 0)
        if error.code == HTTPStatus.FORBIDDEN:
            return ReadOnlyToken(message)
        return NotPosted(message)


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Posts the review of a folder and returns the exit code."""
    if len(arguments) != 1:
        say("usage: review_comment.py FOLDER")
        return 2
    review = read(Path(arguments[0]))
    body = fitted(review.text, footer(review, environ))
    try:
        where = settings(environ).post(body)
    except ReadOnlyToken as problem:
        say(
            f"::warning::{problem}. The token must not write comments: the pull request comes from a fork or from "
            "Dependabot, or the job lacks `pull-requests: write`. The review is in the summary of the run"
        )
        summarize(body, environ)
        return review.code
    except NotPosted as problem:
        say(f"::error::the comment could not be posted: {problem}. The review is in the summary of the run")
        summarize(body, environ)
        return max(review.code, 1)
    say(f"posted: {where}")
    return review.code


def read(folder: Path) -> Review:
    """The review in a folder of `review.sh`; that there is none, where it is not complete."""
    code, text = _content(folder / "exit-code").strip(), _content(folder / "review.md").strip()
    if code in {"0", "1"} and text:
        note = _content(folder / "note.md").strip()
        return Review(code=int(code), text=f"{note}\n\n{text}" if note else text)
    lines = [line for line in _content(folder / "error.txt").splitlines() if line.strip()]
    problem = lines[-1] if lines else "the job that makes it has ended too early: see the log of the run"
    # Four spaces make a code block of a line, in which nothing is Markdown.
    return Review(code=2, text=f"{_NO_REVIEW}\n\n    {_one_line(problem)[:1_000]}")


def footer(review: Review, environ: Mapping[str, str]) -> str:
    """What was reviewed, where there is more, and who accepted it or how to."""
    run = "{}/{}/actions/runs/{}".format(
        *(environ.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"))
    )
    lines = []
    accepted_by = environ.get("ACCEPTED_BY")
    if accepted_by:
        lines.append(_ACCEPTED.format(accepted_by))
    if review.code == 1:
        lines.append(_NOT_ACCEPTED if accepted_by else _HOW_TO_ACCEPT)
    commit = environ.get("HEAD_SHA", "")[:7]
    lines.append(f"Commit {commit}; [run]({run}), whose artifact `hyperpod-review` has this as JSON.")
    return "\n\n".join(f"<sub>{line}</sub>" for line in lines)


def fitted(text: str, end: str) -> str:
    """The comment, cut at the end of a line where it is longer than GitHub takes."""
    whole = f"{MARKER}\n{text}\n\n{end}\n"
    if len(whole) <= LIMIT:
        return whole
    room = LIMIT - len(f"{MARKER}\n\n\n{_CUT}\n\n{end}\n") - _CLOSING
    kept = text[:room]
    kept = kept.rpartition("\n")[0] or kept
    return f"{MARKER}\n{kept}{_ends(kept)}\n\n{_CUT}\n\n{end}\n"


def settings(environ: Mapping[str, str]) -> Api:
    """Where to post.

    Raises:
        NotPosted: A variable is missing, or not of the form that it should have. Its value is not repeated.
    """
    return Api(
        url=_setting(environ, "GITHUB_API_URL", r"https?://[^\s?#]+").rstrip("/"),
        token=_setting(environ, "GITHUB_TOKEN", r"[!-~]+"),
        repository=_setting(environ, "GITHUB_REPOSITORY", r"[\w.-]+/[\w.-]+"),
        number=_setting(environ, "PR_NUMBER", r"[1-9]\d*"),
        author=environ.get("COMMENT_AUTHOR") or "github-actions[bot]",
    )


def summarize(body: str, environ: Mapping[str, str]) -> None:
    """Adds the review to the summary of the run, which holds 1 MiB a step: more than any comment."""
    file = environ.get("GITHUB_STEP_SUMMARY")
    if file:
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write(body)


def say(message: str) -> None:
    """Writes a line of the log. What is not ours in it cannot become a line, and so a workflow command, of its own."""
    sys.stdout.write(_one_line(message) + "\n")
    sys.stdout.flush()


def _setting(environ: Mapping[str, str], name: str, form: str) -> str:
    value = environ.get(name, "")
    if not re.fullmatch(form, value, re.ASCII):
        raise NotPosted(f"the environment variable {name} is {'not what it should be' if value else 'missing'}")
    return value


def _content(file: Path) -> str:
    """The text of a file that may be missing, too long or no text."""
    try:
        with file.open(encoding="utf-8", errors="replace") as stream:
            return stream.read(4 * LIMIT)
    except OSError:
        return ""


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text).strip()


def _ends(kept: str) -> str:
    """Closes what a cut has left open, so that the rest of the comment is not inside of it."""
    fences = sum(line.startswith("```") for line in kept.splitlines())
    details = kept.count("<details") - kept.count("</details>")
    return "\n```" * (fences % 2) + "\n\n</details>" * min(max(details, 0), _MOST_OPEN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
