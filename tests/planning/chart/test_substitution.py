from __future__ import annotations

from pathlib import Path

import pytest

import hyperpod_constructs as hp
from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning import chart
from hyperpod_constructs.planning.chart import files
from hyperpod_constructs.planning.chart.substitution import substituted
from tests.charts import small

NFD, MINE = "registry.k8s.io/nfd/node-feature-discovery", "111122223333.dkr.ecr.us-west-2.amazonaws.com/nfd"


def after(text: str, **images: str) -> str:
    replaced = {name.replace("_", "/"): new for name, new in images.items()}
    return substituted({"values.yaml": text.encode()}, replaced)["values.yaml"].decode()


class TestSubstituted:
    @pytest.mark.parametrize("text", ["a/b", "a/b:1", "a/b@sha256:0", "'a/b'", '"a/b:{{ .tag }}"', "x=a/b", "a/b."])
    def test_a_repository_is_replaced_and_its_tag_stays(self, text: str) -> None:
        assert after(f"image: {text}\n", a_b="r.io/c") == f"image: {text.replace('a/b', 'r.io/c')}\n"

    @pytest.mark.parametrize("text", ["x/a/b", "a/bc", "a/b/c", "a/b-c", "xa/b", "https://a/b", "a/b.c"])
    def test_a_part_of_another_is_not(self, text: str) -> None:
        assert after(f"image: a/b\nother: {text}\n", a_b="r.io/c") == f"image: r.io/c\nother: {text}\n"

    def test_what_was_put_in_is_not_replaced_again(self) -> None:
        assert after("a/b c/d", a_b="c/d", c_d="a/b") == "c/d a/b"

    def test_one_that_begins_another_is_told_from_it(self) -> None:
        assert after("a/b:1 a/b/c:1", a_b="x.io/1", a_b_c="x.io/2") == "x.io/1:1 x.io/2:1"

    def test_one_that_occurs_nowhere_is_refused_with_what_is_near(self) -> None:
        with pytest.raises(InvalidValue, match=f"occurs nowhere in it; did you mean {NFD}\\?.*`values`"):
            substituted(small.complete(), {"registry.k8s.io/nfd/node-features-discovery": MINE})

    def test_one_that_only_texts_for_people_name_occurs_nowhere(self) -> None:
        with pytest.raises(InvalidValue, match="occurs nowhere"):
            substituted({"README.md": b"a/b", "Chart.yaml": b"home: a/b"}, {"a/b": "r.io/c"})

    def test_what_is_no_text_stays(self) -> None:
        assert substituted({"icon": b"\xff a/b", "x": b"a/b"}, {"a/b": "r.io/c"}) == {
            "icon": b"\xff a/b",
            "x": b"r.io/c",
        }


class TestPublish:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        files.write(small.complete(), tmp_path / "chart")
        return tmp_path / "chart"

    def test_the_same_chart_gives_the_same_bytes_and_packed_charts_are_changed_too(
        self, folder: Path, tmp_path: Path
    ) -> None:
        given = hp.HelmChart.directory(folder, images={NFD: MINE, "nvcr.io/nvidia/plugin": f"{MINE}/plugin"})
        digests = {chart.publish(given, tmp_path / name) for name in ("one", "two")}
        assert len(digests) == 1
        assert chart.digest(files.read(tmp_path / "one")) in digests
        plugin = (tmp_path / "two" / "charts" / "plugin" / "templates" / "deployment.yaml").read_text()
        assert f'image: "{MINE}/plugin:v1"' in plugin
        assert not list((tmp_path / "two").rglob("*.tgz"))

    def test_without_images_nothing_but_the_packing_changes(self, folder: Path) -> None:
        assert chart.prepared(hp.HelmChart.directory(folder)) == chart.load(folder)

    def test_a_chart_that_is_not_complete_is_refused(self, folder: Path, tmp_path: Path) -> None:
        (folder / "charts" / "plugin-1.2.3.tgz").unlink()
        with pytest.raises(InvalidValue, match=r"lacks plugin ~1\.2 in charts/"):
            chart.publish(hp.HelmChart.directory(folder), tmp_path / "one")
        assert not (tmp_path / "one").exists()

    def test_there_is_nothing_to_publish_of_one_that_somebody_else_installs(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidValue, match="nothing to publish"):
            chart.publish(hp.HelmChart.installed_elsewhere(), tmp_path)


class TestValuesFor:
    def test_has_the_region(self) -> None:
        assert chart.values_for(hp.HelmChart.directory("x"), "eu-west-1") == {
            "global": {"region": "eu-west-1"},
            "health-monitoring-agent": {"region": "eu-west-1"},
        }

    def test_the_users_own_come_first(self) -> None:
        values = {"global": {"region": "us-east-1", "x": 1}, "mlflow": {"enabled": True}}
        found = chart.values_for(hp.HelmChart.directory("x", values=values), "eu-west-1")
        assert found == {**values, "health-monitoring-agent": {"region": "eu-west-1"}}
