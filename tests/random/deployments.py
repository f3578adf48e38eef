"""Strategies for whole programs: the blueprint, and a cluster put together from constructs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

from tests.random.author import ACCOUNT, IMPORTED_DNS, Author, text_tokens
from tests.random.recipes import Call, Name, Program

Steps: TypeAlias = tuple[tuple[str, Call], ...]
_HANDS: Final = (*[(0, False)] * 5, *[(-1, False)] * 5, (2, False), (4, False), (1, True), (6, True))
"""In how many of 40 fields somebody writes something odd (-1: just once), and whether it may be of a wrong type."""
REGIONS: Final = (("us-west-2", "usw2"), ("us-east-1", "use1"), ("eu-north-1", "eun1"), ("cn-north-1", "cnn1"))
"""Region and zone prefix; Stockholm has no budgets in CloudFormation, Beijing is another partition."""


def programs(*, tokens: bool = True, careful: bool = False) -> st.SearchStrategy[Program]:
    """Programs of both kinds.

    Args:
        tokens: Whether there may be tokens in them.
        careful: Whether nobody makes mistakes; otherwise about half of the programs can be deployed.
    """
    return of_blueprints(tokens=tokens, careful=careful) | of_constructs(tokens=tokens, careful=careful)


@st.composite
def of_blueprints(draw: Any, *, tokens: bool = True, careful: bool = False) -> Program:
    """Programs of one call of a blueprint."""
    return written(draw, _blueprint, tokens=tokens, careful=careful)


@st.composite
def of_constructs(draw: Any, *, tokens: bool = True, careful: bool = False) -> Program:
    """Programs that put a cluster together."""
    return written(draw, _constructs, tokens=tokens, careful=careful)


def written(draw: Any, write: Callable[[Author], Steps], *, tokens: bool, careful: bool) -> Program:
    region, prefix = draw(st.sampled_from([REGIONS[0]] * 5 + list(REGIONS)))
    slips, junk = (0, False) if careful else draw(st.sampled_from(_HANDS))
    author = Author(
        draw,
        slips=max(slips, 0),
        one_slip_after=draw(st.integers(1, 60)) if slips < 0 else 0,
        junk=junk,
        tokens=draw(st.sampled_from([0, 2, 2, 6])) if tokens else 0,
        region=region,
        prefix=prefix,
    )
    account, known_region = draw(st.sampled_from([(ACCOUNT, region)] * 4 + [(None, None), (None, region)]))
    return Program(write(author), account, known_region)


def _blueprint(author: Author) -> Steps:
    network = author.sometimes(6)
    steps = [("network", _imported_network(author))] if network else []
    storage = author.draw(st.sampled_from(["new", "none", "imported"]))
    zone = author.zone()
    alerts = author.field((["a@example.com"], [], []), (["a"], "a@example.com", ["a@example.com"] * 2, [3]))
    options: dict[str, Any] = {
        "env": Name("env"),
        "zone": zone,
        "groups": author.field(author.groups("F-Foundation/Storage" if storage == "new" else IMPORTED_DNS)),
    }
    if storage == "new":
        options["storage"] = author.lustre()
        if author.sometimes(4):
            options["repositories"] = author.repositories()
    elif storage == "imported":
        options["storage"] = _imported_storage(author)
    if alerts:
        options["alerts"] = alerts
        if not author.slips or author.sometimes(2):
            options["budget"] = author.budget()
    if network:
        options["network"] = Name("network")
    else:
        options |= author.options(
            {
                "cidr": (6, lambda: author.field(("10.1.0.0/16", "10.0.0.0/20"), ("10.0.0.0/24", "10.0.0.1/16", "x"))),
                "egress": (4, lambda: author.field(("nat", "closed"), ("none",))),
                "endpoints": (5, lambda: author.field((["ssm"], []), (["com.amazonaws.ssm"], "ssm", [3]))),
            }
        )
    options |= shared(author, options["groups"] if isinstance(options["groups"], list) else [])
    options |= author.options(
        {
            "generation": (8, lambda: author.field((1, 2), (0, 1000, 1.5, "1"))),
            "termination_protection": (8, lambda: author.field((True, False))),
        }
    )
    steps.append(("cluster", Call("SlurmTraining", (Name("app"), "F"), options)))
    return tuple(steps)


def _constructs(author: Author) -> Steps:
    zones = [f"{author.prefix}-az2", f"{author.prefix}-az1"][: author.draw(st.integers(1, 2))]
    made = Call(
        "ClusterNetwork",
        (Name("stack"), "Network"),
        {
            "zones": author.field(zones, (["us-west-2a"], zones[0], [zones[0]] * 2, ["use1-az1", zones[0]])),
            "egress": author.field(("closed", "nat"), ("none",)),
            "endpoints": author.field((["ssm"], []), (["ssm", "ssm"], ["com.x"])),
            "flow_logs": author.field((False, True)),
        },
    )
    steps = [("network", _imported_network(author) if author.sometimes(4) else made)]
    mounts: dict[Any, Any] = {}
    storage = author.draw(st.sampled_from(["new", "none", "imported"]))
    where = _as_key(author.field("/fsx", ("fsx", "/", "")))
    if storage == "new":
        options = {"network": Name("network"), "lustre": author.lustre()}
        options |= author.options(
            {
                "repositories": (4, author.repositories),
                "zone": (6, lambda: author.field(zones[-1], ("use1-az1", "usw2-az4"))),
                "logs": (6, lambda: author.field((True, False))),
            }
        )
        steps.append(("storage", Call("LustreFileSystem", (Name("stack"), "Storage"), options)))
        mounts[where] = Name("storage")
    elif storage == "imported":
        mounts[where] = _imported_storage(author)
    groups = author.groups("Test/Storage" if storage == "new" else IMPORTED_DNS)
    cluster: dict[str, Any] = {
        "name": author.field(("train", "a-1"), ("a_b", "", "x" * 64), text_tokens()),
        "network": Name("network"),
        "groups": author.field(groups),
        **author.options({"zone": (4, lambda: author.field(zones[-1], ("usw2-az4", "use1-az1")))}),
        **shared(author, groups),
    }
    if mounts:
        cluster["mounts"] = author.field(mounts, ({"/fsx": "fs-1"}, {where: Name("network")}))
    steps.append(("cluster", Call("Cluster", (Name("stack"), "Cluster"), cluster)))
    if author.sometimes(4):
        topic = {"emails": ["a@example.com"], "publishers": ["budgets.amazonaws.com"]}
        steps.insert(0, ("topic", Call("AlertTopic", (Name("stack"), "Topic"), topic)))
        budget = {"budget": author.budget(), "topic_arn": Name("topic.topic_arn")}
        steps.insert(1, ("budget", Call("ClusterBudget", (Name("stack"), "Budget"), budget)))
    return tuple(steps)


def _as_key(value: Any) -> Any:
    """What may be a key of a dictionary: whoever writes a list there gets Python's own error."""
    try:
        hash(value)
    except TypeError:
        return "fsx"
    return value


