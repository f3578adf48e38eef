"""Which versions of Kubernetes HyperPod takes, and what there is to know of the add-ons that run beside it.

Sources: `guide` is the SageMaker developer guide in a copy of about October 2026, `EKS` the EKS user guide and API
(botocore 1.44.8), `one account` a public report of read-only calls in us-west-2, `TF` the Terraform modules of
awslabs/awsome-distributed-ai. All of it ages: versions are added every few months, so that what is newer than a table
is likely to work, and what is older is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Version = tuple[int, ...]
_NUMBERS: Final = re.compile(r"v?(\d+(?:\.\d+)*)")


def numbers(version: str) -> Version:
    """`v1.18.3-eksbuild.1` as numbers that compare; none for what is no version."""
    match = _NUMBERS.match(version)
    return tuple(map(int, match[1].split("."))) if match else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """A range of versions of Kubernetes, both ends included.

    Attributes:
        oldest: The first that is taken.
        newest: The last that is known to be taken.
        source: Where that is stated, and when.
    """

    oldest: str
    newest: str
    source: str

    def __str__(self) -> str:
        """Both ends, as messages have them."""
        return f"{self.oldest} to {self.newest}"

    def is_older(self, version: str) -> bool:
        """Whether a version comes before all of them."""
        return numbers(version)[:2] < numbers(self.oldest)

    def is_newer(self, version: str) -> bool:
        """Whether a version comes after all of them."""
        return numbers(version)[:2] > numbers(self.newest)


HYPERPOD: Final = Versions(
    oldest="1.30",
    newest="1.35",
    source="SageMaker developer guide, sagemaker-hyperpod-eks-prerequisites (October 2026)",
)
"""What HyperPod documents."""
EVERY_ADDON: Final = Versions(
    oldest="1.32", newest="1.35", source=f"{HYPERPOD.source}; EKS API, DescribeAddonVersions (one account, 2026-10-04)"
)
"""What HyperPod and the newest version of every one of its add-ons take."""
VERSION_PATTERN: Final = r"1\.\d\d"
"""Version of an EKS cluster. Source: AWS::EKS::Cluster schema (cfn-lint 1.58.0, 2026-10-20)."""

CNI: Final = "vpc-cni"
OLDEST_CNI: Final = "1.18.3"
"""Oldest VPC CNI, the only network that HyperPod supports. Source: guide, sagemaker-hyperpod-eks-prerequisites."""
POD_IDENTITY: Final = "eks-pod-identity-agent"
NETWORKING: Final = (CNI, "kube-proxy", "coredns")
"""What EKS puts into every new cluster by itself, unless BootstrapSelfManagedAddons is false. Source: EKS,
eks-networking-add-ons; API, CreateCluster."""

TASK_GOVERNANCE: Final = "amazon-sagemaker-hyperpod-taskgovernance"
TRAINING_OPERATOR: Final = "amazon-sagemaker-hyperpod-training-operator"
EBS_CSI: Final = "aws-ebs-csi-driver"
CERT_MANAGER: Final = "cert-manager"

HYPERPOD_TAG: Final = ("SageMaker", "true")
"""Tag of the HyperPod cluster that the role of the training operator asks for. Source: guide,
sagemaker-eks-operator-install; AmazonSageMakerHyperPodTrainingOperatorAccess, version 3."""
NO_INLINE_IDENTITY: Final = "1.2.1"
"""First version of the training operator that was seen to refuse pod identities among its own properties. Source:
awslabs/awsome-distributed-ai issue 1075."""

CHART: Final = "hyperpod"
"""What is in the name of HyperPod's chart (hyperpod-helm-chart) and in that of its release in AWS's documents
(hyperpod-dependencies). Source: aws/sagemaker-hyperpod-cli, helm_chart (seen 2026-11-30)."""
CHART_RELEASE: Final = "dependencies"
"""Name of the release in AWS's older templates. Source: aws/sagemaker-hyperpod-cluster-setup."""
CHART_NAMESPACE: Final = "kube-system"
"""Namespace that the release must have. Source: guide, sagemaker-hyperpod-eks-install-packages-using-helm-chart."""
IN_THE_CHART: Final = frozenset({CERT_MANAGER})
"""Add-ons that HyperPod's chart brings where its values turn them on."""

