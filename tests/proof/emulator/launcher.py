"""Starts an AWS on this machine's loopback: ministack with the types it lacks, moto's SageMaker with HyperPod in it.

Runs in an environment of its own (`.venv/emulator`), because ministack pins another botocore than the library's. Names
with an underscore are ministack's own and may change with any release: its version is pinned exactly.

Environment: GATEWAY_PORT, BIND_HOST, SAGEMAKER_PORT, EMULATOR_JOURNAL (folder), CFNLINT_SCHEMAS, AWS_REGION.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from ministack import app
from ministack.services.cloudformation import engine, provisioners, stacks
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

from tests.proof.emulator import account, buckets, exports, hyperpod, resources
from tests.proof.emulator.journal import Journal
from tests.proof.emulator.registry import Registry

LOOPBACK = "127.0.0.1"


class Handlers(dict[str, Any]):
    """ministack's handlers, without those of types that a fault takes away."""

    def __init__(self, handlers: dict[str, Any], journal: Journal) -> None:
        """Takes over all handlers."""
        super().__init__(handlers)
        self._journal = journal

    def __contains__(self, name: object) -> bool:
        """Whether the Region has this type now."""
        return super().__contains__(name) and not self._journal.absent(str(name))


def eager(resource_definitions: dict[str, Any], conditions: dict[str, Any]) -> list[str]:
    """An order of creation in which what needs others comes as early as its dependencies allow.

    Any order that the dependencies allow may happen on AWS. The natural one hides a dependency that is missing: rules
    and routes happen to be there when the cluster starts.
    """
    natural: list[str] = engine._topological_sort(resource_definitions, conditions)
    types = {name: resource_definitions[name].get("Type") for name in natural}
    order: dict[str, None] = {}

    def take(name: str) -> None:
        needed = {name}
        for each in reversed(natural):
            if each in needed:
                needed |= {*engine._extract_deps(resource_definitions[each], set(natural))}
        needed -= {name, *order}
        # Of what it needs, too, that comes first which needs others.
        for each in natural:
            if each in needed and types[each] in resources.EAGER and each not in order:
                take(each)
        order.update(dict.fromkeys(each for each in natural if each in needed))
        order[name] = None

    for kind in resources.EAGER:
        for name in natural:
            if types[name] == kind and name not in order:
                take(name)
    return [*order, *(name for name in natural if name not in order)]


def serve_sagemaker(port: int) -> None:
    """Starts moto's SageMaker in a thread."""
    hyperpod.install()
    server = make_server(LOOPBACK, port, DomainDispatcherApplication(create_backend_app), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def unplugged(inner: Callable[..., Awaitable[None]], journal: Journal) -> Callable[..., Awaitable[None]]:
    """The gateway behind a network that a fault takes away."""

    async def gateway(scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Awaitable[None]]) -> None:
        if scope["type"] == "http" and journal.disconnected():
            await send({"type": "http.response.start", "status": 503, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await inner(scope, receive, send)

    return gateway


def main() -> None:
    """Serves until it is stopped."""
    journal = Journal(Path(os.environ["EMULATOR_JOURNAL"]))
    port = int(os.environ["SAGEMAKER_PORT"])
    registry = Registry(Path(os.environ["CFNLINT_SCHEMAS"]), os.environ["AWS_REGION"])
    resources.install(registry, f"http://{LOOPBACK}:{port}")
    account.install(registry, journal)
    buckets.install()
    exports.install()
    resources.watch(registry, journal)
    provisioners._RESOURCE_HANDLERS = Handlers(provisioners._RESOURCE_HANDLERS, journal)
    stacks._topological_sort = eager
    app.app = unplugged(app.app, journal)
    serve_sagemaker(port)
    app.main()


if __name__ == "__main__":
    main()
