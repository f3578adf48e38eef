from __future__ import annotations

import pytest

from hyperpod_constructs.account import arns
from hyperpod_constructs.errors import NotInAccount

ARN = "arn:aws:sagemaker:us-east-1:111122223333:cluster/0123456789ab"


def test_an_arn_of_another_region_is_refused_with_the_region_to_use() -> None:
    with pytest.raises(NotInAccount) as error:
        arns.must_be_of("us-west-2", ARN)
    assert str(error.value) == f"{ARN} is in us-east-1, and us-west-2 was asked: use --region us-east-1"


@pytest.mark.parametrize(
    "subject", [ARN.replace("us-east-1", "us-west-2"), "Frontier", "arn:", "arn:aws:iam::1:role/x"]
)
def test_an_arn_of_the_region_and_names_are_not(subject: str) -> None:
    arns.must_be_of("us-west-2", subject)
