"""Interleaved samples: each sample of one contender is followed by one of the next, so a drifting clock meets all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from .baseline import Launcher

_Sample = TypeVar("_Sample")

_WARM_UP_ROUNDS = 10


def interleaved(
    launches: Mapping[str, Launcher], sample: Callable[[Launcher], _Sample], rounds: int
) -> dict[str, tuple[_Sample, ...]]:
    """`rounds` samples of each launch, interleaved, after a warm-up."""
    taken: dict[str, list[_Sample]] = {name: [] for name in launches}
    for _ in range(_WARM_UP_ROUNDS + rounds):
        for name, launch in launches.items():
            taken[name].append(sample(launch))
    return {name: tuple(samples[_WARM_UP_ROUNDS:]) for name, samples in taken.items()}
