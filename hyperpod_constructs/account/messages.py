"""What AWS says when a cluster fails, and what it means: the real reason is rarely what the message says.

Messages are those that AWS's guides print and that operators have reported. One that is not here is shown as it is, and
said to be unknown: a guess would send somebody the wrong way for hours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

REPORTS: Final = "AWS's guides and public reports, collected 2026-11-30"
"""Where most messages were seen. No account of ours has drawn them."""
_SLURM_GUIDE: Final = "SageMaker developer guide, sagemaker-hyperpod-ref and the API configuration page, October 2026"
_SSM: Final = "public reports, collected 2026-11-30"
_SHELL: Final = "bash and the AWS CLI themselves say so; seen in logs of lifecycle scripts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message that is known.

    Attributes:
        text: What identifies it, anywhere in what AWS says.
        meaning: What has really happened.
        rules: Ids of the rules of `hyperpod check` that prevent it; empty where no template shows it.
        next_step: What to do now.
        source: Who says so.
        generic: Whether it says only that something failed; what else is said at the same moment has the reason.
        harmless: Whether it is no failure.
    """

    text: re.Pattern[str]
    meaning: str
    rules: tuple[str, ...] = ()
    next_step: str
    source: str = REPORTS
    generic: bool = False
    harmless: bool = False


def find(said: str) -> Message | None:
    """The message that a text is or holds; `None` where it is unknown.

    Args:
        said: What AWS says, on one line or several.
    """
    words = " ".join(said.split())
    return next((message for message in MESSAGES if message.text.search(words)), None)


def _any_of(*texts: str) -> re.Pattern[str]:
    return re.compile("|".join(texts), re.IGNORECASE)


_CAPACITY: Final = (
    Message(
        text=_any_of("not have sufficient capacity in the Availability Zone"),
        meaning="the zone of the group's subnet has none of these instances for you; with a training plan or a "
        "reservation, the subnet is most likely in another zone than the plan",
        rules=("HP1103", "HP4012", "HP1114"),
        next_step="compare the zone id of the plan (`hyperpod plans list`) with that of the group's subnet, and move "
        "the group to a subnet there; without a plan, `hyperpod zones TYPE` lists the zones that have the type",
    ),
    Message(
        text=_any_of("not have sufficient capacity"),
        meaning="AWS had no such instances free at that moment; with a training plan, its zone, type or dates do not "
        "match the group",
        rules=("HP1012", "HP1102", "HP1103", "HP4012"),
        next_step="with a plan: `hyperpod plans list`, and compare zone, type, status and dates; without one, try "
        "again later or in another zone (`hyperpod zones TYPE`), or buy a plan",
    ),
    Message(
        text=_any_of(r"Found CapacityReservation\s?ID"),
        meaning="a reservation for the group was found; this is information, not a failure",
        next_step="nothing",
        harmless=True,
    ),
    Message(
        text=_any_of("No CapacityReservation found"),
        meaning="no reservation matches the group; with a training plan, the group's subnet is most likely in another "
        "zone than the plan",
        rules=("HP1103",),
        next_step="compare the zone id of the plan (`hyperpod plans list`) with that of the group's subnet",
    ),
    Message(
        text=_any_of(
            "ResourceLimitExceeded",
            "exceeded an? SageMaker resource limit",
            "service limit .* is exceeded",
            "account-level service limit",
            "ServiceLimitExceeded",
        ),
        meaning="a quota of the account is too small; a training plan does not lift the quota of its type",
        rules=("HP3015",),
        next_step="`hyperpod preflight PATH` counts what is used and prints the request for more; a raise "
        "can take days",
    ),
)

_NETWORK: Final = (
    Message(
        text=_any_of("EFA health checks did not run successfully"),
        meaning="nodes could not talk to each other over EFA: every security group of the group must let all traffic "
        "in from itself and out to itself; now and then it is transient",
        rules=("HP4001", "HP4002"),
        next_step="give every security group a rule with protocol -1 in both directions that names the group itself "
        "(a CIDR rule does not do), then create the cluster again",
    ),
    Message(
        text=_any_of("Failed to create Customer ENI"),
        meaning="a network interface could not be made in your VPC: the subnet has no free address, the quota of "
        "interfaces is used up, subnet and security group are in different VPCs, or the role of the nodes lacks "
        "ec2:CreateNetworkInterface or ec2:CreateNetworkInterfacePermission",
        rules=("HP4003", "HP4004", "HP4022", "HP7004"),
        next_step="`hyperpod preflight PATH` counts free addresses and interfaces; `hyperpod check PATH` reads "
        "the role",
    ),
    Message(
        text=_any_of("public which will fail cluster creation"),
        meaning="the nodes' subnet gives out public addresses",
        rules=("HP4005",),
        next_step="use a private subnet (MapPublicIpOnLaunch false, no route to an internet gateway)",
    ),
    Message(
        text=_any_of("Target is not connected", "Cannot perform start session: EOF"),
        meaning="Session Manager does not reach the node: it has no way to ssm, ssmmessages and ec2messages, is not up "
        "yet, or is gone",
        rules=("HP4034", "HP4035"),
        next_step="see whether the node is Running (`hyperpod status CLUSTER`), write `hyperpod ssh-config CLUSTER` "
        "again, then look at the network's endpoints",
        source=_SSM,
    ),
)

