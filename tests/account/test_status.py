from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pytest

from hyperpod_constructs.account import status
from hyperpod_constructs.account.status import ClusterStatus, Outcome
from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotInAccount
from tests.account.conftest import Account, group


class Clock:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Wait:
    """A wait for the nodes of an account, on a clock of its own."""

    def __init__(self, account: Account) -> None:
        self.account, self.clock, self.said = account, Clock(), list[str]()

    def __call__(self, wanted: Mapping[str, int] | None = None, timeout: float = 3_600, every: float = 30) -> Outcome:
        return self.on(partial(status.look, self.account.gateway, "Frontier", wanted), timeout, every)

    def on(self, look: Callable[[], ClusterStatus], timeout: float = 3_600, every: float = 30) -> Outcome:
        return status.wait(
            look, timeout=timeout, every=every, say=self.said.append, clock=self.clock, sleep=self.clock.sleep
        )


@pytest.fixture
def wait(account: Account) -> Wait:
    return Wait(account)


class TestReady:
    def test_when_every_wanted_node_runs(self, account: Account) -> None:
        account.has(group("p5", 32), nodes={"p5": ["Running"] * 30 + ["Pending"] * 2})
        seen = status.look(account.gateway, "Frontier", {"p5": 30})
        assert seen.problem is None

    def test_spares_count_where_nothing_is_wanted(self, account: Account) -> None:
        account.has(group("p5", 32), nodes={"p5": ["Running"] * 30 + ["Pending"] * 2})
        seen = status.look(account.gateway, "Frontier", None)
        assert seen.problem == "p5 30 of 32 (2 Pending)"

    def test_groups_that_nobody_wants_do_not_count(self, account: Account) -> None:
        account.has(group("p5", 1), group("g6", 8, Status="Degraded"), nodes={"p5": ["Running"]})
        assert status.look(account.gateway, "Frontier", {"p5": 1}).problem is None

    def test_nodes_of_a_group_that_nobody_waits_for_are_no_spares(self, account: Account) -> None:
        account.has(group("p5", 4), nodes={"p5": ["Running"] * 4})
        (seen,) = status.look(account.gateway, "Frontier", {"p5": 0}).groups
        assert (seen.spares, seen.spares_left) == (None, None)

    def test_nobody_may_want_a_group_to_have_none(self, account: Account) -> None:
        account.has(group("p5", 4))
        assert status.look(account.gateway, "Frontier", {"p5": 0}).problem is None

    @pytest.mark.parametrize(
        "state",
        ["Pending", "Failure", "SystemUpdating", "DeepHealthCheckInProgress", "ShuttingDown", "AttachInProgress"],
    )
    def test_only_running_nodes_count(self, account: Account, state: str) -> None:
        account.has(group("p5", 2), nodes={"p5": ["Running", state]})
        assert status.look(account.gateway, "Frontier", None).problem == f"p5 1 of 2 (1 {state})"

    def test_instances_without_a_listed_node_do_not_count(self, account: Account) -> None:
        account.has(group("p5", 2, CurrentCount=2))
        assert status.look(account.gateway, "Frontier", None).problem == "p5 0 of 2"

    @pytest.mark.parametrize("state", ["Creating", "RollingBack"])
    def test_not_while_aws_may_take_the_nodes_away(self, account: Account, state: str) -> None:
        account.has(group("p5", 1), nodes={"p5": ["Running"]}, ClusterStatus=state)
        assert status.look(account.gateway, "Frontier", None).problem == f"the cluster is {state}"

    @pytest.mark.parametrize("state", ["Updating", "SystemUpdating"])
    def test_also_while_something_else_is_updated(self, account: Account, state: str) -> None:
        account.has(group("p5", 1), nodes={"p5": ["Running"]}, ClusterStatus=state)
        assert status.look(account.gateway, "Frontier", None).problem is None

    def test_says_when_more_is_wanted_than_the_group_will_ever_have(self, account: Account) -> None:
        account.has(group("p5", 1, Status="Updating"), nodes={"p5": ["Running"]})
        assert status.look(account.gateway, "Frontier", {"p5": 30}).problem == "p5 Updating 1 of 30 (its target is 1)"

    def test_unknown_groups_are_named_with_those_that_there_are(self, account: Account) -> None:
        account.stub.add_response(
            "describe_cluster",
            {
                "ClusterArn": "arn",
                "ClusterName": "Frontier",
                "ClusterStatus": "InService",
                "InstanceGroups": [group("login", 1), group("p5", 1)],
            },
        )
        expected = "cluster Frontier has no group p5e and no group gpu; its groups are login, p5"
        with pytest.raises(NotInAccount, match=expected):
            status.look(account.gateway, "Frontier", {"p5e": 1, "p5": 1, "gpu": 1})


