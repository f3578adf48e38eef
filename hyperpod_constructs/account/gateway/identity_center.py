"""Reads of IAM Identity Center: whether people can sign in through it."""

from __future__ import annotations

from hyperpod_constructs.account.gateway.session import Reader


class IdentityCenter(Reader):
    """Reads the instances that an account sees in one Region."""

    SERVICE = "sso-admin"
    READS = {"ListInstances": "sso:ListInstances"}  # noqa: RUF012  # the base class has the type

    def instances(self) -> tuple[str, ...]:
        """ARNs of the instances that are active, the account's own and its organisation's."""
        found = self._pages("ListInstances", "Instances")
        return tuple(each["InstanceArn"] for each in found if each.get("Status", "ACTIVE") == "ACTIVE")
