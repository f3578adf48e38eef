"""The EKS control plane, as CloudFormation will get it."""

from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam, aws_kms as kms

import hyperpod_constructs as hp
from tests.templates import of_type, synthesized

ADMIN = "arn:aws:iam::111122223333:role/Platform"
EKS, ADDON, ENTRY = "AWS::EKS::Cluster", "AWS::EKS::Addon", "AWS::EKS::AccessEntry"


@pytest.fixture
def network(stack: cdk.Stack) -> hp.Network:
    return hp.ClusterNetwork(stack, "Network", zones=["usw2-az2"], flow_logs=False)


def plane(stack: cdk.Stack, network: Any, **options: Any) -> hp.EksControlPlane:
    return hp.EksControlPlane(stack, "Kubernetes", **{"network": network, "name": "research", **options})


def properties(stack: cdk.Stack) -> dict[str, Any]:
    (found,) = of_type(synthesized(stack), EKS).values()
    return found


class TestControlPlane:
    def test_is_private_with_access_entries_and_every_log(self, stack: cdk.Stack, network: hp.Network) -> None:
        plane(stack, network)
        found = properties(stack)
        assert (found["Name"], found["Version"]) == ("research", "1.34")
        assert found["AccessConfig"] == {
            "AuthenticationMode": "API",
            "BootstrapClusterCreatorAdminPermissions": False,
        }
        assert found["ResourcesVpcConfig"]["EndpointPublicAccess"] is False
        assert found["ResourcesVpcConfig"]["EndpointPrivateAccess"] is True
        logged = found["Logging"]["ClusterLogging"]["EnabledTypes"]
        assert [each["Type"] for each in logged] == ["api", "audit", "authenticator", "controllerManager", "scheduler"]

    def test_stands_in_two_zones_beside_the_nodes_and_in_their_security_group(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        plane(stack, network)
        template = synthesized(stack)
        (found,) = of_type(template, EKS).values()
        subnets = of_type(template, "AWS::EC2::Subnet")
        chosen = [subnets[each["Ref"]] for each in found["ResourcesVpcConfig"]["SubnetIds"]]
        assert [each["AvailabilityZoneId"] for each in chosen] == ["usw2-az2", "usw2-az1"]
        assert [each["CidrBlock"] for each in chosen] == ["10.0.0.240/28", "10.0.0.224/28"]
        group = stack.resolve(network.security_group_ids[0])
        assert found["ResourcesVpcConfig"]["SecurityGroupIds"] == [group]

    def test_is_opened_to_blocks_on_request(self, stack: cdk.Stack, network: hp.Network) -> None:
        plane(stack, network, endpoint=hp.Endpoint.public(cidrs=["198.51.100.0/24"]))
        found = properties(stack)["ResourcesVpcConfig"]
        assert (found["EndpointPublicAccess"], found["PublicAccessCidrs"]) == (True, ["198.51.100.0/24"])

    def test_has_the_addons_of_every_node_and_no_deployment(self, stack: cdk.Stack, network: hp.Network) -> None:
        plane(stack, network, addons=[hp.Addon(name="vpc-cni", version="v1.20.4-eksbuild.1", configuration={"a": 1})])
        found = {each["AddonName"]: each for each in of_type(synthesized(stack), ADDON).values()}
        assert sorted(found) == ["eks-pod-identity-agent", "kube-proxy", "vpc-cni"]
        assert found["vpc-cni"]["AddonVersion"] == "v1.20.4-eksbuild.1"
        assert found["vpc-cni"]["ConfigurationValues"] == '{"a":1}'
        assert "AddonVersion" not in found["kube-proxy"]

    def test_admins_have_an_entry_each(self, stack: cdk.Stack, network: hp.Network) -> None:
        role = iam.Role(stack, "Mine", assumed_by=iam.AccountRootPrincipal())
        plane(stack, network, admins=[ADMIN, role.role_arn])
        found = list(of_type(synthesized(stack), ENTRY).values())
        assert [each["PrincipalArn"] for each in found] == [ADMIN, stack.resolve(role.role_arn)]
        assert all(each["AccessPolicies"][0]["AccessScope"] == {"Type": "cluster"} for each in found)
        assert all("Type" not in each for each in found)

    def test_entries_of_roles_of_the_app_have_names_that_other_constructs_do_not_change(self) -> None:
        names = []
        for before in (0, 3):
            one = cdk.Stack(cdk.App(), "Same")
            for number in range(before):  # every one of them moves the numbers of the CDK's tokens
                iam.Role(one, f"Other{number}", assumed_by=iam.AccountRootPrincipal()).role_arn  # noqa: B018
            role = iam.Role(one, "Mine", assumed_by=iam.AccountRootPrincipal())
            net = hp.ClusterNetwork(one, "Network", zones=["usw2-az2"], flow_logs=False)
            plane(one, net, admins=[role.role_arn])
            names.append(sorted(of_type(synthesized(one), ENTRY)))
        assert names[0] == names[1]

    def test_a_closed_network_gets_the_endpoints_that_nodes_of_eks_call(self, stack: cdk.Stack) -> None:
        closed = hp.ClusterNetwork(stack, "Closed", zones=["usw2-az2"], egress="closed", flow_logs=False)
        plane(stack, closed)
        made = [str(each["ServiceName"]) for each in of_type(synthesized(stack), "AWS::EC2::VPCEndpoint").values()]
        assert {name for name in ("ecr.api", "ecr.dkr", "eks-auth", "sts") if any(name in each for each in made)} == {
            "ecr.api",
            "ecr.dkr",
            "eks-auth",
            "sts",
        }

    def test_secrets_may_have_a_key_of_the_users(self, stack: cdk.Stack, network: hp.Network) -> None:
        key = kms.Key(stack, "Key")
        plane(stack, network, secrets_key=key)
        (found,) = properties(stack)["EncryptionConfig"]
        assert found == {"Provider": {"KeyArn": stack.resolve(key.key_arn)}, "Resources": ["secrets"]}

    def test_an_imported_network_brings_its_subnets(self, stack: cdk.Stack) -> None:
        imported = hp.Network.from_attributes(
            stack,
            "Imported",
            vpc_id="vpc-0123456789abcdef0",
            subnets=[hp.ImportedSubnet(subnet_id="subnet-0123456789abcdef0", zone="usw2-az2")],
        )
        with pytest.raises(hp.InvalidValue, match="give subnet_ids, subnets in two zones"):
            plane(stack, imported)
        plane(stack, imported, subnet_ids=["subnet-1", "subnet-2"])
        assert properties(stack)["ResourcesVpcConfig"]["SubnetIds"] == ["subnet-1", "subnet-2"]


class TestRefusals:
    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"name": "-research"}, "EKS cluster name is '-research'"),
            ({"admins": ["Platform"]}, "admins hold 'Platform'; use ARNs of roles"),
            ({"admins": [ADMIN, ADMIN]}, "name each once"),
            ({"addons": [hp.Addon(name="coredns")]}, r"give hp\.ClusterAddons"),
            ({"addons": [hp.Addon(name="vpc-cni"), hp.Addon(name="vpc-cni")]}, "vpc-cni is given twice"),
            ({"zones": ["usw2-az1"]}, "give two or more different zone ids"),
            ({"subnet_ids": ["subnet-1"]}, "give two or more subnets"),
            ({"subnet_ids": ["sg-1", "sg-2"]}, "use an id such as subnet-"),
            ({"subnet_ids": ["subnet-1", "subnet-2"], "zones": ["usw2-az1", "usw2-az2"]}, "zones have no effect"),
        ],
    )
    def test_come_before_anything_is_made(
        self, stack: cdk.Stack, network: hp.Network, options: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(hp.InvalidValue, match=said):
            plane(stack, network, **options)
        assert stack.node.try_find_child("Kubernetes") is None

    def test_an_endpoint_that_is_open_to_no_block(self) -> None:
        with pytest.raises(hp.InvalidValue, match="is open to 'office'; use IPv4 blocks"):
            hp.Endpoint.public(cidrs=["office"])
        with pytest.raises(hp.InvalidValue, match="open to nobody"):
            hp.Endpoint.public(cidrs=[])

    def test_others_in_the_vpc_may_call_the_api_and_nodes_get_nothing_by_that(
        self, stack: cdk.Stack, network: hp.Network
    ) -> None:
        plane(stack, network, endpoint=hp.Endpoint.private(cidrs=["10.20.0.0/16"]))
        template = synthesized(stack)
        (found,) = of_type(template, EKS).values()
        groups = of_type(template, "AWS::EC2::SecurityGroup")
        (callers,) = (name for name in groups if "Callers" in name)
        assert groups[callers]["SecurityGroupIngress"] == [
            {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "10.20.0.0/16"}
        ]
        assert found["ResourcesVpcConfig"]["SecurityGroupIds"] == [
            stack.resolve(network.security_group_ids[0]),
            {"Fn::GetAtt": [callers, "GroupId"]},
        ]
        assert found["ResourcesVpcConfig"]["EndpointPublicAccess"] is False

    @pytest.mark.parametrize("block", ["10.0.0.0/8", "172.16.8.0/24", "192.168.1.1/32"])
    def test_private_blocks_are_not_public(self, block: str) -> None:
        with pytest.raises(hp.InvalidValue, match=f"endpoint is public to {block}, whose addresses are private"):
            hp.Endpoint.public(cidrs=[block])
        hp.Endpoint.public(cidrs=["172.32.0.0/16"])


class TestImported:
    def test_is_known_by_its_arn(self) -> None:
        found = hp.EksControlPlane.from_arn("arn:aws:eks:us-west-2:111122223333:cluster/shared")
        assert (found.cluster_name, found.model, list(found.admins)) == ("shared", None, [])

    def test_may_be_a_token(self, stack: cdk.Stack) -> None:
        given = cdk.CfnParameter(stack, "Arn").value_as_string
        found = hp.EksControlPlane.from_arn(given)
        assert stack.resolve(found.cluster_name) == {"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": "Arn"}]}]}

    def test_must_be_an_arn_of_an_eks_cluster(self) -> None:
        with pytest.raises(hp.InvalidValue, match="cluster_arn is 'shared'; use the ARN of an EKS cluster"):
            hp.EksControlPlane.from_arn("shared")

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"version": "latest"}, "version is 'latest'; use a version of Kubernetes"),
            ({"admins": ["Platform"]}, "admins hold 'Platform'"),
        ],
    )
    def test_what_is_known_of_it_must_be_possible(self, options: dict[str, Any], said: str) -> None:
        with pytest.raises(hp.InvalidValue, match=said):
            hp.EksControlPlane.from_arn("arn:aws:eks:us-west-2:111122223333:cluster/shared", **options)
