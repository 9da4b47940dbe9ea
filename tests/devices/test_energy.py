"""Energy of launches: the counter and the clock are stand-ins."""

import pytest

from autotune.devices.energy import Energy, Meter


class Board:
    """A GPU that takes 500 W, and whose counter moves every 0.1 s.

    Attributes:
        launched: how often.
    """

    def __init__(self, seconds=1e-3, *, tick=0.1, watts=500.0):
        self._seconds, self._tick, self._watts = seconds, tick, watts
        self.launched = 0

    def launch(self):
        self.launched += 1

    def now(self):
        return self.launched * self._seconds

    def joules(self):
        return 7000 + self._watts * self._tick * (self.now() // self._tick)

    def measured(self):
        return Meter(self.joules, self.now).measure(self.launch, lambda: None, self._seconds)


@pytest.mark.parametrize("seconds", [1e-5, 1e-3, 0.03, 0.25])
def test_joules_of_a_launch_and_the_power(seconds):
    board = Board(seconds)
    energy = board.measured()
    assert energy.watts == pytest.approx(500, rel=0.05)
    assert energy.joules == pytest.approx(500 * seconds, rel=0.05)
    assert 1 <= board.now() < 2


def test_what_was_used_before_the_counter_moved_does_not_count():
    board = Board(tick=0.5)
    assert board.measured() == Energy(pytest.approx(0.5, rel=0.05), pytest.approx(500, rel=0.05))
    assert board.now() == pytest.approx(1.5, rel=0.05)


def test_a_counter_that_stands_still_tells_nothing():
    board = Board(watts=0.0)
    assert board.measured() is None
    assert board.now() < 4


def test_without_a_counter_nothing_is_launched():
    board = Board()
    board.joules = lambda: None
    assert board.measured() is None
    assert board.launched == 0


def test_a_counter_that_goes_away_tells_nothing():
    board = Board()
    told = iter([7000.0])
    board.joules = lambda: next(told, None)
    assert board.measured() is None
