"""Tables in a terminal that is too narrow for them."""

import re

import pytest

from autotune.cli.app import run
from autotune.cli.rendering.output import print_table

COLUMNS = ("device", "problem", "time", "time", "schedule")
ROWS = [("H200", f"m{number}", "1 µs", number, "BM=128 BN=128") for number in (1, 2)]


def printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int, rows: int, *expendable: str
) -> list[list[str]]:
    """The words of each line in a terminal of that width."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    print_table("Title", COLUMNS, ROWS[:rows], expendable)
    text = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out)
    assert max(map(len, text.splitlines())) <= width
    return [line.split() for line in text.splitlines() if line.strip() and "─" not in line]


def test_columns_that_are_alike_become_words_of_the_title(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert printed(capsys, monkeypatch, 80, 2)[:2] == [["Title"], " ".join(COLUMNS).split()]
    assert printed(capsys, monkeypatch, 40, 2, "schedule") == [
        ["Title:", "device", "H200,", "time", "1", "µs"],
        ["problem", "time", "schedule"],
        ["m1", "1", "BM=128", "BN=128"],
        ["m2", "2", "BM=128", "BN=128"],
    ]


def test_expendable_columns_go_first_and_the_widest_cells_are_folded_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert printed(capsys, monkeypatch, 30, 1, "problem", "device")[1:] == [
        ["time", "time", "schedule"],
        ["1", "µs", "1", "BM=128", "BN=128"],
    ]
    assert printed(capsys, monkeypatch, 24, 1, "problem", "device")[2:] == [["1", "µs", "1", "BM=128"], ["BN=128"]]


def test_a_terminal_gets_the_default_schedule_first_and_each_field_if_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["show", "gemm", "--device", "h200"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 24
    assert lines[5].startswith("schedule       kernel=wgmma BM=")
    assert run(["show", "gemm", "--device", "h200", "--all"]) == 0
    assert "rows of D" in capsys.readouterr().out
