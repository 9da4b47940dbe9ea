"""How a worker ends, and what does not end it."""

import os
import signal
import subprocess
from functools import partial
from select import select
from threading import Event, Thread

import pytest

from autotune.base.worker import Worker, WorkerHungError

_MOMENT, _LONG = 0.2, 20.0  # seconds; only a fault is done sooner, or later


class _Pipe:
    """Has another thread end its worker while one closes it."""

    def __init__(self, worker, pipe):
        self._pipe = pipe
        self._other = Thread(target=worker.end)
        self.closing = self.most_at_once = 0

    def close(self):
        self.closing += 1
        self.most_at_once = max(self.most_at_once, self.closing)
        if self._other.ident is None:
            self._other.start()
            self._other.join(_MOMENT)
        self._pipe.close()
        self.closing -= 1

    def join(self):
        self._other.join()


class _Failing:
    def fail(self):
        raise ValueError("wrong", lambda: None)


def test_an_error_that_cannot_be_sent_is_told():
    worker = Worker(_Failing)
    with pytest.raises(RuntimeError, match=r"^ValueError: \('wrong', ") as told:
        worker.call("fail")
    assert "in fail" in told.value.__notes__[0]
    worker.end()


def test_one_thread_at_a_time_closes_the_pipe():
    worker = Worker(dict)
    pipe = worker._pipe = _Pipe(worker, worker._pipe)  # type: ignore[assignment]
    worker.end()
    pipe.join()
    assert pipe.most_at_once == 1


def test_a_worker_that_does_not_answer_in_time_is_ended():
    worker = Worker(Event)
    with pytest.raises(WorkerHungError):
        worker.call("wait", seconds=0.0)
    assert not worker.alive


def test_what_a_worker_started_ends_with_it():
    worker = Worker(partial(subprocess.Popen, ["sleep", "60"]))
    started = os.pidfd_open(worker.call("__getattribute__", "pid"))
    worker.end()
    assert select([started], [], [], _LONG) == ([started], [], [])
    os.close(started)


def test_ctrl_c_does_not_reach_a_worker_that_is_in_no_group_of_its_own_yet():
    worker = Worker(partial(signal.pthread_sigmask, signal.SIG_BLOCK, ()))
    assert worker.call("__contains__", signal.SIGINT)
    worker.end()
