"""Answers of AWS's Price List, as botocore's Stubber gives them: moto has none."""

from __future__ import annotations

import json
from typing import Any, Self

import boto3
from botocore.stub import Stubber

from hyperpod_constructs.account.gateway.pricing import Pricing

PUBLISHED = "2026-11-20T18:00:00Z"


class PriceListStub:
    """A Price List whose next answers a test decides; use it as a context."""

    def __init__(self) -> None:
        client = boto3.client(
            "pricing", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        self.stub = Stubber(client)
        self.pricing = Pricing(client)

    def __enter__(self) -> Self:
        self.stub.activate()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.stub.assert_no_pending_responses()
        self.stub.deactivate()

    def has(
        self,
        service: str,
        *products: dict[str, Any],
        token: str | None = None,
        after: str | None = None,
        **attributes: str,
    ) -> None:
        """The next question, about these attributes of a service, is answered with these products."""
        filters = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in attributes.items()]
        asked = {
            "ServiceCode": service,
            "Filters": filters,
            "MaxResults": 100,
            **({"NextToken": after} if after else {}),
        }
        answer = {"PriceList": [json.dumps(each) for each in products], **({"NextToken": token} if token else {})}
        self.stub.add_response("get_products", answer, asked)

    def has_region(
        self,
        region: str,
        *,
        sagemaker: tuple[dict[str, Any], ...] = (),
        lustre: tuple[dict[str, Any], ...] = (),
        eks: tuple[dict[str, Any], ...] = (),
        metrics: tuple[dict[str, Any], ...] = (),
    ) -> None:
        """The next questions are about a Region that has these products."""
        self.has("AmazonSageMaker", *sagemaker, regionCode=region, component="Cluster")
        self.has("AmazonFSx", *lustre, regionCode=region, fileSystemType="Lustre", productFamily="Storage")
        self.has("AmazonEKS", *eks, regionCode=region)
        self.has("AmazonPrometheus", *metrics, regionCode=region)

    def fails(self, code: str, message: str = "") -> None:
        """The next question gets an error."""
        self.stub.add_client_error("get_products", code, message, http_status_code=400)


def product(usage_type: str, *usd: str | tuple[str, str], unit: str = "Hrs", **attributes: str) -> dict[str, Any]:
    """A product on demand: its price, or several with the amount from which on each applies."""
    tiers = [each if isinstance(each, tuple) else ("0", each) for each in usd]
    dimensions = {
        f"SKU.TERM.{index}": {"unit": unit, "beginRange": begin, "endRange": "Inf", "pricePerUnit": {"USD": price}}
        for index, (begin, price) in enumerate(tiers)
    }
    return {
        "product": {"sku": "SKU", "attributes": {"usagetype": usage_type, **attributes}},
        "terms": {"OnDemand": {"SKU.TERM": {"priceDimensions": dimensions}}},
        "publicationDate": PUBLISHED,
    }


P5 = product("USW2-Cluster:ml.p5.48xlarge", "66.0480000000", instanceType="ml.p5.48xlarge-Cluster")
"""HyperPod's own price of a node."""


def lustre(throughput: str, usd: str, storage: str = "SSD") -> dict[str, Any]:
    """Storage of Lustre."""
    return product("USW2-Storage", usd, unit="GB-Mo", storageType=storage, throughputCapacity=throughput)
