"""Roles of nodes, keys and secrets, as far as templates tell."""

from __future__ import annotations

from dataclasses import dataclass, field

from hyperpod_constructs.model.storage import Retention
from hyperpod_constructs.tokens import Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement of a policy.

    Attributes:
        allow: Whether it allows; otherwise it denies.
        actions: For example `ec2:CreateNetworkInterface`; may hold `*` and `?`.
        resources: ARNs or patterns; the known beginning of one followed by `*` where the rest is decided at deploy.
        undecided: Those resources in which a `*` stands for what is decided at deploy; in others it was written.
        conditional: Whether it has conditions.
        inverted: Whether it says NotAction or NotResource.
        policy: Path of the policy, where that is a resource which names the role; `None` where the role itself holds or
            names the policy, so that it is there before the role is.
    """

    allow: bool
    actions: tuple[str | Unknown, ...] | Unknown
    resources: tuple[str | Unknown, ...] | Unknown = ("*",)
    undecided: tuple[str, ...] = ()
    conditional: bool = False
    inverted: bool = False
    policy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A role of the deployment with every policy that the deployment attaches to it.

    Attributes:
        path: Construct path.
        trusts: Service principals that may assume it, for example `sagemaker.amazonaws.com`.
        source_account_checked: Whether the trust asks for the caller's account (confused deputy).
        source_accounts: The accounts that the trust of services is limited to; `None` where no condition limits it.
        managed_policies: Names of AWS's own managed policies, without the ARN's beginning; `UNKNOWN` for other ones.
        statements: Statements of inline and attached policies.
        complete: Whether all of its policies are known.
        role_path: IAM path; `/` by default.
    """

    path: str
    trusts: tuple[str | Unknown, ...] | Unknown
    source_account_checked: bool | Unknown = False
    source_accounts: tuple[str, ...] | Unknown | None = None
    managed_policies: tuple[str | Unknown, ...] | Unknown = ()
    statements: tuple[Statement, ...] = ()
    complete: bool = True
    role_path: str | Unknown = "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A KMS key of the deployment, by what its policy says of nodes: volumes take grants, scripts are decrypted.

    Attributes:
        path: Construct path.
        delegates: Whether its policy leaves it to the policies of roles, as the default one does.
        grantees: Paths or ARNs of the principals that its policy itself lets create grants.
        readers: Paths or ARNs of the principals that its policy itself lets decrypt.
        bound: Condition keys of an encryption context in the statements that let anybody create grants.
        retention: What happens to it on delete and on replace.
    """

    path: str
    delegates: bool | Unknown = True
    grantees: tuple[str | Unknown, ...] = ()
    readers: tuple[str | Unknown, ...] = ()
    bound: tuple[str, ...] = ()
    retention: Retention = field(default_factory=Retention)


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A secret of Secrets Manager in the deployment.

    Attributes:
        path: Construct path; also that of an attachment to a database, whose reference gives the ARN of its secret.
        key: Path or ARN of the customer key that encrypts it.
    """

    path: str
    key: str | Unknown | None = None
