"""Every rule has a test of its own that fails without it."""

from __future__ import annotations

import pytest

from hyperpod_constructs.rules import RULES
from tools import survivors


@pytest.mark.proof
def test_no_rule_can_be_turned_off_unseen() -> None:
    assert survivors.survivors(sorted(RULES)) == []


@pytest.mark.proof
def test_a_rule_that_no_test_misses_is_found() -> None:
    """The proof above must be able to fail: these tests are not about rules."""
    assert survivors.survives("HP3013", survivors.ROOT / "tests" / "rules" / "test_words.py")
