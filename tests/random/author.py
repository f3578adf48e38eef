"""Somebody who writes values: with care, with slips, or with no idea at all; and the values of groups that they write.

Roughly half of what is drawn must be deployable, or every test would stop at the first refused field. A careful author
fills in what goes together; one with slips sometimes writes something else into a field; a wild one often does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from hyperpod_constructs.catalog import instances, limits, lustre
from tests.random.recipes import Call, Folder, Token

Strategy = st.SearchStrategy[Any]

CPU_TYPES: Final = ("ml.m5.xlarge", "ml.c5.xlarge", "ml.m5.4xlarge", "ml.t3.medium")
COMPUTE_TYPES: Final = (
    "ml.c5.xlarge",
    "ml.p5.48xlarge",
    "ml.g5.12xlarge",
    "ml.trn1.32xlarge",
    "ml.p4d.24xlarge",
    "ml.p5e.48xlarge",
)
ACCOUNT: Final = "111122223333"
KEY: Final = f"arn:aws:kms:us-west-2:{ACCOUNT}:key/11111111-2222-3333-4444-555555555555"
IMPORTED_DNS: Final = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"

JUNK: Final = st.sampled_from(
    [
        *(
            None,
            "",
            " ",
            "x",
            "é",
            "a" * 300,
            "a\nb",
            0,
            1,
            -1,
            3,
            10**30,
            2.5,
            float("nan"),
            float("inf"),
            True,
            False,
        ),
        *([], ["x"], [None], [3], (), ("x",), {}, {"x": 3}, b"x", range(3), {"x"}, Exception),
        *(Call("OnDemand"), Call("Spot"), Call("Slurm"), Call("Budget"), Call("NodeVolume", (), {"size_gib": 100})),
    ]
)
"""What nobody should write, of all types; also values of ours in the wrong place."""

TEXT_TOKEN: Final = Token("text")
NUMBER_TOKEN: Final = Token("number")
LIST_TOKEN: Final = Token("list")


def text_tokens(late: Any = None) -> Strategy:
    """Every form of text that is not known; `late` is what one that is known a little later turns out to be."""
    forms = [TEXT_TOKEN, Token("inside", "a-{}"), Token("inside", "{}-b")]
    return st.sampled_from(forms if late is None else [*forms, Token("late text", late)])


def number_tokens(late: int | None = None) -> Strategy:
    """The same of numbers."""
    return st.sampled_from([NUMBER_TOKEN] if late is None else [NUMBER_TOKEN, Token("late number", late)])


@dataclass
class Author:
    """One person writing one program.

    Attributes:
        draw: Hypothesis's own.
        slips: In how many of 40 fields something odd is written.
        one_slip_after: After how many fields something odd is written once; 0 or less for never.
        junk: Whether what is odd may also be of a wrong type.
        tokens: In how many of 40 fields something not known is written.
        region: Region of the program.
        prefix: What the Region's zone ids begin with.
    """

    draw: Callable[[Strategy], Any]
    slips: int = 0
    one_slip_after: int = 0
    junk: bool = False
    tokens: int = 0
    region: str = "us-west-2"
    prefix: str = "usw2"

    def field(self, good: Any, odd: Any = JUNK, token: Strategy | None = None) -> Any:
        """The value of a field: `good`, or now and then something odd or not known."""
        if odd is JUNK and not self.junk:
            odd = good
        else:
            self.one_slip_after -= 1
            if self.one_slip_after == 0:
                return self._one(odd)
        lot = self.draw(st.integers(0, 39)) if self.slips or (self.tokens and token is not None) else 0
        if lot > 39 - self.slips:
            # The odd values of a field are the mistakes that people make; junk is of any type.
            return self._one(JUNK if self.junk and self.sometimes(8) else odd)
        if token is not None and lot > 39 - self.slips - self.tokens:
            return self.draw(token)
        return self._one(good)

    @property
    def makes_mistakes(self) -> bool:
        """Whether anything odd is to be expected."""
        return self.slips > 0 or self.one_slip_after > 0

    def _one(self, choice: Any) -> Any:
        if isinstance(choice, st.SearchStrategy):
            return self.draw(choice)
        return self.draw(st.sampled_from(choice)) if isinstance(choice, tuple | range) else choice

    def sometimes(self, outof: int) -> bool:
        """Whether it happens this time; never is simplest."""
        return bool(self.draw(st.integers(0, outof - 1)) == outof - 1)

    def options(self, chances: Mapping[str, tuple[int, Callable[[], Any]]]) -> dict[str, Any]:
        """Some of several optional fields, each with its chance."""
        often = 2 if self.makes_mistakes else 1
        return {name: write() for name, (outof, write) in chances.items() if self.sometimes(max(2, outof // often))}

    def zone(self) -> Any:
        """A zone id of the Region."""
        others = ("use1-az1", "us-west-2b", f"{self.prefix}-az9", f"{self.prefix}-phx2-az1", "nowhere")
        return self.field((f"{self.prefix}-az2", f"{self.prefix}-az1"), others)

    # Groups

    def groups(self, storage: str | None) -> Any:
        """A controller, perhaps a login group, and compute groups."""
        made = [self.group("controller", "controller", storage=storage)]
        if self.sometimes(2):
            made.append(self.group("login", "login", storage=storage))
        names = ("p5", "cpu", "spare-1")[: self.draw(st.integers(0, 3))]
        made.extend(self.group("compute", name, storage=storage) for name in names)
        if self.makes_mistakes and self.sometimes(8):
            made = self.field(st.sampled_from([made[1:], [*made, made[0]], [*made, made[-1]], tuple(made)]))
        if self.makes_mistakes and self.sometimes(40):
            made = [*made, *(self._many(number) for number in range(self.draw(st.sampled_from([20, 100]))))]
        return made

    def _many(self, number: int) -> Call:
        return Call("InstanceGroup.compute", (f"g{number}", "ml.c5.xlarge"), {"count": 1})

    def group(self, role: str, name: str, *, storage: str | None) -> Call:
        """One group."""
        known = CPU_TYPES if role != "compute" else COMPUTE_TYPES
        type_name = self.draw(st.sampled_from(known))
        written = self.field(type_name, _ODD_TYPES, text_tokens())
        facts = instances.find(type_name)
        accelerated = facts is not None and bool(facts.accelerators)
        count = self.field((2, 1, 4, 30), (0, 3, 6758, 6759, 300), number_tokens(2)) if role == "compute" else 1
        spares = self.field((0, 1, 2), (300, 6758)) if role == "compute" and self.sometimes(3) else 0
        odd_names = ("login", "p5", "P5", "dev", "-x", "a_b", "a" * 64, "controller", Token("text"))
        arguments: dict[str, Any] = {
            "min_count": (12, lambda: self.field(1, (0, 2, 31, 7000), number_tokens(1))),
            "threads_per_core": (10, lambda: self.field((1, 2), (0, 3), number_tokens(2))),
            "volumes": (6, self.volumes),
            "mounts": (10, lambda: self.mounts(storage)),
            "patching": (10, self.patching),
            "scheduled_update": (10, self.scheduled_update),
            "zone": (12, self.zone),
            "image_id": (14, lambda: self.field("ami-0123456789abcdef0", ("ami-1", "x"), text_tokens("ami-0a1b2c3d"))),
        }
        if accelerated:
            wanted = count + spares if isinstance(count, int) and isinstance(spares, int) else 2
            arguments["capacity"] = (2, lambda: self.capacity(type_name, wanted))
            arguments["network_interface"] = (8, lambda: self.field(("efa", "efa-only"), ("ena", "EFA"), text_tokens()))
        if accelerated or self.makes_mistakes:
            arguments["health_checks"] = (5, self.health_checks)
        if self.makes_mistakes and self.sometimes(6):
            arguments["capacity"] = (1, lambda: self.capacity(type_name, 2))
        options = self.options(arguments)
        if self.makes_mistakes and self.sometimes(12):
            return self._plain_group(name, written, count, options)
        named = self.field(name, odd_names)
        if role == "controller":
            return Call("InstanceGroup.controller", (written,), {"name": named, **options})
        if role == "login":
            return Call("InstanceGroup.login", (written,), {"name": named, "count": self.field(1, (0, 2)), **options})
        if self.sometimes(3):
            options["partition"] = self.field(("train", "batch"), ("dev", "a b", "a" * 65, "-"), text_tokens("late"))
        return Call("InstanceGroup.compute", (named, written), {"count": count, "spares": spares, **options})

    def _plain_group(self, name: str, written: Any, count: Any, options: dict[str, Any]) -> Call:
        """A group made without the help of a class method, in which anything can be wrong."""
        fields = {
            "name": name,
            "count": count,
            "instance_type": self.field(written, (None,)),
            "node_type": self.field(("Compute", "Login", "Controller"), (None, "Worker")),
            "flexible_types": self.field(
                ((), ("ml.c5.xlarge", "ml.m5.xlarge")),
                (("ml.c5.xlarge", "ml.c5.xlarge"), ("ml.c5.xlarge",) * 21, ("ml.bogus",)),
                st.just(LIST_TOKEN),
            ),
            "partitions": self.field((("train",), ()), (("a", "b"), ("a b",), [3], (None,)), st.just(LIST_TOKEN)),
            "spares": self.field(0, (1, NUMBER_TOKEN, 7000)),
            "lifecycle": self.field(None, (Call("LifecycleScripts.ami_only"),)),
            **options,
        }
        return Call("InstanceGroup", (), fields)

    def capacity(self, type_name: str, instances_of_group: int) -> Any:
        """What the group's instances are bought as."""
        kind = self.draw(st.sampled_from(["plan", "plan", "demand", "spot", "arn"]))
        if kind == "demand":
            return self.field(Call("OnDemand"))
        if kind == "spot":
            return Call("Spot")
        if kind == "arn":
            arn = f"arn:aws:sagemaker:{self.region}:{ACCOUNT}:training-plan/frontier"
            others = ("frontier", arn.replace(self.region, "eu-west-1"), arn.replace("1111", "9999"))
            return Call("TrainingPlan.unchecked", (self.field(arn, others, text_tokens()),))
        sold = tuple(size for size in limits.PLAN_COUNTS if size >= instances_of_group) or (64,)
        facts = {
            "count": self.field(sold, (1, 3, 0, 257, None), number_tokens(sold[-1])),
            "zone": self.field(f"{self.prefix}-az2", (f"{self.prefix}-az3", "use1-az1", "us-west-2b"), text_tokens()),
            "starts": self.field("2026-12-07", ("2027-12-07", "soon", "2026-13-01", None), text_tokens("2026-12-07")),
            "ends": self.field("2027-02-14", ("2026-12-07", "2026-01-01", None), text_tokens("2027-02-14")),
        }
        if self.sometimes(3):
            facts["instance_type"] = self.field(type_name, ("ml.p5en.48xlarge", "ml.p5.48xlarge", "ml.bogus"))
        return Call("TrainingPlan", (self.field("frontier", ("a/b", "arn:x"), text_tokens()),), facts)

    def volumes(self) -> Any:
        """EBS volumes of the nodes."""
        size = Call("NodeVolume", (), {"size_gib": self.field((500, 100), (0, 16385, 2000), number_tokens(500))})
        root = Call(
            "NodeVolume",
            (),
            {"root": self.field((True,), (1,)), "kms_key": self.field(KEY, ("alias/x", "k"), text_tokens(KEY))},
        )
        both = Call("NodeVolume", (), {"size_gib": 10, "root": True})
        return self.field(
            st.sampled_from([[size], [root], [root, size]]),
            st.sampled_from([[size, size], [root, root], [both], [Call("NodeVolume")], (size,), size]),
        )

    def mounts(self, storage: str | None) -> Any:
        """File systems of one group."""
        folder = self.field(("/scratch", "/home"), ("scratch", "/", "/a b", "/" + "a" * 1100), text_tokens("/late"))
        zfs = Call("Mount", (), {"kind": "openzfs", "path": folder, "file_system": self._zfs_name()})
        lustre_mount = Call(
            "Mount", (), {"kind": self.field("lustre", ("nfs",)), "path": folder, "file_system": storage or "x"}
        )
        good = [[zfs]] if storage is None else [[lustre_mount], [lustre_mount, zfs]]
        return self.field(st.sampled_from(good), st.sampled_from([[lustre_mount] * 2, [zfs, zfs], (zfs,), zfs]))

    def _zfs_name(self) -> Any:
        return self.field(IMPORTED_DNS, ("fs", ""), text_tokens(IMPORTED_DNS))

    def health_checks(self) -> Any:
        """Deep health checks."""
        checks = ("InstanceStress", "InstanceConnectivity")
        return self.field(
            st.sampled_from([list(checks), [checks[0]], []]),
            st.sampled_from([["instancestress"], checks[0], [None], ["InstanceStress"] * 2, LIST_TOKEN]),
        )

    def patching(self) -> Any:
        """Automatic patching."""
        options = {"when": self.field(("WhenIdle", "WhenAllIdle"), ("DrainFirst", "Never", None))}
        return self.field(Call("AutoPatch", (), {**options, **self._rolling()}))

    def scheduled_update(self) -> Any:
        """Updates on a schedule."""
        good = ("cron(0 3 ? * SUN *)", "cron(30 4 1 * ? *)")
        schedule = self.field(good, ("cron(* * * * *)", "rate(1 day)", "cron(0/5 3 ? * SUN *)"), text_tokens())
        return self.field(Call("ScheduledUpdate", (), {"schedule": schedule, **self._rolling()}))

    def _rolling(self) -> dict[str, Any]:
        if not self.sometimes(2):
            return {}
        batch = {"count": self.field((1, 2), (0, 7000), number_tokens(2))}
        if self.sometimes(2):
            batch = {"percent": self.field((10, 100), (0, 101), number_tokens(50))}
        options: dict[str, Any] = {"batch": self.field(Call("BatchSize", (), batch), (Call("BatchSize"),))}
        options |= self.options(
            {
                "rollback_batch": (3, lambda: self.field(Call("BatchSize", (), {"percent": 50}))),
                "wait_seconds": (3, lambda: self.field((0, 600), (3601, -1), number_tokens(60))),
                "alarms": (3, lambda: self.field((["alarm"],), (["a"] * 11, "alarm", [3]), st.just(LIST_TOKEN))),
            }
        )
        return {"rolling": self.field(Call("RollingUpdate", (), options))}

    # What a cluster has besides groups

    def slurm(self) -> Any:
        """How Slurm is run."""
        database = {
            "endpoint": self.field("db.example.com", ("",), text_tokens("db.example.com")),
            "secret_arn": self.field(f"arn:aws:secretsmanager:us-west-2:{ACCOUNT}:secret:a", ("s",), text_tokens()),
        }
        database |= self.options(
            {
                "port": (4, lambda: self.field((3306, 1), (0, 65536), number_tokens(3306))),
                "name": (4, lambda: self.field("acct", ("a-b", ""), text_tokens("acct"))),
            }
        )
        options = self.options(
            {
                "provisioning": (3, lambda: self.field(("continuous", "all-or-nothing"), ("Continuous",))),
                "accounting": (3, lambda: self.field(Call("ExternalDatabase", (), database))),
            }
        )
        if self.makes_mistakes and self.sometimes(6):
            options["strategy"] = self.field("Managed", ("managed",), text_tokens("Merge"))
        return self.field(Call("Slurm", (), options))

    def lustre(self) -> Any:
        """A Lustre file system to buy."""
        kind = self.draw(st.sampled_from([("PERSISTENT_2", "SSD")] * 3 + sorted(lustre.OFFERS)))
        offer = lustre.OFFERS[kind]
        options: dict[str, Any] = {}
        if kind != ("PERSISTENT_2", "SSD") or self.sometimes(4):
            options["deployment_type"] = self.field(kind[0], (*_DEPLOYMENT_TYPES, "PERSISTENT_3"), text_tokens())
            options["storage_type"] = self.field(kind[1], ("SSD", "HDD", "INTELLIGENT_TIERING"), text_tokens())
        throughput = offer.throughputs[0] if offer.throughputs else None
        if throughput is not None:
            options["throughput_mbps_per_tib"] = self.field(offer.throughputs, (13, 501, 40), number_tokens(throughput))
        if offer.capacities:
            sizes = offer.capacities.get(None) or offer.capacities[throughput]
            good = (sizes.step, sizes.step * 2, *sizes.sizes)
            options["capacity_gib"] = self.field(good, (1000, 1201, 4000, 12, 0), number_tokens(good[0]))
        if kind[1] == "INTELLIGENT_TIERING":
            options["throughput_mbps"] = self.field((4000, 8000), (4001, 1000), number_tokens(4000))
            options |= self.options(
                {"read_cache_gib": (2, lambda: self.field((32, 1000), (1, 10**7), number_tokens(32)))}
            )
            options["metadata_iops"] = self.field((6000, 12000), (1500, "AUTOMATIC", 24000))
        if kind[1] == "HDD":
            options["drive_cache"] = self.field(("NONE", "READ"), ("WRITE", None), text_tokens("NONE"))
        if not offer.versions or "2.15" not in offer.versions:
            options["version"] = self.field(offer.default_version)
        options |= self.options(
            {
                "compression": (4, lambda: self.field(("NONE", "LZ4"), ("GZIP",), text_tokens("LZ4"))),
                "backup_days": (4, lambda: self.field((0, 7) if offer.backups else 0, (91, -1), number_tokens(7))),
                "maintenance": (6, lambda: self.field("7:03:00", ("7:3", "8:00:00"), text_tokens("7:03:00"))),
                "version": (6, lambda: self.field("2.15", ("2.10", "2.12", "3.0"), text_tokens("2.15"))),
            }
        )
        if kind == ("PERSISTENT_2", "SSD"):
            options |= self.options(
                {
                    "metadata_iops": (
                        3,
                        lambda: self.field(("AUTOMATIC", 12000), (1500, 100, "auto"), number_tokens(12000)),
                    )
                }
            )
            if self.sometimes(4):
                written = options["throughput_mbps_per_tib"]
                step = lustre.EFA_STEPS_GIB.get(written, 4800) if isinstance(written, int) else 4800
                options |= {
                    "efa": self.field((True,), (1,)),
                    "metadata_iops": "AUTOMATIC",
                    "capacity_gib": self.field(step),
                }
        return self.field(Call("Lustre", (), options), (Call("Lustre"),))

    def repositories(self) -> Any:
        """Folders that mirror S3."""
        folders = self.field((("/data",), ("/data", "/models")), (("/a", "/a/b"), ("/",), ("a",), ("/a",) * 9))
        made = []
        for folder in folders if isinstance(folders, tuple) else ():
            fields = {
                "folder": self.field(folder, ("", "data")),
                "s3_uri": self.field(f"s3://bucket{folder}/", ("bucket", "s3://"), text_tokens()),
            }
            fields |= self.options(
                {
                    "imports": (3, lambda: self.field((("NEW",), ()), (("new",), "NEW", ["NEW"]), st.just(LIST_TOKEN))),
                    "exports": (3, lambda: self.field((("NEW", "DELETED"), ()), (("OLD",), ("NEW", "NEW")))),
                    "batch_import": (4, lambda: self.field((True, False), (1, TEXT_TOKEN))),
                }
            )
            made.append(Call("DataRepository", (), fields))
        return self.field(made, (made[:1] * 2,))

    def scripts(self) -> Any:
        """Lifecycle scripts in all modes."""
        folder = self.field(st.just(Folder("good")), tuple(Folder(name) for name in _ODD_FOLDERS))
        entry = {"entry": self.field(("run.sh", "lib/more.sh"), ("missing.sh", "/run.sh", ""))}
        uri = self.field(
            ("s3://sagemaker-scripts/a", "s3://scripts/b"),
            ("s3://", "https://b.s3.amazonaws.com/a", "s3://b//a", "s3://b/" + "a" * 1100),
            st.sampled_from([TEXT_TOKEN, Token("inside", "s3://scripts/{}"), Token("inside", "s3://{}/a")]),
        )
        options = {self.draw(st.sampled_from(["on_create", "on_init_complete"])): self.field("run.sh", ("/run.sh",))}
        if self.makes_mistakes and self.sometimes(8):
            options |= {"on_create": "a.sh", "on_init_complete": "b.sh"}
        return self.draw(
            st.sampled_from(
                [
                    Call("LifecycleScripts.ami_only"),
                    Call("LifecycleScripts.extended", (folder,), entry),
                    Call("LifecycleScripts.custom", (folder,), entry),
                    Call("LifecycleScripts.existing", (uri,), options),
                    self.steps(),
                    self.steps(),
                ]
            )
        )

    def steps(self) -> Any:
        """Steps of ours in any order, with options of all kinds."""
        common = {
            "timeout_seconds": (6, lambda: self.field((1, 600), (0, 3601, "x"), number_tokens(60))),
            "retries": (6, lambda: self.field((0, 5), (-1, 21))),
            "required": (6, lambda: self.field((True, False), ("yes",))),
            "groups": (12, lambda: self.field(None, (["nobody"], "x"))),
        }
        of = {
            "steps.FileSystems": {"wait_seconds": (3, lambda: self.field((0, 300), (-1, 4000)))},
            "steps.MetadataService": {"allow_users": (3, lambda: self.field((("cwagent",),), ("cwagent",)))},
            "steps.LogRotation": {"days": (3, lambda: self.field((1, 30), (0, 400)))},
            "steps.Containers": {"candidates": (3, lambda: self.field((("/opt/dlami/nvme",),), (("x",), "/a")))},
            "steps.Accounting": {"uri": (3, lambda: self.field("s3://people/all.json", ("x",), text_tokens()))},
            "steps.People": {"homes": (3, lambda: self.field(("/fsx/home", "/home"), ("home", "/a/../b")))},
            "steps.SlurmAdopt": {"admin_group": (3, lambda: self.field("ops", (3,)))},
            "steps.LustreClient": {},
            "steps.NodeCounts": {},
            "steps.JobChecks": {},
            "steps.Spares": {},
        }
        names = self.draw(st.lists(st.sampled_from(sorted(of)), max_size=5, unique=not self.makes_mistakes))
        made = [Call(name, (), self.options({**of[name], **common})) for name in names]
        options = self.options({"provisions": (6, lambda: self.field((True, False), ("yes",)))})
        return Call("LifecycleScripts.steps", (self.field(st.just(made), ("steps", [None])),), options)

    def people(self) -> Any:
        """Who works on the cluster."""
        users = [
            Call(
                "User",
                (),
                {
                    "name": self.field(f"user{number}", ("Root", "root", "", 3), text_tokens()),
                    "uid": self.field(3000 + number, (0, 999, "x", 3000), number_tokens(3000)),
                    **self.options(
                        {
                            "keys": (2, lambda: self.field((["ssh-ed25519 AAAA x"],), (["AAAA"], "ssh-rsa AAAA"))),
                            "groups": (4, lambda: self.field((["data"],), (["nobody"],))),
                            "admin": (4, lambda: self.field((True, False), ("yes",))),
                        }
                    ),
                },
            )
            for number in range(self.draw(st.integers(0, 3)))
        ]
        groups = [Call("Group", (), {"name": "data", "gid": self.field(4000, (3000, -1))})]
        return Call("People", (), {"users": self.field(st.just(users), (users * 2,)), "groups": groups})

    def governance(self) -> Any:
        """How teams share the cluster."""
        teams = [
            Call(
                "Team",
                (),
                {
                    "name": self.field(f"team{number}", ("Team", "root", ""), text_tokens()),
                    **self.options(
                        {
                            "instances": (2, lambda: self.field(({"ml.p5.48xlarge": 2},), ({"ml.p5.48xlarge": -1},))),
                            "weight": (2, lambda: self.field((0, 100), (101,), number_tokens(5))),
                            "borrow_limit_percent": (3, lambda: self.field((0, 500), (501,))),
                            "members": (3, lambda: self.field((["user0"],), ("user0",))),
                            "priorities": (4, lambda: self.field((["training"],), (["none"],))),
                        }
                    ),
                },
            )
            for number in range(self.draw(st.integers(0, 2)))
        ]
        priorities = self.field(({"training": 75},), ({"Training": 75}, {"training": 101}))
        return Call("TaskGovernance", (), {"teams": self.field(st.just(teams), (teams * 2,)), "priorities": priorities})

    def budget(self) -> Any:
        """A budget with its limit."""
        options: dict[str, Any] = {"usd_per_month": self.field((10_000, 1), (0, -1, 10**10, None), number_tokens(900))}
        options |= self.options(
            {
                "actual_percent": (3, lambda: self.field(((50, 100), ()), ((1,) * 6, (1,) * 12, (0,), 50, (1001,)))),
                "forecast_percent": (3, lambda: self.field((100, None), (0, 1001), number_tokens(90))),
                "services": (4, lambda: self.field((("Amazon SageMaker",),), ("SageMaker", (3,)))),
            }
        )
        return self.field(Call("Budget", (), options))

    def tags(self) -> Any:
        """Tags."""
        odd: Sequence[Any] = ({"a": 3}, {3: "a"}, {"aws:x": "y"}, {"a" * 129: "x"}, {"": "x"}, {"k": "v" * 257})
        return self.field(({"team": "research"}, {"b": "2", "a": "1"}), tuple(odd), st.just({"team": TEXT_TOKEN}))


_DEPLOYMENT_TYPES: Final = ("SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2")
_ODD_FOLDERS: Final = ("windows", "provisioning", "empty", "missing", "names", "file")
_ODD_TYPES: Final = (
    "ml.p5.48xlarg",
    "p5.48xlarge",
    "ml.bogus",
    "ml.p7.48xlarge",
    Call("InstanceType", ("ml.p7.48xlarge",), {"accelerators": 8, "efa": 16, "addresses": 16}),
    Call("InstanceType", ("ml.p5.48xlarge",), {"addresses": 16, "threads_per_core": (1,)}),
    Call("InstanceType", ("p7",), {}),
)
