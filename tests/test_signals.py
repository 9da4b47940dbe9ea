"""Signals that a function handles for a while."""

import signal
from concurrent.futures import ThreadPoolExecutor

from autotune.base.signals import handled


def ignored(*_signal: object) -> None:
    pass


def test_signals_are_handled_meanwhile_and_as_before_afterwards() -> None:
    before, seen = signal.getsignal(signal.SIGUSR1), []
    with handled(lambda number, _: seen.append(number), signal.SIGUSR1):
        signal.raise_signal(signal.SIGUSR1)
    assert seen == [signal.SIGUSR1]
    assert signal.getsignal(signal.SIGUSR1) == before


def test_outside_of_the_main_thread_nothing_is_handled() -> None:
    def handler() -> object:
        with handled(ignored, signal.SIGUSR1):
            return signal.getsignal(signal.SIGUSR1)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(handler).result() == signal.getsignal(signal.SIGUSR1)
