"""What `accounting` makes of a roster and of what sacctmgr shows; the texts are those of Slurm 22.05."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hyperpod_node import accounting, host, roster
from hyperpod_node.accounting import ASSOCIATION, MARK, Found, Plan, check, parse

PEOPLE: dict[str, Any] = {
    "version": 1,
    "users": [],
    "groups": [],
    "teams": [
        {
            "name": "vision",
            "members": ["ada", "bob"],
            "weight": 80,
            "nodes": None,
            "accelerators": 96,
            "borrow_limit_percent": 50,
            "priorities": [],
        },
        {
            "name": "speech",
            "members": ["bob"],
            "weight": 20,
            "nodes": 4,
            "accelerators": None,
            "borrow_limit_percent": 0,
            "priorities": ["training", "experiment"],
        },
    ],
    "priorities": {"inference": 100, "training": 75, "experiment": 25},
}
ASSOCIATIONS = """frontier|root|||1|||normal|
frontier|root|root||1|||normal|
frontier|speech||root|20|node=4||experiment,normal,training|experiment
frontier|speech|bob||1|||experiment,normal,training|experiment
frontier|vision||root|80|gres/gpu=144||experiment,inference,normal,training|experiment
frontier|vision|ada||1|||experiment,inference,normal,training|experiment
frontier|vision|bob||1|||experiment,inference,normal,training|experiment
"""
BY_HAND = """frontier|physics||root|1|||normal|
frontier|physics|cyd||1|||normal|
"""


def found(associations: str = ASSOCIATIONS, **given: Any) -> Found:
    state: dict[str, Any] = {
        "accounts": {"root": "root", "vision": MARK, "speech": MARK, "physics": "physics"},
        "qos": {
            "normal": ("0", "Normal QOS default"),
            "inference": ("100", MARK),
            "training": ("75", MARK),
            "experiment": ("25", MARK),
        },
        "defaults": {"root": "root", "ada": "vision", "bob": "vision", "cyd": "physics"},
        "jobs": [],
        "strangers": set(),
    }
    return Found(associations=parse(associations, ASSOCIATION), **{**state, **given})


def fresh() -> Found:
    return found(
        "frontier|root|||1|||normal|\nfrontier|root|root||1|||normal|\n",
        accounts={"root": "root"},
        qos={"normal": ("0", "Normal QOS default")},
        defaults={"root": "root"},
    )


def people(**teams: dict[str, Any]) -> dict[str, Any]:
    """The file with changes to its teams."""
    changed = copy.deepcopy(PEOPLE)
    for team in changed["teams"]:
        team.update(teams.get(team["name"], {}))
    return changed


def commands(wanted: dict[str, Any], state: Found, cluster: str = "frontier") -> list[str]:
    return [" ".join(command) for command in Plan(check(copy.deepcopy(wanted)), state, cluster).commands]


def job(number: int, account: str, user: str, qos: str = "normal") -> dict[str, str]:
    return {"number": str(number), "account": account, "user": user, "qos": qos}


def without(*names: str) -> dict[str, Any]:
    return {**PEOPLE, "teams": [team for team in PEOPLE["teams"] if team["name"] not in names]}


def test_a_new_database_gets_classes_accounts_and_members_in_that_order() -> None:
    new = f"cluster=frontier Organization={MARK} Parent=root"
    all_three, two = "experiment,training,inference", "experiment,training"
    assert commands(PEOPLE, fresh()) == [
        f"add qos name=inference Description={MARK} Priority=100",
        f"add qos name=training Description={MARK} Priority=75",
        f"add qos name=experiment Description={MARK} Priority=25",
        f"add account name=vision {new} Fairshare=80 GrpTRES=gres/gpu=144 QOS=normal,{all_three} DefaultQOS=experiment",
        f"add account name=speech {new} Fairshare=20 GrpTRES=node=4 QOS=normal,{two} DefaultQOS=experiment",
        "add user name=ada,bob account=vision cluster=frontier",
        "add user name=bob account=speech cluster=frontier",
    ]


def test_what_is_as_it_should_be_stays() -> None:
    plan = Plan(PEOPLE, found(ASSOCIATIONS + BY_HAND), "frontier")
    assert (plan.commands, plan.waiting, plan.mistakes) == ([], [], [])


@pytest.mark.parametrize(
    ("quota", "limit"),
    [
        ({"accelerators": 96, "borrow_limit_percent": 0}, "gres/gpu=96"),
        ({"accelerators": 96, "borrow_limit_percent": 500}, "gres/gpu=576"),
        ({"accelerators": 3, "borrow_limit_percent": 50}, "gres/gpu=4"),
        ({"accelerators": 0, "borrow_limit_percent": 50}, "gres/gpu=0"),
        ({"accelerators": 96, "nodes": 12, "borrow_limit_percent": 0}, "gres/gpu=96"),
        ({"accelerators": None, "nodes": 12, "borrow_limit_percent": 25}, "gres/gpu=-1,node=15"),
        ({"accelerators": 96, "borrow_limit_percent": None}, "gres/gpu=-1"),
        ({"accelerators": None, "nodes": None, "borrow_limit_percent": 50}, "gres/gpu=-1"),
    ],
)
def test_quota_and_borrowing_make_one_limit_that_takes_the_place_of_the_last(quota: dict[str, Any], limit: str) -> None:
    expected = f"modify account where name=vision cluster=frontier set GrpTRES={limit}"
    assert commands(people(vision=quota), found()) == [expected]


def test_no_limit_is_no_setting_of_a_new_account() -> None:
    added = [each for each in commands(people(vision={"borrow_limit_percent": None}), fresh()) if "name=vision" in each]
    assert "GrpTRES" not in added[0]


def test_a_weight_changes_alone() -> None:
    expected = "modify account where name=speech cluster=frontier set Fairshare=0"
    assert commands(people(speech={"weight": 0}), found()) == [expected]


def test_the_default_class_is_the_lowest_that_the_team_may_use() -> None:
    assert commands(people(speech={"priorities": ["inference", "training"]}), found()) == [
        "modify account where name=speech cluster=frontier set QOS=normal,training,inference DefaultQOS=training"
    ]


def test_without_classes_jobs_have_the_normal_quality() -> None:
    wanted = {**people(speech={"priorities": []}), "priorities": {}}
    assert commands(wanted, found()) == [
        "modify account where name=vision cluster=frontier set QOS=normal DefaultQOS=-1",
        "modify account where name=speech cluster=frontier set QOS=normal DefaultQOS=-1",
    ]  # the classes go next time, when no account has them


def test_a_class_that_nobody_has_any_more_goes_and_one_that_a_job_or_another_cluster_has_stays() -> None:
    state = found()
    state.qos.update({"batch": ("10", MARK), "night": ("5", MARK), "urgent": ("9", "made by hand"), "old": ("1", MARK)})
    state.jobs.append(job(7, "vision", "ada", "night"))
    state.associations += parse("frontier-1|vision||root|80|||normal,old|old\n", ASSOCIATION)
    assert commands(PEOPLE, state) == ["delete qos where name=batch"]


def test_a_priority_changes() -> None:
    wanted = {**PEOPLE, "priorities": {**PEOPLE["priorities"], "experiment": 30}}
    assert commands(wanted, found()) == ["modify qos where name=experiment set Priority=30"]


def test_who_moves_gets_the_new_account_and_default_before_the_old_one_goes() -> None:
    wanted = people(vision={"members": ["bob"]}, speech={"members": ["bob", "ada"]})
    assert commands(wanted, found()) == [
        "add user name=ada account=speech cluster=frontier",
        "modify user where name=ada cluster=frontier set DefaultAccount=speech",
        "delete user where name=ada cluster=frontier account=vision",
    ]


def test_who_chose_another_account_of_theirs_as_default_keeps_it() -> None:
    assert commands(PEOPLE, found(defaults={"ada": "vision", "bob": "speech"})) == []


def test_who_is_in_no_team_any_more_loses_all() -> None:
    assert commands(people(vision={"members": ["ada"]}, speech={"members": []}), found()) == [
        "delete user where name=bob cluster=frontier account=speech",
        "delete user where name=bob cluster=frontier account=vision",
    ]


def test_who_left_with_jobs_sends_no_new_ones_and_goes_when_they_have_ended() -> None:
    state = found(jobs=[job(number, "vision", "bob") for number in range(1, 8)] + [job(9, "speech", "bob")])
    plan = Plan(people(vision={"members": ["ada"]}), state, "frontier")
    assert [" ".join(each) for each in plan.commands] == [
        "modify user where name=bob cluster=frontier set DefaultAccount=speech",
        "modify user where name=bob cluster=frontier account=vision set GrpSubmitJobs=0",
    ]
    assert plan.waiting == [
        "bob leaves account vision when jobs 1, 2, 3, 4, 5, ... have ended; `scancel -A vision -u bob` ends them"
    ]


SHUT = ASSOCIATIONS.replace("vision|bob||1||", "vision|bob||1||0")


def test_who_waits_to_leave_is_not_shut_out_twice() -> None:
    state = found(SHUT, jobs=[job(1, "vision", "bob")], defaults={"ada": "vision", "bob": "speech"})
    assert commands(people(vision={"members": ["ada"]}), state) == []


def test_who_comes_back_may_send_jobs_again() -> None:
    expected = "modify user where name=bob cluster=frontier account=vision set GrpSubmitJobs=-1"
    assert commands(PEOPLE, found(SHUT)) == [expected]


def test_a_team_that_is_gone_goes_after_its_members() -> None:
    assert commands(without("vision"), found()) == [
        "modify user where name=bob cluster=frontier set DefaultAccount=speech",
        "delete user where name=ada,bob cluster=frontier account=vision",
        "delete account where name=vision cluster=frontier",
    ]


def test_a_team_that_is_gone_stays_while_it_has_jobs() -> None:
    plan = Plan(without("speech"), found(jobs=[job(3, "speech", "bob")]), "frontier")
    assert not any("delete" in command for command in plan.commands)
    assert "jobs 3 have ended" in plan.waiting[0]


def test_an_account_without_associations_is_forgotten() -> None:
    state = found("frontier|root|||1|||normal|\n", accounts={"root": "root", "vision": MARK}, defaults={})
    state.qos = {"normal": ("0", "")}
    assert commands({**PEOPLE, "teams": [], "priorities": {}}, state) == ["delete account where name=vision"]


def test_other_clusters_of_the_database_are_left_alone() -> None:
    other = ASSOCIATIONS.replace("frontier|", "frontier-1|").replace("gres/gpu=144", "gres/gpu=8")
    assert commands(PEOPLE, found(ASSOCIATIONS + other)) == []
    assert commands({**PEOPLE, "teams": []}, found(other, defaults={}), "frontier") == []
    assert not any("frontier-1" in each for each in commands(PEOPLE, found(other, defaults={}), "frontier"))


def test_accounts_and_users_made_by_hand_are_not_touched() -> None:
    assert commands({**PEOPLE, "teams": [], "priorities": {}}, found(BY_HAND, accounts={"physics": "x"}, qos={})) == []
    both = found(ASSOCIATIONS + BY_HAND + "frontier|physics|bob||1|||normal|\n")
    assert commands(PEOPLE, both) == []
    assert commands(people(vision={"members": ["ada"]}, speech={"members": []}), both) == [
        "modify user where name=bob cluster=frontier set DefaultAccount=physics",
        "delete user where name=bob cluster=frontier account=speech",
        "delete user where name=bob cluster=frontier account=vision",
    ]


def test_a_name_that_somebody_took_by_hand_is_a_mistake_with_a_way_to_hand_it_over() -> None:
    state = found(accounts={"root": "root", "vision": "physics", "speech": MARK})
    state.qos["training"] = ("1", "for the night")
    plan = Plan(PEOPLE, state, "frontier")
    assert not any("vision" in part or "training" in part for command in plan.commands for part in command)
    assert f"`sacctmgr modify account where name=vision set Organization={MARK}`" in plan.mistakes[0]
    assert f"`sacctmgr modify qos where name=training set Description={MARK}`" in plan.mistakes[1]


def test_an_account_by_hand_below_ours_does_not_go_with_it() -> None:
    state = found(ASSOCIATIONS + "frontier|robots||vision|1|||normal|\n")
    state.accounts["robots"] = "vision"
    plan = Plan(without("vision"), state, "frontier")
    assert not any("delete account" in " ".join(command) for command in plan.commands)
    assert plan.mistakes == ["account vision stays: robots, made by hand, is below it; move that away"]


def test_a_member_whom_the_node_does_not_know_waits() -> None:
    state = fresh()
    state.strangers.add("bob")
    plan = Plan(PEOPLE, state, "frontier")
    assert [" ".join(each) for each in plan.commands if each[1] == "user"] == [
        "add user name=ada account=vision cluster=frontier"
    ]
    assert plan.waiting == ["bob is no user of this node yet"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "Vision"}, "'Vision' is no name for Slurm"),
        ({"name": "-i"}, "'-i' is no name for Slurm"),
        ({"members": ["ada", "bob,root"]}, "'bob,root' is no name for Slurm"),
        ({"priorities": ["urgent"]}, r"not what they should be \(KeyError\('urgent'\)\)"),
        ({"weight": None}, "the teams of the roster are not what they should be"),
        ({"accelerators": "many"}, "the teams of the roster are not what they should be"),
        ({"members": 3}, "the teams of the roster are not what they should be"),
        ({"members": "ada"}, "members of vision are no list"),
        ({"weight": 0.5}, "weight of vision is 0.5, not a whole number"),
        ({"weight": -3}, "weight of vision is -3, not a whole number"),
        ({"weight": True}, "weight of vision is True"),
        ({"accelerators": 10**12}, "accelerators of vision is 10{12}, not"),
        ({"borrow_limit_percent": 0.5}, "borrow_limit_percent of vision is 0.5"),
        ({"name": "speech"}, "more than one team is named speech"),
    ],
)
def test_a_file_with_wrong_teams_changes_nothing(change: dict[str, Any], words: str) -> None:
    with pytest.raises(host.Mistake, match=words):
        check(people(vision=change))


def test_a_priority_that_is_no_whole_number_changes_nothing() -> None:
    with pytest.raises(host.Mistake, match=r"priority training is 7.5, not a whole number"):
        check({**people(), "priorities": {"inference": 100, "training": 7.5, "experiment": 25}})


def test_nobody_is_told_to_hand_over_what_slurm_itself_has_made() -> None:
    changed = people(vision={"name": "root"})
    changed["priorities"]["normal"] = 5
    plan = Plan(check(changed), found(), "frontier")
    assert [each for each in plan.mistakes if "belongs to Slurm itself" in each and "choose another name" in each]
    assert not [each for each in plan.mistakes if "hand it over" in each]
    assert len(plan.mistakes) == 2


def test_a_file_without_teams_is_a_file_without_teams() -> None:
    assert check({"version": 1, "users": []}) == {"version": 1, "users": [], "teams": [], "priorities": {}}


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", json.dumps(PEOPLE).encode()[:-10], b"\xff\xfe"])
def test_a_file_that_was_cut_off_is_no_file(content: bytes) -> None:
    with pytest.raises(host.Mistake, match="cut off or not what it should be"):
        roster.load(content)


def test_a_file_of_a_later_version_is_not_guessed_at() -> None:
    with pytest.raises(host.Mistake, match="version 2"):
        roster.load(b'{"version": 2}')


def test_the_last_field_may_hold_the_separator() -> None:
    assert parse("a|1|x|y\n\n", ("name", "priority", "description")) == [
        {"name": "a", "priority": "1", "description": "x|y"}
    ]


def lacks(monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any], **config: str) -> list[str]:
    monkeypatch.setattr(host, "setting", lambda name: config.get(name, ""))
    return accounting.lacks(wanted)


def test_settings_that_slurm_lacks_are_named_with_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"AccountingStorageEnforce": "associations,safe", "AccountingStorageTRES": "cpu,gres/efa"}
    assert lacks(monkeypatch, PEOPLE, **config, PriorityType="priority/basic") == [
        "AccountingStorageEnforce=associations,safe,limits,qos",
        "AccountingStorageTRES=cpu,gres/efa,gres/gpu",
        "PriorityWeightQOS=1000",
        "PriorityWeightFairShare=1000",
        "PriorityType=priority/multifactor",
    ]


@pytest.mark.parametrize("enforced", ["associations,limits,qos,safe", "all"])
def test_a_slurm_that_enforces_all_lacks_nothing(enforced: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config = {
        "AccountingStorageEnforce": enforced,
        "AccountingStorageTRES": "cpu,gres/gpu",
        "PriorityType": "priority/multifactor",
        "PriorityWeightQOS": "1000",
        "PriorityWeightFairShare": "10",
    }
    assert lacks(monkeypatch, PEOPLE, **config) == []


def test_what_no_team_uses_is_not_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lacks(monkeypatch, {"teams": [], "priorities": {}}) == []
    plain = {"teams": [{"name": "vision", "weight": 0, "nodes": 4}], "priorities": {}}
    assert lacks(monkeypatch, plain, AccountingStorageEnforce="none") == [
        "AccountingStorageEnforce=associations,limits,qos"
    ]


def test_a_slurm_without_accounting_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roster, "fetch", lambda _: (json.dumps(PEOPLE).encode(), ""))
    monkeypatch.setattr(host, "setting", lambda _: "accounting_storage/none")
    with pytest.raises(host.Mistake, match="Slurm keeps no accounts here"):
        accounting.work(host.Step("accounting", {}, "Frontier", "controller", {}))
