"""What code cannot know, read from the account before a deployment and never written.

Each module looks at one subject; `run` runs all of their checks side by side. Rules of preflight have ids HP9xxx.
"""

from __future__ import annotations

from hyperpod_constructs.account.preflight import (
    bootstrap as bootstrap,
    file_systems as file_systems,
    identity_center as identity_center,
    kubernetes as kubernetes,
    name_servers as name_servers,
    names as names,
    plans as plans,
    quotas as quotas,
    resource_types as resource_types,
    security_groups as security_groups,
    stacks as stacks,
    subnets as subnets,
    undecided as undecided,
    ways_out as ways_out,
    zones as zones,
)
from hyperpod_constructs.account.preflight.context import Context
from hyperpod_constructs.account.preflight.registry import CHECKS, RULES, Check, Learned
from hyperpod_constructs.account.preflight.runner import SECONDS, Outcome, Ran, run

__all__ = ["CHECKS", "RULES", "SECONDS", "Check", "Context", "Learned", "Outcome", "Ran", "run"]
