from __future__ import annotations

import sys

import pytest

from hyperpod_constructs.cli import terminal
from hyperpod_constructs.findings import Severity


@pytest.fixture
def _tty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


class TestWidth:
    def test_is_120_outside_a_terminal_whatever_columns_says(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "60")
        assert terminal.width() == 120

    @pytest.mark.usefixtures("_tty")
    def test_is_that_of_the_terminal(self) -> None:
        assert terminal.width() == 80

    @pytest.mark.usefixtures("_tty")
    def test_has_room_for_a_message_in_a_very_narrow_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "10")
        assert terminal.width() == 50


class TestColour:
    @pytest.mark.usefixtures("_tty")
    def test_marks_the_severity_on_a_terminal(self) -> None:
        assert terminal.coloured("error", Severity.ERROR) == "\x1b[31merror\x1b[0m"

    @pytest.mark.usefixtures("_tty")
    @pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
    def test_is_left_out_where_it_is_not_wanted(self, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
        monkeypatch.setenv(name, value)
        assert terminal.coloured("error", Severity.ERROR) == "error"

    def test_is_left_out_in_a_pipe(self) -> None:
        assert terminal.coloured("error", Severity.ERROR) == "error"


class TestTable:
    def test_lines_columns_up_and_sets_numbers_flush_right(self) -> None:
        assert terminal.table([("1", "a", "x"), ("1,024", "bcd", "")], right={0}) == ["      1  a    x", "  1,024  bcd"]

    def test_of_nothing_is_nothing(self) -> None:
        assert terminal.table([]) == []
