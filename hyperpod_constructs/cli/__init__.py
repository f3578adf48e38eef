"""The `hyperpod` command. It never imports the CDK, and boto3 only to read an account: no Node, and a fast start.

Exit codes: 0 nothing wrong, 1 errors in the deployment or nodes that are not there, 2 a file or an account that cannot
be read or a defect of ours, 130 stopped by the user, 141 when the reader of our output has gone.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hyperpod_constructs.errors import (
    AccountError,
    UnreadableChart,
    UnreadablePrices,
    UnreadableSnapshot,
    UnreadableTemplate,
)
from hyperpod_constructs.version import VERSION

if TYPE_CHECKING:
    from hyperpod_constructs.review.policy import FailOn

DISTRIBUTION: Final = "hyperpod-constructs"
_CANNOT_READ, _INTERRUPTED, _READER_GONE = 2, 130, 141

_PATH = "a CloudFormation template (JSON or YAML), a create-cluster request (JSON), or a cdk.out folder"
_EXITS = "exit codes: 0 no errors, 1 errors, 2 PATH cannot be read"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code.

    Args:
        argv: Arguments without the program's name; those of the process by default.
    """
    parser = _parser()
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as stop:  # argparse has said what it had to say
        return stop.code if isinstance(stop.code, int) else _CANNOT_READ
    if arguments.command is None:
        parser.print_help(sys.stderr)
        return _CANNOT_READ
    return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    """Runs the module of a command; whatever happens ends in an exit code and at most one line on standard error."""
    if sys.stdout is None:  # what Python makes of a closed one: `>&-`
        return _fail("the answer cannot be written: standard output is closed")
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character of a user's file must not stop a check.
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
    try:
        code: int = importlib.import_module(f"hyperpod_constructs.cli.{arguments.command.replace('-', '_')}").run(
            arguments
        )
        sys.stdout.flush()
    except (UnreadableChart, UnreadableTemplate, UnreadablePrices, UnreadableSnapshot, AccountError) as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        return _stopped_by_the_system(error)
    except Exception as error:  # noqa: BLE001  # a traceback tells a user nothing: one line does, and how to get more
        if os.environ.get("HYPERPOD_DEBUG") == "1":
            import traceback  # noqa: PLC0415  # a run that ends well starts without it

            traceback.print_exc()
        return _fail(
            f"internal error: {type(error).__name__}: {error}. This is a defect of {DISTRIBUTION}, not of your file: "
            f"please report it with the output of HYPERPOD_DEBUG=1 hyperpod {arguments.command} ..."
        )
    return code


def _stopped_by_the_system(error: OSError) -> int:
    """Says what the operating system refused, unless it is that nobody reads our output any more."""
    if error.filename is not None:
        return _fail(f"{error.filename}: {error.strerror}")
    # Whatever opens a file names it, so this is the output. What is still in its buffer has nowhere to go; without this
    # Python complains about it at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return _READER_GONE
    return _fail(f"the answer cannot be written: {error.strerror or error}")


