"""topk: schedules of a warp for each row, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.selection.topk.warps.schedule import WarpsSchedule
from autotune.codegen.selection.vectors import vectors_of_row
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec

_MOST_ITEMS = 64  # keys of a lane
_VECTORS: tuple[int, ...] = field_specs(WarpsSchedule)["vectors"].values
_SLOTS: tuple[int, ...] = field_specs(WarpsSchedule)["slots"].values


def constraints(problem: TopkProblem, schedule: WarpsSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    found = []
    width = schedule.vector_width
    if width > problem.widest:
        found.append(f"vector_width {width} over the {problem.widest} elements that X is aligned for")
    if schedule.items > _MOST_ITEMS:
        found.append(f"vectors {schedule.vectors} of {width} elements over the {_MOST_ITEMS} keys of a lane")
    if schedule.vectors * WARP < (needed := vectors_of_row(problem, width)):
        found.append(f"vectors {schedule.vectors} of {WARP} lanes below the {needed} of a row")
    if schedule.slots < problem.k:
        found.append(f"slots {schedule.slots} below the {problem.k} results of a row")
    return found


def applies(problem: TopkProblem, spec: DeviceSpec) -> bool:
    """Whether a warp can hold a row."""
    return problem.columns <= WARP * _MOST_ITEMS - max(1, problem.widest) and problem.k <= _SLOTS[-1]


def space(problem: TopkProblem, spec: DeviceSpec) -> Space[WarpsSchedule]:
    """Vectors and slots are drawn and raised to what a row takes, so that most draws are legal."""
    widths = tuple(width for width in (1, 2, 4, 8) if width <= problem.widest)
    return Space(
        field_parameters(WarpsSchedule, vector_width=widths),
        lambda draw: _fitted(problem, WarpsSchedule.from_dict(draw)),
    )


def _fitted(problem: TopkProblem, schedule: WarpsSchedule) -> WarpsSchedule:
    """The schedule with the fewest vectors that hold a row, and slots for its results."""
    needed = ceil_div(vectors_of_row(problem, schedule.vector_width), WARP)
    vectors = next((few for few in _VECTORS if few >= needed), _VECTORS[-1])
    slots = next((few for few in _SLOTS if few >= problem.k), _SLOTS[-1])
    return schedule.replace(vectors=vectors, slots=max(slots, schedule.slots))


def candidates(problem: TopkProblem, spec: DeviceSpec) -> Iterator[WarpsSchedule]:
    """The widest loads, then narrower ones, more slots, and more or fewer warps of a block."""
    width = problem.widest
    first = _fitted(problem, WarpsSchedule(vector_width=width, slots=_SLOTS[0] if problem.k <= WARP // 2 else 2 * WARP))
    yield first
    yield from (first.replace(threads=threads) for threads in (64, 256))
    yield first.replace(slots=min(2 * first.slots, _SLOTS[-1]))
    yield first.replace(streaming=True)
    yield from (_fitted(problem, first.replace(vector_width=fewer)) for fewer in (width // 2, width // 4) if fewer)


def checks(problem: TopkProblem, schedule: WarpsSchedule) -> list[tuple[TopkProblem, WarpsSchedule]]:
    """Rows that fill the lanes; and rows of fewer elements that begin as the problem's do, of which a warp has none."""
    rows, columns = schedule.threads // WARP, WARP * schedule.items
    whole = replace(problem, rows=rows, columns=columns, k=min(problem.k, columns), ldx=0)
    fewer = max(1, columns - schedule.vector_width - columns // 4)
    skew = problem.ldx % schedule.vector_width if problem.rows > 1 else 0
    ldx = round_up(fewer, schedule.vector_width) + skew
    edges = replace(problem, rows=rows + rows // 2 + 1, columns=fewer, k=min(problem.k, fewer), ldx=ldx)
    return [(whole, schedule), (edges, schedule)]
