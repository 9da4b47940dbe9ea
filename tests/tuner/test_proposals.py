"""What the sampler is told of each draw."""

from math import inf

import optuna
import pytest
from optuna.samplers import RandomSampler
from optuna.trial import TrialState
from tuner_fakes import SEEDS, TOY, ToyDevice, ToyProblem, ToySchedule, toy_seconds, violations

from autotune.db import Status
from autotune.devices.base import Evaluation
from autotune.tuner import TuneOptions, proposals, study, tune

PROBLEM = ToyProblem(8)


class Spy(RandomSampler):
    """Draws at random and notes what it is told."""

    def __init__(self, seed):
        super().__init__(seed)
        self.told = []

    def after_trial(self, study, trial, state, values):
        constraints = trial.constraints
        self.told.append((trial.params, state, values, constraints))


@pytest.fixture
def spy(monkeypatch):
    made = []

    def new_sampler(name, seed):
        made.append(Spy(seed))
        return made[-1]

    monkeypatch.setattr(study, "new_sampler", new_sampler)
    return made


def schedule_of(params):
    parameters = {p.name: p.values for p in TOY.space(PROBLEM, None).parameters}
    return ToySchedule.from_dict(
        {name: parameters[name][value] if name in ("width", "depth") else value for name, value in params.items()}
    )


def wrong(schedule):
    return Evaluation(Status.WRONG, (1e-9,), "wrong") if schedule.unrolled else None


def test_the_sampler_is_told_times_violations_and_repeats(spy, device, db):
    device.outcome = wrong
    result = tune(TOY, PROBLEM, device, db, TuneOptions(trials=30, compile_workers=2))
    illegal = repeats = 0
    seen = set()
    for params, state, values, constraints in spy[0].told:
        schedule = schedule_of(params)
        if state is TrialState.FAIL:  # a repeat of a schedule that is being tried
            continue
        assert state is TrialState.COMPLETE
        if found := violations(PROBLEM, schedule, None):
            illegal += 1
            assert (values, constraints) == ([inf], {"illegal": len(found)})
        elif schedule.unrolled:
            assert (values, constraints) == ([inf], {"wrong": 1})
        else:
            assert (values, constraints) == ([toy_seconds(schedule)], {})
        repeats += schedule in seen
        seen.add(schedule)
    assert (illegal, repeats) == (result.illegal, repeats)
    assert illegal > 5
    assert repeats > 5
    # A seed outside of the space is evaluated all the same, and no business of the sampler's.
    assert set(device.evaluations) - seen == {SEEDS[1]}


def test_a_run_that_goes_on_tells_the_sampler_what_is_known(spy, device, db):
    device.outcome = wrong
    tune(TOY, PROBLEM, device, db, TuneOptions(trials=20, compile_workers=2))
    known = set(device.evaluations) - {SEEDS[1]}
    added = []

    class Listening(Spy):
        def before_trial(self, study, trial):
            if not added:
                added.extend(study.get_trials(states=[TrialState.COMPLETE]))

    device.outcome = None
    study_module = study
    study_module.new_sampler = lambda name, seed: Listening(seed)
    tune(TOY, PROBLEM, device, db, TuneOptions(trials=1, compile_workers=2))
    assert {schedule_of(trial.params) for trial in added} == known
    for trial in added:
        schedule = schedule_of(trial.params)
        expected = (inf, {"wrong": 1}) if schedule.unrolled else (toy_seconds(schedule), {})
        assert (trial.value, trial.constraints) == expected


def test_a_run_that_goes_on_draws_other_random_numbers(spy, device, db):
    for _ in range(2):
        tune(TOY, PROBLEM, device, db, TuneOptions(trials=10, sampler="random", compile_workers=1))
    first, second = ([params for params, *_ in sampler.told][len(SEEDS) :] for sampler in spy)
    assert first[:5] != second[:5]


def test_a_sampler_that_repeats_itself_does_not_hold_up_a_large_space(monkeypatch, device, db):
    """It is past `_SWEEP` draws, so that random ones stand in for all."""
    monkeypatch.setattr(proposals, "_SWEEP", 50)
    monkeypatch.setattr(study, "new_sampler", lambda name, seed: Stuck(seed))
    result = tune(TOY, PROBLEM, device, db, TuneOptions(trials=20, compile_workers=1))
    assert result.evaluated == len(set(device.evaluations)) == 20


class Stuck(optuna.samplers.RandomSampler):
    """Draws the same again and again."""

    def sample_independent(self, study, trial, param_name, param_distribution):
        return param_distribution.to_external_repr(0)


def test_numbers_are_drawn_in_their_order_and_words_without_one(spy, device, db):
    seen = {}
    original = Spy.sample_independent

    def sample(self, study, trial, name, distribution):
        seen[name] = distribution
        return original(self, study, trial, name, distribution)

    Spy.sample_independent = sample
    try:
        tune(TOY, PROBLEM, ToyDevice(), db, TuneOptions(trials=10, compile_workers=1))
    finally:
        Spy.sample_independent = original
    assert seen["width"] == optuna.distributions.IntDistribution(0, 4)
    assert seen["order"] == optuna.distributions.CategoricalDistribution(("row", "column"))
    assert seen["unrolled"] == optuna.distributions.CategoricalDistribution((False, True))