def _fail(message: str) -> int:
    from hyperpod_constructs.cli import terminal  # noqa: PLC0415  # not needed for --help

    print(f"hyperpod: {terminal.plain(message)}", file=sys.stderr)
    return _CANNOT_READ


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hyperpod",
        description="Checks and plans SageMaker HyperPod clusters from their templates, before anything is created. "
        "Some commands read an AWS account, and say in their --help which permissions they need; none writes to one.",
        epilog="This is not AWS's own HyperPod client, which is called `hyp` (older versions: `hyperpod`).",
    )
    parser.add_argument("--version", action="version", version=f"hyperpod {VERSION} ({DISTRIBUTION})")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    check = _command(commands, "check", "find mistakes in templates: what will fail, lose data or waste money")
    _reads_path(check, formats=("text", "json", "sarif"))
    check.add_argument(
        "--parameter",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        type=_parameter,
        help="value of a parameter of the templates instead of its default, as a deploy would give it; repeatable",
    )
    check.add_argument(
        "--parameters",
        metavar="FILE",
        help="values of parameters from a file, as `aws cloudformation create-stack --parameters file://FILE` takes it",
    )
    _reads_path(_command(commands, "cost", "cost per hour, with the source and date of every price"))
    _compares(_command(commands, "review", "what a change costs, moves and destroys, for whoever approves it"))
    summary = _command(commands, "summary", "nodes, accelerators, addresses, cost, quotas and plan dates on one page")
    _reads_path(summary)
    summary.add_argument(
        "--preflight", metavar="FILE", help="what `preflight --write` wrote: quotas that the account has, and their use"
    )
    _looks_ahead(_command(commands, "preflight", "whether the account is ready for a deployment; it is only read"))
    _finds_zones(_command(commands, "zones", "in which zones of a Region the account is offered an instance type"))
    _grants(_command(commands, "policy", "what IAM and KMS must allow for a deployment and for those who use it"))
    _refreshes(_command(commands, "prices", "AWS's prices of today, for `cost` and `summary`"))
    _waits(_command(commands, "status", "whether the nodes of a running cluster are there; can wait until they are"))
    _explains(_command(commands, "explain", "why a stack or a cluster failed, and what to do about it"))
    _connects(_command(commands, "ssh-config", "the ssh configuration with which you reach the nodes of a cluster"))
    _launches(_command(commands, "job", "a Slurm job that tests a cluster, measures it and can be killed"))
    _lists(_command(commands, "plans", "training plans of the account, as the line of code that uses each"))
    _records(_command(commands, "snapshot", "what a running cluster is now, as JSON for a review"))
    _brings(_command(commands, "chart", "the Helm chart that EKS clusters need: fetch it, list its images"))
    rules = _command(commands, "rules", "the rules that `check` applies, and why")
    rules.add_argument("id", nargs="?", metavar="ID", help="show one rule, for example HP3001")
    _has_format(rules)
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, does: str
) -> argparse.ArgumentParser:
    return commands.add_parser(name, help=does, description=does[0].upper() + does[1:] + ".")


def _reads_path(command: argparse.ArgumentParser, formats: tuple[str, ...] = ("text", "json")) -> None:
    command.epilog = _EXITS
    command.add_argument("path", metavar="PATH", help=_PATH)
    command.add_argument(
        "--region",
        type=_region,
        help="Region to assume where PATH does not say one, for example us-west-2",
    )
    _has_format(command, formats)


def _compares(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 nothing holds that --fail-on names, 1 something does, 2 BASE, HEAD or FILE cannot be read, or "
        "its own app refused it"
    )
    command.add_argument("base", metavar="BASE", help="what is deployed: a template, a folder of them, or a cdk.out")
    command.add_argument("head", metavar="HEAD", help="the same with the change")
    command.add_argument("--live", metavar="FILE", help="what runs, as `hyperpod snapshot` wrote it")
    command.add_argument(
        "--fail-on",
        type=_fail_on,
        default="",
        metavar="CONDITIONS",
        help="with commas between: replacement, data-loss, node-loss, open, cost=USD_PER_HOUR, error",
    )
    command.add_argument(
        "--region", type=_region, help="Region to assume where a side does not say one, for example us-west-2"
    )
    _has_format(command, ("text", "json", "markdown"))


def _looks_ahead(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 nothing stands in the way, 1 something does, or a check did not run to its end, 2 PATH or the "
        "account cannot be read. `hyperpod policy --preflight` prints the permissions that it needs, all of them to "
        "read; one that is missing is a warning."
    )
    command.add_argument("path", metavar="PATH", help=_PATH)
    command.add_argument(
        "--region", type=_region, help="Region of stacks that PATH gives none (default: that of the profile)"
    )
    command.add_argument("--profile", help="profile of the AWS configuration (default: what AWS's own tools would use)")
    _has_duration(command, "--timeout", "60s", "how long each check may take")
    command.add_argument(
        "--write", metavar="FILE", help="write what was learned of the account to a file (JSON), for `summary`"
    )
    _has_format(command)


def _finds_zones(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 there are some, 1 there is none, 2 the account cannot be read. Needs the permissions "
        "ec2:DescribeInstanceTypeOfferings and ec2:DescribeAvailabilityZones."
    )
    command.add_argument("type", metavar="TYPE", type=_instance_type, help="an instance type, such as ml.p5.48xlarge")
    _reads_account(command)


