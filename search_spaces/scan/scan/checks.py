"""scan: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import round_up
from autotune.codegen.scan.scan.bulk.schedule import BulkSchedule
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.schedule import ScanSchedule
from autotune.codegen.scan.scan.staying import StayingSchedule

S = TypeVar("S", bound=ScanSchedule)

_TILES = 3


def checks(problem: ScanProblem, schedule: S) -> list[tuple[ScanProblem, S]]:
    """Whole tiles, aligned as the problem's; and edges on both sides, just aligned enough."""
    tile, width, rows = schedule.tile, schedule.vector_width, 1 if problem.segmented else schedule.rows_per_block
    segments = min(problem.segments, tile // 2)
    whole = replace(problem, rows=rows, columns=_TILES * tile, segments=segments, ldx=0, ldy=0)
    if width > problem.widest:  # rows that begin within vectors
        return [_skewed(problem, schedule, tile - 1), _skewed(problem, schedule, tile + tile // 2)]
    columns, ragged_rows = tile + tile // 2 + 1, rows if problem.segmented else rows + rows // 2 + 1
    # Bulk copies take no less than the widest access.
    of_x = WIDEST_ACCESS // problem.dtype.bytes if isinstance(schedule, StayingSchedule) else width
    of_y = WIDEST_ACCESS // problem.result_dtype.bytes if isinstance(schedule, BulkSchedule) else width
    of_flags = problem.align_flags if isinstance(schedule, StayingSchedule) else width
    edges = replace(
        whole,
        rows=ragged_rows,
        columns=columns,
        ldx=round_up(columns, of_x),
        align_x=of_x * problem.dtype.bytes,
        ldy=round_up(columns, of_y),
        align_y=of_y * problem.result_dtype.bytes,
        align_flags=of_flags if problem.flags else problem.align_flags,
    )
    return [(whole, schedule), (edges, schedule)]


def _skewed(problem: ScanProblem, schedule: S, columns: int) -> tuple[ScanProblem, S]:
    """Rows of an odd number of elements, without gaps."""
    bytes_of_vector = schedule.vector_width * problem.dtype.bytes
    rows = schedule.rows_per_block + schedule.rows_per_block // 2 + _TILES
    like = replace(problem, rows=rows, columns=columns | 1, ldx=0, ldy=0)
    return replace(like, align_x=bytes_of_vector, align_y=bytes_of_vector), schedule
