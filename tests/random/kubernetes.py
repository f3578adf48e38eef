"""Strategies for whole programs on EKS: the blueprint, and a cluster with add-ons and teams from constructs."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from tests.random.author import ACCOUNT, Author, number_tokens, text_tokens
from tests.random.deployments import Steps, shared, written
from tests.random.recipes import Call, Name, Program

TYPES: Final = ("ml.m5.xlarge", "ml.g5.12xlarge", "ml.p5.48xlarge", "ml.p5en.48xlarge", "ml.trn1.32xlarge")
_ODD_VERSIONS: Final = ("1.29", "1.3", "1.40", 1.34)
_ROLE: Final = f"arn:aws:iam::{ACCOUNT}:role/"


def on_eks(*, tokens: bool = True, careful: bool = False) -> st.SearchStrategy[Program]:
    """Programs of both kinds, see `deployments.programs`."""
    return _of_blueprints(tokens=tokens, careful=careful) | _of_constructs(tokens=tokens, careful=careful)


@st.composite
def _of_blueprints(draw: Any, *, tokens: bool, careful: bool) -> Program:
    return written(draw, _blueprint, tokens=tokens, careful=careful)


@st.composite
def _of_constructs(draw: Any, *, tokens: bool, careful: bool) -> Program:
    return written(draw, _constructs, tokens=tokens, careful=careful)


def _blueprint(author: Author) -> Steps:
    groups = _groups(author)
    options: dict[str, Any] = {
        "env": Name("env"),
        "zone": author.zone(),
        "groups": author.field(groups),
        **{name: value for name, value in _shared(author, groups).items() if name not in {"slurm", "people"}},
        **author.options(
            {
                "kubernetes": (3, lambda: author.field(("1.33", "1.34"), _ODD_VERSIONS)),
                "admins": (3, lambda: author.field(([f"{_ROLE}Admin"],), (["Admin"], "Admin", [f"{_ROLE}A"] * 2))),
                "endpoint": (3, lambda: _endpoint(author)),
                "addons": (3, lambda: _addons(author)),
                "governance": (2, lambda: _governance(author)),
                "storage": (3, author.lustre),
                "chart": (2, lambda: author.field(Call("HelmChart.installed_elsewhere"), ("elsewhere",))),
                "cidr": (6, lambda: author.field(("10.1.0.0/16", "10.0.0.0/20"), ("10.0.0.0/21", "x"))),
                "egress": (4, lambda: author.field(("nat", "closed"), ("none",))),
                "control_plane_zones": (
                    8,
                    lambda: author.field(
                        ([f"{author.prefix}-az1", f"{author.prefix}-az2"],), ([f"{author.prefix}-az1"], "x")
                    ),
                ),
                "generation": (8, lambda: author.field((1, 2), (0, "1"))),
            }
        ),
    }
    if alerts := author.field(([], ["a@example.com"]), (["a"],)):
        options |= {"alerts": alerts, "budget": author.budget()}
    return (("cluster", Call("EksTraining", (Name("app"), "F"), options)),)


def _constructs(author: Author) -> Steps:
    network = {
        "zones": [f"{author.prefix}-az2"],
        "egress": author.field(("closed", "nat"), ("none",)),
        "flow_logs": False,
    }
    plane: dict[str, Any] = {
        "network": Name("network"),
        "name": author.field("research", ("-x", "a b", ""), text_tokens("research")),
        **author.options(
            {
                "version": (
                    3,
                    lambda: author.field(("1.33", "1.34"), ("1.29", "1.3", "1.40", 1.34), text_tokens("1.34")),
                ),
                "admins": (3, lambda: author.field(([f"{_ROLE}Admin"],), (["Admin"], "Admin"))),
                "endpoint": (3, lambda: _endpoint(author)),
                "chart": (2, lambda: author.field(Call("HelmChart.installed_elsewhere"), ("elsewhere",))),
            }
        ),
    }
    groups = _groups(author)
    cluster = {
        "name": author.field(("train", "a-1"), ("a_b", "", "x" * 64), text_tokens()),
        "network": Name("network"),
        "control_plane": Name("plane"),
        "groups": author.field(groups),
        **_shared(author, groups),
    }
    made_here = Call("EksControlPlane", (Name("stack"), "Kubernetes"), plane)
    arn = author.field(f"arn:aws:eks:{author.region}:{ACCOUNT}:cluster/a", ("a",), text_tokens())
    exists = Call("EksControlPlane.from_arn", (arn,))
    steps = [
        ("network", Call("ClusterNetwork", (Name("stack"), "Network"), network)),
        ("plane", exists if author.sometimes(5) else made_here),
        ("cluster", Call("Cluster", (Name("stack"), "Cluster"), cluster)),
    ]
    if author.sometimes(2):
        options: dict[str, Any] = {"cluster": Name("cluster"), "addons": _addons(author)}
        steps.append(("addons", Call("ClusterAddons", (Name("stack"), "Addons"), options)))
    if author.sometimes(2):
        options = {"cluster": Name("cluster"), "governance": _governance(author)}
        steps.append(("governance", Call("ClusterGovernance", (Name("stack"), "Governance"), options)))
    return tuple(steps)


def _shared(author: Author, groups: Any) -> dict[str, Any]:
    """What blueprint and construct have in common; people and Slurm are mistakes here."""
    common = shared(author, groups)
    if not author.makes_mistakes:
        common = {name: value for name, value in common.items() if name not in {"slurm", "people"}}
    common.pop("governance", None)
    return common | author.options(
        {
            "karpenter": (3, lambda: author.field((True, False), ("yes",))),
            "tiered_storage": (4, lambda: _tiered_storage(author)),
        }
    )


def _tiered_storage(author: Author) -> Any:
    percent = author.field((20, 100, None), (101, -1, 10), number_tokens(30))
    return author.field(Call("TieredStorage", (), {"memory_percent": percent}))


def _endpoint(author: Author) -> Any:
    opened = Call(
        "Endpoint.public", (), {"cidrs": author.field((["198.51.100.0/24"],), ([], ["x"], "198.51.100.0/24"))}
    )
    return author.field(st.sampled_from([opened, Call("Endpoint.private")]))


def _groups(author: Author) -> Any:
    made = [_group(author, name) for name in ("cpu", "p5", "more")[: author.draw(st.integers(1, 3))]]
    if author.makes_mistakes and author.sometimes(8):
        made = author.field(st.sampled_from([[], [*made, made[0]], tuple(made)]))
    return made


def _group(author: Author, name: str) -> Call:
    type_name = author.draw(st.sampled_from(TYPES))
    several = [type_name, "ml.c5.xlarge"]
    written_type = author.field(
        st.sampled_from([type_name, type_name, several]), (["ml.bogus"], [type_name] * 2, []), text_tokens()
    )
    options: dict[str, Any] = {
        "count": author.field((2, 0, 16), (6758, 300), number_tokens(2)),
        "spares": author.field((0, 0, 1), (300,)),
        **author.options(
            {
                "min_count": (6, lambda: author.field(1, (0, 2, 31), number_tokens(1))),
                "kubernetes": (3, lambda: _kubernetes(author)),
                "health_checks": (6, author.health_checks),
                "volumes": (6, author.volumes),
                "patching": (8, author.patching),
                "scheduled_update": (8, author.scheduled_update),
                "image_release_version": (8, lambda: author.field("1.0.742", ("1", "x"), text_tokens("1.0.742"))),
                "network_interface": (8, lambda: author.field(("efa", "efa-only"), ("ena",))),
                "capacity": (5, lambda: author.capacity(type_name, 2)),
            }
        ),
    }
    return Call("InstanceGroup.worker", (author.field(name, ("-x", "a_b", "p5")), written_type), options)


def _kubernetes(author: Author) -> Any:
    taint = Call(
        "Taint",
        (),
        {
            "key": author.field("dedicated", ("kubernetes.io/x", "", "a" * 400), text_tokens()),
            "effect": author.field(("NoSchedule", "NoExecute"), ("Never",), text_tokens()),
            **author.options({"value": (2, lambda: author.field("gpu", ("", "a" * 64), text_tokens()))}),
        },
    )
    labels = author.field(({"pool": "gpu"}, {"b": "2", "a": "1"}), ({"kubernetes.io/x": "y"}, {"x": 3}))
    fields = author.options(
        {"labels": (2, lambda: labels), "taints": (3, lambda: author.field(st.just([taint]), ([taint] * 51, taint)))}
    )
    return author.field(Call("KubernetesConfig", (), fields))


def _addons(author: Author) -> Any:
    of_ours = ("cert_manager", "training_operator", "fsx_csi", "container_insights", "task_governance")
    chosen = author.draw(st.lists(st.sampled_from(of_ours), max_size=4, unique=not author.makes_mistakes))
    made = [
        Call(
            f"Addon.{name}",
            (),
            author.options({"version": (3, lambda: author.field("v1.2.3-eksbuild.1", ("1.2.3", ""), text_tokens()))}),
        )
        for name in chosen
    ]
    if author.sometimes(3):
        pods = Call(
            "PodRole",
            (),
            {
                "namespace": author.field("mine", ("Mine",)),
                "service_account": "pods",
                "policies": author.field((["ReadOnlyAccess"],), ([], "x")),
            },
        )
        fields = {"name": author.field(("mine", "coredns"), ("vpc-cni", "A B"))} | author.options(
            {
                "configuration": (2, lambda: author.field(({"a": [1, {"b": "c"}]},), ({"a": float("nan")}, "x"))),
                "pod_roles": (2, lambda: author.field(st.just([pods]), ("x",))),
                "needs": (3, lambda: author.field((["cert-manager"],), (["mine"], "cert-manager"))),
            }
        )
        made.append(Call("Addon", (), fields))
    return author.field(st.just(made), ("x",))


def _governance(author: Author) -> Any:
    parts = (Call("Share", (), {"accelerators": 4}), Call("Share", (), {"vcpus": 8}))
    teams = [
        Call(
            "Team",
            (),
            {
                "name": author.field(f"team{number}", ("Team", "", "a" * 41), text_tokens()),
                **author.options(
                    {
                        "instances": (
                            2,
                            lambda: {
                                author.field(("ml.p5.48xlarge", "ml.m5.xlarge"), ("ml.bogus",)): author.field(
                                    (1, 2, *parts), (-1, 500, 10**8)
                                )
                            },
                        ),
                        "weight": (2, lambda: author.field((0, 100), (101,), number_tokens(5))),
                        "borrow_limit_percent": (3, lambda: author.field((0, 500), (501,))),
                        "lend": (3, lambda: author.field((True, False), ("no",))),
                        "preempt": (3, lambda: author.field((True, False), ("no",))),
                        "members": (2, lambda: author.field(([f"{_ROLE}Team"],), (["ada"], f"{_ROLE}Team"))),
                    }
                ),
            },
        )
        for number in range(author.draw(st.integers(0, 3)))
    ]
    fields = {
        "teams": author.field(st.just(teams), (teams * 2,)),
        "priorities": author.field(({"training": 75, "urgent": 100}, {}), ({"Training": 75}, {"training": 101})),
        **author.options(
            {
                "idle_sharing": (3, lambda: author.field((True, False), ("no",))),
                "fair_share": (3, lambda: author.field((True, False))),
                "share_unassigned": (3, lambda: author.field((True, False, None))),
            }
        ),
    }
    return author.field(Call("TaskGovernance", (), fields))
