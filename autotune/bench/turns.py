"""Contenders in turns: each sample of one is followed by a sample of the next, so that a drifting clock meets all."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .baseline import Launch

_WARM_UP_ROUNDS = 10


def interleaved(
    launches: Mapping[str, Launch], sample: Callable[[Launch], float], rounds: int
) -> dict[str, tuple[float, ...]]:
    """`rounds` samples of each launch, taken in turns after a warm-up."""
    taken: dict[str, list[float]] = {name: [] for name in launches}
    for _ in range(_WARM_UP_ROUNDS + rounds):
        for name, launch in launches.items():
            taken[name].append(sample(launch))
    return {name: tuple(samples[_WARM_UP_ROUNDS:]) for name, samples in taken.items()}
