import pytest

from hyperpod_constructs.catalog import instances, regions, zones


class TestNames:
    @pytest.mark.parametrize(
        ("text", "is_name"),
        [
            ("us-west-2b", True),
            ("us-gov-west-1a", True),
            ("us-west-2-phx-2a", True),
            ("us-west-2", False),
            ("usw2-az2", False),
            ("US-WEST-2B", False),
            ("", False),
        ],
    )
    def test_have_a_form_of_their_own(self, text: str, is_name: bool) -> None:
        assert zones.is_zone_name(text) is is_name

    @pytest.mark.parametrize(
        ("zone", "region"),
        [
            ("us-west-2b", "us-west-2"),
            ("us-west-2-phx-2a", "us-west-2"),
            ("cn-north-1a", "cn-north-1"),
            ("usw2-az2", "us-west-2"),
            ("usw2-phx2-az1", "us-west-2"),
            ("us-west-9a", None),
            ("us-west-2", None),
        ],
    )
    def test_say_their_region_like_ids(self, zone: str, region: str | None) -> None:
        assert zones.region_of(zone) == region

    @pytest.mark.parametrize(
        ("zone", "group"),
        [
            ("us-west-2-phx-2a", "us-west-2-phx-2"),
            ("usw2-phx2-az1", "us-west-2-phx-2"),
            ("use1-dfw2-az1", "us-east-1-dfw-2"),
            ("us-west-2b", "us-west-2"),
            ("usw2-az2", "us-west-2"),
            ("xyz9-phx2-az1", None),
        ],
    )
    def test_say_which_addresses_can_be_used_there(self, zone: str, group: str | None) -> None:
        assert zones.border_group(zone) == group

    @pytest.mark.parametrize(
        ("zone", "is_local"),
        [("us-west-2-phx-2a", True), ("usw2-phx2-az1", True), ("us-west-2b", False), ("usw2-az2", False), ("", False)],
    )
    def test_tell_local_zones(self, zone: str, is_local: bool) -> None:
        assert zones.is_local(zone) is is_local


class TestLists:
    def test_every_zone_is_one_of_its_region(self) -> None:
        listed = [(region, zone) for region in regions.names() for zone in zones.known(region)]
        assert len(listed) > 80
        assert [zone for region, zone in listed if regions.region_of_zone(zone) != region] == []

    def test_a_region_that_we_do_not_know_has_no_list(self) -> None:
        assert zones.known("us-west-9") == ()

    def test_a_type_is_in_some_of_the_zones(self) -> None:
        assert zones.zones_with("ml.g5.12xlarge", "us-west-2") == ("usw2-az1", "usw2-az2", "usw2-az3")

    def test_a_type_of_which_nothing_is_known_is_in_all_of_them(self) -> None:
        assert zones.zones_with("ml.p9.48xlarge", "us-west-2") == zones.known("us-west-2")

    def test_no_type_is_in_none_of_the_zones_of_a_region(self) -> None:
        everywhere = [(name, region) for name in instances.names() for region in regions.names() if zones.known(region)]
        assert [each for each in everywhere if not zones.zones_with(*each)] == []
