"""filter_tokens: which schedules are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.integers import round_up
from autotune.codegen.selection.filter_tokens.problem import FilterTokensProblem
from autotune.codegen.selection.filter_tokens.schedule import FilterTokensSchedule
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import occupancy

_SHAPES = ((512, 4, 2), (1024, 4, 1), (256, 4, 4))  # threads, loads in flight, blocks of an SM


def constraints(problem: FilterTokensProblem, schedule: FilterTokensSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if schedule.vector_width > problem.widest:
        yield f"vector_width {schedule.vector_width} over the {problem.widest} elements that X is aligned for"


def space(problem: FilterTokensProblem, spec: DeviceSpec) -> Space[FilterTokensSchedule]:
    """Blocks of an SM are lowered to those that it has room for."""
    widths = tuple(width for width in (1, 2, 4, 8) if width <= problem.widest)

    def build(draw: Draw) -> FilterTokensSchedule:
        return _fitted(problem, FilterTokensSchedule.from_dict(draw), spec)

    return Space(field_parameters(FilterTokensSchedule, vector_width=widths), build)


def candidates(problem: FilterTokensProblem, spec: DeviceSpec) -> Iterator[FilterTokensSchedule]:
    """The widest loads, by one block of an SM or more."""
    for threads, loads, blocks in _SHAPES:
        yield _fitted(problem, FilterTokensSchedule(threads, problem.widest, loads, blocks), spec)


def checks(
    problem: FilterTokensProblem, schedule: FilterTokensSchedule
) -> list[tuple[FilterTokensProblem, FilterTokensSchedule]]:
    """Rows of a few vectors; and longer ones that begin as the problem's do."""
    columns = 2 * schedule.threads + 1
    skew = problem.ldx % schedule.vector_width if problem.rows > 1 else 0
    ldx = round_up(columns, schedule.vector_width) + skew
    whole = replace(problem, rows=2, columns=schedule.threads // 2, ldx=0, ldy=0)
    return [(whole, schedule), (replace(problem, rows=3, columns=columns, ldx=ldx, ldy=columns + 1), schedule)]


def _fitted(problem: FilterTokensProblem, schedule: FilterTokensSchedule, spec: DeviceSpec) -> FilterTokensSchedule:
    taken = schedule.footprint(problem)
    fit = occupancy(spec, taken.threads, taken.registers, taken.shared_bytes).blocks_per_sm
    return schedule.replace(min_blocks_per_sm=max(1, min(schedule.min_blocks_per_sm, fit)))
