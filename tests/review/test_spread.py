"""What a replacement reaches, in the stack and beyond, although nobody touched the text that refers to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.review import changes
from hyperpod_constructs.review.comparison import Comparison
from hyperpod_constructs.review.impacts import Change

Body: TypeAlias = dict[str, Any]
Reach: TypeAlias = Callable[..., dict[str, str]]
Found: TypeAlias = Callable[..., list[Change]]


@pytest.fixture
def found(tmp_path: Path) -> Found:
    """Changes between two sets of templates, by file name."""

    def found(base: Body, head: Body) -> list[Change]:
        read = []
        for name, files in (("base", base), ("head", head)):
            (tmp_path / name).mkdir()
            for file, body in files.items():
                (tmp_path / name / f"{file}.json").write_text(json.dumps(body), encoding="utf-8")
            read.append(assembly.read(tmp_path / name))
        return [*changes.of(Comparison(base=read[0], head=read[1]))]

    return found


@pytest.fixture
def reach(found: Found) -> Reach:
    """Impacts of what nobody touched, by what is reached; the cause is the subnet of the first file."""

    def reach(**files: Body) -> dict[str, str]:
        base = {name: body | {} for name, body in files.items()}
        head = json.loads(json.dumps(base).replace("10.0.0.0/24", "10.0.4.0/22"))
        reached = [change for change in found(base, head) if change.because_of]
        return {f"{change.path}.{change.property_name}": change.impact.value for change in reached}

    return reach


def network(**outputs: Body) -> Body:
    subnet = {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/24"}}
    return {"Resources": {"Subnet": subnet}, "Outputs": outputs}


def scratch(subnet: Any, **body: Any) -> Body:
    return {"Type": "AWS::FSx::FileSystem", "Properties": {"SubnetIds": [subnet]}, **body}


def cluster(subnet: Any, **properties: Any) -> Body:
    return {"Type": "AWS::SageMaker::Cluster", "Properties": {"VpcConfig": {"Subnets": [subnet]}, **properties}}


REF = {"Ref": "Subnet"}
KEPT = {"UpdateReplacePolicy": "Retain"}


class TestWithinAStack:
    @pytest.mark.parametrize(
        "reference",
        [REF, {"Fn::GetAtt": ["Subnet", "SubnetId"]}, {"Fn::Sub": "${Subnet}"}, {"Fn::Join": ["", [REF]]}],
    )
    def test_goes_along_every_kind_of_reference(self, reach: Reach, reference: Any) -> None:
        body = network()
        body["Resources"]["Scratch"] = scratch(reference)
        assert reach(a=body) == {"a.json/Scratch.SubnetIds": "data-lost"}

    def test_goes_on_from_what_is_replaced_too(self, reach: Reach) -> None:
        body = network()
        mount = {"FileSystemId": {"Ref": "Scratch"}, "FileSystemPath": "/data", "DataRepositoryPath": "s3://data"}
        body["Resources"] |= {
            "Scratch": scratch(REF, **KEPT),
            "Link": {"Type": "AWS::FSx::DataRepositoryAssociation", "Properties": mount},
        }
        assert reach(a=body) == {
            "a.json/Scratch.SubnetIds": "left-behind",
            "a.json/Link.FileSystemId": "replaced",
        }

    def test_stops_where_the_property_changes_in_place(self, reach: Reach) -> None:
        body = network()
        endpoint = {"VpcId": "vpc-1", "ServiceName": "s3", "SubnetIds": [REF]}
        body["Resources"] |= {
            "Endpoint": {"Type": "AWS::EC2::VPCEndpoint", "Properties": endpoint},
            "After": {"Type": "AWS::FSx::FileSystem", "Properties": {"SubnetIds": [{"Ref": "Endpoint"}]}},
        }
        assert reach(a=body) == {"a.json/Endpoint.SubnetIds": "in-place"}

    def test_is_refused_where_the_successor_would_have_the_same_name(self, reach: Reach) -> None:
        body = network()
        body["Resources"] |= {
            "Train": cluster(REF, ClusterName="train"),
            "Quota": {"Type": "AWS::SageMaker::ComputeQuota", "Properties": {"ClusterArn": {"Ref": "Train"}}},
        }
        assert reach(a=body) == {"a.json/Train.VpcConfig.Subnets": "refused"}

    def test_reaches_its_quotas_where_the_cluster_has_no_fixed_name(self, reach: Reach) -> None:
        body = network()
        body["Resources"] |= {
            "Train": cluster(REF),
            "Quota": {"Type": "AWS::SageMaker::ComputeQuota", "Properties": {"ClusterArn": {"Ref": "Train"}}},
        }
        assert reach(a=body) == {"a.json/Train.VpcConfig.Subnets": "replaced", "a.json/Quota.ClusterArn": "replaced"}

    def test_ends_where_resources_refer_to_each_other(self, reach: Reach) -> None:
        body = network()
        body["Resources"] |= {
            "A": scratch(REF, **KEPT),
            "B": {"Type": "AWS::FSx::FileSystem", "Properties": {"SubnetIds": [{"Ref": "A"}, {"Ref": "C"}]}, **KEPT},
            "C": {"Type": "AWS::FSx::FileSystem", "Properties": {"SubnetIds": [{"Ref": "B"}]}, **KEPT},
        }
        assert set(reach(a=body).values()) == {"left-behind"}

    def test_does_not_reach_what_is_new(self, found: Found) -> None:
        head = network()
        head["Resources"]["Subnet"]["Properties"]["CidrBlock"] = "10.0.4.0/22"
        head["Resources"]["Scratch"] = scratch(REF)
        assert [change.path for change in found({"a": network()}, {"a": head}) if change.because_of] == []

    def test_begins_at_no_change_that_is_made_in_place(self, found: Found) -> None:
        def tagged(value: str) -> Body:
            body = network()
            body["Resources"]["Subnet"]["Properties"]["Tags"] = [{"Key": "k", "Value": value}]
            body["Resources"]["Scratch"] = scratch(REF)
            return body

        assert [change.path for change in found({"a": tagged("1")}, {"a": tagged("2")})] == ["a.json/Subnet"]


class TestBeyondTheStack:
    def test_goes_along_exports_and_is_refused_there(self, found: Found) -> None:
        base = {
            "a": network(S={"Value": REF, "Export": {"Name": "s"}}),
            "b": {"Resources": {"Scratch": scratch({"Fn::ImportValue": "s"}, **KEPT)}},
        }
        head = json.loads(json.dumps(base).replace("10.0.0.0/24", "10.0.4.0/22"))
        impacts = {f"{each.path}.{each.property_name}": each.impact.value for each in found(base, head)}
        assert impacts == {
            "a.json/Subnet.Outputs.Export": "refused",
            "b.json/Scratch.SubnetIds": "left-behind",
            "a.json/Subnet.CidrBlock": "replaced",
        }

    def test_goes_into_nested_stacks_by_their_parameters(self, reach: Reach) -> None:
        outer = network()
        properties = {"TemplateURL": "./inner.json", "Parameters": {"S": REF}}
        outer["Resources"]["Inner"] = {"Type": "AWS::CloudFormation::Stack", "Properties": properties}
        inner = {"Parameters": {"S": {"Type": "String"}}, "Resources": {"Scratch": scratch({"Ref": "S"}, **KEPT)}}
        found = reach(outer=outer, inner=inner)
        assert [impact for path, impact in found.items() if path.endswith("Scratch.SubnetIds")] == ["left-behind"]

    def test_comes_out_of_nested_stacks_by_their_outputs(self, reach: Reach) -> None:
        properties = {"TemplateURL": "./inner.json"}
        outer = {
            "Resources": {
                "Inner": {"Type": "AWS::CloudFormation::Stack", "Properties": properties},
                "Scratch": scratch({"Fn::GetAtt": ["Inner", "Outputs.S"]}, **KEPT),
            }
        }
        assert reach(outer=outer, inner=network(S={"Value": REF})) == {"outer.json/Scratch.SubnetIds": "left-behind"}

    def test_an_export_in_use_is_not_taken_away(self, found: Found) -> None:
        base = {
            "a": network(S={"Value": REF, "Export": {"Name": "s"}}),
            "b": {"Resources": {"Scratch": scratch({"Fn::ImportValue": "s"})}},
        }
        changed = found(base, {**base, "a": network()})
        assert ("a.json", "Outputs.Export", "refused") in {
            (each.path, each.property_name, each.impact.value) for each in changed
        }

    def test_an_export_that_nobody_uses_is(self, found: Found) -> None:
        base = {"a": network(S={"Value": REF, "Export": {"Name": "s"}}), "b": network()}
        assert found(base, {**base, "a": network()}) == []
