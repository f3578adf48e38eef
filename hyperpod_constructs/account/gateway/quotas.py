"""Reads of Service Quotas: what an account may have of everything.

Source of names and fields: the botocore 1.44.8 model of Service Quotas (2019-06-24).
"""

from __future__ import annotations

from dataclasses import dataclass

from hyperpod_constructs.account.gateway.session import Reader

_PER_PAGE = 100
"""The most that both lists allow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedQuota:
    """A quota of the account in one Region.

    Attributes:
        name: Its exact name; names tell quotas apart, public lists of codes contradict each other.
        code: Its code, with which a raise is asked for.
        value: What the account has; the default where nothing else was ever applied.
        adjustable: Whether a raise can be asked for.
    """

    name: str
    code: str
    value: float
    adjustable: bool


class ServiceQuotas(Reader):
    """Reads the quotas of one account in one Region."""

    SERVICE = "service-quotas"
    READS = {  # noqa: RUF012  # the base class has the type
        "ListServiceQuotas": "servicequotas:ListServiceQuotas",
        "ListAWSDefaultServiceQuotas": "servicequotas:ListAWSDefaultServiceQuotas",
    }

    def of_service(self, service: str) -> dict[str, AppliedQuota]:
        """Every quota of a service by name: what is applied to the account, else the default.

        Args:
            service: Service code, for example `sagemaker`.

        Raises:
            AccountError: if AWS refuses or fails a read.
        """
        defaults = self._pages("ListAWSDefaultServiceQuotas", "Quotas", page_size=_PER_PAGE, ServiceCode=service)
        applied = self._pages("ListServiceQuotas", "Quotas", page_size=_PER_PAGE, ServiceCode=service)
        return {
            quota["QuotaName"]: AppliedQuota(
                name=quota["QuotaName"],
                code=quota["QuotaCode"],
                value=quota["Value"],
                adjustable=quota.get("Adjustable", False),
            )
            for quota in (*defaults, *applied)
            if "Value" in quota
        }