RELEASE: Final = "hyperpod-dependencies"
"""Name of the release in AWS's documents. Source: as for the namespace."""
TEAM_NAMESPACE: Final = "hyperpod-ns-"
"""What the namespace of a team begins with. Source: guide,
sagemaker-hyperpod-eks-operate-console-ui-governance-policies (October 2026)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A service account whose role an add-on uses."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Addon:
    """An EKS add-on.

    Attributes:
        runs: `deployments` where some of its pods must run before EKS calls it healthy, which takes nodes; `daemonsets`
            where it is healthy without.
        newest: Newest version that was seen.
        kubernetes: What that version takes; left out where nobody wrote it down.
        needs: Add-ons that must be there first, each with its oldest version or `None`.
        account: Service account that needs a role.
        source: Where all of this is from.
    """

    runs: Literal["deployments", "daemonsets"]
    newest: str | None = None
    kubernetes: Versions | None = None
    needs: tuple[tuple[str, str | None], ...] = ()
    account: Account | None = None
    source: str


_ACCOUNT: Final = "EKS API, DescribeAddonVersions (one account, 2026-10-04)"
_UNVERIFIED: Final = "that it runs Deployments is from its public chart, UNVERIFIED for the add-on"
_NODES_ONLY: Final = "EKS user guide, workloads-add-ons-available-eks"

ADDONS: Final[dict[str, Addon]] = {
    CNI: Addon(runs="daemonsets", source=_NODES_ONLY),
    "kube-proxy": Addon(runs="daemonsets", source=_NODES_ONLY),
    POD_IDENTITY: Addon(runs="daemonsets", newest="1.4.0", source=f"{_NODES_ONLY}; {_ACCOUNT}"),
    "coredns": Addon(runs="deployments", source="EKS user guide, managing-coredns"),
    CERT_MANAGER: Addon(runs="deployments", source="EKS user guide, community add-ons"),
    "metrics-server": Addon(runs="deployments", source="EKS user guide, community add-ons"),
    EBS_CSI: Addon(
        runs="deployments",
        account=Account(namespace="kube-system", name="ebs-csi-controller-sa"),
        source="EKS user guide, ebs-csi",
    ),
    "aws-fsx-csi-driver": Addon(
        runs="deployments",
        newest="1.10.0",
        account=Account(namespace="kube-system", name="fsx-csi-controller-sa"),
        source=f"TF; {_ACCOUNT}",
    ),
    "aws-efs-csi-driver": Addon(runs="deployments", source=f"EKS user guide, efs-csi; {_UNVERIFIED}"),
    "aws-mountpoint-s3-csi-driver": Addon(
        # Since version 2 a controller runs beside the DaemonSet.
        runs="deployments",
        newest="2.8.0",
        source=f"{_ACCOUNT}; {_UNVERIFIED}",
    ),
    "amazon-cloudwatch-observability": Addon(runs="deployments", newest="6.7.0", source=f"{_ACCOUNT}; {_UNVERIFIED}"),
    TASK_GOVERNANCE: Addon(
        runs="deployments",
        newest="1.6.1",
        kubernetes=Versions(oldest="1.31", newest="1.36", source=_ACCOUNT),
        source=f"guide, sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance; {_ACCOUNT}",
    ),
    "amazon-sagemaker-hyperpod-observability": Addon(
        runs="deployments",
        newest="1.2.0",
        kubernetes=Versions(oldest="1.32", newest="1.37", source=_ACCOUNT),
        needs=((POD_IDENTITY, None),),
        source=f"guide, hyperpod-observability-addon-setup; {_ACCOUNT}",
    ),
    TRAINING_OPERATOR: Addon(
        runs="deployments",
        newest="1.3.0",
        kubernetes=Versions(oldest="1.31", newest="1.36", source=_ACCOUNT),
        needs=((CERT_MANAGER, None), (POD_IDENTITY, None)),
        account=Account(namespace="aws-hyperpod", name="hp-training-operator-controller-manager"),
        source=f"guide, sagemaker-eks-operator-install; {_ACCOUNT}",
    ),
    "amazon-sagemaker-hyperpod-inference": Addon(
        runs="deployments",
        newest="2.1.0",
        kubernetes=Versions(oldest="1.32", newest="1.37", source=_ACCOUNT),
        needs=(
            ("aws-mountpoint-s3-csi-driver", "1.14.1"),
            ("aws-fsx-csi-driver", "1.6.0"),
            ("metrics-server", "0.7.2"),
            (CERT_MANAGER, "1.18.2"),
        ),
        source=f"guide, sagemaker-hyperpod-model-deployment-setup; {_ACCOUNT}",
    ),
}
"""Add-ons by name; of others nothing is known here."""


def runs_deployments(addon: str) -> bool:
    """Whether an add-on is known to stay unhealthy until there are nodes."""
    return addon in ADDONS and ADDONS[addon].runs == "deployments"
