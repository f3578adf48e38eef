"""Accounts, qualities of service (QOS) and limits of Slurm from the teams of the roster.

A team is an account below root: its weight is the fair share; its quota and what it may borrow make one limit. A
priority class is a QOS. A job that names none gets the lowest that its team may use: going first is asked for.

What is ours is marked in the database, which outlives the controller: accounts by organization, QOS by description.
Everybody in an account of ours is there by the file. Other clusters may share the database: their associations stay
as they are, but classes are the same for all, because a QOS belongs to no cluster.
"""

from __future__ import annotations

import pwd
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from hyperpod_node import host, roster

MARK, GPUS = "hyperpod-constructs", "gres/gpu"  # an account by hand has the organization of its parent, or its name
ASSOCIATION = ("cluster", "account", "user", "parentname", "fairshare", "grptres", "grpsubmit", "qos", "defaultqos")
_NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]*")  # Slurm makes capitals small
_OF_SLURM = ("root", "normal", "default")
"""What Slurm or the image has made, which nobody should hand over."""
_MOST_SHOWN = 5
_TOO_MUCH = 1 << 31
_HERE = ("localhost", "127.0.0.1", "::1", socket.gethostname())


@dataclass
class Found:
    """What the database holds.

    Attributes:
        accounts: Organization of each account.
        qos: Priority and description of each QOS.
        associations: Those of all clusters; one without a user is that of an account itself.
        defaults: Default account of each user on this cluster.
        jobs: Jobs that wait or run: number, account, user, qos.
        strangers: Members whom this node does not know.
    """

    accounts: dict[str, str]
    qos: dict[str, tuple[str, str]]
    associations: list[dict[str, str]]
    defaults: dict[str, str]
    jobs: list[dict[str, str]]
    strangers: set[str]


def work(step: host.Step) -> None:
    """Makes the database match the file."""
    content, away = roster.fetch(step)
    people = check(roster.load(content))
    if host.setting("AccountingStorageType") != "accounting_storage/slurmdbd":
        raise host.Mistake("Slurm keeps no accounts here: its AccountingStorageType is not accounting_storage/slurmdbd")
    cluster, lacking, changes = host.setting("ClusterName"), lacks(people), 0
    if any(GPUS in line for line in lacking):  # sacctmgr may know no such limit
        people["teams"] = [{**team, "accelerators": None} for team in people["teams"]]
    for _ in range(5):  # an account goes after its associations, a class after the accounts that had it
        plan = Plan(people, _look(cluster, people), cluster)
        refused = [why for command in plan.commands for why in _change(command)]
        changes += len(plan.commands) - len(refused)
        if len(refused) == len(plan.commands):
            break
    roster.keep(step, content)
    _tell_of_database()
    if lacking:
        host.say(
            "warning: teams are recorded and not enforced in full; slurm.conf, which belongs to the service, lacks "
            f"{' and '.join(lacking)}. The service keeps what is added by hand: append these lines once to "
            f"{host.setting('SLURM_CONF')} on this controller and `systemctl restart slurmctld`; jobs go on. `scontrol "
            "reconfigure` may show them without heeding them"
        )
    used = [f"the teams are those of the last good copy, for {away}"] if away else []
    left = "; ".join([*plan.mistakes, *refused, *plan.waiting, *used])
    if left:
        raise (host.Mistake if plan.mistakes else host.NotYet)(left)
    host.say(f"{changes} changes" if changes else "nothing to do")


def check(people: dict[str, Any]) -> dict[str, Any]:
    """The file, if its teams are whole.

    Raises:
        Mistake: if not.
    """
    try:
        classes, teams = people.setdefault("priorities", {}), people.setdefault("teams", [])
        for team in teams:
            for name in (team["name"], *team["members"], *classes):
                if not _NAME.fullmatch(name):
                    raise host.Mistake(f"{name!r} is no name for Slurm: use a-z, 0-9, _, - and .")
            _differences(team, classes, None)
        wrong = next(_wrong(teams, classes), None)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        wrong = repr(error)
    if wrong:
        raise host.Mistake(f"the teams of the roster are not what they should be ({wrong}): publish it again")
    return people


