from __future__ import annotations

import pytest

from hyperpod_constructs.errors import InvalidValue
from hyperpod_constructs.planning.chart import images


def found(*lines: str) -> list[str]:
    return [image.text for image in images.in_manifests({"a.yaml": "\n".join(lines)})]


class TestInManifests:
    def test_containers_of_every_kind_in_whatever_holds_a_pod(self) -> None:
        assert found(
            "kind: CronJob",
            "spec: {jobTemplate: {spec: {template: {spec: {",
            "  initContainers: [{image: a:1}], containers: [{image: b:1}], ephemeralContainers: [{image: c:1}]}}}}}",
        ) == ["a:1", "b:1", "c:1"]

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("{image: 'r.io/a:1'}", "r.io/a:1"),
            ("{image: {repository: r.io/a, tag: 1.10}}", "r.io/a:1.10"),
            ("{image: {registry: r.io, repository: a, tag: v1, digest: 'sha256:00'}}", "r.io/a:v1@sha256:00"),
            ("{repository: nvcr.io/nvidia, image: driver, version: 550.1}", "nvcr.io/nvidia/driver:550.1"),
            ("{repository: nvcr.io/nvidia, image: driver, version: 'sha256:aa'}", "nvcr.io/nvidia/driver@sha256:aa"),
        ],
    )
    def test_custom_resources_write_them_in_several_ways(self, value: str, text: str) -> None:
        assert found("kind: ClusterPolicy", f"spec: {{x: {value}}}") == [text]

    @pytest.mark.parametrize("value", ["", "null", "''", "{type: object}", "[1]"])
    def test_what_is_no_image_is_passed_over(self, value: str) -> None:
        assert found("kind: ClusterPolicy", f"spec: {{image: {value}}}") == []

    def test_a_schema_has_a_property_of_that_name_and_no_image(self) -> None:
        assert found("kind: CustomResourceDefinition", "spec: {image: {repository: a/b}}") == []

    def test_lists_and_several_documents_are_read_and_one_is_listed_once_by_its_user(self) -> None:
        pod = "{kind: Pod, metadata: {name: p, namespace: n}, spec: {containers: [{image: a}, {image: a}]}}"
        read = images.in_manifests(
            {"a.yaml": f"---\n---\n{pod}\n---\nkind: List\nitems: [{pod.replace('p,', 'q,')}]\n"}
        )
        assert [(image.text, image.used_by) for image in read] == [("a", "Pod n/p"), ("a", "Pod n/q")]

    def test_an_equals_sign_is_text(self) -> None:
        """PyYAML's safe loader knows no constructor for it; schemas of Prometheus have it."""
        assert found("kind: X", "spec: {op: =, image: a:1}") == ["a:1"]

    def test_what_is_no_yaml_is_an_error_that_names_the_template(self) -> None:
        with pytest.raises(InvalidValue, match=r"a\.yaml cannot be read as YAML"):
            found("kind: [")
