from __future__ import annotations

from datetime import timedelta

from hyperpod_constructs.account.troubles import Trouble, merged
from tests.account.conftest import NOW

GENERIC = "Failed to provision EC2 Instance in Cluster Frontier and InstanceGroup p5"
GENERIC_TOO = "Instance creation in Cluster Frontier and InstanceGroup p5 failed"
REASON = "Failed to create Customer ENI in subnet-1"


def event(said: str, second: float = 0, *, instance: str | None = None, group: str = "p5") -> Trouble:
    return Trouble(
        time=NOW + timedelta(seconds=second),
        seen_in="event",
        where=f"group {group}",
        group=group,
        instances=(instance,) if instance else (),
        said=said,
    )


class TestTwoEventsOfOneFault:
    def test_are_one_with_the_reason_and_the_instance(self) -> None:
        (only,) = merged([event(GENERIC), event(REASON, 1, instance="i-0b")])
        assert (only.said, only.instances, only.times, only.time) == (REASON, ("i-0b",), 1, NOW)

    def test_are_one_in_the_other_order_too(self) -> None:
        (only,) = merged([event(REASON, instance="i-0b"), event(GENERIC_TOO, 1)])
        assert (only.said, only.instances) == (REASON, ("i-0b",))

    def test_are_one_where_both_give_the_reason(self) -> None:
        (only,) = merged([event(REASON), event(REASON, 1)])
        assert only.times == 1

    def test_are_one_where_neither_does(self) -> None:
        assert len(merged([event(GENERIC), event(GENERIC_TOO, 1)])) == 1


class TestTwoFaults:
    def test_of_two_reasons_stay_two(self) -> None:
        assert len(merged([event(REASON), event("EFA health checks did not run", 1)])) == 2

    def test_of_two_groups_stay_two(self) -> None:
        assert len(merged([event(REASON), event(REASON, 1, group="g6")])) == 2

    def test_of_one_group_minutes_apart_are_counted(self) -> None:
        (only,) = merged([event(REASON), event(REASON, 300)])
        assert (only.times, only.time) == (2, NOW)

    def test_of_two_nodes_at_one_moment_are_counted_with_both(self) -> None:
        first, second = (f"i-{'0' * 16}{n}" for n in "ab")
        found = merged(
            [event(f"Instance {first} failed", instance=first), event(f"Instance {second} failed", 1, instance=second)]
        )
        assert [(each.times, each.instances) for each in found] == [(2, (first, second))]


def test_troubles_of_a_stack_are_never_taken_for_one_another() -> None:
    said = "Embedded stack x was not successfully created"
    stack = [Trouble(time=NOW, seen_in="stack", where=where, said=said) for where in ("A", "B")]
    assert len(merged(stack)) == 2


def test_the_earliest_comes_first_and_what_has_no_time_last() -> None:
    cluster = Trouble(time=None, seen_in="cluster", where="cluster Frontier", said="no")
    found = merged([cluster, event("late", 60), event("early")])
    assert [each.said for each in found] == ["early", "late", "no"]


def test_a_denial_is_no_message() -> None:
    said = "User: x is not authorized to perform: sns:CreateTopic; Invalid SNS topic"
    trouble = Trouble(time=None, seen_in="stack", where="Topic", said=said)
    assert trouble.message is None
    assert trouble.denial is not None
