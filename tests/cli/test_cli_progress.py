"""The progress of runs, in lines and in a terminal, and tables in one that is too narrow for them."""

import re
import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from autotune.cli.app import run
from autotune.cli.rendering.output import print_table
from autotune.cli.rendering.progress import shown_progress
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
from autotune.tuner import Progress, TuneOptions

H200 = named_device("h200")
OPTIONS = TuneOptions(9)


def test_a_line_for_each_improvement_and_every_ten_seconds(capsys):
    sgemm = operator("sgemm")
    problem = sgemm.problem_type(1000, 1000, 1000)
    failed = Trial(
        DeviceRecord("GPU", (9, 0), {}), ProblemRecord("sgemm", problem.key, {}), SgemmSchedule().to_dict(), "0",
        Status.WRONG, TimeSource.MEASURED, created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    first = replace(failed, status=Status.OK, samples=(2e-3,))
    second = replace(first, samples=(1e-3,))
    with shown_progress() as screen, screen.run("title", problem, H200, OPTIONS) as show:
        for done, (trial, elapsed, best) in enumerate(
            [(failed, 1, None), (first, 12, first), (failed, 13, first), (failed, 22, first), (second, 23, second)], 1
        ):
            show(Progress(trial, done, 9, elapsed, best))
    lines = [line.partition("  BM=")[0] for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "title: until 9 trials",
        "2/9  12 s  1 failed  1 TFLOP/s  1% of the roofline  2 ms measured",
        "4/9  22 s  3 failed  1 TFLOP/s  1% of the roofline  2 ms measured",
        "5/9  23 s  3 failed  2 TFLOP/s  3% of the roofline  1 ms measured",
    ]


def test_a_terminal_has_a_bar_for_each_run_that_goes_on(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    problem = operator("sgemm").problem_type(8, 8, 8)
    shown = []
    with shown_progress() as screen:
        with screen.run("first", problem, H200, OPTIONS, "0: "), screen.run("second", problem, H200, OPTIONS, "1: "):
            for _ in range(2):
                with screen.paused():
                    print("winner")
                shown.append(capsys.readouterr())
        with screen.paused():
            shown.append(capsys.readouterr())
    assert all("0: first" in one.err and "1: second" in one.err for one in shown[:2])
    assert [one.out for one in shown] == ["winner\n", "winner\n", ""]
    assert "0: first" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "until", "left"),
    [
        (TuneOptions(10, seconds=60), "until 60 s or 10 trials", "2 trials, 40 s left of 60 s"),
        (TuneOptions(4, seconds=60), "until 60 s or 4 trials", "2 trials, about 20 s left for 2 more"),
        (TuneOptions(4), "until 4 trials", "2 trials, about 20 s left for 2 more"),
    ],
)
def test_a_terminal_shows_which_limit_ends_the_run_and_how_trials_ended(capsys, monkeypatch, options, until, left):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    sgemm = operator("sgemm")
    problem = sgemm.problem_type(1000, 1000, 1000)
    schedule = SgemmSchedule()
    good = Trial(
        DeviceRecord("GPU", (9, 0), {}), ProblemRecord("sgemm", problem.key, {}), schedule.to_dict(), schedule.digest,
        Status.OK, TimeSource.MEASURED, samples=(1e-3,), created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    with shown_progress() as screen, screen.run("title", problem, H200, options) as show:
        with screen.paused():
            assert until in capsys.readouterr().err
        show(Progress(replace(good, status=Status.WRONG), 1, 9, 10, None, 8))
        show(Progress(good, 2, 9, 20, good, 7))
        with screen.paused():
            told = capsys.readouterr().err
    assert left in told
    assert "2 TFLOP/s  3% of the roofline  1 ms measured  BM=" in told
    assert "1 wrong, 1 ok; 7 are compiled or wait" in told


COLUMNS = ("device", "problem", "time", "time", "schedule")
ROWS = [("H200", f"m{number}", "1 µs", number, "BM=128 BN=128") for number in (1, 2)]


def printed(capsys, monkeypatch, width, rows, *expendable):
    """The words of each line in a terminal of that width."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    print_table("Title", COLUMNS, ROWS[:rows], expendable)
    text = re.sub(r"\x1b\[\d*m", "", capsys.readouterr().out)
    assert max(map(len, text.splitlines())) <= width
    return [line.split() for line in text.splitlines() if line.strip() and "─" not in line]


def test_columns_that_are_alike_become_words_of_the_title(capsys, monkeypatch):
    assert printed(capsys, monkeypatch, 80, 2)[:2] == [["Title"], " ".join(COLUMNS).split()]
    assert printed(capsys, monkeypatch, 40, 2, "schedule") == [
        ["Title:", "device", "H200,", "time", "1", "µs"],
        ["problem", "time", "schedule"],
        ["m1", "1", "BM=128", "BN=128"],
        ["m2", "2", "BM=128", "BN=128"],
    ]


def test_expendable_columns_go_first_and_the_widest_cells_are_folded_then(capsys, monkeypatch):
    assert printed(capsys, monkeypatch, 30, 1, "problem", "device")[1:] == [
        ["time", "time", "schedule"],
        ["1", "µs", "1", "BM=128", "BN=128"],
    ]
    assert printed(capsys, monkeypatch, 24, 1, "problem", "device")[2:] == [["1", "µs", "1", "BM=128"], ["BN=128"]]


def test_a_terminal_gets_the_default_schedule_first_and_each_field_if_asked(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["show", "gemm", "--device", "h200"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 24
    assert lines[5].startswith("schedule       kernel=wgmma BM=")
    assert run(["show", "gemm", "--device", "h200", "--all"]) == 0
    assert "rows of D" in capsys.readouterr().out
