"""What is installed in an EKS cluster once its nodes are there, as users ask for it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hyperpod_constructs.catalog.kubernetes import CERT_MANAGER, TASK_GOVERNANCE, TRAINING_OPERATOR
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.annotations import check_fields
from hyperpod_constructs.model.checks import make_tuples
from hyperpod_constructs.tokens import is_token

CONTAINER_INSIGHTS: Final = "amazon-cloudwatch-observability"
FSX_CSI: Final = "aws-fsx-csi-driver"

_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?")
_VERSION: Final = re.compile(r"v\d+\.\d+\.\d+-[a-z]+\.\d+")
_KUBERNETES_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class PodRole:
    """The role that the pods of a service account take (EKS Pod Identity); one is made with these policies.

    Attributes:
        namespace: Namespace of the service account.
        service_account: Its name.
        policies: AWS managed policies by name, or ARNs of policies.
    """

    namespace: str
    service_account: str
    policies: Sequence[str]

    def __post_init__(self) -> None:
        make_tuples(self, "policies")
        check_fields("pod role: ", self)
        for what, name in (("namespace", self.namespace), ("service_account", self.service_account)):
            if not _KUBERNETES_NAME.fullmatch(name):
                raise InvalidValue(f"{what} is {name!r}", "use 1 to 63 lower-case letters, digits and hyphens")
        if not self.policies:
            raise InvalidValue(
                f"pod role of {self.service_account} has no policies", "name some, or leave the pod role out"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Addon:
    """An EKS add-on.

    The add-ons that HyperPod documents come with what they need of identities and of each other: `training_operator`,
    `fsx_csi`, `container_insights`, `cert_manager`, `task_governance`.

    Attributes:
        name: For example `metrics-server`; `aws eks describe-addon-versions` lists them.
        version: For example `v1.3.0-eksbuild.1`. Left out, EKS takes its default for the Kubernetes version when the
            add-on is made, and leaves it there.
        configuration: What the add-on lets one set; `aws eks describe-addon-configuration` prints its schema. Tokens
            may stand for text.
        pod_roles: Roles that its pods take.
        needs: Names of add-ons that must be there first; those of the same cluster are waited for.

    Raises:
        InvalidValue: if a name or version has not that form, or the configuration is no JSON.
    """

    name: str
    version: str | None = None
    configuration: Mapping[str, object] = field(default_factory=dict)
    pod_roles: Sequence[PodRole] = ()
    needs: Sequence[str] = ()

    def __post_init__(self) -> None:
        make_tuples(self, "pod_roles", "needs")
        check_fields(f"add-on {self.name!r}: ", self)
        if not _NAME.fullmatch(self.name):
            raise InvalidValue(f"add-on {self.name!r} is no name of an add-on", "use one such as metrics-server")
        if self.version is not None and not is_token(self.version) and not _VERSION.fullmatch(self.version):
            raise InvalidValue(
                f"add-on {self.name}: version is {self.version!r}",
                "use one that `aws eks describe-addon-versions` prints, such as v1.3.0-eksbuild.1",
            )
        try:
            json.dumps(self.configuration, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidValue(
                f"add-on {self.name}: configuration is no JSON: {error}", "use text, numbers, lists and dictionaries"
            ) from None

    @classmethod
    def cert_manager(cls, *, version: str | None = None) -> Addon:
        """Certificates for webhooks, which the training operator needs."""
        return cls(name=CERT_MANAGER, version=version)

    @classmethod
    def training_operator(
        cls,
        *,
        version: str | None = None,
        cpu: str | None = None,
        memory: str | None = None,
        node_selector: Mapping[str, str] | None = None,
    ) -> Addon:
        """HyperPod's operator for training jobs, which checkpointless and elastic training need (1.2.0 or newer).

        It needs `cert_manager` beside it, and nodes of a cluster that has the tag `SageMaker=true`, which
        `hp.EksTraining` sets. In a network without a way out it calls `sagemaker.api` and `eks-auth`.

        Args:
            version: Version of the add-on.
            cpu: Limit of its manager, for example `2`.
            memory: The same, for example `4Gi`.
            node_selector: Labels of the nodes that it may run on.

        Source: SageMaker developer guide, sagemaker-eks-operator-install (October 2026).
        """
        limits = {name: value for name, value in (("cpu", cpu), ("memory", memory)) if value is not None}
        manager: dict[str, object] = {"resources": {"limits": limits}} if limits else {}
        if node_selector:
            manager["nodeSelector"] = dict(node_selector)
        return cls(
            name=TRAINING_OPERATOR,
            version=version,
            configuration={"hpTrainingControllerManager": {"manager": manager}} if manager else {},
            pod_roles=(
                PodRole(
                    namespace="aws-hyperpod",
                    service_account="hp-training-operator-controller-manager",
                    policies=("AmazonSageMakerHyperPodTrainingOperatorAccess",),
                ),
            ),
            needs=(CERT_MANAGER,),
        )

    @classmethod
    def fsx_csi(cls, *, version: str | None = None) -> Addon:
        """Volumes on FSx for Lustre in pods.

        Its managed policy lets it make and delete file systems; volumes that exist, such as that of the cluster's
        file system, need none of that, but the add-on's own documents name this policy.

        Source: awslabs/awsome-distributed-ai, hyperpod-eks-tf (2026).
        """
        pod_role = PodRole(
            namespace="kube-system", service_account="fsx-csi-controller-sa", policies=("AmazonFSxFullAccess",)
        )
        return cls(name=FSX_CSI, version=version, pod_roles=(pod_role,))

    @classmethod
    def container_insights(cls, *, version: str | None = None) -> Addon:
        """Metrics and logs of nodes and pods in CloudWatch, which the console's view of task governance reads.

        Source: SageMaker developer guide, governance dashboard; CloudWatch user guide, Container Insights on EKS.
        """
        pod_role = PodRole(
            namespace="amazon-cloudwatch",
            service_account="cloudwatch-agent",
            policies=("CloudWatchAgentServerPolicy",),
        )
        return cls(name=CONTAINER_INSIGHTS, version=version, pod_roles=(pod_role,))

    @classmethod
    def task_governance(cls, *, version: str | None = None) -> Addon:
        """Kueue as HyperPod ships it; `governance=` adds it where it is not named.

        Kueue must not be installed by other means.
        """
        return cls(name=TASK_GOVERNANCE, version=version)
