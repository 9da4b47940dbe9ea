"""The progress of runs, in lines and in a terminal."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from autotune.cli.rendering.progress import shown_progress
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.search_spaces.devices import named_device
from autotune.search_spaces.registry import operator
from autotune.tuner import Progress

H200 = named_device("h200")


def test_a_line_for_each_improvement_and_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    sgemm = operator("sgemm")
    problem = sgemm.problem_type(1000, 1000, 1000)
    failed = Trial(
        DeviceRecord("GPU", (9, 0), {}), ProblemRecord("sgemm", problem.key, {}), sgemm.schedule_type().to_dict(), "0",
        Status.WRONG, TimeSource.MEASURED, created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    first = replace(failed, status=Status.OK, samples=(2e-3,))
    second = replace(first, samples=(1e-3,))
    with shown_progress() as screen, screen.run("title", problem, H200, 9) as show:
        for done, (trial, elapsed, best) in enumerate(
            [(failed, 1, None), (first, 12, first), (failed, 13, first), (failed, 22, first), (second, 23, second)], 1
        ):
            show(Progress(trial, done, 9, elapsed, best))
    lines = [line.partition("  BM=")[0] for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "title: up to 9 trials",
        "2/9  12 s  1 failed  1 TFLOP/s  2 ms measured",
        "4/9  22 s  3 failed  1 TFLOP/s  2 ms measured",
        "5/9  23 s  3 failed  2 TFLOP/s  1 ms measured",
    ]


def test_a_terminal_has_a_bar_for_each_run_that_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    problem = operator("sgemm").problem_type(8, 8, 8)
    shown = []
    with shown_progress() as screen:
        with screen.run("first", problem, H200, 9, "0: "), screen.run("second", problem, H200, 9, "1: "):
            for _ in range(2):
                with screen.paused():
                    print("winner")
                shown.append(capsys.readouterr())
        with screen.paused():
            shown.append(capsys.readouterr())
    assert all("0: first" in one.err and "1: second" in one.err for one in shown[:2])
    assert [one.out for one in shown] == ["winner\n", "winner\n", ""]
    assert "0: first" not in capsys.readouterr().err
