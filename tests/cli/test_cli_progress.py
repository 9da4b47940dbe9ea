"""The progress of a run where there is no terminal."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from autotune.cli.progress import shown_progress
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.search_spaces.registry import operator
from autotune.tuner import Progress


def test_a_line_for_each_improvement_and_every_ten_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    sgemm = operator("sgemm")
    problem = sgemm.problem_type(1000, 1000, 1000)
    failed = Trial(
        DeviceRecord("GPU", (9, 0), {}), ProblemRecord("sgemm", problem.key, {}), sgemm.schedule_type().to_dict(), "0",
        Status.WRONG, TimeSource.MEASURED, created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip
    first = replace(failed, status=Status.OK, samples=(2e-3,))
    second = replace(first, samples=(1e-3,))
    with shown_progress("title", problem, 9) as show:
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
