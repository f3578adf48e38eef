"""The CDK's bucket custom resources, done here: their Lambda functions have nothing to run on."""

from __future__ import annotations

import io
import os
import zipfile
from typing import Any

import boto3
from ministack.core.responses import get_account_id, get_region
from ministack.services.cloudformation import provisioners


def _client() -> Any:  # clients of boto3 have no static type
    return boto3.client(
        "s3",
        region_name=get_region(),
        endpoint_url=f"http://{os.environ['BIND_HOST']}:{os.environ['GATEWAY_PORT']}",
        aws_access_key_id=get_account_id(),
        aws_secret_access_key="test",
    )


def deploy(logical_id: str, properties: dict[str, Any], stack: str) -> tuple[str, dict[str, str]]:
    """Custom::CDKBucketDeployment: unpacks assets into a bucket."""
    bucket, s3 = properties["DestinationBucketName"], _client()
    prefix = properties.get("DestinationBucketKeyPrefix", "").strip("/")
    for source, key in zip(properties["SourceBucketNames"], properties["SourceObjectKeys"], strict=True):
        archive = zipfile.ZipFile(io.BytesIO(s3.get_object(Bucket=source, Key=key)["Body"].read()))
        for entry in archive.infolist():
            if not entry.is_dir():
                target = "/".join(part for part in (prefix, entry.filename) if part)
                s3.put_object(Bucket=bucket, Key=target, Body=archive.read(entry))
    return f"{stack}-{logical_id}", {"DestinationBucketArn": f"arn:aws:s3:::{bucket}"}


def empty(properties: dict[str, Any]) -> None:
    """Custom::S3AutoDeleteObjects on delete: takes every object and version out of a bucket."""
    s3 = _client()
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=properties["BucketName"]):
        for each in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
            s3.delete_object(Bucket=properties["BucketName"], Key=each["Key"], VersionId=each["VersionId"])


def install() -> None:
    """Adds both to ministack's handlers; it runs custom resources beside its event loop, which they call back."""
    provisioners._RESOURCE_HANDLERS["Custom::CDKBucketDeployment"] = {
        "create": deploy,
        "update": lambda _, __, new, stack, logical_id: deploy(logical_id, new, stack),
        "update_with_logical_id": True,
        "delete": lambda *_: None,
    }
    provisioners._RESOURCE_HANDLERS["Custom::S3AutoDeleteObjects"] = {
        "create": lambda logical_id, _, stack: (f"{stack}-{logical_id}", {}),
        "update": lambda physical_id, *_: (physical_id, {}),
        "update_with_logical_id": True,
        "delete": lambda _, properties: empty(properties),
    }
