"""People and teams as values: what can never be right is refused, and the file that nodes read is always the same."""

from __future__ import annotations

from typing import Any

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.model import roster

P5 = hp.InstanceGroup.compute("p5", "ml.p5.48xlarge", count=30, spares=2, partition="train")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE9gkz ada@example.com"


def user(**fields: Any) -> hp.User:
    return hp.User(**{"name": "ada", "uid": 3001, **fields})


class TestUser:
    @pytest.mark.parametrize("name", ["ada", "_svc", "a-b_9", "a" * 32])
    def test_names_that_useradd_takes_are_taken(self, name: str) -> None:
        assert user(name=name).name == name

    @pytest.mark.parametrize("name", ["Ada", "9a", "", "a" * 33, "a.b", "a b", "root", "ubuntu", "slurm"])
    def test_other_names_and_those_of_the_image_are_refused(self, name: str) -> None:
        with pytest.raises(hp.InvalidValue):
            user(name=name)

    @pytest.mark.parametrize("uid", [2000, 60_000])
    def test_numbers_between_those_of_images_and_of_services_are_taken(self, uid: int) -> None:
        assert user(uid=uid).uid == uid

    @pytest.mark.parametrize("uid", [0, 1000, 1999, 60_001])
    def test_other_numbers_are_refused_with_the_range(self, uid: int) -> None:
        with pytest.raises(hp.InvalidValue, match="use 2,000 to 60,000"):
            user(uid=uid)

    @pytest.mark.parametrize("key", [KEY, KEY.rsplit(" ", 1)[0], f"{KEY}\n"])
    def test_a_line_of_a_pub_file_is_a_key(self, key: str) -> None:
        assert user(keys=[key]).keys == (key,)

    @pytest.mark.parametrize("key", ["AAAA", "ssh-ed25519", f"{KEY}\n{KEY}", 'command="x" ' + KEY])
    def test_anything_else_is_refused(self, key: str) -> None:
        with pytest.raises(hp.InvalidValue, match=r"one line of a \.pub file"):
            user(keys=[key])

    def test_a_private_key_is_refused_and_never_repeated(self) -> None:
        with pytest.raises(hp.InvalidValue, match="a private key of user 'ada' is given") as refused:
            user(keys=["-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA"])
        assert "b3Blb" not in str(refused.value)

    def test_a_list_of_keys_is_no_text(self) -> None:
        with pytest.raises(hp.InvalidValue, match="keys"):
            user(keys=KEY)


class TestPeople:
    def test_two_users_of_one_number_would_own_each_others_files(self) -> None:
        with pytest.raises(hp.InvalidValue, match="uid 3001 occurs twice"):
            hp.People(users=[user(), user(name="bob")])

    def test_a_group_cannot_have_the_number_of_a_users_own_group(self) -> None:
        with pytest.raises(hp.InvalidValue, match="gid 3001 occurs twice"):
            hp.People(users=[user()], groups=[hp.Group(name="vision", gid=3001)])

    def test_a_group_that_is_not_there_is_named_with_those_that_are(self) -> None:
        with pytest.raises(hp.InvalidValue, match=r"user 'ada' is in visoin.*use one of vision"):
            hp.People(users=[user(groups=["visoin"])], groups=[hp.Group(name="vision", gid=4001)])

    def test_nobody_is_allowed(self) -> None:
        assert hp.People().users == ()


class TestTeam:
    @pytest.mark.parametrize("name", ["vision", "a", "pre-training-2", "a" * 40])
    def test_names_that_the_service_and_slurm_take_are_taken(self, name: str) -> None:
        assert hp.Team(name=name).name == name

    @pytest.mark.parametrize("name", ["Vision", "-a", "a-", "a_b", "", "a" * 41, "root", "normal"])
    def test_other_names_are_refused(self, name: str) -> None:
        with pytest.raises(hp.InvalidValue):
            hp.Team(name=name)

    @pytest.mark.parametrize(("field", "right", "wrong"), [("weight", 100, 101), ("borrow_limit_percent", 500, 501)])
    def test_figures_have_limits(self, field: str, right: int, wrong: int) -> None:
        hp.Team(name="vision", **{field: right})  # type: ignore[arg-type]  # one of two numbers
        with pytest.raises(hp.InvalidValue, match=f"use 0 to {right}"):
            hp.Team(name="vision", **{field: wrong})  # type: ignore[arg-type]  # same

    def test_what_is_its_own_is_counted_in_accelerators(self) -> None:
        team = hp.Team(name="vision", instances={"ml.p5.48xlarge": 2, "ml.g6e.12xlarge": 1})
        assert team.quota({"ml.p5.48xlarge": 8, "ml.g6e.12xlarge": 4}) == {"nodes": None, "accelerators": 20}

    def test_or_in_nodes_where_a_type_has_none_or_is_not_known(self) -> None:
        team = hp.Team(name="vision", instances={"ml.p5.48xlarge": 2, "ml.c5.xlarge": 1})
        assert team.quota({"ml.p5.48xlarge": 8}) == {"nodes": 3, "accelerators": None}

    def test_or_not_at_all(self) -> None:
        assert hp.Team(name="vision").quota({}) == {"nodes": None, "accelerators": None}