_LIFECYCLE: Final = (
    Message(
        text=_any_of("Lifecycle scripts did not run successfully"),
        meaning="the script that a new node runs is missing, cannot be read, or ended with an error",
        rules=("HP5004", "HP5005", "HP5006", "HP5009", "HP5022", "HP4033"),
        next_step="read the last lines of the node's LifecycleConfig stream, which `hyperpod explain CLUSTER` prints; "
        "no stream at all means that the node never got the script: S3 route, role or name",
    ),
    Message(
        text=_any_of("No provisioning_parameters.json found"),
        meaning="a Slurm cluster without SlurmConfig takes its shape from provisioning_parameters.json beside its "
        "script, and it is not there",
        rules=("HP5008", "HP2005"),
        next_step="give every group a SlurmConfig, or put the file beside the script of the controller group",
        source=_SLURM_GUIDE,
    ),
    Message(
        text=_any_of(r"\^M: bad interpreter", r"\\r': command not found"),
        meaning="the script has line ends of Windows",
        rules=("HP5006",),
        next_step="convert the script to line ends of Unix (`sed -i 's/\\r$//' FILE`) and deploy it again",
        source=_SHELL,
    ),
    Message(
        text=_any_of(r"\(AccessDenied\) when calling the (?:GetObject|ListObjects\w*)", r"\(403\).*HeadObject"),
        meaning="the role of the nodes may not read something in S3",
        rules=("HP5009", "HP5010", "HP5021"),
        next_step="allow s3:GetObject and s3:ListBucket for the script's prefix, and kms:Decrypt for the bucket's key",
        source=_SHELL,
    ),
    Message(
        text=_any_of("Connect timeout on endpoint URL", "Could not connect to the endpoint URL"),
        meaning="the node has no way to the AWS service that the address names",
        rules=("HP4032", "HP4033", "HP4034"),
        next_step="give the network a NAT gateway or an endpoint for that service",
        source=_SHELL,
    ),
)

_SLURM: Final = (
    Message(
        text=_any_of("Controller Groups? found", "no InstanceGroup with Controller node type"),
        meaning="a Slurm cluster has exactly one controller group",
        rules=("HP2001",),
        next_step="give exactly one group the node type Controller",
        source=_SLURM_GUIDE,
    ),
    Message(
        text=_any_of("Partitions can only be assigned to Compute node types"),
        meaning="a controller or login group has a partition",
        rules=("HP2007",),
        next_step="leave PartitionNames out of controller and login groups",
        source=_SLURM_GUIDE,
    ),
    Message(
        text=_any_of("cannot include both a SLURM Orchestrator Config and a provisioning_parameters"),
        meaning="provisioning_parameters.json lies under the SourceS3Uri of some group, and the cluster is configured "
        "by the API",
        rules=("HP5007",),
        next_step="take provisioning_parameters.json out of the folder and out of the bucket, then deploy again",
        source=_SLURM_GUIDE,
    ),
    Message(
        text=_any_of("Update required to use SlurmConfig"),
        meaning="the image of the nodes is older than January 2026 and lacks the agents that SlurmConfig needs",
        next_step="`aws sagemaker update-cluster-software --cluster-name CLUSTER` brings a new image: it ends every "
        "running job and wipes root volumes",
        source=_SLURM_GUIDE,
    ),
    Message(
        text=_any_of("configuration drift detected", "Partition configuration mismatch detected"),
        meaning="slurm.conf on the controller was edited by hand, and the strategy Managed refuses to write over it",
        next_step="bring the edit into the template or take it back on the controller; SlurmConfigStrategy Merge keeps "
        "edits and Overwrite drops them (neither goes with Continuous provisioning)",
        source=_SLURM_GUIDE,
    ),
    Message(
        text=_any_of("controller and login nodes did not become ready within the expected time"),
        meaning="controller or login nodes were not set up in time; the reason is on those nodes",
        rules=("HP4033", "HP4034", "HP7003"),
        next_step="read the LifecycleConfig streams of the controller and login groups, which `hyperpod explain "
        "CLUSTER` prints, and deploy with `cdk deploy --no-rollback` so that they stay",
    ),
)

