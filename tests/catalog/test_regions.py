import pytest

from hyperpod_constructs.catalog import regions

NO_GRAFANA = {
    "ap-south-1",
    "ap-south-2",
    "ap-southeast-3",
    "ap-southeast-4",
    "ca-central-1",
    "eu-north-1",
    "eu-south-2",
    "sa-east-1",
    "us-west-1",
}
NO_BUDGETS = {"ap-south-2", "ap-southeast-3", "ap-southeast-4", "eu-north-1", "eu-south-2"}


class TestZones:
    @pytest.mark.parametrize(
        ("zone_id", "region"),
        [
            ("usw2-az2", "us-west-2"),
            ("use1-az6", "us-east-1"),
            ("apne1-az4", "ap-northeast-1"),
            ("usgw1-az1", "us-gov-west-1"),
            ("usw2-phx2-az1", "us-west-2"),
            ("use1-dfw2-az1", "us-east-1"),
        ],
    )
    def test_a_zone_id_says_its_region(self, zone_id: str, region: str) -> None:
        assert regions.region_of_zone(zone_id) == region

    @pytest.mark.parametrize("text", ["us-west-2b", "usw9-az1", "usw2", "usw2-az", "USW2-AZ2", ""])
    def test_anything_else_has_no_region(self, text: str) -> None:
        assert regions.region_of_zone(text) is None

    def test_every_region_is_found_by_its_prefix(self) -> None:
        assert [r for r in regions.names() if regions.region_of_zone(f"{regions.zone_prefix(r)}-az1") != r] == []

    def test_a_region_that_we_do_not_know_has_no_prefix(self) -> None:
        assert regions.zone_prefix("us-west-9") is None

    def test_local_zones_are_told_from_availability_zones(self) -> None:
        assert [regions.is_local_zone(z) for z in ("use1-dfw2-az1", "use1-az1", "us-east-1-dfw-2a")] == [
            True,
            False,
            False,
        ]

    @pytest.mark.parametrize(
        ("text", "is_id"),
        [
            ("usw2-az2", True),
            ("use1-dfw2-az1", True),
            ("us-west-2b", False),
            ("us-gov-west-1a", False),
            ("us-east-1-dfw-2a", False),
            ("us-west-2", False),
        ],
    )
    def test_ids_are_told_from_names(self, text: str, is_id: bool) -> None:
        assert regions.is_zone_id(text) == is_id


class TestPartitions:
    @pytest.mark.parametrize(
        ("region", "partition", "suffix"),
        [
            ("us-west-2", "aws", "amazonaws.com"),
            ("us-gov-west-1", "aws-us-gov", "amazonaws.com"),
            ("cn-north-1", "aws-cn", "amazonaws.com.cn"),
            ("eusc-de-east-1", "aws-eusc", "amazonaws.eu"),
            ("us-iso-east-1", None, None),
            ("nowhere", None, None),
        ],
    )
    def test_partition_and_suffix(self, region: str, partition: str | None, suffix: str | None) -> None:
        assert (regions.partition(region), regions.dns_suffix(region)) == (partition, suffix)


COMMERCIAL = {
    region
    for region in regions.names()
    if regions.partition(region) == "aws" and regions.has_type(region, "AWS::SageMaker::Cluster")
}
"""Regions with HyperPod."""


class TestCloudFormationTypes:
    def test_nineteen_commercial_regions_have_hyperpod(self) -> None:
        assert len(COMMERCIAL) == 19
        assert {"us-east-1", "us-west-2", "ap-southeast-4"} <= COMMERCIAL

    @pytest.mark.parametrize(
        ("type_name", "missing"), [("AWS::Grafana::Workspace", NO_GRAFANA), ("AWS::Budgets::Budget", NO_BUDGETS)]
    )
    def test_hyperpod_regions_without_a_type(self, type_name: str, missing: set[str]) -> None:
        assert {region for region in COMMERCIAL if not regions.has_type(region, type_name)} == missing

    def test_what_has_no_list_is_unknown(self) -> None:
        assert regions.has_type("us-east-1", "AWS::SageMaker::Cluster") is True
        assert regions.has_type("us-gov-west-1", "AWS::SageMaker::Cluster") is False
        assert regions.has_type("us-east-1", "AWS::Made::Up") is None
        assert regions.has_type("us-west-9", "AWS::SageMaker::Cluster") is None
