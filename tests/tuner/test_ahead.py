"""Proposing ahead: how many, in which order, and what becomes of those that nobody waits for any more."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, wait

import pytest

from autotune.tuner.ahead import Ahead
from autotune.tuner.evaluator import Job


class Numbers(Iterator):
    """Proposes 1, 2, … up to a last one; `log` has what it was asked and told, in order."""

    def __init__(self, last):
        self.last, self.log = last, []

    def learn(self, number):
        self.log.append(f"told {number}")

    def __next__(self):
        number = 1 + sum(word.isdecimal() for word in self.log)
        if number > self.last:
            raise StopIteration
        self.log.append(str(number))
        return number


def started(schedule):
    return Job(schedule, None, Future())


def ready(schedule):
    job = started(schedule)
    job.kernel.set_result(None)
    return job


def opened(numbers, start=started, depth=2, *, trials=100, in_order=False, meanwhile=bool, seconds_left=lambda: None):
    return Ahead(numbers, trials, start, depth, in_order, meanwhile, seconds_left)


def idle(ahead):
    """Wait until the thread has done all that it was given."""
    ahead._thread.submit(int).result()


def test_as_many_as_asked_for_are_started_and_one_more_for_each_result():
    numbers = Numbers(6)
    with opened(numbers, ready) as ahead:
        idle(ahead)
        assert numbers.log == ["1", "2"]
        order = []
        for job in ahead:
            order.append(job.schedule)
            ahead.tell(job.schedule)
            idle(ahead)
    assert order == [1, 2, 3, 4, 5, 6]
    assert numbers.log[2:] == ["told 1", "3", "told 2", "4", "told 3", "5", "told 4", "6", "told 5", "told 6"]


def test_a_kernel_that_is_ready_does_not_wait_for_one_before_it(monkeypatch):
    monkeypatch.setattr("autotune.tuner.ahead._FIRST", 0.0)
    numbers = Numbers(3)
    with opened(numbers, depth=3) as ahead:
        idle(ahead)
        first, second, third = (future.result().kernel for future in ahead._started)
        third.set_result(None)
        assert next(ahead).schedule == 3
        ready = [threading.Timer(0, kernel.set_result, [None]) for kernel in (second, first)]
        for number, timer in zip((2, 1), ready, strict=True):
            timer.start()  # while the next one is waited for
            assert next(ahead).schedule == number


def test_the_very_first_candidate_is_waited_for_while_another_is_ready(monkeypatch):
    def compiled(futures, timeout):
        assert [*futures] == [first]
        first.set_result(None)
        return wait(futures, timeout)

    with opened(Numbers(3), depth=3) as ahead:
        idle(ahead)
        first, _, third = (future.result().kernel for future in ahead._started)
        third.set_result(None)
        monkeypatch.setattr("autotune.tuner.ahead.wait", compiled)
        assert [next(ahead).schedule, next(ahead).schedule] == [1, 3]


def test_candidates_come_in_order_where_that_is_wanted():
    with opened(Numbers(3), depth=3, in_order=True) as ahead:
        idle(ahead)
        ahead._started[2].result().kernel.set_result(None)
        assert next(ahead).schedule == 1


def test_no_candidate_is_waited_for_when_the_time_is_over():
    left = [None, None, 0.001, 0.0]
    with opened(Numbers(3), depth=3, seconds_left=lambda: left.pop(0)) as ahead:
        idle(ahead)
        for future in ahead._started[:1]:
            future.result().kernel.set_result(None)
        assert [job.schedule for job in ahead] == [1]
    assert left == [0.0]


def test_no_candidate_comes_after_the_time_is_over_even_if_it_is_ready():
    left = [None, 0.0]
    with opened(Numbers(3), ready, 3, seconds_left=lambda: left.pop(0)) as ahead:
        assert [job.schedule for job in ahead] == [1]


def test_nothing_more_is_proposed_that_would_come_too_late():
    numbers, left = Numbers(9), [9.0]
    with opened(numbers, ready, seconds_left=lambda: left[0]) as ahead:
        ahead.tell(next(ahead).schedule)
        idle(ahead)
        left[0] = 0.2
        ahead.tell(next(ahead).schedule)
        idle(ahead)
    assert numbers.log == ["1", "2", "told 1", "3"]


def test_other_work_is_done_when_the_first_ones_are_under_way():
    numbers = Numbers(4)
    with opened(numbers, ready, 2, meanwhile=lambda: numbers.log.append("meanwhile")) as ahead:
        ahead.tell(next(ahead).schedule)
        idle(ahead)
    assert numbers.log == ["1", "2", "meanwhile", "told 1", "3"]


def test_no_more_than_the_trials_are_proposed():
    numbers = Numbers(100)
    with opened(numbers, ready, 8, trials=3) as ahead:
        assert [job.schedule for job in ahead] == [1, 2, 3]
    assert numbers.log == ["1", "2", "3"]


def test_those_that_are_left_are_given_up():
    with opened(Numbers(100), depth=3, in_order=True) as ahead:
        first = next(ahead)
        idle(ahead)
        left = [future.result().kernel for future in ahead._started]
    assert not first.kernel.cancelled()
    assert len(left) == 2
    assert all(kernel.cancelled() for kernel in left)


def test_what_goes_wrong_there_is_raised_here():
    def refuse(schedule):
        raise ValueError("no such source")

    with opened(Numbers(1), refuse, 1) as ahead, pytest.raises(ValueError, match="no such source"):
        next(ahead)
