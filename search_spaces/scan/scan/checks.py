"""scan: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from dataclasses import replace

from ....codegen.integers import round_up
from ....codegen.matrices import WIDEST_ACCESS
from ....codegen.scan.scan.problem import ScanProblem
from ....codegen.scan.scan.schedule import ScanSchedule

_TILES = 3


def checks(problem: ScanProblem, schedule: ScanSchedule) -> list[tuple[ScanProblem, ScanSchedule]]:
    """Whole tiles, aligned as the problem's; and edges on both sides, just aligned enough."""
    tile, width, rows = schedule.tile, schedule.vector_width, 1 if problem.segmented else schedule.rows_per_block
    segments = min(problem.segments, tile // 2)
    whole = replace(problem, rows=rows, columns=_TILES * tile, segments=segments, ldx=0, ldy=0)
    columns, ragged_rows = tile + tile // 2 + 1, rows if problem.segmented else rows + rows // 2 + 1
    of_x = WIDEST_ACCESS // problem.dtype.bytes if schedule.pipelined else width  # bulk copies take no less
    edges = replace(
        whole,
        rows=ragged_rows,
        columns=columns,
        ldx=round_up(columns, of_x),
        align_x=of_x * problem.dtype.bytes,
        ldy=round_up(columns, width),
        align_y=width * problem.result_dtype.bytes,
        align_flags=width if problem.flags else problem.align_flags,
    )
    return [(whole, schedule), (edges, schedule)]
