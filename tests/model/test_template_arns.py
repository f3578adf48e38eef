"""Where an ARN is wanted and a reference gives something else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.conftest import refused

ROLE: dict[str, Any] = {
    "Type": "AWS::IAM::Role",
    "Properties": {
        "AssumeRolePolicyDocument": {
            "Statement": {"Effect": "Allow", "Principal": {"Service": "a.amazonaws.com"}, "Action": "sts:AssumeRole"}
        }
    },
}
OTHERS: dict[str, Any] = {
    "R": ROLE,
    "E": {"Type": "AWS::EKS::Cluster"},
    "Profile": {"Type": "AWS::IAM::InstanceProfile"},
    "Parameter": {"Type": "AWS::SSM::Parameter"},
}


def cluster(role: Any, **properties: Any) -> dict[str, Any]:
    """A cluster whose one group has this role."""
    group = {"InstanceGroupName": "p5", "InstanceCount": 1, "InstanceType": "ml.p5.48xlarge", "ExecutionRole": role}
    return {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": [group], **properties}}


RIGHT = {"Fn::GetAtt": ["R", "Arn"]}


class TestRoles:
    @pytest.mark.parametrize(
        ("role", "says"),
        [
            ({"Ref": "R"}, "is the name of R, which is what Ref gives; use its ARN: !GetAtt R.Arn"),
            ({"Fn::Sub": "${R}"}, "is the name of R, which is what Ref gives; use its ARN: !GetAtt R.Arn"),
            ({"Fn::GetAtt": ["R", "RoleId"]}, "is the RoleId of R; use its ARN: !GetAtt R.Arn"),
            (
                {"Fn::GetAtt": ["Profile", "Arn"]},
                "is that of Profile, an AWS::IAM::InstanceProfile; use the ARN of an AWS::IAM::Role",
            ),
            (
                {"Fn::Sub": "arn:aws:iam::111122223333:role/${R.Arn}"},
                "holds an ARN inside other text; use the ARN alone: !GetAtt RESOURCE.Arn",
            ),
        ],
    )
    def test_are_named_by_their_arn(self, deployment_of: Any, role: Any, says: str) -> None:
        read = deployment_of({**OTHERS, "C": cluster(role)})
        assert refused(read) == [f"InstanceGroups[0].ExecutionRole {says}"]

    @pytest.mark.parametrize(
        "role",
        [
            RIGHT,
            {"Fn::Sub": "${R.Arn}"},
            {"Fn::Sub": "arn:aws:iam::111122223333:role/${R}"},
            {"Fn::GetAtt": ["Parameter", "Value"]},
            {"Ref": "Nothing"},
            "arn:aws:iam::111122223333:role/nodes",
        ],
    )
    def test_that_are_or_may_be_are_taken(self, deployment_of: Any, role: Any) -> None:
        assert refused(deployment_of({**OTHERS, "C": cluster(role)})) == []

    def test_are_known_in_spite_of_it(self, deployment_of: Any) -> None:
        read = deployment_of({**OTHERS, "C": cluster({"Ref": "R"})})
        assert read.clusters[0].groups[0].execution_role == "app.json/R"

    def test_of_the_cluster_are_too(self, deployment_of: Any) -> None:
        read = deployment_of({**OTHERS, "C": cluster(RIGHT, ClusterRole={"Ref": "R"})})
        assert refused(read) == ["ClusterRole is the name of R, which is what Ref gives; use its ARN: !GetAtt R.Arn"]


class TestEksClusters:
    @pytest.mark.parametrize(
        ("arn", "says"),
        [
            ({"Ref": "E"}, "is the name of E, which is what Ref gives; use its ARN: !GetAtt E.Arn"),
            ({"Fn::GetAtt": ["E", "Endpoint"]}, "is the Endpoint of E; use its ARN: !GetAtt E.Arn"),
            (RIGHT, "is that of R, an AWS::IAM::Role; use the ARN of an AWS::EKS::Cluster"),
        ],
    )
    def test_are_named_by_their_arn(self, deployment_of: Any, arn: Any, says: str) -> None:
        read = deployment_of({**OTHERS, "C": cluster(RIGHT, Orchestrator={"Eks": {"ClusterArn": arn}})})
        assert refused(read) == [f"Orchestrator.Eks.ClusterArn {says}"]

    def test_that_are_are_taken(self, deployment_of: Any) -> None:
        right = {"Eks": {"ClusterArn": {"Fn::GetAtt": ["E", "Arn"]}}}
        assert refused(deployment_of({**OTHERS, "C": cluster(RIGHT, Orchestrator=right)})) == []
