"""topk: schedules of a warp for each row, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.selection.topk.warps.schedule import WarpsSchedule
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.selection.topk.held_rows import checks_of_rows, holding, unheld, widths

_MOST_ITEMS = 64  # keys of a lane
_VECTORS: tuple[int, ...] = field_specs(WarpsSchedule)["vectors"].values
_SLOTS: tuple[int, ...] = field_specs(WarpsSchedule)["slots"].values


def constraints(problem: TopkProblem, schedule: WarpsSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from unheld(problem, schedule, WARP, _MOST_ITEMS)
    if schedule.slots < problem.k:
        yield f"slots {schedule.slots} below the {problem.k} results of a row"


def applies(problem: TopkProblem, spec: DeviceSpec) -> bool:
    """Whether a warp can hold a row."""
    return problem.columns <= WARP * _MOST_ITEMS - max(1, problem.widest) and problem.k <= _SLOTS[-1]


def space(problem: TopkProblem, spec: DeviceSpec) -> Space[WarpsSchedule]:
    """Vectors and slots are drawn and raised to what a row takes, so that most draws are legal."""
    return Space(
        field_parameters(WarpsSchedule, vector_width=widths(problem)),
        lambda draw: _fitted(problem, WarpsSchedule.from_dict(draw)),
    )


def _fitted(problem: TopkProblem, schedule: WarpsSchedule) -> WarpsSchedule:
    """The schedule with the fewest vectors that hold a row, and slots for its results."""
    slots = next((few for few in _SLOTS if few >= problem.k), _SLOTS[-1])
    return holding(problem, schedule, WARP, _VECTORS).replace(slots=max(slots, schedule.slots))


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
    """See `checks_of_rows`; of the rows of fewer elements, a warp has none."""
    return checks_of_rows(problem, schedule, schedule.threads // WARP, WARP)
