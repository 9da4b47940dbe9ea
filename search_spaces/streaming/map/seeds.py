"""map: which schedules to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.streaming.map.presets import of_row
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.codegen.streaming.map.schedule import LoadPolicy, MapSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .space import PERSISTENT, fitted

_IN_FLIGHT = 48 * 1024  # bytes of an SM, which H200s need (CUB's tuning of transforms)
_RESIDENT = 1024  # threads of an SM, about
_FEW_TILES = 4  # for each SM: fewer are made smaller
_LANES = field_specs(MapSchedule)["threads_per_row"].values


def candidates(problem: MapProblem, spec: DeviceSpec) -> Iterator[MapSchedule]:
    """Accesses of 16 bytes, with as many in flight as the device needs; then fewer, other policies, fewer blocks."""
    first = _schedule(problem, spec, 256, _width(problem))
    yield first
    for policy, streaming in product(LoadPolicy, (True, False)):
        yield replace(first, load_policy=policy, streaming_stores=streaming)
    few = first.tiles(problem) < _FEW_TILES * spec.sm_count  # narrower vectors are more blocks
    for threads, halvings in product((128, 512, 256), range(3 if few else 2)):
        yield _schedule(problem, spec, threads, max(1, _width(problem) >> halvings))
    for items in (1, 2, 4, 8):
        yield fitted(problem, replace(first, items=items), spec)
    if problem.collapsed.rows > 1:
        # The last tile of a row has fewer idle threads where tiles are narrower.
        for lanes in (count for count in _LANES if count < first.threads_per_row):
            yield fitted(problem, replace(first, threads_per_row=lanes), spec)
            yield fitted(problem, replace(first, threads_per_row=lanes, items=1), spec)
    yield replace(first, specialize=Specialize.SHAPE)


def _width(problem: MapProblem) -> int:
    """Results whose widest elements have 16 bytes."""
    return WIDEST_ACCESS // max(problem.element_bytes_of(operand) for operand in problem.stored)


def _schedule(problem: MapProblem, spec: DeviceSpec, threads: int, width: int) -> MapSchedule:
    """Vectors of a width, and so many of them that the resident threads have enough bytes in flight.

    A small problem has fewer of them, so that all SMs have some. One too large for a grid is taken in turn.
    """
    whole = problem.collapsed
    of_one = threads if whole.rows == 1 else min(threads, of_row(ceil_div(whole.columns, width)))
    schedule = MapSchedule(threads=threads, threads_per_row=of_one, vector_width=width)
    wanted = ceil_div(_IN_FLIGHT, _RESIDENT * schedule.item_bytes(problem))
    items = 8 if wanted > 4 else 4 if wanted > 2 else 2 if wanted > 1 else 1
    while items > 1 and replace(schedule, items=items).tiles(problem) < _FEW_TILES * spec.sm_count:
        items //= 2
    schedule = fitted(problem, replace(schedule, items=items), spec)
    huge = schedule.tiles(problem) >= 2**31
    return replace(schedule, grid_blocks=PERSISTENT[-1] * spec.sm_count) if huge else schedule