def _wrong(teams: Sequence[Mapping[str, Any]], classes: Mapping[str, Any]) -> Iterator[str]:
    """What Slurm would take for something else, or would change to and fro at each run."""
    names = [team["name"] for team in teams]
    yield from (f"more than one team is named {name}" for name in names if names.count(name) > 1)
    yield from (f"members of {team['name']} are no list" for team in teams if not isinstance(team["members"], list))
    numbers = {f"priority {name}": value for name, value in classes.items()}
    for team in teams:
        numbers[f"weight of {team['name']}"] = team["weight"]
        limits = {key: team.get(key) for key in ("nodes", "accelerators", "borrow_limit_percent")}
        numbers.update({f"{key} of {team['name']}": value for key, value in limits.items() if value is not None})
    for what, value in numbers.items():
        if type(value) is not int or not 0 <= value < _TOO_MUCH:
            yield f"{what} is {value!r}, not a whole number from 0 to {_TOO_MUCH - 1}"


class Plan:
    """The difference between what the file says and what the database holds.

    Attributes:
        commands: Arguments of sacctmgr, in their order.
        waiting: What must wait, and for what.
        mistakes: What somebody has to settle.
    """

    def __init__(self, people: Mapping[str, Any], found: Found, cluster: str) -> None:
        self.commands: list[list[str]] = []
        self.waiting: list[str] = []
        self.mistakes: list[str] = []
        self._found, self._cluster, self._classes = found, cluster, people["priorities"]
        self._here = [row for row in found.associations if row["cluster"] == cluster]
        self._accounts = {row["account"]: row for row in self._here if not row["user"]}
        self._by_hand = {name for name, owner in found.accounts.items() if owner != MARK}
        self._teams = {team["name"]: team for team in people["teams"] if team["name"] not in self._by_hand}
        for name in sorted({team["name"] for team in people["teams"]} - set(self._teams)):
            self.mistakes.append(_made("account", name, "Organization"))
        # slurmctld looks up the uid when the association is made; if it finds none, it refuses jobs for an hour.
        self.waiting += [f"{user} is no user of this node yet" for user in sorted(found.strangers)]
        self._make_classes()
        self._make_accounts()
        self._let_in()
        self._choose_defaults()
        self._let_out()
        self._drop_accounts()
        self._drop_classes()

    def _make_classes(self) -> None:
        for name, priority in self._classes.items():
            there, mark = self._found.qos.get(name, ("", MARK))
            if mark != MARK:
                self.mistakes.append(_made("qos", name, "Description"))
            elif not there:
                self.commands.append(["add", "qos", f"name={name}", f"Description={MARK}", f"Priority={priority}"])
            elif there != str(priority):
                self.commands.append(["modify", "qos", "where", f"name={name}", "set", f"Priority={priority}"])

    def _make_accounts(self) -> None:
        for name, team in self._teams.items():
            change = _differences(team, self._classes, self._accounts.get(name))
            where = [f"name={name}", f"cluster={self._cluster}"]
            if name not in self._accounts:
                self.commands.append(["add", "account", *where, f"Organization={MARK}", *change])
            elif change:
                self.commands.append(["modify", "account", "where", *where, "set", *change])

    def _let_in(self) -> None:
        there = {(row["account"], row["user"]): row for row in self._here}
        for name, team in self._teams.items():
            new = [user for user in team["members"] if (name, user) not in there and user not in self._found.strangers]
            if new:
                where = [f"account={name}", f"cluster={self._cluster}"]
                self.commands.append(["add", "user", f"name={','.join(new)}", *where])
            for user in team["members"]:
                if there.get((name, user), {}).get("grpsubmit") == "0":  # came back before the last job had ended
                    self._user("modify", user, f"account={name}", "set", "GrpSubmitJobs=-1")

    def _choose_defaults(self) -> None:
        """One that is still theirs may be a user's own choice; the first account of a new user becomes it by itself."""
        for user in sorted({row["user"] for row in self._here if row["user"] and row["account"] not in self._by_hand}):
            mine = [name for name, team in self._teams.items() if user in team["members"]]
            mine += [row["account"] for row in self._here if row["user"] == user and row["account"] in self._by_hand]
            if mine and self._found.defaults.get(user) not in mine:
                self._user("modify", user, "set", f"DefaultAccount={mine[0]}")

    def _let_out(self) -> None:
        for name in sorted({row["account"] for row in self._here} - self._by_hand):
            members = self._teams[name]["members"] if name in self._teams else ()
            left = [row for row in self._here if row["account"] == name and row["user"] not in ("", *members)]
            jobs = {row["user"]: self._jobs(account=name, user=row["user"]) for row in left}
            # No new jobs from now on, whatever still waits or runs.
            shut = [row["user"] for row in left if jobs[row["user"]] and row["grpsubmit"] != "0"]
            gone = [user for user, numbers in jobs.items() if not numbers]
            if shut:
                self._user("modify", ",".join(shut), f"account={name}", "set", "GrpSubmitJobs=0")
            if gone:
                self._user("delete", ",".join(gone), f"account={name}")
            for user, numbers in jobs.items():
                if numbers:
                    shown = ", ".join([*numbers[:_MOST_SHOWN], *(["..."] if numbers[_MOST_SHOWN:] else [])])
                    ends = f"`scancel -A {name} -u {user}` ends them"
                    self.waiting.append(f"{user} leaves account {name} when jobs {shown} have ended; {ends}")

    def _drop_accounts(self) -> None:
        for name in sorted(set(self._found.accounts) - self._by_hand - set(self._teams)):
            below = ", ".join(sorted(row["account"] for row in self._here if row["parentname"] == name))
            if below:  # it would go with the account
                self.mistakes.append(f"account {name} stays: {below}, made by hand, is below it; move that away")
            elif name in self._accounts and not self._jobs(account=name):
                self.commands.append(["delete", "account", "where", f"name={name}", f"cluster={self._cluster}"])
            elif not any(row["account"] == name for row in self._found.associations):
                self.commands.append(["delete", "account", "where", f"name={name}"])

    def _drop_classes(self) -> None:
        """A QOS goes when no account of any cluster and no job has it any more."""
        used = {name for row in self._found.associations for name in row["qos"].split(",")}
        for name, (_, mark) in self._found.qos.items():
            if mark == MARK and name not in {*self._classes, *used} and not self._jobs(qos=name):
                self.commands.append(["delete", "qos", "where", f"name={name}"])

    def _jobs(self, **having: str) -> list[str]:
        """Numbers of the jobs that have this account, user or QOS."""
        return [job["number"] for job in self._found.jobs if having.items() <= job.items()]

    def _user(self, verb: str, user: str, *more: str) -> None:
        self.commands.append([verb, "user", "where", f"name={user}", f"cluster={self._cluster}", *more])


