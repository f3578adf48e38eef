from __future__ import annotations

import json

import pytest

from hyperpod_constructs.account.redaction import redacted

DATA = {
    "account": "111122223333",
    "other": "arn:aws:sagemaker:us-west-2:444455556666:cluster/0123456789ab",
    "arn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/0123456789ab",
    "scripts": "s3://cdk-hnb659fds-assets-111122223333-us-west-2/users/ada.lovelace/0123456789abcdef",
    "failure_message": "User: arn:aws:iam::111122223333:user/people/ada.lovelace on 10.1.2.3 (ip-10-1-2-3.us-west-2) "
    "was told by grace@example.com, whose session is arn:aws:sts::444455556666:assumed-role/Admin/grace@example.com",
    "again": "ada.lovelace and fd00::1 and 10.1.2.3/16",
    "taken": "2027-01-10T10:00:00+00:00",
    "groups": [{"name": "p5", "target": 32, "spot": False, "plan": None, "release": "1.2.3"}],
}


def test_equal_things_stay_equal_and_different_ones_different() -> None:
    assert redacted(DATA) == {
        "account": "000000000001",
        "other": "arn:aws:sagemaker:us-west-2:000000000002:cluster/0123456789ab",
        "arn": "arn:aws:sagemaker:us-west-2:000000000001:cluster/0123456789ab",
        "scripts": "s3://cdk-hnb659fds-assets-000000000001-us-west-2/users/person-1/0123456789abcdef",
        "failure_message": "User: arn:aws:iam::000000000001:user/people/person-1 on address-1 "
        "(ip-address-1.us-west-2) was told by person-2, whose session is "
        "arn:aws:sts::000000000002:assumed-role/Admin/person-2",
        "again": "person-1 and address-2 and address-1/16",
        "taken": "2027-01-10T10:00:00+00:00",
        "groups": [{"name": "p5", "target": 32, "spot": False, "plan": None, "release": "1.2.3"}],
    }


def test_nothing_of_what_was_taken_out_is_left() -> None:
    left = json.dumps(redacted(DATA))
    taken_out = ("111122223333", "444455556666", "ada", "grace", "10.1.2.3", "10-1-2-3", "fd00")
    assert [word for word in taken_out if word in left] == []


def test_a_state_is_not_taken_for_a_person_of_the_same_name() -> None:
    data = {"status": "Running", "why": "arn:aws:sts::111122223333:assumed-role/Admin/Running"}
    assert redacted(data)["status"] == "Running"


def test_a_session_of_a_service_is_no_person() -> None:
    arn = "arn:aws:sts::111122223333:assumed-role/cdk-exec/AWSCloudFormation"
    assert redacted({"why": arn})["why"] == arn.replace("111122223333", "000000000001")


ACCOUNT = "arn:aws:iam::111122223333:"
SESSION = "arn:aws:sts::111122223333:assumed-role/Deploy/"


def one(text: str, *others: str) -> str:
    """A text of a message, after others of the same file were learnt."""
    changed = redacted({"others": [*others], "message": text})["message"]
    assert isinstance(changed, str)
    return changed


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("10.1.2.3:988 refused", "address-1:988 refused"),
        ("10.1.2.3-10.1.2.9", "address-1-address-2"),
        ("node-10.1.2.3", "node-address-1"),
        ("node-10-1-2-3.", "node-address-1."),
        ("10.1.2.3@tcp:/abc on 10.1.2.3.", "address-1@tcp:/abc on address-1."),
        ("010.001.002.003 is 10.1.2.3", "address-1 is address-1"),
        ("[2001:db8::1]:22", "[address-1]:22"),
        ("2001:db8::1: refused", "address-1: refused"),
        ("2001:db8:0:0:0:0:0:1:988, of 2001:db8::1", "address-1:988, of address-1"),
        ("fe80::1%eth0", "address-1%eth0"),
        ("peer-fe80::1", "peer-address-1"),
        ("card 00:1A:2b:3c:4d:5e", "card address-1"),
    ],
)
def test_an_address_is_found_whatever_stands_around_it(text: str, left: str) -> None:
    assert one(text) == left


