"""radix_sort: what a draw asks for, as far as an SM has room for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TypeVar

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.codegen.sorting.radix_sort.block.schedule import BlockSchedule
from autotune.codegen.sorting.radix_sort.cluster.schedule import ClusterSchedule
from autotune.codegen.sorting.radix_sort.onesweep.schedule import OnesweepSchedule
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations

S = TypeVar("S", BlockSchedule, ClusterSchedule, OnesweepSchedule)


def digit_violations(schedule: BlockSchedule | OnesweepSchedule) -> Iterator[str]:
    """Threads that are no whole warps, and digits that are more than the threads, each of which counts one."""
    if schedule.threads % WARP:
        yield f"threads {schedule.threads}: expected a multiple of {WARP}"
    if schedule.bins > schedule.threads:
        yield f"digit_bits {schedule.digit_bits}: {schedule.bins} digits over the {schedule.threads} threads"


def with_digits(schedule: S) -> S:
    """The schedule with digits that its threads can count."""
    return schedule.replace(digit_bits=min(schedule.digit_bits, schedule.threads.bit_length() - 1))


def within_sm(problem: RadixSortProblem, schedule: S, spec: DeviceSpec) -> S:
    """The schedule with fewer blocks on an SM, and then fewer keys of a thread, where there is no room for them."""
    blocks = _down_from(schedule.min_blocks_per_sm, schedule, "min_blocks_per_sm")
    for items, on_sm in product(_down_from(schedule.items, schedule, "items"), blocks):
        fewer = schedule.replace(items=items, min_blocks_per_sm=on_sm)
        if not any(footprint_violations(spec, fewer.footprint(problem))):
            return fewer
    return schedule


def _down_from(number: int, schedule: BlockSchedule | OnesweepSchedule, field: str) -> list[int]:
    """The number, then the lower values of a field."""
    return [number, *(lower for lower in reversed(field_specs(type(schedule))[field].values) if lower < number)]
