"""How well the model orders schedules: on recordings of its own times."""

from collections.abc import Mapping

import pytest
from factories import SPEC

from autotune.bench.time_model import FIRST, quality
from autotune.codegen.model.schedule import Schedule
from autotune.devices.recording import Recording
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.contract.restriction import sample

SGEMM = operator("sgemm")
PROBLEM = SGEMM.problem_type(1024, 1024, 1024)


def modelled() -> dict[Schedule, float]:
    schedules = sample(SGEMM, PROBLEM, SPEC, SGEMM.space(PROBLEM, SPEC), 60, seed=0)
    return {schedule: modelled_seconds(SGEMM, PROBLEM, schedule, SPEC) for schedule in schedules}


def recorded(seconds: Mapping[Schedule, float]) -> Recording:
    """A recording, held in memory."""
    recording = object.__new__(Recording)
    recording.__dict__.update(operator=SGEMM, problem=PROBLEM, spec=SPEC, seconds=seconds)
    return recording


def test_what_the_model_says_it_orders_perfectly_whatever_the_clock() -> None:
    found = quality(recorded({schedule: 2 * seconds for schedule, seconds in modelled().items()}))
    assert (found.rank_correlation, found.regret, found.level) == (pytest.approx(1), 0, pytest.approx(1 / 2))
    assert found.spread == pytest.approx(0, abs=1e-9)


def test_regret_is_of_the_best_among_the_first_ten() -> None:
    times = {schedule: 1 / seconds for schedule, seconds in modelled().items()}
    found, slowest_first = quality(recorded(times)), sorted(times.values(), reverse=True)
    assert found.rank_correlation == pytest.approx(-1)
    assert found.regret == pytest.approx(slowest_first[FIRST - 1] / min(times.values()) - 1)


def test_the_spread_is_of_logarithms() -> None:
    factors = (2.0, 8.0)
    times = {s: seconds * factors[n % 2] for n, (s, seconds) in enumerate(modelled().items())}
    assert quality(recorded(times)).spread == pytest.approx(0.693147, rel=1e-4)
