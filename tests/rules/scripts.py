"""Scripts and those who read them, for tests of rules."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.catalog.permissions import NODE_POLICY
from hyperpod_constructs.model.identity import Role, Statement
from hyperpod_constructs.model.lifecycle import Lifecycle, ScriptFile
from tests.rules.builders import compute, deployment, slurm_cluster, told

SOURCE = "s3://sagemaker-scripts/lcs"
PARAMETERS = ScriptFile(name="provisioning_parameters.json")


def lifecycle(**fields: Any) -> Lifecycle:
    """`on_create.sh` below `s3://sagemaker-scripts/lcs`."""
    return Lifecycle(**{"source_uri": SOURCE, "on_create": "on_create.sh", **fields})


def of(rule: str, **fields: Any) -> list[str]:
    """What a rule says of a group with such a lifecycle."""
    return told(rule, deployment(slurm_cluster(compute(lifecycle=lifecycle(**fields)))))


def statement(actions: Any, resources: Any = ("*",), **fields: Any) -> Statement:
    return Statement(**{"allow": True, "actions": actions, "resources": resources, **fields})


OBJECTS = statement(("s3:Get*",), ("arn:aws:s3:::acme-scripts/lcs/*",))
LISTING = statement(("s3:ListBucket",), ("arn:aws:s3:::acme-scripts",))


class Reading:
    """A group whose scripts lie in a bucket of another name, and its role."""

    rule: str

    def of(
        self, *statements: Statement, uri: Any = "s3://acme-scripts/lcs", role: Any = "Role", **fields: Any
    ) -> list[str]:
        policies = {"managed_policies": (NODE_POLICY,), "statements": statements}
        its = Role(path="Role", trusts=("sagemaker.amazonaws.com",), **{**policies, **fields})
        group = compute(lifecycle=lifecycle(source_uri=uri), execution_role=role)
        return told(self.rule, deployment(slurm_cluster(group), roles=(its,)))
