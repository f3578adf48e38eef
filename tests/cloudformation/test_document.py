import os
from pathlib import Path

import pytest

from hyperpod_constructs.cloudformation.document import MAX_BYTES, MAX_DEPTH, OtherDocumentError, load, parse
from hyperpod_constructs.errors import UnreadableTemplate


def refusal(text: str, name: str = "t.yaml") -> str:
    """The one line that refuses a text."""
    with pytest.raises(UnreadableTemplate) as refused:
        parse(text, name)
    message = str(refused.value)
    assert "\n" not in message
    assert name in message
    return message.removeprefix(f"{name}: ")


def file_refusal(path: Path) -> str:
    with pytest.raises(UnreadableTemplate) as refused:
        load(path)
    return str(refused.value).removeprefix(f"{path}: ")


class TestKind:
    def test_resources_make_a_template(self) -> None:
        assert parse("Resources: {}", "t.yaml").kind == "template"

    @pytest.mark.parametrize("text", ['{"ClusterName": "c"}', "InstanceGroups: []"])
    def test_a_cluster_request_is_recognised(self, text: str) -> None:
        assert parse(text, "request").kind == "create-cluster"

    @pytest.mark.parametrize(
        "text", ['{"name": "npm"}', "[1]", "just words", '{"ClusterArn": "a", "ClusterName": "c"}']
    )
    def test_anything_else_is_refused_as_another_document(self, text: str) -> None:
        with pytest.raises(OtherDocumentError, match=r"^x: is "):
            parse(text, "x")

    def test_what_it_has_instead_is_named(self) -> None:
        assert refusal('{"name": 1, "version": 2}') == (
            "is neither a CloudFormation template (no `Resources`) nor a create-cluster request "
            '(no `ClusterName` or `InstanceGroups`); it has "name", "version"'
        )

    def test_resources_that_are_no_mapping_are_no_other_document(self) -> None:
        assert refusal("Resources: []") == "is no CloudFormation template: `Resources` is no mapping"


class TestFile:
    def test_a_byte_order_mark_is_accepted(self, tmp_path: Path) -> None:
        (file := tmp_path / "t.json").write_bytes(b"\xef\xbb\xbf" + b'{"Resources": {}}')
        assert load(file).body == {"Resources": {}}

    def test_missing(self, tmp_path: Path) -> None:
        assert file_refusal(tmp_path / "no.yaml") == "there is no such file"

    def test_folder(self, tmp_path: Path) -> None:
        assert file_refusal(tmp_path) == "is a folder, not a file"

    def test_a_pipe_is_refused_without_waiting_for_a_writer(self, tmp_path: Path) -> None:
        os.mkfifo(pipe := tmp_path / "t.yaml")
        assert file_refusal(pipe) == "is a pipe, a socket or a device; write the template to a file"

    def test_empty(self, tmp_path: Path) -> None:
        (file := tmp_path / "t.yaml").write_bytes(b" \n")
        assert file_refusal(file) == "is empty"

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (b"Resources: \xff", "is no UTF-8 text (byte 11)"),
            (
                "Resources: {}".encode("utf-16"),
                "is UTF-16 text; save it as UTF-8, which is all that CloudFormation reads",
            ),
            (b"Resources: {}\0", "is no text, it has NUL bytes"),
        ],
    )
    def test_no_text(self, tmp_path: Path, data: bytes, message: str) -> None:
        (file := tmp_path / "t.yaml").write_bytes(data)
        assert file_refusal(file) == message

    def test_just_small_enough(self, tmp_path: Path) -> None:
        text = '{"Resources": {}}'
        (file := tmp_path / "t.json").write_text(text.ljust(MAX_BYTES))
        assert load(file).kind == "template"

    def test_larger_than_cloudformation_takes_is_refused_unread(self, tmp_path: Path) -> None:
        file = tmp_path / "t.json"
        with file.open("wb") as opened:
            opened.truncate(64 * 1024**3)  # sparse; no machine here could hold it in memory
        assert file_refusal(file) == "is larger than the 1,048,576 bytes that CloudFormation accepts"


