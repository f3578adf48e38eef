"""What is different about a cluster on EKS before anything of it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import aws_cdk as cdk

from hyperpod_constructs.catalog.kubernetes import HYPERPOD_TAG
from hyperpod_constructs.cdk._cluster_model import Scripts
from hyperpod_constructs.cdk.control_plane import IControlPlane
from hyperpod_constructs.cdk.lifecycle import LifecycleScripts
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.model.orchestration import Eks
from hyperpod_constructs.tokens import is_token


def check_orchestrator(
    control_plane: IControlPlane | None, of_slurm: Mapping[str, object], of_eks: Mapping[str, object]
) -> None:
    """Refuses arguments of the other orchestrator."""
    given = [name for name, value in (of_slurm if control_plane else of_eks).items() if value]
    if given and control_plane:
        raise InvalidValue(
            f"{', '.join(given)} of a cluster with control_plane, which EKS schedules",
            f"leave {', '.join(given)} out; teams of EKS are hp.ClusterGovernance, volumes hp.Addon.fsx_csi()",
        )
    if given:
        raise InvalidValue(
            f"{', '.join(given)} of a cluster without control_plane, which Slurm schedules",
            "give control_plane=hp.EksControlPlane(...), or leave it out",
        )


def check_place(control_plane: IControlPlane | None, stack: cdk.Stack) -> None:
    """Refuses an EKS cluster of another account or Region, as far as both are known."""
    arn = control_plane.cluster_arn if control_plane else ""
    if not arn or is_token(arn):
        return
    _, _, _, region, account, _ = arn.split(":", 5)
    for what, its, ours in (("Region", region, stack.region), ("account", account, stack.account)):
        if not is_token(ours) and its != ours:
            raise InvalidValue(
                f"the EKS cluster {arn} is in {what} {its}, and the HyperPod cluster in {ours}",
                f"use an EKS cluster of {what} {ours}",
            )


def eks_of(control_plane: IControlPlane) -> Eks:
    """The orchestrator as the rules see it: an EKS cluster of the app by its path."""
    return Eks(cluster=control_plane.model.path if control_plane.model else control_plane.cluster_arn)


def scripts_for(lifecycle: Scripts | None, *, on_eks: bool) -> Scripts:
    """The scripts, with the defaults and the moment that the orchestrator asks for."""
    if not on_eks:
        return LifecycleScripts.ami_only() if lifecycle is None else lifecycle
    if lifecycle is None:
        return LifecycleScripts.no_op()
    if isinstance(lifecycle, LifecycleScripts):
        return _on_create(lifecycle)
    return {group: _on_create(each) for group, each in lifecycle.items()}


def _on_create(scripts: LifecycleScripts) -> LifecycleScripts:
    """Steps as EKS runs them: no page says that EKS nodes run scripts after their provisioning (OnInitComplete)."""
    return replace(scripts, provisions=True) if scripts.ours is not None else scripts


def tags_for(tags: Mapping[str, str] | None, *, on_eks: bool) -> Mapping[str, str] | None:
    """The tags, on EKS with the one that add-ons of HyperPod ask a cluster for."""
    return {**dict([HYPERPOD_TAG]), **(tags or {})} if on_eks else tags
