"""Reads of STS: who is asking."""

from __future__ import annotations

from hyperpod_constructs.account.gateway.session import Reader


class Identity(Reader):
    """Tells whose credentials these are."""

    SERVICE = "sts"
    READS = {"GetCallerIdentity": "sts:GetCallerIdentity"}  # noqa: RUF012  # the base class has the type

    def account(self) -> str:
        """The account that is signed in to, twelve digits. It needs no permission, so it tells good credentials.

        Raises:
            AccountError: if the credentials are missing, expired or refused.
        """
        return str(self._read("GetCallerIdentity")["Account"])
