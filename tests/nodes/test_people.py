"""The roster as nodes read it, and who is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hyperpod_node import host, people

ADA: dict[str, Any] = {"name": "ada", "uid": 2001}
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGFkYQ== ada@laptop"
HOMES = Path("/fsx/home")


def parse(**given: Any) -> tuple[dict[str, int], list[people.User] | None]:
    return people.parse(json.dumps({"version": 1, **given}).encode())


def user(**given: Any) -> people.User:
    users = parse(groups=[{"name": "ml", "gid": 3000}], users=[{**ADA, **given}])[1]
    assert users
    return users[0]


def test_a_user_has_a_group_of_their_own_unless_one_is_named() -> None:
    assert user().group == "ada"
    assert user(group="ml").group == "ml"


def test_a_user_is_everywhere_unless_roles_are_named() -> None:
    assert user().roles == ("controller", "login", "compute", "worker")
    assert user(roles=["login"]).roles == ("login",)


def test_only_true_makes_an_admin() -> None:
    assert user(admin=True).admin
    assert not user(admin="no").admin


def test_what_is_null_is_as_if_it_were_not_there() -> None:
    assert user(group=None, groups=None, keys=None, shell=None, admin=None, roles=None) == user()
    assert user(roles=[]).roles == ()


def test_no_users_at_all_is_not_an_empty_list_of_users() -> None:
    assert parse(teams=[])[1] is None
    assert parse(users=[])[1] == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"users": [{"name": "ada"}]}, "not what it should be"),
        ({"users": {"ada": 2001}}, "not what it should be"),
        ({"users": ["ada"]}, "not what it should be"),
        ({"users": None}, "not what it should be"),
        ({"users": [{**ADA, "uid": 999}]}, "user ada: 999 is not a number from 1000 on"),
        ({"users": [{**ADA, "uid": "2001"}]}, "user ada: '2001' is not a number"),
        ({"users": [{**ADA, "uid": True}]}, "user ada: True is not a number"),
        ({"users": [{**ADA, "uid": 65534}]}, "user ada: 65534"),
        ({"users": [{**ADA, "name": "../root"}]}, r"user '../root': a name has"),
        ({"users": [{**ADA, "name": "ada\n"}]}, "a name has"),
        ({"users": [{**ADA, "name": 7}]}, "not what it should be"),
        ({"users": [ADA, {"name": "bob", "uid": 2001}]}, r"users ada \(2001\) and bob \(2001\): both need"),
        ({"users": [ADA, {**ADA, "uid": 2002}]}, r"users ada \(2001\) and ada \(2002\)"),
        ({"groups": [{"name": "ml", "gid": 2001}], "users": [ADA]}, r"groups ml \(2001\) and ada \(2001\)"),
        ({"groups": [{"name": "ada", "gid": 3000}], "users": [ADA]}, r"groups ada \(3000\) and ada \(2001\)"),
        ({"groups": [{"name": "ml", "gid": 4}]}, "group ml: 4 is not a number from 1000 on"),
        ({"users": [{**ADA, "groups": ["sudo"]}]}, "user ada: group 'sudo' is not among the groups of the file"),
        ({"users": [{**ADA, "group": "ml"}]}, "user ada: group 'ml' is not among the groups of the file"),
        ({"users": [{**ADA, "keys": ["hunter2"]}]}, "user ada: a key is no public key"),
        ({"users": [{**ADA, "keys": [f"{KEY}\nssh-rsa AAAA"]}]}, "user ada: a key is no public key"),
        *[({"users": [{**ADA, "keys": [KEY + end]}]}, "a key is no public key") for end in "\ud800\x0b\x85\u2028\x00"],
        ({"users": [{**ADA, "roles": ["\ud800"]}]}, r"roles '\\ud800' are not"),
        ({"users": [{**ADA, "keys": [f'command="x" {KEY}']}]}, "user ada: a key is no public key"),
        ({"users": [{**ADA, "shell": "bash"}]}, "user ada: shell 'bash' is not the full path"),
        ({"users": [{**ADA, "shell": "/bin/sh:x\n"}]}, "is not the full path"),
        ({"users": [{**ADA, "roles": ["logon"]}]}, "user ada: roles 'logon' are not all of"),
    ],
)
def test_a_file_that_contradicts_itself_is_a_mistake(given: dict[str, Any], message: str) -> None:
    with pytest.raises(host.Mistake, match=message):
        parse(**given)


@pytest.mark.parametrize(
    "text",
    ['{"version": 1, "users": %s}' % ("[" * 100_000 + "]" * 100_000), "[" * 100_000, '{"version": %s' % ("9" * 5000)],
)
def test_a_file_that_python_cannot_take_in_is_a_mistake(text: str) -> None:
    with pytest.raises(host.Mistake, match="not what it should be"):
        people.parse(text.encode())


def test_a_private_key_that_was_given_by_mistake_is_not_shown() -> None:
    with pytest.raises(host.Mistake) as caught:
        user(keys=["-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXk"])
    assert "b3Blbn" not in str(caught.value)


@pytest.mark.parametrize(
    "key", [KEY, "ssh-rsa AAAA", "ecdsa-sha2-nistp256 AAAA= a b c", "sk-ssh-ed25519@openssh.com AAAA"]
)
def test_kinds_of_keys_that_sshd_knows_are_taken(key: str) -> None:
    assert user(keys=[key]).keys == (key,)


def refusal(ours: dict[str, int], owners: dict[str, int]) -> str:
    return people._refusal(user(), ours, owners, HOMES)


def test_a_home_of_ones_own_or_none_is_welcome() -> None:
    assert refusal({}, {}) == ""
    assert refusal({}, {"ada": 2001, "bob": 2002, "ada-old": 2001}) == ""


def test_a_reused_name_is_refused() -> None:
    assert "/fsx/home/ada belongs to uid 1999, not 2001; give a number" in refusal({}, {"ada": 1999})


def test_a_reused_number_is_refused() -> None:
    assert "uid 2001 owns /fsx/home/eve of somebody else" in refusal({}, {"eve": 2001})


def test_a_changed_number_is_refused() -> None:
    assert "had uid 1999 and now has 2001" in refusal({"ada": 1999}, {"ada": 1999})


def taken(wanted: dict[str, int], ours: dict[str, int]) -> list[str]:
    there = {"ubuntu": 1000, "eve": 2009}

    def named(name: str) -> tuple[str, str, int]:
        return name, "x", there[name]

    def at(number: int) -> tuple[str, str, int]:
        return next(((name, "x", its) for name, its in there.items() if its == number), None) or named("nobody here")

    return list(people._taken("user", wanted, ours, named, at))


def test_accounts_that_are_not_ours_are_left_alone() -> None:
    assert taken({"ada": 2001}, {}) == []
    assert taken({"ubuntu": 1000}, {}) == [
        "user ubuntu is on this node already, with number 1000; choose another name or take it away"
    ]
    assert taken({"ada": 1000}, {}) == ["user ubuntu, not from this file, has number 1000; give ada a free one"]


def test_the_number_of_one_who_leaves_in_the_same_file_is_not_taken() -> None:
    assert taken({"ada": 2009}, {"eve": 2009}) == []
    assert taken({"eve": 2009}, {"eve": 2009}) == []


@pytest.mark.parametrize("damage", ["", "{}", "[]", '{"users": {"a'])
def test_notes_that_are_damaged_are_read_from_their_copy(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "MADE", tmp_path / "people.json")
    assert people._made() == {"users": {}, "groups": {}, "keyed": {}}
    people._note({"ada": 2001}, {"ml": 3000}, {})
    for broken in (people.MADE, people._second()):
        broken.write_text(damage)
        if broken == people.MADE:
            assert people._made() == {"users": {"ada": 2001}, "groups": {"ml": 3000}, "keyed": {}}
    with pytest.raises(host.Failure, match=r"people.json, which says what this step has made, is damaged"):
        people._made()


def test_homes_on_the_root_disk_are_not_made_unless_they_are_to_be_there() -> None:
    with pytest.raises(host.NotYet, match="is on no mounted file system"):
        people._owners(Path("/nowhere-shared/home"), shared=True)
    assert people._owners(Path("/nowhere-shared/home"), shared=False) == {}


def test_a_home_that_cannot_be_looked_at_concerns_its_owner_only() -> None:
    assert "/fsx/home/ada cannot be looked at" in refusal({"ada": 2001}, {"ada": people._UNSEEN})
    assert refusal({}, {"bob": people._UNSEEN}) == ""


def test_names_with_other_ends_of_lines_hide_no_account(tmp_path: Path) -> None:
    (tmp_path / "passwd").write_bytes(
        "ada:x:2001:2001:A\u2028b\x85\x0b:/h:/bin/sh\n".encode() + b"bob:x:2:2:\xff:/h:/s\n"
    )
    assert [fields[6] for fields in people._local(str(tmp_path / "passwd")).values()] == ["/bin/sh", "/s"]