def shared(author: Author, groups: list[Any]) -> dict[str, Any]:
    """What blueprint and construct have in common."""
    drawn = groups if isinstance(groups, list) else []  # anything may stand where groups belong
    calls = [call for call in drawn if isinstance(call, Call) and call.name.startswith("InstanceGroup")]
    names = [(call.options or {}).get("name") or call.positional[0] for call in calls]
    named = [name for name in names if isinstance(name, str)] or ["controller"]
    role = Call("iam.Role.from_role_arn", (Name("stack"), "Given", f"arn:aws:iam::{ACCOUNT}:role/nodes"))
    boundary = Call(
        "iam.ManagedPolicy.from_managed_policy_arn", (Name("stack"), "Edge", f"arn:aws:iam::{ACCOUNT}:policy/edge")
    )
    return author.options(
        {
            "slurm": (3, author.slurm),
            "lifecycle": (2, lambda: _lifecycle(author, named)),
            "people": (5, author.people),
            "governance": (5, author.governance),
            "recovery": (6, lambda: author.field(("Automatic", "None"), ("none",))),
            "roles": (10, lambda: author.field({named[-1]: role}, ({"nobody": role}, {named[0]: "arn:x"}))),
            "permissions_boundary": (12, lambda: author.field(boundary, ("arn:x",))),
            "tags": (4, author.tags),
        }
    )


def _lifecycle(author: Author, names: list[str]) -> Any:
    by_group = {name: author.scripts() for name in names[: author.draw(st.integers(0, 2))]}
    return author.field(st.sampled_from([by_group, author.scripts()]), ({"nobody": author.scripts()}, "scripts"))


def _imported_network(author: Author) -> Call:
    def subnet(number: int) -> Call:
        zone = author.field(f"{author.prefix}-az{2 - number}", (None, "us-west-2b", "use1-az1"), text_tokens())
        facts = {"subnet_id": f"subnet-0123456789abcdef{number}", "zone": zone}
        facts |= author.options(
            {"cidr": (2, lambda: author.field(("10.0.0.0/18", "10.0.0.0/20"), ("10.0.0.0/27", "x"), text_tokens()))}
        )
        return Call("ImportedSubnet", (), facts)

    subnets = [subnet(number) for number in range(author.draw(st.integers(1, 2)))]
    options = {"vpc_id": author.field("vpc-0123456789abcdef0", ("vpc",), text_tokens()), "subnets": subnets}
    groups = (["sg-0123456789abcdef0"], ["sg-0123456789abcdef0", "sg-0123456789abcdef1"])
    options |= author.options(
        {
            "security_group_ids": (2, lambda: author.field(groups, ([f"sg-{number}" for number in range(6)], "sg-1"))),
            "egress": (4, lambda: author.field(("nat", "closed"), ("none",))),
            "vpc_cidr": (6, lambda: author.field("10.0.0.0/16", ("x",))),
        }
    )
    return Call("Network.from_attributes", (Name("stack"), "Imported"), options)


def _imported_storage(author: Author) -> Call:
    options = {
        "dns_name": author.field(IMPORTED_DNS, ("fs", ""), text_tokens(IMPORTED_DNS)),
        "mount_name": author.field("abcdefgh", ("",), text_tokens("abcdefgh")),
    }
    options |= author.options(
        {
            "zone": (2, lambda: author.field(f"{author.prefix}-az2", (f"{author.prefix}-az3", "x"))),
            "efa": (4, lambda: author.field((True, False), (1,))),
        }
    )
    return Call("LustreFileSystem.from_attributes", (), options)
