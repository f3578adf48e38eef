from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.account import redaction, snapshot as writer
from hyperpod_constructs.errors import UnreadableSnapshot
from hyperpod_constructs.review.live import snapshot as live
from tests.review.snapshots import PLAN, SCRIPTS, file_system, group, plan, quota, read, snapshot, written


def refused(folder: Path, data: object) -> str:
    """Why a file is refused, without its name."""
    file = written(folder, data)
    with pytest.raises(UnreadableSnapshot) as error:
        live.read(file)
    said = str(error.value)
    assert "\n" not in said
    return said.removeprefix(f"{file}: ")


def changed(place: str, value: Any) -> dict[str, Any]:
    """A whole snapshot with one value in place of another, or without it."""
    data = snapshot(plans=[plan()], file_systems=[file_system()], quotas=[quota()])
    *steps, last = [int(step) if step.isdigit() else step for step in place.split(".")]
    found: Any = data
    for step in steps:
        found = found[step]
    if value is KeyError:
        del found[last]
    else:
        found[last] = value
    return data


class TestASnapshot:
    def test_has_the_form_that_the_command_writes(self) -> None:
        assert (live.FORMAT, live.VERSION) == (writer.FORMAT, writer.VERSION)

    def test_is_read_whole(self, tmp_path: Path) -> None:
        missing = [{"what": "quotas", "permission": "servicequotas:ListServiceQuotas", "why": "denied"}]
        data = snapshot(
            group(plan=PLAN, plan_status="Active", current=30, nodes={"Pending": 2, "Running": 28}),
            plans=[plan()],
            file_systems=[file_system()],
            quotas=[quota()],
            missing=missing,
        )
        found = read(tmp_path, data)
        assert found.taken == datetime(2026, 11, 30, 9, 10, tzinfo=UTC)
        assert (found.account, found.region, found.redacted) == ("111122223333", "us-west-2", False)
        assert (found.cluster.name, found.cluster.status, found.cluster.continuous) == ("Frontier", "InService", True)
        (p5,) = found.cluster.groups
        assert (p5.target, p5.current, p5.running, p5.plan, p5.scripts) == (32, 30, 28, PLAN, SCRIPTS)
        assert p5.role == "arn:aws:iam::111122223333:role/nodes"
        assert (p5.image.release, p5.image.status) == ("1.2.3", "UpToDate")
        assert (found.plans[0].count, found.plans[0].ends) == (32, datetime(2026, 12, 10, 9, 10, tzinfo=UTC))
        assert found.file_systems[0].used_bytes == 31_000_000_000_000
        assert (found.quotas[0].applied, found.quotas[0].used) == (40.0, 32)
        assert (found.missing[0].what, found.missing[0].why) == ("quotas", "denied")

    def test_may_be_redacted(self, tmp_path: Path) -> None:
        data = snapshot(group(plan=PLAN), plans=[plan()], file_systems=[file_system()], quotas=[quota()], redacted=True)
        found = read(tmp_path, redaction.redacted(data))
        assert (found.redacted, found.account) == (True, "000000000001")
        assert found.cluster.groups[0].scripts == SCRIPTS.replace(data["account"], found.account)

    def test_of_nodes_that_could_not_be_listed_counts_all(self, tmp_path: Path) -> None:
        (p5,) = read(tmp_path, snapshot(group(nodes=None, current=30))).cluster.groups
        assert (p5.nodes, p5.running) == (None, 30)

    @pytest.mark.parametrize(
        "place",
        [
            "cluster.failure_message",
            "cluster.groups.0.nodes",
            "cluster.groups.0.scripts",
            "cluster.groups.0.image.release",
            "plans.0.count",
            "plans.0.ends",
            "file_systems.0.used_bytes",
            "quotas.0.applied",
            "quotas.0.used",
        ],
    )
    def test_may_not_know(self, tmp_path: Path, place: str) -> None:
        read(tmp_path, changed(place, None))

    @pytest.mark.parametrize("place", ["new", "cluster.new", "cluster.groups.0.new", "cluster.groups.0.image.new"])
    def test_may_have_keys_that_are_newer(self, tmp_path: Path, place: str) -> None:
        read(tmp_path, changed(place, {}))

    def test_may_begin_with_a_byte_order_mark(self, tmp_path: Path) -> None:
        file = written(tmp_path, snapshot())
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
        assert live.read(file).cluster.name == "Frontier"


