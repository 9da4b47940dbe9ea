"""Contenders in turns: each sample of one is followed by a sample of the next, so that a drifting clock meets all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import TYPE_CHECKING

from ..compiler import compile_kernel
from ..db.states import Status
from ..devices.base import DeviceError, Evaluation

if TYPE_CHECKING:
    from ..codegen.schedule import Schedule
    from ..codegen.source import KernelSource
    from ..devices.cuda_session import CudaSession
    from .baselines import Baseline

OWN = "autotune"
_WARM_UP_ROUNDS = 10


@dataclass(frozen=True)
class Contest:
    """What came of it.

    Attributes:
        samples: seconds of each launch, by contender, in the order taken.
        versions: of the libraries that the baselines rest on.
    """

    samples: Mapping[str, tuple[float, ...]]
    versions: Mapping[str, str] = field(default_factory=dict)

    def seconds(self, name: str) -> float:
        """The median of a contender's samples."""
        return median(self.samples[name])

    def spread(self, name: str) -> float:
        """The interquartile range of a contender's samples over their median."""
        low, _, high = quantiles(self.samples[name], n=4)
        return (high - low) / self.seconds(name)

    def ratio(self, name: str) -> float:
        """How many times as fast as a baseline the tuned kernel is."""
        return self.seconds(name) / self.seconds(OWN)


def hold(
    session: CudaSession,
    schedule: Schedule,
    source: KernelSource,
    baselines: Mapping[str, Baseline],
    rounds: int,
) -> Contest:
    """Verify a kernel and the baselines that compute the same, then take `rounds` samples of each in turns.

    Raises:
        DeviceError: a contender is wrong or cannot run; the message says which.
    """
    kernel = compile_kernel(source, session.limits.arch)
    _require(OWN, session.evaluate(schedule, source, kernel))
    versions: dict[str, str] = {}
    with session.prepared(source, kernel) as own:
        launches: dict[str, Callable[[], None]] = {OWN: own}
        for name, baseline in baselines.items():
            launches[name], used = baseline.prepare(session)
            versions |= used
            if baseline.computes:
                _require(name, session.verify(launches[name]))
        samples = interleaved(launches, session.sample, rounds)
    return Contest(samples, versions)


def interleaved(
    launches: Mapping[str, Callable[[], None]], sample: Callable[[Callable[[], None]], float], rounds: int
) -> dict[str, tuple[float, ...]]:
    """`rounds` samples of each launch, taken in turns after a warm-up."""
    taken: dict[str, list[float]] = {name: [] for name in launches}
    for _ in range(_WARM_UP_ROUNDS + rounds):
        for name, launch in launches.items():
            taken[name].append(sample(launch))
    return {name: tuple(samples[_WARM_UP_ROUNDS:]) for name, samples in taken.items()}


def _require(name: str, evaluation: Evaluation) -> None:
    if evaluation.status is not Status.OK:
        raise DeviceError(f"{name} is {evaluation.status}: {evaluation.error}")
