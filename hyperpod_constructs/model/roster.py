"""What nodes look up again and again: nodes for jobs and spares, users, teams.

Everything here may change while nodes run, so it is in none of their scripts, whose address would change with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from hyperpod_constructs.model.capacity import InstanceGroup
from hyperpod_constructs.model.checks import check_known
from hyperpod_constructs.model.governance import TaskGovernance
from hyperpod_constructs.model.people import People
from hyperpod_constructs.tokens import known

FILE: Final = "roster.json"
"""Name of the file."""


def encode(groups: Sequence[InstanceGroup], people: People | None, governance: TaskGovernance | None) -> dict[str, Any]:
    """The file that nodes read, in a stable order.

    Args:
        groups: Instance groups of the cluster.
        people: Users and groups.
        governance: Teams and priorities, which become accounts and qualities of service of Slurm.

    Raises:
        InvalidValue: if something in it is decided at deploy.
    """
    encoded = {
        "version": 1,
        "nodes": {str(group.name): _nodes(group) for group in groups if group.node_type == "Compute"},
        **_people(people or People()),
        **_teams(governance or TaskGovernance(), _accelerators(groups)),
    }
    check_known("the roster", encoded)
    return encoded


def _nodes(group: InstanceGroup) -> dict[str, Any]:
    partitions = group.partitions if isinstance(group.partitions, tuple) else ()
    # A count that the deploy decides leaves no spares to be held: constructs refuse both together.
    return {"partition": next(iter(partitions), None), "count": known(group.count), "spares": group.spares}


def _accelerators(groups: Sequence[InstanceGroup]) -> dict[str, int]:
    """GPUs of one instance, by type: what Slurm counts on its own. Trainium teams have their limit in nodes."""
    found = [facts for group in groups for facts in group.possible_facts]
    return {
        facts.name: facts.accelerators
        for facts in found
        if facts.accelerators and facts.accelerator and facts.accelerator.kind == "gpu"
    }


def _people(people: People) -> dict[str, Any]:
    return {
        "groups": [{"name": each.name, "gid": each.gid} for each in sorted(people.groups, key=lambda each: each.name)],
        "users": [
            {
                "name": user.name,
                "uid": user.uid,
                "groups": sorted(user.groups),
                "keys": [key.strip() for key in user.keys],
                "admin": user.admin,
                "shell": user.shell,
            }
            for user in sorted(people.users, key=lambda each: each.name)
        ],
    }


def _teams(governance: TaskGovernance, accelerators: dict[str, int]) -> dict[str, Any]:
    return {
        "teams": [
            {
                "name": team.name,
                "members": sorted(team.members),
                "weight": team.weight,
                **team.quota(accelerators),
                "borrow_limit_percent": team.borrow_limit_percent if governance.idle_sharing else 0,
                "priorities": sorted(team.priorities),
            }
            for team in sorted(governance.teams, key=lambda each: each.name)
        ],
        "priorities": dict(sorted(governance.priorities.items())),
    }
