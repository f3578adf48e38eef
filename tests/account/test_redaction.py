from __future__ import annotations

import json

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


def test_a_hash_of_digits_is_no_account() -> None:
    assert redacted({"uri": "s3://b/a123456789012b/x"}) == {"uri": "s3://b/a123456789012b/x"}


def test_the_data_itself_is_left_as_it_was() -> None:
    before = json.dumps(DATA)
    redacted(DATA)
    assert json.dumps(DATA) == before
