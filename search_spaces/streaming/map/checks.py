"""map: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autotune.codegen.streaming.map.problem import MapProblem
from autotune.codegen.streaming.map.schedule import MapSchedule

_BLOCKS = 3  # blocks of a check's grid, at most
_GAP = 16  # elements: vectors of any width are aligned to that


def checks(problem: MapProblem, schedule: MapSchedule) -> list[tuple[MapProblem, MapSchedule]]:
    """Whole tiles; and one that is partly there, in rows with gaps unless the problem's have none."""
    like = replace(schedule, grid_blocks=min(_BLOCKS, schedule.grid_blocks))
    columns, rows = like.tile_columns(problem), like.tile_rows(problem)
    if problem.collapsed.rows == 1:
        whole = _small(problem, 1, 2 * columns, 0)
        return [(whole, like), (_small(problem, 1, columns + columns // 2 + 1, 0), like)]
    whole = _small(problem, 2 * rows, columns, _GAP)
    return [(whole, like), (_small(problem, rows + rows // 2 + 1, columns + columns // 2 + 1, _GAP + 1), like)]


def _small(problem: MapProblem, rows: int, columns: int, gap: int) -> MapProblem:
    """The problem with other sizes, with so many elements between rows, and aligned as it is."""
    bare = MapProblem.from_dict(
        {name: value for name, value in problem.to_dict().items() if not name.startswith("ld")}
        | {"rows": rows, "columns": columns}
    )
    if not gap:
        return bare
    leading: dict[str, Any] = {f"ld{operand}": columns + gap for operand, (_, columns) in bare.stored.items()}
    return replace(bare, **leading)
