"""What is said of the images of a chart."""

from __future__ import annotations

import pytest

from hyperpod_constructs.model.chart import Chart, ChartImage
from hyperpod_constructs.model.deployment import Deployment
from tests.rules.builders import told

HERE = "111122223333.dkr.ecr.us-west-2.amazonaws.com"
AGENT = "hyperpod-health-monitoring-agent:1.0.1038.0_1.0.305.0"


def of(rule: str, text: str, region: str | None = "us-west-2", *, closed: bool = False) -> list[str]:
    image = ChartImage.parse(text, used_by="DaemonSet aws-hyperpod/agent")
    return told(rule, Deployment(charts=(Chart(path="chart", region=region, images=(image,), closed=closed),)))


class TestImagesHaveNames:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("/agent:1", "which has nothing before its first slash"),
            (".dkr.ecr.us-west-2.amazonaws.com/agent:1", "whose registry has no account"),
            ("111122223333.dkr.ecr..amazonaws.com/agent:1", "whose registry has no Region"),
            ("ghcr.io/<no value>:1", "which is no name of an image"),
        ],
    )
    def test_one_with_a_part_missing_fails(self, text: str, said: str) -> None:
        assert of("HP2301", text) == [
            (
                f"HP2301 DaemonSet aws-hyperpod/agent asks for image {text!r}, {said} | set the chart's value that "
                "names it, or the Region that the chart is rendered for"
            )
        ]
        assert [of(rule, text) for rule in ("HP2302", "HP2303", "HP2304")] == [[], [], []]

    @pytest.mark.parametrize("text", ["agent", "ghcr.io/agent:1", f"{HERE}/agent", f"{HERE}/agent@sha256:{'0' * 64}"])
    def test_whole_names_pass_whatever_the_region(self, text: str) -> None:
        assert of("HP2301", text) + of("HP2301", text, None) == []


class TestImagesAreNear:
    def test_ecr_of_another_region_is_far(self) -> None:
        (said,) = of("HP2302", f"{HERE}/agent:1", "eu-west-1")
        assert f"image '{HERE}/agent:1' in us-west-2, and the cluster is in eu-west-1 | render the chart for" in said

    @pytest.mark.parametrize(
        ("text", "region"), [(f"{HERE}/a:1", "us-west-2"), (f"{HERE}/a:1", None), ("public.ecr.aws/a/b:1", "eu-west-1")]
    )
    def test_is_silent_on_the_same_region_an_unknown_one_and_public_registries(
        self, text: str, region: str | None
    ) -> None:
        assert of("HP2302", text, region) == []


class TestImagesArePinned:
    @pytest.mark.parametrize(("text", "said"), [("a/b", "without a tag"), ("a/b:latest", "by the tag latest")])
    def test_one_that_may_change_is_told(self, text: str, said: str) -> None:
        assert of("HP2303", text) == [
            (
                f"HP2303 DaemonSet aws-hyperpod/agent asks for image {text!r} {said} | set a tag, or better a digest, "
                "with the chart's values"
            )
        ]

    @pytest.mark.parametrize("text", ["a/b:1", f"a/b:latest@sha256:{'0' * 64}", f"a/b@sha256:{'0' * 64}"])
    def test_a_tag_or_a_digest_is_enough(self, text: str) -> None:
        assert of("HP2303", text) == []


class TestAgentsComeFromTheirAccount:
    def test_the_account_of_us_east_1_has_it_nowhere_else(self) -> None:
        (said,) = of("HP2304", f"767398015722.dkr.ecr.ap-southeast-3.amazonaws.com/{AGENT}", "ap-southeast-3")
        assert "in ap-southeast-3; account 767398015722 has it in us-east-1 | take a newer chart" in said

    @pytest.mark.parametrize(
        "text",
        [
            f"767398015722.dkr.ecr.us-east-1.amazonaws.com/{AGENT}",
            f"971422672635.dkr.ecr.ap-southeast-3.amazonaws.com/{AGENT}",
            f"111122223333.dkr.ecr.ap-southeast-3.amazonaws.com/{AGENT}",
            f"ghcr.io/{AGENT}",
        ],
    )
    def test_is_silent_on_its_own_region_and_on_accounts_that_nobody_knows(self, text: str) -> None:
        assert of("HP2304", text, None) == []


class TestImagesOfClosedNetworksAreInEcr:
    @pytest.mark.parametrize(
        ("text", "registry"),
        [("public.ecr.aws/a/b:1", "public.ecr.aws"), ("nginx:1", "docker.io"), ("ghcr.io/a:1", "ghcr.io")],
    )
    def test_no_endpoint_reaches_the_others(self, text: str, registry: str) -> None:
        assert of("HP2305", text, closed=True) == [
            (
                f"HP2305 DaemonSet aws-hyperpod/agent asks for image {text!r} at {registry}, and nothing leads out of "
                "the network but endpoints | copy it to ECR in the cluster's Region and name that repository with "
                "`images`"
            )
        ]
        assert of("HP2305", text) == []

    @pytest.mark.parametrize("region", ["us-west-2", "eu-west-1", None])
    def test_is_silent_on_ecr(self, region: str | None) -> None:
        assert of("HP2305", f"{HERE}/agent:1", region, closed=True) == []
