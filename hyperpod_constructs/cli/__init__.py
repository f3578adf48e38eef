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
from typing import Final

from hyperpod_constructs.errors import AccountError, UnreadableTemplate
from hyperpod_constructs.version import VERSION

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
        code: int = importlib.import_module(f"hyperpod_constructs.cli.{arguments.command}").run(arguments)
        sys.stdout.flush()
    except (UnreadableTemplate, AccountError) as error:
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
        "It reads files only: no AWS account, no network, no Node; but `status` reads a running cluster.",
        epilog="This is not AWS's own HyperPod client, which is called `hyp` (older versions: `hyperpod`).",
    )
    parser.add_argument("--version", action="version", version=f"hyperpod {VERSION} ({DISTRIBUTION})")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    check = _command(commands, "check", "find mistakes in templates: what will fail, lose data or waste money")
    _reads_path(check, formats=("text", "json", "sarif"))
    _reads_path(_command(commands, "cost", "cost per hour, with the source and date of every price"))
    _reads_path(
        _command(commands, "summary", "nodes, accelerators, addresses, cost, quotas and plan dates on one page")
    )
    _waits(_command(commands, "status", "whether the nodes of a running cluster are there; can wait until they are"))
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


def _waits(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "exit codes: 0 the nodes run, 1 they do not (yet), the cluster has failed or is gone, or the time is over, "
        "2 the account cannot be read, or has no such cluster or group. "
        "Needs the permissions sagemaker:DescribeCluster and sagemaker:ListClusterNodes."
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
    command.add_argument("--wait", action="store_true", help="look again until they run")
    _has_duration(command, "--timeout", "3h", "with --wait, when to give up")
    _has_duration(command, "--every", "30s", "with --wait, how long to pause between two looks")
    command.add_argument("--region", type=_region, help="Region of the cluster (default: that of the profile)")
    command.add_argument("--profile", help="profile of the AWS configuration (default: what AWS's own tools would use)")
    _has_format(command)


def _has_duration(command: argparse.ArgumentParser, option: str, default: str, does: str) -> None:
    explained = f"{does}: seconds, minutes or hours, as in 90s, 45m, 3h (default: {default})"
    command.add_argument(option, type=_seconds, default=default, metavar="TIME", help=explained)


def _has_format(command: argparse.ArgumentParser, formats: tuple[str, ...] = ("text", "json")) -> None:
    command.add_argument("--format", choices=formats, default="text", help="how to write the answer (default: text)")


def _region(text: str) -> str:
    from hyperpod_constructs.catalog import regions  # noqa: PLC0415  # not needed for --help

    if regions.partition(text) is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a Region; use one such as us-west-2")
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
