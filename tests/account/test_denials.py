from __future__ import annotations

import re

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.account import denials
from hyperpod_constructs.account.denials import PARTS, Part

WHO = "User: arn:aws:sts::111122223333:assumed-role/cdk-exec/AWSCloudFormation is not authorized to perform: "
NAT = f"{WHO}ec2:CreateNatGateway on resource: arn:aws:ec2:us-west-2:111122223333:subnet/subnet-1 "


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("a service control policy", r"service control policy \(SCP\) of the AWS organization"),
        ("a resource control policy", r"resource control policy \(RCP\) of the AWS organization"),
        ("a permissions boundary", "permissions boundary of the role"),
        ("an identity-based policy", "identity policy, attached to the role"),
        ("a resource-based policy", "resource policy of what is called"),
        ("a session policy", "session policy that was given"),
        ("a VPC endpoint policy", "VPC endpoint policy of the endpoint"),
    ],
)
class TestAPolicyIsNamed:
    def test_that_denies_on_purpose(self, kind: str, named: str) -> None:
        found = denials.find(f"{NAT}with an explicit deny in {kind} (Service: Ec2, Status Code: 403)")
        assert found is not None
        assert found.explicit
        assert re.match(rf"ec2:CreateNatGateway is denied on purpose by (an?|the) {named}", found.meaning)

    def test_that_allows_nothing(self, kind: str, named: str) -> None:
        found = denials.find(f"{NAT}because no {kind.split(' ', 1)[1]} allows the ec2:CreateNatGateway action")
        assert found is not None
        assert not found.explicit
        assert re.search(named, found.meaning)


class TestADenial:
    def test_on_purpose_names_the_part_to_switch_off(self) -> None:
        found = denials.find(f"{NAT}with an explicit deny in a service control policy")
        assert found is not None
        assert found.next_step == (
            "have the policy changed, or do without the network's way to the internet: "
            'egress="closed", or network= with a network that others made (hp.Network.from_attributes)'
        )

    def test_tells_the_arn_of_the_policy_where_aws_does(self) -> None:
        arn = "arn:aws:organizations::999988887777:policy/o-1/service_control_policy/p-1"
        found = denials.find(f"{NAT}with an explicit deny in a service control policy: {arn}")
        assert found is not None
        assert found.policy == arn
        assert found.meaning.endswith(f"({arn})")

    def test_of_a_kind_that_aws_does_not_name_says_so(self) -> None:
        found = denials.find(f"{NAT}with an explicit deny")
        assert found is not None
        assert (found.explicit, found.kind) == (True, None)
        assert "AWS does not say which kind of policy" in found.meaning

    def test_without_an_action_is_still_one(self) -> None:
        found = denials.find("API: s3:PutObject Access Denied with an explicit deny in a resource-based policy")
        assert found is not None
        assert (found.action, found.kind) == (None, "resource-based policy")
        assert found.next_step == "have the policy changed, or take out of the template what makes the call"

    def test_by_omission_says_where_the_permission_belongs(self) -> None:
        found = denials.find(f"{WHO}budgets:ModifyBudget because no identity-based policy allows the action")
        assert found is not None
        assert found.next_step.startswith(
            "allow budgets:ModifyBudget for the role that deploys: `hyperpod policy PATH`"
        )

    def test_in_its_old_form_has_no_reason(self) -> None:
        found = denials.find(f"{WHO}iam:PassRole on resource: arn:aws:iam::111122223333:role/x")
        assert found is not None
        assert (found.explicit, found.meaning) == (False, "no policy allows iam:PassRole")

    def test_of_the_service_linked_role_has_the_command_of_an_administrator(self) -> None:
        role = "arn:aws:iam::111122223333:role/aws-service-role/hyperpod.sagemaker.amazonaws.com/AWSServiceRoleX"
        found = denials.find(
            f"{WHO}iam:CreateServiceLinkedRole on resource: {role} with an explicit deny in a service control policy"
        )
        assert found is not None
        assert "`aws iam create-service-linked-role --aws-service-name hyperpod.sagemaker.amazonaws.com`" in (
            found.next_step
        )

    @pytest.mark.parametrize("said", ["Access Denied", "EFA health checks did not run", ""])
    def test_is_not_seen_where_there_is_none(self, said: str) -> None:
        assert denials.find(said) is None


class TestADenialInOtherWords:
    @pytest.mark.parametrize(
        ("said", "action", "part"),
        [
            (
                "API: ec2:CreateNatGateway You are not authorized to perform this operation.",
                "ec2:CreateNatGateway",
                "the network's way to the internet",
            ),
            ("User is not authorized to perform: fsx:CreateFileSystem", "fsx:CreateFileSystem", "the file system"),
            ("AccessDenied. User doesn't have permission to call ec2:DescribeVpcs", "ec2:DescribeVpcs", "the network"),
            ("You are not authorized to perform this operation.", None, None),
            ("Access Denied (Service: S3, Status Code: 403, Request ID: X)", None, None),
        ],
    )
    def test_is_one_that_no_policy_allows(self, said: str, action: str | None, part: str | None) -> None:
        found = denials.find(said)
        assert found is not None
        assert (found.action, found.explicit, found.principal, found.part and found.part.name) == (
            action,
            False,
            None,
            part,
        )
        assert "hyperpod policy PATH" in found.next_step

    def test_of_a_key_points_at_the_policy_of_the_key(self) -> None:
        found = denials.find(
            f"{WHO}kms:Decrypt on resource: arn:aws:kms:us-west-2:1:key/2 because the resource does not exist in this "
            "Region, no resource-based policies allow access, or a resource-based policy explicitly denies access"
        )
        assert found is not None
        assert (found.kind, found.explicit) == ("resource-based policy", False)
        assert found.next_step.startswith("admit the caller in the policy of the key (`hyperpod policy PATH --keys`")

    def test_of_an_object_in_s3_by_a_script_is_a_known_message_and_stays_it(self) -> None:
        assert denials.find("An error occurred (AccessDenied) when calling the GetObject operation: Denied") is None


class TestTheParts:
    @pytest.mark.parametrize(
        ("action", "part"),
        [
            ("ec2:AttachInternetGateway", "the network's way to the internet"),
            ("ec2:CreateVpcEndpoint", "the network"),
            ("ec2:AuthorizeSecurityGroupEgress", "the network"),
            ("budgets:ModifyBudget", "the budget"),
            ("sns:CreateTopic", "the alerts"),
            ("fsx:CreateFileSystem", "the file system"),
            ("iam:CreateServiceLinkedRole", "the service-linked role"),
            ("iam:AttachRolePolicy", "the roles of the nodes"),
            ("kms:CreateGrant", "encryption with a customer key"),
            ("sagemaker:CreateCluster", "the cluster itself"),
        ],
    )
    def test_are_found_by_the_call(self, action: str, part: str) -> None:
        found = denials.find(f"{WHO}{action} with an explicit deny in a service control policy")
        assert found is not None
        assert found.part is not None
        assert found.part.name == part

    def test_of_a_call_that_no_stack_of_ours_makes_are_none(self) -> None:
        found = denials.find(f"{WHO}s3:CreateBucket with an explicit deny in a service control policy")
        assert found is not None
        assert found.part is None

    @pytest.mark.parametrize("part", PARTS)
    def test_name_what_the_package_has(self, part: Part) -> None:
        for name, member in re.findall(r"hp\.(\w+)\.?(\w*)", part.switch):
            assert name in hp.__all__
            assert not member or hasattr(getattr(hp, name), member)
