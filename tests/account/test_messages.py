from __future__ import annotations

import pytest

from hyperpod_constructs import rules
from hyperpod_constructs.account import messages
from hyperpod_constructs.account.messages import MESSAGES, Message

SAID = {
    "We currently do not have sufficient capacity for the requested instance type(s). Please try again.": "HP1103",
    "We currently do not have sufficient capacity to launch new ml.g5.8xlarge instances. Please try again.": "HP1012",
    "We currently do not have sufficient capacity in the Availability Zone you requested": "HP1103",
    "EFA health checks did not run successfully. Ensure that your VPC and security groups are properly configured "
    "before attempting to create a new cluster.": "HP4001",
    "Instance replacement failed: EFA health checks did not run successfully.": "HP4001",
    'Instance i-0123 failed to provision with the following error: "Lifecycle scripts did not run successfully. Ensure '
    'the scripts exist in provided S3 path". Note that multiple instances may be impacted.': "HP5009",
    "No provisioning_parameters.json found in LifeCycleScript S3 Path for controller group head": "HP5008",
    "2 Controller Groups found: SlurmConfig for InstanceGroups may only have one Controller Group.": "HP2001",
    "Cluster train has no InstanceGroup with Controller node type.": "HP2001",
    "Partitions can only be assigned to Compute node types": "HP2007",
    "The LifeCycleConfig cannot include both a SLURM Orchestrator Config and a provisioning_parameters.json file "
    "simultaneously.": "HP5007",
    "Update required to use SlurmConfig in InstanceGroups": None,
    "Configuration drift detected.": None,
    "Partition configuration drift detected.": None,
    "Partition configuration mismatch detected.": None,
    "Cluster creation failed: controller and login nodes did not become ready within the expected time": "HP4034",
    "Failed to provision EC2 Instance in Cluster train and InstanceGroup p5": None,
    "Instance creation in Cluster train and InstanceGroup p5 failed": None,
    "Failed to create Customer ENI in subnet-0123": "HP4003",
    "Found CapacityReservation ID cr-0123": None,
    "No CapacityReservation found for the instance group": "HP1103",
    "SLR Access Entry creation failed": None,
    "EKS Access Entries could not be created: failed": None,
    "ResourceInUse: Cluster with name train already exists": "HP2205",
    "ResourceLimitExceeded: You have exceeded an SageMaker resource limit": "HP3015",
    "Embedded stack arn:aws:cloudformation:us-west-2:111122223333:stack/n/1 was not successfully created": None,
    "The account-level service limit 'ml.p5.48xlarge for cluster usage' is 0 Instances, with current utilization of 0 "
    "Instances and a request delta of 4 Instances. (ServiceLimitExceeded)": "HP3015",
    "Role with name nodes already exists.": "HP2205",
    "The security group 'nodes' already exists for VPC 'vpc-0123'": "HP2205",
    "EntityAlreadyExistsException: nodes": "HP2205",
    "Embedded stack failed": None,
    "Request to service failed. If failure persists after retry, contact customer support.": None,
    "InvalidParameterException: Pod Identity feature is not supported for addon version: v1.2.1-eksbuild.1": None,
    "timed out waiting for the condition on pods/eks-pod-identity-agent-x2k4z": "HP4034",
    "The addon amazon-sagemaker-hyperpod-observability is DEGRADED": None,
    "Invalid SNS topic": "HP0004",
    "The SNS topic is encrypted": "HP0005",
    "Please comply with SNS ARN format": "HP0018",
    "An error occurred (TargetNotConnected): Target is not connected": "HP4034",
    "Cannot perform start session: EOF": "HP4034",
    "subnet is public which will fail cluster creation": "HP4005",
    "/bin/bash^M: bad interpreter: No such file or directory": "HP5006",
    "on_create.sh: line 2: $'\\r': command not found": "HP5006",
    "An error occurred (AccessDenied) when calling the GetObject operation: Access Denied": "HP5009",
    'Connect timeout on endpoint URL: "https://s3.us-west-2.amazonaws.com/"': "HP4033",
}
"""What AWS was seen to say, and a rule that prevents it."""


@pytest.mark.parametrize(("said", "rule"), SAID.items())
def test_a_message_that_was_seen_is_known_with_what_prevents_it(said: str, rule: str | None) -> None:
    found = messages.find(said)
    assert found is not None
    assert rule is None or rule in found.rules


@pytest.mark.parametrize("message", MESSAGES)
def test_every_message_is_one_that_was_seen(message: Message) -> None:
    cancelled = "Resource creation cancelled"
    assert message in {messages.find(said) for said in (*SAID, cancelled)}


@pytest.mark.parametrize("message", MESSAGES)
def test_the_rules_that_prevent_a_message_exist(message: Message) -> None:
    assert set(message.rules) - set(rules.RULES) == set()


def test_line_breaks_and_capitals_do_not_hide_a_message() -> None:
    assert messages.find("efa health checks\n  did not run successfully") is not None


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Internal failure",
        "capacity",
        "The bucket does not exist",
        "useradd: user 'ubuntu' already exists",
        "adduser: The group `users' already exists.",
        "fatal: destination path 'x' already exists and is not an empty directory.",
        "file already exists at /opt/x",
        "s3://bucket/AlreadyExists-check",
    ],
)
def test_what_is_not_known_is_not_guessed(said: str) -> None:
    assert messages.find(said) is None
