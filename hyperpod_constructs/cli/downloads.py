"""Downloads: over https only, of a bounded size and time, with the standard library."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from http.client import HTTPMessage
from typing import IO, Final
from urllib.parse import urlsplit

from hyperpod_constructs.errors import InvalidValue, UnreadableChart
from hyperpod_constructs.version import VERSION

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost"})
_SILENCE: Final = 30.0
"""Seconds without a byte after which a download has failed."""
_LONGEST: Final = 600.0
_BLOCK: Final = 1 << 16
_OFFLINE: Final = (
    "a machine without a way to the internet cannot fetch charts: fetch on one that has, and commit the folder"
)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows only to where a download may begin."""

    def redirect_request(  # noqa: PLR0917  # the signature is that of urllib
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        """The request that follows, where it is allowed."""
        _check(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def get(address: str, most: int) -> bytes:
    """What is at an address.

    Args:
        address: Where; https, or http on this machine.
        most: Most bytes.

    Raises:
        InvalidValue: if the address, or where it leads, is another.
        UnreadableChart: if it cannot be reached, says no, breaks off, is too large or takes too long.
    """
    _check(address)
    # A proxy of the user's is not for this machine itself.
    proxies = [urllib.request.ProxyHandler({})] if urlsplit(address).hostname in _LOOPBACK else []
    opener = urllib.request.build_opener(_Redirects, *proxies)
    request = urllib.request.Request(address, headers={"User-Agent": f"hyperpod-constructs/{VERSION}"})  # noqa: S310  # checked
    try:
        with opener.open(request, timeout=_SILENCE) as answer:
            return _read(answer, address, most)
    except urllib.error.HTTPError as error:
        raise UnreadableChart(f"{address}: the server answers {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise UnreadableChart(f"{address} cannot be downloaded: {reason}; {_OFFLINE}") from None


def _read(answer: http.client.HTTPResponse, address: str, most: int) -> bytes:
    """All of an answer, whose length is checked: a connection that breaks looks like one that ends."""
    promised, until = answer.headers.get("Content-Length"), time.monotonic() + _LONGEST
    blocks, size = [], 0
    while block := answer.read(_BLOCK):
        blocks.append(block)
        size += len(block)
        if size > most:
            raise UnreadableChart(f"{address} has more than {most:,} bytes")
        if time.monotonic() > until:
            raise UnreadableChart(f"{address} takes longer than {_LONGEST:,.0f} seconds")
    if promised is not None and promised.isdigit() and size < int(promised):
        raise UnreadableChart(f"{address} broke off after {size:,} of {int(promised):,} bytes: try again")
    return b"".join(blocks)


def _check(address: str) -> None:
    """Raises `InvalidValue` unless nobody on the way can change what comes from an address."""
    parts = urlsplit(address)
    if not parts.hostname or parts.scheme not in {"https", "http"} or parts.username is not None:
        raise InvalidValue(f"{address} is no address to download from", "use one that begins with https://")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise InvalidValue(f"{address} is not encrypted", "use https")
