import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hyperpod_constructs.cloudformation import assembly
from hyperpod_constructs.cloudformation.assembly import MAX_STACKS, Assembly, read
from hyperpod_constructs.cloudformation.document import Document, load
from hyperpod_constructs.cloudformation.stack import Resource
from hyperpod_constructs.cloudformation.values import Reference, Text
from hyperpod_constructs.errors import UnreadableTemplate
from hyperpod_constructs.tokens import UNKNOWN
from tests.counting import calls

FIXTURES = Path(__file__).parent / "fixtures"  # from aws-cdk-lib 2.275.0, see fixtures/README.md
STACK = "AWS::CloudFormation::Stack"


def write(folder: Path, **files: Any) -> Path:
    """Writes JSON files, named by keyword, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def template(**resources: Any) -> dict[str, Any]:
    return {"Resources": {name: {"Type": "T", **body} for name, body in resources.items()}}


def nesting(file: str, **parameters: Any) -> dict[str, Any]:
    url = f"https://bucket.s3.amazonaws.com/templates/{file}"
    return {"Type": STACK, "Properties": {"TemplateURL": url, "Parameters": parameters}}


def manifest(**stacks: dict[str, Any]) -> dict[str, Any]:
    """A manifest of stacks, each given as the differences to a stack in a fixed environment."""
    artifacts = {
        name: {
            "type": "aws:cloudformation:stack",
            "environment": differences.pop("environment", "aws://111122223333/us-west-2"),
            "properties": {"templateFile": f"{name}.json", **differences},
        }
        for name, differences in stacks.items()
    }
    return {"version": "55.0.0", "artifacts": artifacts}


def only(assembly: Assembly, path: str) -> Resource:
    (found,) = [resource for resource in assembly.resources() if resource.path == path]
    return found


def properties(assembly: Assembly, path: str) -> dict[str, Any]:
    found = only(assembly, path).properties
    assert isinstance(found, dict)
    return found


class TestFile:
    def test_is_one_stack_without_name(self, tmp_path: Path) -> None:
        file = tmp_path / "net.yaml"
        file.write_text("Resources:\n  Vpc:\n    Type: AWS::EC2::VPC\n")
        (stack,) = read(file).stacks
        assert (stack.id, stack.name, stack.account, stack.region) == ("net.yaml", None, None, None)
        (vpc,) = stack.resources()
        assert (vpc.path, vpc.line, vpc.properties, vpc.deletion_policy) == ("net.yaml/Vpc", 2, {}, None)

    def test_a_request_is_no_stack(self, tmp_path: Path) -> None:
        write(tmp_path, request={"ClusterName": "c", "InstanceGroups": []})
        assembly = read(tmp_path / "request.json")
        assert assembly.stacks == ()
        assert [request.body["ClusterName"] for request in assembly.requests] == ["c"]

    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableTemplate, match=r"no\.yaml: there is no such file"):
            read(tmp_path / "no.yaml")

    def test_an_empty_path_is_not_the_working_directory(self) -> None:
        with pytest.raises(UnreadableTemplate, match=r"^the path is empty: name a file or a folder$"):
            read("")

    def test_a_path_that_the_system_does_not_take_is_one_short_line(self) -> None:
        with pytest.raises(UnreadableTemplate) as refused:
            read("a" * 5_000)
        assert str(refused.value) == f"{'a' * 60}...{'a' * 60}: {os.strerror(errno.ENAMETOOLONG)}"

    def test_has_no_validation_report(self, tmp_path: Path) -> None:
        assert read(write(tmp_path, a=template()) / "a.json").validation_report is None


class TestFolder:
    def test_templates_are_read_and_other_files_skipped_with_a_reason(self, tmp_path: Path) -> None:
        write(tmp_path, b=template(B={}), package={"name": "npm"}, broken="{ not json", request={"ClusterName": "c"})
        (tmp_path / "a.yml").write_text("Resources: {}")
        (tmp_path / "notes.txt").write_text("Resources: {")
        assembly = read(tmp_path)
        assert [stack.id for stack in assembly.stacks] == ["a.yml", "b.json"]
        assert len(assembly.requests) == 1
        assert [(skip.file.name, skip.reason.startswith(str(skip.file))) for skip in assembly.skipped] == [
            ("broken.json", True),
            ("package.json", True),
        ]

    @pytest.mark.parametrize(
        "text", ['{"Resources": {', "AWSTemplateFormatVersion: '2010-09-09'\nA: [", "Resources: []"]
    )
    def test_a_broken_template_is_never_skipped(self, tmp_path: Path, text: str) -> None:
        write(tmp_path, good=template())
        (tmp_path / "bad.yaml").write_text(text)
        with pytest.raises(UnreadableTemplate, match=r"bad\.yaml"):
            read(tmp_path)

    def test_that_may_not_be_looked_into(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(path: Path) -> bool:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

        monkeypatch.setattr(Path, "is_file", refuse)  # a test that runs as root may look into every folder
        with pytest.raises(UnreadableTemplate) as refused:
            read(tmp_path)
        assert str(refused.value) == f"{tmp_path}: Permission denied"

    def test_each_file_is_read_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = write(tmp_path, a=template(A={}), b=template(B={}))
        opened: list[str] = []

        def note(file: Path) -> Document:
            opened.append(file.name)
            return load(file)

        monkeypatch.setattr(assembly, "load", note)
        assert len(read(folder).stacks) == 2
        assert opened == ["a.json", "b.json"]

    def test_without_any_template(self, tmp_path: Path) -> None:
        write(tmp_path, package={"name": "npm"})
        with pytest.raises(UnreadableTemplate, match=r"has no CloudFormation template .*package\.json: is neither"):
            read(tmp_path)

    def test_a_manifest_of_something_else_makes_no_assembly(self, tmp_path: Path) -> None:
        write(tmp_path, manifest={"name": "web app"}, a=template())
        assert [stack.id for stack in read(tmp_path).stacks] == ["a.json"]

    def test_exports_are_matched_by_name(self, tmp_path: Path) -> None:
        exporting = template(Vpc={}) | {"Outputs": {"Id": {"Value": {"Ref": "Vpc"}, "Export": {"Name": "net-vpc"}}}}
        write(tmp_path, net=exporting, use=template(X={"Properties": {"V": {"Fn::ImportValue": "net-vpc"}}}))
        assembly = read(tmp_path)
        reference = properties(assembly, "use.json/X")["V"]
        assert reference == Reference(stack="net.json", logical_id="Vpc")
        assert assembly.find(reference) is only(assembly, "net.json/Vpc")

    def test_a_name_exported_twice_decides_nothing(self, tmp_path: Path) -> None:
        exporting = template(V={}) | {"Outputs": {"Id": {"Value": {"Ref": "V"}, "Export": {"Name": "n"}}}}
        use = template(X={"Properties": {"V": {"Fn::ImportValue": "n"}}})
        assembly = read(write(tmp_path, a=exporting, b=exporting, use=use))
        assert properties(assembly, "use.json/X")["V"] is UNKNOWN

    def test_a_nested_file_is_resolved_in_its_parent_and_no_stack_of_its_own(self, tmp_path: Path) -> None:
        inner = template(I={"Properties": {"V": {"Ref": "P"}, "D": {"Ref": "D"}, "N": {"Ref": "N"}}})
        inner["Parameters"] = {
            "P": {"Type": "String"},
            "D": {"Type": "String", "Default": "d"},
            "N": {"Type": "String", "Default": "n"},
        }
        inner["Outputs"] = {"Id": {"Value": {"Ref": "I"}}}
        nested = nesting("b.json", P={"Ref": "Vpc"}, N={"Ref": "AWS::NoValue"})
        outer = template(Vpc={}, Nest=nested, Use={"Properties": {"V": {"Fn::GetAtt": ["Nest", "Outputs.Id"]}}})
        assembly = read(write(tmp_path, z=outer, b=inner))
        assert [stack.id for stack in assembly.stacks] == ["z.json", "z.json/Nest"]
        assert properties(assembly, "z.json/Nest/I") == {
            "V": Reference(stack="z.json", logical_id="Vpc"),
            "D": "d",
            "N": "n",
        }
        assert properties(assembly, "z.json/Use")["V"] == Reference(stack="z.json/Nest", logical_id="I")
        assert assembly.stacks[0].nested["Nest"] is assembly.stacks[1]

    def test_a_missing_output_of_a_nested_stack_is_unknown(self, tmp_path: Path) -> None:
        outer = template(Nest=nesting("b.json"), Use={"Properties": {"V": {"Fn::GetAtt": ["Nest", "Outputs.No"]}}})
        assembly = read(write(tmp_path, a=outer, b=template()))
        assert properties(assembly, "a.json/Use")["V"] is UNKNOWN

    def test_one_nested_stack_may_depend_on_the_next(self, tmp_path: Path) -> None:
        source = template(S={}) | {"Outputs": {"Id": {"Value": {"Ref": "S"}}}}
        sink = template(T={"Properties": {"V": {"Ref": "P"}}}) | {"Parameters": {"P": {"Type": "String"}}}
        outer = template(
            First=nesting("sink.json", P={"Fn::GetAtt": ["Second", "Outputs.Id"]}), Second=nesting("source.json")
        )
        assembly = read(write(tmp_path, outer=outer, source=source, sink=sink))
        assert properties(assembly, "outer.json/First/T")["V"] == Reference(stack="outer.json/Second", logical_id="S")

    def test_a_nested_stack_whose_condition_is_settled_by_another_one_is_dropped(self, tmp_path: Path) -> None:
        source = template() | {"Outputs": {"On": {"Value": "no"}}}
        switch = template(Deep={**nesting("leaf.json"), "Condition": "On"}) | {
            "Parameters": {"On": {"Type": "String"}},
            "Conditions": {"On": {"Fn::Equals": [{"Ref": "On"}, "yes"]}},
        }
        outer = template(
            First=nesting("switch.json", On={"Fn::GetAtt": ["Second", "Outputs.On"]}), Second=nesting("source.json")
        )
        assembly = read(write(tmp_path, outer=outer, source=source, switch=switch, leaf=template(L={})))
        assert [stack.id for stack in assembly.stacks] == ["outer.json", "outer.json/First", "outer.json/Second"]

    def test_files_that_nest_each_other_in_a_circle_end(self, tmp_path: Path) -> None:
        write(
            tmp_path, a=template(N=nesting("b.json")), b=template(N=nesting("a.json")), c=template(N=nesting("c.json"))
        )
        assert [stack.id for stack in read(tmp_path).stacks] == ["c.json", "a.json", "a.json/N"]

    def test_nesting_that_multiplies_is_refused(self, tmp_path: Path) -> None:
        for n in range(20):
            write(tmp_path, **{f"f{n}": template(A=nesting(f"f{n + 1}.json"), B=nesting(f"f{n + 1}.json"))})
        write(tmp_path, f20=template())
        with pytest.raises(UnreadableTemplate, match=f"more than {MAX_STACKS:,} stacks"):
            read(tmp_path)

    def test_outputs_that_double_from_stack_to_stack_end(self, tmp_path: Path) -> None:
        for n in range(40):
            value = {"Fn::Join": ["", [{"Fn::ImportValue": f"n{n - 1}"}] * 2]} if n else "x" * 64
            output = {"O": {"Value": value, "Export": {"Name": f"n{n}"}}}
            write(tmp_path, **{f"f{n}": template() | {"Outputs": output}})
        outputs = {stack.id: stack.scope.output("O") for stack in read(tmp_path).stacks}
        assert outputs["f1.json"] == "x" * 128
        assert outputs["f39.json"] is UNKNOWN

    def test_imports_in_a_circle_are_unknown(self, tmp_path: Path) -> None:
        def body(own: str, other: str) -> dict[str, Any]:
            output = {"Value": {"Fn::ImportValue": other}, "Export": {"Name": own}}
            return template() | {"Outputs": {"O": output}}

        assembly = read(write(tmp_path, a=body("a", "b"), b=body("b", "a")))
        assert [stack.scope.output("O") for stack in assembly.stacks] == [UNKNOWN, UNKNOWN]


class TestRegion:
    MAPPED: ClassVar = {
        "Mappings": {"Zones": {"us-west-2": {"id": "usw2-az1"}}},
        "Resources": {
            "A": {
                "Type": "T",
                "Properties": {
                    "Zone": {"Fn::FindInMap": ["Zones", {"Ref": "AWS::Region"}, "id"]},
                    "Suffix": {"Fn::Sub": "arn:${AWS::Partition}.${AWS::URLSuffix}"},
                },
            }
        },
    }
    KNOWN: ClassVar = {"Zone": "usw2-az1", "Suffix": "arn:aws.amazonaws.com"}

    def test_of_a_file_is_the_one_given(self, tmp_path: Path) -> None:
        file = write(tmp_path, a=self.MAPPED) / "a.json"
        assert properties(read(file, "us-west-2"), "a.json/A") == self.KNOWN
        assert properties(read(file), "a.json/A")["Zone"] is UNKNOWN

    def test_of_nested_files_is_the_one_given(self, tmp_path: Path) -> None:
        folder = write(tmp_path, a={"Resources": {"B": nesting("b.json")}}, b=self.MAPPED)
        assert properties(read(folder, "us-west-2"), "a.json/B/A") == self.KNOWN

    @pytest.mark.parametrize(
        ("environment", "zone"),
        [("unknown-account/unknown-region", "usw2-az1"), ("unknown-account/eu-west-1", UNKNOWN)],
    )
    def test_given_counts_where_the_app_fixes_none(self, tmp_path: Path, environment: str, zone: object) -> None:
        listed = manifest(A={"environment": f"aws://{environment}"})
        folder = write(tmp_path, A=self.MAPPED, manifest=listed)
        assert properties(read(folder, "us-west-2"), "A/A")["Zone"] == zone


class TestCdkOut:
    @pytest.mark.parametrize(("name", "weak"), [("weak", True), ("strong", False)])
    def test_references_across_stacks(self, name: str, *, weak: bool) -> None:
        assembly = read(FIXTURES / name)
        found = properties(assembly, "Cluster/SG")
        assert found["VpcId"] == Reference(stack="Foundation", logical_id="Vpc")
        assert found["VpcId"].weak is weak
        assert found["GroupName"] == Text(
            parts=("n-", Reference(stack="Foundation", logical_id="Sub", attribute="AvailabilityZone"))
        )
        vpc = assembly.find(found["VpcId"])
        assert vpc is not None
        assert (vpc.path, vpc.type) == ("Foundation/Vpc", "AWS::EC2::VPC")

    @pytest.mark.parametrize("name", ["weak", "strong"])
    def test_nested_stacks(self, name: str) -> None:
        assembly = read(FIXTURES / name)
        found = properties(assembly, "Cluster/FromNested")
        assert found["DisplayName"] == Reference(stack="Cluster/Nest", logical_id="B", attribute="Arn")
        assert found["TopicName"] == Reference(stack="Cluster/Nest/Inner", logical_id="T", attribute="TopicName")
        inner = assembly.find(found["TopicName"])
        assert inner is not None
        assert inner.path == "Cluster/Nest/Inner/T"
        assert inner.properties == {"DisplayName": Reference(stack="Foundation", logical_id="Sub")}
        assert inner.stack.logical_path == (
            "NestNestedStackNestNestedStackResourceD8FE4395",
            "InnerNestedStackInnerNestedStackResource745E041B",
        )
        assert inner.stack.file.name == "ClusterNestInnerD449C557.nested.template.json"
        assert (inner.stack.name, inner.stack.region) == (None, "us-west-2")

    def test_stages_with_deployed_names_and_environments(self) -> None:
        found = {stack.id: (stack.name, stack.account, stack.region) for stack in read(FIXTURES / "weak").stacks}
        assert found["Cluster"] == ("my-cluster", "111122223333", "us-west-2")
        assert found["Agnostic"] == ("Agnostic", None, None)
        assert found["Prod/Cluster"] == ("my-prodcluster", "111122223333", "us-west-2")
        assert found["Prod/Cluster/Nest/Inner"] == (None, "111122223333", "us-west-2")

    def test_a_stage_refers_to_its_own_stacks(self) -> None:
        found = properties(read(FIXTURES / "weak"), "Prod/Cluster/SG")
        assert found["VpcId"] == Reference(stack="Prod/Foundation", logical_id="Vpc")

    def test_acknowledged_rules_of_construct_stack_nested_stack_and_app(self) -> None:
        assembly = read(FIXTURES / "weak")
        app = {"HyperPod::HP3003": "app reason"}
        assert assembly.acknowledged("Foundation/Topic") == {**app, "HyperPod::HP3001": "construct reason"}
        assert assembly.acknowledged("/Foundation/Vpc") == app
        assert assembly.acknowledged("Cluster/Nest/Inner/T") == {
            **app,
            "HyperPod::HP3002": "stack reason",
            "HyperPod::HP3004": "nested reason",
            "HyperPod::HP3005": "in nested",
        }

    @pytest.mark.parametrize(
        "missing",
        [
            "Cluster.template.json",
            "Cluster.assets.json",
            "Cluster.metadata.json",
            "ClusterNestInnerD449C557.nested.template.json",
            "assembly-Prod",
        ],
    )
    def test_a_missing_piece_is_named(self, tmp_path: Path, missing: str) -> None:
        shutil.copytree(FIXTURES / "weak", copy := tmp_path / "cdk.out")
        piece = copy / missing
        shutil.rmtree(piece) if piece.is_dir() else piece.unlink()
        with pytest.raises(UnreadableTemplate, match=f"{missing}: there is no such file"):
            read(copy)

    def test_a_missing_manifest_is_named(self, tmp_path: Path) -> None:
        write(tmp_path, A=template())
        (tmp_path / "cdk.out").write_text('{"version":"55.0.0"}')
        with pytest.raises(UnreadableTemplate, match=r"manifest\.json: there is no such file"):
            read(tmp_path)

    @pytest.mark.parametrize(
        "text", ["{", "[]", '{"artifacts": []}', '{"artifacts": {"A": {"type": "cdk:cloud-assembly"}}}']
    )
    def test_a_broken_manifest(self, tmp_path: Path, text: str) -> None:
        write(tmp_path, manifest=text)
        (tmp_path / "cdk.out").touch()
        with pytest.raises(UnreadableTemplate, match=r"manifest\.json"):
            read(tmp_path)

    def test_an_assembly_inside_itself_ends(self, tmp_path: Path) -> None:
        found = manifest(A={})
        found["artifacts"]["Again"] = {"type": "cdk:cloud-assembly", "properties": {"directoryName": "."}}
        assert [stack.id for stack in read(write(tmp_path, manifest=found, A=template())).stacks] == ["A"]

    def test_an_app_without_stacks_is_read(self, tmp_path: Path) -> None:
        assert read(write(tmp_path, manifest=manifest())).stacks == ()

    def test_parameters_of_the_manifest(self, tmp_path: Path) -> None:
        body = template(R={"Properties": {"V": {"Ref": "P"}}}) | {"Parameters": {"P": {"Type": "String"}}}
        stacks = manifest(A={"parameters": {"P": "given"}})
        assembly = read(write(tmp_path, manifest=stacks, A=body))
        assert properties(assembly, "A/R")["V"] == "given"

    def test_metadata_inside_the_manifest_names_constructs(self, tmp_path: Path) -> None:
        found = manifest(A={})
        found["artifacts"]["A"]["metadata"] = {
            "/A/Bucket/Resource": [{"type": "aws:cdk:logicalId", "data": "Bucket83908E77"}],
            "/A/Bucket": [{"type": "aws:cdk:acknowledged-rules", "data": {"R1": "bucket", "R2": "bucket"}}],
            "/A": [{"type": "aws:cdk:acknowledged-rules", "data": {"R1": "stack"}}],
        }
        found["artifacts"]["A"]["metadata"]["/A/Bucket/Resource"].append(
            {"type": "aws:cdk:acknowledged-rules", "data": {"R2": "resource"}}
        )
        assembly = read(write(tmp_path, manifest=found, A=template(Bucket83908E77={})))
        assert only(assembly, "A/Bucket").logical_id == "Bucket83908E77"
        assert assembly.acknowledged("A/Bucket") == {"R1": "bucket", "R2": "resource"}


class TestEnvironments:
    @staticmethod
    def resolved(tmp_path: Path, consumer: str, output: dict[str, Any], *producers: str) -> Any:
        """What a consumer in one environment gets from equally named stacks in others."""
        body = template(V={}) | {"Outputs": {"Id": {"Value": {"Ref": "V"}, "Export": {"Name": "vpc"}}}}
        stacks = {f"P{n}": {"stackName": "net", "environment": place} for n, place in enumerate(producers)}
        files: dict[str, Any] = dict.fromkeys(stacks, body)
        stacks["Use"] = {"environment": consumer}
        files["Use"] = template(X={"Properties": {"V": output}})
        assembly = read(write(tmp_path, manifest=manifest(**stacks), **files))
        found = properties(assembly, "Use/X")["V"]
        return found.stack if isinstance(found, Reference) else found

    A_WEST, A_EAST, B_WEST = (
        "aws://111122223333/us-west-2",
        "aws://111122223333/us-east-1",
        "aws://444455556666/us-west-2",
    )
    ANY = "aws://unknown-account/unknown-region"
    OUTPUT: ClassVar = {"StackName": "net", "OutputName": "Id"}

    def test_imports_stay_in_account_and_region(self, tmp_path: Path) -> None:
        imported = {"Fn::ImportValue": "vpc"}
        assert self.resolved(tmp_path / "1", self.A_EAST, imported, self.A_WEST, self.A_EAST, self.B_WEST) == "P1"
        assert self.resolved(tmp_path / "2", self.A_EAST, imported, self.A_WEST, self.B_WEST) is UNKNOWN

    def test_an_unknown_environment_matches_where_only_one_stack_can_be_meant(self, tmp_path: Path) -> None:
        imported = {"Fn::ImportValue": "vpc"}
        assert self.resolved(tmp_path / "1", self.ANY, imported, self.A_WEST) == "P0"
        assert self.resolved(tmp_path / "2", self.ANY, imported, self.A_WEST, self.A_EAST) is UNKNOWN
        assert self.resolved(tmp_path / "3", self.A_WEST, imported, self.ANY) == "P0"

    def test_a_stack_that_is_certainly_there_wins_over_one_that_may_be(self, tmp_path: Path) -> None:
        imported = {"Fn::ImportValue": "vpc"}
        assert self.resolved(tmp_path, self.A_WEST, imported, self.ANY, self.A_WEST) == "P1"

    def test_stack_outputs_cross_regions(self, tmp_path: Path) -> None:
        output = {"Fn::GetStackOutput": {**self.OUTPUT, "Region": "us-east-1"}}
        assert self.resolved(tmp_path, self.A_WEST, output, self.A_WEST, self.A_EAST) == "P1"

    def test_the_region_of_stack_outputs_defaults_to_the_own_one(self, tmp_path: Path) -> None:
        assert self.resolved(tmp_path / "1", self.A_WEST, {"Fn::GetStackOutput": self.OUTPUT}, self.A_EAST) == ""
        own = {"Fn::GetStackOutput": {**self.OUTPUT, "Region": {"Ref": "AWS::Region"}}}
        assert self.resolved(tmp_path / "2", self.A_WEST, own, self.A_EAST, self.A_WEST) == "P1"

    def test_outputs_of_a_stack_that_is_not_here_are_weak_all_the_same(self, tmp_path: Path) -> None:
        write(tmp_path, use=template(X={"Properties": {"V": {"Fn::GetStackOutput": self.OUTPUT}}}))
        assembly = read(tmp_path)
        found = properties(assembly, "use.json/X")["V"]
        assert isinstance(found, Reference)
        assert (found.weak, assembly.find(found)) == (True, None)

    def test_stack_outputs_cross_accounts_by_role(self, tmp_path: Path) -> None:
        role = {"Fn::Sub": "arn:${AWS::Partition}:iam::444455556666:role/read-${AWS::StackId}"}
        output = {"Fn::GetStackOutput": {**self.OUTPUT, "Region": "us-west-2", "RoleArn": role}}
        assert self.resolved(tmp_path / "1", self.A_WEST, output, self.A_WEST, self.B_WEST) == "P1"
        plain = {"Fn::GetStackOutput": {**self.OUTPUT, "Region": "us-west-2"}}
        assert self.resolved(tmp_path / "2", self.A_WEST, plain, self.A_WEST, self.B_WEST) == "P0"


def test_reading_is_linear_in_the_number_of_stacks(tmp_path: Path) -> None:
    def work(count: int) -> int:
        body = template(**{f"R{n}": {} for n in range(20)})
        body["Outputs"] = {"Id": {"Value": {"Ref": "R0"}}}
        use = {
            "Properties": {
                f"V{n}": {"Fn::GetStackOutput": {"StackName": f"S{n}", "OutputName": "Id"}} for n in range(9)
            }
        }
        stacks: dict[str, dict[str, Any]] = {f"S{n}": {} for n in range(count)}
        files = {name: body | {"Resources": body["Resources"] | {"Use": {"Type": "T", **use}}} for name in stacks}
        folder = write(tmp_path / str(count), manifest=manifest(**stacks), **files)
        assert sum(1 for _ in read(folder).resources()) == 21 * count
        return calls(lambda: list(read(folder).resources()))

    assert work(100) < 11 * work(10)  # 10 times as many; quadratic would be 100 times
