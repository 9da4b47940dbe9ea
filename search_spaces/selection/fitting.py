"""Schedules that an SM has room for."""

from __future__ import annotations

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


def fitted(problem: Any, schedule: S, spec: DeviceSpec) -> S:
    """The schedule with as many candidates and blocks of an SM as fit, or fewer if it asks for fewer."""
    while schedule.footprint(problem).shared_bytes > spec.shared_per_block:
        schedule = schedule.replace(candidates=schedule.candidates // 2)
    taken = schedule.footprint(problem)
    fit = occupancy(spec, taken.threads, taken.registers, taken.shared_bytes).blocks_per_sm
    return schedule.replace(min_blocks_per_sm=max(1, min(schedule.min_blocks_per_sm, fit)))