class TestTaskGovernance:
    def test_a_team_is_there_once(self) -> None:
        with pytest.raises(hp.InvalidValue, match="several teams are named vision"):
            hp.TaskGovernance(teams=[hp.Team(name="vision"), hp.Team(name="vision")])

    def test_ten_priority_classes_are_the_most(self) -> None:
        ten = {f"c{number}": number for number in range(10)}
        hp.TaskGovernance(priorities=ten)
        with pytest.raises(hp.InvalidValue, match="at most 10"):
            hp.TaskGovernance(priorities={**ten, "c10": 1})

    def test_a_priority_class_of_a_team_has_to_be_there(self) -> None:
        with pytest.raises(hp.InvalidValue, match="priority class trainig"):
            hp.TaskGovernance(priorities={"training": 75}, teams=[hp.Team(name="vision", priorities=["trainig"])])


class TestTheFile:
    governance = hp.TaskGovernance(
        priorities={"training": 75, "experiment": 25},
        teams=[hp.Team(name="vision", instances={"ml.p5.48xlarge": 12}, weight=80, members=["bob", "ada"])],
    )

    def test_holds_everybody_in_an_order_of_its_own(self) -> None:
        both = [user(keys=[KEY], groups=["b", "a"], admin=True), user(name="bob", uid=3002)]
        groups = [hp.Group(name="b", gid=4002), hp.Group(name="a", gid=4001)]
        encoded = roster.encode((), hp.People(users=both, groups=groups), None)
        assert encoded == roster.encode((), hp.People(users=both[::-1], groups=groups[::-1]), None)
        assert encoded["groups"] == [{"name": "a", "gid": 4001}, {"name": "b", "gid": 4002}]
        assert encoded["users"][0] == {
            "name": "ada",
            "uid": 3001,
            "groups": ["a", "b"],
            "keys": [KEY],
            "admin": True,
            "shell": "/bin/bash",
        }

    def test_holds_how_many_nodes_are_for_jobs_and_how_many_wait(self) -> None:
        encoded = roster.encode((hp.InstanceGroup.controller("ml.m5.4xlarge"), P5), None, None)
        assert encoded["nodes"] == {"p5": {"partition": "train", "count": 30, "spares": 2}}

    def test_holds_teams_with_what_is_their_own(self) -> None:
        encoded = roster.encode((P5,), None, self.governance)
        assert encoded["teams"] == [
            {
                "name": "vision",
                "members": ["ada", "bob"],
                "weight": 80,
                "nodes": None,
                "accelerators": 96,
                "borrow_limit_percent": 50,
                "priorities": [],
            }
        ]
        assert encoded["priorities"] == {"experiment": 25, "training": 75}

    def test_counts_trainium_in_nodes_which_slurm_does_not_count_itself(self) -> None:
        trn = hp.InstanceGroup.compute("trn", "ml.trn1.32xlarge", count=4)
        teams = hp.TaskGovernance(teams=[hp.Team(name="vision", instances={"ml.trn1.32xlarge": 2})])
        team = roster.encode((trn,), None, teams)["teams"][0]
        assert (team["nodes"], team["accelerators"]) == (2, None)

    def test_nobody_borrows_where_idle_capacity_is_not_shared(self) -> None:
        strict = hp.TaskGovernance(
            teams=self.governance.teams, priorities=self.governance.priorities, idle_sharing=False
        )
        assert roster.encode((), None, strict)["teams"][0]["borrow_limit_percent"] == 0
