from __future__ import annotations

from typing import Any

import aws_cdk as cdk
import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.model.chart import ChartImage

ECR = "111122223333.dkr.ecr.us-west-2.amazonaws.com"


class TestHelmChart:
    def test_of_somebody_else_has_no_folder(self) -> None:
        assert (hp.HelmChart.installed_elsewhere().elsewhere, hp.HelmChart.directory("x").elsewhere) == (True, False)

    def test_values_may_be_known_at_deploy_only(self) -> None:
        assert hp.HelmChart.directory("x", values={"a": [cdk.Aws.REGION, 1, True, None]}).values["a"]

    def test_a_folder_that_is_none_is_said_to_be(self) -> None:
        with pytest.raises(hp.InvalidValue, match="chart: path is 5, an int"):
            hp.HelmChart.directory(5)  # type: ignore[arg-type]  # the point of the test

    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({"values": {"a": 1}}, "somebody else installs has images or values; give them to whoever"),
            ({"path": " "}, "path is empty"),
            ({"path": 5}, "chart: path is 5, an int; use text or None"),
            ({"path": "x", "images": {"a": 1}}, r"chart: images\['a'\] is 1, an int"),
            ({"path": "x", "images": {"a/b:1": f"{ECR}/b"}}, "'a/b:1' has a tag or a digest; leave it out"),
            ({"path": "x", "images": {"a/b": f"{ECR}/b@sha256:0"}}, "has a tag or a digest"),
            ({"path": "x", "images": {"A B": f"{ECR}/b"}}, "'A B' is no repository; use one such as registry.k8s.io"),
            ({"path": "x", "images": {"a/b": ""}}, "'' is no repository"),
            ({"path": "x", "images": {"a/b": "mine/b"}}, "replaced by 'mine/b', which names no registry; write the"),
            ({"path": "x", "images": {"a/b": f"{cdk.Aws.ACCOUNT_ID}.x/b"}}, "known only at deploy"),
            ({"path": "x", "values": {"a": object()}}, "values are no JSON"),
            ({"path": "x", "values": {"a": float("nan")}}, "values are no JSON"),
        ],
    )
    def test_what_can_never_be_right_says_what_to_do(self, fields: dict[str, Any], said: str) -> None:
        with pytest.raises(hp.InvalidValue, match=said):
            hp.HelmChart(**fields)


class TestChartImage:
    @pytest.mark.parametrize(
        ("text", "registry", "repository", "tag", "digest"),
        [
            ("nginx", "docker.io", "library/nginx", None, None),
            ("nginx:1.27", "docker.io", "library/nginx", "1.27", None),
            ("docker.io/nginx", "docker.io", "library/nginx", None, None),
            ("index.docker.io/a/b", "docker.io", "a/b", None, None),
            ("mpioperator/mpi-operator:0.5", "docker.io", "mpioperator/mpi-operator", "0.5", None),
            ("localhost/a", "localhost", "a", None, None),
            ("localhost:5000/a:1", "localhost:5000", "a", "1", None),
            ("host:5000/a", "host:5000", "a", None, None),
            (f"r.io/a/b:1@sha256:{'0' * 64}", "r.io", "a/b", "1", f"sha256:{'0' * 64}"),
            ("[::1]:5000/a", "[::1]:5000", "a", None, None),
        ],
    )
    def test_is_taken_apart_as_docker_does(
        self, text: str, registry: str, repository: str, tag: str | None, digest: str | None
    ) -> None:
        image = ChartImage.parse(text)
        assert (image.registry, image.repository, image.tag, image.digest) == (registry, repository, tag, digest)

    @pytest.mark.parametrize(
        ("registry", "account", "region"),
        [
            (ECR, "111122223333", "us-west-2"),
            ("111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn", "111122223333", "cn-north-1"),
            ("111122223333.dkr.ecr-fips.us-gov-west-1.amazonaws.com", "111122223333", "us-gov-west-1"),
            (".dkr.ecr.us-west-2.amazonaws.com", "", "us-west-2"),
            ("111122223333.dkr.ecr..amazonaws.com", "111122223333", ""),
            ("public.ecr.aws", None, None),
            ("ghcr.io", None, None),
        ],
    )
    def test_knows_account_and_region_of_ecr(self, registry: str, account: str | None, region: str | None) -> None:
        image = ChartImage.parse(f"{registry}/a:1")
        assert (image.account, image.region) == (account, region)

    @pytest.mark.parametrize(
        "text",
        [
            *("/name:1", "", ":1", "r.io/", "r.io/a:", "r.io/a@sha256:0", "r.io/A", "a b", "{{ .image }}", "-r.io/a"),
            *(".dkr.ecr.us-west-2.amazonaws.com/a", "1.dkr.ecr..amazonaws.com/a", "%!s(<nil>)/a:1", "r.io//a"),
        ],
    )
    def test_says_what_no_runtime_takes(self, text: str) -> None:
        assert not ChartImage.parse(text).is_well_formed

    @pytest.mark.parametrize("text", ["nginx", "r.io:5000/a/b_c:v1", f"{ECR}/a@sha256:{'0' * 64}", "r.io/a--b:1_0.2"])
    def test_takes_all_else(self, text: str) -> None:
        assert ChartImage.parse(text).is_well_formed