def _grants(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 computed, 1 the app refused PATH, or the permissions of a type in it are not known, "
        "2 PATH cannot be read or a file cannot be written"
    )
    command.add_argument("path", metavar="PATH", nargs="?", help=_PATH)
    which = command.add_mutually_exclusive_group()
    which.add_argument("--keys", action="store_true", help="the statements that each imported KMS key needs, and why")
    which.add_argument("--personas", action="store_true", help="policies of administrator, operator and researcher")
    which.add_argument(
        "--preflight", action="store_true", help="the read-only policy of whoever runs `hyperpod preflight`; no PATH"
    )
    command.add_argument("--output", metavar="DIR", help="write each policy to a file in this folder, printing none")
    command.add_argument(
        "--region", type=_region, help="Region to assume where PATH does not say one, for example us-west-2"
    )
    _has_format(command)


def _refreshes(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 written, 1 a Region has no price of HyperPod's instances, 2 the account or the file cannot be "
        "read, or the file cannot be written. Needs the permission pricing:GetProducts. A file that HYPERPOD_PRICES "
        "names comes before it; what an app synthesizes depends on neither."
    )
    command.add_argument("action", choices=["refresh"], help="read them from AWS's Price List")
    command.add_argument(
        "--region", type=_region, nargs="+", action="extend", required=True, metavar="REGION", help="Regions to price"
    )
    command.add_argument("--output", metavar="FILE", help="where to write them (default: the user's cache)")
    command.add_argument("--profile", help="profile of the AWS configuration (default: what AWS's own tools would use)")
    _has_format(command)


def _waits(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 the nodes run, 1 they do not (yet), the cluster has failed or is gone, or the time is over, "
        "2 the account cannot be read, or has no such cluster or group. "
        "Needs the permissions sagemaker:DescribeCluster and sagemaker:ListClusterNodes; the time that a plan has "
        "left needs sagemaker:DescribeTrainingPlan too, and without it is left out and said to be."
    )
    command.add_argument("cluster", metavar="CLUSTER", help="name or ARN of the cluster")
    command.add_argument(
        "--nodes",
        type=_nodes,
        nargs="+",
        action="extend",
        metavar="GROUP=N",
        help="how many nodes must run, for example p5=30 (default: every group's target, which includes spares)",
    )
    command.add_argument(
        "--declared", metavar="PATH", help="a template or cdk.out: what it declares of the cluster, and its spares"
    )
    how = command.add_mutually_exclusive_group()
    how.add_argument("--wait", action="store_true", help="look again until they run")
    how.add_argument("--watch", action="store_true", help="look again until the cluster is gone, or you stop it")
    _has_duration(command, "--timeout", "3h", "with --wait, when to give up")
    _has_duration(command, "--every", "30s", "with --wait or --watch, how long to pause between two looks")
    _reads_account(command)


def _explains(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 nothing failed, 1 something did, 2 the account cannot be read, in part or at all, or has no "
        "such stack or cluster. Needs the permissions cloudformation:DescribeStackEvents, sagemaker:DescribeCluster, "
        "sagemaker:ListClusterEvents, sagemaker:DescribeClusterEvent, logs:DescribeLogGroups, logs:DescribeLogStreams "
        "and logs:GetLogEvents; what one that is missing hides is said."
    )
    command.add_argument("subject", metavar="STACK|CLUSTER", help="name or ARN of a stack or of a cluster")
    _has_duration(command, "--since", "24h", "how far back to look for events of the cluster")
    command.add_argument(
        "--lines", type=_lines, default=20, metavar="N", help="how many last lines of a node's log (default: 20)"
    )
    _reads_account(command)


def _connects(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 written, 1 no node runs, 2 the account cannot be read, or has no such cluster. Needs the "
        "permissions sagemaker:DescribeCluster and sagemaker:ListClusterNodes; connecting needs the AWS CLI, its "
        "session-manager-plugin and ssm:StartSession."
    )
    command.add_argument("cluster", metavar="CLUSTER", help="name or ARN of the cluster")
    command.add_argument(
        "--user", type=_user, help="user on the nodes (default: ubuntu on Slurm, what ssh takes by itself on EKS)"
    )
    _reads_account(command)


