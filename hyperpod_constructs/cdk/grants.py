"""Who is meant by a grant to a cluster: the roles of all its groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import jsii
from aws_cdk import aws_iam as iam
from constructs import DependencyGroup


@jsii.implements(iam.IPrincipal)
class Nodes:
    """The nodes of a cluster as one principal.

    Statements go into policies that all roles have, made at the first grant: one that the cluster waits for, so that
    scripts on the first nodes can count on it, and one for statements that name the cluster itself, which it cannot
    wait for. Policies of resources (of a key, of a bucket in another account) name the roles. A grant on what refers to
    the cluster by a way round (a parameter that holds its ARN) is a circle that CloudFormation refuses: give it to
    `cluster.role(...)` instead.
    """

    def __init__(
        self, roles: Mapping[str, iam.IRole], policy: Callable[[], iam.Policy], own: Callable[[], iam.Policy], ref: str
    ) -> None:
        """Makes the principal; policies are made when they are first needed.

        Args:
            roles: Roles by group.
            policy: The policy that the cluster waits for.
            own: The policy that it does not wait for.
            ref: The token of the cluster's ARN.
        """
        self._roles = roles
        self._policy = policy
        self._own = own
        self._ref = ref

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """Itself."""
        return self

    @property
    def assume_role_action(self) -> str:
        """Action of trust policies that name it."""
        return "sts:AssumeRole"

    @property
    def principal_account(self) -> str | None:
        """The account of the roles."""
        return next(iter(self._roles.values())).principal_account

    @property
    def policy_fragment(self) -> iam.PrincipalPolicyFragment:
        """How policies of resources name it: by its roles, each once."""
        arns = sorted({role.role_arn for role in self._roles.values()})
        return iam.PrincipalPolicyFragment({"AWS": arns}, {})

    def add_to_principal_policy(self, statement: iam.PolicyStatement) -> iam.AddToPrincipalPolicyResult:
        """Adds a statement to what every node may do."""
        about_the_cluster = any(self._ref in resource for resource in statement.resources)
        policy = self._own() if about_the_cluster else self._policy()
        policy.add_statements(statement)
        return iam.AddToPrincipalPolicyResult(statement_added=True, policy_dependable=DependencyGroup(policy))

    def add_to_policy(self, statement: iam.PolicyStatement) -> bool:
        """The same under its old name."""
        return self.add_to_principal_policy(statement).statement_added
