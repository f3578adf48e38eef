"""What each reader makes of an answer, and of those of AWS that differ between services."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_constructs.account.gateway import Session
from hyperpod_constructs.account.gateway.ec2 import Ec2, LiveRule
from hyperpod_constructs.account.gateway.eks import Eks
from hyperpod_constructs.account.gateway.fsx import Fsx
from hyperpod_constructs.account.gateway.identity import Identity
from hyperpod_constructs.account.gateway.identity_center import IdentityCenter
from hyperpod_constructs.account.gateway.names import Buckets, Parameters, Roles
from hyperpod_constructs.account.gateway.quotas import ServiceQuotas
from hyperpod_constructs.account.gateway.resolver import Resolver
from hyperpod_constructs.account.gateway.stacks import Stacks
from hyperpod_constructs.account.gateway.use import ClustersInUse
from hyperpod_constructs.errors import AccountError, AccountUnavailable, NotAllowed, NotInAccount
from tests.account.fake_account import ACCOUNT, FakeAccount, Refused
from tests.account.planted import NOW

LUSTRE = "fs-0123456789abcdef0"
READERS = [
    (lambda session: session.open(Identity).account(), "sts:GetCallerIdentity"),
    (lambda session: session.open(Ec2).subnets(["subnet-1"]), "ec2:DescribeSubnets"),
    (lambda session: session.open(Ec2).zones(), "ec2:DescribeAvailabilityZones"),
    (lambda session: session.open(Ec2).count_addresses(), "ec2:DescribeAddresses"),
    (lambda session: session.open(Ec2).count_interfaces(), "ec2:DescribeNetworkInterfaces"),
    (lambda session: session.open(Fsx).file_systems([LUSTRE]), "fsx:DescribeFileSystems"),
    (lambda session: session.open(Eks).cluster("research"), "eks:DescribeCluster"),
    (lambda session: session.open(Roles).exists("nodes"), "iam:GetRole"),
    (lambda session: session.open(Parameters).value("/x"), "ssm:GetParameter"),
    (lambda session: session.open(IdentityCenter).instances(), "sso:ListInstances"),
    (lambda session: session.open(Resolver).forwarded("vpc-1"), "route53resolver:ListResolverRuleAssociations"),
    (lambda session: session.open(ServiceQuotas).of_service("vpc"), "servicequotas:ListAWSDefaultServiceQuotas"),
    (lambda session: session.open(Stacks).stack("Train"), "cloudformation:DescribeStacks"),
    (lambda session: session.open(Stacks).resources("Train"), "cloudformation:ListStackResources"),
    (lambda session: session.open(Stacks).has_type("AWS::SNS::Topic"), "cloudformation:DescribeType"),
    (lambda session: session.open(ClustersInUse).all(), "sagemaker:ListClusters"),
]
DENIED = ["AccessDenied", "AccessDeniedException", "AuthorizationError", "UnauthorizedOperation"]
EXPIRED = ["ExpiredToken", "ExpiredTokenException", "RequestExpired"]


@pytest.fixture(scope="module")
def _fake() -> Iterator[FakeAccount]:
    with FakeAccount() as account:
        yield account


@pytest.fixture
def account(_fake: FakeAccount) -> FakeAccount:
    _fake.answers.clear()
    return _fake


@pytest.fixture
def session(account: FakeAccount) -> Session:
    return account.session()


def refusing(account: FakeAccount, permission: str, code: str, status: int = 400) -> None:
    operation = permission.partition(":")[2]

    def answer(_: object) -> Any:
        raise Refused(code, "as AWS says", status)

    account.answers[operation] = answer


@pytest.mark.parametrize(("read", "permission"), READERS, ids=[permission for _, permission in READERS])
class TestAnError:
    @pytest.mark.parametrize("code", DENIED)
    def test_of_a_missing_permission_names_it(
        self, account: FakeAccount, session: Session, read: Any, permission: str, code: str
    ) -> None:
        refusing(account, permission, code)
        with pytest.raises(NotAllowed, match=f"no permission for {permission} in us-west-2") as caught:
            read(session)
        assert caught.value.permission == permission

    @pytest.mark.parametrize("code", ["AuthFailure", "OptInRequired", "UnrecognizedClientException"])
    def test_of_a_region_that_is_not_opted_in_to_says_so(
        self, account: FakeAccount, session: Session, read: Any, permission: str, code: str
    ) -> None:
        refusing(account, permission, code)
        with pytest.raises(AccountError, match="they are wrong, or the Region is not enabled for the account"):
            read(session)

    @pytest.mark.parametrize("code", ["RequestLimitExceeded", "ThrottlingException", "TooManyRequestsException"])
    def test_of_throttling_may_pass(
        self, account: FakeAccount, session: Session, read: Any, permission: str, code: str
    ) -> None:
        refusing(account, permission, code)
        with pytest.raises(AccountUnavailable, match=f"AWS throttles {permission}"):
            read(session)


@pytest.mark.parametrize("code", EXPIRED)
def test_credentials_that_expired_are_said_to_have_whatever_the_word_of_the_service(
    account: FakeAccount, session: Session, code: str
) -> None:
    refusing(account, "ec2:DescribeAvailabilityZones", code)
    with pytest.raises(AccountError, match="the AWS credentials have expired: sign in again"):
        session.open(Ec2).zones()


class TestAbsence:
    @pytest.mark.parametrize(
        ("refused", "read", "expected"),
        [
            (
                ("cloudformation:DescribeType", "TypeNotFoundException"),
                lambda s: s.open(Stacks).has_type("AWS::Grafana::Workspace"),
                False,
            ),
            (("iam:GetRole", "NoSuchEntity"), lambda s: s.open(Roles).exists("nodes"), False),
            (("ssm:GetParameter", "ParameterNotFound"), lambda s: s.open(Parameters).value("/x"), None),
            (("s3:HeadBucket", "404"), lambda s: s.open(Buckets).taken("x"), None),
            (("s3:HeadBucket", "403"), lambda s: s.open(Buckets).taken("x"), "others"),
            (
                ("fsx:DescribeFileSystems", "FileSystemNotFound"),
                lambda s: s.open(Fsx).file_systems(["fs-01234567890"]),
                {},
            ),
        ],
    )
    def test_is_an_answer(
        self, account: FakeAccount, session: Session, refused: tuple[str, str], read: Any, expected: object
    ) -> None:
        refusing(account, *refused)
        assert read(session) == expected

    def test_of_a_stack_is_said_in_words(self, account: FakeAccount, session: Session) -> None:
        def answer(_: object) -> Any:
            raise Refused("ValidationError", "Stack with id Train does not exist")

        account.answers |= {"DescribeStacks": answer, "ListStackResources": answer}
        assert session.open(Stacks).stack("Train") is None
        assert session.open(Stacks).resources("Train") == {}

    def test_of_an_eks_cluster_names_it(self, account: FakeAccount, session: Session) -> None:
        refusing(account, "eks:DescribeCluster", "ResourceNotFoundException")
        with pytest.raises(NotInAccount, match="there is no EKS cluster research in us-west-2"):
            session.open(Eks).cluster("research")

    def test_of_what_a_list_leaves_out_is_no_absence(self, account: FakeAccount, session: Session) -> None:
        refusing(account, "sso:ListInstances", "ResourceNotFoundException")
        with pytest.raises(AccountError) as caught:
            session.open(IdentityCenter).instances()
        assert not isinstance(caught.value, NotInAccount)


class TestSession:
    def test_makes_one_client_for_each_service_and_region(self, session: Session) -> None:
        here, again, there = session.open(Ec2), session.open(Ec2), session.open(Ec2, "eu-north-1")
        assert here._client is again._client
        assert (here.region, there.region) == ("us-west-2", "eu-north-1")


class TestQuotas:
    def test_that_are_applied_count_before_defaults(self, account: FakeAccount, session: Session) -> None:
        default = {"QuotaName": "VPCs per Region", "QuotaCode": "L-1", "Value": 5, "Adjustable": True}
        account.answers["ListAWSDefaultServiceQuotas"] = lambda _: {"Quotas": [default, {"QuotaName": "No value"}]}
        account.answers["ListServiceQuotas"] = lambda _: {"Quotas": [{**default, "Value": 50}]}
        found = session.open(ServiceQuotas).of_service("vpc")
        assert {name: quota.value for name, quota in found.items()} == {"VPCs per Region": 50}


class TestSecurityGroups:
    def test_have_one_rule_for_each_peer(self, account: FakeAccount, session: Session) -> None:
        permission = {
            "IpProtocol": "tcp",
            "FromPort": 988,
            "ToPort": 988,
            "UserIdGroupPairs": [{"GroupId": "sg-2"}],
            "IpRanges": [{"CidrIp": "10.0.0.0/8"}],
            "Ipv6Ranges": [{"CidrIpv6": "::/0"}],
            "PrefixListIds": [{"PrefixListId": "pl-1"}],
        }
        group = {"GroupId": "sg-1", "OwnerId": ACCOUNT, "IpPermissions": [permission]}
        account.answers["DescribeSecurityGroups"] = lambda _: {"SecurityGroups": [group]}
        rules = session.open(Ec2).security_groups(["sg-1"])["sg-1"].rules
        assert [(rule.group, rule.cidr, rule.prefix_list) for rule in rules] == [
            ("sg-2", None, None),
            (None, "10.0.0.0/8", None),
            (None, "::/0", None),
            (None, None, "pl-1"),
        ]

    @pytest.mark.parametrize(
        ("protocol", "ports", "covered"),
        [
            ("-1", (None, None), True),
            ("tcp", (None, None), True),
            ("tcp", (988, 988), True),
            ("tcp", (989, 1023), False),
            ("tcp", (0, 987), False),
            ("udp", (988, 988), False),
        ],
    )
    def test_cover_a_port_or_not(self, protocol: str, ports: tuple[int | None, int | None], *, covered: bool) -> None:
        rule = LiveRule(direction="ingress", protocol=protocol, from_port=ports[0], to_port=ports[1])
        assert rule.covers("tcp", 988) is covered


class TestEndpoints:
    def test_that_do_not_work_yet_do_not_count(self, account: FakeAccount, session: Session) -> None:
        endpoint = {"VpcEndpointId": "vpce-1", "VpcId": "vpc-1", "ServiceName": "com.amazonaws.us-west-2.ecr.api"}
        listed = [{**endpoint, "State": "Available"}, {**endpoint, "State": "pending"}]
        account.answers["DescribeVpcEndpoints"] = lambda _: {"VpcEndpoints": listed}
        assert [each.service for each in session.open(Ec2).endpoints(["vpc-1"])] == ["ecr.api"]


class TestNothing:
    def test_is_asked_for_no_ids(self, account: FakeAccount, session: Session) -> None:
        account.called.clear()
        assert session.open(Ec2).subnets([]) == {}
        assert account.called == []


class TestStacks:
    def test_have_made_what_they_have_not_deleted(self, account: FakeAccount, session: Session) -> None:
        common = {"ResourceType": "A::B::C", "LastUpdatedTimestamp": NOW}
        listed = [
            {**common, "LogicalResourceId": "A", "PhysicalResourceId": "a", "ResourceStatus": "CREATE_COMPLETE"},
            {**common, "LogicalResourceId": "B", "PhysicalResourceId": "b", "ResourceStatus": "DELETE_COMPLETE"},
            {**common, "LogicalResourceId": "C", "ResourceStatus": "CREATE_IN_PROGRESS"},
        ]
        account.answers["ListStackResources"] = lambda _: {"StackResourceSummaries": listed}
        assert session.open(Stacks).resources("Train") == {"A": "a"}


class TestClustersInUse:
    def test_have_restricted_groups_too_and_not_those_that_went(self, account: FakeAccount, session: Session) -> None:
        arn = f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:cluster/x"
        summary = {"ClusterArn": arn, "CreationTime": NOW, "ClusterStatus": "InService"}
        names = ("here", "gone")
        account.answers["ListClusters"] = lambda _: {
            "ClusterSummaries": [{**summary, "ClusterName": name} for name in names]
        }

        def describe(asked: Any) -> Any:
            if asked["ClusterName"] == "gone":
                raise Refused("ResourceNotFound")
            group = {"InstanceGroupName": "nova", "InstanceType": "ml.p5.48xlarge", "CurrentCount": 4, "TargetCount": 2}
            return {
                "ClusterArn": arn,
                "ClusterStatus": "InService",
                "InstanceGroups": [],
                "RestrictedInstanceGroups": [group],
            }

        account.answers["DescribeCluster"] = describe
        (use,) = session.open(ClustersInUse).all()
        assert (use.name, [group.instances for group in use.groups]) == ("here", [4])