def _launches(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 written, 1 the app refused PATH, it has no such group, or there can be no such job, "
        "2 PATH cannot be read, or a file cannot be written"
    )
    command.add_argument("path", metavar="PATH", nargs="?", help=f"where the group is described: {_PATH}")
    command.add_argument("--group", metavar="NAME", help="group of PATH (default: the only one that runs jobs)")
    command.add_argument(
        "--type", type=_instance_type, help="instance type, such as ml.p5.48xlarge (default: that of the group)"
    )
    command.add_argument("--nodes", type=_count, metavar="N", help="how many nodes (default: 2, or what the group has)")
    command.add_argument("--partition", help="Slurm partition (default: that of the group, else the cluster's)")
    command.add_argument("--minutes", type=_count, default=30, metavar="N", help="minutes of training (default: 30)")
    command.add_argument(
        "--recovery",
        choices=["requeue", "auto-resume"],
        default="requeue",
        help="what happens when a node fails (default: requeue; docs/launch.md compares them)",
    )
    command.add_argument("--shared", default="/fsx", metavar="DIR", help="folder that every node sees (default: /fsx)")
    command.add_argument("--account", help="Slurm account")
    command.add_argument("--qos", help="quality of service of Slurm")
    command.add_argument("--image", help="container image, for clusters with Pyxis")
    command.add_argument("--command", dest="run", help="command of yours instead of train.py, as one line of shell")
    command.add_argument(
        "--per",
        choices=["accelerator", "node"],
        default="accelerator",
        help="how often the command is started on a node: once for each accelerator, or once, as for torchrun "
        "(default: accelerator)",
    )
    command.add_argument("--out", metavar="DIR", help="write the job and its programs there (default: print the job)")
    command.add_argument("--force", action="store_true", help="with --out, replace files that say something else")
    command.add_argument(
        "--region", type=_region, help="Region to assume where PATH does not say one, for example us-west-2"
    )
    _has_format(command)


def _lists(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 listed, 2 the account cannot be read, in part or at all. Needs the permissions "
        "sagemaker:ListTrainingPlans and sagemaker:DescribeTrainingPlan."
    )
    command.add_argument("action", choices=["list"], help="list them")
    _reads_account(command)


def _records(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 complete, 2 the account cannot be read, in part or at all, or has no such cluster; FILE is "
        "written only when the snapshot is complete. Needs the permissions sagemaker:DescribeCluster, "
        "sagemaker:ListClusterNodes, sagemaker:ListClusters, sagemaker:DescribeTrainingPlan, fsx:DescribeFileSystems, "
        "cloudwatch:GetMetricData, servicequotas:ListServiceQuotas and servicequotas:ListAWSDefaultServiceQuotas."
    )
    command.add_argument("cluster", metavar="CLUSTER", help="name or ARN of the cluster")
    command.add_argument(
        "--redact", action="store_true", help="replace account ids, addresses and names of people, equal ones equally"
    )
    command.add_argument("--output", metavar="FILE", help="where to write it (default: standard output)")
    command.add_argument(
        "--file-system",
        action="append",
        type=_file_system,
        default=[],
        metavar="ID",
        help="a Lustre file system that scripts mount, and the cluster's groups do not name",
    )
    _reads_account(command, formats=("json",))


def _brings(command: argparse.ArgumentParser) -> None:
    actions = command.add_subparsers(dest="action", metavar="ACTION", title="actions", required=True)
    _fetches(_command(actions, "fetch", "download a pinned chart with all that it depends on, and check every hash"))
    images = _command(actions, "images", "render a chart with Helm and list the images that it asks for")
    images.epilog = (
        "exit codes: 0 no errors, 1 errors, or the chart is not complete, 2 DIR or FILE cannot be read or rendered, or "
        "there is no Helm: `helm` on PATH, or the Python package helm-python-sdk"
    )
    images.add_argument("directory", metavar="DIR", help="folder of the chart, which holds Chart.yaml")
    images.add_argument("--region", type=_region, required=True, help="Region of the cluster, such as us-west-2")
    images.add_argument("--values", metavar="FILE", help="values that the chart is installed with (YAML or JSON)")
    images.add_argument("--closed", action="store_true", help='nodes have no way out: egress="closed"')
    _has_format(images)


