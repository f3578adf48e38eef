"""What a review says of people: who gets in, who is locked out, who becomes root."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.review import changes, rosters
from hyperpod_constructs.review.comparison import Comparison
from hyperpod_constructs.review.impacts import Impact
from hyperpod_constructs.review.report import page
from hyperpod_constructs.review.rosters import RosterEdit

ADA = {"name": "ada", "uid": 3001, "keys": [], "groups": [], "admin": False}
BOB = {"name": "bob", "uid": 3002, "keys": [], "groups": [], "admin": False}
VISION = {"name": "vision", "members": ["ada"], "weight": 10}
NODES = {"p5": {"partition": "train", "count": 30, "spares": 2}}


def side(folder: Path, roster: Any) -> assembly.Assembly:
    """An assembly whose stack says where a roster lies."""
    folder.mkdir()
    text = roster if isinstance(roster, str) else json.dumps(roster)
    key = f"hyperpod/train/{hash(text) % 10**8:08d}/roster.json"
    if roster is not None:
        (folder / "file").write_text(text)
    value = {"Fn::Sub": "s3://assets-${AWS::AccountId}/" + key}
    parameter = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Name": "/r", "Value": value}}
    (folder / "T.template.json").write_text(json.dumps({"Resources": {"Roster": parameter}}))
    file = {"source": {"path": "file"}, "destinations": {"one": {"objectKey": key}}}
    (folder / "T.assets.json").write_text(json.dumps({"files": {"one": file}}))
    artifacts = {
        "T.assets": {"type": "cdk:asset-manifest", "properties": {"file": "T.assets.json"}},
        "T": {"type": "aws:cloudformation:stack", "properties": {"templateFile": "T.template.json"}},
    }
    (folder / "manifest.json").write_text(json.dumps({"version": "44.0.0", "artifacts": artifacts}))
    return assembly.read(folder)


def edit(folder: Path, base: Any, head: Any) -> RosterEdit:
    """What changes between two rosters."""
    (found,) = rosters.of(Comparison(base=side(folder / "base", base), head=side(folder / "head", head)))
    return found


def roster(*users: Any, teams: Any = (VISION,), nodes: Any = NODES) -> dict[str, Any]:
    return {"version": 1, "users": list(users), "groups": [], "teams": list(teams), "nodes": nodes}


class TestARoster:
    def test_names_who_comes_and_who_goes(self, tmp_path: Path) -> None:
        found = edit(tmp_path, roster(ADA), roster(BOB))
        assert (found.added, found.removed, found.changed) == (("bob",), ("ada",), ())

    @pytest.mark.parametrize("field", [{"keys": ["ssh-ed25519 AAAA"]}, {"groups": ["data"]}])
    def test_names_who_has_other_keys_or_groups(self, tmp_path: Path, field: Any) -> None:
        assert edit(tmp_path, roster(ADA), roster({**ADA, **field})).changed == ("ada",)

    def test_names_who_becomes_root(self, tmp_path: Path) -> None:
        assert edit(tmp_path, roster(ADA), roster({**ADA, "admin": True}, {**BOB, "admin": True})).admins == (
            "ada",
            "bob",
        )

    def test_does_not_name_who_was_root_before(self, tmp_path: Path) -> None:
        boss = {**ADA, "admin": True}
        assert edit(tmp_path, roster(boss), roster({**boss, "keys": ["ssh-ed25519 AAAA"]})).admins == ()

    def test_becoming_root_is_no_other_change(self, tmp_path: Path) -> None:
        found = edit(tmp_path, roster(ADA), roster({**ADA, "admin": True}))
        assert (found.admins, found.changed) == (("ada",), ())

    def test_names_who_is_root_no_more(self, tmp_path: Path) -> None:
        found = edit(tmp_path, roster({**ADA, "admin": True}), roster(ADA))
        assert (found.demoted, found.changed) == (("ada",), ())

    @pytest.mark.parametrize(("before", "after"), [(ADA, {**ADA, "uid": 3009}), (ADA, {**ADA, "name": "robert"})])
    def test_names_numbers_that_nodes_refuse(self, tmp_path: Path, before: Any, after: Any) -> None:
        found = edit(tmp_path, roster(before), roster(after))
        assert (found.renumbered, found.added) == ((after["name"],), ())

    def test_names_groups_and_priorities(self, tmp_path: Path) -> None:
        data = {**roster(ADA), "groups": [{"name": "data", "gid": 4001}], "priorities": {"training": 75}}
        other = {**data, "groups": [{"name": "data", "gid": 4002}], "priorities": {"training": 50}}
        found = edit(tmp_path, data, other)
        assert (found.groups, found.priorities) == (("data",), ("training",))

    def test_names_teams_with_another_share(self, tmp_path: Path) -> None:
        found = edit(tmp_path, roster(ADA), roster(ADA, teams=({**VISION, "weight": 20}, {"name": "speech"})))
        assert found.teams == ("speech", "vision")

    @pytest.mark.parametrize("missing", [None, "{", "[]"])
    def test_that_is_not_at_hand_is_said_to_be_so(self, tmp_path: Path, missing: Any) -> None:
        found = edit(tmp_path, roster(ADA), missing)
        assert (found.compared, found.added) == (False, ())
        item = page._roster(found)
        assert item is not None
        assert item.text.startswith("users and teams were not at hand on both sides")


class TestTheComment:
    def test_says_when_it_happens_and_what_stays(self, tmp_path: Path) -> None:
        item = page._roster(edit(tmp_path, roster(ADA), roster({**BOB, "admin": True})))
        assert item is not None
        assert item.text == (
            "bob can log in; ada locked out, their processes end, homes stay; "
            "bob may do everything as root on every node. "
            "Nodes that run follow within 6 minutes"
        )

    def test_leaves_counts_to_the_figures(self, tmp_path: Path) -> None:
        more = {"p5": {**NODES["p5"], "count": 40}}
        found = edit(tmp_path, roster(ADA), roster(ADA, nodes=more))
        assert found.nodes == ("p5",)
        assert page._roster(found) is None


class TestTheParameter:
    def test_that_goes_takes_no_data_with_it(self, tmp_path: Path) -> None:
        """Its value is made again by any deploy: Retain would keep a name that the next cluster needs."""
        head = tmp_path / "head"
        comparison = Comparison(base=side(tmp_path / "base", roster(ADA)), head=empty(head))
        (found,) = [change for change in changes.of(comparison) if change.type == "AWS::SSM::Parameter"]
        assert (found.impact, found.effect.reason.partition(":")[0]) == (
            Impact.REMOVED,
            "nodes that run keep the counts, users and teams they know",
        )


def empty(folder: Path) -> assembly.Assembly:
    """The same stack without the parameter."""
    found = side(folder, roster(ADA))
    template = {"Resources": {"Other": {"Type": "AWS::CloudFormation::WaitConditionHandle"}}}
    (folder / "T.template.json").write_text(json.dumps(template))
    return assembly.read(found.path)
