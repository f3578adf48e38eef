"""An AWS on the loopback that answers as AWS does on the wire: a real client, real bodies, no credentials that matter.

moto and botocore's Stubber answer inside the client; what a person meets first (an expired token, a Region that is not
enabled) comes as a status and a body, of another form for each protocol. Source of forms and codes: Smithy's AWS
protocols, and "Common errors" in each service's API reference.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self, TypeAlias
from urllib.parse import parse_qs

_SCOPE: Final = re.compile(r"Credential=[^/]+/\d+/(?P<region>[^/]+)/(?P<service>[^/]+)/")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request.

    Attributes:
        service: As signatures have it, for example `sagemaker`.
        operation: For example `DescribeCluster`; method and path where the protocol names none.
        protocol: `json`, `query`, `ec2`, `rest-xml` or `rest-json`.
        parameters: Those of the body.
    """

    service: str
    operation: str
    protocol: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error of AWS."""

    code: str
    status: int = 400
    message: str = "as AWS says"


Reply: TypeAlias = Mapping[str, Any] | str | Refusal
"""Members of an answer in JSON, what is inside an answer in XML, or an error."""


class Loopback:
    """A server on the loopback; a context manager.

    Attributes:
        answer: What decides about every request.
        asked: Every operation that was asked for, in order.
    """

    def __init__(self) -> None:
        self.answer: Callable[[Asked], Reply] = lambda _: {}
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self._answer()

            def do_GET(self) -> None:
                self._answer()

            def do_HEAD(self) -> None:
                self._answer()

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                asked = _asked(self.command, self.path, dict(self.headers), body)
                outer.asked.append(asked.operation)
                status, headers, text = _written(asked, outer.answer(asked))
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(text.encode()))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(text.encode())

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _asked(method: str, path: str, headers: Mapping[str, str], body: str) -> Asked:
    scope = _SCOPE.search(headers.get("Authorization", ""))
    service = scope["service"] if scope else ""
    target = headers.get("X-Amz-Target", "")
    if target:
        return Asked(service, target.rpartition(".")[2], "json", json.loads(body or "{}"))
    form = {name: values[0] for name, values in parse_qs(body).items()}
    if "Action" in form:
        return Asked(service, form["Action"], "ec2" if service == "ec2" else "query", form)
    return Asked(service, f"{method} {path.partition('?')[0]}", "rest-xml" if service == "s3" else "rest-json", {})


def _written(asked: Asked, reply: Reply) -> tuple[int, dict[str, str], str]:
    """Status, headers and body of an answer."""
    if asked.protocol in {"json", "rest-json"}:
        headers = {"Content-Type": "application/x-amz-json-1.1"}
        if isinstance(reply, Refusal):
            text = json.dumps({"__type": reply.code, "message": reply.message})
            return reply.status, {**headers, "X-Amzn-ErrorType": reply.code}, text
        return 200, headers, json.dumps(reply or {})
    headers = {"Content-Type": "text/xml"}
    if isinstance(reply, Refusal):
        error = f"<Code>{reply.code}</Code><Message>{reply.message}</Message>"
        wrapped = {
            "ec2": f"<Response><Errors><Error>{error}</Error></Errors><RequestID>1</RequestID></Response>",
            "query": f"<ErrorResponse><Error><Type>Sender</Type>{error}</Error></ErrorResponse>",
            "rest-xml": f"<Error>{error}</Error>",
        }
        return reply.status, headers, wrapped[asked.protocol]
    inside = reply if isinstance(reply, str) else ""
    if asked.protocol == "query":
        inside = f"<{asked.operation}Result>{inside}</{asked.operation}Result>"
    return 200, headers, f"<{asked.operation}Response>{inside}</{asked.operation}Response>"
