from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest

from hyperpod_constructs.cli import downloads, helm
from hyperpod_constructs.planning.chart.files import LOCK
from tests.charts import small
from tests.cli.conftest import Result, Run

PLUGIN = small.packed(small.below("plugin", small.one("plugin", "1.2.3", "nvcr.io/nvidia/plugin:v1")))


class Server:
    """A web server on this machine; answers by path, and asked counts.

    Attributes:
        answers: Body by path; a number is a status, and a text where to go instead.
        cut: Paths whose answers break off in the middle.
        asked: Paths that were asked for.
    """

    def __init__(self) -> None:
        self.answers: dict[str, bytes | int | str] = {}
        self.cut: set[str] = set()
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                answer = outer.answers.get(self.path, 404)
                body = answer if isinstance(answer, bytes) else b""
                self.send_response(200 if isinstance(answer, bytes) else answer if isinstance(answer, int) else 302)
                if isinstance(answer, str):
                    self.send_header("Location", answer)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if self.path in outer.cut else body)

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@dataclass
class World:
    """A repository with a chart, one with its plugin, and the command."""

    server: Server
    run: Run
    archive: str = f"/repo/archive/{small.COMMIT}.tar.gz"
    files: dict[str, bytes] = field(default_factory=dict)
    into: ClassVar[Path] = Path("chart")

    def __post_init__(self) -> None:
        needs = (
            "{name: agent, version: 0.1.0, repository: 'file://charts/an-agent'}",
            f"{{name: plugin, version: ~1.2, repository: '{self.server.url}/charts/', condition: plugin.enabled}}",
        )
        self.files = {
            **small.one("small", "0.1.0", "registry.k8s.io/nfd:v1", *needs),
            **small.below("charts/an-agent", small.one("agent", "0.1.0", "agent:1")),
        }
        self.serve()
        self.index("1.2.2", "1.2.3", "1.3.0")
        self.server.answers["/charts/plugin-1.2.3.tgz"] = PLUGIN

    def serve(self, *more: Any, **answers: bytes) -> None:
        repository = {**small.below(f"repo-1/{small.FOLDER}", self.files), "repo-1/README.md": b"x"}
        repository |= {f"repo-1/{name}": content for name, content in answers.items()}
        self.server.answers[self.archive] = small.packed(repository, *more)

    def index(self, *versions: str, digest: str | None = small.sha256(PLUGIN)) -> None:
        entries = [
            f"  - {{version: {version}, urls: [plugin-{version}.tgz]{f', digest: {digest}' if digest else ''}}}"
            for version in versions
        ]
        self.server.answers["/charts/index.yaml"] = "\n".join(["entries:", "  plugin:", *entries]).encode()

    def fetch(self, *arguments: str, commit: str = small.COMMIT, into: str = "chart") -> Result:
        where = ["--commit", commit, "--into", into, "--repository", f"{self.server.url}/repo/"]
        return self.run("chart", "fetch", *where, "--folder", small.FOLDER, *arguments)

    def refuses(self, said: str, *arguments: str, code: int = 1, **where: str) -> None:
        """One line on standard error, and nothing is written."""
        before = tree(Path())
        result = self.fetch(*arguments, **where)
        assert (result.code, result.out, result.err.count("\n")) == (code, "", 1), result
        assert said in result.err
        assert tree(Path()) == before


