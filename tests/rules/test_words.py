"""How messages call groups."""

from __future__ import annotations

from hyperpod_constructs.rules._words import any_of, named, sized
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import compute, login


def test_groups_are_called_by_their_names() -> None:
    assert named(compute()) == "group 'p5'"
    assert named(login(), compute()) == "groups 'login' and 'p5'"


def test_a_group_without_a_known_name_is_called_something_too() -> None:
    nameless = compute(name=UNKNOWN)
    assert named(nameless) == "a group"
    assert named(login(), nameless) == "groups 'login' and one without a known name"


def test_instances_are_counted_with_their_spares() -> None:
    sizes = [sized(compute(count=30, spares=spares)) for spares in (0, 1, 2)]
    assert sizes == ["30", "30 + 1 spare", "30 + 2 spares"]


def test_a_choice_of_one_is_no_list() -> None:
    assert (any_of(["a"]), any_of(["a", "b"])) == ("a", "one of a, b")
