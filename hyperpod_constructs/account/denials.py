"""Which policy has denied something, who can change it, and which part of a deployment can do without.

Source of the words: IAM user guide, troubleshoot_access-denied (forms of the message, with `explicit deny` and `because
no ... allows`). Which part makes which call: the stacks of this package; `hyperpod policy PATH` computes the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

_SAID: Final = re.compile(
    r"User(?::\s*(?P<principal>\S+))?\s+is not authorized to perform:\s*(?P<action>[\w-]+:\w+)"
    r"(?:\s+on resource:\s*(?P<resource>\S+))?"
)
_SAID_OTHERWISE: Final = re.compile(
    r"(?:API:\s*(?P<api>[\w-]+:\w+)\s+)?You are not authorized to perform this operation"
    r"|(?:doesn't|does not) have permissions? to (?:call|perform):?\s+(?P<call>[\w-]+:\w+)"
    r"|Access ?Denied\s+\(Service: (?P<service>\w+)",
    re.IGNORECASE,
)
"""How EC2, S3 and some handlers of CloudFormation say it, without who has called."""
_EXPLICIT: Final = re.compile(
    r"with an explicit deny in an?\s+(?P<kind>[A-Za-z -]+?policy|permissions boundary)(?:\s*:\s*(?P<arn>arn:\S+))?\b",
    re.IGNORECASE,
)
_IMPLICIT: Final = re.compile(r"because no\s+(?P<kind>[A-Za-z -]+?policy|permissions boundary)\s+allows", re.IGNORECASE)
_IMPLICIT_OF_A_RESOURCE: Final = re.compile(r"no resource-based polic(?:y|ies) allows? access", re.IGNORECASE)
"""So says KMS of a key of another account or Region, among the reasons that it may have."""
_OF_A_RESOURCE: Final = "resource-based policy"
_EXPLICIT_OF_UNKNOWN_KIND: Final = re.compile(r"\bexplicit deny\b", re.IGNORECASE)
_SERVICE_LINKED: Final = re.compile(r":role/aws-service-role/(?P<service>[\w.-]+)/")

_WHERE: Final = {
    "service control policy": "a service control policy (SCP) of the AWS organization: nothing in this account can "
    "lift it; its administrators can make an exception for the role that deploys",
    "resource control policy": "a resource control policy (RCP) of the AWS organization: nothing in this account can "
    "lift it; its administrators can make an exception for the resource",
    "permissions boundary": "the permissions boundary of the role that makes the call: whoever owns the boundary must "
    "allow it there",
    "identity-based policy": "an identity policy, attached to the role that makes the call: change it there",
    "resource-based policy": "the resource policy of what is called (bucket, key, topic, secret): change it there",
    "session policy": "the session policy that was given when the role was assumed (permission set, federation): sign "
    "in with a session that allows it",
    "vpc endpoint policy": "the VPC endpoint policy of the endpoint that the call went through: change it there",
}
UNKNOWN_KIND: Final = "AWS does not say which kind of policy; look for a statement with Effect Deny for this action"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a deployment that makes certain calls.

    Attributes:
        actions: Patterns of the actions.
        name: What it is.
        switch: How to do without, or how to let somebody else make it.
    """

    actions: tuple[str, ...]
    name: str
    switch: str


