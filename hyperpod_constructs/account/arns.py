"""Whether an ARN that somebody names is of the Region that is read: AWS only says that there is no such thing."""

from __future__ import annotations

import re
from typing import Final

from hyperpod_constructs.errors import NotInAccount

_ARN: Final = re.compile(r"arn:[\w-]+:[\w-]+:(?P<region>[\w-]+):[0-9]*:.+")


def must_be_of(region: str, subject: str) -> None:
    """Refuses an ARN of another Region.

    Args:
        region: The Region that is read.
        subject: A name, or an ARN.

    Raises:
        NotInAccount: if it is an ARN of another Region.
    """
    match = _ARN.fullmatch(subject)
    if match and match["region"] != region:
        raise NotInAccount(f"{subject} is in {match['region']}, and {region} was asked: use --region {match['region']}")
