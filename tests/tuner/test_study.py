"""What a sampler remembers of a long run."""

from math import inf

import pytest

from autotune.db import Status
from autotune.search_spaces.space import Parameter
from autotune.tuner import study
from autotune.tuner.study import Outcome, Study

MOST = 40


@pytest.fixture
def long_study(monkeypatch):
    monkeypatch.setattr(study, "_MOST_TRIALS", MOST)
    return Study((Parameter("number", tuple(range(1000))),), "random", 0)


def remembered(long_study):
    """The values of the trials that the sampler sees, in the order told."""
    return [trial.value for trial in long_study._study.get_trials()]


def ok(seconds):
    return Outcome(Status.OK, float(seconds))


def test_the_best_and_the_newest_are_remembered(long_study):
    best = [1, 2, 3]
    for seconds in [*best, *range(100, 100 + 2 * MOST)]:
        long_study.tell(long_study.ask(), ok(seconds))
        long_study.reject(long_study.ask(), 2)
        assert len(remembered(long_study)) <= MOST
    assert remembered(long_study)[:3] == best
    assert remembered(long_study)[-2:] == [100 + 2 * MOST - 1, inf]


def test_a_draw_that_was_asked_for_before_is_told_all_the_same(long_study):
    waiting, silent = long_study.ask_for({"number": 7}), long_study.ask()
    for seconds in range(1, 2 * MOST):
        long_study.tell(long_study.ask(), ok(seconds))
    long_study.tell(waiting, ok(0.5))
    long_study.ignore(silent)
    told = long_study._study.best_trial
    assert (told.value, told.params) == (0.5, {"number": 7})
