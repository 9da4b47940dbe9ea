"""What is interrupted after which time."""

import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event

import pytest

from autotune.bench import time_limit
from autotune.bench.time_limit import within


def test_a_block_that_waits_is_interrupted():
    with pytest.raises(TimeoutError, match=r"^no result within 0\.05 s$"), within(0.05):
        Event().wait(5)


def test_a_block_that_goes_on_is_interrupted_again(monkeypatch):
    monkeypatch.setattr(time_limit, "_AGAIN_SECONDS", 0.05)
    with pytest.raises(TimeoutError), within(0.05):
        with suppress(TimeoutError):
            Event().wait(5)
        Event().wait(2)


def test_an_interruption_is_told_as_one_whatever_a_library_makes_of_it():
    with pytest.raises(TimeoutError, match=r"^no result within"), within(0.05):
        try:
            Event().wait(5)
        except TimeoutError as error:
            raise RuntimeError("the backend raised") from error


def test_an_error_in_time_stays_what_it_is():
    with pytest.raises(RuntimeError, match="no kernel"), within(5):
        raise RuntimeError("no kernel")


def test_a_block_in_time_is_not_interrupted_later():
    before = signal.getsignal(signal.SIGALRM)
    with within(5):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) == before


def test_a_thread_has_no_limit():
    def timer():
        with within(5):
            return signal.getitimer(signal.ITIMER_REAL)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(timer).result() == (0, 0)