class TestAFileThatIsNone:
    @pytest.mark.parametrize(
        ("data", "said"),
        [
            ("", "is not JSON: "),
            ("{", "is not JSON: "),
            ("[" * 100_000, "is not JSON: "),
            ("[]", "is no snapshot of a cluster: `hyperpod snapshot CLUSTER` writes one"),
            ('{"Resources": {}}', "is no snapshot of a cluster: "),
            (snapshot(format="hyperpod"), "is no snapshot of a cluster: "),
            (snapshot(version=2), "has version 2, this command reads 1: take the snapshot again"),
            (snapshot(version=True), "has version true, this command reads 1"),
            (snapshot(group("a"), group("b"), group("a")), 'cluster.groups has "a" more than once'),
        ],
    )
    def test_is_refused_in_one_line(self, tmp_path: Path, data: object, said: str) -> None:
        assert refused(tmp_path, data).startswith(said)

    @pytest.mark.parametrize(
        ("place", "value", "said"),
        [
            ("taken", KeyError, "taken is not there; it must be, as `hyperpod snapshot` writes it"),
            ("taken", "yesterday", 'taken is "yesterday"; it must be a time with its offset, such as '),
            ("taken", "2026-11-30T09:10:00", 'taken is "2026-11-30T09:10:00"; it must be a time with its offset'),
            ("redacted", 0, "redacted is 0; it must be true or false"),
            ("cluster", None, "cluster is null; it must be an object"),
            ("cluster.name", None, "cluster.name is null; it must be a text"),
            ("cluster.groups", {}, "cluster.groups is {}; it must be a list"),
            ("cluster.groups.0", "p5", 'cluster.groups[0] is "p5"; it must be an object'),
            ("cluster.groups.0.target", "32", 'cluster.groups[0].target is "32"; it must be a whole number from 0'),
            ("cluster.groups.0.target", True, "cluster.groups[0].target is true; it must be a whole number"),
            ("cluster.groups.0.target", None, "cluster.groups[0].target is null; it must be a whole number"),
            ("cluster.groups.0.target", -1, "cluster.groups[0].target is -1; it must be a whole number"),
            ("cluster.groups.0.current", 1.5, "cluster.groups[0].current is 1.5; it must be a whole number"),
            ("cluster.groups.0.nodes", [], "cluster.groups[0].nodes is []; it must be an object"),
            ("cluster.groups.0.nodes", {"Running": "1"}, 'cluster.groups[0].nodes.Running is "1"; it must be a whole'),
            ("cluster.groups.0.image", KeyError, "cluster.groups[0].image is not there"),
            ("cluster.groups.0.file_systems", [1], "cluster.groups[0].file_systems[0] is 1; it must be a text"),
            ("quotas.0.applied", float("nan"), "quotas[0].applied is NaN; it must be a number from 0"),
            ("quotas.0.applied", float("inf"), "quotas[0].applied is Infinity; it must be a number from 0"),
            ("quotas.0.applied", "x" * 100, f'quotas[0].applied is "{"x" * 59}...; it must be a number from 0'),
        ],
    )
    def test_is_refused_where_a_value_is_of_another_type(
        self, tmp_path: Path, place: str, value: object, said: str
    ) -> None:
        assert refused(tmp_path, changed(place, value)).startswith(said)

    def test_is_refused_where_it_cannot_be_read(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableSnapshot, match="No such file"):
            live.read(tmp_path / "none.json")
        (tmp_path / "utf16.json").write_text("{}", encoding="utf-16")
        with pytest.raises(UnreadableSnapshot, match="is not text in UTF-8"):
            live.read(tmp_path / "utf16.json")
