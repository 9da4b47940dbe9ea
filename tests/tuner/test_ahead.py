"""Proposing ahead: how many, in which order, and what becomes of those that nobody waits for any more."""

from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from autotune.tuner.ahead import Ahead
from autotune.tuner.evaluator import Job
from autotune.tuner.proposals import Candidate


class Numbers(Iterator):
    """Proposes 1, 2, … up to a last one; `log` has what it was asked and told, in order."""

    def __init__(self, last):
        self.last, self.log = last, []

    def prepare(self):
        self.log.append("prepare")

    def tell(self, candidate, trial):
        self.log.append(f"told {candidate.schedule}")

    def __next__(self):
        number = 1 + sum(word.isdecimal() for word in self.log)
        if number > self.last:
            raise StopIteration
        self.log.append(str(number))
        return Candidate(number, None)


def started(schedule):
    return Job(schedule, None, Future())


def idle(ahead):
    """Wait until the thread has done all that it was given."""
    ahead._thread.submit(int).result()


def test_as_many_as_asked_for_are_started_and_one_more_for_each_result():
    numbers = Numbers(6)
    with Ahead(numbers, 100, started, 2) as ahead:
        idle(ahead)
        assert numbers.log == ["1", "2", "prepare"]
        order = []
        for candidate, _ in ahead:
            order.append(candidate.schedule)
            ahead.tell(candidate, None)
            idle(ahead)
    assert order == [1, 2, 3, 4, 5, 6]
    assert numbers.log[3:] == ["told 1", "3", "told 2", "4", "told 3", "5", "told 4", "6", "told 5", "told 6"]


def test_more_are_under_way_of_those_that_come_first_whatever_the_results_are():
    numbers = Numbers(8)
    with Ahead(numbers, 100, started, 1, given=5, given_depth=3) as ahead:
        for candidate, _ in ahead:
            idle(ahead)
            ahead.tell(candidate, None)
            idle(ahead)
    assert " ".join(numbers.log) == "1 2 3 prepare told 1 4 told 2 5 told 3 told 4 told 5 6 told 6 7 told 7 8 told 8"


def test_no_more_than_the_trials_are_proposed():
    numbers = Numbers(100)
    with Ahead(numbers, 3, started, 8) as ahead:
        assert [candidate.schedule for candidate, _ in ahead] == [1, 2, 3]
    assert numbers.log == ["1", "2", "3", "prepare"]


def test_those_that_are_left_are_given_up():
    with Ahead(Numbers(100), 100, started, 3) as ahead:
        first = next(ahead)
        idle(ahead)
        left = [future.result().job.kernel for future in ahead._started]
    assert not first.job.kernel.cancelled()
    assert len(left) == 2
    assert all(kernel.cancelled() for kernel in left)


def test_what_goes_wrong_there_is_raised_here():
    def refuse(schedule):
        raise ValueError("no such source")

    with Ahead(Numbers(1), 100, refuse, 1) as ahead, pytest.raises(ValueError, match="no such source"):
        next(ahead)
