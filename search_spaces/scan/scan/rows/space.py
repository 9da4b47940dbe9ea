"""scan: schedules of rows, which are legal, drawn and tried first."""

from __future__ import annotations

from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.rows.schedule import RowsSchedule
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.scan.scan.vectors import ROUNDS, width_violations, widths, within_registers

_MOST_TILES = 512  # that the threads of a row scan in turn, beyond which look-back is all there is to draw
_MOST_TILE = 1024 * 8  # vectors of such a tile
_ROUNDS = (4, 2, 8, 9, 1)
_LEAST_LANES, MOST_LANES = 8, 1024
_SMALL_BLOCK = 128


def constraints(problem: ScanProblem, schedule: RowsSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    threads, per_row = schedule.threads, schedule.threads_per_row
    if per_row > threads:
        return [f"threads_per_row {per_row} over the {threads} threads of a block"]
    found = list(width_violations(schedule, problem.widest_skewed))
    if problem.segmented and per_row < threads:
        found.append(f"segments needs threads_per_row {threads}, all of a block, not {per_row}")
    return found


def applies(problem: ScanProblem, spec: DeviceSpec) -> bool:
    """Whether a row's threads need not go through too many tiles."""
    return problem.columns <= _MOST_TILES * _MOST_TILE * problem.widest


def space(problem: ScanProblem, spec: DeviceSpec) -> Space[RowsSchedule]:
    """What a schedule has no use for is lowered to what it has, so that most draws are legal."""

    def build(draw: Draw) -> RowsSchedule:
        return _fitted(problem, RowsSchedule.from_dict(draw))

    return Space(field_parameters(RowsSchedule, vector_width=widths(problem.widest_skewed)), build)


def _fitted(problem: ScanProblem, schedule: RowsSchedule) -> RowsSchedule:
    """The schedule with all threads on a row where that must be, and few registers."""
    of_row = schedule.threads if problem.segmented else min(schedule.threads_per_row, schedule.threads)
    return within_registers(problem, schedule).replace(threads_per_row=of_row)


def rows(problem: ScanProblem, rounds: int) -> RowsSchedule:
    """As many threads as have so many vectors of a row, or fewer vectors if these suffice."""
    width = problem.widest_skewed
    vectors = ceil_div(problem.columns + width - problem.widest, width)
    lanes = 1 << (max(1, ceil_div(vectors, rounds)) - 1).bit_length()
    lanes = min(max(_LEAST_LANES, lanes), MOST_LANES)
    threads = max(_SMALL_BLOCK, lanes)
    rounds = next((few for few in ROUNDS if vectors <= few * lanes <= rounds * lanes), rounds)
    return _fitted(problem, RowsSchedule(threads, lanes, width, rounds))


def candidates(problem: ScanProblem, spec: DeviceSpec) -> list[RowsSchedule]:
    """A few vectors of a row for each of its threads, then what the first schedule may gain by other fields."""
    found = [rows(problem, rounds) for rounds in _ROUNDS]
    return [*found, found[0].replace(streaming=True), found[0].replace(specialize=Specialize.SHAPE)]
