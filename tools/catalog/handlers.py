"""Rebuilds `hyperpod_constructs/catalog/handlers.json`: what CloudFormation calls to manage a resource of each type.

Run `python -m tools.catalog.handlers` after an upgrade of cfn-lint, and read the diff. The source is CloudFormation's
registry in cfn-lint's data: the permissions of a type's five handlers (create, read, update, delete, list), in one
list, because a deploy may need each of them: a failed create is deleted again. The same version gives the same bytes,
which a test holds.
"""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import Any

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER

from tools.catalog.build import CATALOG, lines, schema_date

HOME = "us-east-1"
"""The Region whose registry is read: the one with the most types."""
SERVICES = frozenset(
    {
        "APS",
        "Budgets",
        "CE",
        "CloudFormation",
        "CloudWatch",
        "EC2",
        "ECR",
        "EFS",
        "EKS",
        "Events",
        "FSx",
        "Grafana",
        "IAM",
        "KMS",
        "Lambda",
        "Logs",
        "RDS",
        "Route53",
        "Route53Resolver",
        "S3",
        "SNS",
        "SQS",
        "SSM",
        "SageMaker",
        "Scheduler",
        "SecretsManager",
        "StepFunctions",
    }
)
"""What stands around a cluster. All 1,744 types of the registry would be half a megabyte in every installation."""
_ACTION = re.compile(r"([A-Za-z0-9-]+):([A-Za-z0-9*]+)")
"""Of an action of IAM; the registry writes some as `EC2:`, and has an empty one and `s3:REST.PUT.OBJECT`."""


def main() -> None:
    """Writes the file."""
    (CATALOG / "handlers.json").write_text(handlers(), encoding="utf-8")


def handlers() -> str:
    """The content of handlers.json: by type, and there by service prefix, names of actions with blanks between."""
    types = sorted(PROVIDER_SCHEMA_MANAGER.get_resource_types(HOME))
    found = {name: _of(name) for name in types if name.split("::")[1] in SERVICES and name.startswith("AWS::")}
    return lines(
        {
            "sources": {"handlers": f"cfn-lint {version('cfn-lint')}, registry schemas of {HOME} of {schema_date()}"},
            "types": {name: actions for name, actions in found.items() if actions},
        }
    )


def _of(name: str) -> dict[str, str]:
    schema: dict[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema(HOME, name).schema
    permissions = {each for handler in schema.get("handlers", {}).values() for each in handler.get("permissions", [])}
    by_service: dict[str, list[str]] = {}
    for match in filter(None, map(_ACTION.fullmatch, sorted(permissions))):
        by_service.setdefault(match[1].lower(), []).append(match[2])
    return {service: " ".join(sorted(set(actions))) for service, actions in by_service.items()}


if __name__ == "__main__":
    main()
