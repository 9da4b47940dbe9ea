"""The energy of a launch, by NVML's counter of what the whole board has used: memory, idle SMs and all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

_SECONDS = 1.0  # seconds of launches that count
_MOST_SECONDS = 3.0  # until the counter must have moved
_BATCH_SECONDS = 0.02  # seconds of launches between two looks at the counter


class Energy(NamedTuple):
    """What a launch takes, in the mean of many.

    Attributes:
        joules: of one launch.
        watts: average power meanwhile.
    """

    joules: float
    watts: float


@dataclass(frozen=True)
class Meter:
    """Measures energy.

    Attributes:
        joules: what has been used so far; None where nobody tells.
        now: the host's clock in seconds.
    """

    joules: Callable[[], float | None]
    now: Callable[[], float] = monotonic

    def measure(self, launch: Callable[[], None], wait: Callable[[], None], seconds: float) -> Energy | None:
        """Launch for about a second, one launch right after the other; None if the counter is missing or stands still.

        The counter moves every so often, so what counts begins and ends when it does.

        Args:
            launch: queues a launch.
            wait: for what is queued.
            seconds: that a launch takes, about.
        """
        batch = max(1, round(_BATCH_SECONDS / seconds))
        before = self.joules()
        if before is None:
            return None
        began, launches = self.now(), 0
        first: tuple[float, float, int] | None = None
        while self.now() - began < _MOST_SECONDS:
            for _ in range(batch):
                launch()
            wait()
            launches += batch
            at, used = self.now(), self.joules()
            if used is None or used == before:
                continue
            before = used
            if first is None:
                first = at, used, launches
            elif at - first[0] >= _SECONDS:
                joules = used - first[1]
                return Energy(joules / (launches - first[2]), joules / (at - first[0]))
        return None