def _made(kind: str, name: str, field: str) -> str:
    if name in _OF_SLURM:
        return f"{kind} {name} belongs to Slurm itself and is left alone: choose another name"
    hand_over = f"`sacctmgr modify {kind} where name={name} set {field}={MARK}`"
    return f"{kind} {name} was made by hand and is left alone: choose another name, or hand it over with {hand_over}"


def _differences(team: Mapping[str, Any], classes: Mapping[str, int], row: Mapping[str, str] | None) -> list[str]:
    """The settings in which a team's account differs from what it should be; without a row, from Slurm's own."""
    allowed = sorted(team.get("priorities") or classes, key=lambda name: (classes[name], name))
    row = row or {"parentname": "", "fairshare": "", "grptres": "", "qos": "", "defaultqos": ""}
    before: dict[str, str] = dict(part.split("=") for part in row["grptres"].split(",") if part)
    limits, borrow = {}, team.get("borrow_limit_percent")
    for kind, quota in (("node", team.get("nodes")), (GPUS, team.get("accelerators"))):
        if quota is not None and borrow is not None:
            limits = {kind: str(quota * (100 + borrow) // 100)}
    text = ",".join(f"{kind}={count}" for kind, count in {**dict.fromkeys(before, "-1"), **limits}.items())
    default = allowed[0] if allowed else ""
    settings = (
        ("Parent=root", row["parentname"] == "root"),
        (f"Fairshare={int(team['weight'])}", row["fairshare"] == str(team["weight"])),
        (f"GrpTRES={text}", before == limits),
        (f"QOS={','.join(['normal', *allowed])}", set(row["qos"].split(",")) == {"normal", *allowed}),
        (f"DefaultQOS={default or -1}", row["defaultqos"] == default),
    )
    return [setting for setting, same in settings if not same]


def _look(cluster: str, people: Mapping[str, Any]) -> Found:
    """Reads the database and the queue."""
    users = _show("user", "user", "account", "defaultaccount", where=("withassoc", f"cluster={cluster}"))
    jobs = host.slurm("squeue", "--noheader", "--format=%A|%a|%u|%q")
    return Found(
        accounts={row["account"]: row["organization"] for row in _show("account", "account", "organization")},
        qos={
            row["name"]: (row["priority"], row["description"])
            for row in _show("qos", "name", "priority", "description")
        },
        associations=_show("assoc", *ASSOCIATION),
        defaults={row["user"]: row["defaultaccount"] for row in users if row["account"]},
        jobs=parse(jobs, ("number", "account", "user", "qos")),
        strangers={user for team in people["teams"] for user in team["members"] if not _is_known(user)},
    )


def _is_known(user: str) -> bool:
    try:
        return bool(pwd.getpwnam(user))
    except KeyError:
        return False


def parse(text: str, names: Sequence[str]) -> list[dict[str, str]]:
    """The rows that a program of Slurm writes; the last field may hold the separator."""
    lines = [line.split("|", len(names) - 1) for line in text.splitlines() if line.strip()]
    return [dict(zip(names, line)) for line in lines]


def _show(what: str, *names: str, where: Sequence[str] = ()) -> list[dict[str, str]]:
    try:
        return parse(host.slurm("sacctmgr", "-nP", "show", what, *where, f"format={','.join(names)}"), names)
    except host.Mistake:
        raise
    except host.Failure as failure:
        advice = "jobs go on with the limits that slurmctld knows; look at `systemctl status slurmdbd`"
        raise host.NotYet(f"the accounting database does not answer: {failure}; {advice}") from None


def _change(command: Sequence[str]) -> Iterator[str]:
    """Makes a change; yields why it was refused, if it was."""
    try:
        host.slurm("sacctmgr", "-i", *command)
        host.say(" ".join(command))
    except (host.Mistake, host.NotYet):
        raise
    except host.Failure as failure:
        runaway = "; if squeue no longer has it, `sacctmgr show runawayjobs` ends it" if "JobID" in str(failure) else ""
        yield f"`{' '.join(command)}` was refused: {failure}{runaway}"


def _tell_of_database() -> None:
    """Says so if accounts end with this controller."""
    conf = Path(host.setting("SLURM_CONF")).with_name("slurmdbd.conf")
    text = conf.read_text(encoding="utf-8") if conf.exists() else "StorageHost=elsewhere"
    found = re.search(r"^\s*StorageHost\s*=\s*(\S+)", text, re.MULTILINE | re.IGNORECASE)
    if not found or found.group(1) in _HERE:
        host.say(
            "info: the accounting database is on this controller and ends with it; an hp.AccountingDatabase would not"
        )


def lacks(people: Mapping[str, Any]) -> list[str]:
    """What slurm.conf, which belongs to the service and is not edited here, lacks to enforce what is recorded."""
    teams, lines = people["teams"], []
    gpus = any(team.get("accelerators") is not None for team in teams)
    for name, words in (
        ("Enforce", ("associations", "limits", "qos") if teams else ()),
        ("TRES", (GPUS,) if gpus else ()),
    ):
        there = [word for word in host.setting(f"AccountingStorage{name}").split(",") if word not in ("", "none")]
        missing = [word for word in words if word not in there and "all" not in there]
        if missing:
            lines.append(f"AccountingStorage{name}={','.join([*there, *missing])}")
    shares = any(team["weight"] for team in teams)
    for name, used in (("PriorityWeightQOS", people["priorities"]), ("PriorityWeightFairShare", shares)):
        if used and host.setting(name) in ("", "0"):
            lines.append(f"{name}=1000")
    if any(line.startswith("Priority") for line in lines) and host.setting("PriorityType") != "priority/multifactor":
        lines.append("PriorityType=priority/multifactor")
    return lines


if __name__ == "__main__":
    host.main(work)
