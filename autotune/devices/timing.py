"""How a kernel is timed: a glance, a warm-up to a steady clock, then enough samples.

A sample is one launch between two CUDA events, on an L2 cache that holds none of the kernel's data. What queues the
first event, the launch and the second event is the host; a kernel that empties the cache by reading keeps the GPU busy
meanwhile, so that the events measure the kernel and not the host. Reading, other than writing, leaves no dirty lines
for the kernel to evict. An event pair adds a microsecond or so and resolves half a microsecond: times of a few
microseconds compare kernels on equal terms but are too long by that much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from statistics import median
from time import monotonic
from typing import NamedTuple

from autotune.codegen.model.problem import Problem
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.roofline import roofline

_TOTAL_SECONDS = 0.1  # seconds of the samples that count
_FEWEST, _MOST = 10, 100
_AGAIN = 10  # times that samples are taken again
_STEADY = 0.01  # relative difference of two medians in a row
_ROUND_SAMPLES, _ROUND_SECONDS = 5, 0.02
# A clock ramps up within tens of milliseconds: two equal medians before that prove nothing.
_WARM_UP_LEAST, _WARM_UP_MOST = 0.025, 0.5

# Of the longest evaluation: what does not depend on the problem; inputs made anew after a kernel damaged them; launches
# of a kernel that takes long (9 to verify and to warm up, `_FEWEST` samples) and what else passes over the data; and
# how slow a kernel may be.
_FIXED_SECONDS = 10.0
_HOST_BYTES_PER_SECOND = 1e8
_LAUNCHES, _SLOWEST = 25, 100
_SETUP_SECONDS = 120.0


class Timed(NamedTuple):
    """The seconds of each launch that counts, and whether there are fewer than planned, since that was enough."""

    samples: tuple[float, ...]
    stopped_early: bool


def measure(
    sample: Callable[[], float],
    now: Callable[[], float] = monotonic,
    prune: Callable[[Sequence[float]], bool] = lambda _samples: False,
    slowed_down: Callable[[], bool] = lambda: False,
    hopeless: Callable[[Sequence[float]], bool] | None = None,
) -> Timed:
    """Warm up, then take 10 to 100 samples, for about 100 ms of kernel time.

    They are taken ten at a time. Ten during which the clock was slowed down are repeated, unless it stays slow. A
    kernel that is `hopeless` keeps the few samples from before the warm-up.

    Args:
        sample: launches once and returns the seconds that it took.
        now: the host's clock in seconds.
        prune: takes the newest samples, and says whether those so far are enough.
        slowed_down: whether the device's clock is slowed down.
        hopeless: takes a few samples from before the warm-up, and says whether the kernel is not worth one.
    """
    if hopeless and hopeless(glance := _few(sample)):
        return Timed(tuple(glance), True)
    estimate = warm_up(sample, now)
    count = _MOST if estimate * _MOST <= _TOTAL_SECONDS else max(_FEWEST, ceil(_TOTAL_SECONDS / estimate))
    samples: list[float] = []
    again, enough = _AGAIN, False
    while len(samples) < count and not enough:
        batch = [sample() for _ in range(min(_FEWEST, count - len(samples)))]
        if again and slowed_down():
            again -= 1
            warm_up(sample, now)
        else:
            samples += batch
            enough = prune(batch)
    return Timed(tuple(samples), len(samples) < count)


def warm_up(sample: Callable[[], float], now: Callable[[], float]) -> float:
    """Launch until the medians of two rounds in a row agree within 1 %, for 25 to 500 ms; the last median."""
    start = now()
    previous = median(_few(sample))
    while True:
        current = median(_few(sample))
        spent = now() - start
        steady = abs(current - previous) <= _STEADY * previous
        if spent >= _WARM_UP_MOST or (steady and spent >= _WARM_UP_LEAST):
            return current
        previous = current


def _few(sample: Callable[[], float]) -> list[float]:
    """Five samples, fewer if they take long."""
    samples = [sample()]
    while len(samples) < _ROUND_SAMPLES and sum(samples) < _ROUND_SECONDS:
        samples.append(sample())
    return samples


def time_limit(problem: Problem, spec: DeviceSpec) -> float:
    """Seconds that an evaluation may take: enough for a kernel that reaches a hundredth of what the device can."""
    host = problem.work.bytes / _HOST_BYTES_PER_SECOND
    return _FIXED_SECONDS + host + _LAUNCHES * _SLOWEST * roofline(problem, spec)


def setup_limit(problem: Problem, spec: DeviceSpec) -> float:
    """Seconds that setting a problem up may take: the driver, the compiler, and one launch of a naive kernel."""
    return _SETUP_SECONDS + time_limit(problem, spec)
