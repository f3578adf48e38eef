"""What is said of Kubernetes labels and taints."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.kubernetes import KubernetesConfig, Taint
from hyperpod_constructs.tokens import UNKNOWN
from tests.rules.builders import deployment, eks_cluster, kubernetes, told


def of(rule: str, config: Any = None, **fields: Any) -> list[str]:
    """What a rule says of a group with such labels and taints."""
    its = KubernetesConfig(**fields) if config is None else config
    return told(rule, deployment(eks_cluster(kubernetes(kubernetes=its))))


class TestLabelsLeaveReservedPrefixes:
    @pytest.mark.parametrize(
        "key",
        [
            "kubernetes.io/x",
            "node.kubernetes.io/x",
            "sagemaker.amazonaws.com/x",
            "karpenter.sh/x",
            "topology.k8s.aws/x",
        ],
    )
    def test_those_of_system_components_and_below_them_are(self, key: str) -> None:
        (label,) = of("HP1022", labels={"team": "a", key: "y"})
        assert label.startswith(
            f"HP1022 group 'p5' has the label {key} | use a prefix of your own, or none; reserved are"
        )
        (taint,) = of("HP1022", taints=(Taint(key=key, effect="NoSchedule"),))
        assert f"has the taint {key} |" in taint

    @pytest.mark.parametrize("key", ["team", "nvidia.com/mig.config", "kueue.x-k8s.io/queue", "mykubernetes.io/x"])
    def test_is_silent_on_others(self, key: str) -> None:
        assert of("HP1022", labels={key: "y"}, taints=(Taint(key=key, effect="NoSchedule"),)) == []

    @pytest.mark.parametrize("taints", [UNKNOWN, (UNKNOWN,), (Taint(key=UNKNOWN, effect=UNKNOWN),)])
    def test_is_silent_on_what_is_not_known(self, taints: Any) -> None:
        assert of("HP1022", labels=UNKNOWN, taints=taints) == of("HP1022", UNKNOWN) == []


class TestTaintsAreUnique:
    def test_a_key_has_an_effect_once(self) -> None:
        taints = (Taint(key="a", effect="NoSchedule", value="1"), Taint(key="a", effect="NoSchedule", value="2"))
        assert of("HP1023", taints=taints) == [
            "HP1023 group 'p5' has 2 taints a with effect NoSchedule | keep one of them"
        ]

    def test_is_silent_on_two_effects_and_unknown_ones(self) -> None:
        assert of("HP1023", taints=(Taint(key="a", effect="NoSchedule"), Taint(key="a", effect="NoExecute"))) == []
        assert of("HP1023", taints=(Taint(key="a", effect=UNKNOWN),) * 2) == []
