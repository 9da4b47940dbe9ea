"""Schedules that an SM has room for, and clusters that a GPU has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self, TypeVar

from autotune.codegen.model.footprint import Footprint
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import occupancy


class _Keeping(Protocol):
    """A schedule whose blocks keep candidates."""

    @property
    def candidates(self) -> int: ...

    @property
    def min_blocks_per_sm(self) -> int: ...

    def footprint(self, problem: Any) -> Footprint: ...

    def replace(self, **changes: Any) -> Self: ...


S = TypeVar("S", bound=_Keeping)

# Clusters of 16 blocks lie within a GPC of 16 to 18 SMs, of which an H200 lends seven: eight rows took two waves.
_OF_A_GPC, _GPC_SHARE = 16, 0.85


def fitted(problem: Any, schedule: S, spec: DeviceSpec) -> S:
    """The schedule with as many candidates and blocks of an SM as fit, or fewer if it asks for fewer."""
    while schedule.footprint(problem).shared_bytes > spec.shared_per_block:
        schedule = schedule.replace(candidates=schedule.candidates // 2)
    taken = schedule.footprint(problem)
    fit = occupancy(spec, taken.threads, taken.registers, taken.shared_bytes).blocks_per_sm
    return schedule.replace(min_blocks_per_sm=max(1, min(schedule.min_blocks_per_sm, fit)))


def clusters(sizes: Sequence[int], rows: int, most: int, spec: DeviceSpec) -> tuple[int, ...]:
    """The sizes of clusters, up to `most` blocks, with which each row has one and no block waits for an SM."""
    room = {size: spec.sm_count * (_GPC_SHARE if size >= _OF_A_GPC else 1) for size in sizes}
    return tuple(size for size in sizes if size <= most and rows * size <= room[size])
