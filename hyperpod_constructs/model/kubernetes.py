"""What only EKS clusters have: how Kubernetes sees the nodes of a group, and features of the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from typing import Final, Literal

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.checks import check_one_of, check_several, check_whole, make_tuples
from hyperpod_constructs.model.network import as_block
from hyperpod_constructs.tokens import Unknown, is_token

TAINT_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
MODES: Final = ("Enable", "Disable")
_PRIVATE: Final = tuple(IPv4Network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """Keeps pods away that do not tolerate it.

    Attributes:
        key: 1 to 317 characters.
        effect: NoSchedule, PreferNoSchedule or NoExecute.
        value: 1 to 63 characters, or left out.

    Source: AWS::SageMaker::Cluster schema, ClusterKubernetesTaint.
    """

    key: str | Unknown
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | Unknown
    value: str | Unknown | None = None

    def __post_init__(self) -> None:
        check_one_of("taint effect", self.effect, TAINT_EFFECTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesConfig:
    """Labels and taints of the nodes of a group: all of them, so that leaving one out takes it away.

    Attributes:
        labels: At most 50, by key.
        taints: At most 50.

    Source: SageMaker API, ClusterKubernetesConfig (botocore 1.44.8).
    """

    labels: Mapping[str, str | Unknown] | Unknown = field(default_factory=dict)
    taints: tuple[Taint | Unknown, ...] | Unknown = ()

    def __post_init__(self) -> None:
        if not (isinstance(self.labels, Mapping) or is_token(self.labels)):
            raise InvalidValue(f"Kubernetes labels are {self.labels!r}", 'use a map: {"team": "pretraining"}')
        check_several("taints", self.taints)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """How the Kubernetes API of an EKS cluster is reached: from its VPC, and from the internet if somebody says so.

    Attributes:
        public_cidrs: IPv4 blocks on the internet from which it is reached; none by default.
        private_cidrs: IPv4 blocks in the VPC, or in networks that are joined to it, from which it is reached. Nodes
            reach it in any case, and nobody else does by default.

    Raises:
        InvalidValue: if one is no block, or a public one is private, which lets nobody in.

    Source: RFC 1918: nobody on the internet has a private address.
    """

    public_cidrs: Sequence[str] = ()
    private_cidrs: Sequence[str] = ()

    def __post_init__(self) -> None:
        make_tuples(self, "public_cidrs", "private_cidrs")
        check_fields("endpoint: ", self)
        for each in (*self.public_cidrs, *self.private_cidrs):
            if not is_token(each) and as_block(each) is None:
                raise InvalidValue(f"endpoint is open to {each!r}", "use IPv4 blocks such as 198.51.100.0/24")
        for each in self.public_cidrs:
            block = as_block(each)
            if block is not None and any(block.subnet_of(private) for private in _PRIVATE):
                raise InvalidValue(
                    f"endpoint is public to {each}, whose addresses are private",
                    "give hp.Endpoint.private(cidrs=[...]) those, and blocks on the internet here",
                )

    @classmethod
    def private(cls, *, cidrs: Sequence[str] = ()) -> Endpoint:
        """From nodes, and from these blocks in the VPC or joined to it, such as that of a VPN or a bastion."""
        return cls(private_cidrs=cidrs)

    @classmethod
    def public(cls, *, cidrs: Sequence[str]) -> Endpoint:
        """From these blocks too, by who may."""
        if not cidrs:
            raise InvalidValue("a public endpoint is open to nobody", "give cidrs=[...], or use hp.Endpoint.private()")
        return cls(public_cidrs=cidrs)


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoScaling:
    """Nodes that come and go with the pods that wait for them.

    Attributes:
        mode: Enable or Disable.
        scaler: Karpenter, which is the default and the only one.

    Source: SageMaker API, ClusterAutoScalingConfig (botocore 1.44.8).
    """

    mode: Literal["Enable", "Disable"] | Unknown
    scaler: Literal["Karpenter"] | Unknown | None = None

    def __post_init__(self) -> None:
        check_one_of("AutoScaling mode", self.mode, MODES)
        check_one_of("AutoScalerType", self.scaler, ("Karpenter",))


KARPENTER: Final = AutoScaling(mode="Enable", scaler="Karpenter")
"""What a cluster that scales itself has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TieredStorage:
    """Checkpoints in the memory of the nodes before they go to S3.

    Attributes:
        mode: Enable or Disable.
        memory_percent: Share of the memory of each node, 0 to 100 %; AWS's guide wants 20 or more.

    Source: SageMaker API, ClusterTieredStorageConfig (botocore 1.44.8).
    """

    mode: Literal["Enable", "Disable"] | Unknown = "Enable"
    memory_percent: int | Unknown | None = None

    def __post_init__(self) -> None:
        check_one_of("tiered storage mode", self.mode, MODES)
        check_whole("tiered storage memory", self.memory_percent, low=0, high=100, unit="%")
