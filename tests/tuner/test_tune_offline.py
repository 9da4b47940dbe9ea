"""A run as a machine without a GPU makes it: compiled for real, executed in the emulator, times modelled."""

import pytest
from mutants.cache import cache_with_runtime

from autotune.db import Status, TimeSource
from autotune.devices.select import device
from autotune.search_spaces.contract.modelled_time import fastest_first
from autotune.search_spaces.contract.registry import operator
from autotune.tuner import TuneOptions, tune


@pytest.mark.parametrize(("name", "shape"), [("sgemm", (192, 160, 64)), ("transpose", (300, 200))])
def test_tuning_on_an_offline_device(tmp_path, monkeypatch, db, name, shape):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(cache_with_runtime(tmp_path / "cache")))
    tuned = operator(name)
    problem = tuned.problem_type(*shape)
    h200 = device("h200")
    result = tune(tuned, problem, h200, db, TuneOptions(trials=2, compile_workers=2))
    trials = db.trials(name)
    assert [trial.status for trial in trials] == [Status.OK] * 2
    assert {trial.time_source for trial in trials} == {TimeSource.MODELLED}
    assert all(trial.resources["registers"] > 0 and trial.max_error is not None for trial in trials)
    seeds = fastest_first(tuned, problem, tuned.seeds(problem, h200.spec), h200.spec)
    assert [tuned.schedule(trial.schedule) for trial in reversed(trials)] == seeds[:2]
    assert result.best in trials and result.best.seconds == min(trial.seconds for trial in trials)