def _fetches(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 it is there and what the lock says, 1 refused: another hash, an archive that is not safe, no "
        "such chart or version, a folder that this command did not write, 2 something cannot be downloaded or written"
    )
    command.add_argument("--commit", required=True, type=_commit, metavar="SHA", help="commit with the chart, in full")
    command.add_argument("--into", required=True, metavar="DIR", help="where to write the chart and its lock")
    command.add_argument("--sha256", type=_sha256, metavar="HEX", help="hash that the archive of the commit must have")
    command.add_argument(
        "--repository",
        default="https://github.com/aws/sagemaker-hyperpod-cli",
        metavar="URL",
        help="repository with the chart, of which URL/archive/SHA.tar.gz is an archive (default: AWS's, on GitHub)",
    )
    command.add_argument(
        "--folder",
        default="helm_chart/HyperPodHelmChart",
        metavar="PATH",
        help="folder of the chart in it (default: helm_chart/HyperPodHelmChart)",
    )
    command.add_argument(
        "--dependency",
        action="append",
        default=[],
        metavar="FILE",
        help="a packed chart that it depends on, as `helm pull` writes it, instead of a download; repeatable, and the "
        "only way to those of oci:// registries",
    )
    _has_format(command)


def _reads_account(command: argparse.ArgumentParser, formats: tuple[str, ...] = ("text", "json")) -> None:
    command.add_argument("--region", type=_region, help="Region to read (default: that of the profile)")
    command.add_argument("--profile", help="profile of the AWS configuration (default: what AWS's own tools would use)")
    _has_format(command, formats)


def _has_duration(command: argparse.ArgumentParser, option: str, default: str, does: str) -> None:
    explained = f"{does}: seconds, minutes or hours, as in 90s, 45m, 3h (default: {default})"
    command.add_argument(option, type=_seconds, default=default, metavar="TIME", help=explained)


def _has_format(command: argparse.ArgumentParser, formats: tuple[str, ...] = ("text", "json")) -> None:
    default = formats[0]
    help_text = f"how to write the answer (default: {default})"
    command.add_argument("--format", choices=formats, default=default, help=help_text)


def _region(text: str) -> str:
    from hyperpod_constructs.catalog import regions  # noqa: PLC0415  # not needed for --help

    if regions.partition(text) is None or re.search(r"-\d\d+$", text):  # partitions look at the beginning only
        raise argparse.ArgumentTypeError(f"{text!r} is not a Region; use one such as us-west-2")
    return text


def _fail_on(text: str) -> FailOn:
    from hyperpod_constructs.review.policy import FailOn  # noqa: PLC0415  # not needed for other commands

    try:
        return FailOn.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _parameter(text: str) -> tuple[str, str]:
    key, given, value = text.partition("=")
    if not given or not re.fullmatch(r"[A-Za-z0-9]{1,255}", key):
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE; use one such as Env=prod")
    return key, value


def _instance_type(text: str) -> str:
    if re.fullmatch(r"(ml\.)?[a-z0-9-]{1,30}\.[a-z0-9-]{1,30}", text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not an instance type; use one such as ml.p5.48xlarge")
    return text


def _nodes(text: str) -> tuple[str, int]:
    match = re.fullmatch(r"([A-Za-z0-9-]{1,63})=([0-9]{1,6})", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a group and a number of nodes; use one such as p5=30")
    return match[1], int(match[2])


def _seconds(text: str) -> int:
    match = re.fullmatch(r"0*([1-9][0-9]{0,5})([smh])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a length of time; use one such as 90s, 45m or 3h")
    return int(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2]]


def _count(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number; use a whole one from 1 to 999999")
    return int(text)


def _lines(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,2}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of lines; use 1 to 999")
    return int(text)


def _commit(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{40}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a commit: use all 40 hexadecimal digits, no branch or tag")
    return text


def _sha256(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a SHA-256: use 64 hexadecimal digits")
    return text


def _user(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a user on a node; use one such as ubuntu")
    return text


def _file_system(text: str) -> str:
    if not re.fullmatch(r"fs-[0-9a-f]{8,}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a file system; use an id such as fs-0123456789abcdef0")
    return text
