from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hyperpod_constructs.model import template
from hyperpod_constructs.model.stacks import TagList
from hyperpod_constructs.tokens import UNKNOWN

TOPIC = {"Type": "AWS::SNS::Topic"}


class TestStackSizes:
    def test_count_what_stands_in_the_template(self, deployment_of: Any) -> None:
        sections = {
            "Description": "Zürich",
            "Parameters": {"A": {"Type": "String"}},
            "Conditions": {"Never": {"Fn::Equals": ["a", "b"]}},
            "Mappings": {"M": {"a": {"b": "c"}}},
            "Outputs": {"O": {"Value": "x"}, "P": {"Value": "y"}},
        }
        (size,) = deployment_of({"T": TOPIC, "U": {**TOPIC, "Condition": "Never"}}, **sections).stacks
        assert (size.resources, size.parameters, size.mappings, size.outputs) == (2, 1, 1, 2)
        assert size.description_bytes == 7
        assert size.template_bytes == Path(size.file).stat().st_size

    def test_are_of_each_nested_stack(self, tmp_path: Path) -> None:
        nested = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "https://s3/inner.json"}}
        (tmp_path / "outer.json").write_text(json.dumps({"Resources": {"A": nested, "B": nested}}))
        (tmp_path / "inner.json").write_text(json.dumps({"Resources": {"T": TOPIC}}))
        assert [size.resources for size in template.read(tmp_path).stacks] == [2, 1, 1]


class TestTagLists:
    def test_are_read_as_written(self, deployment_of: Any) -> None:
        given = {"Ref": "Given"}
        tags = [{"Key": "team", "Value": "a"}, {"Key": "team", "Value": given}, {"Key": "n", "Value": 1}, given]
        read = deployment_of(
            {"V": {"Type": "AWS::EC2::VPC", "Properties": {"Tags": tags}}}, Parameters={"Given": {"Type": "String"}}
        )
        assert read.tag_lists == (
            TagList(
                path="app.json/V",
                type="AWS::EC2::VPC",
                tags=(("team", "a"), ("team", UNKNOWN), ("n", "1"), (UNKNOWN, UNKNOWN)),
            ),
        )

    def test_of_another_form_are_left_alone(self, deployment_of: Any) -> None:
        resources = {"V": {"Type": "AWS::SSM::Parameter", "Properties": {"Tags": {"team": "a"}}}, "T": TOPIC}
        assert deployment_of(resources).tag_lists == ()

    def test_of_requests_are_read(self, tmp_path: Path) -> None:
        file = tmp_path / "request.json"
        file.write_text(json.dumps({"ClusterName": "train", "Tags": [{"Key": "team", "Value": "a"}]}))
        (tags,) = template.read(file).tag_lists
        assert (tags.path, tags.type, tags.tags) == ("request.json/train", "AWS::SageMaker::Cluster", (("team", "a"),))
