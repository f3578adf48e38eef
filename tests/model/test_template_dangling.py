from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.model.deployment import Deployment
from tests.model.conftest import DeploymentOf

BUCKET = {"Type": "AWS::S3::Bucket"}


def refused(read: Deployment) -> list[str]:
    """`message; fix` of every name that is not there."""
    return [f"{invalid.message}; {invalid.fix}" for invalid in read.dangling]


def bucket(name: Any) -> dict[str, Any]:
    return {**BUCKET, "Properties": {"BucketName": name}}


class TestGetAtt:
    def test_of_nothing_is_refused(self, deployment_of: DeploymentOf) -> None:
        said = refused(deployment_of({"A": bucket({"Fn::GetAtt": []})}))
        assert said == ["Fn::GetAtt is given nothing; write !GetAtt RESOURCE.ATTRIBUTE"]

    def test_of_a_resource_is_not(self, deployment_of: DeploymentOf) -> None:
        for argument in (["B", "Arn"], "B.Arn"):
            assert refused(deployment_of({"A": bucket({"Fn::GetAtt": argument}), "B": BUCKET})) == []

    def test_of_a_resource_alone_lacks_the_attribute(self, deployment_of: DeploymentOf) -> None:
        (said,) = refused(deployment_of({"A": bucket({"Fn::GetAtt": ["B"]}), "B": BUCKET}))
        assert said.startswith("!GetAtt B names no attribute")


@pytest.mark.parametrize(
    "argument", [[], {}, None, "", 1, True, [[]], [{}], [None], ["."], [[], {}, []], ["x", [], None]]
)
@pytest.mark.parametrize(
    "function",
    [
        "Ref",
        "Fn::GetAtt",
        "Fn::Sub",
        "Fn::If",
        "Fn::FindInMap",
        "Fn::Join",
        "Fn::Select",
        "Fn::Split",
        "Fn::ImportValue",
    ],
)
def test_a_malformed_function_is_read(deployment_of: DeploymentOf, function: str, argument: Any) -> None:
    found = deployment_of(
        {"A": bucket({function: argument})},
        Outputs={"O": {"Value": {function: argument}}},
        Conditions={"C": {function: argument}},
    )
    assert all(message.strip("; ") for message in refused(found))