class TestSyntax:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{"Resources": {},\n "A": }', "line 2, column 7: Expecting value"),
            ('{"Resources": {"A": NaN}}', "NaN is no JSON value"),
            ('{"Resources": {"A": -Infinity}}', "-Infinity is no JSON value"),
            ('{"Resources": {"A": 1e999}}', "1e999 is too large a number"),
            ('{"Resources": {"A":\n 1,\n "A": 2}}', "line 3: key 'A' was given before, on line 1; keep one of the two"),
            (
                '{"Resources": {"A": "\\ud800"}}',
                "it has half of a surrogate pair (\\ud800 to \\udfff), which is no character",
            ),
            ('{"Resources": ' + "[" * 100_000, "it is nested too deeply"),
        ],
    )
    def test_json(self, text: str, message: str) -> None:
        assert refusal(text, "t.json") == message

    def test_a_whole_number_of_thousands_of_digits(self) -> None:
        shown = "1" * 40
        message = refusal('{"Resources": ' + "1" * 5000 + "}", "t.json")
        assert message == f"{shown}... (5,000 digits) is too large a number"

    def test_whole_surrogate_pairs_are_fine(self) -> None:
        assert parse('{"Resources": {"A": "\\ud83d\\ude00"}}', "t.json").body["Resources"]["A"] == "\N{GRINNING FACE}"

    def test_flow_style_yaml_begins_like_json(self) -> None:
        assert parse("{Resources: {A: !Ref B}}", "t.template").body == {"Resources": {"A": {"Ref": "B"}}}

    @pytest.mark.parametrize("name", ["t.json", "t.yaml"])
    def test_as_deep_as_allowed_and_no_deeper(self, name: str) -> None:
        def nested(levels: int) -> str:
            return '{"Resources": {"A": ' + "[" * levels + "]" * levels + "}}"

        assert parse(nested(MAX_DEPTH - 2), name).kind == "template"
        assert refusal(nested(MAX_DEPTH - 1), name) == f"is nested more than {MAX_DEPTH} levels deep"


class TestLines:
    JSON = '{\n "Resources": {\n  "A": {"Type": "T",\n   "Properties": {"L\\u0061": [\n    1,\n    {"x": "y:,}"}\n]}}}}'
    YAML = """\
Resources:
  A:
    Type: T
    Properties:
      La:
        - 1
        - x: !Sub
            - a
            - b: c
"""

    @pytest.mark.parametrize(
        ("path", "line"),
        [
            ((), 1),
            (("Resources",), 2),
            (("Resources", "A"), 3),
            (("Resources", "A", "Properties"), 4),
            (("Resources", "A", "Properties", "La", 0), 5),
            (("Resources", "A", "Properties", "La", 1, "x"), 6),
            (("Resources", "A", "Properties", "La", 7), 4),
            (("Resources", "A", "Nowhere", "at", "all"), 3),
        ],
    )
    def test_json(self, path: tuple[str | int, ...], line: int) -> None:
        assert parse(self.JSON, "t.json").line(path) == line

    @pytest.mark.parametrize(
        ("path", "line"),
        [
            (("Resources", "A"), 2),
            (("Resources", "A", "Properties", "La", 0), 6),
            (("Resources", "A", "Properties", "La", 1, "x"), 7),
            (("Resources", "A", "Properties", "La", 1, "x", "Fn::Sub", 1, "b"), 9),
            (("Resources", "A", "Missing"), 2),
        ],
    )
    def test_yaml(self, path: tuple[str | int, ...], line: int) -> None:
        assert parse(self.YAML, "t.yaml").line(path) == line

    def test_lines_of_json_are_not_sought_before_somebody_asks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def unexpected(_text: str) -> None:
            pytest.fail("positions were computed")

        monkeypatch.setattr("hyperpod_constructs.cloudformation.json_source._scan", unexpected)
        assert parse(self.JSON, "t.json").body["Resources"]["A"]["Type"] == "T"


class TestAnswersOfAws:
    def test_a_template_is_read_out_of_what_get_template_prints(self) -> None:
        found = parse('{\n"TemplateBody": {\n"Resources": {\n"A": {}}}, "StagesAvailable": []}', "t.json")
        assert (found.kind, found.body) == ("template", {"Resources": {"A": {}}})
        assert found.line(("Resources", "A")) == 4

    def test_a_template_of_yaml_stands_there_as_text(self) -> None:
        found = parse('{\n"TemplateBody": "Resources:\\n  A: {}\\n"}', "t.json")
        assert found.body == {"Resources": {"A": {}}}
        assert found.line(("Resources", "A")) == 2

    def test_a_cluster_that_there_is_already_is_named_as_such(self) -> None:
        assert "describe-cluster" in refusal('{"ClusterArn": "a", "ClusterStatus": "InService", "InstanceGroups": []}')

    @pytest.mark.parametrize("text", ['// mine\n{"a": 1}', '{"a": 1 /* one */}'])
    def test_comments_in_json_are_named(self, text: str) -> None:
        assert refusal(text, "t.json").endswith("JSON has no comments; take this one out")
