"""Bayesian optimisation on the toy: what it proposes, and what it makes of what it is told."""

from types import SimpleNamespace

import pytest
from tuner_fakes import LEGAL, ToyProblem, ToySchedule, space, toy_seconds, violations

from autotune.db import Status
from autotune.tuner import bayes
from autotune.tuner.bayes import BayesStudy

SPACE = space(None, None)
PROBLEM = ToyProblem(8)
BEST = ToySchedule(4, 4, "column", True)


def study(predict=toy_seconds, seed=0):
    return BayesStudy(SPACE, lambda schedule: not violations(PROBLEM, schedule, None), predict, seed)


def outcome(schedule, status=Status.OK):
    return SimpleNamespace(status=status, seconds=toy_seconds(schedule))


def proposals(asked, count):
    """What a study proposes one after the other, each told before the next."""
    found = []
    for _ in range(count):
        promising = asked.ask()
        found.append(SPACE.build(promising.draw))
        asked.tell(promising, outcome(found[-1]))
    return found


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
    assert sum(map(toy_seconds, found[2:6])) / 4 < 0.5 * average, "two are enough to know where to look"
    wrong = proposals(study(lambda schedule: 1 / toy_seconds(schedule)), 25)
    assert BEST in wrong


def test_draws_that_wait_are_neither_proposed_again_nor_crowded_around():
    asked = study(lambda schedule: 1.0)
    proposals(asked, 6)
    waiting = [SPACE.build(asked.ask().draw) for _ in range(6)]
    assert len(set(waiting)) == 6
    assert not set(waiting) & set(asked._candidates())
    alone = study(lambda schedule: 1.0)
    proposals(alone, 6)
    points, features = alone._rows(alone._candidates())
    ranked = sorted(zip(-alone._scores(points, features), alone._candidates(), strict=True), key=lambda pair: pair[0])
    assert [schedule for _, schedule in ranked[:6]] != waiting


def test_a_failure_counts_as_slow_and_what_is_slow_as_twice_the_best():
    asked = study()
    for schedule in sorted(LEGAL, key=str)[:8]:
        asked.add(SPACE.draw_of(schedule), outcome(schedule, Status.WRONG))
    first = asked.ask()
    assert SPACE.build(first.draw) == BEST, "of failures alone nothing can be learnt"
    asked.tell(first, outcome(BEST))
    seen = []
    learn = asked._process.fit
    asked._process.fit = lambda points, features, values: (seen.append(values), learn(points, features, values))
    asked.ask()
    assert max(seen[0]) == min(seen[0]), "one time is known, so that failures count as that"
    second = ToySchedule(1, 1)
    asked.add(SPACE.draw_of(second), outcome(second))
    asked.ask()
    known = seen[-2]  # the last one has what is expected of the draw that waits as well
    assert max(known) == pytest.approx(min(known) + bayes._WORTHLESS)


def test_of_a_long_run_the_best_and_the_newest_count(monkeypatch):
    monkeypatch.setattr(bayes, "_MOST", 10)
    asked = study()
    listed = sorted(LEGAL, key=toy_seconds)
    for schedule in listed:
        asked.add(SPACE.draw_of(schedule), outcome(schedule))
    assert list(asked._remembered()) == [*listed[:5], *listed[-5:]]


def test_a_space_larger_than_the_pool_is_searched_near_the_best(monkeypatch):
    monkeypatch.setattr(bayes, "_POOL", 5)
    asked = study(lambda schedule: 1.0)
    asked.add(SPACE.draw_of(ToySchedule(4, 4, "column")), outcome(ToySchedule(4, 4, "column")))
    assert SPACE.build({**SPACE.draw_of(BEST)}) in asked._candidates()
    assert len(asked._candidates()) < len(LEGAL) - 1
