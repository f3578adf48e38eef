"""A grant to a cluster reaches the nodes of every group, whatever it is a grant on."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam, aws_kms as kms, aws_s3 as s3, aws_secretsmanager as secretsmanager

import hyperpod_constructs as hp
from tests.templates import of_type, synthesized


@pytest.fixture
def cluster(stack: cdk.Stack) -> hp.Cluster:
    return hp.Cluster(
        stack,
        "Cluster",
        name="train",
        network=hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"]),
        groups=[hp.InstanceGroup.controller("ml.m5.xlarge"), hp.InstanceGroup.compute("cpu", "ml.c5.xlarge", count=1)],
    )


def policies(stack: cdk.Stack) -> dict[str, Any]:
    """Actions, by the beginning of the policy's logical id."""
    return {
        name[:-8]: [statement["Action"] for statement in policy["PolicyDocument"]["Statement"]]
        for name, policy in of_type(synthesized(stack), "AWS::IAM::Policy").items()
    }


def waited_for(stack: cdk.Stack) -> list[str]:
    """What the cluster waits for, by the beginning of the logical id."""
    resources = synthesized(stack)["Resources"].values()
    (found,) = [each for each in resources if each["Type"] == "AWS::SageMaker::Cluster"]
    return [name[:-8] for name in found["DependsOn"]]


class TestGrants:
    def test_go_into_one_policy_that_all_groups_have_and_the_cluster_waits_for(
        self, stack: cdk.Stack, cluster: hp.Cluster
    ) -> None:
        s3.Bucket(stack, "Data").grant_read(cluster)
        s3.Bucket(stack, "More").grant_read(cluster)
        (granted,) = [name for name in policies(stack) if "Grants" in name]
        assert granted == "ClusterGrants"
        assert "ClusterGrants" in waited_for(stack)

    def test_on_what_has_a_policy_of_its_own_name_the_roles(self, stack: cdk.Stack, cluster: hp.Cluster) -> None:
        secretsmanager.Secret(stack, "Token", encryption_key=kms.Key(stack, "Key")).grant_read(cluster)
        (key,) = of_type(synthesized(stack), "AWS::KMS::Key").values()
        (decrypt,) = [each for each in key["KeyPolicy"]["Statement"] if each["Action"] == "kms:Decrypt"]
        assert [role["Fn::GetAtt"][0][:-8] for role in decrypt["Principal"]["AWS"]] == [
            "ClusterRolesGroupcontroller",
            "ClusterRolesGroupcpu",
        ]

    def test_that_name_the_cluster_do_not_make_it_wait_for_itself(self, stack: cdk.Stack, cluster: hp.Cluster) -> None:
        iam.Grant.add_to_principal(
            grantee=cluster, actions=["sagemaker:DescribeCluster"], resource_arns=[cluster.cluster_arn]
        )
        assert policies(stack)["ClusterOwnGrants"] == ["sagemaker:DescribeCluster"]
        assert "ClusterOwnGrants" not in waited_for(stack)

    def test_that_nobody_asks_for_make_nothing(self, stack: cdk.Stack, cluster: hp.Cluster) -> None:
        assert cluster.grant_principal is not None
        assert sorted(policies(stack)) == ["ClusterRolesPolicy"]