PARTS: Final = (
    Part(
        actions=("ec2:CreateNatGateway", "ec2:AllocateAddress", "ec2:*InternetGateway"),
        name="the network's way to the internet",
        switch='egress="closed", or network= with a network that others made (hp.Network.from_attributes)',
    ),
    Part(
        actions=("ec2:CreateFlowLogs",),
        name="the network's flow log",
        switch="network=hp.ClusterNetwork(..., flow_logs=False), or a network that others made "
        "(hp.Network.from_attributes)",
    ),
    Part(
        actions=("ec2:*Vpc*", "ec2:*Subnet*", "ec2:*Route*", "ec2:*SecurityGroup*"),
        name="the network",
        switch="network= with a network that others made (hp.Network.from_attributes)",
    ),
    Part(
        actions=("budgets:*", "ce:*"),
        name="the budget",
        switch="leave alerts= out: there is then no budget stack; or make the budget in the payer account",
    ),
    Part(
        actions=("sns:*", "events:*"),
        name="the alerts",
        switch="leave alerts= out: there is then neither a topic nor a notice",
    ),
    Part(
        actions=("fsx:*",),
        name="the file system",
        switch="storage= with one that others made (hp.LustreFileSystem.from_attributes), or leave it out",
    ),
    Part(
        actions=("iam:CreateServiceLinkedRole",),
        name="the service-linked role",
        switch="an administrator makes it once for the account; the deploy then finds it",
    ),
    Part(
        actions=("iam:*Role*", "iam:*Polic*"),
        name="the roles of the nodes",
        switch="roles= with roles that others made, or permissions_boundary= where a boundary is asked for",
    ),
    Part(
        actions=("logs:*",),
        name="the log group of the network's flow log",
        switch="network=hp.ClusterNetwork(..., flow_logs=False)",
    ),
    Part(actions=("grafana:*",), name="the Grafana workspace", switch="leave the workspace out of the template"),
    Part(actions=("aps:*",), name="the Prometheus workspace", switch="leave the workspace out of the template"),
    Part(
        actions=("kms:*",),
        name="encryption with a customer key",
        switch="the key's policy must admit the caller (`hyperpod policy PATH --keys` prints the statement), or use "
        "the key of AWS",
    ),
    Part(
        actions=("sagemaker:*",),
        name="the cluster itself",
        switch="there is nothing to switch off; where the deny asks for a VPC (sagemaker:VpcSubnets), give VpcConfig",
    ),
)
"""The narrower before the wider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """A call that a policy denied.

    Attributes:
        action: For example `ec2:CreateNatGateway`; `None` where AWS does not say.
        principal: ARN of who made the call; `None` where AWS does not say.
        resource: What the call was about; `None` where AWS does not say.
        explicit: Whether a statement denies it; otherwise no statement allows it.
        kind: Kind of the policy, as AWS names it; `None` where it does not.
        policy: ARN of the policy; `None` where AWS does not say.
    """

    action: str | None
    principal: str | None
    resource: str | None
    explicit: bool
    kind: str | None
    policy: str | None

    @property
    def meaning(self) -> str:
        """What has happened, and where the policy is."""
        what = self.action or "a call"
        if self.kind is None:
            return f"{what} is denied on purpose; {UNKNOWN_KIND}" if self.explicit else f"no policy allows {what}"
        where = _WHERE.get(self.kind, self.kind)
        named = f" ({self.policy})" if self.policy else ""
        verdict = "denied on purpose" if self.explicit else "not allowed"
        return f"{what} is {verdict} by {where}{named}"

    @property
    def part(self) -> Part | None:
        """The part of a deployment that makes the call; `None` where that is not known."""
        action = self.action or ""
        return next((part for part in PARTS if any(fnmatchcase(action, each) for each in part.actions)), None)

    @property
    def next_step(self) -> str:
        """What to do now."""
        if self.action == "iam:CreateServiceLinkedRole" and (found := _SERVICE_LINKED.search(self.resource or "")):
            command = f"aws iam create-service-linked-role --aws-service-name {found['service']}"
            return f"an administrator makes the role once (`{command}`), then deploy again"
        if self.kind == _OF_A_RESOURCE and (self.action or "").startswith("kms:"):
            return (
                "admit the caller in the policy of the key (`hyperpod policy PATH --keys` prints the statement), and "
                "look whether the key exists in this Region"
            )
        if not self.explicit and self.kind in {None, "identity-based policy"}:
            what = self.action or "the call"
            return f"allow {what} for the role that deploys: `hyperpod policy PATH` prints what it needs"
        if self.part is None:
            return "have the policy changed, or take out of the template what makes the call"
        return f"have the policy changed, or do without {self.part.name}: {self.part.switch}"


def find(said: str) -> Denial | None:
    """The denial that a text tells of; `None` where it tells of none.

    Args:
        said: What AWS says.
    """
    words = " ".join(said.split())
    who, explicit, implicit = _SAID.search(words), _EXPLICIT.search(words), _IMPLICIT.search(words)
    denied = bool(explicit) or _EXPLICIT_OF_UNKNOWN_KIND.search(words) is not None
    otherwise = _SAID_OTHERWISE.search(words)
    if who is None and otherwise is None and not denied:
        return None
    kind = explicit or implicit
    of_a_resource = _OF_A_RESOURCE if _IMPLICIT_OF_A_RESOURCE.search(words) else None
    return Denial(
        action=who["action"] if who else otherwise and (otherwise["api"] or otherwise["call"]),
        principal=who["principal"] if who else None,
        resource=who["resource"] if who else None,
        explicit=denied,
        kind=_kind(kind["kind"]) if kind else of_a_resource,
        policy=explicit["arn"] if explicit else None,
    )


def _kind(words: str) -> str:
    return " ".join(words.lower().split())