@pytest.mark.parametrize("text", ["12:30:45", "version 1.2.3", "1.2.3.4.5", "300.1.2.3", "arn:aws:s3:::b/x"])
def test_what_only_looks_like_an_address_stays(text: str) -> None:
    assert one(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("s3://scripts111122223333/x", "s3://scripts000000000001/x"),
        ("account_111122223333_x", "account_000000000001_x"),
        ("1111-2222-3333", "0000-0000-0001"),
        ("of 1111 2222 3333", "of 0000 0000 0001"),
        ("s3://scripts1111222233332026/x", "s3://scripts0000000000012026/x"),
    ],
)
def test_an_account_is_found_whatever_stands_around_it(text: str, left: str) -> None:
    assert one(text, ACCOUNT + "role/Deploy") == left


def test_the_middle_of_a_uuid_and_other_numbers_are_no_account() -> None:
    text = "request 0123abcd-1111-2222-3333-0123456789ab of 1234567890123"
    assert one(text) == text


def test_an_access_key_and_the_id_of_a_session_are_taken_out() -> None:
    key, role = "AKIAIOSFODNN7EXAMPLE", "AROAIOSFODNN7EXAMPLE"
    assert one(f"{key} and {role}:ada.lovelace, {key}; ada.lovelace") == "key-1 and key-2:person-1, key-1; person-1"


@pytest.mark.parametrize("name", ["awsjsmith", "4711023", "i-0a", "AWSjsmith", "x", "cluster", "ada.lovelace"])
@pytest.mark.parametrize("arn", [ACCOUNT + "user/", ACCOUNT + "user/team/a/", SESSION])
def test_whoever_stands_in_the_place_of_a_person_is_one(arn: str, name: str) -> None:
    assert one(arn + name) == arn.replace("111122223333", "000000000001") + "person-1"


def test_a_session_that_an_instance_has_is_no_person() -> None:
    assert one(SESSION + "i-0123456789abcdef0").endswith("/i-0123456789abcdef0")


@pytest.mark.parametrize("mail", ["jürgen@firma.de", "O'Neil@corp.com", "a.b+c@corp.co.uk"])
def test_a_mail_address_is_taken_out_whole(mail: str) -> None:
    assert one(f"mail {mail}, Mail {mail.upper()}") == "mail person-1, Mail person-1"


def test_a_name_is_found_in_the_name_of_a_thing() -> None:
    text = "s3://ada.lovelace-scripts/ada.lovelace_x and Ada.Lovelace"
    assert one(text, ACCOUNT + "user/ada.lovelace") == "s3://person-1-scripts/person-1_x and person-1"


def test_a_thing_that_is_named_as_a_session_has_the_same_stand_in_in_its_arn_and_alone() -> None:
    plan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/frontier"
    data = redacted({"why": SESSION + "frontier", "plans": [{"arn": plan, "name": "frontier"}]})
    assert data["plans"] == [
        {"arn": plan.replace("111122223333", "000000000001")[:-8] + "person-1", "name": "person-1"}
    ]


@pytest.mark.parametrize("name", ["cluster", "sagemaker", "x"])
def test_a_user_named_as_a_word_of_aws_changes_nothing_else(name: str) -> None:
    texts = ["arn:aws:sagemaker:us-west-2:444455556666:cluster/abc", "s3://b/x/cluster", "ml.p5 for cluster usage"]
    changed = redacted({"texts": texts, "why": ACCOUNT + f"user/{name}"})
    assert changed["texts"] == [text.replace("444455556666", "000000000001") for text in texts]


def test_service_and_kind_of_an_arn_are_kept_whoever_is_named_so() -> None:
    arn = "arn:aws:fsx:us-west-2:111122223333:file-system/fs-0123"
    changed = one(f"{arn} of fsx and file-system", ACCOUNT + "user/fsx", ACCOUNT + "user/file-system")
    assert changed == f"{arn} of person-1 and person-2".replace("111122223333", "000000000001")


def test_of_two_names_the_longer_is_taken_out_whole() -> None:
    assert one("ada-l and ada", ACCOUNT + "user/ada", ACCOUNT + "user/ada-l") == "person-2 and person-1"


def test_no_name_is_found_in_a_stand_in() -> None:
    assert one("person and ada", ACCOUNT + "user/ada", ACCOUNT + "user/person") == "person-2 and person-1"


def test_the_data_itself_is_left_as_it_was() -> None:
    before = json.dumps(DATA)
    redacted(DATA)
    assert json.dumps(DATA) == before
