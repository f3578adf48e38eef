from __future__ import annotations

import pytest

from hyperpod_constructs.account import preflight
from hyperpod_constructs.rules import RULES, pages
from tests.cli.conftest import Run

LUSTRE = RULES["HP3001"]
ALL = sorted({"HP0000", *RULES, *preflight.RULES})


class TestList:
    def test_has_every_rule_in_the_order_of_ids(self, run: Run) -> None:
        result = run("rules")
        ids = [line.split()[0] for line in result.out.splitlines() if line.startswith("HP")]
        assert (result.code, ids) == (0, ALL)

    def test_ends_with_the_number_and_how_to_ask_for_more(self, run: Run) -> None:
        last = run("rules").out.splitlines()[-1]
        assert last == f"{len(ALL)} rules; `hyperpod rules ID` explains one, with an example"

    def test_as_json_has_everything_but_the_code(self, run: Run) -> None:
        rows = run("rules", "--format", "json").data["rules"]
        assert [row["id"] for row in rows] == ALL
        assert {frozenset(row) for row in rows} == {frozenset({"id", "severity", "title", "because", "source"})}


class TestOne:
    def test_prints_its_page(self, run: Run) -> None:
        result = run("rules", "HP3001")
        assert result.code == 0
        assert result.out == pages.markdown(pages.page(LUSTRE))

    def test_is_as_wide_as_the_terminal(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("hyperpod_constructs.cli.terminal.width", lambda: 60)
        assert run("rules", "HP3001").out == pages.markdown(pages.page(LUSTRE), 60)

    def test_may_be_typed_in_lower_case(self, run: Run) -> None:
        assert run("rules", "hp3001").out == run("rules", "HP3001").out

    def test_as_json_has_all_of_its_page(self, run: Run) -> None:
        (row,) = run("rules", "HP3001", "--format", "json").data["rules"]
        assert row == pages.as_data(pages.page(LUSTRE))

    def test_as_json_has_at_least_what_the_list_has(self, run: Run) -> None:
        (row,) = run("rules", "HP3001", "--format", "json").data["rules"]
        listed = {each["id"]: each for each in run("rules", "--format", "json").data["rules"]}["HP3001"]
        assert listed.items() <= row.items()

    def test_unknown_names_near_ones_and_is_exit_2(self, run: Run) -> None:
        result = run("rules", "HP301")
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("hyperpod: there is no rule HP301; did you mean HP3")
        assert result.err.endswith(f"`hyperpod rules` lists all {len(ALL)}\n")

    def test_unlike_any_names_none(self, run: Run) -> None:
        result = run("rules", "lustre")
        expected = f"hyperpod: there is no rule lustre; `hyperpod rules` lists all {len(ALL)}\n"
        assert (result.code, result.err) == (2, expected)

    def test_of_preflight_says_that_it_takes_an_account(self, run: Run) -> None:
        said = " ".join(run("rules", "HP9010").out.split())
        assert said.startswith("# HP9010: Quota is too small for what the account uses and this deployment adds ")
        assert "There is no example: no template draws it, as it takes an account, which `hyperpod preflight" in said
        assert "It cannot be acknowledged: it is about the account and not about the app." in said

    def test_the_rule_for_checks_that_did_not_run_is_explained(self, run: Run) -> None:
        assert "a check that did not run must not look like one that found nothing" in run("rules", "HP0000").out
