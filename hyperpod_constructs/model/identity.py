"""Roles of nodes as far as templates tell."""

from __future__ import annotations

from dataclasses import dataclass

from hyperpod_constructs.tokens import Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement of a policy.

    Attributes:
        allow: Whether it allows; otherwise it denies.
        actions: For example `ec2:CreateNetworkInterface`; may hold `*` and `?`.
        resources: ARNs or patterns; the known beginning of one followed by `*` where the rest is decided at deploy.
        conditional: Whether it has conditions.
        inverted: Whether it says NotAction or NotResource.
    """

    allow: bool
    actions: tuple[str | Unknown, ...] | Unknown
    resources: tuple[str | Unknown, ...] | Unknown = ("*",)
    conditional: bool = False
    inverted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A role of the deployment with every policy that the deployment attaches to it.

    Attributes:
        path: Construct path.
        trusts: Service principals that may assume it, for example `sagemaker.amazonaws.com`.
        source_account_checked: Whether the trust asks for the caller's account (confused deputy).
        managed_policies: Names of managed policies, without the ARN's beginning.
        statements: Statements of inline and attached policies.
        complete: Whether all of its policies are known.
        role_path: IAM path; `/` by default.
    """

    path: str
    trusts: tuple[str | Unknown, ...] | Unknown
    source_account_checked: bool | Unknown = False
    managed_policies: tuple[str | Unknown, ...] | Unknown = ()
    statements: tuple[Statement, ...] = ()
    complete: bool = True
    role_path: str | Unknown = "/"