def tree(folder: Path) -> Mapping[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def world(run: Run) -> Iterator[World]:
    with Server() as server:
        yield World(server, run)


class TestFetch:
    def test_brings_the_chart_and_all_that_it_needs(self, world: World) -> None:
        result = world.fetch()
        assert (result.code, result.err) == (0, "")
        written = tree(Path("chart"))
        assert {*world.files, LOCK, "charts/plugin/Chart.yaml", "charts/plugin/templates/deployment.yaml"} == {
            name.removeprefix("chart/") for name in written
        }
        lock = json.loads(written[f"chart/{LOCK}"])
        archive = world.server.answers[world.archive]
        assert isinstance(archive, bytes)
        assert (lock["commit"], lock["archive_sha256"]) == (small.COMMIT, small.sha256(archive))
        plugin = {"chart": ".", "name": "plugin", "version": "1.2.3", "sha256": small.sha256(PLUGIN)}
        assert lock["dependencies"] == [plugin | {"repository": f"{world.server.url}/charts/"}]
        assert "trusted on first use, as nobody told a hash: the archive;" in result.out
        assert [path.name for path in Path().iterdir()] == ["chart"]

    def test_with_the_right_hash_nothing_is_taken_on_trust(self, world: World) -> None:
        archive = world.server.answers[world.archive]
        assert isinstance(archive, bytes)
        data = world.fetch("--sha256", small.sha256(archive), "--format", "json").data
        assert (data["trusted_on_first_use"], data["dependencies"][0]["name"]) == ([], "plugin")

    def test_a_hash_that_an_index_lacks_is_taken_on_trust_and_said_to_be(self, world: World) -> None:
        world.index("1.2.3", digest=None)
        assert world.fetch("--format", "json").data["trusted_on_first_use"] == ["the archive", "plugin"]

    def test_again_it_is_checked_against_the_lock(self, world: World) -> None:
        world.fetch()
        before = tree(Path())
        result = world.fetch()
        assert (result.code, result.out.splitlines()[-1]) == (0, f"all of it is what {LOCK} says")
        assert tree(Path()) == before

    def test_the_lock_alone_is_enough_to_fetch_the_same_again(self, world: World) -> None:
        world.fetch()
        before = tree(Path())
        for path in Path("chart").rglob("*"):
            if path.is_file() and path.name != LOCK:
                path.unlink()
        for path in sorted(Path("chart").rglob("*/"), reverse=True):
            if path.is_dir():
                path.rmdir()
        world.index("1.2.2", "1.2.3", "1.2.4", "1.3.0")
        assert world.fetch().code == 0
        assert tree(Path()) == before

    def test_follows_a_redirect_on_this_machine(self, world: World) -> None:
        world.server.answers["/elsewhere"] = world.server.answers[world.archive]
        world.server.answers[world.archive] = "/elsewhere"
        assert world.fetch().code == 0

    def test_takes_the_version_of_helms_lock(self, world: World) -> None:
        older = small.packed(small.below("plugin", small.one("plugin", "1.2.2", "a:1")))
        world.index("1.2.2", "1.2.3", digest=None)
        world.server.answers["/charts/plugin-1.2.2.tgz"] = older
        world.files["Chart.lock"] = b"dependencies: [{name: plugin, version: 1.2.2}]\n"
        world.serve()
        assert world.fetch("--format", "json").data["dependencies"][0]["version"] == "1.2.2"

    def test_a_version_of_helms_lock_that_the_chart_has_moved_on_from_does_not_count(self, world: World) -> None:
        world.files["Chart.lock"] = b"dependencies: [{name: plugin, version: 0.9.0}]\n"
        world.serve()
        assert world.fetch("--format", "json").data["dependencies"][0]["version"] == "1.2.3"

    def test_brings_what_a_chart_in_it_needs(self, world: World) -> None:
        needs = f"{{name: plugin, version: '>=1.2 <1.3', repository: '{world.server.url}/charts', alias: p}}"
        world.files |= small.below("charts/an-agent", small.one("agent", "0.1.0", "a:1", needs))
        world.serve()
        data = world.fetch("--format", "json").data
        assert [(each["chart"], each["version"]) for each in data["dependencies"]] == [
            (".", "1.2.3"),
            ("charts/an-agent", "1.2.3"),
        ]
        assert Path("chart/charts/an-agent/charts/plugin/Chart.yaml").is_file()
        assert world.server.asked.count("/charts/index.yaml") == 1

    def test_brings_a_local_chart_from_elsewhere_in_the_repository(self, world: World) -> None:
        world.files["Chart.yaml"] = small.chart_yaml(
            "small", "1.0.0", "{name: b, version: 1.0.0, repository: 'file://../b'}"
        )
        world.serve(**{"charts/b/Chart.yaml": small.chart_yaml("b", "1.0.0")})
        assert world.fetch().code == 0
        assert Path("chart/charts/b/Chart.yaml").is_file()

    def test_packed_charts_of_the_users_come_instead_of_a_download(self, world: World) -> None:
        needs = "{name: plugin, version: 1.2.3, repository: 'oci://quay.io/charts'}"
        world.files["Chart.yaml"] = small.chart_yaml("small", "0.1.0", needs)
        world.serve()
        Path("plugin-1.2.3.tgz").write_bytes(PLUGIN)
        data = world.fetch("--dependency", "plugin-1.2.3.tgz", "--format", "json").data
        assert data["dependencies"][0]["sha256"] == small.sha256(PLUGIN)
        world.refuses(
            "`helm pull oci://quay.io/charts/plugin --version 1.2.3` writes a file; give it with --dependency FILE",
            into="other",
        )


class TestFetchRefuses:
    def test_another_hash(self, world: World) -> None:
        world.refuses(f"and --sha256 says {'0' * 64}; do not use it before you know why", "--sha256", "0" * 64)

    def test_an_archive_that_has_changed_since_the_lock(self, world: World) -> None:
        world.fetch()
        world.serve(new=b"x")
        world.refuses(f"and {LOCK} says")

    def test_a_dependency_that_has_changed_since_the_lock(self, world: World) -> None:
        world.fetch()
        other = small.packed(small.below("plugin", small.one("plugin", "1.2.3", "nvcr.io/nvidia/plugin:v2")))
        world.server.answers["/charts/plugin-1.2.3.tgz"] = other
        world.index("1.2.3", digest=small.sha256(other))
        world.refuses(f"plugin 1.2.3 has SHA-256 {small.sha256(other)}, and the lock has 1.2.3 with")

    def test_a_dependency_with_another_hash_than_its_index(self, world: World) -> None:
        world.index("1.2.3", digest="0" * 64)
        world.refuses(f"plugin-1.2.3.tgz has SHA-256 {small.sha256(PLUGIN)}, and its index has {'0' * 64}")

    def test_a_dependency_that_is_another_chart(self, world: World) -> None:
        world.server.answers["/charts/plugin-1.2.3.tgz"] = small.packed(small.below("x", small.one("x", "1.0.0", "a")))
        world.index("1.2.3", digest=None)
        world.refuses("holds x 1.0.0, not plugin 1.2.3")

    def test_another_commit_than_that_of_the_lock(self, world: World) -> None:
        world.fetch()
        world.refuses(f"holds commit {small.COMMIT}, not {'f' * 40}; name another folder", commit="f" * 40)

    def test_a_folder_that_was_changed(self, world: World) -> None:
        world.fetch()
        Path("chart/values.yaml").write_text("a: 1\n")
        world.refuses("chart was changed since it was fetched")

    def test_a_folder_of_somebody_else(self, world: World) -> None:
        Path("chart").mkdir()
        Path("chart/precious").write_text("x")
        world.refuses(f"holds what this command did not write: it has no {LOCK}")

    @pytest.mark.parametrize("text", ["{}", "[]", "x", '{"version": 2, "dependencies": []}'])
    def test_a_lock_that_is_none(self, world: World, text: str) -> None:
        Path("chart").mkdir()
        (Path("chart") / LOCK).write_text(text)
        world.refuses(LOCK)

    def test_a_member_that_leads_out(self, world: World) -> None:
        world.serve(**{"../../../../evil": b"x"})
        world.refuses("'repo-1/../../../../evil' lies outside")

    def test_a_link_in_the_chart(self, world: World) -> None:
        import tarfile

        link = tarfile.TarInfo(f"repo-1/{small.FOLDER}/values.yaml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        world.serve(link)
        world.refuses("values.yaml' is a link to '/etc/passwd'")

    def test_a_bomb(self, world: World) -> None:
        world.server.answers["/charts/plugin-1.2.3.tgz"] = small.packed({"plugin/a": b"\0" * (6 << 20)})
        world.index("1.2.3", digest=None)
        world.refuses("'plugin/a' has 6,291,456 bytes, more than 5,242,880")

    def test_a_folder_that_the_archive_lacks(self, world: World) -> None:
        world.refuses("has no chart in charts/Smal; look at --folder", "--folder", "charts/Smal")

    def test_a_version_that_is_not_there(self, world: World) -> None:
        world.index("1.3.0", "0.9.0")
        world.refuses("plugin: no version fits '~1.2'; the newest are 1.3.0, 0.9.0")

    def test_a_chart_that_the_index_lacks(self, world: World) -> None:
        world.server.answers["/charts/index.yaml"] = b"entries: {}"
        world.refuses("index.yaml has no chart plugin")

    def test_a_range_that_is_not_understood(self, world: World) -> None:
        needs = f"{{name: plugin, version: '1 || 2', repository: '{world.server.url}/charts'}}"
        world.files["Chart.yaml"] = small.chart_yaml("small", "0.1.0", needs)
        world.serve()
        world.refuses("the range '1 || 2' is not understood")

    def test_a_local_chart_outside_of_the_repository(self, world: World) -> None:
        needs = "{name: b, version: 1.0.0, repository: 'file://../../../b'}"
        world.files["Chart.yaml"] = small.chart_yaml("small", "1.0.0", needs)
        world.serve()
        world.refuses("outside of the repository")

    def test_a_dependency_of_the_users_that_nothing_needs(self, world: World) -> None:
        Path("x.tgz").write_bytes(small.packed(small.below("x", small.one("x", "1.0.0", "a"))))
        world.refuses("--dependency: x is nothing that the chart lacks", "--dependency", "x.tgz")

    def test_a_repository_that_is_not_encrypted(self, world: World) -> None:
        world.refuses("http://example.com/archive/", "--repository", "http://example.com")

    def test_a_redirect_to_one(self, world: World) -> None:
        world.server.answers[world.archive] = "http://example.com/x"
        world.refuses("http://example.com/x is not encrypted; use https")

    @pytest.mark.parametrize("commit", ["main", "0123456", "v3.12.0", "0123456789ABCDEF0123456789ABCDEF01234567"])
    def test_what_is_no_whole_commit(self, world: World, commit: str) -> None:
        result = world.fetch(commit=commit)
        assert result.code == 2
        assert "is not a commit: use all 40 hexadecimal digits" in result.err

    @pytest.mark.parametrize("recorded", ["contents_sha256", "dependencies"])
    def test_a_lock_that_records_something_else(self, world: World, recorded: str) -> None:
        world.fetch()
        lock = json.loads(Path("chart", LOCK).read_text())
        lock[recorded] = "0" * 64 if recorded == "contents_sha256" else []
        Path("other").mkdir()
        Path("other", LOCK).write_text(json.dumps(lock))
        world.refuses(f"{LOCK} says otherwise: ", into="other")


class TestFetchCannot:
    def test_reach_a_server(self, world: World) -> None:
        world.refuses(
            "cannot be downloaded: [Errno 111] Connection refused; a machine without a way to the internet cannot "
            "fetch charts: fetch on one that has, and commit the folder",
            *("--repository", "http://127.0.0.1:9"),
            code=2,
        )

    def test_get_what_is_not_there(self, world: World) -> None:
        world.server.answers[world.archive] = 404
        world.refuses("the server answers 404 Not Found", code=2)

    @pytest.mark.parametrize("path", ["archive", "/charts/index.yaml", "/charts/plugin-1.2.3.tgz"])
    def test_use_a_download_that_broke_off(self, world: World, path: str) -> None:
        world.server.cut.add(world.archive if path == "archive" else path)
        world.refuses("broke off after", code=2)

    def test_use_one_that_is_too_large(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("hyperpod_constructs.cli.chart_fetch._MOST_OF_A_REPOSITORY", 100)
        world.refuses("has more than 100 bytes", code=2)

    def test_wait_for_ever(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(downloads, "_LONGEST", -1.0)
        world.refuses("takes longer than", code=2)

    def test_read_a_dependency_of_the_users_that_is_not_there(self, world: World) -> None:
        world.refuses("x.tgz: No such file or directory", "--dependency", "x.tgz", code=2)

    def test_leave_anything_behind_when_the_disk_is_full(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> int:
            raise OSError(28, "No space left on device", "chart")

        monkeypatch.setattr(Path, "write_bytes", full)
        world.refuses("No space left on device", code=2)
        assert list(Path().iterdir()) == []


MANIFESTS = """\
---
# Source: small/templates/deployment.yaml
kind: DaemonSet
metadata: {name: agent, namespace: aws-hyperpod}
spec: {template: {spec: {containers: [{image: "111122223333.dkr.ecr.REGION.amazonaws.com/agent:1"}, {image: a/b:1}]}}}
"""


@dataclass
class Charts:
    """A chart in a folder, and a program in the place of Helm."""

    run: Run
    folder: Path

    def helm(self, script: str) -> None:
        program = Path("bin/helm").absolute()
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def prints(self, manifests: str) -> None:
        Path("manifests").write_text(manifests)
        self.helm(
            f'cat {Path("manifests").absolute()}; echo "$@" >{Path("asked").absolute()}; cp $7 {Path("v").absolute()}'
        )

    def images(self, *arguments: str) -> Result:
        return self.run("chart", "images", str(self.folder), "--region", "us-west-2", *arguments)


@pytest.fixture
def charts(run: Run, monkeypatch: pytest.MonkeyPatch) -> Charts:
    for name, content in small.below("small", small.complete()).items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)
    monkeypatch.setenv("PATH", f"{Path('bin').absolute()}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return Charts(run, Path("small"))


class TestImages:
    def test_lists_each_with_registry_region_and_tag(self, charts: Charts) -> None:
        charts.prints(MANIFESTS.replace("REGION", "us-west-2"))
        result = charts.images()
        assert (result.code, result.err) == (0, "")
        assert result.out.splitlines() == [
            "small: 2 images for us-west-2",
            "  registry                                      Region     repository  tag or digest",
            "  111122223333.dkr.ecr.us-west-2.amazonaws.com  us-west-2  agent       1",
            "  docker.io                                     -          a/b         1",
            "0 findings",
        ]

    def test_gives_helm_the_region_and_the_values(self, charts: Charts) -> None:
        charts.prints("")
        result = charts.run(
            *("chart", "images", "small", "--region", "eu-west-1", "--values", "my.yaml"),
            my_yaml="mlflow: {enabled: true}",
        )
        assert (result.code, result.out.splitlines()[0]) == (0, "small: 0 images for eu-west-1")
        assert Path("asked").read_text().startswith("template hyperpod-dependencies small --namespace kube-system --va")
        assert json.loads(Path("v").read_text()) == {
            "global": {"region": "eu-west-1"},
            "health-monitoring-agent": {"region": "eu-west-1"},
            "mlflow": {"enabled": True},
        }

    def test_another_region_is_a_warning(self, charts: Charts) -> None:
        charts.prints(MANIFESTS.replace("REGION", "us-east-1"))
        data = charts.images("--format", "json").data
        assert [(each["rule"], each["severity"], each["path"]) for each in data["findings"]] == [
            ("HP2302", "warning", "small")
        ]
        assert data["images"][0] == {
            "text": "111122223333.dkr.ecr.us-east-1.amazonaws.com/agent:1",
            "registry": "111122223333.dkr.ecr.us-east-1.amazonaws.com",
            "region": "us-east-1",
            "repository": "agent",
            "tag": "1",
            "digest": None,
            "used_by": ["DaemonSet aws-hyperpod/agent"],
        }

    def test_without_a_way_out_what_is_not_in_ecr_is_a_warning(self, charts: Charts) -> None:
        charts.prints(MANIFESTS.replace("REGION", "us-west-2"))
        found = charts.images("--closed", "--format", "json").data["findings"]
        assert {each["rule"] for each in found} == {"HP2305"}
        assert charts.images("--format", "json").data["findings"] == []

    def test_a_name_that_cannot_be_pulled_is_exit_1(self, charts: Charts) -> None:
        charts.prints(MANIFESTS.replace("REGION", ""))
        result = charts.images()
        assert result.code == 1
        assert "HP2301 error" in result.out
        assert result.out.splitlines()[-1] == "1 finding: 1 error"

    def test_without_helm_nothing_is_checked_and_that_is_said(
        self, charts: Charts, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
        result = charts.images()
        assert (result.code, result.out) == (2, "")
        assert "the images of small were not checked: there is no Helm; put `helm` on PATH, or install" in result.err

    def test_what_helm_refuses_is_not_checked(self, charts: Charts) -> None:
        charts.helm("echo 'Error: values do not meet the schema' >&2; exit 1")
        result = charts.images()
        assert (result.code, result.out) == (2, "")
        assert "were not checked: Helm refuses it: Error: values do not meet the schema" in result.err

    def test_a_helm_that_hangs_is_stopped(self, charts: Charts, monkeypatch: pytest.MonkeyPatch) -> None:
        charts.helm("exec sleep 60")
        monkeypatch.setattr(helm, "_LONGEST", 0.1)
        result = charts.images()
        assert result.code == 2
        assert "timed out after 0.1 seconds" in result.err

    def test_a_chart_that_is_not_complete_is_exit_1(self, charts: Charts) -> None:
        charts.prints("")
        (charts.folder / "charts" / "plugin-1.2.3.tgz").unlink()
        result = charts.images()
        assert (result.code, result.out) == (1, "")
        assert "small lacks plugin ~1.2 in charts/" in result.err

    def test_what_a_chart_in_it_lacks_is_noted(self, charts: Charts) -> None:
        charts.prints("")
        (charts.folder / "charts" / "an-agent" / "Chart.yaml").write_bytes(
            small.chart_yaml("agent", "0.1.0", "{name: keda, version: 2.17.1}")
        )
        result = charts.images()
        assert result.code == 0
        assert "note: keda 2.17.1 of charts/an-agent is not there: Helm leaves it out without a word" in result.err

    @pytest.mark.parametrize(
        ("text", "said"),
        [("a: [", "cannot be read as YAML"), ("- a", "is not a list of keys and values"), (None, "No such")],
    )
    def test_values_that_cannot_be_read_are_exit_2(self, charts: Charts, text: str | None, said: str) -> None:
        charts.prints("")
        if text is not None:
            Path("my.yaml").write_text(text)
        result = charts.images("--values", "my.yaml")
        assert (result.code, result.out) == (2, "")
        assert said in result.err


LIBRARY = """
class HelmError(Exception):
    pass


class Chart:
    def __init__(self, path):
        self.path = path

    @classmethod
    def load(cls, path):
        return cls(path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def render(self, values, *, name, namespace):
        if "bad" in values:
            raise HelmError("values: no such thing")
        region = values["global"]["region"]
        manifest = f"kind: Pod\\nspec: {{containers: [{{image: '{region}.io/{name}/{namespace}:1'}}]}}"
        return {"small/templates/a.yaml": manifest, "small/templates/NOTES.txt": "Thanks: [for installing"}
"""


class TestImagesByLibrary:
    """The Python package in the place of the program; tests/proof has the real one."""

    @pytest.fixture(autouse=True)
    def library(self, charts: Charts, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        assert charts.folder.is_dir()
        monkeypatch.setenv("PATH", "/nowhere")
        Path("library").mkdir()
        Path("library/helm_python.py").write_text(LIBRARY)
        monkeypatch.syspath_prepend(Path("library").absolute())
        yield
        sys.modules.pop("helm_python", None)

    def test_renders_without_what_is_for_people(self, charts: Charts) -> None:
        data = charts.images("--format", "json").data
        assert [image["text"] for image in data["images"]] == ["us-west-2.io/hyperpod-dependencies/kube-system:1"]

    def test_what_it_refuses_is_not_checked(self, charts: Charts) -> None:
        Path("my.yaml").write_text("bad: true")
        result = charts.images("--values", "my.yaml")
        assert (result.code, result.out) == (2, "")
        assert "were not checked: Helm refuses it: values: no such thing" in result.err


def test_an_action_is_wanted(run: Run) -> None:
    result = run("chart")
    assert result.code == 2
    assert "ACTION" in result.err
