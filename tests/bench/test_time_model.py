"""How well the model orders schedules, and calibrating it: on recordings of another calibration of itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recording_factory import LIMITS, recording

from autotune.bench.time_model import Modelled, Quality, calibrated
from autotune.devices.model import Calibration, estimated_resources, predict_seconds
from autotune.devices.recording import Recording, load
from autotune.search_spaces.registry import operator
from autotune.search_spaces.restriction import sample

SGEMM = operator("sgemm")
TRUE = Calibration(hiding=0.8, l2_bytes=12.0, load_lanes=20.0)


def modelled(size: int, calibration: Calibration, factor: float = 1.0) -> Modelled:
    """A recording, held in memory, of what the model says with a calibration, times a factor."""
    problem = SGEMM.problem_type(size, size, size)
    times = {}
    for schedule in sample(SGEMM, problem, LIMITS, SGEMM.space(problem, LIMITS), 60, seed=0):
        source = SGEMM.emit(problem, schedule)
        resources = estimated_resources(problem, source, LIMITS)
        times[schedule] = factor * predict_seconds(problem, source, resources, LIMITS, calibration)
    recorded = object.__new__(Recording)
    recorded.__dict__.update(operator=SGEMM, problem=problem, limits=LIMITS, seconds=times)
    return Modelled(recorded)


def test_what_the_model_says_it_orders_perfectly() -> None:
    assert modelled(1024, TRUE).quality(TRUE) == Quality(1.0, 0.0)


def test_regret_is_of_the_best_among_the_first_ten() -> None:
    one = modelled(1024, Calibration())
    order = np.argsort(one.seconds)
    one.seconds = 1 / one.seconds
    slowest_first = one.quality(Calibration())
    assert slowest_first.rank_correlation == pytest.approx(-1.0)
    assert slowest_first.regret == pytest.approx(one.seconds[order[9]] / one.seconds.min() - 1)


def test_a_calibration_on_other_problems_is_found_whatever_their_clock() -> None:
    found = calibrated([modelled(2048, TRUE, factor=1.3), modelled(512, TRUE, factor=0.9)])
    other = modelled(1024, TRUE)
    assert other.quality(found).rank_correlation > 0.99 > other.quality(Calibration()).rank_correlation
    assert other.quality(found).regret < 0.01


def test_a_kernel_that_is_not_compiled_is_given_registers_that_fit() -> None:
    problem = SGEMM.problem_type(1024, 1024, 1024)
    sources = [SGEMM.emit(problem, s) for s in sample(SGEMM, problem, LIMITS, SGEMM.space(problem, LIMITS), 60, seed=0)]
    found = [estimated_resources(problem, source, LIMITS).registers for source in sources]
    assert all(r * s.launch.threads <= LIMITS.registers_per_block for r, s in zip(found, sources, strict=True))
    assert 24 <= min(found) < 150 < max(found) <= LIMITS.registers_per_thread
    few = replace(LIMITS, registers_per_thread=64)
    assert max(estimated_resources(problem, source, few).registers for source in sources) == 64


def test_it_reads_recordings(tmp_path: Path) -> None:
    assert len(Modelled(load(recording(tmp_path / "r", 12))).predicted(TRUE)) == 12
