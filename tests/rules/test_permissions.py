"""What policies allow."""

from __future__ import annotations

import re
from itertools import product
from typing import ClassVar

from hypothesis import given, strategies as st

from hyperpod_constructs.rules._permissions import cure, denied, granted, overlap
from tests.rules.roles import role, statement


class TestOverlap:
    @staticmethod
    def match(pattern: str, text: str) -> bool:
        parts = {"*": ".*", "?": "."}
        return re.fullmatch("".join(parts.get(char, re.escape(char)) for char in pattern), text) is not None

    @given(one=st.text("ab*?", max_size=4), other=st.text("ab*?", max_size=4))
    def test_tells_whether_a_text_matches_both(self, one: str, other: str) -> None:
        texts = ("".join(chars) for length in range(9) for chars in product("ab", repeat=length))
        assert overlap(one, other) == any(self.match(one, text) and self.match(other, text) for text in texts)

    @given(text=st.text(min_size=0, max_size=20))
    def test_a_star_matches_everything(self, text: str) -> None:
        assert overlap("*", text)
        assert overlap(text, "*")

    def test_holds_for_long_patterns(self) -> None:
        long = "arn:aws:s3:::" + "a" * 2000
        assert overlap(long, "arn:*:s3:::a*a")
        assert not overlap(long, "arn:*:s3:::a*b")


class TestGranted:
    def test_actions_have_no_case(self) -> None:
        assert granted(role(statements=(statement(("S3:putOBJECT",)),)), "s3:PutObject") is True

    def test_an_inverted_statement_leaves_it_open(self) -> None:
        assert granted(role(statements=(statement(("iam:*",), inverted=True),)), "s3:PutObject") is None

    def test_a_denial_grants_nothing(self) -> None:
        assert granted(role(statements=(statement(("*",), allow=False),)), "s3:PutObject") is False

    def test_what_the_managed_policy_says_is_known(self) -> None:
        assert granted(role(), "s3:GetObject", "arn:aws:s3:::sagemaker-x/a") is True
        assert granted(role(), "s3:GetObject", "arn:aws:s3:::other/a") is False

    def test_what_is_denied_is_not_granted(self) -> None:
        denial = statement(("s3:*",), ("arn:aws:s3:::sagemaker-x/*",), allow=False)
        assert granted(role(statements=(denial,)), "s3:GetObject", "arn:*:s3:::sagemaker-x/lcs/*") is False
        assert granted(role(statements=(denial,)), "s3:GetObject", "arn:*:s3:::sagemaker-y/lcs/*") is True


class TestDenied:
    @given(narrow=st.text("ab*?", max_size=4), wide=st.text("ab*?", max_size=4))
    def test_covers_every_text_of_the_narrower_pattern(self, narrow: str, wide: str) -> None:
        its = role(statements=(statement(("s3:GetObject",), (f"arn:aws:s3:::{wide}",), allow=False),))
        if denied(its, "s3:GetObject", f"arn:*:s3:::{narrow}"):
            texts = ("".join(chars) for length in range(5) for chars in product("abc", repeat=length))
            assert all(TestOverlap.match(wide, text) for text in texts if TestOverlap.match(narrow, text))


class TestCure:
    wanted: ClassVar = {"ec2:CreateTags": "*", "ec2:DescribeVpcs": "*"}

    def test_is_to_allow_what_nothing_denies(self) -> None:
        assert cure(role(), self.wanted, "allow them") == "allow them"

    def test_is_to_take_the_denial_out_first(self) -> None:
        its = role(statements=(statement(("ec2:CreateTags",), allow=False),))
        assert cure(its, self.wanted, "allow them") == (
            "take ec2:CreateTags out of the role's statement with Effect: Deny, and allow them"
        )
