from functools import cache

import pytest
from botocore.session import Session

from hyperpod_constructs.catalog import instances, limits
from hyperpod_constructs.catalog.limits import Limit, Quota, Text


@cache
def model(service: str) -> object:
    return Session().get_service_model(service)


def metadata(service: str, shape: str) -> dict[str, object]:
    return model(service).shape_for(shape).metadata  # type: ignore[attr-defined,no-any-return]  # botocore has no types


class TestAgainstTheApi:
    @pytest.mark.parametrize(
        ("ours", "shape"),
        [
            (limits.GROUPS, "ClusterInstanceGroupSpecifications"),
            (limits.INSTANCE_COUNT, "ClusterInstanceCount"),
            (limits.FLEXIBLE_TYPES, "ClusterInstanceTypes"),
            (limits.SECURITY_GROUPS, "VpcSecurityGroupIds"),
            (limits.SUBNETS, "Subnets"),
            (limits.THREADS_PER_CORE, "ClusterThreadsPerCore"),
            (limits.ROLLBACK_ALARMS, "AutoRollbackAlarms"),
            (limits.ROLLING_WAIT_SECONDS, "WaitTimeIntervalInSeconds"),
            (limits.VOLUME_GB, "ClusterEbsVolumeSizeInGB"),
        ],
    )
    def test_limits_are_those_of_the_installed_model(self, ours: Limit, shape: str) -> None:
        theirs = metadata("sagemaker", shape)
        assert (ours.low, ours.high) == (theirs["min"], theirs["max"]), "the API has changed: update catalog/limits.py"

    @pytest.mark.parametrize("shape", ["ClusterName", "ClusterInstanceGroupName"])
    def test_names_are_those_of_the_installed_model(self, shape: str) -> None:
        ours, theirs = limits.NAME, metadata("sagemaker", shape)
        assert (ours.pattern, ours.low, ours.high) == (theirs["pattern"], theirs["min"], theirs["max"])

    def test_plan_types_can_be_searched_and_exist(self) -> None:
        searchable = set(model("sagemaker").shape_for("ReservedCapacityInstanceType").enum)  # type: ignore[attr-defined]  # botocore has no types
        assert set(limits.PLAN_TYPES) <= searchable & set(instances.names())

    def test_budget_limits_are_within_those_of_the_installed_model(self) -> None:
        assert limits.BUDGET_NOTIFICATIONS.high <= metadata("budgets", "NotificationWithSubscribersList")["max"]  # type: ignore[operator]  # a number
        assert limits.BUDGET_EMAILS.high + limits.BUDGET_TOPICS.high == metadata("budgets", "Subscribers")["max"]


class TestLimit:
    def test_both_ends_are_included(self) -> None:
        allowed = [limits.INSTANCE_COUNT.allows(count) for count in (-1, 0, 6758, 6759)]
        assert allowed == [False, True, True, False]

    def test_the_guides_limit_on_groups_is_lower_than_the_apis(self) -> None:
        assert (limits.GROUPS_IN_GUIDES.high, limits.GROUPS.high) == (20, 100)


class TestText:
    @pytest.mark.parametrize("name", ["a", "gpu-workers", "A--1", "x" * 63])
    def test_names_are_words_with_hyphens(self, name: str) -> None:
        assert limits.NAME.allows(name)

    @pytest.mark.parametrize("name", ["", "-a", "a-", "gpu_workers", "gpu workers", "x" * 64])
    def test_other_names_are_refused(self, name: str) -> None:
        assert not limits.NAME.allows(name)


class TestQuotas:
    def test_p5_has_the_code_that_two_sources_give(self) -> None:
        quota = limits.cluster_usage_quota("ml.p5.48xlarge")
        assert (quota.name, quota.code, quota.service) == (
            "ml.p5.48xlarge for cluster usage",
            "L-8762A75F",
            "sagemaker",
        )
        assert quota.seen == (0, 2)

    def test_a_type_without_a_seen_code_still_has_its_name(self) -> None:
        quota = limits.cluster_usage_quota("ml.g5.xlarge")
        assert (quota.name, quota.code, quota.seen) == ("ml.g5.xlarge for cluster usage", None, ())

    def test_spot_asks_for_two_quotas(self) -> None:
        assert limits.spot_usage_quota("ml.p5.48xlarge").name == "ml.p5.48xlarge for cluster spot instance usage"
        assert limits.SPOT_INSTANCES_IN_ALL_CLUSTERS.seen == (0,)

    def test_reserved_capacity_has_the_values_seen(self) -> None:
        quota = limits.reserved_capacity_quota("ml.p6-b200.48xlarge")
        assert quota.name == (
            "Number of ml.p6-b200.48xlarge instances in reserved capacity across training plans per Region"
        )
        assert (quota.seen, quota.code) == ((8,), None)

    def test_no_two_quotas_share_a_code(self) -> None:
        quotas = [value for value in vars(limits).values() if isinstance(value, Quota)]
        quotas += [limits.cluster_usage_quota(name) for name in instances.names()]
        quotas += [limits.spot_usage_quota("ml.p5.48xlarge"), limits.reserved_capacity_quota("ml.p5.48xlarge")]
        codes = [quota.code for quota in quotas if quota.code]
        assert len(codes) == len(set(codes)) == 18

    def test_codes_belong_to_types_that_exist(self) -> None:
        assert set(limits._CLUSTER_USAGE_CODES) | set(limits._RESERVED_SEEN) <= set(instances.names())


def test_everything_names_its_source() -> None:
    stated = [value for value in vars(limits).values() if isinstance(value, Limit | Text | Quota)]
    assert len(stated) > 15
    assert [value for value in stated if not value.source] == []
