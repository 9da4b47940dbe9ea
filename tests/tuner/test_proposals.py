"""What the sampler is told, and what becomes of its draws."""

from math import inf

import pytest
from optuna.distributions import CategoricalDistribution, IntDistribution
from optuna.samplers import RandomSampler
from optuna.trial import TrialState
from tuner_fakes import SEEDS, TOY, ToyProblem, ToySchedule, toy_seconds, violations

from autotune.db import Status
from autotune.devices.base import Evaluation
from autotune.search_spaces.machine.devices import named_device
from autotune.tuner import TuneOptions, tune
from autotune.tuner.search import optuna_search, proposals
from autotune.tuner.search.optuna_search import OptunaSearch

PROBLEM = ToyProblem(8)


class Spy(RandomSampler):
    """Draws at random, and notes how it was seeded, what it is asked for and what it is told."""

    def __init__(self, seed):
        super().__init__(seed)
        self.seed = seed
        self.distributions = {}
        self.told = []

    def sample_independent(self, study, trial, param_name, param_distribution):
        self.distributions[param_name] = param_distribution
        return super().sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study, trial, state, values):
        self.told.append((schedule_of(trial.params), state, values, trial.constraints))


class Stuck(RandomSampler):
    """Draws the same again and again."""

    def sample_independent(self, study, trial, param_name, param_distribution):
        return param_distribution.to_external_repr(0)


def schedule_of(params):
    values = {p.name: p.values for p in TOY.space(PROBLEM, None).parameters}
    positions = ("width", "depth")
    return ToySchedule.from_dict({n: values[n][value] if n in positions else value for n, value in params.items()})


def put(monkeypatch, sampler):
    """Search with a sampler of Optuna; the list of those made."""
    made = []

    def new_search(name, seed, operator, problem, spec):
        made.append(sampler(seed))
        return OptunaSearch(operator.space(problem, spec), lambda one: violations(problem, one, spec), made[-1])

    monkeypatch.setattr(proposals, "new_search", new_search)
    return made


@pytest.fixture
def spies(monkeypatch):
    return put(monkeypatch, Spy)


def run(device, db, trials):
    return tune(TOY, PROBLEM, device, db, TuneOptions(trials=trials, sampler="tpe", compile_workers=1))


def unrolled_is_wrong(schedule):
    return Evaluation(Status.WRONG, (1e-9,), "wrong") if schedule.unrolled else None


def expected(schedule):
    """The value and the constraints that a legal schedule has."""
    return (inf, {"failed": 1}) if schedule.unrolled else (toy_seconds(schedule), {})


def test_the_sampler_is_told_times_violations_and_repeats(spies, device, db):
    device.outcome = unrolled_is_wrong
    result = run(device, db, 30)
    told = [(schedule, *values, constraints) for schedule, _, values, constraints in spies[0].told if values]
    illegal = [entry for entry in told if violations(PROBLEM, entry[0], None)]
    legal = [entry for entry in told if entry not in illegal]
    assert len(illegal) == result.illegal > 5
    assert all(entry[1:] == (inf, {"illegal": 1}) for entry in illegal)
    assert all(entry[1:] == expected(entry[0]) for entry in legal)
    # A repeat is told what it has; a seed outside of the space is evaluated, and no business of the sampler's.
    assert len(legal) - result.evaluated > 5
    assert {entry[0] for entry in legal} == set(device.evaluations) - {SEEDS[1]}
    # Only a draw that is being tried already has nothing to be told.
    unvalued = [schedule for schedule, state, _, _ in spies[0].told if state is TrialState.FAIL]
    assert len(unvalued) < len(legal) - result.evaluated


def test_a_run_that_goes_on_tells_the_sampler_what_is_known(spies, device, db):
    device.outcome = unrolled_is_wrong
    run(device, db, 20)
    tried = set(device.evaluations) - {SEEDS[1]}
    run(device, db, 1)
    told = {schedule: (*values, constraints) for schedule, _, values, constraints in spies[1].told[: len(tried)]}
    assert told == {schedule: expected(schedule) for schedule in tried}


def test_a_run_that_goes_on_draws_other_random_numbers(spies, device, db):
    run(device, db, 10)
    run(device, db, 10)
    assert spies[0].seed != spies[1].seed


def test_a_sampler_that_repeats_itself_does_not_end_the_search(monkeypatch, device, db):
    monkeypatch.setattr(proposals, "_SWEEP", 50)  # fewer than there are draws, as in a large space
    put(monkeypatch, Stuck)
    result = run(device, db, 20)
    assert result.evaluated == len(set(device.evaluations)) == 20


def test_numbers_are_drawn_in_their_order_and_words_without_one(spies, device, db):
    run(device, db, 10)
    assert spies[0].distributions == {
        "width": IntDistribution(0, 4),
        "depth": IntDistribution(0, 2),
        "order": CategoricalDistribution(("row", "column")),
        "unrolled": CategoricalDistribution((False, True)),
    }


def test_of_a_long_run_the_best_and_the_newest_are_remembered(monkeypatch):
    monkeypatch.setattr(optuna_search, "_MOST_TRIALS", 16)
    listed = proposals.Proposals(TOY, PROBLEM, named_device("h200"), "random", 0, (), {})
    told = []
    for schedule in listed:
        told.append(toy_seconds(schedule) if len(told) != 2 else 1e-9)
        listed.tell(schedule, told[-1])
        values = [trial.value for trial in listed._search._study.get_trials(states=[TrialState.COMPLETE])]
        assert len(values) <= 16
        assert len(told) < 3 or 1e-9 in values
        assert told[-1] in values[-1:]
