"""Bayesian optimisation on the toy: what it proposes, and what it makes of what it is told."""

from math import log
from random import Random

import pytest
from tuner_fakes import LEGAL, ToyProblem, ToySchedule, space, toy_seconds, violations

from autotune.tuner.search import bayes
from autotune.tuner.search.bayes import BayesSearch
from autotune.tuner.search.candidates import worthwhile
from autotune.tuner.search.launch_shape import Expected, LaunchShape

SPACE = space(None, None)
PROBLEM = ToyProblem(8)
BEST = ToySchedule(4, 4, "column", True)
ALIKE = LaunchShape(0, 0, 0, 0, 0)


def study(predict=toy_seconds, seed=0, shape=lambda schedule: ALIKE):
    def expected(schedule):
        return Expected(predict(schedule), shape(schedule))

    return BayesSearch(SPACE, lambda schedule: not violations(PROBLEM, schedule, None), expected, seed)


def proposals(asked, count):
    """What a search proposes one after the other, each told before the next."""
    found = []
    for _ in range(count):
        found.append(proposed(asked))
        asked.tell(found[-1], toy_seconds(found[-1]))
    return found


def proposed(asked):
    """The next proposal, which is being tried from now on."""
    schedule = asked.propose()
    asked.wait_for(schedule)
    return schedule


def test_the_first_is_what_the_time_model_finds_fastest():
    assert proposals(study(), 1) == [BEST]
    slowest = max(LEGAL, key=toy_seconds)
    assert toy_seconds(proposals(study(lambda schedule: 1 / toy_seconds(schedule)), 1)[0]) == toy_seconds(slowest)


def test_every_legal_schedule_is_proposed_once():
    found = proposals(study(), len(LEGAL))
    assert set(found) == LEGAL
    assert len(found) == len(LEGAL)


def test_a_model_that_knows_nothing_does_not_keep_it_from_the_best():
    found = proposals(study(lambda schedule: 1.0), 15)
    assert BEST in found, "a random order has it among 15 of 40 with a chance of 3 in 8"
    average = sum(map(toy_seconds, LEGAL)) / len(LEGAL)
    assert sum(map(toy_seconds, found[3:7])) / 4 < 0.5 * average, "three are enough to know where to look"
    wrong = proposals(study(lambda schedule: 1 / toy_seconds(schedule)), 25)
    assert BEST in wrong


def test_what_the_launch_is_like_tells_what_no_parameter_does():
    order = Random(0).sample(sorted(LEGAL, key=str), len(LEGAL))

    def evaluations(shape):
        asked = study(lambda schedule: 1.0, shape=shape)
        places = []
        while 0 not in places:
            schedule = proposed(asked)
            places.append(order.index(schedule))
            asked.tell(schedule, 1 + places[-1] / len(order))
        return len(places)

    assert evaluations(lambda schedule: ALIKE._replace(blocks=order.index(schedule) / len(order))) < 10
    assert evaluations(lambda schedule: ALIKE) > 10, "without it, the best is anywhere"


def test_draws_that_wait_are_neither_proposed_again_nor_crowded_around():
    waiting, alone = study(lambda schedule: 1.0), study(lambda schedule: 1.0)
    proposals(waiting, 6)
    proposals(alone, 6)
    asked = [proposed(waiting) for _ in range(6)]
    assert len(set(asked)) == 6
    candidates = alone.prepare()
    ranked = sorted(zip(-candidates._scores(), candidates._schedules, strict=True), key=lambda pair: pair[0])
    told = set(alone._told)
    assert asked != [schedule for _, schedule in ranked if schedule not in told][:6]


def test_a_failure_counts_as_slow_and_what_is_slow_as_twice_the_best():
    assert worthwhile([2.0, None, 1.9, 9.0]) == pytest.approx([2.0, 1.9 + log(2), 1.9, 1.9 + log(2)])
    assert worthwhile([2.0, None]) == pytest.approx([2.0, 2.0]), "one time is known, so that failures count as that"
    asked = study()
    for schedule in sorted(LEGAL, key=str)[:8]:
        asked.tell(schedule, None)
    assert proposals(asked, 1) == [BEST], "of failures alone nothing can be learnt"


def test_of_a_long_run_the_best_and_the_newest_count(monkeypatch):
    monkeypatch.setattr(bayes, "_MOST", 10)
    asked = study()
    listed = sorted(LEGAL, key=toy_seconds)
    for schedule in listed:
        asked.tell(schedule, toy_seconds(schedule))
    assert list(asked._remembered(10)) == [*listed[:5], *listed[-5:]]
    assert asked.prepare()._chosen == [*listed[:5], *listed[-5:]]


def test_a_space_larger_than_the_pool_is_searched_near_the_best(monkeypatch):
    monkeypatch.setattr(bayes, "_POOL", 5)
    asked = study(lambda schedule: 1.0)
    before = len(asked.prepare()._schedules)
    near = ToySchedule(4, 4, "column")
    asked.tell(near, toy_seconds(near))
    assert before <= 5
    assert BEST in asked.prepare()._schedules
    assert len(asked.prepare()._schedules) < len(LEGAL) - 1


def test_what_it_believes_does_not_depend_on_the_order_in_which_it_was_told():
    """It goes on from what it has, also while others wait."""
    believed = []
    for order in (1, -1):
        search = study()
        proposals(search, 6)
        asked = [proposed(search) for _ in range(4)]
        before = search._candidates
        for schedule in asked[:3][::order]:
            search.tell(schedule, toy_seconds(schedule))
        assert search._candidates is before
        assert list(search._waiting) == asked[3:]
        believed.append(before._scores())
    assert believed[0] == pytest.approx(believed[1])


def test_a_schedule_that_is_not_being_tried_after_all_may_be_proposed_again():
    asked = study()
    first = proposed(asked)
    assert proposed(asked) != first
    asked.give_up(first)
    assert proposed(asked) == first
