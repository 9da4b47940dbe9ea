"""Devices that tune at the same time; what tunes is a stand-in."""

import os
import signal
from collections import Counter
from itertools import pairwise
from threading import Barrier, Event
from time import monotonic
from types import SimpleNamespace

import pytest
from tuner_fakes import ToyDevice, ToyProblem

from autotune.db import TimeSource
from autotune.devices.base import DeviceError
from autotune.devices.replay import UnrecordedError
from autotune.search_spaces.machine.devices import named_device
from autotune.tuner.parallel import Parallel, shared_out

PROBLEMS = [ToyProblem(n) for n in range(1, 7)]
DONE, INTERRUPTED = SimpleNamespace(interrupted=False), SimpleNamespace(interrupted=True)
LONG = 60  # seconds, for what comes at once


def device(selector, model="h200", time_source=TimeSource.MEASURED):
    made = ToyDevice()
    made.selector, made.spec, made.time_source = selector, named_device(model), time_source
    return made


class AtOnce:
    """Lets devices wait for each other in their first calls."""

    def __init__(self, devices):
        self._barrier, self._seen = Barrier(devices), set()

    def __call__(self, one):
        if one.selector not in self._seen:
            self._seen.add(one.selector)
            self._barrier.wait(LONG)


def until_interrupted(check):
    end = monotonic() + LONG
    with pytest.raises(KeyboardInterrupt):
        while monotonic() < end:
            check()
    return INTERRUPTED


def test_one_model_has_one_queue_and_each_model_has_all_problems():
    zero, one, two = device("0"), device("1"), device("2", "t4")
    modelled = device("h200", time_source=TimeSource.MODELLED)
    asked = []
    queues = shared_out([zero, two, one, modelled], lambda one: asked.append(one.selector) or PROBLEMS)
    assert [queue.devices for queue in queues] == [[zero, one], [two], [modelled]]
    assert [queue.model for queue in queues] == ["NVIDIA H200", "Tesla T4", "NVIDIA H200"]
    assert asked == ["0", "2", "h200"]
    assert all(list(queue.problems) == PROBLEMS for queue in queues)


def test_devices_that_share_a_study_tune_every_problem_each():
    devices = [device("0"), device("1"), device("2", "t4")]
    queues = shared_out(devices, lambda one: PROBLEMS, together=True)
    assert [queue.devices for queue in queues] == [[one] for one in devices]
    assert all(list(queue.problems) == PROBLEMS for queue in queues)


def test_all_devices_tune_at_once_and_take_problems_as_they_become_free():
    queues = shared_out([device("0"), device("1"), device("2", "t4")], lambda one: PROBLEMS)
    at_once, rest_done, tuned = AtOnce(3), Event(), []

    def tune(one, problem, following, check):
        at_once(one)
        tuned.append((one.selector, problem))
        if one.selector == "0":
            assert rest_done.wait(LONG)
        elif Counter(selector for selector, _ in tuned)["1"] == len(PROBLEMS) - 1:
            rest_done.set()
        return DONE

    Parallel(tune).run(queues)
    assert Counter(selector for selector, _ in tuned) == {"0": 1, "1": 5, "2": 6}
    assert {problem for selector, problem in tuned if selector != "2"} == set(PROBLEMS)


def test_a_device_that_is_lost_leaves_its_queue_to_the_others():
    queues = shared_out([device("0"), device("1")], lambda one: PROBLEMS)
    at_once, tuned = AtOnce(2), []

    def tune(one, problem, following, check):
        at_once(one)
        if one.selector == "0":
            raise DeviceError("it fell off the bus")
        tuned.append(problem)
        return DONE

    run = Parallel(tune)
    run.run(queues)
    ((lost, problem, error),) = run.lost
    assert (lost.selector, str(error)) == ("0", "it fell off the bus")
    assert {*tuned, problem} == set(PROBLEMS)
    assert problem not in tuned
    assert not run.interrupted


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_at_their_next_check(number):
    queues = shared_out([device("0"), device("1")], lambda one: PROBLEMS)
    before = signal.getsignal(number)
    at_once, tuned = AtOnce(2), []

    def tune(one, problem, following, check):
        tuned.append(problem)
        check()
        at_once(one)
        if one.selector == "0":
            os.kill(os.getpid(), number)
        return until_interrupted(check)

    run = Parallel(tune)
    run.run(queues)
    assert run.interrupted
    assert len(tuned) == 2
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("error", [KeyError("m"), UnrecordedError("m")])
def test_what_is_no_devices_fault_ends_all_and_is_raised(error):
    queues = shared_out([device("0"), device("1")], lambda one: PROBLEMS)
    at_once = AtOnce(2)

    def tune(one, problem, following, check):
        at_once(one)
        if one.selector == "1":
            raise error
        return until_interrupted(check)

    with pytest.raises(type(error), match="m"):
        Parallel(tune).run(queues)


def test_one_device_stops_where_its_run_was_interrupted():
    tuned = []
    run = Parallel(lambda one, problem, following, check: tuned.append(problem) or INTERRUPTED)
    run.run(shared_out([device("0")], lambda one: PROBLEMS))
    assert (run.interrupted, tuned) == (True, PROBLEMS[:1])


def test_a_device_knows_which_problem_follows():
    seen = []
    run = Parallel(lambda one, problem, following, check: seen.append((problem, following)) or DONE)
    run.run(shared_out([device("0")], lambda one: PROBLEMS))
    assert seen == [*pairwise(PROBLEMS), (PROBLEMS[-1], None)]
