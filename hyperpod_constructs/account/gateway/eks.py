"""Reads of EKS: clusters that a deployment imports.

Source of names and fields: the botocore 1.44.8 model of EKS (2017-11-01).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_constructs.account.gateway.session import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveEksCluster:
    """An EKS cluster of the account.

    Attributes:
        name: Its name.
        status: For example ACTIVE, CREATING, FAILED.
        version: Kubernetes minor such as `1.33`.
        authentication: API, API_AND_CONFIG_MAP or CONFIG_MAP.
        vpc: Id of its VPC; `None` where AWS does not say.
        security_group: Id of the security group that EKS made for it.
        addons: Version by name of each add-on.
        states: State by name of each add-on, for example ACTIVE, DEGRADED; empty where AWS does not say.
    """

    name: str
    status: str
    version: str
    authentication: str
    vpc: str | None
    security_group: str | None
    addons: Mapping[str, str]
    states: Mapping[str, str]


class Eks(Reader):
    """Reads the EKS clusters of one account in one Region."""

    SERVICE = "eks"
    READS = {  # noqa: RUF012  # the base class has the type
        "DescribeCluster": "eks:DescribeCluster",
        "DescribeAddon": "eks:DescribeAddon",
        "ListAddons": "eks:ListAddons",
    }

    def cluster(self, name: str) -> LiveEksCluster:
        """A cluster with its add-ons.

        Raises:
            NotInAccount: if there is no such cluster.
            AccountError: if AWS refuses or fails a read.
        """
        what = f"EKS cluster {name}"
        cluster = self._read("DescribeCluster", of=what, name=name)["cluster"]
        network = cluster.get("resourcesVpcConfig", {})
        addons = {
            addon: self._read("DescribeAddon", clusterName=name, addonName=addon)["addon"]
            for addon in self._pages("ListAddons", "addons", of=what, clusterName=name)
        }
        return LiveEksCluster(
            name=name,
            status=cluster.get("status", ""),
            version=cluster.get("version", ""),
            # Source: EKS user guide, access-entries: CONFIG_MAP where a request says nothing.
            authentication=cluster.get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP"),
            vpc=network.get("vpcId") or None,
            security_group=network.get("clusterSecurityGroupId"),
            addons={addon: described.get("addonVersion", "") for addon, described in addons.items()},
            states={addon: described.get("status", "") for addon, described in addons.items()},
        )