class TestWait:
    def test_ends_at_once_where_the_nodes_are_there(self, account: Account, wait: Wait) -> None:
        account.has(group("p5", 1), nodes={"p5": ["Running"]})
        assert wait().problem is None
        assert wait.clock.slept == []

    def test_looks_again_until_they_are(self, account: Account, wait: Wait) -> None:
        account.has(group("p5", 2), nodes={"p5": ["Pending"]})
        account.has(group("p5", 2), nodes={"p5": ["Running", "DeepHealthCheckInProgress"]})
        account.has(group("p5", 2), nodes={"p5": ["Running", "Running"]})
        assert wait(every=30).problem is None
        assert wait.clock.slept == [30, 30]

    def test_says_something_only_when_it_is_new(self, account: Account, wait: Wait) -> None:
        account.has(group("login", 1), group("p5", 1, Status="Creating"), ClusterStatus="Creating")
        account.has(group("login", 1), group("p5", 1, Status="Creating"), ClusterStatus="Creating")
        account.has(group("login", 1), group("p5", 1), nodes={"p5": ["Pending"]})
        account.has(group("login", 1), group("p5", 1), nodes={"p5": ["Pending"]})
        account.has(group("login", 1), group("p5", 1), nodes={"p5": ["Running"]})
        wait({"p5": 1})
        assert wait.said == [
            "0:00:00 Creating, p5 Creating 0 of 1",
            "0:01:00 InService, p5 0 of 1 (1 Pending)",
            "0:02:00 InService, p5 1 of 1",
        ]

    @pytest.mark.parametrize("state", ["Failed", "Deleting"])
    def test_gives_up_a_cluster_that_is_over_with_the_reason(self, account: Account, wait: Wait, state: str) -> None:
        account.has(group("p5", 1), ClusterStatus="Creating")
        account.has(group("p5", 1), ClusterStatus=state, FailureMessage="lifecycle script failed on p5")
        assert wait().problem == f"the cluster is {state}: lifecycle script failed on p5"

    def test_a_cluster_that_is_over_is_not_ready_whatever_runs(self, account: Account, wait: Wait) -> None:
        account.has(group("p5", 1), nodes={"p5": ["Running"]}, ClusterStatus="Deleting")
        assert wait().problem == "the cluster is Deleting: AWS gives no reason"

    def test_a_cluster_that_is_over_may_have_lost_its_groups(self, account: Account, wait: Wait) -> None:
        account.has(ClusterStatus="Failed", FailureMessage="controller did not become ready")
        assert wait({"p5": 30}).problem == "the cluster is Failed: controller did not become ready"

    def test_gives_up_a_cluster_that_goes_away(self, account: Account, wait: Wait) -> None:
        account.has(group("p5", 1))
        account.fails("ResourceNotFound")
        outcome = wait()
        assert outcome.problem is not None
        assert outcome.problem.startswith("there is no cluster Frontier in us-west-2")
        assert outcome.last.cluster.status == "InService"

    def test_a_cluster_that_never_was_there_is_an_error(self, account: Account, wait: Wait) -> None:
        account.fails("ResourceNotFound")
        with pytest.raises(NotInAccount):
            wait()

    def test_that_takes_too_long_says_what_is_missing(self, account: Account, wait: Wait) -> None:
        for _ in range(3):
            account.has(group("p5", 2), nodes={"p5": ["Running", "Pending"]})
        assert wait(timeout=45, every=30).problem == "timed out after 0:00:45: p5 1 of 2 (1 Pending)"
        assert wait.clock.slept == [30, 15]

    def test_goes_on_when_it_is_throttled(self, account: Account, wait: Wait) -> None:
        account.fails("ThrottlingException")
        account.has(group("p5", 1))
        account.fails("ThrottlingException")
        account.has(group("p5", 1), nodes={"p5": ["Running"]})
        assert wait().problem is None
        assert [line.partition(" ")[2] for line in wait.said] == [
            "AWS throttles sagemaker:DescribeCluster in us-west-2: try again later",
            "InService, p5 0 of 1",
            "AWS throttles sagemaker:DescribeCluster in us-west-2: try again later",
            "InService, p5 1 of 1",
        ]

    def test_that_is_throttled_at_its_end_says_both(self, account: Account, wait: Wait) -> None:
        account.has(group("p5", 1))
        account.fails("ThrottlingException")
        problem = wait(timeout=30).problem
        assert problem is not None
        assert problem.startswith("timed out after 0:00:30: p5 0 of 1; AWS throttles")

    def test_that_never_saw_anything_is_an_error(self, account: Account, wait: Wait) -> None:
        for _ in range(3):
            account.fails("ThrottlingException")
        with pytest.raises(AccountUnavailable, match="AWS throttles"):
            wait(timeout=60)
        assert wait.clock.slept == [30, 30]

    def test_does_not_outlast_credentials(self, account: Account, wait: Wait) -> None:
        account.has(group("p5", 1))
        account.fails("ExpiredTokenException")
        with pytest.raises(AccountError, match="expired"):
            wait()

    def test_goes_on_when_the_network_fails_for_a_moment(self, account: Account, wait: Wait) -> None:
        account.has(group("p5", 1))
        account.has(group("p5", 1), nodes={"p5": ["Running"]})
        before, after = (status.look(account.gateway, "Frontier", None) for _ in range(2))
        assert wait.on(looks(before, AccountUnavailable("no way", answered=False), after)).problem is None
        assert wait.said[1] == "0:00:30 no way"

    def test_does_not_wait_for_a_network_that_never_was_there(self, wait: Wait) -> None:
        with pytest.raises(AccountUnavailable, match="no way"):
            wait.on(looks(AccountUnavailable("no way", answered=False)))
        assert wait.clock.slept == []


def looks(*seen: ClusterStatus | AccountUnavailable) -> Callable[[], ClusterStatus]:
    """Looks that see this, one after the other."""
    left = iter(seen)

    def look() -> ClusterStatus:
        now = next(left)
        if isinstance(now, AccountUnavailable):
            raise now
        return now

    return look
