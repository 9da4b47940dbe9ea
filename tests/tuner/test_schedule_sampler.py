"""Bayesian optimisation as a sampler that anybody may pass to Optuna."""

from math import inf

import optuna
import pytest
from optuna.trial import TrialState, create_trial
from tuner_fakes import LEGAL, SEEDS, TOY, ToyProblem, ToySchedule, toy_seconds

from autotune.base.optuna_log import quiet_optuna
from autotune.search_spaces.contract.trial_space import TrialSpace
from autotune.search_spaces.machine.devices import named_device
from autotune.tuner.search.schedule_sampler import ScheduleSampler

PROBLEM, SPEC = ToyProblem(8), named_device("h200")
SPACE = TrialSpace(TOY.space(PROBLEM, SPEC))
BEST = ToySchedule(4, 4, "column", True)


@pytest.fixture(autouse=True)
def quiet():
    with quiet_optuna():
        yield


def sampler(first=(), seed=0):
    return ScheduleSampler(TOY, PROBLEM, SPEC, first, seed)


def study(**arguments):
    return optuna.create_study(sampler=sampler(**arguments))


def asked(study):
    """The trial and the schedule that the study asks for."""
    trial = study.ask(SPACE.distributions)
    return trial, SPACE.schedule_of(trial.params)


def told(study, count, seconds=toy_seconds):
    """What is asked for one after the other, each told before the next."""
    schedules = []
    for _ in range(count):
        trial, schedule = asked(study)
        schedules.append(schedule)
        study.tell(trial, seconds(schedule))
    return schedules


def test_all_legal_schedules_are_proposed_and_each_once():
    searched = study()
    found = told(searched, len(LEGAL))
    assert set(found) == LEGAL
    assert BEST in found[:20], "it learns from what it is told"
    asked(searched)  # there is no other


def test_what_is_given_comes_first_and_by_default_that_is_the_seeds_of_the_space():
    assert told(study(first=[BEST, SEEDS[0]]), 2) == [BEST, SEEDS[0]]
    inside = [seed for seed in SEEDS if SPACE.params_of(seed)]
    assert set(told(study(first=None), len(inside))) == set(inside)
    waiting = study(first=[BEST])
    assert [asked(waiting)[1] == BEST for _ in range(2)] == [True, False]


def test_all_that_it_remembers_is_in_the_trials():
    first = study()
    told(first, 12)
    for state in (TrialState.FAIL, TrialState.PRUNED):
        first.tell(asked(first)[0], state=state)
    waits, _ = asked(first)
    second = study()
    second.add_trials(trial for trial in first.trials if trial.number != waits.number)
    second.enqueue_trial(waits.params)
    asked(second)
    tried = {SPACE.schedule_of(trial.params) for trial in second.trials}
    assert len(tried) == 15
    assert set(told(second, len(LEGAL) - 15)) == LEGAL - tried


def test_one_sampler_serves_one_study_after_the_other():
    both = sampler()
    studies = [optuna.create_study(sampler=both) for _ in range(2)]
    assert told(studies[0], 5) == told(studies[1], 5)
    assert told(studies[0], 1) == told(studies[1], 1)


def test_a_trial_that_runs_elsewhere_is_not_proposed():
    searched = study()
    _, next_one = asked(study())
    params = SPACE.params_of(next_one)
    for state in (TrialState.RUNNING, TrialState.WAITING):
        searched.add_trial(create_trial(state=state, params=params, distributions=SPACE.distributions))
    searched._pop_waiting_trial_id()
    assert asked(searched)[1] != next_one


def test_parameters_that_are_given_count_and_the_proposal_that_they_change_is_free_again():
    searched, like = study(), study()
    _, proposed = asked(like)
    searched.enqueue_trial({"unrolled": not proposed.unrolled})
    trial, schedule = asked(searched)
    assert schedule.unrolled != proposed.unrolled
    searched.tell(trial, 1.0)
    assert proposed in told(searched, len(LEGAL) - 1)


@pytest.mark.parametrize("bad", [inf, -1.0, 0.0])
def test_a_value_that_is_no_time_counts_as_slow(bad):
    searched = study()
    told(searched, 5, lambda schedule: bad)
    assert len(set(told(searched, 10))) == 10


def test_a_violated_constraint_counts_as_slow():
    fast, slow = study(), study()
    for searched in (fast, slow):
        told(searched, 6)
        trial, _ = asked(searched)
        if searched is slow:
            trial.set_constraint("wrong", 1.0)
        searched.tell(trial, 1e-9)
    assert sampled_near(fast) != sampled_near(slow)


def sampled_near(searched):
    return told(searched, 3)


def test_threads_of_a_study_propose_different_schedules():
    searched = study()
    found = []

    def objective(trial):
        for name, distribution in SPACE.distributions.items():
            trial._suggest(name, distribution)
        found.append(SPACE.schedule_of(trial.params))
        return toy_seconds(found[-1])

    searched.optimize(objective, n_trials=24, n_jobs=4)
    assert len(set(found)) == 24


def test_a_study_that_maximises_is_refused():
    searched = optuna.create_study(sampler=sampler(), direction="maximize")
    with pytest.raises(ValueError, match=r"minimises one value: expected create_study\(direction='minimize'\)"):
        asked(searched)


def test_other_parameters_are_drawn_at_random():
    trial = study().ask(SPACE.distributions)
    assert 0 <= trial.suggest_float("share", 0, 1) <= 1


def test_a_trial_of_another_space_has_no_schedule():
    with pytest.raises(ValueError, match="parameters width: expected width, depth, order, unrolled"):
        SPACE.schedule_of({"width": 0})