_KUBERNETES: Final = (
    Message(
        text=_any_of("SLR Access Entry", "EKS Access Entr"),
        meaning="HyperPod could not make its access entry in the EKS cluster: its authentication mode is CONFIG_MAP, "
        "or the credentials of the deploy lack eks:CreateAccessEntry and eks:AssociateAccessPolicy",
        next_step="set the mode to API or API_AND_CONFIG_MAP (`aws eks update-cluster-config --name EKS "
        "--access-config authenticationMode=API_AND_CONFIG_MAP`), or allow both actions (`hyperpod policy PATH`)",
    ),
    Message(
        text=_any_of("Pod Identity feature is not supported for addon version"),
        meaning="this version of the add-on takes no pod identity of its own",
        next_step="leave PodIdentityAssociations out of the add-on and make an AWS::EKS::PodIdentityAssociation",
    ),
    Message(
        text=_any_of("timed out waiting for the condition on pods/eks-pod-identity-agent"),
        meaning="nodes do not reach the endpoint eks-auth: its security group shuts them out",
        rules=("HP4034", "HP4035"),
        next_step="let the nodes' security group in on port 443 of the endpoint's",
    ),
    Message(
        text=_any_of(r"add-?on.*\bDEGRADED\b", "InsufficientNumberOfReplicas"),
        meaning="an EKS add-on waits for nodes and there are none",
        next_step="make the add-on depend on the HyperPod cluster, and see `hyperpod status CLUSTER`",
    ),
)

_BUDGET: Final = (
    Message(
        text=_any_of("Invalid SNS topic"),
        meaning="the topic of a budget does not let Budgets publish",
        rules=("HP0004", "HP0015", "HP0016"),
        next_step="allow SNS:Publish for budgets.amazonaws.com in the policy of the topic",
    ),
    Message(
        text=_any_of("The SNS topic is encrypted"),
        meaning="the topic of a budget is encrypted with a key that Budgets may not use",
        rules=("HP0005", "HP0019"),
        next_step="use a customer key whose policy admits budgets.amazonaws.com, or no key",
    ),
    Message(
        text=_any_of("Please comply with SNS ARN format"),
        meaning="the address of a budget's subscriber is not the ARN of a topic",
        rules=("HP0018",),
        next_step="give the ARN of an SNS topic in this account",
    ),
)

_OF_A_SHELL: Final = (
    r"\b(?:useradd|groupadd|adduser|addgroup|usermod|mkdir|ln|git|fatal|pip|file|folder|directory|path)\b"
    r"|\buser ['`]|(?<!security )\bgroup ['`]"
)
"""In such words a script says that a file or a user of the node is there: that is no name in an account."""
_GENERAL: Final = (
    Message(
        text=_any_of(
            "ResourceInUse",
            "Resource Already Exists",
            r"(?<![/\w-])\w*AlreadyExists(?:Exception|Fault)?(?![\w/-])",
            rf"^(?!.*(?:{_OF_A_SHELL})).*\balready exists\b",
        ),
        meaning="something of this name exists: an earlier attempt, another stack, or a replacement that wants the "
        "name of what it replaces",
        rules=("HP2205", "HP0009"),
        next_step="look for it (`aws sagemaker list-clusters` for a cluster), then delete it or use another name; "
        "for our blueprint, raise generation=",
    ),
    Message(
        text=_any_of("Embedded stack .*(?:was not|failed)"),
        meaning="a nested stack failed; its own events have the reason",
        next_step="read the events of the nested stack, which are listed too",
        generic=True,
    ),
    Message(
        text=_any_of(
            "Failed to provision EC2 Instance in Cluster .* and InstanceGroup",
            "Instance creation in Cluster .* and InstanceGroup .* failed",
        ),
        meaning="an instance could not be made; the details of the event have the reason, where there is one",
        next_step="`hyperpod explain CLUSTER` reads the details; capacity, addresses and the role are the usual "
        "reasons",
        generic=True,
    ),
    Message(
        text=_any_of("Request to service failed. If failure persists after retry"),
        meaning="an error inside the service; it was seen to come and go while a cluster scales",
        next_step="wait for half an hour and look again; call AWS Support if it goes on",
    ),
    Message(
        text=_any_of(r"Resource (?:creation|update) cancell?ed"),
        meaning="CloudFormation stopped it because something else had failed",
        next_step="look at what failed first",
        source="AWS CloudFormation user guide, troubleshooting",
        generic=True,
    ),
)

MESSAGES: Final = (*_CAPACITY, *_NETWORK, *_LIFECYCLE, *_SLURM, *_KUBERNETES, *_BUDGET, *_GENERAL)
"""Every message that is known, the narrower before the wider."""
