from __future__ import annotations

import pytest

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart import dependencies, metadata
from tests.charts import small


def lacking(files: dict[str, bytes]) -> list[str]:
    return [str(each) for each in dependencies.missing(dependencies.unpacked(files))]


class TestMissing:
    def test_nothing_is_where_all_lie_in_charts_whatever_their_folders_are_called(self) -> None:
        assert lacking(small.complete()) == []

    def test_one_that_is_not_there_is_named(self) -> None:
        files = small.complete()
        del files["charts/plugin-1.2.3.tgz"]
        assert lacking(files) == ["plugin ~1.2"]

    def test_a_local_one_counts_too(self) -> None:
        files = {name: content for name, content in small.complete().items() if "an-agent" not in name}
        assert lacking(files) == ["agent 0.1.0"]

    def test_another_version_counts_as_not_there(self) -> None:
        files = {**small.complete(), **small.below("charts/an-agent", small.one("agent", "0.2.0", "a:1"))}
        assert lacking(files) == ["agent 0.1.0 (charts/ has 0.2.0)"]

    @pytest.mark.parametrize("wanted", ["v0.1.0", "0.1.x", "^0.1", "'>=0.1 <0.2'", "'0.1 || 0.2'", "''"])
    def test_a_range_is_enough_and_one_that_is_not_understood_is_no_mistake(self, wanted: str) -> None:
        needs = f"{{name: agent, version: {wanted}}}"
        files = {"Chart.yaml": small.chart_yaml("small", "1.0.0", needs)}
        assert lacking({**files, **small.below("charts/a", small.one("agent", "0.1.0", "a:1"))}) == []

    def test_those_of_a_chart_in_it_are_told_and_not_refused(self) -> None:
        deep = small.below("charts/an-agent", small.one("agent", "0.1.0", "a:1", "{name: keda, version: 2.17.1}"))
        files = dependencies.unpacked({**small.complete(), **deep})
        assert lacking(files) == ["keda 2.17.1 of charts/an-agent"]
        dependencies.check_complete(files, "chart")

    @pytest.mark.parametrize("name", ["_a", ".a"])
    def test_folders_that_helm_passes_over_do_not_count(self, name: str) -> None:
        files = {"Chart.yaml": small.chart_yaml("small", "1.0.0", "{name: agent, version: 0.1.0}")}
        assert lacking({**files, **small.below(f"charts/{name}", small.one("agent", "0.1.0", "a:1"))}) == [
            "agent 0.1.0"
        ]


class TestCheckComplete:
    def test_names_all_and_says_what_to_do(self) -> None:
        files = {"Chart.yaml": small.chart_yaml("small", "1.0.0", "{name: a, version: 1.0.0}", "{name: b, version: 2}")}
        with pytest.raises(InvalidValue, match=r"chart: DIR lacks a 1\.0\.0, b 2 in charts/.*`hyperpod chart fetch`"):
            dependencies.check_complete(files, "DIR")


class TestUnpacked:
    def test_a_packed_chart_becomes_a_folder_at_any_depth(self) -> None:
        inner = small.packed(small.below("inner", small.one("inner", "1.0.0", "a:1")))
        outer = small.packed(small.below("outer", {**small.one("outer", "1.0.0", "a:1"), "charts/i.tgz": inner}))
        files = dependencies.unpacked({"Chart.yaml": small.chart_yaml("small", "1.0.0"), "charts/o.tgz": outer})
        assert "charts/outer/charts/inner/templates/deployment.yaml" in files
        assert not any(name.endswith(".tgz") for name in files)

    def test_a_folder_of_the_same_name_is_one_too_many(self) -> None:
        files = {**small.complete(), **small.below("charts/plugin", small.one("plugin", "1.2.3", "a:1"))}
        with pytest.raises(
            InvalidValue, match=r"plugin-1\.2\.3\.tgz and the folder charts/plugin/ are one chart twice"
        ):
            dependencies.unpacked(files)

    def test_a_packed_chart_that_is_not_safe_is_refused_by_name(self) -> None:
        with pytest.raises(InvalidValue, match=r"charts/plugin-1\.2\.3\.tgz: '\.\./x' lies outside"):
            dependencies.unpacked({**small.complete(), "charts/plugin-1.2.3.tgz": small.packed({"../x": b""})})

    def test_charts_within_charts_end_somewhere(self) -> None:
        files = {"Chart.yaml": small.chart_yaml("a", "1.0.0")}
        files |= {f"{'charts/a/' * depth}Chart.yaml": files["Chart.yaml"] for depth in range(1, 12)}
        with pytest.raises(InvalidValue, match="in more than 8 charts"):
            dependencies.unpacked(files)


class TestCharts:
    @pytest.mark.parametrize("name", ["charts/README.md", "charts/an-agent/charts/notes"])
    def test_what_helm_would_take_for_a_chart_is_refused(self, name: str) -> None:
        with pytest.raises(InvalidValue, match=f"{name} is no chart"):
            lacking({**small.complete(), name: b"x"})

    def test_signatures_of_packed_charts_are_passed_over(self) -> None:
        assert lacking({**small.complete(), "charts/plugin-1.2.3.tgz.prov": b"x"}) == []

    def test_a_folder_without_a_chart_is_refused(self) -> None:
        with pytest.raises(InvalidValue, match=r"there is no charts/x/Chart\.yaml"):
            lacking({**small.complete(), "charts/x/values.yaml": b""})


class TestMetadata:
    @pytest.mark.parametrize("content", [b"- a\n", b"a: [\n", b"name: x\n", b"\xff\xfe\x00"])
    def test_what_is_no_chart_yaml_is_refused(self, content: bytes) -> None:
        with pytest.raises(InvalidValue, match=r"Chart\.yaml"):
            metadata.of_chart({"Chart.yaml": content})

    def test_a_version_is_text_however_it_looks(self) -> None:
        assert metadata.of_chart({"Chart.yaml": b"name: on\nversion: 1.10\n"}).version == "1.10"

    def test_a_lock_of_helm_gives_versions(self) -> None:
        files = {"Chart.lock": b"dependencies:\n- {name: a, version: 1.10.0, repository: 'https://x'}\n"}
        assert (metadata.locked(files), metadata.locked({})) == ({"a": "1.10.0"}, {})
