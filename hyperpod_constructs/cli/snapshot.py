"""`hyperpod snapshot`: what a running cluster is now, as JSON for a review."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

from hyperpod_constructs.account import arns, gateway, redaction, snapshot
from hyperpod_constructs.cli import files, inputs


def run(arguments: argparse.Namespace) -> int:
    """Writes the snapshot; 2 where it is not complete, and then only to standard output."""
    session = gateway.sign_in(profile=arguments.profile, region=arguments.region)
    arns.must_be_of(session.region, arguments.cluster)
    taken = snapshot.take(session, arguments.cluster, now=datetime.now(UTC), file_systems=tuple(arguments.file_system))
    data = redaction.redacted({**taken.data, "redacted": True}) if arguments.redact else taken.data
    written = json.dumps(data, indent=2) + "\n"
    for error in taken.unread:
        inputs.note(str(error))
    if arguments.output is None or taken.unread:
        print(written, end="")
    else:
        files.write({Path(arguments.output): written})
    if arguments.output is not None and taken.unread:
        inputs.note(f"the snapshot is not complete, so {arguments.output} was not written; it is printed instead")
    return 2 if taken.unread else 0
