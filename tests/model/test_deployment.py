"""A deployment finds its nouns by path, however many there are."""

from __future__ import annotations

from hyperpod_constructs.model.deployment import Deployment
from hyperpod_constructs.model.network import SecurityGroup, Subnet
from hyperpod_constructs.tokens import UNKNOWN


class CountedPath(str):
    """A path that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        """Whether both are the same text."""
        CountedPath.compared += 1
        return str(self) == str(other)

    __hash__ = str.__hash__


class TestLookUps:
    def test_cost_the_same_among_many_nouns_as_among_few(self) -> None:
        deployment = Deployment(
            subnets=tuple(Subnet(path=CountedPath(f"App/Subnet{number}")) for number in range(1000))
        )
        CountedPath.compared = 0
        assert deployment.subnet("App/Subnet999") is deployment.subnets[999]
        assert CountedPath.compared <= 2

    def test_tell_kinds_apart_and_take_the_first_of_one_path(self) -> None:
        first, second = Subnet(path="App/A", zone="usw2-az1"), Subnet(path="App/A", zone="usw2-az2")
        deployment = Deployment(subnets=(first, second), security_groups=(SecurityGroup(path="App/A"),))
        assert deployment.subnet("App/A") is first
        assert deployment.security_group("App/A") is deployment.security_groups[0]
        assert deployment.topic("App/A") is None

    def test_find_nothing_under_a_path_that_is_not_known(self) -> None:
        deployment = Deployment(subnets=(Subnet(path="App/A"),))
        assert deployment.subnet(UNKNOWN) is None
        assert deployment.role(None) is None
