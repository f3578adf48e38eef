from __future__ import annotations

import json

from hyperpod_constructs.planning.permissions.documents import LIMIT, Statement, documents


def statement(sid: str, number: int, **fields: object) -> Statement:
    actions = tuple(f"ec2:Describe{sid}{each:03}" for each in range(number))
    return Statement(sid=sid, actions=actions, why="test", **fields)  # type: ignore[arg-type]  # fields of Statement


class TestSplit:
    def test_one_document_keeps_its_name(self) -> None:
        (found,) = documents("execution", [statement("A", 3), statement("B", 3)])
        assert (found.name, [each.sid for each in found.statements]) == ("execution", ["A", "B"])

    def test_several_documents_are_numbered_and_none_is_too_long(self) -> None:
        found = documents("execution", [statement(sid, 120) for sid in "ABCDE"])
        assert [each.name for each in found] == [f"execution-{number}" for number in range(1, len(found) + 1)]
        assert len(found) > 1
        assert all(each.characters <= LIMIT for each in found)

    def test_nothing_is_lost_and_the_order_is_kept(self) -> None:
        given = [statement(sid, 120) for sid in "ABCDE"]
        found = [each for document in documents("x", given) for each in document.statements]
        assert [action for each in found for action in each.actions] == [a for each in given for a in each.actions]

    def test_a_statement_that_is_too_long_alone_is_cut_with_names_that_stay_unique(self) -> None:
        found = [each for document in documents("x", [statement("A", 900)]) for each in document.statements]
        assert len({each.sid for each in found}) == len(found) > 2
        assert [action for each in found for action in each.actions] == list(statement("A", 900).actions)

    def test_resources_are_cut_where_they_are_what_is_long(self) -> None:
        arns = tuple(f"arn:aws:iam::111122223333:role/team-{number:04}" for number in range(300))
        found = documents("x", [statement("A", 1, resources=arns)])
        assert tuple(arn for each in found for one in each.statements for arn in one.resources) == arns
        assert all(each.characters <= LIMIT for each in found)

    def test_nothing_needs_no_document(self) -> None:
        assert documents("x", []) == ()


def test_length_is_counted_as_iam_does_without_blanks() -> None:
    (found,) = documents("x", [statement("A", 2)])
    assert found.characters == len(json.dumps(found.as_data()).replace(" ", ""))


def test_one_value_is_a_text_and_several_are_a_list() -> None:
    data = statement("A", 1, resources=("a", "b"), tests=(("StringEquals", "k", ("v",)),)).as_data()
    assert data == {
        "Sid": "A",
        "Effect": "Allow",
        "Action": "ec2:DescribeA000",
        "Resource": ["a", "b"],
        "Condition": {"StringEquals": {"k": "v"}},
    }
